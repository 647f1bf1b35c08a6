"""A theme whose looks can be read back: rows as text with their roles in angle brackets."""

import re

from sightline.tty.theme._theme import Theme

_ROLES = [
    "muted",
    "strong",
    "emphasis",
    "success",
    "title",
    "heading",
    "heading_mark",
    "code",
    "code_block",
    "code_border",
    "link",
    "link_url",
    "quote",
    "quote_border",
    "list_marker",
    "rule",
    "table_border",
    "table_header",
    "strike",
    "diff_added",
    "diff_removed",
    "diff_context",
    "diff_hunk",
    "diff_added_word",
    "diff_removed_word",
    "line_number",
    "syntax_keyword",
    "syntax_string",
    "syntax_comment",
    "syntax_number",
    "syntax_function",
    "syntax_type",
    "syntax_name",
    "syntax_operator",
    "syntax_builtin",
    "syntax_decorator",
    "image_fallback",
]
MARKS = Theme({role: f"\x1b[38;5;{index + 16}m" for index, role in enumerate(_ROLES)})

_mark = re.compile("\x1b\\[38;5;(\\d+)m|\x1b\\[0m|\x1b]8;;([^\x1b]*)\x1b\\\\")


def marked(row: str) -> str:
    """`<role>text</>`, with `{address}…{}` around what is linked."""
    return _mark.sub(_name, row)


def unmarked(row: str) -> str:
    """The text alone."""
    return _mark.sub("", row)


def _name(match: re.Match[str]) -> str:
    if match[1]:
        return f"<{_ROLES[int(match[1]) - 16]}>"
    return "</>" if match[2] is None else f"{{{match[2]}}}"
