"""`task`: agents started by our own, seen live under their paths; what they return, and what is refused."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from sightline.events import (
    AgentEnded,
    AgentStarted,
    RunEnded,
    RunStarted,
    Text,
    ToolResult,
    ToolUpdate,
    ToolUse,
    User,
    delegation_from_details,
)
from tests.agent.support import lab
from tests.delegation.teamwork import call, handed_back, of_agent, result_of, started, states, text


async def test_a_batch_of_agents_works_and_returns(tmp_path: Path) -> None:
    """Each has its own path, conversation and context; the call returns what all of them handed back."""
    scripts = {
        "Reader": [[text("I read."), call("bash", command="echo read-it")], handed_back("The reader's result.")],
        "Writer": [[text("I write."), *handed_back("The writer's result.")]],
    }
    async with lab(tmp_path, [[started(scripts)], [text("Both are done.")]]) as here:
        outcome = await here.run()
        assert (outcome.exit_code, outcome.text) == (0, "Both are done.")
        result = result_of(here)
        assert not result.is_error
        for name, words in (("Reader", "The reader's result."), ("Writer", "The writer's result.")):
            assert f"Agent `{name}` (task) is done" in result.content
            assert words in result.content
            assert f"history://{name}" in result.content
            (began,) = [event for event in here.of(AgentStarted) if event.path == name]
            assert (began.agent, began.task, began.call) == ("", f"the part of {name}", result.id)
            assert not here.of(AgentEnded)  # it can be asked again
            assert [event.text for event in of_agent(here, name, User)] == [f"Do the part of {name}."]
            assert len(of_agent(here, name, RunStarted)) == len(of_agent(here, name, RunEnded)) == 1
            assert states(here, name) == ["running", "idle"]
        assert "".join(event.text for event in of_agent(here, "Reader", Text)) == "I read."
        (bash, _) = of_agent(here, "Reader", ToolUse)
        assert (bash.name, bash.arg) == ("Bash", "echo read-it")


async def test_the_call_shows_a_step_for_each(tmp_path: Path) -> None:
    """The delegation contract, live: pending, running, ok and error, with the last line of each."""
    scripts: dict[str, list[Any]] = {
        "Good": [[call("bash", command="sleep 0.4; echo x")], handed_back("It went well.\nMore.")],
        "Bad": [[call("bash", command="sleep 0.4; echo y")], [call("yield", error="It cannot be done.")]],
    }
    async with lab(tmp_path, [[started(scripts)], [text("So.")]], settings={"task.max_concurrency": "1"}) as here:
        await here.run()
        result = result_of(here)
        seen = [delegation_from_details(event.details) for event in here.of(ToolUpdate) if event.id == result.id]
        shown = [[(item.id, item.status) for item in each.items] for each in seen if each is not None]
        assert shown[0] == [("Good", "pending"), ("Bad", "pending")]
        assert [("Good", "running"), ("Bad", "pending")] in shown
        final = delegation_from_details(result.details)
        assert final is not None
        assert (final.mode, [item.status for item in final.items]) == ("parallel", ["ok", "error"])
        assert [item.preview for item in final.items] == ["It went well.", "It cannot be done."]
        assert any(item.preview and "sleep" in item.preview for each in seen if each for item in each.items)
        assert not result.is_error  # one of them went well


async def test_all_that_failed_is_a_failed_call(tmp_path: Path) -> None:
    scripts = {"Bad": [[call("yield", error="No.")]]}
    async with lab(tmp_path, [[started(scripts)], [text("So.")]]) as here:
        await here.run()
        result = result_of(here)
        assert result.is_error
        assert "failed" in result.content
        assert "Error: No." in result.content


MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"agent": "task", "context": "c", "tasks": [{"assignment": "a"}], "schema": {}}, "schema"),
    ({"context": "c", "tasks": [{"assignment": "a"}]}, "`agent` is missing"),
    ({"agent": "task", "context": "c", "tasks": []}, "`tasks` is empty"),
    ({"agent": "task", "context": "c", "tasks": [{"assignment": "  "}]}, "has no `assignment`"),
    ({"agent": "task", "tasks": [{"assignment": "a"}]}, "`context` is missing"),
    ({"agent": "task", "context": "c", "assignment": "a", "tasks": [{"assignment": "a"}]}, "not both"),
    (
        {"agent": "task", "context": "c", "tasks": [{"assignment": "a", "id": "X"}, {"assignment": "b", "id": "x"}]},
        "same `id`",
    ),
    ({"agent": "task"}, "`assignment` is missing"),
    ({"agent": "nobody", "assignment": "a"}, "nobody"),
]


@pytest.mark.parametrize(("args", "said"), MISTAKES, ids=[said for _, said in MISTAKES])
async def test_a_mistake_starts_nothing(tmp_path: Path, args: dict[str, Any], said: str) -> None:
    """The model reads what was wrong; no agent was there for a moment."""
    async with lab(tmp_path, [[{"tool": "task", "args": args}], [text("I see.")]]) as here:
        await here.run()
        result = result_of(here)
        assert result.is_error
        assert said in result.content
        assert not here.of(AgentStarted)
        assert not here.running.worker.team.directory.members


async def test_one_agent_in_the_flat_shape(tmp_path: Path) -> None:
    """With `task.batch` off it is the only shape; with it on it is accepted."""
    one = {
        "tool": "task",
        "args": {"agent": "task", "assignment": "Do it.", "id": "One"},
        "agents": {"One": [handed_back("ok")]},
    }
    for batch in ("true", "false", "no"):
        (tmp_path / batch).mkdir()
    for batch in ("true", "false"):
        async with lab(tmp_path / batch, [[one], [text("Done.")]], settings={"task.batch": batch}) as here:
            await here.run()
            assert "Agent `One` (task) is done" in result_of(here).content
    batch_call = started({"Two": [handed_back()]})
    async with lab(tmp_path / "no", [[batch_call], [text("Done.")]], settings={"task.batch": "false"}) as here:
        await here.run()
        assert "task.batch" in result_of(here).content


async def test_names_are_given_generated_and_made_unique(tmp_path: Path) -> None:
    """The same name twice gets a number; without one, a name is made; what cannot stand in a path is replaced."""
    calls = [
        {"tool": "task", "args": {"agent": "task", "assignment": "a", "id": name}, "agents": {"Same": [handed_back()]}}
        for name in ("Same", "same", "../up here")
    ]
    calls.append({"tool": "task", "args": {"agent": "task", "assignment": "a"}})
    async with lab(tmp_path, [calls, [text("Done.")]]) as here:
        await here.run()
        names = [event.path for event in here.of(AgentStarted)]
        assert {"Same", "same-2"} <= set(names)
        assert "up-here" in names
        (made,) = [name for name in names if name not in ("Same", "same-2", "up-here")]
        assert made.isalpha()


async def test_one_that_does_not_hand_back_is_reminded_three_times(tmp_path: Path) -> None:
    """Then it must; a model that still does not has its last words taken, with a warning."""
    silent = [[text("Thinking.")], [text("Still.")], [text("Hm.")], [text("My last words.")]]
    async with lab(tmp_path, [[started({"Silent": silent})], [text("So.")]]) as here:
        await here.run()
        content = result_of(here).content
        assert "it handed back no result, though reminded 3 times" in content
        assert "My last words." in content
        driver = here.running.worker.team.directory.get("Silent").driver
        requests = driver.agent.model.model.requests  # type: ignore[union-attr]
        assert [request.tool_choice for request in requests] == ["", "", "", "yield"]


SCHEMA = '{"type": "object", "required": ["verdict"], "properties": {"verdict": {"type": "string"}}}'


def definition(folder: Path, name: str, head: str, body: str = "You work.") -> None:
    """A file of the user's own."""
    agents = folder / "home" / "agents"
    agents.mkdir(parents=True, exist_ok=True)
    (agents / f"{name}.md").write_text(f"---\nname: {name}\ndescription: for a test\n{head}\n---\n\n{body}\n")


