"""Running a real CLI against the stand-in, and what is to be seen of it.

Events are compared with the script as *steps*: a text with its words, a call with its common name and its preview.
"""

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from sightline.events import Event, RunStarted, Text, ToolResult, ToolUse
from sightline.providers import EventStream, ProviderPrompt, get_provider, preview
from sightline.testing.place import Place, prepare_place
from sightline.testing.standin import StandIn

Script = list[list[dict[str, Any]]]
Step = tuple[str, ...]

TIMEOUT = 120.0


class LiveRun(msgspec.Struct):
    """One finished run of a CLI."""

    provider: str
    events: list[Event]
    exit_code: int
    stdout: bytes
    stderr: str
    server: StandIn

    def of(self, kind: type[Any], agent: str = "") -> list[Any]:
        return [event for event in self.events if isinstance(event, kind) and event.agent == agent]

    @property
    def session(self) -> str:
        return next(event.session for event in self.events if isinstance(event, RunStarted) and event.session)

    def results(self) -> dict[str, ToolResult]:
        """Result by the preview of its call."""
        calls = {event.id: event.arg for event in self.events if isinstance(event, ToolUse)}
        return {calls[event.id]: event for event in self.events if isinstance(event, ToolResult)}


class Lab:
    """Where one test runs its CLIs. `place` stays the same over runs, so that a conversation can be resumed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.allow = True  # whether the CLIs' own settings allow what they would ask about
        self.place: Place | None = None

    def run(self, provider: str, script: Script, *, prompt: str = "Go.", model: str = "", resume: str = "") -> LiveRun:
        """The provider's CLI with the command line of ours, its output through our source."""
        command = get_provider(provider).command
        assert command is not None
        ask = ProviderPrompt(prompt=prompt, model=model, resume=resume)
        with StandIn.in_thread(script) as server:
            argv = [command.binary, *command.arguments(ask)]
            done = self._execute(argv, provider, server.url, prompt.encode())
        return LiveRun(
            provider, _events(provider, done.stdout), done.returncode, done.stdout, done.stderr.decode(), server
        )

    def sightline(self, provider: str, script: Script, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        """The whole program: `sightline -p … --provider …`."""
        with StandIn.in_thread(script) as server:
            argv = [program(), "-p", "Go.", "--provider", provider, *arguments]
            return self._execute(argv, provider, server.url, b"")

    @contextmanager
    def working(self, provider: str, script: Script) -> "Iterator[tuple[subprocess.Popen[bytes], dict[str, str]]]":
        """The same while it works, and the environment it has."""
        with StandIn.in_thread(script) as server:
            self.place = place = prepare_place(self.folder, server.url, allow=self.allow)
            environment = place.environment(provider)
            argv, pipe = [program(), "-p", "Go.", "--provider", provider], subprocess.PIPE
            options: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": pipe, "stderr": pipe}
            with subprocess.Popen(argv, cwd=place.project, env=environment, **options) as process:
                try:
                    yield process, environment
                finally:
                    process.kill()

    def _execute(self, argv: list[str], provider: str, url: str, stdin: bytes) -> subprocess.CompletedProcess[bytes]:
        place = prepare_place(self.folder, url, allow=self.allow) if self.place is None else self.place.at(url)
        self.place = place
        environment = place.environment(provider)
        return subprocess.run(
            argv, input=stdin, cwd=place.project, env=environment, capture_output=True, timeout=TIMEOUT, check=False
        )


def program() -> str:
    """The console script of the environment the tests run in."""
    return str(Path(sys.executable).with_name("sightline"))


def _events(provider: str, stdout: bytes) -> list[Event]:
    source = get_provider(provider).source
    assert source is not None
    stream = EventStream(source())
    return [*stream.feed(stdout), *stream.end()]


def steps(events: list[Event], agent: str = "") -> list[Step]:
    """What one agent said and called, in the order seen; pieces of one text are one step."""
    seen: list[Step] = []
    open_block: int | None = None
    for event in events:
        if event.agent != agent:
            continue
        if isinstance(event, Text):
            if event.block == open_block:
                seen[-1] = ("text", seen[-1][1] + event.text)
            else:
                seen.append(("text", event.text))
            open_block = event.block
        elif isinstance(event, ToolUse):
            seen.append(("call", event.name, event.arg))
            open_block = None
    return seen


def scripted(script: Script, provider: str) -> list[Step]:
    """The steps a script has the main agent take, as this provider takes them."""
    return [
        _step(block, provider) for turn in script for block in turn if "error" not in block and "reasoning" not in block
    ]


def _step(block: dict[str, Any], provider: str) -> Step:
    if "text" in block:
        return ("text", block["text"])
    name, args = block["tool"], block["args"]
    if provider == "codex" and name == "Read":  # it has no tool for reading
        name, args = "Bash", {"command": f"cat {args['file_path']}"}
    return ("call", name, preview(args, name))


def words(seen: list[Step]) -> str:
    return "".join(step[1] for step in seen if step[0] == "text")


def calls(seen: list[Step]) -> Counter[Step]:
    return Counter(step for step in seen if step[0] == "call")
