"""An agent of another program that plays a recording: shown like one, and its program is never started."""

import stat
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from sightline.events import (
    AgentState,
    Error,
    Notice,
    RunEnded,
    RunStarted,
    State,
    Text,
    ToolResult,
    ToolUse,
    state_fact,
)
from sightline.host import Prompt
from tests.agent.support import Lab, write_script
from tests.delegation.teamwork import call, of_agent, result_of, states, text
from tests.delegation.test_other_programs import at_work

RECORDING = (files("sightline.views.plain") / "recordings/codex.jsonl").read_bytes()


@pytest.fixture(autouse=True)
def never_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The real program is there, and is not started by any of this."""
    folder, mark = tmp_path / "bin", tmp_path / "started"
    folder.mkdir()
    program = folder / "codex"
    program.write_text(f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    yield
    assert not mark.exists()


def turns(recording: str = "codex.jsonl") -> list[Any]:
    start = call("task", agent="other", id="Other", description="its part", assignment="Do your part.")
    return [[{**start, "agents": {"Other": {"recording": recording}}}], [text("So.")]]


def fact_of(here: Lab) -> AgentState:
    fact = [state_fact(event) for event in of_agent(here, "Other", State) if event.key == "agent"][-1]
    assert isinstance(fact, AgentState)
    return fact


async def test_it_is_an_agent_like_any_other(tmp_path: Path) -> None:
    """Its words and calls are under its path, each call with its end, and its last words are its result."""
    (tmp_path / "codex.jsonl").write_bytes(RECORDING)
    async with at_work(tmp_path, turns()) as here:
        await here.run()
        uses = of_agent(here, "Other", ToolUse)
        assert [use.arg for use in uses] == ["cat README.md", "cat data.csv", "wc -l data.csv"]
        assert [result.id for result in of_agent(here, "Other", ToolResult)] == [use.id for use in uses]
        assert len(of_agent(here, "Other", RunStarted)) == len(of_agent(here, "Other", RunEnded)) == 1
        words = [event.text for event in of_agent(here, "Other", Text)]
        assert (words[0], words[-1]) == ("First the README.", words[-1])
        assert words[-1] in result_of(here).content
        assert {event.source for event in of_agent(here, "Other", Text)} == {"codex"}
        (notice,) = of_agent(here, "Other", Notice)
        assert notice.text == "a recording of Codex is played; the program itself does not run"
        fact = fact_of(here)
        assert (fact.state, fact.provider, fact.model) == ("idle", "codex", "Codex (recorded)")
        member = here.running.worker.team.directory.get("Other")
        assert (member.requests, member.tokens) == (1, 3350)
        assert member.last_line == words[-1], "what it wrote after a call begins a line of its own"


async def test_it_stays_one_when_it_is_revived(tmp_path: Path) -> None:
    """Also in a session that is resumed with another script, or that asks a model by then, or without the recording:
    the real program is not started in its place."""
    (tmp_path / "codex.jsonl").write_bytes(RECORDING)
    async with at_work(tmp_path, turns()) as here:
        await here.run()
        session = here.session.id
    model = write_script(tmp_path, [[text("Unused.")]], "another.json")
    for gone in (False, True):
        if gone:
            (tmp_path / "script.json").unlink()
        async with at_work(tmp_path, [], resume=session, model=model) as here:
            assert (await here.session.submit(Prompt("And now?", agent="Other"))).ok
            await here.until(lambda: states(here, "Other")[-1:] in (["idle"], ["parked"]))
            assert not of_agent(here, "Other", Text)
            problems = [*[event.text for event in of_agent(here, "Other", Error)], fact_of(here).reason]
            what = f"cannot read the script {tmp_path}/script.json" if gone else "the recording of Codex is over"
            assert any(what in problem for problem in problems)


async def test_a_recording_that_cannot_be_read_fails_its_task_alone(tmp_path: Path) -> None:
    """It is named, and the program is not started in its place."""
    async with at_work(tmp_path, turns()) as here:
        outcome = await here.run()
        assert outcome.text == "So."
        assert "cannot read the recording codex.jsonl" in result_of(here).content
