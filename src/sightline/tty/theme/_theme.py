"""Colour and weight: what a role looks like.

Rules:

- A component names a role, never a colour. An unknown role looks like text.
- A style is opened, and closed by `RESET` only: nothing is ever closed in part, so what is around a run can open its
  own style again after each `RESET` (`on_background`).
- Components hold a theme for their whole life. When the terminal turns light or dark the theme becomes another one in
  place, and the caller invalidates the components.
"""

import re
from functools import lru_cache

from sightline.text import Style
from sightline.tty.cells._marks import SGR
from sightline.tty.cells._width import pad
from sightline.tty.theme._colour import Depth, parameters
from sightline.tty.theme._themes import DARK_COLOURS, LIGHT_COLOURS, LOOKS, Colour, RoleStyle

RESET = "\x1b[0m"
_REVERSED = "\x1b[7m"
_any_style = re.compile(SGR)

_ATTRIBUTES = {"bold": 1, "dim": 2, "italic": 3, "underline": 4, "reverse": 7, "strike": 9}


class Theme:
    """Opens and closes the style of a role (`accent`, `muted`, `error`, …)."""

    def __init__(
        self,
        styles: dict[str, str],
        *,
        name: str = "dark",
        dark: bool = True,
        depth: Depth | None = None,
        links: bool = True,
    ) -> None:
        self.name = name
        self.dark = dark
        self.depth = depth
        self.links = links
        """Whether a link can be opened where it is shown; where it cannot, its address has to be read."""
        self._styles = styles

    def open(self, role: str) -> str:
        """The SGR sequence that begins the role; empty where the role looks like plain text."""
        return self._styles.get(role, "")

    def style(self, role: str, text: str) -> str:
        """`text` in the role, closed again."""
        opening = self._styles.get(role, "")
        return f"{opening}{text}{RESET}" if opening and text else text

    def open_style(self, style: Style) -> str:
        """The SGR sequence for a style that came with the text (a command's output), in the colours there are."""
        return "" if self.depth is None else _style_opening(style, self.depth)

    def become(self, other: "Theme") -> None:
        """Look like another theme from now on, for everyone who holds this one."""
        self.name, self.dark, self.depth, self._styles = other.name, other.dark, other.depth, other._styles
        self.links = other.links


PLAIN = Theme({}, name="plain", links=False)
"""No styles and no links at all: for terminals that know none, and where text is read aloud."""


def theme_for(*, dark: bool | None, depth: Depth, links: bool = True) -> Theme:
    """The built-in theme for a terminal. Where its background is not known, its own sixteen colours at most are used:
    they were chosen to be read on it."""
    if dark is None and depth in ("256", "true"):
        depth = "16"
    colours = LIGHT_COLOURS if dark is False else DARK_COLOURS
    styles = {role: _opening(look, colours, depth) for role, look in LOOKS.items()}
    name = "light" if dark is False else "dark"
    return Theme(styles, name=name, dark=dark is not False, depth=depth, links=links)


def on_background(row: str, opening: str) -> str:
    """A row with a style under all of it: opened again wherever the row closes one of its own."""
    if not opening:
        return row
    return f"{opening}{row.replace(RESET, RESET + opening)}{RESET}"


def selected(row: str, width: int, theme: Theme) -> str:
    """A chosen row, its background as wide as there is room. Reversed it has one style throughout: colours and dim
    inside it would become patches of background."""
    opening = theme.open("selection")
    if not opening:
        return row
    plain = _any_style.sub("", row) if opening == _REVERSED else row
    return on_background(pad(plain, width), opening)


@lru_cache(maxsize=1024)
def _style_opening(style: Style, depth: Depth) -> str:
    attributes = {1: style.bold, 2: style.dim, 3: style.italic, 4: style.underline, 7: style.inverse, 9: style.strike}
    parts = [str(code) for code, on in attributes.items() if on]
    for colour, background in ((style.fg, False), (style.bg, True)):
        if colour is not None and (part := parameters(colour, depth, background=background)):
            parts.append(part)
    return _sgr(parts)


def _opening(look: RoleStyle, colours: dict[str, Colour], depth: Depth) -> str:
    parts = [str(_ATTRIBUTES[name]) for name in look.attributes.split()]
    bare = False
    for name, background in ((look.fg, False), (look.bg, True)):
        if not name:
            continue
        part = _parameters(colours[name], depth, background=background)
        bare = bare or not part
        parts += [part] if part else []
    if bare and look.without:
        parts.append(str(_ATTRIBUTES[look.without]))
    return _sgr(parts)


def _parameters(colour: Colour, depth: Depth, *, background: bool) -> str:
    if depth != "16":
        return parameters(colour.exact, depth, background=background)
    return "" if colour.basic is None else parameters(colour.basic, depth, background=background)


def _sgr(parts: list[str]) -> str:
    return f"\x1b[{';'.join(parts)}m" if parts else ""
