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


class Look(msgspec.Struct, frozen=True):
    """What a role looks like. `without` are attributes that stand in where the colours above are not to be had."""

    fg: str = ""
    bg: str = ""
    attributes: str = ""
    without: str = ""


DARK_COLOURS = {
    "red": Colour("#ff9a91", 1),
    "green": Colour("#a3e0ac", 2),
    "yellow": Colour("#e5c07b", 3),
    "blue": Colour("#82b1ff", 6),  # the basic blue is too dark to read on black in half of all terminals
    "magenta": Colour("#d4a5f5", 5),
    "cyan": Colour("#6fd3dd", 6),
    "orange": Colour("#f0a868", 3),
    "output": Colour("#b6bcc6", None),
    "grey": Colour("#a0a6b0", None),
    "faint": Colour("#9096a1", None),
    "line": Colour("#7d838f", None),
    "selected": Colour("#3b4252", None),
    "green_tint": Colour("#14291c", None),
    "red_tint": Colour("#331a1d", None),
    "green_ground": Colour("#1d5230", None),
    "red_ground": Colour("#5f1f24", None),
}

LIGHT_COLOURS = {
    "red": Colour("#b3261e", 1),
    "green": Colour("#1a6b32", 2),
    "yellow": Colour("#7a5200", 3),
    "blue": Colour("#0b57c4", 4),
    "magenta": Colour("#7b2fa8", 5),
    "cyan": Colour("#00626e", 6),
    "orange": Colour("#954100", 3),
    "output": Colour("#4c525c", None),
    "grey": Colour("#5b616b", None),
    "faint": Colour("#666c76", None),
    "line": Colour("#7b818a", None),
    "selected": Colour("#cfd8e6", None),
    "green_tint": Colour("#e4f6e8", None),
    "red_tint": Colour("#fdeae8", None),
    "green_ground": Colour("#c4ecd0", None),
    "red_ground": Colour("#ffd2ce", None),
}

LOOKS = {
    "text": Look(),
    "muted": Look("grey", without="dim"),
    "dim": Look("faint", without="dim"),
    "output": Look("output"),
    "gutter": Look("line", without="dim"),
    "accent": Look("blue"),
    "strong": Look(attributes="bold"),
    "emphasis": Look(attributes="italic"),
    "success": Look("green"),
    "warning": Look("yellow"),
    "error": Look("red"),
    "info": Look("cyan"),
    "border": Look("line", without="dim"),
    "border_active": Look("blue"),
    "selection": Look(bg="selected", without="reverse"),
    "heading": Look(attributes="bold"),
    "heading_mark": Look("faint", without="dim"),
    "code": Look("cyan"),
    "code_block": Look(),
    "code_border": Look("line", without="dim"),
    "link": Look(attributes="underline"),
    "link_url": Look("grey", without="dim"),
    "quote": Look("grey", attributes="italic"),
    "quote_border": Look("line", without="dim"),
    "list_marker": Look("grey", without="dim"),
    "rule": Look("line", without="dim"),
    "table_border": Look("line", without="dim"),
    "table_header": Look(attributes="bold"),
    "strike": Look(attributes="strike"),
    "diff_added": Look("green"),
    "diff_removed": Look("red"),
    "diff_context": Look("grey", without="dim"),
    "diff_added_line": Look(bg="green_tint"),
    "diff_removed_line": Look(bg="red_tint"),
    "diff_hunk": Look("faint", without="dim"),
    "diff_added_word": Look("green", "green_ground", without="reverse"),
    "diff_removed_word": Look("red", "red_ground", without="reverse"),
    "line_number": Look("faint", without="dim"),
    "syntax_keyword": Look("magenta"),
    "syntax_string": Look("green"),
    "syntax_comment": Look("grey", attributes="italic"),
    "syntax_number": Look("orange"),
    "syntax_function": Look("blue"),
    "syntax_type": Look("yellow"),
    "syntax_name": Look(),
    "syntax_operator": Look("cyan"),
    "syntax_punctuation": Look("grey"),
    "syntax_builtin": Look("cyan"),
    "syntax_decorator": Look("yellow"),
    "syntax_error": Look("red", attributes="underline"),
    "match": Look("yellow", attributes="bold"),
    "hint": Look("grey", without="dim"),
    "spinner": Look("blue"),
    "progress_done": Look("blue"),
    "progress_left": Look("line", without="dim"),
    "tab": Look("grey", without="dim"),
    "tab_active": Look("blue", attributes="bold"),
    "title": Look(attributes="bold"),
    "key": Look(attributes="bold"),
    "image_fallback": Look("grey", attributes="italic"),
}
