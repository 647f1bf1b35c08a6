"""A rule on one line, for people: what they read they can type, and no rule reads like another command than it is."""

from collections.abc import Iterable

from sightline.settings.rules._rules import RuleMistake

_SIGNS = {"\n": "⏎", "\t": "⇥"}
_MEANT = {sign: character for character, sign in _SIGNS.items()}


def shown_rule(rule: str) -> str:
    """Line breaks and tabs as signs of their own, and whatever else cannot be seen as an escape."""
    return "".join(map(_shown, rule))


def _shown(character: str) -> str:
    if character in _SIGNS:
        return _SIGNS[character]
    if character.isprintable() and character not in _MEANT:
        return character
    point = ord(character)
    return f"\\x{point:02x}" if point < 0x100 else f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def typed_rule(text: str) -> str:
    """The rule for a text that the user changed as it was shown."""
    return "".join(_MEANT.get(character, character) for character in text)


def named_rule(text: str, rules: Iterable[str]) -> str:
    """The one of these that is called so: as it is, or as it is shown. Empty: none is."""
    known = list(dict.fromkeys(rules))
    if text in known:
        return text
    alike = [rule for rule in known if shown_rule(rule) == text]
    if len(alike) > 1:
        hint = "`sightline config rules --json` shows them exactly"
        raise RuleMistake(f"{len(alike)} rules look like that: {text}", hint)
    return alike[0] if alike else ""
