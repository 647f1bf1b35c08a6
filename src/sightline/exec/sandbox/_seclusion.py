"""What a command in bubblewrap does not see: the folders where services meet their clients, and sockets elsewhere.

A read-only mount does not stop a connection to a socket in it, and a process that connects may have the service act in
its place: type into a terminal (tmux, X11), sign with a key (ssh-agent), start a container (Docker).

Rules:

- The folders for temporary files and for what runs are empty and cannot be written to. What has a name in them for
  everybody is bound back: programs on the PATH, the home folder, the repository around the workspace, that of which the
  workspace is a worktree, name resolution.
- A socket elsewhere that is bound by a process in our network namespace is covered, in the workspace, too: commands in
  a sandbox have namespaces of their own, so these belong to services outside it. So is one that a variable names.
- Some services give their socket another name after they bound it (ssh does): where a name is gone, every socket in
  that folder is covered.
- Hosts of ours refuse a command by themselves (`host/_peer`). Elsewhere than in our own folders, which are hidden, they
  are not covered: they come and go, and each that is gone when it is to be covered costs one more start (`_setup`).
- Not covered: a socket outside these folders that is made after they were listed, just before the command starts, one
  that was bound by a relative path, and one in a file system that others share with us.
"""

import os
import re
import socket
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache

import msgspec

from sightline.exceptions import OutsideFailure
from sightline.settings import repository_of_worktree

_PRIVATE = ("/tmp", "/var/tmp", "/run", "/var/run", "/mnt/wslg")
# Of systems whose programs and libraries are found there, or whose own files are links to there.
_PUBLIC = (
    "/run/current-system",
    "/run/booted-system",
    "/run/opengl-driver",
    "/run/opengl-driver-32",
    "/run/wrappers",
    "/run/setuid-programs",
)
_LINKED = ("/etc/resolv.conf", "/etc/hosts", "/etc/localtime")
_OWN = ("/dev", "/proc")  # a command has its own
_MOST_SOCKETS = 2000  # bubblewrap takes 9,000 words
_LISTENS = 1 << 16
_HOST = re.compile(r".*/sightline/[a-z0-9]{6}\.sock").fullmatch
_ADDRESS = re.compile(r"(?:unix:(?://|path=))?(/[^,;]+)")


class Seclusion(msgspec.Struct, frozen=True):
    """By their real paths: folders that look empty, what is seen in them nevertheless, and sockets that are covered."""

    private: tuple[str, ...]
    public: tuple[str, ...]
    sockets: tuple[str, ...]


def seclusion(cwd: str, writable: Sequence[str]) -> Seclusion:
    """For a command that starts in `cwd` and may write in these folders."""
    private = _private_folders(writable)
    public = _public_paths(private, cwd, writable)
    return Seclusion(private, public, _sockets(private, (*public, *writable)))


def is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _is_in_any(path: str, folders: Iterable[str]) -> bool:
    return any(is_within(path, folder) for folder in folders)


def _private_folders(writable: Sequence[str]) -> tuple[str, ...]:
    """Not those that are in the workspace, or are it."""
    return tuple(path for path in _system_folders() if not _is_in_any(path, writable))


@cache
def _system_folders() -> tuple[str, ...]:
    """Looked up once: no command can change where these lead."""
    return tuple(sorted({os.path.realpath(path) for path in _PRIVATE if os.path.isdir(path)} - {"/"}))


def _public_paths(private: Sequence[str], cwd: str, writable: Sequence[str]) -> tuple[str, ...]:
    """Outer ones first: a mount hides those made below it before."""
    named = {os.path.realpath(path) for path in (cwd or ".", os.path.expanduser("~"), *_LINKED)}
    named |= {repository for path in writable if (repository := _repository(path, private))}
    repositories = (repository_of_worktree(path) for path in writable)  # what is writable is seen, and may change
    named |= {found for found in repositories if found and not _is_in_any(found, writable)}
    seen = [path for path in named if _is_in_any(path, private) and path not in private]
    seen += _installations(os.environ.get("PATH", ""), tuple(private))
    return tuple(sorted({path for path in seen if os.path.lexists(path)}))


@cache
def _own_installation() -> frozenset[str]:
    package = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    return frozenset(os.path.realpath(path) for path in (package, sys.prefix, sys.base_prefix))


@lru_cache(maxsize=4)
def _installations(search_path: str, private: tuple[str, ...]) -> frozenset[str]:
    """Our own, the system's and the folders of programs, as far as these are in private folders; where a folder is
    called `bin`, with the libraries that are beside it."""
    found = {*_PUBLIC, *_own_installation()}
    for folder in filter(os.path.isabs, search_path.split(os.pathsep)):
        real = os.path.realpath(folder)
        around, name = os.path.split(real)
        found.add(around if name in ("bin", "sbin") and around not in private else real)
    return frozenset(path for path in found if _is_in_any(path, private) and path not in private)


def _repository(workspace: str, private: Sequence[str]) -> str:
    """The one that a workspace in a private folder is a part of."""
    folder = workspace
    while _is_in_any(folder, private) and folder not in private:
        if os.path.lexists(f"{folder}/.git"):
            return folder
        folder = os.path.dirname(folder)
    return ""


def _sockets(private: Sequence[str], seen: Sequence[str]) -> tuple[str, ...]:
    found: set[str] = set()
    for name in {*_bound(), *_in_environment()}:
        folder = os.path.realpath(os.path.dirname(name))
        if _is_in_any(folder, _OWN) or (_is_in_any(folder, private) and not _is_in_any(folder, seen)):
            continue
        path = os.path.join(folder, os.path.basename(name))
        if _is_socket(path):
            found.add(path)
        elif not os.path.lexists(path):
            found.update(_sockets_in(folder))
    if len(found) > _MOST_SOCKETS:
        raise OutsideFailure(
            f"too many Unix sockets to hide them from a command: {len(found)}",
            "stop some of the services, or run the command outside the sandbox",
        )
    return tuple(sorted(found))


def _bound() -> Iterator[str]:
    """The names, as they were given when they were bound, of all sockets that take connections or messages."""
    try:
        with open("/proc/net/unix", "rb") as file:
            lines = file.read().splitlines()[1:]
    except OSError as error:
        raise OutsideFailure(f"cannot list the sockets of this machine: {error}", "is /proc mounted?") from error
    for line in lines:
        fields, slash, rest = line.partition(b" /")
        name = os.fsdecode(b"/" + rest)
        if slash and _takes_something(fields.split()) and not _HOST(name):
            yield name


def _takes_something(fields: list[bytes]) -> bool:
    """By its flags and its type; what was accepted has the same name and is left out."""
    try:
        return bool(int(fields[3], 16) & _LISTENS) or int(fields[4], 16) == socket.SOCK_DGRAM
    except (IndexError, ValueError):  # the rest of a name that has a line break in it
        return True


def _in_environment() -> Iterator[str]:
    """Those of services in another network namespace, such as that of a container's host, are only named here."""
    for value in os.environ.values():
        match = _ADDRESS.match(value) if value.startswith(("/", "unix:")) else None
        if match is not None and _leads_to_socket(match[1]):
            yield os.path.realpath(match[1])


def _leads_to_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def _is_socket(path: str) -> bool:
    """Not one that we cannot see: a command could not, either."""
    try:
        return stat.S_ISSOCK(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def _sockets_in(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            special = [entry.path for entry in entries if not (entry.is_symlink() or entry.is_dir() or entry.is_file())]
    except OSError:
        return []
    return [path for path in special if _is_socket(path)]
