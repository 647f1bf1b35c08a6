"""The plain renderer: markers, block boundaries, labels, steps, and what never changes its output."""

import pytest

from sightline.events import (
    KINDS,
    AgentStarted,
    AgentState,
    ApprovalState,
    Delegation,
    DelegationItem,
    Error,
    MailChanged,
    MailReader,
    MailSent,
    Notice,
    Reasoning,
    RetryState,
    ReviewFact,
    RunEnded,
    State,
    Text,
    ToolArgs,
    ToolConnection,
    ToolOutput,
    ToolResult,
    ToolUpdate,
    ToolUse,
    Unknown,
    User,
)
from sightline.views.plain import EVERYTHING, VERBOSE, WORDS, Detail, PlainRenderer
from sightline.views.plain._palette import COLOUR


def shown(events, detail=WORDS, **options) -> str:
    renderer = PlainRenderer(detail, **options)
    return renderer.render(events) + renderer.end()


CONVERSATION = [
    Text("I'll look.", 1),
    ToolUse("1", "Read", "read_file", "README.md"),
    ToolResult("1", "content"),
    Text("It says", 2),
    Text(" hello.\n", 2),
    ToolUse("2", "frobnicate", "frobnicate", ""),
    Text("Done.", 3),
]


def test_default_mode_is_words_only():
    """FR-005, US2 scenario 1: words as they came, a new line between blocks, no markers."""
    assert shown(CONVERSATION) == "I'll look.\nIt says hello.\nDone.\n"


def test_verbose_mode_interleaves_markers_in_source_order():
    """FR-005, US1: words and markers in the order of the events."""
    assert shown(CONVERSATION, VERBOSE) == ("I'll look.\n● Read README.md\nIt says hello.\n● frobnicate\nDone.\n")


def test_the_report_of_a_review_is_words():
    """Once, at the end; also where it failed. That of a call of an agent's is none: the user did not request it."""
    details = ReviewFact(target="main..HEAD").as_details()
    review = [
        ToolUse("1", "Review", arg="main..HEAD", job=True, source="person"),
        Text("I look.", 5, agent="Review"),
        ToolUse("2", "report_finding", arg="it rounds", agent="Review"),
        ToolResult("2", "finding 1 noted", agent="Review"),
        ToolResult("1", "Review of main..HEAD: approved\n\nFine.", details, source="person"),
    ]
    report = "Review of main..HEAD: approved\n\nFine.\n"
    assert shown(review) == report
    assert shown(review, VERBOSE) == (
        f"● Review main..HEAD\n◆ Review\nI look.\n● report_finding it rounds\n◆ Main\n{report}"
    )
    assert shown([Text("Words", 1), review[-1]], EVERYTHING) == f"Words\n{report}"
    failed = ToolResult("1", "Review of x: failed: no key", details, True)
    assert shown([review[0], failed], EVERYTHING) == "● Review main..HEAD\nReview of x: failed: no key\n"
    assert shown([ToolResult("1", "not this", details, agent="Explore")]) == ""


@pytest.mark.parametrize("name", ["Read", "Write", "Edit", "Bash", "Grep", "Glob", "Task"])
def test_common_tools_have_a_recognisable_marker(name):
    """SC-004, US3 scenario 1: the tool's name and its argument."""
    assert shown([ToolUse("1", name, arg="what it is about")], VERBOSE) == f"● {name} what it is about\n"


def test_an_unknown_tool_degrades_gracefully():
    """US3 scenario 2, edge case: raw name, empty argument, nothing malformed."""
    assert shown([ToolUse("1", "mcp__desk__add")], VERBOSE) == "● mcp__desk__add\n"


def test_other_events_never_change_the_text():
    """SC-005: reasoning, results, usage, plans, errors and whole new kinds leave both modes as they are."""
    others = [
        Reasoning("hm", 9),
        ToolArgs("1", "Read", "{"),
        ToolResult("1", "output", None, True, 3),
        State("todo", [{"text": "x", "status": "pending"}]),
        Notice("retrying", "warning"),
        Error("failed"),
        RunEnded(),
        AgentStarted("a-1"),
        Unknown("?", 1),
    ]
    for detail in (WORDS, VERBOSE):
        mixed = [event for pair in zip(CONVERSATION, others, strict=False) for event in pair]
        assert shown(mixed, detail) == shown(CONVERSATION, detail)


def test_every_kind_is_survived():
    """An event a view does not know is ignored, not an error."""
    needed = {"text": "x", "id": "1", "name": "n", "content": "c", "path": "p", "key": "k", "raw": "r", "length": 1}
    needed |= {"connection": 1, "host": "h", "port": 443, "verdict": "allowed"}
    needed |= {"readers": [MailReader("a", "woken")], "ids": ["1"], "now": "read"}
    for kind in KINDS.values():
        fields = {f: needed[f] for f in kind.__struct_fields__ if f in needed}
        extra = {"what": "approval"} if "what" in kind.__struct_fields__ else {}
        shown([kind(**fields, **extra)], Detail(calls=True, agents=True, steps=True, output=True))


