"""A flow as a session: listed, shown to whoever attaches, asked about, cut off, and stored."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.support import is_alive, running_sessions, sightline, stop_hosts, until
from tests.flows.conftest import DEADLINE, hosted
from tests.views.web.conftest import serving

from sightline.events import Event, Request, RunEnded, ToolOutput, ToolResult
from sightline.flows import load
from sightline.host import Abort, AnswerRequest, AskAside, CancelCall, Client, Prompt, StoredSession, attach
from sightline.journal import Store
from sightline.paths import data_folder
from sightline.transcript import Snapshot, Transcript

GATE = """
    name: gates
    steps:
      - id: gate
        run: echo $$ > pid; echo ready; while [ ! -e go ]; do sleep 0.01; done; echo gone
      - id: after
        needs: gate
        run: echo {{ steps.gate.output }} and after
"""


@pytest.fixture
def hosts() -> Iterator[None]:
    """Whatever a test starts has ended after it."""
    yield
    stop_hosts()


@pytest.fixture
def detached(hosts: None, write: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The session of a flow that waits at its gate, in a host of its own; its command is over."""
    monkeypatch.chdir(tmp_path)
    done = sightline("flow", "run", "--detach", str(write(GATE)))
    assert done.returncode == 0, done.stderr
    until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().strip(), "the command")
    return done.stdout.decode().strip()


def store() -> Store:
    return Store(data_folder())


async def state_when(frames: AsyncIterator[Any], fits: Callable[[Snapshot], Any]) -> Snapshot:
    """What a viewer has folded as soon as it fits."""
    transcript = Transcript()
    async for frame in frames:
        if isinstance(frame, Snapshot):
            transcript = Transcript(frame)
        else:
            for event in frame:
                transcript.apply(event)
        if fits(transcript.now):
            return transcript.now
    raise AssertionError("the session ended before")


def final(session: str) -> list[Event]:
    return list(store().read(session).events())


def test_it_is_listed_while_it_runs_and_stored_afterwards(detached: str, tmp_path: Path) -> None:
    """`ps` has it, `attach` shows it to its end, and `sessions` has it then: its window was never needed."""
    (running,) = running_sessions()
    assert (running["id"], running["title"]) == (detached, "flow gates")
    (tmp_path / "go").touch()
    shown = sightline("attach", detached).stdout.decode()

    assert "ready" in shown
    assert "after: run" in shown
    assert "2 ok / 2" in shown
    until(lambda: not running_sessions(), "the host to end")
    (record,) = store().conversations()
    assert (record.id, record.title) == (detached, "flow gates")
    ended = [event for event in final(detached) if type(event) is RunEnded and not event.agent]
    assert [event.exit_code for event in ended] == [0]


def test_a_viewer_that_attaches_sees_its_steps_as_agents(detached: str, tmp_path: Path) -> None:
    """With what the running one printed so far, under its path; the flow is one call with a list of its steps."""

    async def look() -> Snapshot:
        client = await attach(store(), detached)
        assert isinstance(client, Client)
        state = await state_when(client.subscribe(), lambda state: "gate" in state.agents)
        client.close()
        return state

    state = asyncio.run(asyncio.wait_for(look(), DEADLINE))
    assert state.agents["gate"].running
    calls = {entry.name: entry for entry in state.entries if hasattr(entry, "name")}
    assert calls["Bash"].agent == "gate"
    assert calls["Flow"].agent == ""
    (tmp_path / "go").touch()


async def test_the_page_shows_its_steps(detached: str, tmp_path: Path) -> None:
    """Live, under their names."""
    with serving(data_folder(), stop_hosts=False) as served:
        async with served.stream(f"/api/page?session={detached}") as said:
            seen = ""
            async for _, data, _ in said:
                seen += json.dumps(data)
                if "ready" in seen and '"gate"' in seen:
                    break
        assert '"gate"' in seen
    (tmp_path / "go").touch()


