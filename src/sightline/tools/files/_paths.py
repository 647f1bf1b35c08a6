"""Paths as a model writes them, as files are opened by, and as they are shown.

Rules:

- A path means the same in every tool: quotes around it, `~`, `file://` and a bare `/` (the workspace) are understood;
  `..` is taken away by its letters, before any link is followed.
- What a path needs is decided by where it really leads, links followed, whether or not it exists yet.
- Names that are not UTF-8 or hold control characters are shown with replacement characters, and a path written that way
  finds them again.
"""

import asyncio
import errno
import os
import re
import unicodedata
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sightline.handles import Swapped, ours, real_path
from sightline.tools._tool import Access, Need, ToolError

SUFFIX_SECONDS = 5.0
LONGEST_PATH = 4096  # bytes, of what the system takes; so no path has more characters
_QUOTES = (('"', '"'), ("'", "'"), ("`", "`"), ("“", "”"), ("‘", "’"))
# A line end in a name would make one row of a result two, the second with whatever the name's maker likes.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_BEFORE_AM_PM = re.compile(r" (?=[AaPp][Mm]\b)")


def unquote_path(path: str) -> str:
    """Without the space and the pair of quotes around it."""
    path = path.strip()
    for opening, closing in _QUOTES:
        if len(path) >= 2 and path.startswith(opening) and path.endswith(closing):
            return path[1:-1].strip()
    return path


def resolve(path: str, cwd: Path) -> Path:
    """The absolute path meant. It need not exist; of spellings that differ only in what people cannot see, one that
    does exists is preferred."""
    refuse_impossible(path)
    written = _expand(unquote_path(path))
    if not written:
        raise ToolError("The path is empty. Name a file or a folder.")
    refuse_impossible(written)  # an address may spell what a path cannot hold
    if not written.strip("/"):
        return cwd
    plain = os.path.normpath(cwd / written)
    return Path(next((spelling for spelling in _spellings(plain) if os.path.lexists(spelling)), plain))


def refuse_impossible(path: str) -> None:
    """ToolError for what cannot be the name of anything."""
    try:
        if b"\0" not in os.fsencode(path):
            return
    except UnicodeEncodeError:
        pass
    raise ToolError("The path has a NUL or a lone surrogate in it, which no file name can have. Write it again.")


def _expand(path: str) -> str:
    if path.lower().startswith("file://"):
        try:
            path = unquote(urlsplit(path).path, errors="surrogateescape")
        except ValueError:
            raise ToolError(f"'{path[:200]}' is not the address of a file. Give the path itself.") from None
    return os.path.expanduser(path) if path.startswith("~") else path


def _spellings(path: str) -> Iterator[str]:
    """As written; then as a shell would read it, and as macOS names screenshots and composes accents and quotes."""
    yield path
    yield path.replace("\\ ", " ")
    narrow = _BEFORE_AM_PM.sub("\u202f", path)
    decomposed = unicodedata.normalize("NFD", path)
    yield narrow
    yield unicodedata.normalize("NFC", path)
    yield decomposed
    for form in (path, narrow, decomposed):
        yield form.replace("'", "’")
    if "\ufffd" in path:
        yield from _undecodable(path)


def _undecodable(path: str) -> Iterator[str]:
    """The one existing path that is shown this way because its name cannot be."""
    found = [os.sep]
    for part in Path(path).parts[1:]:
        if "\ufffd" in part:
            found = [os.path.join(folder, name) for folder in found for name in _names(folder) if shown(name) == part]
        else:
            found = [os.path.join(folder, part) for folder in found]
    if len(found) == 1:
        yield found[0]


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def shown(path: str | bytes | Path) -> str:
    """On one line that can be encoded: bytes that are not UTF-8 and control characters are replaced."""
    return _CONTROL.sub("\ufffd", os.fsencode(path).decode("utf-8", "replace"))


def reason_of(problem: OSError) -> str:
    """Why a path cannot be used, in words for the model."""
    if isinstance(problem, Swapped):
        return str(problem.strerror)
    if problem.errno == errno.ELOOP:
        return "it is a symlink loop (the links lead back to themselves)"
    if problem.errno in (errno.EACCES, errno.EPERM):
        return "permission denied"
    return str(problem.strerror or problem)


def display(path: Path, cwd: Path) -> str:
    """Relative, with slashes, in the workspace; absolute elsewhere."""
    if path.is_relative_to(cwd):
        return shown(path.relative_to(cwd).as_posix())
    return shown(path.as_posix())


def is_outside(path: Path, cwd: Path) -> bool:
    """Whether it leads out of the workspace once links are followed."""
    return not Path(real_path(path)).is_relative_to(real_path(cwd))


def read_need(path: Path, cwd: Path) -> list[Need]:
    """Reading in the workspace is allowed unless a rule denies it, so that too is a need."""
    return [_need("read", path, cwd)]


def write_need(path: Path, cwd: Path) -> list[Need]:
    return [_need("write", path, cwd)]


def _need(access: Access, path: Path, cwd: Path) -> Need:
    """Of where it really leads, so that a rule about a folder cannot be got around with a link."""
    real = real_path(path)
    why = f"{display(path, cwd)} leads there" if Path(real_path(path.parent)) / path.name != Path(real) else ""
    what = shown(real)
    return Need(access, what, why=why, real=real if real != what else "")


async def unique_suffix(path: str, cwd: Path) -> Path | None:
    """The only file or folder of the workspace whose path ends like this one; None when there is none, or several, or
    the search took more than five seconds. Ignored files are not looked at."""
    from sightline.tools.files._ripgrep import listing

    suffix = _suffix(path, cwd)
    if not suffix:
        return None
    found: set[str] = set()
    try:
        # What is found is judged by the caller.
        with ours(cwd):
            async with asyncio.timeout(SUFFIX_SECONDS), aclosing(listing(cwd)) as batches:
                async for names in batches:
                    found.update(end for name in names if (end := _up_to(f"/{name}/", f"/{suffix}/")))
                    if len(found) > 1:
                        return None
    except (TimeoutError, ToolError, OSError):
        return None
    return cwd / found.pop() if found else None


def _up_to(name: str, suffix: str) -> str:
    """The part of a path that ends in the suffix, be it the whole or a folder above; empty when there is none."""
    at = name.find(suffix)
    return name[1 : at + len(suffix) - 1] if at >= 0 else ""


def _suffix(path: str, cwd: Path) -> str:
    written = os.path.normpath(_expand(unquote_path(path)) or ".")
    if written.startswith(f"{cwd}{os.sep}"):
        written = written[len(str(cwd)) :]
    parts = [part for part in written.split(os.sep) if part not in ("", ".", "..")]
    return os.sep.join(parts)
