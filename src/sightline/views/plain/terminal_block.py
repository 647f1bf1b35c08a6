"""What a command prints, drawn on a terminal as it comes: the part of the terminal that belongs to one command.

Rules:

- Rows come from the one interpreter, so nothing a command prints reaches the terminal but characters and style.
- Rows are written below each other, once. Only rows that may still change are written again, in place: the cursor
  moves up only over rows of this block that are on the screen, and never above them.
- What only grew is not written again: plain output costs what it is long.
- Between two calls the cursor stands on the last row of the block. `end` leaves it at the start of a fresh line.
- After a change of size, or when something else was written, what stands there stays; the block continues below it.

Nothing here writes: every method returns what is to be written.
"""

from functools import lru_cache

from sightline.text import DEFAULT, OutputScreen, Row, Style, StyledRun, clean_line, clean_output
from sightline.views.plain._palette import PLAIN, Palette

_LIVE_ROWS = 50  # as many as may be redrawn, where the terminal has that many
_LABELS = {"stdout": "out │ ", "stderr": "err │ "}
_LABEL_WIDTH = 6


class TerminalBlock:
    """Output in, what to write to the terminal out. `labelled`: each row shows which stream it came from."""

    def __init__(self, columns: int, rows: int, palette: Palette = PLAIN, *, labelled: bool = False) -> None:
        self._palette = palette
        self._labelled = labelled
        self._size = (columns, rows)
        self._screen = self._new_screen()
        self._drawn: list[Row] = []  # the rows on the terminal that may be written again
        self._blanks = 0  # how many of them, at the end, hold nothing any more
        self._open = False  # whether the cursor stands on a row of ours
        self._at_end = True  # whether the cursor stands behind the last character of the last row
        self._status = ""
        self._interrupted = False

    def feed(self, text: str, stream: str = "stdout") -> str:
        """Some output of the command."""
        before = self._continue_below()
        self._status = ""
        self._screen.feed(clean_output(text), stream)
        return before + self._paint()

    def status(self, text: str) -> str:
        """Something about the command that is not its output: shown below it until there is more output."""
        before = self._continue_below()
        self._status = clean_line(text)
        return before + self._paint()

    def remark(self, text: str) -> str:
        """A row of ours among the command's."""
        palette = self._palette
        return f"{self.end()}{palette.dim}{clean_line(text)}{palette.reset}\r\n"

    def heading(self, text: str) -> str:
        """A row of ours with the name of the job whose rows follow."""
        palette = self._palette
        return f"{self.end()}{palette.bold}{clean_line(text)}{palette.reset}\r\n"

    def resize(self, columns: int, rows: int) -> None:
        if (columns, rows) != self._size:
            self._size = (columns, rows)
            self._interrupted = True

    def end(self) -> str:
        """All there is becomes final."""
        self._status = ""
        self._screen.finish()
        text = self._paint()
        if self._blanks:
            text += (f"\x1b[{self._blanks - 1}A" if self._blanks > 1 else "") + "\r"
        elif self._open:
            text += "\r\n"
        self._drawn, self._blanks = [], 0
        self._open = self._interrupted = False
        self._screen = self._new_screen(self._screen.style)
        return text

    def _new_screen(self, style: Style = DEFAULT) -> OutputScreen:
        columns, rows = self._size
        height = max(min(rows - 1, _LIVE_ROWS), 1)
        screen = OutputScreen(max(columns - _LABEL_WIDTH * self._labelled, 2), height, height)
        screen.style = style
        return screen

    def _continue_below(self) -> str:
        return self.end() if self._interrupted else ""

    def _paint(self) -> str:
        settled = self._screen.take_settled()
        live = self._screen.live
        if self._status:
            live.append((StyledRun(self._status, Style(dim=True), "status"),))
        self._blanks = max(len(self._drawn) - len(settled) - len(live), 0)
        live += [()] * self._blanks
        rows = [*settled, *live]
        parts = self._changes(rows)
        added = [self._rendered(row) for row in rows[len(self._drawn) :]]
        if added:
            parts.append(("\r\n" if self._open else "") + "\r\n".join(added))
            self._open = self._at_end = True
        self._drawn = live
        return "".join(parts)

    def _changes(self, rows: list[Row]) -> list[str]:
        """Bring the rows that are on the terminal to what they are now, and the cursor back to the last of them."""
        last = at = len(self._drawn) - 1
        parts: list[str] = []
        for index, old in enumerate(self._drawn):
            new = rows[index]
            if new is old or new == old:
                continue
            grown = _growth(old, new) if index == last and at == last and self._at_end else None
            if grown is not None:
                parts.append(_without_wrapping(self._rendered_runs(grown)))
            else:
                parts.append(f"{_vertical(index - at)}\r\x1b[K{self._rendered(new)}")
                at = index
                self._at_end = index == last
        if at != last:
            parts.append(_vertical(last - at))
            self._at_end = False
        return parts

    def _rendered(self, row: Row) -> str:
        text = self._rendered_runs(row)
        if self._labelled and row and row[0].stream in _LABELS:
            palette = self._palette
            text = f"{palette.dim}{_LABELS[row[0].stream]}{palette.reset}{text}"
        return _without_wrapping(text)

    def _rendered_runs(self, row: Row) -> str:
        if not self._palette.reset:
            return "".join([run.text for run in row])
        return "".join([self._rendered_run(run) for run in row])

    def _rendered_run(self, run: StyledRun) -> str:
        if run.style is DEFAULT and run.stream == "stdout":
            return run.text
        codes = _codes(run.style)
        aside = self._palette.aside if run.stream == "stderr" and run.style.fg is None else ""
        return f"{aside}{codes}{run.text}{self._palette.reset}" if codes or aside else run.text


def _without_wrapping(text: str) -> str:
    """Terminals do not agree on how wide some characters are: a row that is too long must not become two."""
    return text if text.isascii() else f"\x1b[?7l{text}\x1b[?7h"


def _vertical(rows: int) -> str:
    if not rows:
        return ""
    return f"\x1b[{rows}B" if rows > 0 else f"\x1b[{-rows}A"


def _growth(old: Row, new: Row) -> Row | None:
    """What was added to the end of a row; None when it changed in another way."""
    if not old:
        return new
    before = len(old) - 1
    if len(new) < len(old) or new[:before] != old[:before]:
        return None
    last, now = old[before], new[before]
    if now.style != last.style or now.stream != last.stream or not now.text.startswith(last.text):
        return None
    rest = now.text[len(last.text) :]
    return (*((StyledRun(rest, now.style, now.stream),) if rest else ()), *new[len(old) :])


@lru_cache(maxsize=512)
def _codes(style: Style) -> str:
    """A style as the sequence that switches it on after a reset."""
    codes = [str(code) for name, code in _SWITCHES if getattr(style, name)]
    codes += _colour_codes(style.fg, 38) + _colour_codes(style.bg, 48)
    return f"\x1b[{';'.join(codes)}m" if codes else ""


_SWITCHES = (("bold", 1), ("dim", 2), ("italic", 3), ("underline", 4), ("inverse", 7), ("strike", 9))


def _colour_codes(colour: int | str | None, ground: int) -> list[str]:
    """38 for the characters, 48 for what is behind them. The first sixteen in the form every terminal knows."""
    if colour is None:
        return []
    if isinstance(colour, str):
        red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
        return [f"{ground};2;{red};{green};{blue}"]
    if colour < 8:
        return [str(ground - 8 + colour)]
    if colour < 16:
        return [str(ground + 44 + colour)]
    return [f"{ground};5;{colour}"]
