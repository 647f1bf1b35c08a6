"""A terminal for tests that obeys exactly what our drawing may use and fails on anything else.

It keeps what scrolls off (`rows` has everything from the first line on), counts how far the cursor ever went up, and
refuses to move above the top of the screen: a move up there means the drawing no longer knows where it is.
"""

import re

from wcwidth import wcwidth

from sightline.text import Row, row_text

_TOKEN = re.compile(r"\x1b\[(\?7[lh]|[0-9;]*[mK]|[0-9]*[AB])|([\r\n])|([^\x00-\x1f\x7f-\x9f]+)")


class Glass:
    def __init__(self, columns: int, height: int) -> None:
        self.columns, self.height = columns, height
        self.lines: list[list[str]] = [[]]
        self.y = self.x = 0
        self.highest = 0  # the topmost row written or moved to since the mark
        self.styled: list[str] = []

    def write(self, text: str) -> None:
        position = 0
        while position < len(text):
            match = _TOKEN.match(text, position)
            assert match is not None, f"not allowed on a terminal: {text[position : position + 20]!r}"
            position = match.end()
            if match[1]:
                self._sequence(match[1])
            elif match[2]:
                self._control(match[2])
            else:
                self._put(match[3])

    def mark(self) -> None:
        """What is above this row now belongs to somebody else."""
        self.highest = self.y

    @property
    def rows(self) -> list[str]:
        return ["".join(line).rstrip() for line in self.lines]

    def _sequence(self, sequence: str) -> None:
        final, number = sequence[-1], sequence[:-1]
        if final == "m":
            self.styled.append(number)
        elif final == "K":
            assert number == ""
            del self.lines[self.y][self.x :]
        elif final == "A":
            self.y -= int(number)
            assert self.y >= max(len(self.lines) - self.height, 0), "moved above the screen"
            self.highest = min(self.highest, self.y)
        elif final == "B":
            self.y += int(number)
            assert self.y < len(self.lines), "moved below the last row"

    def _control(self, control: str) -> None:
        if control == "\r":
            self.x = 0
            return
        self.y += 1
        if self.y == len(self.lines):
            self.lines.append([])

    def _put(self, text: str) -> None:
        line = self.lines[self.y]
        for char in text:
            width = wcwidth(char)
            if width <= 0 and self.x:
                line[self.x - 1] += char
                continue
            assert self.x + width <= self.columns, "wrote past the right edge"
            line += [" "] * (self.x + width - len(line))
            line[self.x : self.x + width] = [char, ""][:width]
            self.x += width


def plain(rows: list[Row]) -> list[str]:
    return [row_text(row).rstrip() for row in rows]
