"""Stored sessions: how long a long one takes to resume, and ten thousand to be listed and searched."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.program import SIGHTLINE
from bench.row import Row
from sightline.conversation import AssistantMessage, CallPart, TextPart, ToolMessage, UserMessage
from sightline.events import Event, Text, ToolResult, ToolUse
from sightline.events.stamping import stamp
from sightline.journal import Entry, Store

MEGABYTES = 100
SESSIONS = 10_000
RUNS = 5

# What resuming a conversation needs: the tree, what the model reads, the number of the last event.
RESUME = """
import resource, sys, time
from pathlib import Path
start = time.perf_counter()
from sightline.journal import SessionTree
tree = SessionTree.load(Path(sys.argv[1]))
assert len(tree.messages()) == len(tree.nodes) > 1000 and tree.last_seq and tree.torn_at is not None
print((time.perf_counter() - start) * 1000, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as home:
        folder = _long_conversation(Store(Path(home)))
        measured = [_resumed(folder) for _ in range(RUNS)]
        yield Row("a journal of 100 MB, resumed", 1500.0, min(wall for wall, _ in measured), " ms")
        yield Row("a journal of 100 MB, memory", 300.0, max(memory for _, memory in measured), " MB")
    with tempfile.TemporaryDirectory() as home:
        _many_conversations(Store(Path(home)))
        yield Row("10,000 sessions listed for the first time", 4000.0, _listed(home, runs=1), " ms")
        yield Row("10,000 sessions, `sightline sessions`", 200.0, _listed(home), " ms")
        yield Row("10,000 sessions, `sightline sessions QUERY`", 300.0, _listed(home, "torn", "number"), " ms")


def _long_conversation(store: Store) -> Path:
    """Mostly events, as a session of many days has them; its last line is torn."""
    writer = store.create(cwd="/project")
    journal = writer.folder / "journal.jsonl"
    seq, step, parent = 0, 0, ""
    while journal.stat().st_size < MEGABYTES * 1_000_000:
        call = f"{writer.folder.name}-{step}"
        events: list[Event] = [Text("a piece of an answer that takes its time to be said ", step) for _ in range(200)]
        events += [ToolUse(call, "bash", args={"command": "make test"}), ToolResult(call, "x" * 3000)]
        records: list[Event | Entry] = []
        for event in events:
            seq += 1
            records.append(stamp(event, seq, 1.0))
        answer = AssistantMessage([TextPart("words " * 500), CallPart(call, "bash", {"command": "make test"})])
        for message in (UserMessage([TextPart("go on")]), answer, ToolMessage(call, "bash", [TextPart("x" * 4000)])):
            step += 1
            records.append(Entry(id=f"e{step}", parent=parent, seq=seq, time=1.0, message=message))
            parent = f"e{step}"
        writer.append(records)
    writer.close()
    with journal.open("ab") as file:
        file.write(b'{"kind":"text","te')
    return writer.folder


def _many_conversations(store: Store) -> None:
    for number in range(SESSIONS):
        writer = store.create(cwd=f"/project/{number % 20}", title=f"number {number}")
        question = Entry(id="e1", time=1.0, message=UserMessage([TextPart(f"fix the failing test number {number}")]))
        answer = AssistantMessage([TextPart(f"it was a torn line, number {number}")], model="m")
        writer.append([question, Entry(id="e2", parent="e1", time=2.0, message=answer)])
        writer.close()


def _resumed(folder: Path) -> tuple[float, float]:
    done = subprocess.run([sys.executable, "-c", RESUME, str(folder)], check=True, capture_output=True, text=True)
    wall, memory = done.stdout.split()
    return float(wall), float(memory)


def _listed(home: str, *words: str, runs: int = RUNS) -> float:
    best = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        done = subprocess.run(
            [SIGHTLINE, "sessions", *words], env={**os.environ, "SIGHTLINE_HOME": home}, check=True, capture_output=True
        )
        best = min(best, (time.perf_counter() - start) * 1000)
        assert len(done.stdout.splitlines()) > 30, done.stdout
    return best