def test_killed_it_leaves_nothing_running_and_says_it_was_cut_off(detached: str, tmp_path: Path) -> None:
    """kill -9 of its host: the guard ends its commands; whoever opens the session reads that it was lost."""
    (running,) = running_sessions()
    pid = int((tmp_path / "pid").read_text())
    os.kill(running["pid"], signal.SIGKILL)
    until(lambda: not is_alive(pid), "the command to be ended")

    async def look() -> list[Event]:
        stored = await attach(store(), detached)
        assert isinstance(stored, StoredSession)
        return [event async for frame in stored.subscribe(0) for event in frame]

    events = asyncio.run(asyncio.wait_for(look(), DEADLINE))
    (ended,) = [event for event in events if type(event) is RunEnded and not event.agent]
    assert (ended.stop_reason, ended.is_error) == ("host", True)
    results = {event.agent for event in events if type(event) is ToolResult}
    assert results == {"", "gate"}
    assert detached in sightline("sessions").stdout.decode()


def test_stopped_it_ends_its_commands_and_is_cancelled(detached: str, tmp_path: Path) -> None:
    """`sightline stop` is a cancel: exit code 130 in its result, no process left."""
    pid = int((tmp_path / "pid").read_text())
    assert sightline("stop", detached).returncode == 0
    until(lambda: not running_sessions(), "the host to end")

    assert not is_alive(pid)
    (ended,) = [event for event in final(detached) if type(event) is RunEnded and not event.agent]
    assert (ended.exit_code, ended.stop_reason) == (130, "cancelled")


async def test_a_viewer_can_stop_one_step_or_all_of_it(write: Callable[..., Path], tmp_path: Path) -> None:
    """A prompt is for a step and not for the flow; a call that is cancelled fails its step, escape cancels the flow."""
    run = hosted(
        load(write("name: s\nsteps:\n  - {id: a, run: echo $$; sleep 600}\n  - {id: b, run: echo $$; sleep 600}\n")),
        {},
        tmp_path,
    )
    began: set[str] = set()
    async with asyncio.timeout(DEADLINE):
        async for batch in run.events():
            for event in batch:
                if type(event) is ToolOutput and event.agent not in began:
                    began.add(event.agent)
                    if len(began) == 2:
                        client = await attach(store(), run.session)
                        for command in (Prompt("hello"), AskAside("what is it?")):
                            refused = await client.submit(command)
                            assert (refused.ok, refused.error) == (False, "a flow runs in this session")
                        assert (await client.submit(CancelCall(event.id))).ok
                elif type(event) is ToolResult and event.agent:
                    assert (await client.submit(Abort())).ok
        client.close()

    assert run.exit_code == 130
    assert sorted(step.status for step in run.outcome.steps.values()) == ["cancelled", "error"]


@pytest.mark.parametrize("attended", [True, False])
async def test_a_request_of_a_step_is_for_whoever_is_attached(
    write: Callable[..., Path], tmp_path: Path, attended: bool
) -> None:
    """It names its step. Answered, the step continues; without anyone it is refused at once."""
    script = tmp_path / "script.json"
    call = {"tool": "bash", "args": {"command": "touch made", "sandbox": False}}
    script.write_text(json.dumps([[call], [{"text": "Done."}]]))
    text = f"""
        name: q
        steps:
          - {{id: gate, run: "while [ ! -e go ]; do sleep 0.01; done"}}
          - {{id: ask, needs: gate, provider: native, approval: edit, model: 'scripted:{script}', prompt: Go.}}
    """
    run = hosted(load(write(text)), {}, tmp_path)
    asked: list[str] = []
    if not attended:
        (tmp_path / "go").touch()

    async def answer() -> None:
        client = await attach(store(), run.session)
        assert isinstance(client, Client)
        async for frame in client.subscribe(0, attends=True):
            (tmp_path / "go").touch()  # it is attached now
            for event in frame if isinstance(frame, list) else ():
                if type(event) is Request:
                    asked.append(event.agent)
                    assert (await client.submit(AnswerRequest(event.id, {"choice": event.choices[0]}))).ok
        client.close()

    answering: asyncio.Task[None] | None = None
    async with asyncio.timeout(DEADLINE):
        async for _ in run.events():
            if answering is None and attended:
                answering = asyncio.create_task(answer())
        if answering is not None:
            await answering

    assert asked == (["ask"] if attended else [])
    assert (tmp_path / "made").exists() == attended
    assert run.outcome.steps["ask"].exit_code == (0 if attended else 3)
