"""Git's configuration files, read without git: which files they make git run or read.

Rules:

- Git itself is not asked: it would act on the very configuration that is in question.
- `include.path` and `includeIf.*.path` are followed whatever their condition, a few levels deep. A file that is too
  large, no file or unreadable has no entries.
- A program is any word of a value that may run one, if such a file exists; its first word also if it does not.
- What was read is used again until the file changes.
"""

import os
import re
import shlex
import stat
from collections.abc import Iterator

import msgspec

_LARGEST = 256 * 1024
_DEEPEST = 5
_REMEMBERED = 256

# The last part of a name whose value git runs, or takes for the path of what it runs.
_RUN = frozenset(
    {"fsmonitor", "sshcommand", "hookspath", "editor", "pager", "askpass", "gitproxy", "alternaterefscommand",
     "external", "command", "textconv", "driver", "cmd", "clean", "smudge", "process", "program", "defaultkeycommand",
     "helper", "difffilter", "packobjectshook", "uploadpack", "receivepack", "templatedir", "sendmailcmd", "tocmd",
     "cccmd", "headercmd"}
)  # fmt: skip
_WITH_A_PATH = frozenset({"include", "includeif", "browser", "man", "guitool", "difftool", "mergetool"})

_section = re.compile(r'\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]').match
_entry = re.compile(r"\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?", re.DOTALL).fullmatch


class Entry(msgspec.Struct, frozen=True):
    section: str
    name: str
    value: str


_known: dict[str, tuple[tuple[int, int, int], list[Entry]]] = {}


def entries(file: str, deep: int = 0) -> Iterator[tuple[str, Entry]]:
    """The entries of a file and of those it includes, each with the file it is in."""
    for entry in _read(file):
        yield file, entry
        if entry.section in ("include", "includeif") and entry.name == "path" and deep < _DEEPEST:
            yield from entries(_from(os.path.dirname(file), entry.value), deep + 1)


def runs(entry: Entry) -> bool:
    """Whether its value names what git runs, or a file that says so."""
    if entry.section == "alias" or (entry.section, entry.name) == ("submodule", "update"):
        return entry.value.startswith("!")
    if entry.name == "path":
        return entry.section in _WITH_A_PATH
    return entry.name in _RUN or entry.section == "pager"


def named_files(file: str, entry: Entry, worktree: str) -> Iterator[tuple[str, bool]]:
    """Paths an entry leads to, and whether it is a path for sure; otherwise it may be any word of a command."""
    if entry.section in ("include", "includeif"):
        yield _from(os.path.dirname(file), entry.value), True
        return
    if entry.name in ("hookspath", "templatedir"):
        yield _from(worktree, entry.value), True
        return
    try:
        words = shlex.split(entry.value.removeprefix("!"))
    except ValueError:
        words = entry.value.split()
    for place, word in enumerate(words):
        if word and "\0" not in word:
            yield _from(worktree, word), place == 0 and "/" in word


def _from(folder: str, path: str) -> str:
    return os.path.normpath(os.path.join(folder, os.path.expanduser(path)))


def _read(file: str) -> list[Entry]:
    try:
        # Without O_NONBLOCK a named pipe would wait for a writer.
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError):
        return []
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
            return []
        identity = (status.st_ino, status.st_mtime_ns, status.st_size)
        known = _known.get(file)
        if known is not None and known[0] == identity:
            return known[1]
        found = list(_parsed(os.read(descriptor, _LARGEST).decode("utf-8", "surrogateescape")))
    except OSError:
        return []
    finally:
        os.close(descriptor)
    if len(_known) >= _REMEMBERED:
        _known.clear()
    _known[file] = identity, found
    return found


def _parsed(text: str) -> Iterator[Entry]:
    section = ""
    for line in text.replace("\r\n", "\n").replace("\\\n", "").split("\n"):
        rest = line.strip()
        while found := _section(rest):  # an entry may follow on the same line
            section, rest = found.group(1).lower().partition(".")[0], rest[found.end() :].strip()
        said = _entry(rest) if rest and rest[0] not in "#;" else None
        if said is not None and section:
            yield Entry(section, said.group(1).lower(), _value(said.group(2) or ""))


def _value(text: str) -> str:
    """Without quotes, escapes and the comment after it."""
    value, quoted, characters = "", False, iter(text)
    for character in characters:
        if character == "\\":
            escaped = next(characters, "")
            value += {"n": "\n", "t": "\t", "b": "\b"}.get(escaped, escaped)
        elif character == '"':
            quoted = not quoted
        elif character in "#;" and not quoted:
            break
        else:
            value += character
    return value.strip()