async def structured(folder: Path, turns: list[Any]) -> Any:
    definition(folder, "judge", f"output: {SCHEMA}")
    async with lab(
        folder, [[started({"Judge": turns}, "judge")], [text("So.")]], environ={"SIGHTLINE_HOME": str(folder / "home")}
    ) as here:
        await here.run()
        return result_of(here), here


async def test_a_structured_result_is_checked(tmp_path: Path) -> None:
    """One that fits is JSON behind agent://; one that does not may be corrected once."""
    result, here = await structured(tmp_path, [handed_back({"verdict": 1}), handed_back({"verdict": "fine"})])
    assert '"verdict": "fine"' in result.content
    stored = here.store.folder(here.session.id) / "agents" / "Judge" / "output.md"
    assert json.loads(stored.read_text()) == {"verdict": "fine"}


async def test_a_structured_result_that_never_fits_is_a_clear_failure(tmp_path: Path) -> None:
    result, _ = await structured(tmp_path, [handed_back({"verdict": 1}), handed_back({})])
    assert result.is_error
    assert "its result does not fit the schema: verdict is missing" in result.content


async def test_what_agents_returned_can_be_read_in_parts(tmp_path: Path) -> None:
    """agent://ID, a path into it, a query; history://ID is what it did."""
    definition(tmp_path, "judge", 'output: {"type": "object"}')
    reads = [
        call("read", path=address)
        for address in (
            "agent://Judge",
            "agent://Judge/list/1",
            "agent://Judge?q=list[0].name",
            "history://Judge",
            "agent://None",
        )
    ]
    scripts = {"Judge": [[call("bash", command="echo looked")], handed_back({"list": [{"name": "first"}, "second"]})]}
    turns = [[started(scripts, "judge")], reads, [text("So.")]]
    async with lab(tmp_path, turns, environ={"SIGHTLINE_HOME": str(tmp_path / "home")}) as here:
        await here.run()
        ids = [event.id for event in here.of(ToolUse) if not event.agent][1:]
        found = {event.id: event for event in here.of(ToolResult)}
        whole, part, query, history, missing = [found[id] for id in ids]
        assert '"name": "first"' in whole.content
        assert "second" in part.content
        assert "first" in query.content
        assert "echo looked" in history.content
        assert missing.is_error


