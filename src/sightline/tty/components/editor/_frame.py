"""What is around a text that is edited: rules with words in them, and what is shown while there is no text."""

from sightline.tty._component import CURSOR
from sightline.tty.cells._width import measure, truncate
from sightline.tty.theme._theme import Theme

_LINE = "─"


def rule(theme: Theme, role: str, width: int, *, left: str = "", right: str = "") -> str:
    """A horizontal line with words set into it; what does not fit goes, the right one first."""
    left = f" {left} " if left else ""
    right = f" {right} " if right else ""
    if 2 + measure(left) + measure(right) + 2 > width:
        right = ""
    left = truncate(left, max(0, width - 2))
    lead = min(2, width) if left else 0
    trail = 2 if right else 0
    fill = max(0, width - lead - measure(left) - measure(right) - trail)
    pieces = [(role, _LINE * lead), ("title", left), (role, _LINE * fill), ("muted", right), (role, _LINE * trail)]
    return "".join(theme.style(name, text) for name, text in pieces if text)


def empty(theme: Theme, hint: str, width: int, *, focused: bool) -> str:
    """A hint in place of the text, the cursor on its first cell."""
    shown = theme.style("hint", truncate(hint, width))
    return CURSOR + shown if focused else shown
