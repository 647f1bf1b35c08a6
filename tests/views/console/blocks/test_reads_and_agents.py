"""Calls that only look are shown together; a subagent is one block."""

from typing import Any

import pytest

from sightline.events import (
    AgentEnded,
    AgentStarted,
    AgentState,
    CallEnding,
    RunEnded,
    RunStarted,
    State,
    Text,
    ToolOutput,
    ToolResult,
    ToolUse,
    User,
)
from sightline.events.stamping import stamp
from sightline.transcript import Remark, Transcript, TranscriptAgent, TranscriptCall, TranscriptMessage, TranscriptText
from sightline.views.console._agent_names import agent_role
from sightline.views.console.blocks import block_for
from sightline.views.console.blocks._agent import AgentBlock
from tests.views.console.blocks.support import COLOURS, Clock, call, drawing, fits


def read(path: str, kind: str = "read", **fields: Any) -> TranscriptCall:
    details = {
        "ui": {"kind": kind, "path": path, "first": 1, "last": 2, "total": 2},
        "display_content": {"text": "x\ny"},
    }
    return call(**{"name": "Read", "id": path, "args": {"path": path}, "details": details, "content": "x\ny"} | fields)


def test_reads_that_follow_each_other_are_one_block_with_every_name() -> None:
    """The first takes those after it, and no name is lost, whatever the width."""
    names = [f"src/folder/file{n}.py" for n in range(20)] + ["日本/長い名前.txt", "a" * 70]
    block = block_for(read("src/first.py"), drawing(), {})
    assert block.open_ended
    assert all(block.take(read(name)) for name in names)
    for width in (80, 200):
        shown = " ".join(block.render(width))
        assert all(name in shown for name in ["src/first.py", *names])
    assert block.render(80)[0] == "✓ Read 23 files (ctrl+o)"
    fits(block)


def test_a_listing_joins_reads_and_both_are_named() -> None:
    """Folders that were listed belong with files that were read."""
    block = block_for(read("a.py"), drawing(), {})
    assert block.take(read("src", "listing", name="List"))
    assert list(block.render(80)) == ["✓ Read/List 2 files and folders (ctrl+o)", "  a.py, src"]


def test_what_does_not_only_look_is_not_taken() -> None:
    """Failures, other shapes, calls that run, and other entries have blocks of their own."""
    block = block_for(read("a.py"), drawing(), {})
    assert not block.take(read("b.py", is_error=True))
    assert not block.take(read("b.py", content=None))
    assert not block.take(call(content="x"))
    assert not block.take(TranscriptMessage("", "hello"))
    running = block_for(read("c.py", content=None), drawing(), {})
    assert not running.take(read("d.py"))
    assert not running.open_ended


def test_a_group_is_done_when_it_is_closed() -> None:
    """Something else came: nothing joins any more."""
    block = block_for(read("a.py"), drawing(), {})
    assert not block.done
    block.close()
    assert block.done
    assert not block.take(read("b.py"))


def test_unfolded_a_group_says_how_much_each_is() -> None:
    """One row for each name, with its lines."""
    block = block_for(read("a.py"), drawing(unfolded=True), {})
    block.take(read("b.py"))
    assert list(block.render(80))[1:] == ["  a.py 2 lines", "  b.py 2 lines"]


def test_one_read_alone_shows_its_lines_when_unfolded() -> None:
    """Folded the name is enough; unfolded the text is there. Either way it can be copied."""
    block = block_for(read("a.py"), drawing(), {})
    assert list(block.render(80)) == ["✓ Read a.py  2 lines · ctrl+o"]
    assert block.source == "x\ny"
    assert list(block_for(read("a.py"), drawing(unfolded=True), {}).render(80))[1:] == ["  x", "  y"]


def test_a_part_of_a_file_is_named_with_its_lines() -> None:
    """What was read of a larger file is said."""
    details = {"ui": {"kind": "read", "path": "a.py", "first": 10, "last": 20, "total": 300}}
    assert block_for(read("a.py", details=details), drawing(), {}).render(80)[0].startswith("✓ Read a.py:10-20")


def agents(**fields: Any) -> dict[str, TranscriptAgent]:
    return {
        "Explore-1": TranscriptAgent(
            "Explore-1", "", "Explore", "find the bug\nin the parser", **{"started": 990.0} | fields
        )
    }


