"""Changes as a patch in git's format, as `git apply` takes it; made here, so that it is the same where git is missing.

Rules of the format:

- A change of type (a file becomes a link) is a deletion and an addition.
- Of modes it has one bit: whether a file can be executed.
- A name with anything but plain characters is quoted, byte by byte.
- Git takes no patch with a name that could be its own: such files are stored beside it.
- Binary content is compressed and written in base 85, with the digests of both sides in full.
"""

import os
import re
import zlib
from base64 import b85encode
from collections.abc import Iterator
from hashlib import sha1

from sightline.text import unified_diff
from sightline.working_copies._facts import Content, CopyChange
from sightline.working_copies._side import is_git
from sightline.working_copies._states import FileState

_NO_DIGEST = "0" * 40
_TEXT_AT_MOST = 4 * 1024 * 1024
_LOOKED_AT = 8000  # as git does
_LINE = 52
_plain_name = re.compile(rb"[A-Za-z0-9._/+@=-]+")
_ESCAPES = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}


def change_of(path: str, before: FileState, after: FileState) -> CopyChange:
    """Two sides that differ."""
    if before.kind == "missing":
        kind = "added"
    elif after.kind == "missing":
        kind = "deleted"
    else:
        kind = "mode" if (before.kind, before.data) == (after.kind, after.data) else "modified"
    content = _content(before, after)
    if content != "text":
        return CopyChange(path=path, kind=kind, content=content)  # type: ignore[arg-type]
    diff = unified_diff(_text(before.data), _text(after.data), "", "")
    return CopyChange(path=path, kind=kind, added=diff.added, removed=diff.removed)  # type: ignore[arg-type]


def is_gits(path: str) -> bool:
    """Whether a path leads into what git may take for its own folder."""
    return any(map(is_git, path.split("/")))


def patch_of(path: str, before: FileState, after: FileState, *, binary: bool = True) -> Iterator[bytes]:
    """Of one file. `binary`: with the content of binary files. A large file or a special one has none."""
    if not _can_be_in(before) or not _can_be_in(after) or is_gits(path):
        yield f"# {_quoted(b'', path)} cannot be in a patch\n".encode()
    elif "missing" not in (before.kind, after.kind) and before.kind != after.kind:
        yield from patch_of(path, before, FileState(), binary=binary)
        yield from patch_of(path, FileState(), after, binary=binary)
    else:
        yield from _patch(path, before, after, binary=binary)


def _patch(path: str, before: FileState, after: FileState, *, binary: bool) -> Iterator[bytes]:
    old_name, new_name = _quoted(b"a/", path), _quoted(b"b/", path)
    old, new = _git_mode(before), _git_mode(after)
    if (before.kind, before.data, old) == (after.kind, after.data, new):
        yield f"# {new_name}: permissions {before.mode:o} became {after.mode:o}, which git does not note\n".encode()
        return
    yield f"diff --git {old_name} {new_name}\n".encode()
    if before.kind == "missing":
        yield f"new file mode {new}\n".encode()
    elif after.kind == "missing":
        yield f"deleted file mode {old}\n".encode()
    elif old != new:
        yield f"old mode {old}\nnew mode {new}\n".encode()
    if before.data == after.data and "missing" not in (before.kind, after.kind):
        return
    yield f"index {_digest(before)}..{_digest(after)}{f' {new}' if old == new else ''}\n".encode()
    old_name = "/dev/null" if before.kind == "missing" else old_name
    new_name = "/dev/null" if after.kind == "missing" else new_name
    if _content(before, after) == "binary":
        yield from _binary(after.data) if binary else (f"Binary files {old_name} and {new_name} differ\n".encode(),)
    elif before.data != after.data:
        diff = unified_diff(_text(before.data), _text(after.data), old_name, new_name)
        yield diff.text.encode("utf-8", "surrogateescape")


def _binary(data: bytes) -> Iterator[bytes]:
    yield b"GIT binary patch\nliteral %d\n" % len(data)
    packed = zlib.compress(data)
    for start in range(0, len(packed), _LINE):
        piece = packed[start : start + _LINE]
        length = chr(ord("A") + len(piece) - 1) if len(piece) <= 26 else chr(ord("a") + len(piece) - 27)
        yield length.encode() + b85encode(piece, pad=True) + b"\n"
    yield b"\n"


def _content(before: FileState, after: FileState) -> Content:
    kinds = {before.kind, after.kind}
    if "special" in kinds or "folder" in kinds:
        return "special"
    if "large" in kinds or any(_is_binary(side.data) for side in (before, after)):
        return "binary"
    return "link" if "link" in kinds else "text"


def _is_binary(data: bytes) -> bool:
    return b"\0" in data[:_LOOKED_AT] or len(data) > _TEXT_AT_MOST


def _can_be_in(state: FileState) -> bool:
    return state.kind in ("missing", "file", "link")


def _git_mode(state: FileState) -> str:
    return "120000" if state.kind == "link" else "100755" if state.mode & 0o100 else "100644"


def _digest(state: FileState) -> str:
    """As git names a content."""
    if state.kind == "missing":
        return _NO_DIGEST
    return sha1(b"blob %d\0" % len(state.data) + state.data, usedforsecurity=False).hexdigest()


def _quoted(start: bytes, path: str) -> str:
    name = start + os.fsencode(path)
    if _plain_name.fullmatch(name):
        return name.decode()
    return '"' + "".join(map(_escaped, name)) + '"'


def _escaped(byte: int) -> str:
    if byte in _ESCAPES:
        return f"\\{_ESCAPES[byte]}"
    return chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
