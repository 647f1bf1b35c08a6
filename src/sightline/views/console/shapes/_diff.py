"""A change of files as a diff: as a tool tells it (also while it is still being written), or as arguments say it.

A diff that grows shows its end, where it grows; one that is complete its beginning.
"""

import re
from typing import Any

from sightline.text import clean_line
from sightline.transcript import Call
from sightline.tty.components import Diff
from sightline.views.console._drawing import Drawing
from sightline.views.console.shapes._shape import (
    PATHS,
    Body,
    Shape,
    details_of,
    kind_of,
    near,
    number_in,
    record,
    short,
    text_in,
    texts,
)

_OLD = ("old_string", "oldString", "old_text", "old_str")
_NEW = ("new_string", "newString", "new_text", "new_str")
_PATCHES = ("patch", "diff")
_hunk = re.compile(r"@@ -(\d{1,9})(?:,\d{1,9})? \+(\d{1,9})").match
_NO_CHANGE = "no change"


class DiffShape(Shape):
    folded, unfolded = 20, 400

    def __init__(self, call: Call, drawing: Drawing, diff: str) -> None:
        super().__init__(call, drawing)
        self._text = diff
        self._diff: Diff | None = None

    @property
    def title(self) -> str:
        details = details_of(self.call)
        several = details.get("per_file_results")
        names = [text_in(record(one), "path") for one in several] if isinstance(several, list) else []
        listed = [name for name in names if name] or [self._path]
        shown = ", ".join(near(short(name, 200), self.drawing.cwd) for name in listed if name)
        return shown or super().title

    @property
    def _path(self) -> str:
        return text_in(details_of(self.call), "path") or text_in(record(self.call.args), *PATHS)

    @property
    def suffix(self) -> str:
        details = details_of(self.call)
        several = details.get("per_file_results")
        told = [record(one) for one in several] if isinstance(several, list) else [details]
        added = [number_in(one, "added") for one in told]
        removed = [number_in(one, "removed") for one in told]
        if None in added or None in removed:
            return ""
        return f"+{sum(n or 0 for n in added)} -{sum(n or 0 for n in removed)}"

    @property
    def source(self) -> str:
        return self._text

    def body(self, width: int) -> Body:
        lines = self._lines()
        body = self._beginning(lines, width) if self.call.content is not None else self._end(lines, width)
        return Body([*body.rows, *self._remarks(width)], body.cut, body.from_end)

    def _beginning(self, lines: list[str], width: int) -> Body:
        room = self.room
        rows = self._drawn(lines[: room + 1], width)
        if len(rows) <= room:
            return Body(rows)
        return Body([*rows[: room - 1], self.more(max(_counted(lines) - room + 1, 1), "line", width)], cut=True)

    def _end(self, lines: list[str], width: int) -> Body:
        room = self.room
        rows = self._drawn(lines if len(lines) <= room else last_lines(lines, room + 1), width)
        if len(rows) <= room:
            return Body(rows, from_end=True)
        above = self.more(max(_counted(lines) - room + 1, 1), "line", width)
        return Body([above, *rows[1 - room :]], cut=True, from_end=True)

    def _drawn(self, lines: list[str], width: int) -> list[str]:
        text = "\n".join(lines)
        if self._diff is None:
            self._diff = Diff(text, path=self._path, theme=self.drawing.theme)
        self._diff.set_text(text)
        return list(self._diff.render(width))

    def _lines(self) -> list[str]:
        """Without the headers of a single file: the block's own names it."""
        lines = self._text.removesuffix("\n").split("\n") if self._text else []
        if len(lines) > 2 and lines[0].startswith("--- ") and lines[1].startswith("+++ "):
            return lines if any(line.startswith("--- ") for line in lines[2:]) else lines[2:]
        return lines

    def _remarks(self, width: int) -> list[str]:
        call, theme = self.call, self.drawing.theme
        warnings = [clean_line(warning) for warning in texts(details_of(call).get("warnings"))]
        warnings += _about_secrets(details_of(call))
        rows = [theme.style("warning", row) for warning in warnings for row in self.text_rows(warning, width).rows]
        if call.is_error and call.content:
            rows = [*self.text_rows(call.content, width, "error").rows, *rows]
        elif not self._text and call.content is not None:
            rows.append(theme.style("muted", _NO_CHANGE))
        return rows


def _counted(lines: list[str]) -> int:
    """Lines of files among them."""
    return sum(not line.startswith("@@") for line in lines)


def _about_secrets(details: dict[str, Any]) -> list[str]:
    """Which secret values a file holds again, and which it was not given."""
    secrets = record(details.get("secrets"))
    restored, left = ([clean_line(name) for name in texts(secrets.get(key))] for key in ("restored", "left"))
    rows = (
        [f"restored {len(restored)} secret value{'s' * (len(restored) > 1)}: {', '.join(restored)}"] if restored else []
    )
    return [*rows, f"not restored, the file did not hold it: {', '.join(left)}"] if left else rows


def last_lines(lines: list[str], count: int) -> list[str]:
    """The end of a diff, with a header for the hunk it begins in, so that its lines keep their numbers."""
    cut = len(lines) - count
    at = next((at for at in range(cut, -1, -1) if lines[at].startswith("@@")), -1)
    found = _hunk(lines[at]) if at >= 0 else None
    if found is None:
        return lines[cut:]
    before = lines[at + 1 : cut]
    old = int(found[1]) + sum(not line.startswith("+") for line in before)
    new = int(found[2]) + sum(not line.startswith("-") for line in before)
    return [f"@@ -{old},{count} +{new},{count} @@", *lines[cut:]]


def diff(call: Call, drawing: Drawing) -> Shape | None:
    """`details.diff` of a result or an update."""
    text = details_of(call).get("diff") if kind_of(call) == "diff" else None
    return DiffShape(call, drawing, text) if isinstance(text, str) else None


def edited(call: Call, drawing: Drawing) -> Shape | None:
    """Arguments that say what is replaced by what."""
    text = diff_in(record(call.args))
    return DiffShape(call, drawing, text) if text else None


def diff_in(args: dict[str, Any]) -> str:
    patch = text_in(args, *_PATCHES)
    if patch and ("\n@@" in patch or patch.startswith(("@@", "--- ", "diff --git", "*** "))):
        return patch
    edits = args.get("edits")
    if isinstance(edits, list) and edits:
        parts = [_replacement(record(edit)) for edit in edits]
        return "\n".join([part for part in parts if part])
    return _replacement(args)


def _replacement(args: dict[str, Any]) -> str:
    """What goes and what comes, as lines of a diff without numbers."""
    if not any(isinstance(args.get(name), str) for name in _NEW):
        return ""
    old, new = text_in(args, *_OLD), text_in(args, *_NEW)
    if not old and not any(name in args for name in _OLD):
        return ""
    return replacing(old, new)


def replacing(old: str, new: str) -> str:
    before = [f"-{line}" for line in old.split("\n")] if old else []
    after = [f"+{line}" for line in new.split("\n")] if new else []
    return "\n".join([*before, *after])