def test_a_subagent_is_one_block_with_name_task_time_and_calls() -> None:
    """Whatever it does, its header says who it is, what for, how long, and how many calls it made."""
    block = block_for(TranscriptText("Explore-1", 1, "I look around."), drawing(), agents())
    assert block.take(call(agent="Explore-1", name="Bash", args={"command": "ls"}, content="x", exit_code=0))
    assert list(block.render(80)) == [
        "◌ Explore find the bug  1 call · 10 s",
        "│ I look around.",
        "│ ✓ $ ls exit 0",
    ]


def test_a_folded_subagent_shows_the_last_three_lines_and_fifty_unfolded() -> None:
    """What it did before is counted, not lost: it is there when unfolded."""
    how = drawing()
    block = block_for(TranscriptText("Explore-1", 1, "hello"), how, agents())
    for number in range(80):
        block.take(call(agent="Explore-1", id=str(number), name="Look", arg=f"thing {number}", content="x"))
    rows = block.render(80)
    assert [row.strip("│ ") for row in rows[1:]] == ["✓ Look thing 77", "✓ Look thing 78", "✓ Look thing 79"]
    assert "80 calls" in rows[0]
    how.unfolded = True
    rows = block.render(80)
    assert len(rows) == 51
    assert rows[1] == "│ ✓ Look thing 30"


def test_those_below_it_live_in_the_same_block_and_are_named() -> None:
    """An agent of an agent is shown where its root is."""
    block = block_for(TranscriptText("Explore-1", 1, "hello"), drawing(), agents())
    assert block.take(TranscriptText("Explore-1/Read-2", 1, "deeper"))
    assert not block.take(TranscriptText("Explore-10", 1, "another"))
    assert block.render(80)[-1] == "│ Read-2: deeper"


def test_failures_of_a_subagent_are_counted_in_its_header() -> None:
    """However much scrolls by, a failed call stays visible."""
    block = block_for(call(agent="Explore-1", is_error=True, content="no"), drawing(), agents())
    for number in range(10):
        block.take(TranscriptText("Explore-1", number, "words"))
    assert "1 failed" in block.render(80)[0]


def test_its_end_closes_the_block_and_the_time_stands() -> None:
    """Live and replayed, the block ends with the agent and says how long it took."""
    clock = Clock()
    fold = Transcript()
    fold.apply(AgentStarted("Explore-1", "Explore", "look", time=1000.0))
    fold.apply(Text("hello", 1, agent="Explore-1", time=1001.0))
    block = block_for(fold.now.entries[0], drawing(clock=clock), fold.now.agents)
    block.render(80)
    assert block.ticks
    assert not block.done
    use = ToolUse("c", "Look", arg="at it", agent="Explore-1", time=1002.0)
    entry = fold.apply(use)
    assert entry is not None
    assert block.take(entry)
    fold.apply(ToolResult("c", "x", agent="Explore-1", time=1003.0))
    fold.apply(AgentEnded("Explore-1", time=1034.0))
    block.changed()
    clock.now = 2000.0
    rows = list(block.render(80))
    assert block.done
    assert not block.ticks
    assert rows[0] == "✓ Explore look  1 call · 34 s"
    replayed = block_for(fold.now.entries[0], drawing(clock=clock), fold.now.agents)
    assert replayed.take(fold.now.entries[1])
    assert list(replayed.render(80)) == rows
    assert not replayed.take(TranscriptText("Explore-1", 9, "too late"))


def test_a_failed_subagent_shows_more() -> None:
    """What went wrong is not folded away."""
    block = block_for(
        Remark("Explore-1", "error", "it broke"), drawing(), agents(running=False, is_error=True, ended=1000.0)
    )
    for number in range(19):
        block.take(TranscriptText("Explore-1", number, f"word {number}"))
    rows = block.render(80)
    assert rows[0].startswith("✕ Explore")
    assert len(rows) == 21
    assert rows[1] == "│ ✕ it broke"


def test_what_an_agent_thinks_is_shown_on_request() -> None:
    """Reasoning is a line of its activity only while it is asked for."""
    how = drawing()
    block = block_for(TranscriptText("Explore-1", 1, "hmm", reasoning=True), how, agents())
    assert len(block.render(80)) == 1
    how.reasoning = True
    assert block.render(80)[-1] == "│ hmm"


def test_what_an_agent_said_can_be_copied() -> None:
    """Its words, as it wrote them."""
    block = block_for(TranscriptText("Explore-1", 1, "# Found\n\nit"), drawing(), agents())
    block.take(TranscriptText("Explore-1", 2, "bye"))
    assert block.source == "# Found\n\nit\n\nbye"


