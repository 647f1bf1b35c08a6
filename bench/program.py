"""The `sightline` command as a person runs it: CPU of `view`, its memory, and how fast it starts."""

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.parsing import CAPTURES, GOALS, LONG
from bench.row import Row

SIGHTLINE = str(Path(sys.executable).with_name("sightline"))
# Large enough that starting the program, twice as long as Python's own start, is a small part of it.
RECORDING_SIZE = 100_000_000
# Reading by line and decoding each: what any consumer of such a stream does at least.
REFERENCE = "import json, sys\nfor line in open(sys.argv[1], 'rb'):\n    json.loads(line)\n"


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        for provider in GOALS:
            recording = _recording(Path(folder), provider, LONG)
            yield Row(f"view, {provider}, CPU / reading and json.loads", 0.65, _view_ratio(provider, recording))
        for provider in GOALS:
            recording = _recording(Path(folder), provider, 1 << 30)
            yield Row(f"view, {provider}, with huge lines, CPU / the same", 0.65, _view_ratio(provider, recording))
        small, large = _fresh_ids(Path(folder), 4_000), _fresh_ids(Path(folder), 60_000)
        yield Row("view, memory for 15 × the length, every id new", 1.1, _peak(large) / _peak(small))
    yield Row("sightline --version / python -I -c pass", 1.6, _version_ratio())


def _recording(folder: Path, provider: str, longest: int) -> Path:
    """All recordings of a provider whose lines are not longer than that, over and over."""
    texts = [path.read_bytes() for path in sorted((CAPTURES / provider).glob("*.jsonl"))]
    whole = b"".join(text for text in texts if max(map(len, text.split(b"\n"))) < longest)
    path = folder / f"{provider}.jsonl"
    path.write_bytes(whole * (RECORDING_SIZE // len(whole)))
    return path


def _fresh_ids(folder: Path, count: int) -> Path:
    """A stream in which no id is ever seen again and nothing is ever closed."""
    path = folder / f"fresh-{count}.jsonl"
    with path.open("w") as out:
        for n in range(count):
            event = f'{{"type":"message_start","message":{{"id":"msg_{n}"}}}}'
            block = '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}'
            delta = f'{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"words {n} "}}}}'
            for inner in (event, block, delta):
                out.write(f'{{"type":"stream_event","session_id":"s","event":{inner}}}\n')
            call = f'{{"type":"tool_use","id":"toolu_{n}","name":"Bash","input":{{"command":"true"}}}}'
            out.write(f'{{"type":"assistant","session_id":"s","message":{{"id":"m{n}","content":[{call}]}}}}\n')
    return path


def _view_ratio(provider: str, recording: Path) -> float:
    ours = reference = float("inf")
    for _ in range(5):
        reference = min(reference, _cpu([sys.executable, "-c", REFERENCE, str(recording)]))
        ours = min(ours, _cpu([SIGHTLINE, "view", "-v", "--provider", provider, str(recording)]))
    return ours / reference


def _cpu(argv: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


def _peak(recording: Path) -> int:
    """Peak memory of one `view`, from its own process's accounting."""
    pid = os.posix_spawn(
        SIGHTLINE,
        [SIGHTLINE, "view", "--provider", "claude", str(recording)],
        os.environ,
        file_actions=[(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)],
    )
    _, status, usage = os.wait4(pid, 0)
    assert status == 0
    return usage.ru_maxrss


def _version_ratio() -> float:
    ours = reference = float("inf")
    for _ in range(40):
        reference = min(reference, _wall([sys.executable, "-I", "-c", "pass"]))
        ours = min(ours, _wall([SIGHTLINE, "--version"]))
    return ours / reference


def _wall(argv: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(argv, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start
