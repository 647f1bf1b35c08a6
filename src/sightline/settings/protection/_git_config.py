"""Git's configuration files, read without git: which files they make git run or read.

Rules:

- Git itself is not run: it would act on the very configuration that is in question.
- `include.path` and `includeIf.*.path` are followed whatever their condition, as deep as git does. A missing file has
  no entries; one that is too large, no regular file or cannot be read has the entry `UNREADABLE`.
- A program is any word of a value that may run one, if such a file exists; the first word also if it does not, and the
  script that an interpreter is started with.
- What was read is used again until the file changes.
"""

import os
import re
import shlex
import stat
from collections.abc import Iterator
from functools import lru_cache

import msgspec

_LARGEST = 1024 * 1024
_DEEPEST = 10
_REMEMBERED = 256

# The last part of a name whose value git runs, or takes for the path of what it runs.
_RUN = frozenset(
    {"fsmonitor", "hookspath", "gitproxy", "external", "textconv", "clean", "smudge", "process", "uploadpack",
     "receivepack", "templatedir", "attributesfile", "tunnel", "smtpserver", "httpd", "browser", "vcs"}
)  # fmt: skip
# How the others end, those of extensions and of later versions too: `sshCommand`, `packObjectsHook`, `authorsProg`.
_RUN_ENDINGS = (
    "command", "cmd", "hook", "program", "prog", "editor", "pager", "askpass", "helper", "driver", "difffilter",
)  # fmt: skip
_WITH_A_PATH = frozenset({"include", "includeif", "browser", "man", "guitool", "difftool", "mergetool", "lfs"})
_PATHS = frozenset({"hookspath", "templatedir", "attributesfile"})
_COMMAND_AS_URL = "ext::"
_INTERPRETERS = re.compile(r"(?:ba|da|z|k)?sh|python[\d.]*|perl|ruby|node|bun|php|lua|env|source|\.").fullmatch

_section = re.compile(r'\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]').match
_entry = re.compile(r"\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?", re.DOTALL).fullmatch


class GitConfigEntry(msgspec.Struct, frozen=True):
    section: str
    name: str
    value: str


UNREADABLE = GitConfigEntry("", "unreadable", "")

_known: dict[str, tuple[tuple[int, ...], list[GitConfigEntry]]] = {}


def entries(file: str) -> Iterator[tuple[str, GitConfigEntry]]:
    """The entries of a file and of those it includes, each with the file it is in."""
    waiting, seen = [(file, 0)], {file}
    while waiting:
        at, deep = waiting.pop()
        for entry in _read(at):
            yield at, entry
            if is_include(entry) and deep < _DEEPEST:
                included = _from(os.path.dirname(at), entry.value)
                if included not in seen:
                    seen.add(included)
                    waiting.append((included, deep + 1))


def is_include(entry: GitConfigEntry) -> bool:
    return entry.section in ("include", "includeif") and entry.name == "path"


def runs(entry: GitConfigEntry) -> bool:
    """Whether its value names what git runs, or a file that does."""
    if entry.section == "alias" or (entry.section, entry.name) == ("submodule", "update"):
        return entry.value.startswith("!")
    if entry.name == "path":
        return entry.section in _WITH_A_PATH
    if entry.name in ("url", "pushurl", "insteadof"):
        return entry.value.startswith(_COMMAND_AS_URL)
    if entry.section == "pager" or (entry.section, entry.name) == ("lfs", "args"):
        return True
    return entry.name in _RUN or entry.name.endswith(_RUN_ENDINGS)


def named_files(file: str, entry: GitConfigEntry, worktree: str) -> Iterator[tuple[str, bool]]:
    """Paths an entry leads to, and whether it is a path for sure; otherwise it may be any word of a command. Without a
    worktree, paths that are not absolute lead nowhere."""
    if is_include(entry):
        yield _from(os.path.dirname(file), entry.value), True
        return
    if entry.name in _PATHS:
        yield _from(worktree, entry.value), True
        return
    words = _words(entry.value.removeprefix("!").removeprefix(_COMMAND_AS_URL))
    script = _script(words)
    for place, word in enumerate(words):
        if "/" in word or worktree:
            yield _from(worktree, word), place in (0, script) and "/" in word
        if " " in word:  # what `sh -c` is given
            yield from ((_from(worktree, each), False) for each in _words(word))
        if "=" in word:
            yield _from(worktree, word.partition("=")[2]), False


@lru_cache(maxsize=256)
def _words(command: str) -> tuple[str, ...]:
    try:
        lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
        lexer.whitespace_split, lexer.commenters = True, ""
        words = list(lexer)
    except ValueError:
        words = re.split(r"[\s'\"();&|<>]+", command)
    return tuple(word for word in words if word and "\0" not in word)


def _script(words: tuple[str, ...]) -> int:
    """The place of what an interpreter is started with; 0 when there is none, or options come before it."""
    is_one = len(words) > 1 and _INTERPRETERS(os.path.basename(words[0])) and not words[1].startswith("-")
    return 1 if is_one and " " not in words[1] else 0


def _from(folder: str, path: str) -> str:
    return os.path.normpath(os.path.join(folder, os.path.expanduser(path)))


def _read(file: str) -> list[GitConfigEntry]:
    try:
        # Without O_NONBLOCK a named pipe would wait for a writer.
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return []
    except OSError:
        return [UNREADABLE]
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
            return [UNREADABLE]
        identity = (status.st_dev, status.st_ino, status.st_ctime_ns, status.st_size)
        known = _known.get(file)
        if known is not None and known[0] == identity:
            return known[1]
        found = list(_parsed(os.read(descriptor, _LARGEST).decode("utf-8", "surrogateescape")))
    except OSError:
        return [UNREADABLE]
    finally:
        os.close(descriptor)
    if len(_known) >= _REMEMBERED:
        _known.clear()
    _known[file] = identity, found
    return found


def _parsed(text: str) -> Iterator[GitConfigEntry]:
    section = ""
    for line in text.replace("\r\n", "\n").replace("\\\n", "").split("\n"):
        rest = line.strip()
        while found := _section(rest):  # an entry may follow on the same line
            section, rest = found.group(1).lower().partition(".")[0], rest[found.end() :].strip()
        found = _entry(rest) if rest and rest[0] not in "#;" else None
        if found is not None and section:
            yield GitConfigEntry(section, found.group(1).lower(), _value(found.group(2) or ""))


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
