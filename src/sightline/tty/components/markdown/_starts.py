"""What a line can begin: the block starts of CommonMark and GFM, each as a question to a line's text.

The text begins at the first column that is not blank; whether the indentation allows the block is the caller's matter.
"""

import re
from typing import NamedTuple

Aligns = tuple[str, ...]

_heading = re.compile(r"(#{1,6})(?: +|$)").match
_heading_end = re.compile(r"(?:^| )#+$").search
_fence = re.compile(r"(`{3,})([^`]*)$|(~{3,})(.*)$").match
_rule = re.compile(r"(?:(?:\* *){3,}|(?:- *){3,}|(?:_ *){3,})$").match
_underline = re.compile(r"(=+|-+) *$").match
_item = re.compile(r"([-+*]|(\d{1,9})[.)])( +|$)").match
_columns = re.compile(r"\|? *+:?-++:? *+(?>(?:\| *+:?-++:? *+)*)\|? *$").match
_cell = re.compile(r"(?:[^|\\]|\\.|\\$)+|\|").findall
_task = re.compile(r"\[([ xX])\] +(?=\S)").match
_definition = re.compile(
    r"\[((?:[^\[\]\\]|\\.){1,999})\]: *(?:<([^<>]*)>|([^\s<]\S*))(?: +(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))? *$"
).match

_TAGS = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|"
    "fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|"
    "menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|"
    "track|ul"
)
_ATTRIBUTE = r"(?:\s+[A-Za-z_:][\w.:-]*(?:\s*=\s*(?:[^\s\"'=<>`]+|'[^']*'|\"[^\"]*\"))?)"
_html = [
    (re.compile(r"<(?:script|pre|style|textarea)(?:\s|>|$)", re.I).match, "</script>|</pre>|</style>|</textarea>"),
    (re.compile(r"<!--").match, "-->"),
    (re.compile(r"<\?").match, r"\?>"),
    (re.compile(r"<![A-Za-z]").match, ">"),
    (re.compile(r"<!\[CDATA\[").match, r"\]\]>"),
    (re.compile(rf"</?(?:{_TAGS})(?:\s|/?>|$)", re.I).match, ""),
]
_tag_alone = re.compile(rf"(?:<[A-Za-z][\w-]*{_ATTRIBUTE}*\s*/?>|</[A-Za-z][\w-]*\s*>)\s*$").match


class Marker(NamedTuple):
    """A list item's beginning: what kind of list, which number, and how many columns lead to its content."""

    kind: str
    number: int | None
    width: int
    empty: bool


def heading(text: str) -> tuple[int, str] | None:
    """Level and text of `## Heading ##`."""
    if (found := _heading(text)) is None:
        return None
    title = text[found.end() :].rstrip(" ")
    if (end := _heading_end(title)) is not None:
        title = title[: end.start()].rstrip(" ")
    return len(found[1]), title


def fence(text: str) -> tuple[str, str] | None:
    """The fence and what is written behind it."""
    if (found := _fence(text)) is None:
        return None
    return found[1] or found[3], (found[2] or found[4] or "").strip(" ")


def closes_fence(text: str, opened: str) -> bool:
    text = text.rstrip(" ")
    return len(text) >= len(opened) and text == opened[0] * len(text)


def is_rule(text: str) -> bool:
    return _rule(text) is not None


def underline(text: str) -> int | None:
    """The level a line of `===` or `---` gives the paragraph above it."""
    if (found := _underline(text)) is None:
        return None
    return 1 if found[1][0] == "=" else 2


def item(text: str) -> Marker | None:
    if (found := _item(text)) is None:
        return None
    marker, blanks = len(found[1]), len(found[3])
    empty = found.end() == len(text)
    width = marker + 1 if empty or blanks > 4 else marker + blanks
    return Marker(found[1][-1], int(found[2]) if found[2] else None, width, empty)


def task(text: str) -> tuple[str, int] | None:
    """The box of a task and where its text begins."""
    if (found := _task(text)) is None:
        return None
    return ("[ ]" if found[1] == " " else "[x]"), found.end()


def html(text: str, *, within_paragraph: bool) -> str | None:
    """The pattern that ends this HTML block (empty: a blank line does); None when the line begins none."""
    for begins, end in _html:
        if begins(text):
            return end
    return "" if not within_paragraph and _tag_alone(text) else None


def table(header: str, text: str) -> tuple[tuple[str, ...], Aligns] | None:
    """Header cells and alignments, when `text` is the line of dashes below `header`."""
    if "|" not in text or _columns(text) is None:
        return None
    names, dashes = cells(header), cells(text)
    if len(names) != len(dashes):
        return None
    return names, tuple(_align(cell) for cell in dashes)


def _align(dashes: str) -> str:
    if dashes.endswith(":"):
        return "center" if dashes.startswith(":") else "right"
    return "left"


def cells(line: str) -> tuple[str, ...]:
    """A table row's cells; `\\|` is a bar within one, also in code."""
    parts = _cell(line.strip(" "))
    if parts and parts[0] == "|":
        del parts[0]
    if parts and parts[-1] == "|":
        parts.pop()
    found, open_cell = [], True
    for part in parts:
        if part == "|":
            if open_cell:
                found.append("")
            open_cell = True
        else:
            found.append(part.strip(" ").replace("\\|", "|"))
            open_cell = False
    return (*found, "") if open_cell else tuple(found)


def definition(line: str) -> tuple[str, str] | None:
    """Name and target of `[name]: target "title"`, on one line."""
    if (found := _definition(line)) is None or not found[1].strip():
        return None
    return found[1], found[2] if found[2] is not None else found[3]
