"""What the programs we start ourselves get of the environment.

Some variables name folders or files that a program loads code from before its first line: libraries (LD_LIBRARY_PATH,
where an empty entry is the current folder), character sets, message catalogues, modules of OpenSSL or Python. A
sandboxed command can write where they lead, and what it put there would run with the next program.

Rules:

- What sets up the sandbox (`sh`, `nsenter`, `bwrap`, the Python of `_landlock`) and every helper of ours starts with an
  environment of its own that holds none of the user's variables but those it was given by name.
- A command's environment is handed in behind the barrier, through a descriptor: what stands in a command line can be
  read by other users of the machine.
- Programs that need the user's environment (the CLIs of providers, clipboards) get it without the entries that lead
  into a workspace, or to wherever they happen to be started.
"""

import fcntl
import os
import re
from collections.abc import Mapping
from functools import cache

from sightline.exec.process._marks import MARK_VARIABLE
from sightline.exec.sandbox._programs import is_trusted

# What a shell that becomes another program exports by itself: not the command's.
LEFT_BY_SHELLS = ("SHLVL", "_", "PWD", "OLDPWD")

_LOADED_FROM = frozenset(
    {"GCONV_PATH", "LOCPATH", "NLSPATH", "OPENSSL_CONF", "OPENSSL_MODULES", "OPENSSL_ENGINES", "NODE_PATH", "BASH_ENV"}
)
_LOWEST_HANDED_OVER = 20
_OF_LOADERS = ("LD_", "DYLD_")
_between_entries = re.compile(r"[:;\s]")


def out_of_the_way(descriptor: int) -> int:
    """Under a number that the shell in front of bubblewrap does not use for itself (it opens 9)."""
    try:
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _LOWEST_HANDED_OVER)
    finally:
        os.close(descriptor)


class Handover:
    """Carries a command's environment past what starts it. Filled and closed by the caller that starts it."""

    def __init__(self) -> None:
        self.descriptor = out_of_the_way(os.memfd_create("environment", os.MFD_CLOEXEC))

    def fill(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Takes a whole environment; returns the one to start with, which has the mark of the run alone."""
        data = b"".join(_entry(name, value) for name, value in environment.items() if name)
        with os.fdopen(os.dup(self.descriptor), "wb") as file:
            file.write(data)
        os.lseek(self.descriptor, 0, os.SEEK_SET)
        mark = environment.get(MARK_VARIABLE)
        return bare_environment() | ({MARK_VARIABLE: mark} if mark else {})

    def close(self) -> None:
        """A second time, nothing."""
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def _entry(name: str, value: str) -> bytes:
    """As bubblewrap reads its options; `_landlock` reads the same. With a zero byte in it, it would be another one."""
    if "\0" in name or "\0" in value or "=" in name:
        raise ValueError(f"this variable cannot be passed to a command: {name!r}")
    return b"--setenv\0%b\0%b\0" % (os.fsencode(name), os.fsencode(value))


def bare_environment(*names: str) -> dict[str, str]:
    """For a program of ours: these variables, where there are any, and what our interpreter cannot start without."""
    environ = {name: os.environ[name] for name in names if name in os.environ}
    return environ | ({"LD_LIBRARY_PATH": libraries} if (libraries := _own_libraries()) else {})


def trusted_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The user's, without the entries of search paths that lead where a command may have put something."""
    environ = dict(environment)
    for name, value in environment.items():
        if name not in _LOADED_FROM and not name.startswith(_OF_LOADERS):
            continue
        entries = _between_entries.split(value)
        trusted = [entry for entry in entries if not _leads_somewhere(entry, name)]
        if len(trusted) < len(entries):
            environ[name] = ":".join(trusted)
        if not environ[name]:
            del environ[name]
    return environ


def _leads_somewhere(entry: str, name: str) -> bool:
    """Whether an entry may be in a folder that a command can write: all that are not absolute, an empty one too. Of
    the loader's other variables (LD_BIND_NOW) some name no files."""
    if os.path.isabs(entry):
        return not is_trusted(entry)
    return name in _LOADED_FROM or name.endswith(("PATH", "PRELOAD", "AUDIT", "LIBRARIES"))


@cache
def _own_libraries() -> str:
    """The folder our interpreter's library was loaded from, where only LD_LIBRARY_PATH leads there."""
    named = [entry for entry in os.environ.get("LD_LIBRARY_PATH", "").split(":") if os.path.isabs(entry)]
    if not named:
        return ""
    try:
        with open("/proc/self/maps", "rb") as file:
            mapped = {os.fsdecode(line.split(maxsplit=5)[5].strip()) for line in file if b"/libpython" in line}
    except OSError:
        return ""
    folders = {os.path.dirname(path) for path in mapped}
    return next((entry for entry in named if os.path.realpath(entry) in folders and is_trusted(entry)), "")
