"""What a write would change, before it is made: for the person who is asked.

Rules:

- All of it: no line is left out or cut. What cannot be shown (no text, too large to compare) is said in a sentence.
- It says what it was compared with (`basis`), so that a target that changed since is noticed.
"""

import os
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from sightline.tools import archives, sqlite
from sightline.tools._context import ToolContext
from sightline.tools._sizes import human_size
from sightline.tools._tool import Proposal
from sightline.tools.conflicts import Conflicts, planned
from sightline.tools.files._paths import display
from sightline.tools.files._regular import opened, read_all
from sightline.tools.write._diff import diff
from sightline.tools.write._file import encoded
from sightline.tools.write._line_ends import ended_as
from sightline.tools.write._targets import ConflictTarget, DatabaseTarget, EntryTarget, FileTarget, Target

_COMPARED_AT_MOST = 16 * 1024 * 1024  # bytes of what is there


def proposed(target: Target, content: str, context: ToolContext) -> Proposal:
    """Blocking. ToolError when it could not be written either."""
    match target:
        case FileTarget():
            return _file(target, content, context)
        case EntryTarget():
            return _entry(target, content, context)
        case DatabaseTarget():
            return _row(target, content, context)
        case ConflictTarget():
            return _resolution(target, content, context)
    return Proposal()  # the session's own folder


def _file(target: FileTarget, content: str, context: ToolContext) -> Proposal:
    data = encoded(content)
    name = display(target.path, context.cwd)
    if not os.path.lexists(target.path):
        return _compared(name, None, content, [_made_executable(target.path, data)])
    with opened(target.path) as fd:
        size, before = os.fstat(fd).st_size, read_all(fd, _COMPARED_AT_MOST)
    content = ended_as(before, content).text
    if len(before) > _COMPARED_AT_MOST:
        unseen = f"it replaces a file of {human_size(size)}, too large to compare: only the new content is shown"
        stamp = os.stat(target.path)
        basis = f"{stamp.st_ino} {stamp.st_size} {stamp.st_mtime_ns}"
        return _only_new(name, content, unseen, basis)
    new = context.restored(content, before.decode("utf-8", "surrogateescape"))
    return _compared(name, before, new.text, [_made_executable(target.path, data), new.about])


def _made_executable(path: Path, data: bytes) -> str:
    return "it is made executable" if data.startswith(b"#!") and not os.access(path, os.X_OK) else ""


def _entry(target: EntryTarget, content: str, context: ToolContext) -> Proposal:
    encoded(content)
    name = f"{display(target.path, context.cwd)}:{target.entry}"
    if not target.path.exists():
        return _compared(name, None, content, ["the archive is made"])
    with archives.Archive.open(target.path) as archive:
        before = archive.read(target.entry) if archive.is_file(target.entry) else None
    return _compared(name, before, content)


def _row(target: DatabaseTarget, content: str, context: ToolContext) -> Proposal:
    row = sqlite.preview(target.path, target.row, content)
    name = f"{display(target.path, context.cwd)}:{row.table}"
    if target.row.key is not None:
        name = f"{name}:{target.row.key}"
    if row.before is None and target.row.key is not None:
        return Proposal(about=f"nothing changes: {row.table} has no row '{target.row.key}'")
    about = ["the row is deleted" if row.after is None else "", "triggers of the table run too" if row.triggers else ""]
    before = None if row.before is None else row.before.encode("utf-8", "surrogateescape")
    return _compared(name, before, row.after or "", about)


def _resolution(target: ConflictTarget, content: str, context: ToolContext) -> Proposal:
    files = planned(target.url.number, content, context.shared(Conflicts))
    parts = [diff(display(path, context.cwd), before, after) for path, before, after in files]
    basis = _digest(before.encode("utf-8", "surrogateescape") for _, before, _ in files)
    added, removed = sum(part.added for part in parts), sum(part.removed for part in parts)
    return Proposal(diff="".join(part.text for part in parts), added=added, removed=removed, basis=basis)


def _compared(name: str, before: bytes | None, content: str, about: Iterable[str] = ()) -> Proposal:
    basis = "" if before is None else _digest([before])
    if before is not None and b"\0" in before:
        unseen = f"the current content is not text ({human_size(len(before))}): only the new content is shown"
        return _only_new(name, content, unseen, basis)
    change = diff(name, None if before is None else before.decode("utf-8", "surrogateescape"), content)
    said = [
        *about,
        _changed_ends(before, content),
        "" if change.text else "nothing changes: this is its content already",
    ]
    words = ", ".join(word for word in said if word)
    return Proposal(diff=change.text, added=change.added, removed=change.removed, about=words, basis=basis)


def _changed_ends(before: bytes | None, content: str) -> str:
    """Every line differs then, and none looks different."""
    was, becomes = (before or b"").count(b"\r\n"), content.count("\r\n")
    if before is None or not before.count(b"\n") or not content.count("\n") or bool(was) == bool(becomes):
        return ""
    return "line ends change from CRLF to LF" if was else "line ends change from LF to CRLF"


def _only_new(name: str, content: str, unseen: str, basis: str) -> Proposal:
    change = diff(name, "", content)
    return Proposal(diff=change.text, added=change.added, unseen=unseen, basis=basis)


def _digest(parts: Iterable[bytes]) -> str:
    return " ".join(sha256(part).hexdigest() for part in parts)
