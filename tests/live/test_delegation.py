"""Real programs of others as agents of ours, and our own beside them: one session, every word and call once."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from consoles import DEADLINE, place_at
from lab import Script, calls, steps, words
from tests.agent.support import Lab, lab
from tests.delegation.support import write
from tests.delegation.teamwork import call, handed_back, of_agent, result_of, started, states, text

from sightline.events import (
    AgentStarted,
    Error,
    Notice,
    Request,
    RequestResolved,
    RunEnded,
    RunStarted,
    ToolResult,
    ToolUse,
    User,
)
from sightline.host import Abort, AnswerRequest
from sightline.testing.place import own_environment, write_home
from sightline.testing.standin import StandIn

pytestmark = pytest.mark.live

NAMES = {"claude": "Claude", "codex": "Codex", "gemini": "Gemini", "opencode": "Open"}


def bash(command: str, provider: str = "") -> dict[str, Any]:
    """With Codex one that asks to be outside its sandbox."""
    more = {"sandbox_permissions": "require_escalated", "justification": "It has to write."}
    return {"tool": "Bash", "args": {"command": command, **(more if provider == "codex" else {})}}


def task(provider: str) -> dict[str, Any]:
    """A call of our agent that starts one."""
    return call("task", agent=f"by-{provider}", id=NAMES[provider], assignment=assignment(provider))


def assignment(provider: str) -> str:
    return f"Do the part of {provider}, please."


class Team(Lab):
    """The session, the stand-in, and the folders."""

    server: StandIn
    project: Path

    def results(self) -> dict[str, ToolResult]:
        """Of the calls of the session's own agent, by the kind of agent they started, or the tool."""
        uses = {event.id: event for event in self.seen if isinstance(event, ToolUse) and not event.agent}
        ended = [event for event in self.seen if isinstance(event, ToolResult) and not event.agent]
        return {str((uses[event.id].args or {}).get("agent") or uses[event.id].name): event for event in ended}

    async def wait_for(self, condition: Callable[[], Any], what: str) -> Any:
        try:
            async with asyncio.timeout(DEADLINE):
                while not (found := condition()):  # noqa: ASYNC110, others' processes and files tell nobody
                    await asyncio.sleep(0.02)
        except TimeoutError:
            pytest.fail(f"{what}: not within {DEADLINE:g} s; seen: {self.seen[-8:]}")
        return found

    async def approve(self, path: str) -> Request:
        request: Request = await self.wait_for(lambda: next(iter(of_agent(self, path, Request)), None), "a question")
        assert (await self.session.submit(AnswerRequest(request.id, {"choice": "once"}))).ok
        return request


@asynccontextmanager
async def team(
    folder: Path,
    parts: dict[str, Script],
    turns: list[Any],
    patch: pytest.MonkeyPatch,
    *,
    asks: tuple[str, ...] = (),
    model: str = "",
    **more: Any,
) -> AsyncIterator[Team]:
    """`parts`: what the model of each program plays. `asks`: the programs that have to ask before a command. `model`:
    named in the definitions."""
    known = [{"tool": "Task", "args": {"prompt": assignment(name)}, "agent": part} for name, part in parts.items()]
    async with StandIn([known]) as server:
        project = place_at(folder, "claude", server.url, patch)
        for name in NAMES:
            for variable, value in own_environment(name, server.url).items():
                patch.setenv(variable, value)
        home = Path(os.environ["HOME"])
        for name in asks:
            _have_ask(name, home, project, server.url)
        for name in NAMES:
            fields = {"provider": name, **({"model": model} if model else {})}
            write(home / f".config/sightline/agents/by-{name}.md", **fields)
        environ = {"HOME": str(home), "PATH": os.environ["PATH"]}
        async with lab(folder, turns, attended=True, environ=environ, work=project, **more) as here:
            here.__class__ = Team
            assert isinstance(here, Team)
            here.server, here.project = server, project
            yield here
    await _until_none_left(str(home))


def _have_ask(name: str, home: Path, project: Path, url: str) -> None:
    """Its settings as those of a user who allowed nothing; those of the others stay."""
    file = {
        "claude": ".claude/settings.json",
        "codex": ".codex/config.toml",
        "gemini": ".gemini/policies/allow.toml",
        "opencode": ".config/opencode/opencode.json",
    }[name]
    strict = home.with_name("strict")
    write_home(strict, project, url, allow=False)
    (home / file).write_text((strict / file).read_text().replace('"never"', '"on-request"'))


