"""`task`, in detail: what an agent is given, what it may not have, its limits, and the addresses of what it left."""

import os
from pathlib import Path
from typing import Any

import pytest

from sightline import locks
from sightline.delegation import AgentDefinition, SpawnRequest
from sightline.delegation._record import AgentRecord, AgentShelf
from sightline.delegation._task_run import LINES_AT_MOST, OUTPUT_AT_MOST, bounded
from sightline.delegation.tools._yield import _decoded
from sightline.events import AgentStarted, RunStarted, Text, ToolResult, ToolUse, User
from sightline.exceptions import UserMistake
from tests.agent.support import Lab, lab
from tests.delegation.teamwork import call, handed_back, of_agent, result_of, started, states, text
from tests.host.support import until


def team(here: Lab) -> Any:
    return here.running.worker.team


def written(folder: Path, name: str, head: str = "", body: str = "You work.") -> dict[str, str]:
    """A definition of the user's own, and the environment in which it is found."""
    agents = folder / "home" / "agents"
    agents.mkdir(parents=True, exist_ok=True)
    (agents / f"{name}.md").write_text(f"---\nname: {name}\ndescription: for a test\n{head}\n---\n\n{body}\n")
    return {"SIGHTLINE_HOME": str(folder / "home")}


# What it is given


async def test_an_agent_reads_its_role_the_context_and_its_assignment(tmp_path: Path) -> None:
    """Nothing of the conversation of its parent, and not the description, which is for people."""
    turns = [[text("A secret of mine."), started({"One": [handed_back()]})], [text("So.")]]
    async with lab(tmp_path, turns) as here:
        await here.run("words of the user")
        (request,) = team(here).directory.get("One").driver.agent.model.model.requests
        assert "<context>\nThe goal.\n</context>" in request.system
        assert "`yield`" in request.system
        said = str(request.messages)
        assert "Do the part of One." in said
        for other in ("A secret of mine.", "words of the user", "the part of One", "The goal."):
            assert other not in said.replace("Do the part of One.", "")


async def test_an_agent_knows_who_else_is_at_work(tmp_path: Path) -> None:
    """Those of the same call, by id and kind, so that it can write to them."""
    async with lab(tmp_path, [[started({"One": [handed_back()], "Two": [handed_back()]})], [text("So.")]]) as here:
        await here.run()
        (request,) = team(here).directory.get("One").driver.agent.model.model.requests
        assert "- Two (task): the part of Two" in request.system
        assert "- One (" not in request.system


async def test_the_notes_of_a_session_are_shared(tmp_path: Path) -> None:
    """What an agent writes to local:// its parent reads."""
    one = [[call("write", path="local://found.md", content="it is here")], handed_back()]
    turns = [[started({"One": one})], [call("read", path="local://found.md")], [text("So.")]]
    async with lab(tmp_path, turns) as here:
        await here.run()
        assert "it is here" in result_of(here, 1).content


async def test_the_model_is_shown_one_shape(tmp_path: Path) -> None:
    """By `task.batch`."""
    for batch, fields in (("true", {"agent", "context", "tasks"}), ("false", {"agent", "assignment", "id"})):
        (tmp_path / batch).mkdir()
        async with lab(tmp_path / batch, [[text("Hi.")]], settings={"task.batch": batch}) as here:
            schema = here.agent.tools.get("task").schema()
            assert fields <= schema["properties"].keys()
            assert "schema" not in schema["properties"]
            assert ("tasks" in schema["properties"]) == (batch == "true")
            assert "isolated" in str(schema)


async def test_kinds_of_agents_are_looked_for_with_each_call(tmp_path: Path) -> None:
    """A file that was written meanwhile counts; what the model was shown of them stays, and so does its cache."""
    environ = written(tmp_path, "early")
    turns = [[text("Hi.")], [started({"One": [handed_back("late indeed")]}, "late")], [text("So.")]]
    async with lab(tmp_path, turns, environ=environ) as here:
        await here.run()
        written(tmp_path, "late")
        await here.run()
        assert "late indeed" in result_of(here).content
        (shown,) = [tool.description for tool in here.requests[-1].tools if tool.name == "task"]
        assert "- early: for a test" in shown
        assert "- late:" not in shown


