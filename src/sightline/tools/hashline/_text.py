"""A file's text as lines that remember how they ended, so that what an edit leaves alone stays as it is."""

from collections.abc import Sequence

import msgspec

from sightline.tools.hashline._apply import Splice, spliced

_MARK = "\ufeff"


class FileText(msgspec.Struct, frozen=True):
    lines: list[str]
    ends: list[str]  # "\n", "\r\n", or "" for a last line without one
    marked: bool = False  # begins with a byte order mark

    @classmethod
    def of(cls, text: str) -> "FileText":
        marked = text.startswith(_MARK)
        pieces = text.removeprefix(_MARK).split("\n")
        last = pieces.pop()
        lines = [piece.removesuffix("\r") for piece in pieces]
        ends = ["\r\n" if piece.endswith("\r") else "\n" for piece in pieces]
        return cls([*lines, last], [*ends, ""], marked) if last else cls(lines, ends, marked)

    def render(self) -> str:
        body = "".join(line + end for line, end in zip(self.lines, self.ends, strict=True))
        return (_MARK if self.marked else "") + body

    def edited(self, splices: Sequence[Splice]) -> "FileText":
        """New lines end as most lines do; the last line ends, or does not, as the last line did."""
        usual = "\r\n" if self.ends.count("\r\n") > self.ends.count("\n") else "\n"
        lines = spliced(self.lines, splices, lambda splice: splice.rows)
        ends = spliced(self.ends, splices, lambda splice: [usual] * len(splice.rows))
        ends = [end or usual for end in ends]
        if ends and self.ends and not self.ends[-1] and lines[-1]:  # an empty last line is nothing without its end
            ends[-1] = ""
        return FileText(lines, ends, self.marked)
