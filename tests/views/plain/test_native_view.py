"""What the plain view shows of our own agent: failures, output, waiting, and the last words of a run."""

import pytest

from sightline.events import Event, Notice, RunEnded, RunStarted, State, Text, ToolOutput, ToolResult, ToolUse, Usage
from sightline.views.plain import EVERYTHING, VERBOSE, WORDS, Detail, PlainRenderer
from sightline.views.plain.commands.run import Farewell

FAILED = ToolResult("1", "boom", {"ended": "exit"}, True, 3)


@pytest.mark.parametrize(
    ("result", "line"),
    [
        (FAILED, "  ✕ exit code 3\n"),
        (ToolResult("1", "refused: run `x` needs\nmore", {"ended": "refused"}, True), "  ✕ refused: run `x` needs\n"),
        (ToolResult("1", "no such file: a\x1b[31m", None, True), "  ✕ no such file: a"),
        (ToolResult("1", "partial output", {"ended": "timeout"}, True, 124), "  ✕ timed out\n"),
        (ToolResult("1", "", None, True), "  ✕ failed\n"),
        (ToolResult("1", "fine", None, False, 0), ""),
    ],
)
def test_a_failed_call_says_why(result: ToolResult, line: str) -> None:
    """One line below its marker; a call that went well needs none, and no control character gets through."""
    shown = PlainRenderer(EVERYTHING).render([ToolUse("1", "Bash", arg="x"), result])
    assert shown.startswith(f"● Bash x\n{line}")
    assert shown.count("\n") == 1 + bool(line)
    assert "\x1b" not in shown


def test_a_failure_among_several_calls_says_which() -> None:
    """Only where the marker right above is another call's."""
    calls = [ToolUse("1", "Bash", arg="x"), ToolUse("2", "Read", arg="y")]
    shown = PlainRenderer(EVERYTHING).render([*calls, FAILED, ToolResult("2", "gone", None, True)])
    assert shown == "● Bash x\n● Read y\n  ✕ Bash x: exit code 3\n  ✕ gone\n"


def test_output_is_shown_and_what_is_said_about_it_is_not() -> None:
    """A status is not output; a failure begins on a line of its own."""
    pieces = [ToolOutput("1", "one"), ToolOutput("1", "no output for 1 s", "status"), ToolOutput("1", " two")]
    shown = PlainRenderer(EVERYTHING).render([ToolUse("1", "Bash", arg="x"), *pieces, FAILED])
    assert shown == "● Bash x\n  one two\n  ✕ exit code 3\n"


def test_output_is_told_from_words_by_an_indent() -> None:
    """Every row of it, however it was cut into pieces; empty rows have nothing to set off."""
    events = [
        ToolUse("1", "Bash", arg="x"),
        ToolOutput("1", "one\n\ntw"),
        ToolOutput("1", "o\nthree"),
        ToolOutput("1", "four\n", dropped=2048),
        Text("Words.", 1),
    ]
    shown = PlainRenderer(EVERYTHING).render(events)
    assert shown == "● Bash x\n  one\n\n  two\n  three\n  … 2.0 KB not shown …\n  four\nWords."


LONG = "for i in 1 2 3 4 5 6 7 8; do echo line $i of those that are printed; done"


@pytest.mark.parametrize(
    ("command", "columns", "row"),
    [
        (LONG, None, f"● Bash {LONG}\n"),
        (LONG, 50, f"● Bash {LONG[:42]}…\n"),
        (LONG, 200, f"● Bash {LONG}\n"),
        ("cd a\nmake\n", None, "● Bash cd a\n    make\n"),
        ("cd a\nmake\n", 50, "● Bash cd a …\n"),
        ("/bin/bash -lc 'make test'", None, "● Bash make test\n"),
        ("echo \x1b[31mred", None, "● Bash echo red\n"),
        (["not", "a", "text"], None, "● Bash what is about 40 long\n"),
    ],
)
def test_a_command_is_told_whole(command: object, columns: int | None, row: str) -> None:
    """In a file or a pipe all of it; on a terminal one row."""
    use = ToolUse("1", "Bash", arg="what is about 40 long", args={"command": command})
    shown = PlainRenderer(EVERYTHING, columns=columns).render([use])
    assert shown == row
    assert PlainRenderer(VERBOSE, columns=columns).render([use]) == "● Bash what is about 40 long\n"


def test_a_refusal_is_told_whole() -> None:
    """What to do about it comes at its end."""
    why = f"refused: run `{LONG}` needs the user's approval, and no user is there to give it. Continue without it."
    result = ToolResult("1", why, {"ended": "refused"}, True)
    assert PlainRenderer(EVERYTHING).render([result]) == f"  ✕ {why}\n"