def of(path: str, fact: AgentState) -> State:
    return State(fact.KEY, fact.value, agent=path)


@pytest.mark.parametrize(
    ("state", "failed", "header"),
    [
        ("idle", False, "✓ Explore look  30 s · idle"),
        ("idle", True, "✕ Explore look  30 s · idle"),
        ("parked", True, "– Explore look  30 s · parked"),
        ("aborted", False, "– Explore look  30 s · aborted"),
    ],
)
def test_an_agent_that_takes_another_prompt_ends_with_what_it_is(state: Any, failed: bool, header: str) -> None:
    """Once it has published that: until then its block is open. The time is that of the run."""
    clock, fold = Clock(), Transcript()
    events = [
        AgentStarted("Explore", "Explore", "look", time=1000.0),
        of("Explore", AgentState("running")),
        RunStarted(agent="Explore", time=1004.0),
        Text("hello", 1, agent="Explore"),
        RunEnded(is_error=failed, agent="Explore", time=1034.0),
    ]
    for seq, event in enumerate(events, 1):
        fold.apply(stamp(event, seq, event.time))
    block = block_for(fold.now.entries[0], drawing(clock=clock), fold.now.agents)
    assert not block.done
    assert block.render(80)[0].startswith("◌ Explore")
    fold.apply(stamp(of("Explore", AgentState(state)), 6, 1034.0))
    block.changed()
    clock.now = 5000.0
    assert block.done
    assert block.render(80)[0] == header


def test_an_agent_that_the_user_stopped_has_not_failed() -> None:
    """Nor has the call that ended with it."""
    fold = Transcript()
    events = [
        AgentStarted("Explore", "Explore", "look", time=1000.0),
        of("Explore", AgentState("running")),
        RunStarted(agent="Explore", time=1004.0),
        ToolUse("c1", "Bash", "bash", "sleep 60", agent="Explore", time=1004.0),
        ToolResult("c1", "", CallEnding(ended="cancelled").as_details(), True, agent="Explore", time=1034.0),
        RunEnded(is_error=True, stop_reason="cancelled", agent="Explore", time=1034.0),
        of("Explore", AgentState("idle", stopped=True)),
    ]
    for seq, event in enumerate(events, 1):
        fold.apply(stamp(event, seq, event.time))
    block = block_for(fold.now.entries[0], drawing(), fold.now.agents)
    assert block.render(80)[0] == "– Explore look  1 call · 30 s · stopped by you"


def test_an_agent_has_one_colour_in_its_header_and_before_its_lines() -> None:
    """By its path: the one below has its own."""
    block = block_for(TranscriptText("Explore-1", 1, "hello"), drawing(COLOURS), agents())
    block.take(TranscriptText("Explore-1/Read-2", 1, "deeper"))
    header, _, below = block.render(80)
    assert COLOURS.style(agent_role("Explore-1"), "Explore") in header
    assert COLOURS.style(agent_role("Explore-1/Read-2"), "Read-2: ") in below
    fits(block)


def test_an_agent_whose_task_failed_shows_that_though_its_run_ended_well() -> None:
    """As the step list of the call that started it does."""
    fold = Transcript()
    events = [
        AgentStarted("Explore", "Explore", "look", time=1000.0),
        of("Explore", AgentState("running")),
        RunStarted(agent="Explore", time=1004.0),
        Text("hello", 1, agent="Explore"),
        RunEnded(agent="Explore", time=1034.0),
        of("Explore", AgentState("idle", failed=True)),
    ]
    for seq, event in enumerate(events, 1):
        fold.apply(stamp(event, seq, event.time))
    block = block_for(fold.now.entries[0], drawing(), fold.now.agents)
    assert block.render(80)[0] == "✕ Explore look  30 s · idle"


def printing(fold: Transcript, id: str, *lines: str, agent: str = "Explore-1") -> list[TranscriptCall]:
    """A command that runs, and has written this; its entry."""
    entry = fold.apply(ToolUse(id, "Bash", arg=f"make {id}", args={"command": f"make {id}"}, agent=agent))
    for line in lines:
        fold.apply(ToolOutput(id, f"{line}\n", agent=agent))
    return [entry] if isinstance(entry, TranscriptCall) else []