async def test_a_path_that_no_result_has_is_an_error_and_no_bug(tmp_path: Path) -> None:
    """Also a number that is too long to be one."""
    definition(tmp_path, "judge", 'output: {"type": "object"}')
    odd = {**call("read", path="agent://Judge/list/" + "1" * 5000), "chunk": 10_000}
    turns = [[started({"Judge": [handed_back({"list": [1]})]}, "judge")], [odd], [text("So.")]]
    async with lab(tmp_path, turns, environ={"SIGHTLINE_HOME": str(tmp_path / "home")}) as here:
        await here.run()
        assert result_of(here, 1).is_error
        assert result_of(here, 1).content.startswith("agent://Judge has no '111")


async def test_long_output_is_cut_and_all_of_it_is_stored(tmp_path: Path) -> None:
    long = "\n".join(f"line {number} of a long result" for number in range(2000))
    turn = [{**handed_back(long)[0], "chunk": 100_000}]
    async with lab(tmp_path, [[started({"Long": [turn]})], [text("So.")]]) as here:
        await here.run()
        content = result_of(here).content
        assert len(content) < 6000
        assert "more characters: agent://Long" in content
        assert (here.store.folder(here.session.id) / "agents" / "Long" / "output.md").read_text() == long


async def test_an_agent_may_start_others_down_to_a_depth(tmp_path: Path) -> None:
    """A child of a child has the path of both; below the limit there is no such tool."""
    definition(tmp_path, "boss", 'spawns: "*"')
    inner = started({"Inner": [[call("task", agent="task", assignment="x")], handed_back("inner")]})
    outer = started({"Outer": [[inner], handed_back("outer")]}, "boss")
    async with lab(tmp_path, [[outer], [text("So.")]], environ={"SIGHTLINE_HOME": str(tmp_path / "home")}) as here:
        await here.run()
        assert [event.path for event in here.of(AgentStarted)] == ["Outer", "Outer/Inner"]
        (refused,) = [event for event in of_agent(here, "Outer/Inner", ToolResult) if "task" in event.content]
        assert refused.is_error
        assert "outer" in result_of(here).content


