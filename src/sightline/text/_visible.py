"""Text that the user approves, with nothing in it that cannot be seen.

Rules:

- `visible` leaves letters, signs, single spaces, tabs and newlines as they are. Everything else that a terminal or a
  browser would draw as nothing, as a blank, or as an instruction becomes a sign: a control its picture (`␛`, `␍`), any
  other character its number (`⟨U+202E⟩`). A CR before a newline becomes `␍` too. What it returns needs no other filter.
- So do marks that pile up on one letter (from the fifth on) and those of another script on an ASCII character: many
  fonts draw nothing for them.
- So do letters that are written from right to left, in a line that has other letters or digits: a terminal or a browser
  may draw the words of such a line in another order than they run in. A line of them alone stays readable.
- `exact.js` of the page does the same, which a test holds for every character.
- A joiner or selector inside an emoji stays: it is what makes the emoji.
- `mark_blanks` works on one line of the result, for views: a tab becomes `→`, blanks at the end of the line and runs of
  blanks become `·`, a long run its length (`⟨200 spaces⟩`), so that what follows it stands where it is looked for.
  Blanks before the first letter are seen by where it stands, and stay, unless there are more of them than a row has.
"""

import re
from typing import Any

_BLANKS_AS_DOTS = 16  # of a run in a line; a longer one is counted
_INDENT_AT_MOST = 40  # blanks before the first letter that stay blanks

# Drawn as nothing or as a blank, though Python calls them printable (it does not so call what is a control, a format
# character, a separator, a surrogate, private or unassigned): default-ignorable letters and marks, fillers, a joiner of
# numbers, the blank of Braille, blank signs of music, Khitan and hieroglyphs, the place of an object.
_BLANK_LETTERS = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u2d7f\u3164\ufe00-\ufe0f\uffa0\ufffc"
    "\U0001107f\U00013441\U00013442\U00016fe4\U0001d159\U000e0100-\U000e01ef"
)
_is_blank_letter = re.compile(f"[{_BLANK_LETTERS}]").match
_is_plain = re.compile(r"[\x20-\x7e\n\t]*").fullmatch
_UNUSUAL = r"[^\x20-\x7e\n\t\xc0-\u02af\u4e00-\u9fef\uac00-\ud7a3]"  # compiled when first needed: it takes 2 ms
_MARKS_AT_MOST = 4  # on one letter
_is_usual_mark = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]").match
_leftward = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]")
_JOINERS = ("\u200d", "\ufe0f")
_blanks = re.compile(r"\t|^ +| +$| {2,}")
_TAB = "→   "


def visible(text: str) -> str:
    """The text with every character in it to be seen."""
    if _is_plain(text):
        return text
    shown = re.sub(_UNUSUAL, _sign, text)
    if _leftward.search(shown) is None:
        return shown
    return "\n".join(_leftward.sub(_numbered, line) if _is_mixed(line) else line for line in shown.split("\n"))


def visible_value(value: object) -> Any:
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
    return "·" * blanks if blanks <= _BLANKS_AS_DOTS else f"⟨{blanks} spaces⟩"


def _sign(match: "re.Match[str]") -> str:
    character = match.group()
    if character.isprintable() and _is_blank_letter(character) is None and not _is_odd_mark(match):
        return character
    if character in _JOINERS and _is_in_emoji(match.string, match.start()):
        return character
    point = ord(character)
    if point < 0x20:
        return chr(0x2400 + point)
    return "␡" if point == 0x7F else _numbered(match)


def _numbered(match: "re.Match[str]") -> str:
    return f"⟨U+{ord(match.group()):04X}⟩"


def _is_odd_mark(match: "re.Match[str]") -> bool:
    text, at = match.string, match.start()
    if not _is_mark(text[at]):
        return False
    before = text[max(0, at - _MARKS_AT_MOST) : at]
    if not before or before[-1].isascii():
        return _is_usual_mark(text[at]) is None
    return len(before) == _MARKS_AT_MOST and all(map(_is_mark, before))


def _is_mark(character: str) -> bool:
    from unicodedata import category

    return category(character) in ("Mn", "Mc", "Me")


def _is_mixed(line: str) -> bool:
    """Whether something in it is written from left to right, too."""
    from unicodedata import category

    return any(category(each)[0] in "LN" for each in _leftward.sub("", line))


def _is_in_emoji(text: str, at: int) -> bool:
    before, after = text[at - 1 : at] if at else "", text[at + 1 : at + 2]
    if text[at] == "\ufe0f":
        return _is_picture(before)
    return (_is_picture(before) or before == "\ufe0f") and _is_picture(after)


def _is_picture(character: str) -> bool:
    from unicodedata import category

    return bool(character) and category(character) in ("So", "Sk")
