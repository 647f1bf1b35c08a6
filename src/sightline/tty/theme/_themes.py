"""The built-in themes as data: which colours there are, and what each role looks like.

A colour has two forms: an exact one, and the basic colour that stands for it where a terminal has sixteen. Those are
the reader's own, chosen to suit their background: bright ones are avoided, because popular palettes put shades of the
background there. There is no grey among them that is safe to write in, so what is grey elsewhere is dim there.
"""

import msgspec


class Colour(msgspec.Struct, frozen=True):
    """An exact colour, and the basic one in its place; None where the terminal's own text colour serves better."""

    exact: str
    basic: int | None


class RoleStyle(msgspec.Struct, frozen=True):
    """What a role looks like. `without` are attributes that stand in where the colours above are not to be had."""

    fg: str = ""
    bg: str = ""
    attributes: str = ""
    without: str = ""


# Each on a dark and on a light background.
_COLOURS = {
    "red": (Colour("#ff9a91", 1), Colour("#b3261e", 1)),
    "green": (Colour("#a3e0ac", 2), Colour("#1a6b32", 2)),
    "yellow": (Colour("#e5c07b", 3), Colour("#7a5200", 3)),
    "blue": (Colour("#82b1ff", 6), Colour("#0b57c4", 4)),  # on black, basic blue is too dark in half of all terminals
    "magenta": (Colour("#d4a5f5", 5), Colour("#7b2fa8", 5)),
    "cyan": (Colour("#6fd3dd", 6), Colour("#00626e", 6)),
    "orange": (Colour("#f0a868", 3), Colour("#954100", 3)),
    "output": (Colour("#b6bcc6", None), Colour("#4c525c", None)),
    "grey": (Colour("#a0a6b0", None), Colour("#5b616b", None)),
    "faint": (Colour("#9096a1", None), Colour("#666c76", None)),
    "line": (Colour("#7d838f", None), Colour("#7b818a", None)),
    "selected": (Colour("#3b4252", None), Colour("#cfd8e6", None)),
    "green_tint": (Colour("#14291c", None), Colour("#e4f6e8", None)),
    "red_tint": (Colour("#331a1d", None), Colour("#fdeae8", None)),
    "green_ground": (Colour("#1d5230", None), Colour("#c4ecd0", None)),
    "red_ground": (Colour("#5f1f24", None), Colour("#ffd2ce", None)),
}
DARK_COLOURS = {name: dark for name, (dark, _) in _COLOURS.items()}
LIGHT_COLOURS = {name: light for name, (_, light) in _COLOURS.items()}

LOOKS = {
    "text": RoleStyle(),
    "muted": RoleStyle("grey", without="dim"),
    "dim": RoleStyle("faint", without="dim"),
    "output": RoleStyle("output"),
    "gutter": RoleStyle("line", without="dim"),
    "accent": RoleStyle("blue"),
    "strong": RoleStyle(attributes="bold"),
    "emphasis": RoleStyle(attributes="italic"),
    "success": RoleStyle("green"),
    "warning": RoleStyle("yellow"),
    "error": RoleStyle("red"),
    "info": RoleStyle("cyan"),
    "border": RoleStyle("line", without="dim"),
    "border_active": RoleStyle("blue"),
    "selection": RoleStyle(bg="selected", without="reverse"),
    "heading": RoleStyle(attributes="bold"),
    "heading_mark": RoleStyle("faint", without="dim"),
    "code": RoleStyle("cyan"),
    "code_block": RoleStyle(),
    "code_border": RoleStyle("line", without="dim"),
    "link": RoleStyle(attributes="underline"),
    "link_url": RoleStyle("grey", without="dim"),
    "quote": RoleStyle("grey", attributes="italic"),
    "quote_border": RoleStyle("line", without="dim"),
    "list_marker": RoleStyle("grey", without="dim"),
    "rule": RoleStyle("line", without="dim"),
    "table_border": RoleStyle("line", without="dim"),
    "table_header": RoleStyle(attributes="bold"),
    "strike": RoleStyle(attributes="strike"),
    "diff_added": RoleStyle("green"),
    "diff_removed": RoleStyle("red"),
    "diff_context": RoleStyle("grey", without="dim"),
    "diff_added_line": RoleStyle(bg="green_tint"),
    "diff_removed_line": RoleStyle(bg="red_tint"),
    "diff_hunk": RoleStyle("faint", without="dim"),
    "diff_added_word": RoleStyle("green", "green_ground", without="reverse"),
    "diff_removed_word": RoleStyle("red", "red_ground", without="reverse"),
    "line_number": RoleStyle("faint", without="dim"),
    "syntax_keyword": RoleStyle("magenta"),
    "syntax_string": RoleStyle("green"),
    "syntax_comment": RoleStyle("grey", attributes="italic"),
    "syntax_number": RoleStyle("orange"),
    "syntax_function": RoleStyle("blue"),
    "syntax_type": RoleStyle("yellow"),
    "syntax_name": RoleStyle(),
    "syntax_operator": RoleStyle("cyan"),
    "syntax_punctuation": RoleStyle("grey"),
    "syntax_builtin": RoleStyle("cyan"),
    "syntax_decorator": RoleStyle("yellow"),
    "syntax_error": RoleStyle("red", attributes="underline"),
    "match": RoleStyle("yellow", attributes="bold"),
    "hint": RoleStyle("grey", without="dim"),
    "spinner": RoleStyle("blue"),
    "progress_done": RoleStyle("blue"),
    "progress_left": RoleStyle("line", without="dim"),
    "tab": RoleStyle("grey", without="dim"),
    "tab_active": RoleStyle("blue", attributes="bold"),
    "title": RoleStyle(attributes="bold"),
    "key": RoleStyle(attributes="bold"),
    "image_fallback": RoleStyle("grey", attributes="italic"),
}
