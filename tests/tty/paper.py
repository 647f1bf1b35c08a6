"""A strict little terminal for the engine's tests: text only, and only what the engine may say in an ordinary update.

It keeps the tape: rows that scrolled away and rows on the screen, as one list. Anything else than relative moves, line
insertion and deletion, erasing to the end, a region of the first two rows and the modes of a frame is refused; what a
gesture says is allowed only to a terminal that was told to `expect_gesture`.
"""

import re

_TOKEN = re.compile(r"\x1b\[(\?)?([0-9;]*)([A-Za-z])|\x1b\]8;;[^\x1b]*\x1b\\|[^\x1b]")
_MODES = {"2026", "25", "7"}


class Paper:
    """A surface of the engine and its tape."""

    def __init__(self, columns: int = 40, rows: int = 8, *, above: int = 0) -> None:
        self.size = (columns, rows)
        self.busy = False
        self.written: list[str] = []
        self.modes: dict[str, bool] = {"25": True, "7": True, "2026": False}
        self._lines: list[list[str]] = [list(f"shell {index}") for index in range(above)] + [[]]
        self._top = max(0, len(self._lines) - rows)
        self._row = len(self._lines) - 1
        self._column = 0
        self._gesture = False
        self._in_region = False

    @property
    def tape(self) -> list[str]:
        """All rows that were ever written, without blank ones at the end."""
        rows = ["".join(line).rstrip() for line in self._lines]
        while rows and not rows[-1]:
            rows.pop()
        return rows

    @property
    def cursor(self) -> tuple[int, int]:
        """Row of the tape and column."""
        return self._row, self._column

    def expect_gesture(self) -> None:
        self._gesture = True

    def write(self, text: str) -> None:
        self.written.append(text)
        at = 0
        for token in _TOKEN.finditer(text):
            assert token.start() == at, f"not understood: {text[at:]!r}"
            at = token.end()
            self._obey(token)
        assert at == len(text), f"not understood: {text[at:]!r}"
        self._gesture = False

    def _obey(self, token: "re.Match[str]") -> None:
        private, parameters, final = token.groups()
        if final is None:
            if not token[0].startswith("\x1b]"):
                self._put(token[0])
        elif private:
            assert parameters in _MODES, f"mode {parameters}"
            self.modes[parameters] = final == "h"
        else:
            self._control(parameters, final)

    def _control(self, parameters: str, final: str) -> None:
        count = int(parameters or 1) if final in "ABGLM" else 0
        last = self._top + self.size[1] - 1
        if final == "A":
            assert self._row - count >= self._top, "moved above the screen"
            self._row -= count
        elif final == "B":
            assert self._row + count <= last, "moved below the screen"
            self._row += count
            self._grow()
        elif final == "G":
            self._column = min(count, self.size[0]) - 1
        elif final == "L":
            self._grow()
            self._lines[self._row : self._row] = [[] for _ in range(count)]
            del self._lines[last + 1 :]
        elif final == "M":
            del self._lines[self._row : self._row + count]
            self._grow()
        elif final == "K":
            assert not parameters
            del self._lines[self._row][self._column :]
        elif final == "J" and not parameters:
            del self._lines[self._row][self._column :]
            del self._lines[self._row + 1 :]
        elif final == "r":
            assert parameters in ("1;2", ""), "another region"
            self._in_region = bool(parameters)
            self._row, self._column = self._top, 0
        elif final == "m":
            pass
        else:
            self._clear(parameters, final)

    def _clear(self, parameters: str, final: str) -> None:
        assert self._gesture, f"CSI {parameters} {final} in an ordinary update"
        assert (parameters, final) in {("2", "J"), ("", "H"), ("3", "J")}
        self._lines, self._top, self._row, self._column = [[]], 0, 0, 0

    def _put(self, char: str) -> None:
        if char == "\r":
            self._column = 0
        elif char == "\n" and self._in_region and self._row == self._top + 1:
            self._lines.insert(self._row + 1, [])
            self._top += 1
            self._row += 1
        elif char == "\n":
            self._row += 1
            self._grow()
            self._top = max(self._top, self._row - self.size[1] + 1)
        else:
            self._grow()
            line = self._lines[self._row]
            assert self._column < self.size[0], "wrote past the right edge"
            line.extend(" " * (self._column - len(line)))
            line[self._column : self._column + 1] = [char]
            self._column += 1

    def _grow(self) -> None:
        while len(self._lines) <= self._row:
            self._lines.append([])
