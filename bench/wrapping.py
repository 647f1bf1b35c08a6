"""What it costs to run an agent through Sightline instead of by itself: the real CLI, against the stand-in."""

import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.program import SIGHTLINE
from bench.row import Row
from sightline.testing.place import prepare_place
from sightline.testing.standin import StandIn

SCRIPT: list[list[dict[str, Any]]] = [
    [{"text": "One moment."}, {"tool": "Bash", "args": {"command": "echo hello"}}],
    [{"text": "It says hello."}],
]
PROMPT = "Run the command."


def rows() -> Iterator[Row]:
    with StandIn.in_thread(SCRIPT) as server, tempfile.TemporaryDirectory() as folder:
        place = prepare_place(Path(folder), server.url)
        environment = place.environment("claude")
        alone, wrapped = [], []
        for _ in range(11):
            alone.append(_wall(["claude", "-p", PROMPT], place.project, environment))
            argv = [SIGHTLINE, "-p", PROMPT, "--provider", "claude"]
            wrapped.append(_wall(argv, place.project, environment))
    # The first run of each warms the caches; the median of the rest stands.
    added = statistics.median(wrapped[1:]) - statistics.median(alone[1:])
    yield Row("sightline -p --provider claude, longer than claude -p by", 150, added * 1000, "ms")


def _wall(argv: list[str], folder: Path, environment: dict[str, str]) -> float:
    start = time.perf_counter()
    done = subprocess.run(argv, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True)
    took = time.perf_counter() - start
    assert b"It says hello." in done.stdout, done
    return took