def test_a_message_between_agents_is_one_line_where_it_is_read():
    """However it is read, and once for each reader; where it was sent it is a call. Without -v there is none."""
    unread = [MailReader("A", "delivered", unread=True), MailReader("", "delivered")]
    events = [
        ToolUse("1", "irc", arg="send all Done.", agent="B"),
        MailSent(
            "m2", "Done.\nAll of it.", unread, True, "m1", agent="B", source="irc"
        ),  # a call of Main waited for it
        User("[message m2 from B]\nDone.", mail="m2", agent="A", source="irc"),
        MailChanged(["m2"], "read", agent="A"),
        MailSent("m3", "And you?", [MailReader("A", "delivered", unread=True)], source="person"),
        MailChanged(["m3"], "read", agent="A"),
        MailChanged(["m3"], "unread", agent="A"),
        User("And you?", mail="m3", agent="A", source="person"),
        User("[message m9 from B]\nUnknown.", mail="m9", source="irc"),
    ]
    lines = [
        "◆ B", "● irc send all Done.",
        "◆ Main", "← m2 from B, in reply to m1: Done. All of it.",
        "◆ A", "← m2 from B, in reply to m1: Done. All of it.",
        "← m3 from you: And you?",
        "◆ Main", "← m9: [message m9 from B] Unknown.",
    ]  # fmt: skip
    assert shown(events, VERBOSE).splitlines() == lines
    assert "m2 from B, in reply to m1: Done.\n  All of it.\n" in shown(events, EVERYTHING)
    assert shown(events, WORDS) == ""
    long = [MailSent("m1", "x" * 65536, [MailReader("A", "delivered")], agent="B")]
    assert len(shown(long, VERBOSE)) < 500


def test_states_of_a_subagent_write_nothing():
    """Its approval level, retries and what it is doing: several agents at once would drown out the words."""
    facts = [AgentState("running", "m"), ApprovalState("plan"), RetryState("busy", 1, 3, 2.0), AgentState("idle")]
    renderer = PlainRenderer(VERBOSE)
    states = [State(fact.KEY, fact.value, agent="Explore", source="agent") for fact in facts]
    assert renderer.render(states) + renderer.messages() == ""
    renderer.render([State("approval", {"level": "plan"}, source="agent")])
    assert "approval plan" in renderer.messages()


def test_words_of_a_subagent_are_apart_from_the_parents():
    """Hidden by default, under a label of their own in verbose mode."""
    events = [
        Text("Main says.", 1),
        Text("Child says.", 2, agent="Explore-1"),
        ToolUse("1", "Bash", arg="ls", agent="Explore-1"),
        Text("Main again.", 3),
    ]
    assert shown(events) == "Main says.\nMain again.\n"
    assert shown(events, VERBOSE) == ("Main says.\n◆ Explore-1\nChild says.\n● Bash ls\n◆ Main\nMain again.\n")


def test_pieces_of_one_block_are_joined_across_batches():
    """A batch boundary is not a block boundary."""
    renderer = PlainRenderer()
    assert renderer.render([Text("one ", 1)]) == "one "
    assert renderer.render([Text("block", 1)]) == "block"
    assert renderer.end() == "\n"


def test_text_that_ends_its_line_gets_no_second_newline():
    """Nothing is added to what was said but the separation it lacks."""
    assert shown([Text("a\n", 1), Text("b\n", 2)]) == "a\nb\n"
    assert shown([Text("", 1)]) == ""


def test_colour_changes_no_character():
    """With the codes taken out, coloured output is the plain output."""
    coloured = shown(CONVERSATION, VERBOSE, palette=COLOUR)
    for code in (COLOUR.reset, COLOUR.bold, COLOUR.dim):
        coloured = coloured.replace(code, "")
    assert coloured == shown(CONVERSATION, VERBOSE)


def test_notices_and_errors_go_to_the_other_channel():
    """A person is told, with a hint, without touching the words."""
    renderer = PlainRenderer()
    assert renderer.render([Notice("slow down", "warning"), Error("refused", "log in first")]) == ""
    assert renderer.messages() == "warning: slow down\nerror: refused\nhint: log in first\n"
    assert renderer.messages() == ""


def delegation(*statuses, mode="parallel"):
    items = [DelegationItem(f"s{i}", "claude", f"task {i}\nmore", status) for i, status in enumerate(statuses, 1)]
    return Delegation(mode, items).as_details()