async def test_who_may_start_whom(tmp_path: Path) -> None:
    """An agent starts what its definition allows, never its own kind; what the settings disable is not started."""
    definition(tmp_path, "boss", "spawns: explore")
    turns = [
        [call("task", agent="boss", assignment="a")],
        [call("task", agent="reviewer", assignment="a")],
        [call("task", agent="plan", assignment="a")],
        handed_back(),
    ]
    top = [started({"Boss": turns}, "boss"), call("task", agent="plan", assignment="b")]
    async with lab(
        tmp_path,
        [top, [text("So.")]],
        settings={"task.disabled": "plan"},
        environ={"SIGHTLINE_HOME": str(tmp_path / "home")},
    ) as here:
        await here.run()
        own, other, disabled = [event.content for event in of_agent(here, "Boss", ToolResult)][:3]
        assert "may not start itself" in own
        assert "may not start reviewer" in other
        assert "disabled" in disabled
        assert "disabled" in result_of(here, 0).content or "disabled" in result_of(here, 1).content


async def test_stopping_the_run_ends_its_agents(tmp_path: Path) -> None:
    """At once, with everything they run; they are aborted, and say so."""
    scripts = {"Slow": [[call("bash", command="sleep 60")]], "Slower": [[call("bash", command="sleep 61")]]}
    async with lab(tmp_path, [[started(scripts)]]) as here:
        await here.agent.prompt("go")
        await here.until(lambda: len([event for event in here.of(ToolUse) if event.agent]) == 2)
        here.agent.stop()
        outcome = await here.ended()
        assert outcome.exit_code == 130
        for name in scripts:
            await here.until(lambda name=name: "aborted" in states(here, name))
            await here.until(lambda name=name: name in [event.path for event in here.of(AgentEnded)])
            assert here.running.worker.team.directory.get(name).driver is None


async def test_one_of_several_is_stopped_and_the_others_go_on(tmp_path: Path) -> None:
    scripts = {"Slow": [[call("bash", command="sleep 60")]], "Quick": [handed_back("quick")]}
    async with lab(tmp_path, [[started(scripts)], [text("So.")]]) as here:
        await here.agent.prompt("go")
        await here.until(lambda: bool(of_agent(here, "Slow", ToolUse)))
        directory = here.running.worker.team.directory
        assert directory.stop(directory.get("Slow"))
        outcome = await here.ended()
        assert outcome.exit_code == 0
        content = result_of(here).content
        assert "Agent `Slow` (task) was stopped (cancelled)" in content
        assert "[Slow is idle: message it with irc" in content
        assert "quick" in content


async def test_an_agent_that_the_user_stopped_has_not_failed(tmp_path: Path) -> None:
    """It says so of itself and in the step list, and takes prompts."""
    slow = [[call("bash", command="sleep 60")], [text("Here again.")]]
    async with lab(tmp_path, [[started({"Slow": slow})], [text("So.")]]) as here:
        await here.agent.prompt("go")
        await here.until(lambda: bool(of_agent(here, "Slow", ToolUse)))
        directory = here.running.worker.team.directory
        assert directory.stop(directory.get("Slow"))
        await here.ended()
        steps = delegation_from_details(result_of(here).details)
        assert steps is not None
        assert [item.preview for item in steps.items] == ["stopped by you"]
        agent = here.session.snapshot().agents["Slow"]
        assert agent.fact is not None
        assert (agent.standing, agent.fact.stopped, agent.fact.failed, agent.is_error) == ("idle", True, False, False)
        directory.wake(directory.get("Slow"))
        assert not directory.get("Slow").stopped


