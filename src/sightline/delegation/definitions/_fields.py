"""The fields of a definition, each read as what it must be."""

from collections.abc import Collection, Sequence

from sightline.delegation.definitions._tool_names import split_names
from sightline.text import clean_line, cut_graphemes

_MOST_NAMES = 200
_LONGEST = 100  # characters of a name, or of a value in a message


class NotADefinition(Exception):
    """Why a file is none, in one line."""


class NotForDelegation(NotADefinition):
    """A file of another program that is right, and is not about an agent that others start."""


class DefinitionFields:
    """The values of the front matter. `notices`: what of them is left out."""

    def __init__(self, values: dict[str, object]) -> None:
        self._values = values
        self.notices: list[str] = []

    def __contains__(self, name: str) -> bool:
        return self._values.get(name) is not None

    def only(self, known: Collection[str]) -> None:
        """NotADefinition when there is another field."""
        for name in self._values:
            if name not in known:
                import difflib

                near = difflib.get_close_matches(name, known, 1)
                raise NotADefinition(f"unknown field {shown(name)}{f', did you mean {near[0]}?' if near else ''}")

    def text(self, name: str) -> str:
        """Empty where it is missing."""
        value = self._values.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        if value is not None and not isinstance(value, str):
            raise NotADefinition(f"{name} must be text")
        return (value or "").strip()

    def flag(self, name: str) -> bool:
        value = self._values.get(name)
        if value is not None and not isinstance(value, bool):
            raise NotADefinition(f"{name} must be true or false, not {shown(value)}")
        return bool(value)

    def choice(self, name: str, known: Sequence[str]) -> str:
        """One of the words, or empty where it is missing."""
        value = self.text(name)
        if value and value not in known:
            raise NotADefinition(f"{name} must be one of {', '.join(known)}, not {shown(value)}")
        return value

    def names(self, name: str) -> tuple[str, ...] | None:
        """A list, or a text with commas; None where it is missing."""
        value = self._values.get(name)
        if value is None:
            return None
        if isinstance(value, str):
            return self._bounded(name, split_names(value))
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise NotADefinition(f"{name} must be a list of names")
        return self._bounded(name, tuple(each.strip() for each in value if each.strip()))

    def mapping(self, name: str) -> dict[str, object] | None:
        value = self._values.get(name)
        if value is not None and not isinstance(value, dict):
            raise NotADefinition(f"{name} must be a mapping of names to values")
        return value

    def is_mapping(self, name: str) -> bool:
        return isinstance(self._values.get(name), dict)

    def is_flag(self, name: str) -> bool:
        return isinstance(self._values.get(name), bool)

    @staticmethod
    def _bounded(name: str, names: tuple[str, ...]) -> tuple[str, ...]:
        if len(names) > _MOST_NAMES or any(len(each) > _LONGEST for each in names):
            raise NotADefinition(f"{name} has more than {_MOST_NAMES} names, or one of over {_LONGEST} characters")
        return names


def shown(value: object) -> str:
    """As it is quoted in a message."""
    return cut_graphemes(clean_line(str(value)), _LONGEST)