def left(home: str) -> list[str]:
    """The processes that were started for this test and are there."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.pid != os.getpid() and process.environ().get("HOME") == home:
                found.append(" ".join(process.cmdline()) or process.name())
        except psutil.Error:  # it has ended, or is not ours
            continue
    return found


async def _until_none_left(home: str) -> None:
    async with asyncio.timeout(DEADLINE):
        while left(home):  # noqa: ASYNC110, processes that are nobody's children tell nobody
            await asyncio.sleep(0.05)


def shown_once(here: Team) -> None:
    """Every call has one beginning and one end under one path, every run too, and every request an end."""
    uses = [(event.agent, event.id) for event in here.seen if isinstance(event, ToolUse)]
    results = [(event.agent, event.id) for event in here.seen if isinstance(event, ToolResult)]
    assert sorted(uses) == sorted(results)
    assert len(set(uses)) == len(uses)
    for path in {event.agent for event in here.seen}:
        assert len(of_agent(here, path, RunStarted)) == len(of_agent(here, path, RunEnded)), path
    assert {event.id for event in here.of(Request)} == {event.id for event in here.of(RequestResolved)}


async def test_six_agents_of_five_kinds_in_one_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All at once: one asks and gets its approval, one is stopped, one is messaged and answers, the others work."""
    parts: dict[str, Script] = {
        "claude": [[{"text": "Claude begins."}, bash("touch claude.txt")], [{"text": "Claude is done."}]],
        "codex": [[bash("touch codex-began; sleep 300")], [{"text": "Never."}]],
        "gemini": [[{"text": "Gemini begins."}, bash("echo gemini")], [{"text": "Gemini is done."}]],
        "opencode": [
            [{"text": "OpenCode begins."}, bash("echo opencode")],
            [{"text": "OpenCode is done."}],
            [{"text": "OpenCode answers."}],
        ],
    }
    ours = {
        "One": [[text("One begins."), call("bash", command="echo one")], handed_back("One is done.")],
        "Two": [[text("Two begins."), call("bash", command="echo two")], handed_back("Two is done.")],
    }
    asks = call("irc", op="send", to="Open", message="Which colour?", **{"await": True, "timeoutMs": 80_000})
    turns = [[*map(task, NAMES), started(ours)], [asks], [text("All is done.")]]
    async with team(tmp_path, parts, turns, monkeypatch, asks=("claude",)) as here:
        await here.agent.prompt("go")
        request = await here.approve("Claude")
        assert request.details["what"] == "touch claude.txt"
        await here.wait_for((here.project / "codex-began").exists, "the command of Codex")
        assert (await here.session.submit(Abort(agent="Codex"))).ok
        outcome = await here.ended()
        assert (outcome.exit_code, outcome.text) == (0, "All is done.")

        assert (here.project / "claude.txt").exists()
        shown_once(here)
        assert {event.agent for event in here.seen} == {"", *NAMES.values(), "One", "Two"}
        assert {event.path for event in here.of(AgentStarted)} == {*NAMES.values(), "One", "Two"}
        expected = {
            "": ("All is done.", []),
            "Claude": ("Claude begins.Claude is done.", ["touch claude.txt"]),
            "Codex": ("", ["touch codex-began; sleep 300"]),
            "Gemini": ("Gemini begins.Gemini is done.", ["echo gemini"]),
            "Open": ("OpenCode begins.OpenCode is done.OpenCode answers.", ["echo opencode"]),
            "One": ("One begins.", ["echo one"]),
            "Two": ("Two begins.", ["echo two"]),
        }
        for path, (said, commands) in expected.items():
            seen = steps(here.seen, path)
            assert words(seen) == said, path
            assert [step[2] for step in seen if step[:2] == ("call", "Bash")] == commands, path
        results = here.results()
        assert "Agent `Claude` (by-claude) is done" in results["by-claude"].content
        assert "Claude is done." in results["by-claude"].content
        assert "Agent `Codex` (by-codex) was stopped (cancelled)" in results["by-codex"].content
        assert "Gemini is done." in results["by-gemini"].content
        assert "OpenCode is done." in results["by-opencode"].content
        assert "One is done." in results["task"].content
        assert "Two is done." in results["task"].content
        assert "OpenCode answers." in result_of(here, -1).content
        assert states(here, "Codex") == ["running", "idle", "parked"]
        assert states(here, "Open") == ["running", "idle"] * 2
        assert not here.of(Error) + here.of(Notice)
        assert here.session.snapshot().state.get("provider", "") == ""
        for name, path in NAMES.items():
            told = [event.text for event in of_agent(here, path, User) if event.source == "task"]
            assert told == [assignment(name)]
        spent = here.session.snapshot().totals
        assert all(spent[path].output_tokens for path in ("Claude", "Gemini", "Open"))


async def test_it_asks_and_is_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, provider: str) -> None:
    """Under its path, through the session; then it does what it asked about."""
    parts: dict[str, Script] = {provider: [[bash("touch asked.txt", provider)], [{"text": "It is there."}]]}
    path = NAMES[provider]
    async with team(tmp_path, parts, [[task(provider)], [text("So.")]], monkeypatch, asks=(provider,)) as here:
        await here.agent.prompt("go")
        request = await here.approve(path)
        assert not (await here.session.submit(AnswerRequest(request.id, "once"))).ok
        await here.ended()
        assert (here.project / "asked.txt").exists()
        assert request.details["call"] == of_agent(here, path, ToolUse)[0].id
        assert "It is there." in result_of(here).content
        assert len(here.of(Request)) == 1
        shown_once(here)


