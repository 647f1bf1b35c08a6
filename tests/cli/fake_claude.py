"""A program that stands for `claude`: it prints the lines it is given, and waits where these say so."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import SIGHTLINE, until
from tests.providers.support import lines

_PROGRAM = """#!{python} -IS
import os, signal, subprocess, sys, time
HERE = os.path.dirname(os.path.abspath(__file__))
with open(HERE + "/arguments.txt", "a") as log:
    log.write(" ".join(sys.argv[1:]) + "\\n")
prompt = sys.stdin.read()
def note(name, pid):
    with open(HERE + "/" + name + ".new", "w") as file:
        file.write(str(pid))
    os.rename(HERE + "/" + name + ".new", HERE + "/" + name)
note("claude.pid", os.getpid())
for line in open(HERE + "/says.jsonl"):
    word, _, rest = line.strip().partition(" ")
    if word == "WAIT":
        while not os.path.exists(HERE + "/" + rest):
            time.sleep(0.01)
    elif word == "CHILD":
        note("child.pid", subprocess.Popen(["sleep", "600"], stdout=2, start_new_session=True).pid)
    elif word == "STUBBORN":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    else:
        sys.stdout.write(line.replace("PROMPT", prompt))
        sys.stdout.flush()
"""
INIT = {"type": "system", "subtype": "init", "session_id": "their-id-1", "model": "their-model", "cwd": "/"}
DONE = {"type": "result", "subtype": "success", "is_error": False, "result": ""}


def said(text: str) -> dict[str, Any]:
    return {"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}}


def called(id: str, command: str) -> dict[str, Any]:
    use = {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}
    return {"type": "assistant", "message": {"content": [use]}}


def returned(id: str, content: str) -> dict[str, Any]:
    return {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": id, "content": content}]}}


class FakeClaude:
    """In a folder on the PATH; a run works in another folder beside it."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder / "bin"
        self.folder.mkdir()
        program = self.folder / "claude"
        program.write_text(_PROGRAM.format(python=sys.executable))
        program.chmod(0o755)
        self._processes: list[subprocess.Popen[bytes]] = []
        monkeypatch.setenv("PATH", f"{self.folder}:{os.environ['PATH']}")
        self.plays(INIT, said("Claude heard PROMPT."), DONE)

    def plays(self, *steps: Any) -> None:
        """Lines as values, or words for the program: `WAIT name`, `CHILD`, `STUBBORN`."""
        played = [step.encode() + b"\n" if isinstance(step, str) else lines(step) for step in steps]
        (self.folder / "says.jsonl").write_bytes(b"".join(played))

    def go(self, name: str = "go") -> None:
        """What it waits for is there."""
        (self.folder / name).touch()

    @property
    def starts(self) -> list[str]:
        """The arguments of each."""
        return (self.folder / "arguments.txt").read_text().splitlines()

    def pid(self, name: str = "claude") -> int:
        file = self.folder / f"{name}.pid"
        until(file.exists, f"the pid of {name}")
        return int(file.read_text())

    def started(self, *words: str) -> "subprocess.Popen[bytes]":
        """`sightline -p` over it, with its output piped."""
        return self.sightline("-p", "one", "--provider", "claude", *words)

    def sightline(self, *words: str) -> "subprocess.Popen[bytes]":
        """The program, which is ended with this at the latest."""
        none, pipe = subprocess.DEVNULL, subprocess.PIPE
        self._processes.append(subprocess.Popen([SIGHTLINE, *words], stdin=none, stdout=pipe, stderr=pipe))
        return self._processes[-1]

    def close(self) -> None:
        for process in self._processes:
            process.kill()
            process.communicate()
