"""How soon after it is executed the prompt is on the screen, and a key that is typed into it.

Of the console, whose host starts beside it, and of the gallery.
"""

import compileall
import os
import pty
import select
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import sightline
from bench.row import Row

SIGHTLINE = str(Path(sys.executable).with_name("sightline"))
RUNS = 20
_DEADLINE = 10.0
_REST = 0.7  # a host without a viewer comes up, notices, and ends: not while the next one is timed


class Program(NamedTuple):
    """What is started, how its prompt is known, and the place it may write to."""

    words: tuple[str, ...]
    prompt: bytes
    home: str


def rows() -> Iterator[Row]:
    compileall.compile_dir(str(Path(sightline.__file__).parent), quiet=2)
    with tempfile.TemporaryDirectory() as home:
        # The console first: its host starts beside it, and counts.
        yield from _measured("console", Program((), b"ask anything", home))
        yield from _measured("gallery", Program(("gallery",), "›".encode(), home))


def _measured(name: str, program: Program) -> Iterator[Row]:
    _seconds_to(program, program.prompt)  # warms the cache
    paints = [_seconds_to(program, program.prompt) * 1000 for _ in range(RUNS)]
    yield Row(f"{name}, exec to prompt, median of 20", 30, statistics.median(paints), "ms")
    yield Row(f"{name}, exec to prompt, fastest of 20", 30, min(paints), "ms")
    # The letter is typed when the prompt is there, and everything is still being imported.
    echoes = [_seconds_to(program, b"z", typing=b"z") * 1000 for _ in range(RUNS)]
    yield Row(f"{name}, exec to the first key's echo, median of 20", 60, statistics.median(echoes), "ms")


def _environment(home: str) -> dict[str, str]:
    places = ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR")
    return {**os.environ, "TERM": "xterm-256color", **dict.fromkeys(places, home)}


def _seconds_to(program: Program, sight: bytes, typing: bytes = b"") -> float:
    """Until these bytes were written. `typing` is typed as soon as there is a prompt."""
    master, slave = pty.openpty()
    environment = _environment(program.home)
    began = time.perf_counter()
    pid = os.posix_spawn(
        SIGHTLINE,
        [SIGHTLINE, *program.words],
        environment,
        file_actions=[(os.POSIX_SPAWN_DUP2, slave, fd) for fd in (0, 1, 2)],
    )
    seen = b""
    try:
        while sight not in seen:
            assert select.select([master], [], [], _DEADLINE)[0], f"waited in vain for {sight!r}, got {seen!r}"
            seen += os.read(master, 4096)
            if typing and program.prompt in seen:
                os.write(master, typing)
                typing = b""
        return time.perf_counter() - began
    finally:
        os.close(slave)
        os.write(master, b"\x03\x03\x03")
        _drain(master)
        os.close(master)
        os.waitpid(pid, 0)
        time.sleep(_REST)


def _drain(master: int) -> None:
    """Read until the program is gone: its last output must not block it."""
    try:
        while os.read(master, 4096):
            pass
    except OSError:
        return
