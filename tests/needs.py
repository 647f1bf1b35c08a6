"""What a machine may lack, and what is not tested there.

A test says what it needs with `@pytest.mark.needs("tmux")`; a fixture that finds out later raises `Missing`. Either way
the test is skipped, and the last lines of the run name the program, what it would have tested and how to install it.
"""

import functools
import shutil
from collections.abc import Callable, Iterable
from typing import NamedTuple

from sightline.exec.sandbox import _bubblewrap
from sightline.testing.browser import chromium


class Need(NamedTuple):
    tests: str
    packages: str
    is_there: Callable[[], bool]


def _programs(*names: str) -> Callable[[], bool]:
    return lambda: all(shutil.which(name) for name in names)


NEEDS = {
    "bubblewrap": Need("the sandbox", "bubblewrap", lambda: _bubblewrap.problem() is None),
    "chromium": Need("the page", "chromium-headless-shell", lambda: chromium() is not None),
    "curl": Need("the network of sandboxed commands", "curl", _programs("curl")),
    "dbus": Need("sandbox and session bus", "dbus", _programs("dbus-daemon", "dbus-send")),
    "git": Need("git repositories", "git", _programs("git")),
    "node": Need("terminal fidelity in xterm.js and Ghostty", "nodejs npm", _programs("node", "npm")),
    "openssl": Need("certificates of web servers", "openssl", _programs("openssl")),
    "ssh-agent": Need("sandbox and ssh keys", "openssh-client", _programs("ssh-agent", "ssh-add")),
    "tmux": Need("terminal fidelity in tmux", "tmux", _programs("tmux")),
    "x11": Need("sandbox and display", "xvfb x11-utils", _programs("Xvfb", "xdpyinfo")),
}


class Missing(Exception):
    """A program that a test needs is not installed, or does not work."""

    def __init__(self, program: str) -> None:
        super().__init__(f"{program} is not installed, or does not work")
        self.program = program


@functools.cache
def is_there(program: str) -> bool:
    return NEEDS[program].is_there()


def require(programs: Iterable[str]) -> None:
    for program in programs:
        if not is_there(program):
            raise Missing(program)


def summary(missing: dict[str, int], others: dict[str, int]) -> str:
    """One line: tests that were skipped for want of a program, and for other reasons; how many of each."""
    parts = [f"{name} ({NEEDS[name].tests}, {_tests(count)})" for name, count in sorted(missing.items())]
    parts += [f"{reason} ({_tests(count)})" for reason, count in sorted(others.items())]
    packages = " ".join(NEEDS[name].packages for name in sorted(missing))
    return f"not tested: {'; '.join(parts)}" + (f" — apt install {packages}" if packages else "")


def _tests(count: int) -> str:
    return f"{count} test{'' if count == 1 else 's'}"
