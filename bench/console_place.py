"""A home and a project for the console to be measured in, with scripts for its model, and no host left behind."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from bench.on_pty import ROWS, OnPty, is_alive, on_pty
from bench.program import SIGHTLINE
from sightline.testing.place import Place

READY = b"leave"
"""The last word of the keys, which are on the screen with the prompt."""
_SETTINGS = """\
[models]
discover = false
[permissions]
sandbox = false
allow = ["exec"]
[compaction]
auto = false
"""


class ConsolePlace:
    """The bytecode is stored apart and complete after the first run, however this installation was made."""

    def __init__(self, place: Place, cache: Path) -> None:
        self.home = place.home / "sightline-console"
        self.project = place.project
        self.home.mkdir(exist_ok=True)
        (self.home / "settings.toml").write_text(_SETTINGS)
        self.env = {
            **as_on_a_terminal(place.environment("sightline")),
            "SIGHTLINE_HOME": str(self.home),
            "PYTHONPYCACHEPREFIX": str(cache),
        }
        self.warm_up()

    def warm_up(self) -> None:
        """Once from the beginning to the end, so that all there is to compile is compiled."""
        with self.opened("--model", self.script("warm", [[{"text": "warm"}]])) as program:
            self.host_of(program)
            program.watch(1.0)

    def script(self, name: str, turns: list[Any]) -> str:
        """A model that answers with these turns."""
        file = self.home / f"{name}.json"
        file.write_bytes(msgspec.json.encode(turns))
        return f"scripted:{file}"

    def prompt_once(self, prompt: str, model: str, session: str = "") -> str:
        """Run a prompt without a screen; the id of its session."""
        resume = ["--resume", session] if session else []
        argv = [SIGHTLINE, "-p", prompt, "--model", model, *resume]
        subprocess.run(argv, cwd=self.project, env=self.env, check=True, stdout=subprocess.DEVNULL)
        newest: str = self._listed("sessions", "--limit", "1", "--json")[0]["id"]
        return newest

    @contextmanager
    def opened(self, *words: str, keys: bytes = b"", rows: int = ROWS) -> Iterator[OnPty]:
        """The console; in the end it is gone, and so is its host."""
        try:
            with on_pty([SIGHTLINE, *words], self.env, self.project, keys, rows) as program:
                program.until(program.wrote(READY))
                yield program
        finally:
            self.end_hosts()

    def host_of(self, program: OnPty) -> int:
        """The process of the host, once it is connected to."""
        deadline = time.monotonic() + 30
        while not (hosts := self._listed("ps", "--json")):
            assert time.monotonic() < deadline, "no host came"
            program.watch(0.1)
        pid: int = hosts[0]["pid"]
        return pid

    def enter(self, program: OnPty, prompt: str) -> None:
        """Type it, see it, send it."""
        since = len(program.chunks)
        program.press(prompt.encode())
        program.until(program.wrote(prompt[-1:].encode(), since))
        program.press(b"\r")

    def end_hosts(self) -> None:
        pids = [host["pid"] for host in self._listed("ps", "--json")]
        for pid in pids:
            os.kill(pid, signal.SIGTERM)
        deadline = time.monotonic() + 10
        while any(map(is_alive, pids)) and time.monotonic() < deadline:
            time.sleep(0.02)

    def _listed(self, *words: str) -> list[dict[str, Any]]:
        done = subprocess.run([SIGHTLINE, *words], cwd=self.project, env=self.env, check=True, capture_output=True)
        found: list[dict[str, Any]] = msgspec.json.decode(done.stdout)
        return found


def as_on_a_terminal(env: dict[str, str]) -> dict[str, str]:
    """With colours, as a person has it."""
    return {name: value for name, value in env.items() if name != "NO_COLOR"} | {"COLORTERM": "truecolor"}
