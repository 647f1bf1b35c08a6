"""The transcript on the screen: what was seen as it happened and what is shown afterwards are the same rows."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.events import (
    AgentEnded,
    AgentStarted,
    AgentState,
    Event,
    Notice,
    Reasoning,
    RunEnded,
    RunStarted,
    State,
    Text,
    ToolOutput,
    ToolResult,
    ToolUpdate,
    ToolUse,
    TurnEnded,
    User,
)
from sightline.events.stamping import stamp
from sightline.transcript import Remark, Snapshot, fold
from sightline.tty import PLAIN, ImageStore
from sightline.views.console._actions import bindings_from
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.blocks._agent import AgentBlock
from sightline.views.console.transcript._transcript_view import TranscriptView

READ = {"ui": {"kind": "read", "path": "x.py"}}
STEPS = {"ui": {"kind": "agent_delegation", "mode": "single", "items": []}}


def view() -> TranscriptView:
    drawing = DrawingOptions(PLAIN, ImageStore(None), bindings_from({}), cwd="/project", clock=lambda: 1000.0)
    made = TranscriptView(drawing, lambda: None, size=lambda: (80, 24), fill=lambda older: earlier.extend(older))
    earlier: list[Any] = []
    made.earlier = earlier  # type: ignore[attr-defined]
    return made


def stamped(events: list[Event]) -> list[Event]:
    return [stamp(event, number, 1000.0) for number, event in enumerate(events, 1)]


def rows_of(shown: TranscriptView, width: int = 80) -> list[str]:
    earlier = shown.earlier  # type: ignore[attr-defined]
    while earlier:
        shown.component.fill([earlier.pop(0)], is_live=shown.is_live)
        shown.component.render(width)
    if shown.component.held is not None:
        shown.component.release_hold()
    return list(shown.component.render(width))


def live(events: list[Event]) -> list[str]:
    """Drawn after each event, as a person sees it happen."""
    shown = view()
    for event in events:
        shown.apply([event])
        shown.component.render(80)
    return rows_of(shown)


def replayed(events: list[Event]) -> list[str]:
    shown = view()
    shown.replace(fold(events))
    return rows_of(shown)


def call(id: str, *, agent: str = "") -> ToolUse:
    return ToolUse(id, "Read", "read", f"{id}.py", {"path": f"{id}.py"}, agent=agent)


def ended(id: str, details: Any = None, *, agent: str = "") -> ToolResult:
    return ToolResult(id, f"content of {id}", details, agent=agent)


def read(id: str) -> ToolResult:
    return ended(id, {"ui": {"kind": "read", "path": f"{id}.py"}})


def run(*events: Event) -> list[Event]:
    return stamped([RunStarted("s"), User("go", source="person"), *events, RunEnded()])


def test_reads_that_run_together_are_one_block_whichever_ends_first() -> None:
    """tui-runtime-internals.md/Streaming and incremental UI updates: consecutive reads are one visual block."""
    events = run(call("a"), call("b"), call("c"), read("b"), read("a"), read("c"), Text("done", 1))
    assert live(events) == replayed(events)
    assert sum("Read 3" in row for row in live(events)) == 1
    assert all(any(f"{name}.py" in row for row in live(events)) for name in "abc")


def test_something_else_breaks_a_group_of_reads() -> None:
    """tui-runtime-internals.md/Streaming and incremental UI updates: a group ends at the first call that is no read."""
    events = run(call("a"), read("a"), Text("words", 1), call("b"), read("b"))
    rows = live(events)
    assert rows == replayed(events)
    assert not any("Read 2" in row for row in rows)


def test_a_job_is_no_block_until_it_ends() -> None:
    """It holds nothing back while it runs, and its end stands where it ended."""
    begins = run(ToolUse("s-2", "Bash", arg="job s-2", args={"command": "make"}), Text("meanwhile", 1))
    rows = live(begins)
    assert any("meanwhile" in row for row in rows)
    assert not any("make" in row for row in rows)
    all_of_it = stamped([*begins, ToolResult("s-2", "", {"ui": {"kind": "command"}}, exit_code=0)])
    rows = live(all_of_it)
    assert next(n for n, row in enumerate(rows) if "meanwhile" in row) < len(rows) - 1
    assert rows == replayed(all_of_it)
    assert any("job s-2" in row or "make" in row for row in rows[-3:])


def test_entries_of_a_subagent_live_in_its_own_block() -> None:
    """However they are mixed with those of others."""
    one, two = "Explore-1", "Explore-2"
    events = run(
        AgentStarted(one, "Explore", "look here"),
        AgentStarted(two, "Explore", "look there"),
        Text("first of one", 1, agent=one),
        Text("first of two", 2, agent=two),
        call("a", agent=one),
        ended("a", READ, agent=one),
        AgentEnded(one),
        AgentEnded(two),
        Text("the end", 3),
    )
    assert live(events) == replayed(events)
    assert sum("Explore-1" in row or "look here" in row for row in live(events)) >= 1


def of(path: str, state: str) -> State:
    fact = AgentState(state, is_review=path == "Review")  # type: ignore[arg-type]
    return State(fact.KEY, fact.value, agent=path)


def prompted(path: str, number: int, *inside: Event, then: str = "idle") -> list[Event]:
    """A run of an agent of ours."""
    begins: list[Event] = [of(path, "running"), RunStarted(agent=path), User(f"do {number}", agent=path)]
    words = Text(f"did {number}", number, agent=path)
    return [*begins, words, *inside, RunEnded(agent=path), of(path, then)]


def test_each_run_of_an_agent_is_a_block() -> None:
    """With what the agent was after it; what it became later changes nothing that was shown."""
    events = run(
        AgentStarted("Explore", "Explore", "look"),
        *prompted("Explore", 1),
        Text("the root goes on", 5),
        *prompted("Explore", 2),
        of("Explore", "parked"),
        AgentStarted("Explore", "Explore", "look"),
        *prompted("Explore", 3, then="aborted"),
    )
    rows = live(events)
    assert rows == replayed(events)
    assert [row for row in rows if "Explore" in row] == [
        "✓ Explore look  idle",
        "✓ Explore look  idle",
        "– Explore look  aborted",
    ]
    assert [row.strip("│ ") for row in rows if "did" in row] == ["did 1", "did 2", "did 3"]


def timed(events: list[Event], *at: float) -> list[Event]:
    """At the time of the last of these that has begun: one for each run of an agent, and one for its end."""
    now, left = 1000.0, list(at)
    for number, event in enumerate(events, 1):
        if event.agent and isinstance(event, RunStarted | RunEnded):
            now = left.pop(0)
        stamp(event, number, now)
    return events


def test_an_agent_that_is_prompted_again_counts_from_what_it_had() -> None:
    """Its calls, those that failed, and the time it worked; not the time it rested. Nothing changes above."""
    bad = ToolResult("a", "no", is_error=True, agent="Explore")
    first = prompted("Explore", 1, call("a", agent="Explore"), bad)
    again = prompted("Explore", 2, call("b", agent="Explore"), ended("b", READ, agent="Explore"), then="parked")
    revived = prompted("Explore", 3)
    begin = [RunStarted("s"), User("go", source="person"), AgentStarted("Explore", "Explore", "look")]
    events = timed([*begin, *first, *again, *revived], 1000, 1010, 1500, 1505, 1990, 1992)
    rows = live(events)
    assert rows == replayed(events)
    assert [row for row in rows if "Explore" in row] == [
        "✓ Explore look  1 call · 1 failed · 10 s · idle",
        "– Explore look  2 calls · 1 failed · 15 s · parked",
        "✓ Explore look  2 calls · 1 failed · 17 s · idle",
    ]


def test_a_session_that_stopped_leaves_an_agent_the_time_it_had_worked() -> None:
    """Until that was seen."""
    shown = view()
    begin = [RunStarted("s"), AgentStarted("Explore", "Explore", "look"), *prompted("Explore", 1)[:4]]
    shown.apply(timed(begin, 970))
    shown.stop()
    assert [row for row in rows_of(shown) if "Explore" in row] == ["– Explore look  30 s · parked"]


def test_agents_that_work_at_once_are_all_on_the_screen() -> None:
    """With what each does and the end of what its command writes, above the editor; and they rest in full blocks."""
    names = [f"Agent-{number}" for number in range(7)]
    shown = view()
    shown.apply(stamped([RunStarted("s"), User("go", source="person"), *[AgentStarted(each) for each in names]]))
    for number, name in enumerate(names):
        use = ToolUse(f"c{number}", "Bash", arg=f"make {number}", args={"command": f"make {number}"}, agent=name)
        shown.apply([use, ToolOutput(f"c{number}", f"built {number}\n", agent=name)])
    on_screen = list(shown.component.render(80))[-(24 - 10) :]
    for number, name in enumerate(names):
        assert any(name in row and f"make {number} → built {number}" in row for row in on_screen)
    shown.apply([ToolResult(f"c{number}", f"built {number}\n", agent=name) for number, name in enumerate(names)])
    shown.apply([AgentEnded(name) for name in names])
    rows = rows_of(shown)
    assert [row for row in rows if "make 3" in row] == ["│ ✓ $ make 3"]


def test_what_is_below_an_agent_that_works_stays_where_it_is() -> None:
    """Its block becomes no lower while its calls come and go."""
    shown = view()
    shown.apply(stamped([RunStarted("s"), User("go", source="person"), AgentStarted("Explore", "Explore", "look")]))
    shown.apply([Text("It begins.", 1, agent="Explore"), Text("the root goes on", 2)])
    heights = []
    for number in range(4):
        id = f"c{number}"
        use = ToolUse(id, "Bash", arg="make", args={"command": "make"}, agent="Explore")
        for event in (use, ToolOutput(id, "a\nb\nc\n", agent="Explore"), ToolResult(id, "a\nb\nc\n", agent="Explore")):
            shown.apply([event])
            rows = list(shown.component.render(80))
            heights.append(next(number for number, row in enumerate(rows) if "the root goes on" in row))
    assert heights == sorted(heights)


REVIEW = {"ui": {"kind": "review", "target": "the changes", "findings": []}}


def reviewed(*after: Event) -> list[Event]:
    use = ToolUse("r-1", "Review", "review", "the changes", {"target": "the changes"}, source="person", job=True)
    inside = [call("a", agent="Review"), ended("a", READ, agent="Review")]
    return [
        *[use, AgentStarted("Review", "Review", "the changes", call="r-1")],
        *prompted("Review", 1, *inside),
        *after,
    ]


def test_a_review_is_one_block_while_it_runs_and_when_it_is_done() -> None:
    """The one of its reviewer, and then its own; what is between is not lost, and what the reviewer does when it is
    asked again has a block as that of any other agent."""
    shown = view()
    shown.apply(stamped(reviewed()))
    assert [row for row in rows_of(shown) if "Review" in row] == ["◌ Review the changes  1 call"]
    events = stamped(reviewed(Notice("a note"), ToolResult("r-1", "fine", REVIEW), *prompted("Review", 2)))
    rows = live(events)
    assert rows == replayed(events)
    assert [row.split("  ")[0] for row in rows if "Review" in row] == ["✓ Review the changes"] * 2
    assert [row for row in rows if "did" in row] == ["│ did 2"]
    assert any("a note" in row for row in rows)


def test_a_review_the_user_wrote_below_is_there_once_more() -> None:
    """The block that was left behind is history; its end is below it, in one block."""
    shown = view()
    *begin, rest = reviewed(), [ToolResult("r-1", "fine", REVIEW)]
    shown.apply(stamped([*begin[0][:5], RunStarted(), User("meanwhile"), Text("an answer", 7)]))
    shown.apply([stamp(event, 100 + n, 1000.0) for n, event in enumerate([*begin[0][5:], *rest])])
    rows = [row.split("  ")[0] for row in rows_of(shown) if "Review" in row or "answer" in row]
    assert rows == ["↗ Review the changes", "an answer", "✓ Review the changes"]


def test_an_agent_that_outlives_the_run_stays_live() -> None:
    """Laid out anew while the root is idle, its block is not closed."""
    begun = run(AgentStarted("Explore", "Explore", "look"), *prompted("Explore", 1)[:4])
    shown = view()
    shown.replace(fold(begun))
    shown.apply([stamp(event, 100 + n, 1000.0) for n, event in enumerate([*prompted("Explore", 2)[4:]])])
    assert [row for row in rows_of(shown) if "Explore" in row] == ["✓ Explore look  idle"]


def test_a_prompt_ends_the_blocks_of_agents_that_still_work() -> None:
    """What they do from then on is below it, and what was before it can become history."""
    begin, rest = prompted("Explore", 1)[:4], prompted("Explore", 2)[3:]
    events = stamped(
        [
            *run(AgentStarted("Explore", "Explore", "look"), *begin),
            *[RunStarted(), User("meanwhile"), Text("an answer", 7), *rest, RunEnded()],
        ]
    )
    rows = live(events)
    assert rows == replayed(events)
    assert [row for row in rows if row and not row.startswith("› go")] == [
        "↗ Explore look  still running",
        "│ › do 1",
        "│ did 1",
        "› meanwhile",
        "an answer",
        "✓ Explore look  idle",
        "│ did 2",
    ]
    shown = view()
    prompt = next(
        number for number, event in enumerate(events) if isinstance(event, User) and event.text == "meanwhile"
    )
    shown.apply(events[: prompt + 1])
    assert not any(shown.is_live(block) for block in shown.blocks)


def test_a_call_that_ends_after_the_prompt_ends_below_it() -> None:
    """Where its agent goes on: what is above is history by then."""
    begin = [*prompted("Explore", 1)[:4], call("a", agent="Explore")]
    shown = view()
    shown.apply(stamped([*run(AgentStarted("Explore", "Explore", "look"), *begin), RunStarted(), User("meanwhile")]))
    before = list(shown.component.render(80))
    shown.apply([stamp(ended("a", READ, agent="Explore"), 100, 1000.0)])
    rows = list(shown.component.render(80))
    assert rows[: len(before)] == before
    assert any("◌ Read a.py" in row for row in before)
    assert any("✓ Read" in row for row in rows[len(before) :])


def test_an_agent_below_another_that_is_prompted_again_is_a_new_block() -> None:
    """Though the one above it stays idle."""
    events = run(
        AgentStarted("Explore", "Explore", "look"),
        *prompted("Explore", 1, AgentStarted("Explore/Read", "Read", agent="Explore"), *prompted("Explore/Read", 2)),
        *prompted("Explore/Read", 3),
    )
    rows = live(events)
    assert rows == replayed(events)
    assert [row for row in rows if "Explore" in row] == ["✓ Explore look  idle"] * 2


def test_a_block_is_open_as_long_as_an_agent_below_it_works() -> None:
    """Its own run is over before that."""
    child = prompted("Explore/Read", 2)
    events = run(
        AgentStarted("Explore", "Explore", "look"),
        *prompted("Explore", 1, AgentStarted("Explore/Read", "Read", "read", agent="Explore"), *child[:3]),
        *child[3:],
    )
    shown = view()
    shown.apply(events[:-3])
    assert any(shown.is_live(block) for block in shown.blocks)
    assert live(events) == replayed(events)
    assert [row for row in live(events) if "Explore" in row] == ["✓ Explore look  idle"]


def test_another_branch_is_shown_alone() -> None:
    """tree.md/What `/tree` does: the visible chat is rebuilt from the new leaf."""
    events = run(Text("on the first branch", 1))
    last = len(events)
    moved = stamped([*events, State("branch", {"ranges": [(1, 2)]}), User("again", source="person"), Text("second", 9)])
    shown = view()
    shown.apply(moved)
    rows = rows_of(shown)
    assert not any("on the first branch" in row for row in rows)
    assert any("second" in row for row in rows)
    assert last


def test_a_long_past_is_shown_from_its_end() -> None:
    """The last blocks are there at once, the others follow, in order, each once."""
    events = run(*[Notice(f"notice {number}") for number in range(100)])
    shown = view()
    shown.replace(fold(events))
    first = list(shown.component.render(80))
    assert any(f"notice {100 - 1}" in row for row in first)
    assert not any("notice 0" in row for row in first)
    rows = [row for row in rows_of(shown) if "notice" in row]
    assert rows == [row for row in live(events) if "notice" in row]


def aside(path: str, *parts: Event) -> list[Event]:
    """A question beside the conversation, and what answers it."""
    question = User(f"why {path}?", agent=path, source="person")
    return [AgentStarted(path, path, f"why {path}?", aside=True), RunStarted("s", agent=path), question, *parts]


def answered(path: str) -> list[Event]:
    return [RunEnded(agent=path), AgentEnded(path)]


def test_reads_end_while_the_past_is_filled_in() -> None:
    """Random keys in a small window: a group that took in a block which was not filled in yet ended the console."""
    names = [f"c{number}" for number in range(40)]
    began = [RunStarted("s"), User("go", source="person"), *map(call, names)]
    events = stamped([*began, *map(read, names), Text("done", 1), RunEnded()])
    shown = view()
    shown.replace(fold(events[: len(began)]))
    assert shown.earlier  # type: ignore[attr-defined]
    shown.apply(events[len(began) :])
    assert [row for row in rows_of(shown) if "c0.py" in row or "Read 40" in row] == [
        row for row in live(events) if "c0.py" in row or "Read 40" in row
    ]
    assert rows_of(shown) == live(events)


EVENTS = st.sampled_from(
    [
        lambda n: [
            *aside(f"btw-{n}", Text("side ", n, agent=f"btw-{n}"), Text("words", n, agent=f"btw-{n}")),
            *answered(f"btw-{n}"),
        ],
        lambda n: [
            *aside(f"btw-{n}", Reasoning("hm", n, agent=f"btw-{n}"), Text(f"meanwhile {n}", n + 1)),
            *[Text("side", n + 2, agent=f"btw-{n}"), call(f"c{n}"), Notice("stopped", agent=f"btw-{n}")],
            *[*answered(f"btw-{n}"), ended(f"c{n}")],
        ],
        lambda n: [Text(f"words {n} ", n // 3)],
        lambda n: [Reasoning(f"thought {n}", n // 3)],
        lambda n: [call(f"c{n}"), read(f"c{n}")],
        lambda n: [call(f"c{n}"), call(f"d{n}"), read(f"d{n}"), read(f"c{n}")],
        lambda n: [call(f"c{n}"), ToolOutput(f"c{n}", f"line {n}\n", size=8), ended(f"c{n}")],
        lambda n: [call(f"c{n}"), ToolUpdate(f"c{n}", STEPS), ended(f"c{n}", STEPS)],
        lambda n: [call(f"c{n}"), ToolResult(f"c{n}", "it failed", is_error=True, exit_code=2)],
        lambda n: [Notice(f"notice {n}")],
        lambda n: [User(f"steered {n}", how="steer", source="person")],
        lambda n: [TurnEnded()],
        lambda n: [AgentStarted(f"A-{n}", "A", "task"), Text("inside", n, agent=f"A-{n}"), AgentEnded(f"A-{n}")],
        lambda n: [AgentStarted("Mine", "Mine", "task"), *prompted("Mine", n)],
        lambda n: [AgentStarted("Mine", "Mine", "task"), *prompted("Mine", n, then="aborted"), of("Mine", "parked")],
        lambda n: [
            *[AgentStarted("Back", "Back", "task"), *prompted("Back", n)[:4], RunEnded(), RunStarted()],
            *[User(f"next {n}"), *prompted("Back", n + 1)[3:]],
        ],
        lambda n: [ToolUse(f"s-{n}", "Bash", arg=f"job s-{n}"), ended(f"s-{n}", {"ui": {"kind": "command"}})],
    ]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(EVENTS, max_size=12))
def test_what_was_seen_live_is_what_is_shown_again(parts: list[Any]) -> None:
    """Replay equals live, whatever happened."""
    events = run(*[event for number, part in enumerate(parts, 1) for event in part(number * 10)])
    assert live(events) == replayed(events)


def test_a_snapshot_in_the_middle_goes_on_as_if_nothing_had_happened() -> None:
    """A watcher that fell behind is given the state, and what follows joins it."""
    events = run(Text("one ", 1), call("a"), ToolOutput("a", "some\n", size=5), ended("a"), Text("two", 2))
    for cut in range(len(events)):
        shown = view()
        shown.replace(fold(events[:cut], Snapshot()))
        shown.apply(events[cut:])
        assert rows_of(shown) == replayed(events)


def test_what_is_said_before_the_session_is_shown_stays() -> None:
    """Found when a host of another version was told of, and the session came after it: once, below the session."""
    events = run(Text("kept words", 1))
    shown = view()
    shown.add_remark(Remark("", "warning", "another version"))
    shown.replace(fold(events))
    rows = rows_of(shown)
    assert [row for row in rows if "another version" in row or "kept words" in row][1:] == ["! another version"]
    shown.replace(fold(events))
    assert not any("another version" in row for row in rows_of(shown))


@settings(max_examples=60, deadline=None)
@given(st.lists(EVENTS, min_size=1, max_size=10), st.data())
def test_who_fell_behind_is_brought_up_to_date_without_a_row_being_written_again(parts: list[Any], data: Any) -> None:
    """A snapshot in place of events: blocks that were there stay the same, and the rows are those of the replay."""
    events = run(*[event for number, part in enumerate(parts, 1) for event in part(number * 10)])
    first = data.draw(st.integers(1, len(events)))
    then = data.draw(st.integers(first, len(events)))
    shown = view()
    shown.apply(events[:first])
    shown.component.render(80)
    finished = [block for block in shown.blocks if not shown.is_live(block)]
    assert shown.catch_up(fold(events[:then], Snapshot()))
    assert [block for block in shown.blocks if block in finished] == finished
    shown.apply(events[then:])
    assert rows_of(shown) == replayed(events)


def test_another_conversation_is_no_catching_up() -> None:
    """Nor an earlier state, nor another branch."""
    events = run(Text("one", 1))
    shown = view()
    shown.apply(events)
    assert not shown.catch_up(fold(events[:1], Snapshot()))
    assert not shown.catch_up(fold(run(Notice("of another session"), Notice("and on"), Notice("and on")), Snapshot()))


def test_a_side_question_and_its_answer_are_apart_from_the_words_of_the_agent() -> None:
    """Live, with what the agent does meanwhile between them; the question is above each part of the answer."""
    begun = [Text("I work ", 1), *aside("btw-1", Reasoning("hm", 2, agent="btw-1"))]
    shown = view()
    shown.apply(run(*begun)[:-1])
    rows = rows_of(shown)
    assert "◌ btw-1 why btw-1?" in rows
    assert [block.ticks for block in shown.blocks if block in shown.ticking] == [True]
    answer = [Text("Because **it**", 3, agent="btw-1"), Text(" is.", 3, agent="btw-1")]
    between = [Text("on.", 1), Text("More.", 4)]
    events = run(*begun, *answer, *between, Text("So.", 5, agent="btw-1"), *answered("btw-1"))
    assert live(events) == replayed(events)
    assert [row for row in live(events) if row][1:] == [
        *["I work on.", "? btw-1 why btw-1?", "│ Because it is.", "More.", "? btw-1 why btw-1?", "│ So."]
    ]
    assert not [block for block in shown.blocks if isinstance(block, AgentBlock)]


def test_a_side_question_outlives_the_run_and_ends_with_its_answer() -> None:
    """What follows of the agent does not close it; after its end nothing of it is live."""
    shown = view()
    events = run(Text("done", 1))
    more = stamped([*events, *aside("btw-1", Text("still ", 5, agent="btw-1"))])
    shown.apply(more)
    assert [shown.is_live(block) for block in shown.blocks][-1]
    shown.restart()
    assert [shown.is_live(block) for block in shown.blocks][-1]
    shown.apply(stamped([*more, Text("open", 5, agent="btw-1"), *answered("btw-1")])[len(more) :])
    assert not any(shown.is_live(block) for block in shown.blocks)
    assert rows_of(shown)[-1] == "│ still open"
