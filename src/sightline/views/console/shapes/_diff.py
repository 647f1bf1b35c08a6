"""A change of files as a diff: as a tool tells it (also while it is still being written), or as arguments say it.

A diff that grows shows its end, where it grows; one that is complete its beginning.
"""

import re
from typing import Any

from sightline.events import DiffFact, SecretsInFile
from sightline.text import clean_line
from sightline.transcript import TranscriptCall
from sightline.tty.components import Diff
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.shapes._shape import (
    PATHS,
    Shape,
    ShapeBody,
    near,
    record,
    short,
    text_in,
)

_OLD = ("old_string", "oldString", "old_text", "old_str")
_NEW = ("new_string", "newString", "new_text", "new_str")
_PATCHES = ("patch", "diff")
_hunk = re.compile(r"@@ -(\d{1,9})(?:,\d{1,9})? \+(\d{1,9})").match
_NO_CHANGE = "no change"


class DiffShape(Shape):
    folded, unfolded = 20, 400

    def __init__(self, call: TranscriptCall, drawing: DrawingOptions, fact: DiffFact) -> None:
        super().__init__(call, drawing)
        self._fact = fact
        self._text = fact.diff
        self._diff: Diff | None = None

    @property
    def title(self) -> str:
        listed = [change.path for change in self._fact.changes if change.path] or [self._path]
        shown = ", ".join(near(short(name, 200), self.drawing.cwd) for name in listed if name)
        return shown or super().title

    @property
    def _path(self) -> str:
        return self._fact.path or text_in(record(self.call.args), *PATHS)

    @property
    def suffix(self) -> str:
        added = [change.added for change in self._fact.changes]
        removed = [change.removed for change in self._fact.changes]
        if None in added or None in removed:
            return ""
        return f"+{sum(n or 0 for n in added)} -{sum(n or 0 for n in removed)}"

    @property
    def source(self) -> str:
        return self._text

    def body(self, width: int) -> ShapeBody:
        lines = self._lines()
        body = self._beginning(lines, width) if self.call.content is not None else self._end(lines, width)
        return ShapeBody([*body.rows, *self._remarks(width)], body.from_end)

    def _beginning(self, lines: list[str], width: int) -> ShapeBody:
        room = self.room
        rows = self._drawn(lines[: room + 1], width)
        if len(rows) <= room:
            return ShapeBody(rows)
        return ShapeBody([*rows[: room - 1], self.more(max(_counted(lines) - room + 1, 1), "line", width)])

    def _end(self, lines: list[str], width: int) -> ShapeBody:
        room = self.room
        rows = self._drawn(lines if len(lines) <= room else last_lines(lines, room + 1), width)
        if len(rows) <= room:
            return ShapeBody(rows, from_end=True)
        above = self.more(max(_counted(lines) - room + 1, 1), "line", width)
        return ShapeBody([above, *rows[1 - room :]], from_end=True)

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
        warnings = [clean_line(warning) for warning in self._fact.warnings or ()]
        warnings += _about_secrets(self._fact.secrets or SecretsInFile())
        rows = [theme.style("warning", row) for warning in warnings for row in self.text_rows(warning, width).rows]
        if call.is_error and call.content:
            rows = [*self.text_rows(call.content, width, "error").rows, *rows]
        elif not self._text and call.content is not None:
            rows.append(theme.style("muted", _NO_CHANGE))
        return rows


def _counted(lines: list[str]) -> int:
    """Lines of files among them."""
    return sum(not line.startswith("@@") for line in lines)


def _about_secrets(secrets: SecretsInFile) -> list[str]:
    """Which secret values a file holds again, and which it was not given."""
    restored, left = ([clean_line(name) for name in names] for names in (secrets.restored, secrets.left))
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


def diff(call: TranscriptCall, drawing: DrawingOptions) -> Shape | None:
    """`details.diff` of a result or an update."""
    fact = DiffFact.of(call.details)
    return None if fact is None else DiffShape(call, drawing, fact)


def edited(call: TranscriptCall, drawing: DrawingOptions) -> Shape | None:
    """Arguments that say what is replaced by what."""
    text = diff_in(record(call.args))
    return DiffShape(call, drawing, DiffFact(diff=text)) if text else None


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
