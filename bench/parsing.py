"""`parse_events` alone, per provider, against `json.loads` of the same lines."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.row import Row
from sightline.providers import get_provider

CAPTURES = Path(__file__).parent.parent / "tests" / "captures"
GOALS = {"claude": 0.5, "codex": 0.6, "gemini": 0.5, "opencode": 0.5}
LONG = 32 * 1024
PASSES = 5


def rows() -> Iterator[Row]:
    for provider, goal in GOALS.items():
        streams = [
            [line for line in path.read_bytes().split(b"\n") if line]
            for path in sorted((CAPTURES / provider).glob("*.jsonl"))
        ]
        short = [[line for line in stream if len(line) < LONG] for stream in streams]
        long = [[line for line in stream if len(line) >= LONG] for stream in streams]
        yield Row(f"parse_events, {provider}, lines under 32 KB / json.loads", goal, _ratio(provider, short))
        yield Row(f"parse_events, {provider}, longer lines / json.loads", 1.0, _ratio(provider, long))


def _ratio(provider: str, streams: list[list[bytes]]) -> float:
    source = get_provider(provider).source
    assert source is not None

    def ours() -> None:
        for stream in streams:
            parse = source().parse_events
            for line in stream:
                parse(line)

    def reference() -> None:
        for stream in streams:
            for line in stream:
                json.loads(line)

    # Alternating, and the best of many: the two see the same machine, and interruptions fall out. Each sample passes
    # over the recordings a few times, as a long stream does: the first pass after the other's pays for its caches.
    best_ours = best_reference = float("inf")
    for _ in range(20):
        best_reference = min(best_reference, _cpu(reference))
        best_ours = min(best_ours, _cpu(ours))
    return best_ours / best_reference


def _cpu(work: Callable[[], None]) -> float:
    start = time.process_time()
    for _ in range(PASSES):
        work()
    return time.process_time() - start
