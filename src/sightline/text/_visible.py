"""What a person approves, with nothing in it that cannot be seen.

Rules:

- `visible` leaves letters, signs, single spaces, tabs and newlines as they are. Everything else that a terminal or a
  browser would draw as nothing, as a blank, or as an instruction becomes a sign: a control its picture (`␛`, `␍`), any
  other character its number (`⟨U+202E⟩`). A CR before a newline becomes `␍` too. What it returns needs no other filter.
- A joiner or selector inside an emoji stays: it is what makes the emoji.
- `mark_blanks` works on one line of the result, for views: a tab becomes `→`, blanks at the end of the line and runs of
  blanks become `·`, a long run its length (`⟨200 blanks⟩`), so that what follows it stands where it is looked for.
  Blanks before the first letter are seen by where it stands, and stay, unless there are more of them than a row has.
"""

import re
from typing import Any

_BLANKS_AS_DOTS = 16  # of a run in a line; a longer one is counted
_INDENT_AT_MOST = 40  # blanks before the first letter that stay blanks

# Drawn as nothing or as a blank, though Python calls them printable.
_BLANK_LETTERS = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef"
_is_blank_letter = re.compile(f"[{_BLANK_LETTERS}]").match
_has_blank_letter = re.compile(f"[{_BLANK_LETTERS}]").search
_unusual = re.compile(r"[^\x20-\x7e\n\t]")
_JOINERS = ("\u200d", "\ufe0f")
_blanks = re.compile(r"\t|^ +| +$| {2,}")
_TAB = "→   "


def visible(text: str) -> str:
    """The text with every character in it to be seen."""
    if text.replace("\n", "").replace("\t", "").isprintable() and (text.isascii() or _has_blank_letter(text) is None):
        return text
    return _unusual.sub(_sign, text)


def visible_value(value: Any) -> Any:
    """`visible` for every string of a decoded JSON value, keys included."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible_value(key): visible_value(item) for key, item in value.items()}
    if isinstance(value, list):
        return [visible_value(item) for item in value]
    return value


def mark_blanks(line: str) -> str:
    """One line of visible text with its blanks made visible."""
    if "\t" not in line and "  " not in line and not line.endswith(" "):
        return line
    return _blanks.sub(_marked, line)


def _marked(run: "re.Match[str]") -> str:
    if run.group() == "\t":
        return _TAB
    blanks = len(run.group())
    if run.start() == 0 and run.end() < len(run.string) and blanks <= _INDENT_AT_MOST:
        return run.group()
    return "·" * blanks if blanks <= _BLANKS_AS_DOTS else f"⟨{blanks} blanks⟩"


def _sign(match: "re.Match[str]") -> str:
    character = match.group()
    if character.isprintable() and _is_blank_letter(character) is None:
        return character
    if character in _JOINERS and _is_in_emoji(match.string, match.start()):
        return character
    point = ord(character)
    if point < 0x20:
        return chr(0x2400 + point)
    return "␡" if point == 0x7F else f"⟨U+{point:04X}⟩"


def _is_in_emoji(text: str, at: int) -> bool:
    before, after = text[at - 1 : at] if at else "", text[at + 1 : at + 2]
    if text[at] == "\ufe0f":
        return _is_picture(before)
    return (_is_picture(before) or before == "\ufe0f") and _is_picture(after)


def _is_picture(character: str) -> bool:
    from unicodedata import category

    return bool(character) and category(character) in ("So", "Sk")
