"""What was found: lines that match, files that match, and folders."""

import re
from collections.abc import Sequence
from typing import Any

from sightline.text import clean_line
from sightline.transcript import Call
from sightline.tty import expand_tabs, truncate
from sightline.views.console._drawing import Drawing
from sightline.views.console.shapes._shape import (
    Body,
    Shape,
    details_of,
    displayed,
    kind_of,
    near,
    number_in,
    plural,
    record,
    short,
    styled,
    text_in,
    wrapped,
)

_found = re.compile(r"([* ]?) *(\d{1,9})│(.*)").fullmatch


class SearchShape(Shape):
    """`# file` and the lines below it, those that match told apart."""

    folded, unfolded = 8, 200

    @property
    def title(self) -> str:
        args = record(self.call.args)
        pattern = short(text_in(args, "pattern", "query"), 200)
        return pattern or super().title

    @property
    def suffix(self) -> str:
        details = details_of(self.call)
        matches, files = number_in(details, "match_count"), number_in(details, "file_count")
        if matches is None:
            return ""
        found = "1 match" if matches == 1 else f"{matches:,} matches"
        return found if not files else f"{found} in {plural(files, 'file')}"

    def body(self, width: int) -> Body:
        text = displayed(self.call)
        return Body() if not text else self._lines(text, width)

    def _lines(self, text: str, width: int) -> Body:
        return self.beginning(text, width, lambda shown: self._drawn(shown.split("\n"), width))

    def _drawn(self, lines: Sequence[str], width: int) -> list[str]:
        """Lines of files with their numbers, as in a diff; those that match have a mark, those around them recede."""
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


class FilesShape(Shape):
    """Names, one a row."""

    folded, unfolded = 8, 200

    @property
    def suffix(self) -> str:
        count = number_in(details_of(self.call), "file_count")
        return plural(len(self._names()) if count is None else count, "file")

    @property
    def source(self) -> str:
        return "\n".join(self._names()) or super().source

    def body(self, width: int) -> Body:
        names = self._names()
        if not names:
            return self.text_rows(displayed(self.call), width)
        if self.call.is_error and self.call.content:
            return self.text_rows(self.call.content, width)
        room, theme = self.room, self.drawing.theme
        shown = names if len(names) <= room else names[: room - 1]
        rows = [truncate(near(name, self.drawing.cwd), width) for name in shown]
        count = max(number_in(details_of(self.call), "file_count") or 0, len(names))
        problems = _problems(details_of(self.call).get("files"))
        rows += [theme.style("error", truncate(problem, width)) for problem in problems]
        if count > len(shown):
            rows.append(self.more(count - len(shown), "file", width))
        return Body(rows, cut=count > len(shown))

    def _names(self) -> Sequence[str]:
        files = details_of(self.call).get("files")
        if not isinstance(files, list):
            return []
        return [clean_line(name) for item in files if isinstance(name := _path(item), str)]


def _path(item: Any) -> Any:
    return item.get("path") if isinstance(item, dict) else item


def _problems(files: Any) -> list[str]:
    listed = [item for item in files if isinstance(item, dict)] if isinstance(files, list) else []
    return [
        clean_line(f"{item.get('path')}: {item['problem']}")
        for item in listed
        if isinstance(item.get("problem"), str) and item["problem"]
    ]


def search(call: Call, drawing: Drawing) -> Shape | None:
    return SearchShape(call, drawing) if kind_of(call) == "search" else None


def files(call: Call, drawing: Drawing) -> Shape | None:
    return FilesShape(call, drawing) if kind_of(call) == "files" else None