# What it may not have


async def test_without_levels_there_is_neither_task_nor_irc(tmp_path: Path) -> None:
    """There would be no one to write to."""
    async with lab(tmp_path, [[text("Hi.")]], settings={"task.max_depth": "0"}) as here:
        assert not {"task", "irc"} & {tool.name for tool in here.agent.tools}


@pytest.mark.parametrize("asked", [True, False], ids=["the call", "the definition"])
async def test_an_isolated_agent_is_refused_where_isolation_is_off(tmp_path: Path, asked: bool) -> None:
    """It would change the files it was to leave alone."""
    environ = written(tmp_path, "apart", "isolated: true")
    args = {"agent": "task", "assignment": "a", "isolated": True} if asked else {"agent": "apart", "assignment": "a"}
    settings = {"task.isolation": "off"}
    async with lab(tmp_path, [[call("task", **args)], [text("So.")]], environ=environ, settings=settings) as here:
        await here.run()
        assert result_of(here).is_error
        assert "task.isolation is off" in result_of(here).content
        assert not here.of(AgentStarted)


async def test_a_name_has_a_limit_and_none_of_ours(tmp_path: Path) -> None:
    """A long one is refused; `Main` and `all` are taken."""
    long = {"agent": "task", "context": "c", "tasks": [{"assignment": "a", "id": "x" * 49}]}
    named = [call("task", agent="task", assignment="a", id=name) for name in ("main", "All")]
    async with lab(tmp_path, [[call("task", **long), *named], [text("So.")]]) as here:
        await here.run()
        assert result_of(here).is_error
        assert sorted(event.path for event in here.of(AgentStarted)) == ["All-2", "main-2"]


# What came of it


async def test_findings_are_in_the_result(tmp_path: Path) -> None:
    """Before its text, with their places; and in the details."""
    environ = written(tmp_path, "critic", "tools: read, report_finding")
    found = {"title": "Off by one", "body": "At the end.", "file": "a.py", "first_line": 3, "priority": 1}
    scripts = {"Critic": [[call("report_finding", **found), call("report_finding", title=" ")], handed_back("Bad.")]}
    async with lab(tmp_path, [[started(scripts, "critic")], [text("So.")]], environ=environ) as here:
        await here.run()
        result = result_of(here)
        assert "1. [P1] a.py:3-3 Off by one\n   At the end." in result.content
        assert result.content.index("Off by one") < result.content.index("Bad.")
        assert sorted(event.content for event in of_agent(here, "Critic", ToolResult))[:2] == [
            "`title` is empty.",
            "finding 1 noted",
        ]
        (details,) = result.details["results"]
        assert {"id", "agent", "description", "output", "findings", "requests", "tokens", "seconds"} <= details.keys()
        assert (details["id"], details["agent"], details["requests"]) == ("Critic", "critic", 2)


async def test_one_that_failed_can_still_be_asked(tmp_path: Path) -> None:
    """A model that cannot be reached fails the task, not the agent."""
    broken: list[Any] = [[{"error": {"kind": "auth", "message": "no such key"}}], [text("I am back.")]]
    async with lab(tmp_path, [[started({"One": broken})], [text("So.")]]) as here:
        await here.run()
        assert result_of(here).is_error
        assert "no such key" in result_of(here).content
        assert "message it with irc" in result_of(here).content
        assert states(here, "One")[-1] == "idle"
        await team(here).directory.write([team(here).directory.get("One")], "Again.")
        await here.until(lambda: "I am back." in "".join(event.text for event in of_agent(here, "One", Text)))


def test_a_result_is_bounded() -> None:
    """By lines and by bytes, never inside a character."""
    assert bounded("short\n") == "short\n"
    assert len(bounded("x\n" * (LINES_AT_MOST * 2)).split("\n")) == LINES_AT_MOST
    cut = bounded("é" * OUTPUT_AT_MOST)
    assert len(cut.encode()) == OUTPUT_AT_MOST
    assert set(cut) == {"é"}


