"""How soon after it is executed the gallery's prompt is on the screen, and a key that is typed into it."""

import compileall
import os
import pty
import select
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import sightline
from bench.row import Row

SIGHTLINE = str(Path(sys.executable).with_name("sightline"))
RUNS = 20
_DEADLINE = 10.0
_PROMPT = "›".encode()


def rows() -> Iterator[Row]:
    compileall.compile_dir(str(Path(sightline.__file__).parent), quiet=2)
    _seconds_to(_PROMPT)  # warms the cache
    paints = [_seconds_to(_PROMPT) * 1000 for _ in range(RUNS)]
    yield Row("gallery, exec to prompt, median of 20", 30, statistics.median(paints), "ms")
    yield Row("gallery, exec to prompt, fastest of 20", 30, min(paints), "ms")
    # The letter is typed when the prompt is there, and everything is still being imported.
    echoes = [_seconds_to(b"z", typing=b"z") * 1000 for _ in range(RUNS)]
    yield Row("gallery, exec to the first key's echo, median of 20", 60, statistics.median(echoes), "ms")


def _seconds_to(sight: bytes, typing: bytes = b"") -> float:
    """Until these bytes were written. `typing` is typed as soon as there is a prompt."""
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color"}
    began = time.perf_counter()
    pid = os.posix_spawn(
        SIGHTLINE,
        [SIGHTLINE, "gallery"],
        environment,
        file_actions=[(os.POSIX_SPAWN_DUP2, slave, fd) for fd in (0, 1, 2)],
    )
    seen = b""
    try:
        while sight not in seen:
            assert select.select([master], [], [], _DEADLINE)[0], f"waited in vain for {sight!r}, got {seen!r}"
            seen += os.read(master, 4096)
            if typing and _PROMPT in seen:
                os.write(master, typing)
                typing = b""
        return time.perf_counter() - began
    finally:
        os.close(slave)
        os.write(master, b"\x03\x03")
        _drain(master)
        os.close(master)
        os.waitpid(pid, 0)


def _drain(master: int) -> None:
    """Read until the program is gone: what it says last must not keep it waiting."""
    try:
        while os.read(master, 4096):
            pass
    except OSError:
        return