async def test_a_wall_clock_ends_an_agent(tmp_path: Path) -> None:
    async with lab(
        tmp_path,
        [[started({"Slow": [[call("bash", command="sleep 60")]]})], [text("So.")]],
        settings={"task.max_seconds": "1"},
    ) as here:
        await here.run()
        assert "was stopped (timeout)" in result_of(here).content
        assert states(here, "Slow")[-1] == "aborted"


async def test_a_budget_of_requests_is_named_and_then_ends_it(tmp_path: Path) -> None:
    """After so many it is told to finish; after half as many again it is stopped."""
    busy = [[call("bash", command=f"echo {number}")] for number in range(20)]
    async with lab(tmp_path, [[started({"Busy": busy})], [text("So.")]], settings={"task.request_budget": "4"}) as here:
        await here.run()
        assert "was stopped (it made more requests than its budget allows)" in result_of(here).content
        made = len(of_agent(here, "Busy", ToolUse))
        assert 4 <= made <= 7


async def test_in_the_background_the_call_returns_at_once(tmp_path: Path) -> None:
    """Each agent is a job; its end is delivered once, and starts a run."""
    scripts = {"One": [[call("bash", command="sleep 0.3")], handed_back("the result of one")]}
    turns = [[started(scripts)], [text("They work.")], [text("I read it.")]]
    async with lab(tmp_path, turns, settings={"task.background": "true"}) as here:
        await here.run()
        assert "Started 1 agent in the background" in result_of(here).content
        await here.until(lambda: "I read it." in "".join(event.text for event in here.of(Text) if not event.agent))
        told = [event for event in here.of(User) if not event.agent and event.source == "job"]
        assert len(told) == 1
        assert "the result of one" in told[0].text


async def test_subagents_have_no_background_and_no_todo_list(tmp_path: Path) -> None:
    """They are synchronous inside, and the list of tasks is the session's."""
    async with lab(tmp_path, [[started({"One": [handed_back()]})], [text("So.")]]) as here:
        await here.run()
        agent = here.running.worker.team.directory.get("One").driver.agent  # type: ignore[union-attr]
        assert agent.workplace.jobs is None
        assert "todo" not in agent.tools
        assert {"yield", "irc", "bash", "read"} <= {tool.name for tool in agent.tools}


async def test_idle_agents_are_parked_and_revived(tmp_path: Path) -> None:
    """Nothing is left of a parked one but its files; the user's words revive it where it was."""
    scripts = {"One": [handed_back("first"), [text("I am back.")]]}
    async with lab(tmp_path, [[started(scripts)], [text("So.")]], settings={"task.idle_seconds": "1"}) as here:
        await here.run()
        directory = here.running.worker.team.directory
        await here.until(lambda: states(here, "One")[-1:] == ["parked"])
        one = directory.get("One")
        assert one.driver is None
        await directory.write([one], "Are you there?")
        await here.until(lambda: "I am back." in "".join(event.text for event in of_agent(here, "One", Text)))
        await here.until(lambda: states(here, "One")[-1:] == ["idle"])
        assert states(here, "One") == ["running", "idle", "parked", "running", "idle"]


async def test_a_resumed_session_knows_its_agents(tmp_path: Path) -> None:
    """They are parked, can be read, and can be asked again."""
    scripts = {"One": [[text("Before.")], handed_back("first"), [text("After.")]]}
    script = [[started(scripts)], [text("So.")]]
    async with lab(tmp_path, script) as here:
        await here.run()
        session = here.session.id
    async with lab(tmp_path, script, resume=session) as here:
        directory = here.running.worker.team.directory
        one = directory.get("One")
        assert one.state == "parked"
        assert "Do the part of One." in (here.running.worker.team.transcript("One") or "")
        await directory.write([one], "Go on.")
        await here.until(lambda: "After." in "".join(event.text for event in of_agent(here, "One", Text)))
        await here.until(lambda: states(here, "One")[-1:] == ["idle"])
        assert "running" in states(here, "One")