async def test_the_bound_is_the_sessions(tmp_path: Path) -> None:
    """Calls in one answer share it."""
    calls = [started({name: [[call("bash", command="sleep 0.1")], handed_back()]}) for name in ("One", "Two", "Three")]
    async with lab(tmp_path, [calls, [text("So.")]], settings={"task.max_concurrency": "1"}) as here:
        most: list[int] = []
        team(here).directory.listen(lambda _: most.append(team(here).directory.bound.taken))
        await here.run()
        assert max(most) == 1
        assert [states(here, name) for name in ("One", "Two", "Three")] == [["running", "idle"]] * 3


async def test_idle_agents_stay_when_parking_is_off(tmp_path: Path) -> None:
    async with lab(
        tmp_path, [[started({"One": [handed_back()]})], [text("So.")]], settings={"task.idle_seconds": "0"}
    ) as here:
        await here.run()
        directory = team(here).directory
        assert directory.get("One").state == "idle"
        assert not directory._parking


# In the background


async def test_a_blocking_agent_is_waited_for(tmp_path: Path) -> None:
    environ = written(tmp_path, "patient", "blocking: true")
    turns = [[started({"One": [handed_back("here it is")]}, "patient")], [text("So.")]]
    async with lab(tmp_path, turns, environ=environ, settings={"task.background": "true"}) as here:
        await here.run()
        assert "here it is" in result_of(here).content


async def test_a_job_of_an_agent_can_be_cancelled(tmp_path: Path) -> None:
    """The agent is aborted with it; the other one of the call works on."""
    scripts = {"One": [[call("bash", command="sleep 60")]], "Two": [[call("bash", command="sleep 60")]]}
    turns = [[started(scripts)], [text("They work.")], [call("job", cancel=["One"])], [text("So.")]]
    async with lab(tmp_path, turns, settings={"task.background": "true"}) as here:
        await here.run()
        content = result_of(here).content
        assert "Started 2 agents in the background" in content
        assert "- `One` (job `One`)" in content
        await here.until(lambda: len([event for event in here.of(ToolUse) if event.agent]) == 2)
        await here.run("cancel one")
        await here.until(lambda: states(here, "One")[-1:] == ["aborted"])
        assert states(here, "Two") == ["running"]


async def test_a_failed_agent_is_a_failed_job(tmp_path: Path) -> None:
    """Its delivery has the error and how to follow up, and it is idle."""
    turns = [[started({"One": [[call("yield", error="It is locked.")]]})], [text("They work.")], [text("I see.")]]
    async with lab(tmp_path, turns, settings={"task.background": "true"}) as here:
        await here.run()
        await here.until(lambda: "I see." in "".join(event.text for event in here.of(Text) if not event.agent))
        (delivered,) = [event.text for event in here.of(User) if not event.agent and event.source == "job"]
        assert "Error: It is locked." in delivered
        assert "history://One" in delivered
        assert states(here, "One") == ["running", "idle"]


async def test_agents_for_which_there_is_no_job_are_named(tmp_path: Path) -> None:
    """Those that could be started work; of the others nothing is left."""
    scripts = {"One": [[call("bash", command="sleep 60")]], "Two": [handed_back()]}
    settings = {"task.background": "true", "jobs.max_jobs": "1"}
    turns = [[started(scripts)], [text("So.")], [started({"Three": [handed_back()]})], [text("None.")]]
    async with lab(tmp_path, turns, settings=settings) as here:
        await here.run()
        assert "Started 1 agent in the background:\n- `One` (job `One`)" in result_of(here).content
        assert "Not started: Two: " in result_of(here).content
        await here.run("another")
        assert result_of(here, 1).is_error
        assert "no agent could be started: Three: " in result_of(here, 1).content
        assert [member.id for member in team(here).directory.members] == ["One"]


# Addresses