def test_the_end_of_what_a_command_of_it_writes_is_shown_while_it_runs() -> None:
    """Below the command, in as many rows as before; what it did stands there again when the command has ended."""
    fold = Transcript()
    fold.apply(AgentStarted("Explore-1", "Explore", "look"))
    fold.apply(Text("I look around.", 1, agent="Explore-1"))
    block = block_for(fold.now.entries[0], drawing(), fold.now.agents)
    (entry,) = printing(fold, "c", "one")
    assert block.take(entry)
    assert list(block.render(80))[1:] == ["│ I look around.", "│ ◌ $ make c", "│   one"]
    fold.apply(ToolOutput("c", "two\nthree\n", agent="Explore-1"))
    block.changed()
    assert list(block.render(80))[1:] == ["│ ◌ $ make c", "│   two", "│   three"]
    fits(block)
    fold.apply(ToolResult("c", "one\ntwo\nthree\n", exit_code=0, agent="Explore-1"))
    block.changed()
    assert list(block.render(80))[1:] == ["│ I look around.", "│ ✓ $ make c exit 0", ""], "as many rows: it still works"
    fold.apply(AgentEnded("Explore-1"))
    block.changed()
    assert len(block.render(80)) == 3


def test_commands_that_run_at_once_have_the_last_line_beside_them() -> None:
    """However much came after they began."""
    fold = Transcript()
    fold.apply(AgentStarted("Explore-1", "Explore", "look"))
    both = [*printing(fold, "a", "one"), *printing(fold, "b", "two", "three")]
    block = block_for(both[0], drawing(), fold.now.agents)
    assert block.take(both[1])
    for number in range(20):
        assert block.take(call(agent="Explore-1", id=str(number), name="Look", arg=f"thing {number}", content="x"))
    assert list(block.render(80))[1:] == ["│ ✓ Look thing 19", "│ ◌ $ make a → one", "│ ◌ $ make b → three"]


@pytest.mark.parametrize(
    ("room", "rows"),
    [
        (0, ["◌ Explore ◌ $ make c → one  1 call"]),
        (1, ["◌ Explore ◌ $ make c → one  1 call"]),
        (2, ["◌ Explore look  1 call", "│ ◌ $ make c → one"]),
        (3, ["◌ Explore look  1 call", "│ ◌ $ make c", "│   one"]),
        (9, ["◌ Explore look  1 call", "│ I look around.", "│ ◌ $ make c", "│   one"]),
    ],
)
def test_an_agent_that_works_shows_what_it_does_in_the_room_there_is(room: int, rows: list[str]) -> None:
    """In one row, too; and as much as ever when it has ended."""
    fold = Transcript()
    fold.apply(AgentStarted("Explore-1", "Explore", "look"))
    fold.apply(Text("I look around.", 1, agent="Explore-1"))
    block = AgentBlock("Explore-1", drawing(), fold.now.agents, room=lambda: room)
    assert block.take(fold.now.entries[0])
    assert all(block.take(entry) for entry in printing(fold, "c", "one"))
    assert list(block.render(80)) == rows
    fits(block)
    fold.apply(ToolResult("c", "one\n", exit_code=0, agent="Explore-1"))
    fold.apply(AgentEnded("Explore-1"))
    block.changed()
    assert list(block.render(80)) == ["✓ Explore look  1 call", "│ I look around.", "│ ✓ $ make c exit 0"]


def rested(fold: Transcript, seq: int, *, failed: bool = False) -> None:
    fold.apply(stamp(of("Explore", AgentState("idle", failed=failed)), seq, 0.0))


def test_an_agent_that_was_reminded_has_one_block_which_ends_as_its_task_did() -> None:
    """It did not rest: the run that was reminded is part of the same task, and its failure is that of the block."""
    fold = Transcript()
    events = [
        AgentStarted("Explore", "Explore", "look", time=1000.0),
        of("Explore", AgentState("running")),
        RunStarted(agent="Explore", time=1000.0),
        Text("hello", 1, agent="Explore"),
        RunEnded(agent="Explore", time=1010.0),
        RunStarted(agent="Explore", time=1010.0),
        User("You stopped.", source="task", agent="Explore"),
        ToolUse("c", "Yield", agent="Explore"),
        ToolResult("c", "cannot", agent="Explore"),
        RunEnded(agent="Explore", time=1020.0),
    ]
    for seq, event in enumerate(events, 1):
        fold.apply(stamp(event, seq, event.time))
    block = block_for(fold.now.entries[0], drawing(), fold.now.agents)
    assert all(block.take(entry) for entry in fold.now.entries[1:])
    assert not block.done
    rested(fold, 20, failed=True)
    block.changed()
    assert block.done
    assert block.render(80)[0] == "✕ Explore look  1 call · 20 s · idle"