async def test_eight_at_once_and_no_more_than_the_bound(tmp_path: Path) -> None:
    """Every event of each is under its own path, once and in its order."""
    count = 8
    scripts = {
        f"A{number}": [[text(f"a{number} "), call("bash", command=f"echo out-{number}")], handed_back(f"r{number}")]
        for number in range(count)
    }
    async with lab(tmp_path, [[started(scripts)], [text("So.")]], settings={"task.max_concurrency": "3"}) as here:
        most = 0

        def watch(_: object) -> None:
            nonlocal most
            most = max(most, here.running.worker.team.directory.bound.taken)

        here.running.worker.team.directory.listen(watch)
        await here.run()
        assert most == 3
        for number in range(count):
            kinds = [type(event).__name__ for event in here.seen if event.agent == f"A{number}"]
            assert kinds.count("RunStarted") == kinds.count("RunEnded") == 1
            assert f"r{number}" in result_of(here).content
    await asyncio.sleep(0)


async def test_a_revived_agent_has_no_more_than_the_one_it_is_below(tmp_path: Path) -> None:
    """Also when that one is parked: neither a wider level nor a tool that it has not."""
    definition(tmp_path, "boss", 'spawns: "*"\napproval: plan\ntools: read, task')
    inner = started({"Inner": [handed_back("inner"), [call("write", path="x.txt", content="x")], [text("Tried.")]]})
    outer = started({"Outer": [[inner], handed_back("outer")]}, "boss")
    async with lab(
        tmp_path, [[outer], [text("So.")]], approval="full", environ={"SIGHTLINE_HOME": str(tmp_path / "home")}
    ) as here:
        await here.run()
        directory = here.running.worker.team.directory
        for name in ("Outer.Inner", "Outer"):
            await directory.park(directory.get(name))
        inner_one = directory.get("Outer.Inner")
        await directory.write([inner_one], "Write it.")
        await here.until(lambda: "Tried." in "".join(event.text for event in of_agent(here, "Outer/Inner", Text)))
        agent = inner_one.driver.agent  # type: ignore[union-attr]
        assert agent.permissions.level == "plan"
        assert {tool.name for tool in agent.tools} == {"read", "yield"}
        assert not (tmp_path / "work" / "x.txt").exists()


async def test_a_torn_conversation_is_continued_behind_what_is_whole(tmp_path: Path) -> None:
    """The host was killed while it wrote: what the agent remembers after that is all of the rest."""
    scripts = {"One": [handed_back("first"), [text("After.")], [text("Again.")]]}
    script = [[started(scripts)], [text("So.")]]
    async with lab(tmp_path, script) as here:
        await here.run()
        session = here.session.id
    journal = here.store.folder(session) / "agents" / "One" / "journal.jsonl"
    with journal.open("ab") as file:
        file.write(b'{"entry": "half a li')
    for words in ("After.", "Again."):
        async with lab(tmp_path, script, resume=session) as here:
            directory = here.running.worker.team.directory
            await directory.write([directory.get("One")], f"Say {words}")
            await here.until(lambda: words in "".join(event.text for event in of_agent(here, "One", Text)))  # noqa: B023
            await here.until(lambda: states(here, "One")[-1:] == ["idle"])
            remembered = here.running.worker.team.transcript("One") or ""
    assert remembered.index("Say After.") < remembered.index("After.\n") < remembered.index("Say Again.")


async def test_nothing_stored_of_an_agent_has_a_secret(tmp_path: Path) -> None:
    """Neither its task nor what it returned, in whatever file of the session."""
    secret = "s3cr3t-value-of-a-token-0123456789"
    args = {"agent": "task", "context": f"Use {secret}.", "tasks": [{"id": "One", "assignment": f"Print {secret}."}]}
    scripts = {"One": [handed_back(f"It is {secret}.")]}
    turns = [[{"tool": "task", "args": args, "agents": scripts}], [text("So.")]]
    async with lab(tmp_path, turns, environ={"DEPLOY_TOKEN": secret}) as here:
        await here.run()
        folder = here.store.folder(here.session.id)
    stored = [file for file in folder.rglob("*") if file.is_file()]
    assert {"record.json", "output.md", "journal.jsonl"} <= {file.name for file in stored}
    assert not [file for file in stored if secret.encode() in file.read_bytes()]
