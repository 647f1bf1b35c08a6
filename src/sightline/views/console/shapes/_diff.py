"""A change of files as a diff: from the details (also while it is being written), or from the arguments.

A diff that grows shows its end, a complete one its beginning.
"""

import re

from sightline.events import DiffFact, SecretsInFile
from sightline.text import clean_line
from sightline.transcript import TranscriptCall
from sightline.tty.components import Diff
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.shapes._shape import (
    NEW_TEXT,
    OLD_TEXT,
    PATHS,
    FactShape,
    Shape,
    ShapeBody,
    near,
    plural,
    record,
    short,
    text_in,
)

_PATCHES = ("patch", "diff")
_hunk = re.compile(r"@@ -(\d{1,9})(?:,\d{1,9})? \+(\d{1,9})").match
_NO_CHANGE = "no change"


class DiffShape(FactShape[DiffFact]):
    folded, unfolded = 20, 400
    _diff: Diff | None = None

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
        return self._fact.diff

    def body(self, width: int) -> ShapeBody:
        lines = self._lines()
        if self.call.content is None:
            body = self._end(lines, width)
        else:
            rows = self._drawn(lines[: self.room + 1], width)
            body = self.first_of(rows, width, undrawn=_counted(lines) - len(rows))
        return ShapeBody([*body.rows, *self._remarks(width)], body.from_end)

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
        """The lines of the diff, without the headers of a single file: the title names it."""
        lines = self._fact.diff.removesuffix("\n").split("\n") if self._fact.diff else []
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
        elif not self._fact.diff and call.content is not None:
            rows.append(theme.style("muted", _NO_CHANGE))
        return rows


def _counted(lines: list[str]) -> int:
    """The number of lines that are lines of files."""
    return sum(not line.startswith("@@") for line in lines)


def _about_secrets(secrets: SecretsInFile) -> list[str]:
    """Which secret values were put back into a file, and which were not."""
    restored, left = ([clean_line(name) for name in names] for names in (secrets.restored, secrets.left))
    rows = [f"restored {plural(len(restored), 'secret value')}: {', '.join(restored)}"] if restored else []
    return [*rows, f"not restored, the file did not hold it: {', '.join(left)}"] if left else rows


def last_lines(lines: list[str], count: int) -> list[str]:
    """The end of a diff, with a header for the hunk it begins in, for the line numbers."""
    cut = len(lines) - count
    at = next((at for at in range(cut, -1, -1) if lines[at].startswith("@@")), -1)
    found = _hunk(lines[at]) if at >= 0 else None
    if found is None:
        return lines[cut:]
    before = lines[at + 1 : cut]
    old = int(found[1]) + sum(not line.startswith("+") for line in before)
    new = int(found[2]) + sum(not line.startswith("-") for line in before)
    return [f"@@ -{old},{count} +{new},{count} @@", *lines[cut:]]


def edited(call: TranscriptCall, drawing: DrawingOptions) -> Shape | None:
    """The shape of arguments that replace text, or are a patch."""
    text = _diff_in(record(call.args))
    return DiffShape(call, drawing, DiffFact(diff=text)) if text else None


def _diff_in(args: dict[str, object]) -> str:
    patch = text_in(args, *_PATCHES)
    if patch and ("\n@@" in patch or patch.startswith(("@@", "--- ", "diff --git", "*** "))):
        return patch
    edits = args.get("edits")
    if isinstance(edits, list) and edits:
        parts = [_replacement(record(edit)) for edit in edits]
        return "\n".join([part for part in parts if part])
    return _replacement(args)


def _replacement(args: dict[str, object]) -> str:
    """The old and the new text as lines of a diff without numbers."""
    if not any(isinstance(args.get(name), str) for name in NEW_TEXT):
        return ""
    old, new = text_in(args, *OLD_TEXT), text_in(args, *NEW_TEXT)
    if not old and not any(name in args for name in OLD_TEXT):
        return ""
    return replacing(old, new)


def replacing(old: str, new: str) -> str:
    before = [f"-{line}" for line in old.split("\n")] if old else []
    after = [f"+{line}" for line in new.split("\n")] if new else []
    return "\n".join([*before, *after])