def test_binary_output_is_told() -> None:
    """As in the console: how much there is, and where; below what came before it, above how the call ended."""
    details = {"ended": "exit", "binary": True, "bytes": 3013}
    row = "  binary output, 2.9 KB: stored, not shown; sightline logs k3m9qz-1 has it\n"
    use = ToolUse("k3m9qz-1", "Bash", arg="x")
    output = ToolOutput("k3m9qz-1", "before\n")
    failed = ToolResult("k3m9qz-1", "(binary output)", details, True, 4)
    assert PlainRenderer(EVERYTHING).render([use, output, failed]) == f"● Bash x\n  before\n{row}  ✕ exit code 4\n"
    other = ToolUse("k3m9qz-2", "Read", arg="y")
    fine = ToolResult("k3m9qz-1", "(binary output)", details, False, 0)
    told = row.replace("  binary", "  Bash x: binary")
    assert PlainRenderer(EVERYTHING).render([use, other, fine]) == f"● Bash x\n● Read y\n{told}"


def test_what_providers_show_is_unchanged() -> None:
    """Their verbose form has markers alone."""
    events: list[Event] = [ToolUse("1", "Bash", arg="x"), ToolOutput("1", "out\n"), FAILED]
    assert PlainRenderer(VERBOSE).render(events) == "● Bash x\n"


@pytest.mark.parametrize("detail", [WORDS, EVERYTHING])
def test_waiting_to_ask_again_is_told(detail: Detail) -> None:
    """Once for each wait, whatever else is shown; that it is over is not told."""
    renderer = PlainRenderer(detail)
    value = {"attempt": 1, "attempts": 5, "seconds": 5.0, "reason": "the server is overloaded"}
    assert renderer.render([State("retry", value, source="agent"), State("retry", None, source="agent")]) == ""
    assert renderer.messages() == "warning: the server is overloaded; retrying in 5 s (1 of 5)\n"
    renderer.render([State("retry", {**value, "seconds": 0.924765}, source="agent")])
    assert renderer.messages() == "warning: the server is overloaded; retrying in 0.9 s (1 of 5)\n"
    renderer.render([State("retry", {**value, "seconds": 75.0}, source="agent")])
    assert renderer.messages() == "warning: the server is overloaded; retrying in 1 min 15 s (1 of 5)\n"


def test_a_wait_that_has_a_notice_is_told_once() -> None:
    """Providers tell it themselves, and so does our agent after an answer that was cut off."""
    renderer = PlainRenderer()
    cut = {"attempt": 1, "attempts": 5, "reason": "cut"}
    renderer.render([State("retry", cut, source="agent"), Notice("cut; retrying", "warning", source="agent")])
    renderer.render([State("retry", {"attempt": 1, "of": 3, "delay": 2}, source="codex")])
    assert renderer.messages() == "warning: cut; retrying\n"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (0, ""),
        (1, ""),
        (124, "error: timed out after 1.5 s\nResume with: sightline --resume abc\n"),
        (130, "cancelled\nResume with: sightline --resume abc\n"),
    ],
)
def test_an_early_end_is_told_with_a_way_to_go_on(code: int, said: str) -> None:
    """Timeout and cancel; every other end speaks for itself."""
    farewell = Farewell(lambda session: True, timeout=1.5)
    farewell.see([RunStarted("abc"), RunEnded()])
    assert farewell.words(code) == said


@pytest.mark.parametrize(
    ("ended", "said"),
    [
        (RunEnded(), "session abc\n"),
        (RunEnded(Usage(10, 5)), "session abc · 15 tokens\n"),
        (RunEnded(Usage(10, 5, total_tokens=20), 0.01234), "session abc · 20 tokens · $0.0123\n"),
    ],
)
def test_the_sum_has_only_what_is_known(ended: RunEnded, said: str) -> None:
    """Nothing is made up for what nobody counted; without a session there is no sum."""
    farewell = Farewell(lambda session: True, sums=True)
    assert farewell.words(0) == ""
    farewell.see([RunStarted("abc"), ended])
    assert farewell.words(0) == said


@pytest.mark.parametrize(
    ("can_be_resumed", "said"),
    [
        (True, "cancelled\nResume with: sightline --resume abc\n15 tokens\n"),
        (False, "cancelled\n15 tokens\n"),
    ],
)
def test_a_session_is_named_once_and_only_if_it_can_be_resumed(can_be_resumed: bool, said: str) -> None:
    """Also where the sum would name it."""
    farewell = Farewell(lambda session: can_be_resumed, sums=True)
    farewell.see([RunStarted("abc"), RunEnded(Usage(10, 5))])
    assert farewell.words(130) == said
