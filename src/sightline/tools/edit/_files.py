"""From a section to the bytes its file will hold; nothing is written here.

Rules:

- A file is text in UTF-8 or it is not touched. What an edit leaves alone (line ends, a byte order mark, a missing last
  line end) stays byte for byte.
- A notebook is edited as the text read shows of it, or as its plain text when the tag was given for that.
- A section for a file that is not there makes it, when all it does is insert at the head or the tail.
"""

import os
import re
import stat
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from msgspec import structs

from sightline.handles import real_path
from sightline.secrets import PLACEHOLDER, RestoredText, not_restored
from sightline.tools._tool import ToolError
from sightline.tools.files import _notebook as notebook
from sightline.tools.files._paths import display, reason_of, refuse_impossible, resolve
from sightline.tools.files._regular import opened, read_all
from sightline.tools.hashline import (
    BlockResolver,
    FileText,
    LineChange,
    PatchSection,
    PatchTarget,
    Snapshots,
    SnapshotStep,
    changes_of,
    is_current,
    missing_tag,
    patch,
    refuse_collision,
    splices_of,
)

Restore = Callable[[str, str], RestoredText]

_BETWEEN_ROWS = "\0\n"  # no row has a line end
MAX_FILE = 64 * 1024 * 1024
MAX_LINES = 1_000_000  # each is held several times
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)


class FilePlan(msgspec.Struct, frozen=True):
    """What one file becomes."""

    path: Path
    shown: str
    before: bytes | None  # None: it is made
    after: bytes
    lines: list[str]  # before, as the edit sees them
    changes: list[LineChange]
    notes: list[str]
    warnings: list[str]
    step: SnapshotStep | None
    as_notebook: bool
    secrets: RestoredText = RestoredText("")

    @property
    def created(self) -> bool:
        return self.before is None

    def state(self) -> list[str]:
        """The lines a read will show afterwards."""
        text = notebook.to_text(self.after) if self.as_notebook else self.after.decode()
        return FileText.of(text).lines


def file_of(path: str, cwd: Path, local: Path) -> Path:
    """The file a section's path means."""
    scheme = _SCHEME.match(path)
    if scheme is None or scheme[1].lower() == "file":
        return resolve(path, cwd)
    if not is_note(path):
        raise ToolError(f"edit changes files; {scheme[0]} is not one. Edit the file it was made from, or use write.")
    refuse_impossible(path)
    folder = Path(real_path(local))
    target = Path(real_path(folder / path[scheme.end() :]))
    if not target.is_relative_to(folder):
        raise ToolError(f"{path} leads out of local://.")
    if target == folder:
        raise ToolError("local:// is a folder. Name a file in it, such as local://notes.md.")
    return target


def is_note(path: str) -> bool:
    """Whether a section is about a file of the session's own folder, which needs no approval."""
    return path.lower().startswith("local://")


def plan_file(
    section: PatchSection, path: Path, cwd: Path, snapshots: Snapshots, restored: Restore = not_restored
) -> FilePlan:
    """Raises ToolError. `restored`: text for the file with the secret values of the lines it replaces."""
    from sightline.tools.files._generated import refuse_generated

    shown = section.path if is_note(section.path) else display(path, cwd)
    data = _read(path, shown)
    if data is None:
        return _creation(section, path, shown, snapshots, restored)
    refuse_generated(path)
    if not os.access(path, os.W_OK):
        raise ToolError(f"Cannot edit {shown}: the file is read-only.")
    refuse_collision(path, shown, data, snapshots)
    view, as_notebook = _view(section, path, shown, data, snapshots)
    target = PatchTarget(path, shown, view, lambda lines: _resolver(lines, path), _block_hint(section, path))
    done = patch(section, target, snapshots)
    section, secrets = _restored(section, done.changes, restored)
    if secrets.restored:
        done = patch(section, target, snapshots)
    after = _bytes(done.text, data, as_notebook=as_notebook)
    return FilePlan(
        path, shown, data, after, view.lines, done.changes, done.notes, done.warnings, done.step, as_notebook, secrets
    )