async def test_what_is_wrong_with_an_address_is_in_the_error(tmp_path: Path) -> None:
    addresses = {
        "agent://Nobody": "no such agent",
        "agent://": "names no agent",
        "agent://One/title": "is not JSON",
        "agent://One?title": "?q=PATH",
        "agent://One/title?q=title": "not both",
        "agent://Judge/titel": "has no 'titel'",
    }
    judge = written(tmp_path, "judge", 'output: {"type": "object"}')
    begin = [started({"One": [handed_back("words")]}), started({"Judge": [handed_back({"title": 1})]}, "judge")]
    turns = [begin, [call("read", path=address) for address in addresses], [text("So.")]]
    async with lab(tmp_path, turns, environ=judge) as here:
        await here.run()
        found = {event.id: event for event in here.of(ToolResult)}
        reads = [found[event.id] for event in here.of(ToolUse) if not event.agent][2:]
        for read, said in zip(reads, addresses.values(), strict=True):
            assert read.is_error
            assert said in read.content


async def test_an_agent_below_another_has_both_names(tmp_path: Path) -> None:
    """`Outer.Inner`, whose output and transcript are its own."""
    environ = written(tmp_path, "boss", 'spawns: "*"')
    inner = started({"Inner": [handed_back("the inner result")]})
    turns = [
        [started({"Outer": [[inner], handed_back("the outer result")]}, "boss")],
        [call("read", path="agent://Outer.Inner"), call("read", path="history://Outer.Inner")],
        [text("So.")],
    ]
    async with lab(tmp_path, turns, environ=environ) as here:
        await here.run()
        assert "the inner result" in result_of(here, 1).content + result_of(here, 2).content
        assert "Do the part of Inner." in result_of(here, 1).content + result_of(here, 2).content
        folder = here.store.folder(here.session.id) / "agents" / "Outer.Inner"
        assert {"journal.jsonl", "output.md", "record.json"} <= {path.name for path in folder.iterdir()}


async def test_a_transcript_can_be_read_while_it_works_and_when_it_is_parked(tmp_path: Path) -> None:
    one = [[text("I begin."), call("bash", command="until [ -e go ]; do sleep 0.02; done")], handed_back("over")]
    async with lab(tmp_path, [[started({"One": one})], [text("So.")]]) as here:
        await here.agent.prompt("go")
        await here.until(lambda: bool(of_agent(here, "One", ToolUse)))
        assert "Do the part of One." in team(here).transcript("One")
        (tmp_path / "work" / "go").touch()
        await here.ended()
        await team(here).directory.park(team(here).directory.get("One"))
        assert "I begin." in team(here).transcript("One")


# Mail for one that has not begun


async def test_mail_that_came_before_it_began_is_read_in_its_task(tmp_path: Path) -> None:
    """Not in a run of its own after its result was handed back."""
    wait = "until [ -e go ]; do sleep 0.02; done"
    scripts = {
        "One": [[call("bash", command=wait)], handed_back()],
        "Two": [[call("bash", command="true")], handed_back()],
    }
    async with lab(tmp_path, [[started(scripts)], [text("So.")]], settings={"task.max_concurrency": "1"}) as here:
        await here.agent.prompt("go")
        await here.until(lambda: bool(of_agent(here, "One", ToolUse)))
        directory = team(here).directory
        assert directory.send(None, "Two", "Mind the gap.").outcome == "delivered"
        (tmp_path / "work" / "go").touch()
        await here.ended()
        (mail,) = [event for event in of_agent(here, "Two", User) if event.source == "irc"]
        assert "Mind the gap." in mail.text
        assert len(of_agent(here, "Two", RunStarted)) == 1
        assert not len(directory.get("Two").mailbox)


async def test_what_the_caller_reads_of_a_large_batch_is_bounded(tmp_path: Path) -> None:
    """Errors as well as results; each with the address of its rest."""
    long = "x" * 20_000
    scripts = {f"A{number}": handed_back(long) if number % 2 else handed_back(error=long) for number in range(64)}
    async with lab(tmp_path, [[started({id: [turn] for id, turn in scripts.items()})], [text("So.")]]) as here:
        await here.run()
        content = result_of(here).content
        assert len(content) < 100_000
        assert content.count("more characters: agent://A") == 32
        assert content.count("more characters: history://A") == 32


