"""Results of a search: lines that match, files and folders that match."""

import re
from collections.abc import Sequence

from sightline.events import FilesFact, SearchFact
from sightline.text import clean_line
from sightline.tty import expand_tabs, truncate
from sightline.views.console.shapes._shape import (
    FactShape,
    ShapeBody,
    displayed,
    near,
    plural,
    record,
    short,
    styled,
    text_in,
    wrapped,
)

_found = re.compile(r"([* ]?) *(\d{1,9})│(.*)").fullmatch


class SearchShape(FactShape[SearchFact]):
    """`# file` and the lines below it, those that match marked."""

    folded, unfolded = 8, 200

    @property
    def title(self) -> str:
        return short(text_in(record(self.call.args), "pattern", "query"), 200) or super().title

    @property
    def suffix(self) -> str:
        matches, files = self._fact.match_count, self._fact.file_count
        if matches is None:
            return ""
        found = "1 match" if matches == 1 else f"{matches:,} matches"
        return found if not files else f"{found} in {plural(files, 'file')}"

    def body(self, width: int) -> ShapeBody:
        text = displayed(self._fact, self.call)
        return self.beginning(text, width, lambda shown: self._drawn(shown.split("\n"), width)) if text else ShapeBody()

    def _drawn(self, lines: Sequence[str], width: int) -> list[str]:
        """Lines of files with their numbers, as in a diff; lines that match have a mark, those around them are dim."""
        theme, rows = self.drawing.theme, []
        found = [_found(line) for line in lines]
        digits = max((len(line[2]) for line in found if line is not None), default=0)
        for line, parts in zip(lines, found, strict=True):
            if parts is None:
                file = line.startswith("# ")
                rows += styled(theme, "strong" if file else "output", wrapped(line[2:] if file else line, width))
                continue
            mark, number, text = parts[1].strip(), parts[2], parts[3]
            before = theme.style("line_number", f"{number:>{digits}}") + " " + theme.style("match", mark or " ") + " "
            words = text if mark else theme.style("diff_context", text)
            rows.append(truncate(before + expand_tabs(words), width))
        return rows


class FilesShape(FactShape[FilesFact]):
    """Names, one a row."""

    folded, unfolded = 8, 200

    @property
    def suffix(self) -> str:
        count = self._fact.file_count
        return plural(len(self._fact.names) if count is None else count, "file")

    @property
    def source(self) -> str:
        return "\n".join(map(clean_line, self._fact.names)) or super().source

    def body(self, width: int) -> ShapeBody:
        names = self._fact.names
        if not names:
            return self.text_rows(displayed(self._fact, self.call), width)
        if self.call.is_error and self.call.content:
            return self.text_rows(self.call.content, width)
        room, theme = self.room, self.drawing.theme
        shown = names if len(names) <= room else names[: room - 1]
        rows = [truncate(near(clean_line(name), self.drawing.cwd), width) for name in shown]
        count = max(self._fact.file_count or 0, len(names))
        rows += [theme.style("error", truncate(clean_line(problem), width)) for problem in self._fact.problems]
        if count > len(shown):
            rows.append(self.more(count - len(shown), "file", width))
        return ShapeBody(rows)
