"""The one kind of row that may carry more than text: the last row of a graphic that is drawn at the cursor.

- As a string it is what stands in its cells: nothing, or the border and blanks around the graphic.
- `sequence` draws the graphic. It is written with the cursor on the graphic's first row, `height - 1` rows above this
  one, in any column: it begins by going to its own. Afterwards the cursor may be anywhere; the writer saves and
  restores its position.
- Whatever cuts, joins or styles it gets an ordinary string back, without the graphic: nothing made of strings can
  smuggle a sequence to the terminal.
- It equals only another one that draws the same, so that a graphic that comes, goes or changes is seen as a change.
"""


class ImageRow(str):
    """The last row of a graphic, with what draws it."""

    __slots__ = ("_column", "_drawing", "height", "sequence")

    def __new__(cls, text: str, drawing: str, height: int, column: int = 0) -> "ImageRow":
        row = super().__new__(cls, text)
        row._drawing, row._column, row.height = drawing, column, height
        row.sequence = f"\r\x1b[{column}C{drawing}" if column else f"\r{drawing}"
        return row

    _drawing: str
    _column: int
    height: int
    sequence: str

    def framed(self, text: str, columns: int) -> "ImageRow":
        """The same graphic so many columns further right, in a row that reads `text`."""
        return ImageRow(text, self._drawing, self.height, self._column + columns)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ImageRow):
            return False
        return str.__eq__(self, other) and self.height == other.height and self.sequence == other.sequence

    def __ne__(self, other: object) -> bool:
        return not self == other  # str has its own, which would compare the text alone

    def __hash__(self) -> int:
        return hash((str.__hash__(self), self.height, self.sequence))