async def test_what_the_caller_reads_of_findings_is_bounded(tmp_path: Path) -> None:
    """Each of them, and all together; the others are in the transcript."""
    environ = written(tmp_path, "critic", "tools: read, report_finding")
    found = [call("report_finding", title="t" * 300, body="b" * 5000, file="f" * 300) for _ in range(5)]
    scripts = {"Critic": [*([each] for each in found), handed_back("Bad.")]}
    async with lab(tmp_path, [[started(scripts, "critic")], [text("So.")]], environ=environ) as here:
        await here.run()
        content = result_of(here).content
        assert "[P2]" in content
        assert "more: history://Critic]" in content
        assert len(content) < 12_000
        (details,) = result_of(here).details["results"]
        for finding in details["findings"]:
            assert len(finding["title"]) <= 201
            assert len(finding["file"]) <= 201
            assert finding["body"].endswith("[1,000 more characters: history://Critic]")


async def test_a_definition_without_irc_or_task_has_neither(tmp_path: Path) -> None:
    """Nor has one whose list does not name them; `spawns` names `task`."""
    environ = written(tmp_path, "quiet", "without: irc")
    written(tmp_path, "alone", 'without: task\nspawns: "*"')
    written(tmp_path, "narrow", "tools: read")
    written(tmp_path, "boss", 'tools: read\nspawns: "*"')
    calls = [started({kind.title(): [handed_back()]}, kind) for kind in ("quiet", "alone", "narrow", "boss")]
    async with lab(tmp_path, [calls, [text("So.")]], environ=environ) as here:
        await here.run()
        has = {
            member.id: {tool.name for tool in member.driver.agent.tools} & {"irc", "task"}  # type: ignore[union-attr]
            for member in team(here).directory.members
        }
        assert has == {"Quiet": set(), "Alone": {"irc"}, "Narrow": set(), "Boss": {"task"}}


async def test_one_without_irc_is_not_told_to_answer_with_it(tmp_path: Path) -> None:
    """It reads the message, and that it cannot answer."""
    environ = written(tmp_path, "quiet", "without: irc")
    scripts = {"Quiet": [handed_back(), [text("Noted.")]]}
    async with lab(tmp_path, [[started(scripts, "quiet")], [text("So.")]], environ=environ) as here:
        await here.run()
        team(here).directory.send(None, "Quiet", "Look.")
        await here.until(lambda: "Noted." in "".join(event.text for event in of_agent(here, "Quiet", Text)))
        mail = next(event.text for event in of_agent(here, "Quiet", User) if "Look." in event.text)
        assert mail.endswith("[you have no irc, so that you cannot answer it]")


async def test_a_failed_task_is_shown_by_its_agent_too(tmp_path: Path) -> None:
    """Its run ended well: it handed back an error. The next thing it does well takes that away."""
    scripts = {"One": [handed_back("", error="no way"), [text("Fine.")]]}
    async with lab(tmp_path, [[started(scripts)], [text("So.")]]) as here:
        await here.run()
        one = here.session.snapshot().agents["One"]
        assert (one.standing, one.is_error, one.runs[-1].is_error) == ("idle", True, True)
        await team(here).directory.write([team(here).directory.get("One")], "Again.")
        await here.until(lambda: states(here, "One") == ["running", "idle"] * 2)
        again = here.session.snapshot().agents["One"]
        assert (again.standing, again.is_error, [run.is_error for run in again.runs]) == ("idle", False, [True, False])


async def test_a_woken_agent_over_its_budget_is_aborted(tmp_path: Path) -> None:
    """As one that works on its task is: it takes no prompt after that."""
    busy = [[call("bash", command=f"echo {number}")] for number in range(20)]
    async with lab(
        tmp_path, [[started({"One": [handed_back(), *busy]})], [text("So.")]], settings={"task.request_budget": "2"}
    ) as here:
        await here.run()
        one = team(here).directory.get("One")
        await team(here).directory.write([one], "Go on.")
        await here.until(lambda: states(here, "One")[-1] == "aborted")
        await until(lambda: not team(here).directory.busy)
        assert (one.reason, one.record.aborted) == ("it made more requests than its budget allows", True)
        with pytest.raises(UserMistake, match="was stopped"):
            await team(here).directory.write([one], "And again.")