def test_steps_are_written_when_they_change():
    """A plan, then each step as its status changes, then the sum; nothing twice."""
    plan = {"tasks": [{"agent": "claude", "task": "task 1"}, {"agent": "claude", "task": "task 2"}]}
    events = [
        ToolUse("f", "Flow", arg="demo", args=plan),
        ToolUpdate("f", delegation("pending", "pending")),
        ToolUpdate("f", delegation("running", "pending")),
        ToolUpdate("f", delegation("running", "pending")),
        ToolUpdate("f", delegation("ok", "running")),
        ToolResult("f", details=delegation("ok", "error"), is_error=True),
    ]
    assert shown(events, Detail(steps=True)) == (
        "● Flow demo\n"
        "  · 1: claude task 1\n"
        "  · 2: claude task 2\n"
        "  ◌ s1: claude task 1\n"
        "  ✓ s1: claude task 1\n"
        "  ◌ s2: claude task 2\n"
        "  ✕ s2: claude task 2\n"
        "1 ok · 1 err / 2\n"
    )


def test_a_step_that_will_not_run_is_shown_with_its_reason():
    """Waiting is not shown again, but waiting for nothing is."""
    items = [DelegationItem("b", "run", "deploy", "pending", "not run: a failed")]
    events = [
        ToolUpdate("f", Delegation("chain", [DelegationItem("b", "run", "deploy", "pending")]).as_details()),
        ToolUpdate("f", Delegation("chain", items).as_details()),
    ]
    assert shown(events, Detail(steps=True)) == "  – b: run deploy\n    not run: a failed\n"


def test_steps_that_never_ran_are_counted_apart():
    """Neither ok nor an error; one that only says what it waits for is not among them."""
    items = [
        DelegationItem("a", "run", "t", "ok", "skipped: is what it printed"),
        DelegationItem("b", "run", "t", "pending", "skipped: when is false"),
        DelegationItem("c", "run", "t", "pending", "skipped: b was skipped"),
        DelegationItem("d", "run", "t", "error", "exit code 1"),
        DelegationItem("e", "run", "t", "pending", "not run: d failed"),
        DelegationItem("f", "run", "t", "pending", "waits for the others"),
    ]
    text = shown([ToolResult("f", details=Delegation("parallel", items).as_details())], Detail(steps=True))
    assert [row[2] for row in text.splitlines()[:-1:2]] == ["✓", "–", "–", "✕", "–", "○"]
    assert text.splitlines()[-1] == "1 ok · 1 err · 2 skipped · 1 not run / 6"


def test_a_level_of_approval_that_was_asked_for_is_told():
    """And the provider's own behaviour is not worth a word."""
    renderer = PlainRenderer()
    renderer.render([State("approval", {"level": "auto", "flags": []})])
    assert renderer.messages() == ""
    renderer.render([State("approval", {"level": "full", "flags": ["--yes"]})])
    assert renderer.messages() == "note: approval full: --yes\n"


def test_malformed_steps_are_passed_over():
    """What does not fit the contract is shown as nothing, not as an error."""
    assert shown([ToolUpdate("f", {"ui": {"kind": "agent_delegation", "mode": "x"}})], Detail(steps=True)) == ""


def test_more_steps_than_fit_are_counted():
    """At most fifty rows, and the rest is said."""
    text = shown([ToolUse("f", "Flow", args={"tasks": [{"agent": "a", "task": "t"}] * 60})], Detail(steps=True))
    assert text.count("\n") == 52
    assert "… 10 more …" in text


def test_command_output_is_shown_on_request_and_cannot_drive_the_terminal():
    """Asked for, it appears under its agent; sequences that survive into output events die here."""
    events = [ToolOutput("1", "a\x1b[31mb\x1b]0;t\x07\n", agent="build", dropped=5)]
    assert shown(events, VERBOSE) == ""
    assert shown(events, Detail(agents=True, output=True)) == "◆ build\n  … 5 B not shown …\n  ab\n"


def test_connections_of_a_command_are_told_once_each():
    """With markers, when they are over, below their call; nowhere else."""
    events = [
        ToolUse("1", "Bash", arg="make"),
        ToolConnection("1", 1, "a.org", 443, "allowed"),
        ToolConnection("1", 1, "a.org", 443, "allowed", duration=1.0),
        ToolConnection("1", 2, "a.org", 443, "allowed", duration=1.0),
        ToolConnection("1", 3, "::1", 80, "refused", reason="a private address", duration=0.0),
        ToolResult("1", "made"),
    ]
    rows = "  network: a.org:443 allowed\n  network: [::1]:80 refused: a private address\n"
    assert shown(events, VERBOSE) == f"● Bash make\n{rows}"
    assert shown(events) == ""


def test_of_many_connections_some_are_told():
    """A call that connects everywhere does not fill the page."""
    many = [ToolConnection("1", n, f"h{n}.org", 443, "refused", duration=0.0) for n in range(100)]
    assert shown([ToolUse("1", "Bash"), *many], VERBOSE).count("\n") == 21
