"""What the sandbox adds to a command: calls of `bash` in the real program, with and without it.

The reference is bubblewrap by itself with the namespaces it cannot do without, started as often in the same run.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from bench.row import Row

_CALLS = 60
_ROUNDS = 5
# Of a run before the sandbox had private folders, hidden sockets and a protected set: it must not become dearer.
_GOAL = 1.9
_BARE = ["--die-with-parent", "--unshare-pid", "--unshare-ipc", "--unshare-net"]
_BARE += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "true"]


def rows(sightline: str = str(Path(sys.executable).with_name("sightline"))) -> Iterator[Row]:
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        yield Row.without("a sandboxed command / bubblewrap alone", "bubblewrap is not installed")
        return
    with tempfile.TemporaryDirectory(prefix="sightline-bench-") as name:
        folder = Path(name)
        script = folder / "script.json"
        script.write_text(json.dumps([[{"tool": "bash", "args": {"command": "true"}}]] * _CALLS + [[{"text": "done"}]]))
        (folder / "work").mkdir()
        subprocess.run(["git", "init", "-q", str(folder / "work")], check=True)
        rounds = [_round(sightline, bwrap, folder) for _ in range(_ROUNDS)]
    added, alone = (median(each[at] for each in rounds) * 1000 for at in (0, 1))
    yield Row("a sandboxed command, added to one without", None, added, "ms")
    yield Row("bubblewrap alone", None, alone, "ms")
    yield Row("a sandboxed command, added / bubblewrap alone", _GOAL, median(each[0] / each[1] for each in rounds))


def _round(sightline: str, bwrap: str, folder: Path) -> tuple[float, float]:
    """Seconds for a command: what the sandbox added, and bubblewrap alone."""
    with_it = _run(sightline, folder)
    without = _run(sightline, folder, "--set", "permissions.sandbox=false", "--allow", "exec")
    began = time.perf_counter()
    for _ in range(_CALLS):
        subprocess.run([bwrap, *_BARE], check=True)
    return (with_it - without) / _CALLS, (time.perf_counter() - began) / _CALLS


def _run(sightline: str, folder: Path, *options: str) -> float:
    words = [sightline, "-p", "go", "--model", f"scripted:{folder / 'script.json'}", *options]
    began = time.perf_counter()
    done = subprocess.run(words, cwd=folder / "work", env=_environment(folder), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return time.perf_counter() - began


def _environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "SIGHTLINE_HOME": str(folder / "home")}