async def test_stopped_it_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, provider: str) -> None:
    """The session goes on, and nothing of the program is left while it does."""
    parts: dict[str, Script] = {provider: [[bash("touch began; sleep 300")], [{"text": "Never."}]]}
    path = NAMES[provider]
    async with team(tmp_path, parts, [[task(provider)], [text("So.")]], monkeypatch) as here:
        await here.agent.prompt("go")
        await here.wait_for((here.project / "began").exists, "the command")
        home = os.environ["HOME"]
        assert any("sleep 300" in line for line in left(home))
        assert (await here.session.submit(Abort(agent=path))).ok
        assert (await here.ended()).text == "So."
        assert "was stopped (cancelled)" in result_of(here).content
        await here.wait_for(lambda: not left(home), "the end of all of it")
        assert [event.stop_reason for event in of_agent(here, path, RunEnded)] == ["cancelled"]
        assert states(here, path) == ["running", "idle", "parked"]
        assert words(steps(here.seen, path)) == ""
        shown_once(here)


async def test_parked_it_is_revived_by_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, provider: str
) -> None:
    """In its own conversation: what it knew, it knows; its answer reaches who asked, and nothing is shown again."""
    parts: dict[str, Script] = {
        provider: [[bash("echo looked")], [{"text": "First words."}], [{"text": "Second words."}]]
    }
    path = NAMES[provider]
    asks = call("irc", op="send", to=path, message="Which colour?", **{"await": True, "timeoutMs": 80_000})
    turns = [[task(provider)], [text("So.")], [asks], [text("Heard.")]]
    async with team(tmp_path, parts, turns, monkeypatch) as here:
        await here.run()
        directory = here.running.worker.team.directory
        await directory.park(directory.get(path))
        await here.wait_for(lambda: not left(os.environ["HOME"]), "the end of its program")
        await here.run("again")
        answered = result_of(here, -1).content
        assert f"{path}: revived" in answered
        assert f"{path} (reply to m1): Second words." in answered
        seen = steps(here.seen, path)
        assert words(seen) == "First words.Second words."
        assert sum(calls(seen).values()) == 1
        assert states(here, path) == ["running", "idle", "parked", "running", "idle"]
        shown_once(here)


async def test_its_own_agents_are_below_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, provider: str) -> None:
    """What they write and do is under a path of their own, and no part of the result."""
    below = {
        "tool": "Task",
        "args": {"description": "Helper", "prompt": "Look deeper.", "subagent_type": "general-purpose"},
        "agent": [[bash("echo deep")], [{"text": "Found it."}]],
    }
    if provider == "opencode":
        below["args"]["subagent_type"] = "general"
    parts: dict[str, Script] = {provider: [[below], [{"text": "I am done."}]]}
    path = NAMES[provider]
    model = "gpt-5-codex" if provider == "codex" else ""  # newer models delegate without showing it
    async with team(tmp_path, parts, [[task(provider)], [text("So.")]], monkeypatch, model=model) as here:
        await here.run()
        own, inner = here.of(AgentStarted)
        assert (own.path, inner.agent) == (path, path)
        assert inner.path.startswith(f"{path}/")
        assert words(steps(here.seen, path)) == "I am done."
        inside = [step[2] for step in steps(here.seen, inner.path) if step[0] == "call"]
        assert inside == ([] if provider == "gemini" else ["echo deep"])  # that one does not report it
        assert {event.agent for event in here.seen} <= {"", path, inner.path}
        assert "I am done." in result_of(here).content
        shown_once(here)


@pytest.mark.parametrize("provider", NAMES)
async def test_an_isolated_program_works_in_its_own_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, provider: str
) -> None:
    """What it wrote is in the project when it is done, and not before; no process of the copy is left."""
    path = NAMES[provider]
    command = "touch made-apart; sleep 0.2; ls"
    parts: dict[str, Script] = {provider: [[bash(command)], [{"text": "It is made."}]]}
    begun = task(provider)
    begun["args"]["isolated"] = True
    async with team(tmp_path, parts, [[begun], [text("So.")]], monkeypatch) as here:
        await here.agent.prompt("go")
        await here.wait_for(lambda: of_agent(here, path, ToolUse), "its command")
        assert not (here.project / "made-apart").exists()
        await here.ended()
        (result,) = here.results().values()
        assert "It is made." in result.content
        assert "Merged into the workspace: made-apart." in result.content
        assert (here.project / "made-apart").exists()
        assert states(here, path) == ["running", "parked"]
        shown_once(here)
