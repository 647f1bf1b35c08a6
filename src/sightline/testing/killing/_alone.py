"""One agent: `sightline -p` is killed while it works.

Each round plays a scripted session with real tools in a process of its own, reads its events as they come, and kills
it with SIGKILL at a random moment. Then it is resumed. Checked each time:

- every event the reader had received is in the journal, as it was received;
- a file that `write` or `edit` worked on is one of the versions it had, whole, and nothing else lies beside it;
- resuming works: it ends well, numbers continue without a gap, every call and every run that began has exactly one end.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from sightline.events import Event, decode_event
from sightline.testing.killing._stored import Failed, check_ends, check_received, session_in
from sightline.tools.hashline import Snapshots

_SECONDS = 60.0
_VERSIONS = 6
_LINES = 400


def play(seed: int) -> str:
    """One round. Returns the kind of the last event that was received before the kill."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="sightline-kill-") as name:
        folder = Path(name)
        work = folder / "work"
        work.mkdir()
        (work / "written.txt").write_text(_content(0))
        (work / "edited.txt").write_text(_content(0))
        (folder / "script.json").write_text(json.dumps(_script()))
        received = _killed(folder, chance)
        session = session_in(folder)
        if not session:  # killed before there was one
            return "nothing"
        check_received(folder, session, received)
        _check_files(work)
        _check_resume(folder, session)
        return type(received[-1]).__name__ if received else "nothing"


def _script() -> list[Any]:
    turns: list[Any] = []
    for version in range(1, _VERSIONS):
        write = {"path": "written.txt", "content": _content(version)}
        turns.append(
            [
                {"reasoning": "let me think about it", "chunk": 3, "delay_ms": 1},
                {"text": f"Now version {version}, step by step.", "chunk": 4, "delay_ms": 1},
                {"tool": "write", "args": write, "chunk": 2000},
                {"tool": "bash", "args": {"command": "for i in 1 2 3 4 5; do echo line $i; sleep 0.004; done"}},
                {"tool": "read", "args": {"path": "edited.txt:1-2"}},
            ]
        )
        turns.append([{"tool": "edit", "args": {"input": _patch(version)}, "chunk": 2000}])
    return [*turns, [{"text": "All done.", "chunk": 2, "delay_ms": 1}]]


def _patch(version: int) -> str:
    """From the version before, which the turn before has read, to this one."""
    tag = Snapshots().record(Path("edited.txt"), _content(version - 1))
    body = "".join([f"+{line}\n" for line in _content(version).splitlines()])
    return f"¶edited.txt#{tag}\nreplace 1..{_LINES}:\n{body}"


def _content(version: int) -> str:
    return "".join([f"line {number} of version {version}\n" for number in range(_LINES)])


def _killed(folder: Path, chance: random.Random) -> list[Event]:
    """What was received until the end came. Whole lines only: half an event was not received."""
    command = [sys.executable, "-m", "sightline", "-p", "go", "--model", f"scripted:{folder / 'script.json'}"]
    command += ["--output-format", "events", "--set", "permissions.sandbox=false", "--allow", "exec"]
    process = subprocess.Popen(
        command, cwd=folder / "work", env=_environ(folder), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdout is not None
    stop_after = chance.randrange(0, 60_000)
    pause = chance.random() * 0.003
    data = b""
    while len(data) < stop_after and (more := os.read(process.stdout.fileno(), 4096)):
        data += more
    time.sleep(pause)
    process.send_signal(signal.SIGKILL)
    process.wait()
    data += process.stdout.read()
    process.stdout.close()
    return [decode_event(line) for line in data.split(b"\n")[:-1]]


def _environ(folder: Path) -> dict[str, str]:
    return {**os.environ, "SIGHTLINE_HOME": str(folder / "home"), "XDG_RUNTIME_DIR": str(folder / "run")}


def _check_files(work: Path) -> None:
    versions = {_content(version) for version in range(_VERSIONS)}
    for name in ("written.txt", "edited.txt"):
        if (work / name).read_text() not in versions:
            raise Failed(f"{name} is damaged")
    others = {path.name for path in work.iterdir()} - {"written.txt", "edited.txt"}
    if others:
        raise Failed(f"left behind: {', '.join(sorted(others))}")


def _check_resume(folder: Path, session: str) -> None:
    (folder / "again.json").write_text(json.dumps([[{"text": "Here I am again."}]] * 100))
    command = [sys.executable, "-m", "sightline", "-p", "go on", "--resume", session]
    command += ["--model", f"scripted:{folder / 'again.json'}"]
    done = subprocess.run(
        command, cwd=folder / "work", env=_environ(folder), capture_output=True, timeout=_SECONDS, check=False
    )
    if done.returncode or b"Here I am again." not in done.stdout:
        raise Failed(f"resuming failed with {done.returncode}: {done.stdout.decode()} {done.stderr.decode()}")
    check_ends(folder, session)