async def test_one_whose_journal_is_in_use_is_parked_with_the_reason(tmp_path: Path) -> None:
    """A second session, or another program, has it open."""
    async with lab(tmp_path, [[started({"One": [handed_back(), [text("Back.")]]})], [text("So.")]]) as here:
        await here.run()
        directory = team(here).directory
        one = directory.get("One")
        await directory.park(one)
        descriptor = os.open(here.session.folder / "agents/One/journal.jsonl", os.O_RDWR)
        try:
            assert locks.acquire(descriptor, "exclusive", seconds=0.0)
            await directory.write([one], "Again.")
            await until(lambda: one.state == "parked" and not directory.busy)
            assert one.reason == "its journal is in use by another process"
        finally:
            os.close(descriptor)
        await directory.write([one], "Again.")
        await here.until(lambda: "Back." in "".join(event.text for event in of_agent(here, "One", Text)))


async def test_an_assignment_that_could_not_be_read_back_is_refused(tmp_path: Path) -> None:
    """What is stored of an agent is bounded, and what is bounded is not cut in silence."""
    async with lab(tmp_path, [[text("So.")]]) as here:
        for fields in ({"assignment": "x" * 300_000}, {"assignment": "x", "context": "x" * 300_000}):
            with pytest.raises(UserMistake, match="at most 262,144 characters"):
                team(here).directory.allocate(SpawnRequest(agent="task", **fields), None)
        assert not team(here).directory.members


async def test_the_largest_assignment_is_read_back(tmp_path: Path) -> None:
    shelf = AgentShelf(tmp_path)
    shelf.create("One")
    most = "\U0001f600" * 256 * 1024
    definition = AgentDefinition(name="x", description="x", prompt="p" * 256 * 1024, source="user")
    shelf.save(AgentRecord(id="One", definition=definition, assignment=most, context=most))
    assert [record.id for record in shelf.records()] == ["One"]


@pytest.mark.parametrize("parent", ["One", "One.Two", "Other"])
def test_a_record_with_another_parent_than_its_name_says_is_none(tmp_path: Path, parent: str) -> None:
    """Itself, one below it, or any other: what an agent may do follows from those above it."""
    shelf, definition = AgentShelf(tmp_path), AgentDefinition(name="x", description="x", prompt="p", source="user")
    for id, above in (("One", parent), ("One.Two", "One"), ("Good", "")):
        shelf.create(id)
        shelf.save(AgentRecord(id=id, definition=definition, parent=above))
    assert sorted(record.id for record in shelf.records()) == ["Good", "One.Two"]


async def test_a_name_too_long_for_a_folder_is_an_error_and_no_bug(tmp_path: Path) -> None:
    """Of agents below agents: names are joined."""
    name = "n" * 48
    environ = written(tmp_path, "task2", 'spawns: "*"')
    inner: list[Any] = [handed_back("deepest")]
    for depth in range(6):
        inner = [[started({name: inner}, "task" if depth % 2 else "task2")], handed_back("ended")]
    async with lab(tmp_path, [inner[0], [text("So.")]], environ=environ, settings={"task.max_depth": "8"}) as here:
        await here.run()
        problems = [event.content for event in here.of(ToolResult) if "a system call failed" in event.content]
        assert problems
        assert "File name too long" in problems[0]
        assert not [event for event in here.of(ToolResult) if "this is a bug" in event.content]


async def test_of_many_idle_agents_the_oldest_are_parked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each holds its journal open; none waits for its time where there are too many."""
    monkeypatch.setattr("sightline.delegation._directory._IDLE_AT_MOST", 2)
    turns = [[started({f"A{number}": [handed_back()]})] for number in range(5)]
    async with lab(tmp_path, [*turns, [text("So.")]]) as here:
        await here.run()
        await until(lambda: not team(here).directory.busy)
        now = {member.id: member.state for member in team(here).directory.members}
        assert now == {"A0": "parked", "A1": "parked", "A2": "parked", "A3": "idle", "A4": "idle"}


def test_a_result_nested_without_end_is_taken_as_text() -> None:
    """A model may write anything into its JSON."""
    assert _decoded("[" * 200_000) == "[" * 200_000
