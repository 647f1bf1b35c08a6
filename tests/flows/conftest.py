"""What the tests of flows share: writing a flow, running it, and reading its delegation events."""

import asyncio
import sys
import textwrap
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sightline.events import Event, RunEnded, Text, ToolResult, ToolUpdate, ToolUse, delegation_from_details
from sightline.flows import Flow, FlowOutcome, load, require_inputs
from sightline.host import HostedFlow, flow_start
from sightline.journal import Store
from sightline.paths import data_folder
from sightline.providers import CommandLine, Provider, _registry

DEADLINE = 90.0  # seconds; nothing here takes one


class Ran:
    """A flow that was run to its end."""

    def __init__(self, outcome: FlowOutcome, events: list[Event]) -> None:
        self.outcome = outcome
        self.events = events

    @property
    def exit_code(self) -> int:
        return self.outcome.exit_code

    def of(self, kind: type, agent: str | None = None) -> list[Any]:
        return [event for event in self.events if type(event) is kind and agent in (None, event.agent)]

    def plan(self) -> Any:
        return self.use().args

    def use(self) -> ToolUse:
        """The call that the flow is."""
        return next(event for event in self.events if type(event) is ToolUse and event.name == "Flow")

    def progress(self) -> list[str]:
        """Each change of the step list as one line, such as "a=ok b=running"."""
        return [statuses(event) for event in self.events if type(event) is ToolUpdate and not event.agent]

    def final(self) -> Any:
        """The step list of the flow's result."""
        result = self.result()
        return {item.id: (item.status, item.preview) for item in delegation_from_details(result.details).items}

    def result(self) -> ToolResult:
        (result,) = [event for event in self.events if type(event) is ToolResult and event.id == self.use().id]
        return result

    def ended(self) -> RunEnded:
        assert type(self.events[-1]) is RunEnded
        return self.events[-1]


def hosted(flow: Flow, inputs: Mapping[str, Any], cwd: Path, **options: Any) -> HostedFlow:
    """A flow in a session of this process."""
    return HostedFlow(Store(data_folder()), flow_start(flow, require_inputs(flow, inputs), str(cwd)), **options)


def statuses(event: ToolUpdate | ToolResult) -> str:
    delegation = delegation_from_details(event.details)
    assert delegation is not None, "every update holds a complete step list"
    return " ".join(f"{item.id}={item.status}" for item in delegation.items)


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def write_flow(text: str, name: str = "flow.yaml") -> Path:
        path = tmp_path / name
        path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
        return path

    return write_flow


@pytest.fixture
def run(write: Callable[..., Path], tmp_path: Path) -> Callable[..., Ran]:
    """Write a flow, run it in its folder to the end, and give its outcome and events."""

    def run_to_end(text: str, inputs: Mapping[str, Any] | None = None, on_event: Any = None) -> Ran:
        events: list[Event] = []

        def emit(batch: list[Event]) -> None:
            events.extend(batch)
            for event in batch if on_event else ():
                on_event(event)

        async def work() -> FlowOutcome:
            run = hosted(load(write(text)), inputs or {}, tmp_path)
            async for batch in run.events():
                emit(batch)
            return run.outcome

        return Ran(asyncio.run(asyncio.wait_for(work(), DEADLINE)), events)

    return run_to_end


@pytest.fixture
def run_and_cancel(write: Callable[..., Path], tmp_path: Path) -> Callable[..., Ran]:
    """Run a flow and cancel it, from the outside, as soon as an event satisfies the condition."""

    def run_until(text: str, condition: Callable[[Event], bool]) -> Ran:
        async def work() -> Ran:
            flow = load(write(text))
            flow_run = hosted(flow, {}, tmp_path)
            events: list[Event] = []
            cancelling = None
            async for batch in flow_run.events():
                events += batch
                if cancelling is None and any(map(condition, batch)):
                    cancelling = asyncio.create_task(flow_run.cancel())
            assert cancelling is not None
            await cancelling
            return Ran(flow_run.outcome, events)

        return asyncio.run(asyncio.wait_for(work(), DEADLINE))

    return run_until


# A CLI nobody ships: it says its prompt in capitals, word by word, and does what the prompt tells it to first.
MADE_UP_CLI = """
import json, os, sys, time
prompt = sys.stdin.read()
with open("argv", "w") as file:
    json.dump(sys.argv[1:], file)
def say(**line):
    print(json.dumps(line), flush=True)
say(kind="begin", session="s-1", argv=sys.argv[1:])
if "fail once" in prompt and not os.path.exists("failed"):
    open("failed", "w").close()
    say(kind="word", text="half an ans")
    say(kind="oops", text="the model is overloaded")
    sys.exit(1)
if "say nothing for ever" in prompt:
    say(kind="word", text="thinking")
    time.sleep(600)
say(kind="call", name="Read", arg="notes.md")
for word in prompt.upper().split(" "):
    say(kind="word", text=word)
"""


class MadeUpSource:
    """Reads the lines of the made-up CLI."""

    def parse_events(self, line: bytes) -> list[Event]:
        from sightline.events import Error, RunStarted

        value = msgspec.json.decode(line)
        match value["kind"]:
            case "begin":
                return [RunStarted(session=value["session"], source="made_up")]
            case "word":
                return [Text(value["text"] + " ", block=1, source="made_up")]
            case "call":
                return [ToolUse("call-1", value["name"], arg=value["arg"], source="made_up")]
            case _:
                return [Error(value["text"], "try again", source="made_up")]


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Provider:
    """A provider called made_up, registered like any other."""
    script = tmp_path / "made_up_cli.py"
    script.write_text(MADE_UP_CLI)
    provider = Provider(
        name="made_up",
        title="Made up",
        source=MadeUpSource,
        command=CommandLine(
            binary=sys.executable,
            package="made-up",
            tested="1",
            arguments=lambda ask: ["-I", str(script), ask.model, *map(str, ask.options.values())],
            approvals={"auto": ()},
            options=frozenset(("mode", "level")),
        ),
    )
    module = types.ModuleType("made_up_provider")
    module.PROVIDER = provider  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "made_up_provider", module)
    monkeypatch.setitem(_registry._MODULES, "made_up", "made_up_provider")
    return provider
