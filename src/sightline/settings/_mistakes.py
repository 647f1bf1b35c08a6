"""What is wrong with settings: each mistake with its place and what was probably meant, all of them at once."""

from collections.abc import Iterable

import msgspec

from sightline.exceptions import UserMistake
from sightline.settings._fields import Key, all_keys, is_section, is_table, kind_at
from sightline.settings._toml import join_key
from sightline.text import clean_line


class SettingMistake(msgspec.Struct, frozen=True):
    """`where` is a file with its line, a variable, or an option."""

    where: str
    message: str
    hint: str = ""


class SettingsInvalid(UserMistake):
    """Settings that cannot be used. Nothing was started with half of them."""

    def __init__(self, mistakes: list[SettingMistake]) -> None:
        if len(mistakes) == 1:
            super().__init__(f"{mistakes[0].where}: {mistakes[0].message}", mistakes[0].hint)
        else:
            lines = [f"{len(mistakes)} mistakes in the settings"]
            for each in mistakes:
                line = f"  {each.where}: {each.message}" + (f" ({each.hint})" if each.hint else "")
                lines.append(clean_line(line))  # a line break in the name of a folder or key begins no line
            super().__init__("\n".join(lines))
        self.mistakes = mistakes


def closest(word: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """The known word that was probably meant, or nothing."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(word, list(known), n=1, cutoff=cutoff)), "")


def unknown_hint(key: Key) -> str:
    """What was probably meant by a key that no setting has."""
    elsewhere = [known for known in all_keys() if known[-1] == key[-1]]
    if len(elsewhere) == 1:
        table, name = elsewhere[0][:-1], join_key(elsewhere[0])
        place = f"in [{join_key(table)}]" if table else "before the first section"
        return f"it belongs {place}: {name}"
    kind = kind_at(key[:-1])
    if kind is not None and is_section(kind):
        near = closest(key[-1], kind.__annotations__)
        if near:
            return f"did you mean {join_key((*key[:-1], near))}?"
    if elsewhere:
        return f"did you mean {' or '.join(map(join_key, elsewhere))}?"
    near = closest(join_key(key), map(join_key, _sections() if len(key) == 1 else ()))
    near = near or closest(join_key(key), map(join_key, all_keys()), 0.75)
    return f"did you mean {near}?" if near else "list all settings with `sightline config`"


def _sections() -> list[Key]:
    return list(dict.fromkeys(key[:-1] for key in all_keys() if key[:-1]))


def kind_of_setting(name: str, key: Key) -> object:
    """The type of a setting that was named by a person; UserMistake when there is none, or it is a section."""
    kind = kind_at(key) if key else None
    if kind is None:
        raise UserMistake(f"no such setting: {name}", unknown_hint(key or (name,)))
    if is_table(kind):
        raise UserMistake(f"{name} is a section, not a setting", f"name a setting in it, such as {_example(key, kind)}")
    return kind


def _example(key: Key, kind: object) -> str:
    if is_section(kind):
        return join_key((*key, next(iter(kind.__annotations__))))
    inner = kind_at((*key, "NAME"))
    return _example((*key, "NAME"), inner) if is_section(inner) else join_key((*key, "NAME"))