def _restored(
    section: PatchSection, changes: Sequence[LineChange], restored: Restore
) -> tuple[PatchSection, RestoredText]:
    """The section with values where its rows name them and a line that it takes away held them."""
    rows = _BETWEEN_ROWS.join(row for hunk in section.hunks for row in hunk.body)
    if PLACEHOLDER not in rows:
        return section, RestoredText(rows)
    done = restored(rows, "\n".join(line for change in changes for line in change.before))
    left = iter(done.text.split(_BETWEEN_ROWS))
    hunks = [
        structs.replace(hunk, body=[part for _ in hunk.body for part in next(left).split("\n")])
        for hunk in section.hunks
    ]
    return structs.replace(section, hunks=hunks), done


def _read(path: Path, shown: str) -> bytes | None:
    try:
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode):
            what = "a directory" if stat.S_ISDIR(found.st_mode) else "not a regular file"
            raise ToolError(f"Cannot edit {shown}: it is {what}. Give the path of a text file.")
        if found.st_size > MAX_FILE:
            raise ToolError(f"Cannot edit {shown}: it is larger than {MAX_FILE >> 20} MiB. Change it with a command.")
        with opened(path) as fd:
            data = read_all(fd, MAX_FILE)
        if data.count(b"\n") > MAX_LINES:
            raise ToolError(f"Cannot edit {shown}: it has more than {MAX_LINES} lines. Change it with a command.")
        return data
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as problem:
        reason = reason_of(problem) if isinstance(problem, OSError) else problem
        raise ToolError(f"Cannot read {shown}: {reason}. Nothing was written.") from problem


def _view(section: PatchSection, path: Path, shown: str, data: bytes, snapshots: Snapshots) -> tuple[FileText, bool]:
    """The text that is edited, and whether it stands for a notebook."""
    if path.suffix.lower() != notebook.SUFFIX:
        return _decoded(data, shown), False
    try:
        cells = FileText.of(notebook.to_text(data))
    except ToolError:
        return _decoded(data, shown), False
    version = None if section.tag is None else snapshots.find(path, section.tag)
    if version is not None and not is_current(version, cells.lines):
        plain = _decoded(data, shown)
        if is_current(version, plain.lines):
            return plain, False
    return cells, True


def _decoded(data: bytes, shown: str) -> FileText:
    try:
        return FileText.of(data.decode())
    except UnicodeDecodeError as problem:
        raise ToolError(
            f"Cannot edit {shown}: it is not UTF-8 text (byte {problem.start}). It was not touched; change it with a "
            "program that knows its encoding."
        ) from problem


def _bytes(text: FileText, original: bytes, *, as_notebook: bool) -> bytes:
    rendered = text.render()
    return notebook.from_text(rendered, original) if as_notebook else rendered.encode()


def _creation(section: PatchSection, path: Path, shown: str, snapshots: Snapshots, restored: Restore) -> FilePlan:
    if section.tag is not None and snapshots.find(path, section.tag) is not None:
        raise ToolError(f"{shown} no longer exists. To create it again, leave out the tag: ¶{shown}")
    if not section.only_adds_ends:
        if section.tag is None:
            raise missing_tag(shown)
        raise ToolError(f"{shown} does not exist. To create it, use only `insert head:` in its section.")
    if path.suffix.lower() == notebook.SUFFIX:
        raise ToolError(
            f"Cannot create {shown}: edit changes notebooks that exist. Use write with the notebook's JSON."
        )
    if not os.access(_existing_folder(path), os.W_OK):
        raise ToolError(f"Cannot create {shown}: its folder cannot be written.")
    splices = splices_of(section.hunks, [], lambda line: None)
    text = FileText([], []).edited(splices)
    changes = changes_of([], splices)
    _, secrets = _restored(section, [], restored)
    return FilePlan(path, shown, None, text.render().encode(), [], changes, [], section.warnings, None, False, secrets)


def _existing_folder(path: Path) -> Path:
    folder = Path(real_path(path)).parent
    while not folder.exists():
        folder = folder.parent
    return folder


def _resolver(lines: Sequence[str], path: Path) -> BlockResolver:
    from sightline.tools.files._blocks import block_at

    return lambda line: block_at("".join(f"{text}\n" for text in lines), path, line)


def _block_hint(section: PatchSection, path: Path) -> str:
    if not any(hunk.block for hunk in section.hunks):
        return ""
    from sightline.tools.files._blocks import missing_hint

    return missing_hint(path)
