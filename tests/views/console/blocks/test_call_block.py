"""A call and its result in one block: what stays when it is folded, how it grows, and when it is done."""

import itertools
from typing import Any

import pytest

from sightline.events import Request, RequestResolved, ToolArgs, ToolOutput, ToolResult, ToolUpdate, ToolUse
from sightline.events.stamping import stamp
from sightline.providers import EventStream, get_provider
from sightline.text import Style
from sightline.transcript import Transcript, TranscriptCall, TranscriptPiece
from sightline.views.console.blocks import block_for
from tests.providers.support import load_capture
from tests.views.console.blocks.support import COLOURS, Clock, call, drawing, drawn, told, ui

COMMAND = {"ui": {"kind": "command"}, "ended": "exit"}


def lines(count: int, start: int = 0) -> str:
    return "".join(f"line {n}\n" for n in range(start, start + count))


def command(output: str = "", **fields: Any) -> Any:
    pieces = [TranscriptPiece("stdout", output, 0, len(output))] if output else []
    return call(
        **{"name": "Bash", "args": {"command": "make"}, "details": COMMAND, "pieces": pieces, "content": ""} | fields
    )


def test_a_call_and_its_result_are_one_block() -> None:
    """The block of a call becomes the one of its result; nothing else appears."""
    fold, block = told(ToolUse("c", "Bash", args={"command": "ls"}))
    assert list(block.render(80)) == ["◌ $ ls"]
    assert not block.done
    fold.apply(ToolOutput("c", "a.py\n", size=5))
    block.changed()
    assert list(block.render(80)) == ["◌ $ ls", "│ a.py"]
    fold.apply(ToolResult("c", "", COMMAND, exit_code=0))
    block.changed()
    assert list(block.render(80)) == ["✓ $ ls  exit 0", "│ a.py"]
    assert block.done


@pytest.mark.parametrize("code", [0, 1, 127])
def test_a_folded_command_keeps_its_line_and_its_exit_code(code: int) -> None:
    """However long its output, the command and how it ended are in the header."""
    rows = drawn(command(lines(200), exit_code=code, is_error=code != 0), width=40)
    assert rows[0] == f"{'✓' if not code else '✕'} $ make  exit {code}"


def test_a_long_command_is_told_over_a_few_rows_and_the_rest_unfolded() -> None:
    """A command is cut only after three rows, and says so; unfolded all of it is there."""
    line = " ".join(f"word{n}" for n in range(60))
    folded = drawn(command(args={"command": line}, exit_code=0), width=40)
    assert len(folded) == 4
    assert folded[2].endswith("…")
    assert folded[3] == "  exit 0"
    whole = "".join(row.strip() + " " for row in drawn(command(args={"command": line}), drawing(unfolded=True), 40))
    assert all(f"word{n} " in whole for n in range(60))


def test_a_narrow_screen_keeps_path_and_outcome() -> None:
    """What does not fit beside the title goes below it."""
    entry = call(
        name="Edit", details=ui("diff", path="src/a/long/path/of/a/file.py", diff="", added=1, removed=2), content="x"
    )
    rows = drawn(entry, width=20)
    assert "".join(row.strip() for row in rows[:3]).startswith("✓ Edit src/a/long/path/of/a/file.py")
    assert any("+1 -2" in row for row in rows)


def test_the_folded_tail_has_ten_rows_and_says_how_to_see_all() -> None:
    """Ten rows of a long output when folded, forty unfolded, the end kept, and the key that shows all of it."""
    folded, unfolded = drawn(command(lines(80))), drawn(command(lines(80)), drawing(unfolded=True))
    assert len(folded) == 11
    assert folded[-1] == "│ line 79"
    assert folded[1] == "│ … 71 more lines (ctrl+o)"
    assert len(unfolded) == 41
    assert unfolded[1] == "│ … 41 more lines (ctrl+o)"
    assert unfolded[-1] == "│ line 79"


def test_a_failure_is_not_folded() -> None:
    """A call that failed shows the end of its output up to twenty rows although the rest is folded."""
    rows = drawn(command(lines(80), is_error=True, exit_code=2))
    assert len(rows) == 21
    assert rows[-1] == "│ line 79"
    said = drawn(call(content=lines(80), is_error=True))
    assert len(said) == 21
    assert said[-1] == "│ line 79"


@pytest.mark.parametrize("count", [3, 11, 25])
def test_short_output_is_not_cut(count: int) -> None:
    """What is whole on the screen is not said to be cut; of what has ended a few rows more are no reason for a cut."""
    assert drawn(command(lines(count)))[1:] == [f"│ line {number}" for number in range(count)]


def test_a_cut_for_the_sake_of_little_is_not_made() -> None:
    """Half as much again as there is room for is shown whole, as soon as it has ended."""
    entry = command(lines(30), is_error=True, exit_code=2)
    assert len(drawn(entry)) == 31
    assert len(drawn(command(lines(60)), drawing(unfolded=True))) == 61
    running = command(lines(11), content=None)
    assert drawn(running)[1:3] == ["│ … 2 more lines (ctrl+o)", "│ line 2"]


def test_lines_are_counted_not_their_rows() -> None:
    """A line that takes several rows is one; one of which a part is shown is left out. Running, ended and failed."""
    text = "".join(f"line-{number:02d}-{'x' * 140}\n" for number in range(30))  # two rows each, in 80 columns
    for entry, at in (
        (command(text, content=None), 1),
        (command(text), 1),
        (command(content=text), 1),
        (command(content=text, is_error=True, exit_code=2), 5),
    ):
        rows = drawn(entry)
        whole = sum(row.startswith("│ line") for row in rows)
        assert 0 < whole < 20
        assert rows[at] == f"│ … {30 - whole} more lines (ctrl+o)"
    one = drawn(command("word " * 600, content=None))
    assert one[1] == "│ … 1 more line (ctrl+o)"


def test_what_is_left_out_is_told_in_lines_where_anybody_knows_them() -> None:
    """Of a long output only the end is kept. How many lines it had is known where all of it came, and where the model
    was told all of it."""
    text = "".join(f"line {n} {'x' * 90}\n" for n in range(200))
    words = "[the last 3 lines, 9 of 99 bytes; all of it: artifact://x]\n"
    for content, facts, dropped, row in (
        ("", {"told": []}, 0, "│ … 191 more lines (ctrl+o)"),
        (text + "[exit code 6]", {"told": ["[exit code 6]"]}, 9, "│ … 191 more lines (ctrl+o)"),
        (words + text, {"told": [], "cut": True}, 9, "│ … the end of 19 KB (ctrl+o)"),
        (words + text, {}, 9, "│ … the end of 19 KB (ctrl+o)"),  # as it was stored before it was said
        ("", {"told": []}, 9, "│ … the end of 19 KB (ctrl+o)"),
    ):
        fold, block = told(ToolUse("c", "Bash", args={"command": "x"}))
        fold.apply(ToolOutput("c", text, offset=dropped, size=len(text), dropped=dropped))
        fold.apply(ToolResult("c", content, COMMAND | facts, exit_code=6))
        rows = block.render(120)
        assert rows[1] == row
        assert len(rows) == 11


def test_what_a_result_has_beyond_its_pieces_is_shown() -> None:
    """A provider may send no piece for what was written before it listened: its result is the output, and all of it
    is shown and copied. Of our own calls the result is for the model."""
    events = [ToolUse("c", "Bash", args={"command": "x"}, source="codex")]
    events += [ToolOutput("c", "hi 2\n", size=5), ToolOutput("c", "hi \x1b[1m3\x1b[0m\n", offset=5, size=13)]
    for content in ("hi 1\nhi 2\nhi 3\n", "hi 2\nhi 2½\nhi 3\n"):
        fold, block = told(*events, ToolResult("c", content, exit_code=0, source="codex"))
        assert list(block.render(80))[1:] == [f"│ {line}" for line in content.splitlines()]
        assert block.source.startswith(f"$ x\n{content.strip()}")
        replayed = block_for(Transcript(fold.snapshot()).now.entries[0], drawing(), {})
        assert list(block.render(80)) == list(replayed.render(80))
    for result in (
        ToolResult("c", "other words altogether, and more of them", exit_code=0, source="codex"),
        ToolResult("c", "hi 2\nhi 3\n[exit code 1]", COMMAND, exit_code=1, source="agent"),
    ):
        assert list(told(*events, result)[1].render(80))[1:] == ["│ hi 2", "│ hi 3"]


def test_a_long_result_that_has_more_than_its_pieces_is_shown() -> None:
    """Also where the fold kept only the end of the pieces."""
    text = lines(1000)
    events = [ToolUse("c", "Bash", args={"command": "x"}, source="codex"), ToolOutput("c", text, size=len(text))]
    longer = "first\n" + text
    _, block = told(*events, ToolResult("c", longer, exit_code=0, source="codex"))
    assert block.render(80)[1] == "│ … 992 more lines (ctrl+o)"
    assert block.source == f"$ x\n{longer}"


def test_text_before_binary_output_is_shown() -> None:
    """A byte that is no text takes nothing away that came before it, and a row says what is not shown."""
    told = ["(binary output, 45 bytes: artifact://x)", "[exit code 4]"]
    details = COMMAND | {"binary": True, "bytes": 45, "told": told}
    pieces = [TranscriptPiece("stdout", "before\n", 0, 7), TranscriptPiece("stdout", "", 45, 0, 38)]
    words = "\n".join(told)
    block = block_for(command(pieces=pieces, details=details, content=words, exit_code=4, is_error=True), drawing(), {})
    assert list(block.render(80)) == [
        "✕ $ make  exit 4",
        "│ before",
        "│ binary output, 45 bytes, not shown (ctrl+o)",
    ]
    alone = command(pieces=pieces[1:], details=details, content=words, exit_code=0)
    assert drawn(alone) == ["✓ $ make  exit 0", "│ binary output, 45 bytes, not shown (ctrl+o)"]


@pytest.mark.parametrize(
    ("fields", "rows"),
    [
        ({"content": "(no output)\n[exit code 6]", "told": ["(no output)", "[exit code 6]"]}, []),
        ({"content": "cancelled before it ended", "told": ["cancelled before it ended"], "ended": "cancelled"}, []),
        (
            {"content": "[exit code 1]\n[exit code 1]\nhint: no network", "told": ["[exit code 1]"]},
            ["│ [exit code 1]", "│ hint: no network"],
        ),
        ({"content": "(no output)\n[exit code 6]"}, ["│ (no output)", "│ [exit code 6]"]),
    ],
    ids=["failed", "stopped", "printed by itself", "not said which"],
)
def test_what_the_header_says_is_not_said_again(fields: dict[str, Any], rows: list[str]) -> None:
    """How a command ended is told to the model in words, and which lines those are is a fact: below a header that says
    it they are not repeated."""
    content = fields.pop("content")
    assert drawn(command(content=content, details=COMMAND | fields, exit_code=6))[1:] == rows


@pytest.mark.parametrize(
    ("facts", "rows"),
    [
        ({"by": "user", "reason": "not now.\nLater."}, ["│ you: not now.", "│ Later."]),
        ({"by": "user"}, ["│ by you"]),
        ({"by": "rule", "rule": "exec(make)"}, ["│ not allowed (rule: exec(make))"]),
        ({"by": "level"}, ["│ not allowed (the approval level is plan)"]),
        ({"by": "nobody"}, ["│ no user was there to ask"]),
        ({}, ["│ words for the model"]),
    ],
    ids=["a reason", "none", "a rule", "a level", "nobody", "other words"],
)
def test_a_refusal_says_why_and_does_not_repeat_what(facts: dict[str, str], rows: list[str]) -> None:
    """The header has the command and that it was refused."""
    entry = command(content="words for the model", details={"ended": "refused", **facts}, is_error=True)
    assert drawn(entry) == ["✕ $ make  refused", *rows]


def test_a_refused_change_is_said_to_be_refused() -> None:
    """Whatever its shape."""
    entry = call(
        name="Edit",
        args={"path": "a.py", "old_string": "x", "new_string": "y"},
        content="the user refused: write a.py. Reason: no",
        details={"ended": "refused", "by": "user", "reason": "no"},
        is_error=True,
    )
    assert drawn(entry) == ["✕ Edit a.py  refused", "  - x", "  + y", "  you: no"]


def test_output_recedes_and_its_own_colours_stay() -> None:
    """A thin line beside it, a quieter colour than words; stderr only stands out where the call failed."""
    pieces = [
        TranscriptPiece("stdout", "\x1b[1;32mgreen\x1b[0m\n"),
        TranscriptPiece("stdout", "out\n"),
        TranscriptPiece("stderr", "oops\n"),
    ]
    rows = drawn(command(pieces=pieces), drawing(COLOURS))
    line = COLOURS.style("gutter", "│")
    assert COLOURS.open_style(Style(fg=2, bold=True)) + "green" in rows[1]
    assert rows[2:] == [f"{line} {COLOURS.style('output', 'out')}", f"{line} {COLOURS.style('output', 'oops')}"]
    failed = drawn(command(pieces=pieces, is_error=True, exit_code=1), drawing(COLOURS))
    assert failed[2:] == [f"{line} {COLOURS.style('output', 'out')}", f"{line} {COLOURS.style('error', 'oops')}"]


def test_who_listens_hears_no_line_beside_output() -> None:
    """Nor anything else that only means something to the eye."""
    assert drawn(command(pieces=[TranscriptPiece("stdout", "out\n")]), drawing(linear=True))[1:] == ["  out"]


def test_a_failed_call_of_two_thousand_lines_is_a_few_rows() -> None:
    """How it began and how it ended; all of it is in the viewer."""
    text = "".join(f"line {number}\n" for number in range(2000))
    block = block_for(command(content=text, is_error=True, exit_code=1, source="claude"), drawing(), {})
    rows = list(block.render(80))
    assert len(rows) == 21
    assert rows[1] == "│ line 0"
    assert rows[5] == "│ … 1,981 more lines (ctrl+o)"
    assert rows[-1] == "│ line 1999"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"details": COMMAND | {"sandboxed": False}}, "outside the sandbox · exit 0"),
        ({"details": COMMAND | {"sandboxed": True}}, "exit 0"),
        ({"details": COMMAND | {"sandboxed": False}, "source": "person"}, "exit 0"),
    ],
    ids=["outside", "inside", "a person's"],
)
def test_a_command_that_no_sandbox_held_says_so(fields: dict[str, Any], words: str) -> None:
    """In its header, whatever it wrote."""
    assert drawn(command(exit_code=0, **fields))[0].endswith(f"make  {words}")


def test_what_became_a_job_says_which() -> None:
    """By the number it has in this session."""
    entry = command(content="running as s-3", details=COMMAND | {"ended": "job", "job": "s-3"})
    assert drawn(entry) == ["↗ $ make  running in background, job 3"]


def test_a_progress_bar_is_one_row() -> None:
    """What a command writes over is shown as it would stand on a terminal."""
    pieces = [TranscriptPiece("stdout", "10%\r20%\r100%\ndone\n")]
    assert drawn(command(pieces=pieces))[1:] == ["│ 100%", "│ done"]


@pytest.mark.parametrize(
    ("details", "words"),
    [
        ({"ended": "timeout"}, "timed out · exit 124"),
        ({"ended": "exit", "signal": 9}, "signal 9 · exit 124"),
        ({"ended": "host"}, "stopped with its session · exit 124"),
    ],
    ids=["timeout", "signal", "host"],
)
def test_how_a_command_ended_is_said(details: dict[str, Any], words: str) -> None:
    """Beside the exit code stands what else there is to say."""
    rows = drawn(command(details=COMMAND | details, exit_code=124, is_error=True))
    assert rows[0] == f"✕ $ make  {words}"


def test_a_cancelled_call_is_no_failure() -> None:
    """What was stopped has a sign of its own."""
    assert (
        drawn(command(details=COMMAND | {"ended": "cancelled"}, exit_code=130))[0] == "– $ make  cancelled · exit 130"
    )


def test_elapsed_time_is_shown_while_it_runs_and_its_duration_afterwards() -> None:
    """A running call says how long it has been; one that ended how long it took."""
    clock = Clock()
    fold, block = told(ToolUse("c", "Bash", args={"command": "x"}, time=1000.0), how=drawing(clock=clock))
    assert block.ticks
    assert block.render(80)[0] == "◌ $ x"
    clock.now = 1065.0
    assert block.render(80)[0] == "◌ $ x  1 min 5 s"
    fold.apply(ToolResult("c", "", COMMAND, exit_code=0, duration=66.2))
    block.changed()
    assert block.render(80)[0] == "✓ $ x  exit 0 · 1 min 6 s"
    assert not block.ticks


def test_nothing_moves_in_linear_mode() -> None:
    """Who listens to the terminal hears no clock."""
    clock = Clock()
    _, block = told(ToolUse("c", "Bash", args={"command": "x"}, time=1000.0), how=drawing(linear=True, clock=clock))
    before = block.render(80)
    clock.now = 1100.0
    assert block.render(80) is before
    assert not block.ticks


def test_that_a_call_is_silent_is_said_below_it_by_its_own_clock() -> None:
    """What was sent ages; the row below the header does not."""
    clock = Clock()
    fold, block = told(
        ToolUse("c", "X", time=1000.0),
        ToolOutput("c", "running for 1 s, no output yet", "status", silent=True),
        how=drawing(clock=clock),
    )
    clock.now = 1010.0
    assert list(block.render(80)) == ["◌ X  10 s", "  no output yet"]
    fold.apply(ToolOutput("c", "out\n", size=4, time=1010.0))
    block.changed()
    assert list(block.render(80)) == ["◌ X  10 s", "│ out"]
    fold.apply(ToolOutput("c", "no output for 10 s", "status", silent=True, time=1020.0))
    block.changed()
    clock.now = 1029.0
    assert list(block.render(80)) == ["◌ X  29 s", "│ out", "  no output for 19 s"]
    for said in ("binary output: stored, not shown", "no output for the printer"):
        fold.apply(ToolOutput("c", said, "status", time=1029.0))
        block.changed()
        assert list(block.render(80)) == ["◌ X  29 s", "│ out", f"  {said}"]


def test_an_unchanged_block_gives_the_same_rows() -> None:
    """Rows are made again only when something changed."""
    block = block_for(command(lines(60)), drawing(), {})
    assert block.render(80) is block.render(80)


def test_nothing_of_a_running_call_is_final() -> None:
    """As long as it may change, no row of it becomes history."""
    _fold, block = told(ToolUse("c", "Bash", args={"command": "x"}), ToolOutput("c", lines(30), size=100))
    block.render(80)
    assert block.live_from() == 0  # type: ignore[attr-defined]


def test_it_grows_a_few_rows_a_frame_and_never_shrinks_while_it_runs() -> None:
    """However much comes at once, the screen below moves by a few rows a frame, and never back."""
    fold, block = told(ToolUse("c", "Bash", args={"command": "x"}), ToolOutput("c", lines(30), size=240))
    heights = [len(block.render(80)) for _ in range(6)]
    assert heights == [5, 9, 11, 11, 11, 11]
    assert block.render(80)[-1] == "│ line 29"
    fold.apply(ToolOutput("c", "\x1b[8A\x1b[K", offset=240, size=8))
    block.changed()
    assert len(block.render(80)) == 11


def test_the_newest_line_is_shown_at_once() -> None:
    """Pacing holds back height, never the last line."""
    fold, block = told(ToolUse("c", "Bash", args={"command": "x"}))
    offset = 0
    for number in range(40):
        text = f"line {number}\n"
        fold.apply(ToolOutput("c", text, offset=offset, size=len(text)))
        offset += len(text)
        block.changed()
        assert block.render(80)[-1] == f"│ line {number}"


@pytest.mark.parametrize("counted", [True, False], ids=["counted", "not counted"])
@pytest.mark.parametrize("frames", [1, 3, 7])
def test_reading_on_is_reading_whole(counted: bool, frames: int) -> None:
    """What is drawn of output that came in pieces is what is drawn of it at once, far beyond what is kept."""
    fold, block = told(ToolUse("c", "Bash", args={"command": "x"}))
    offset = 0
    for number in range(3000):
        text = f"{number} \x1b[3{number % 8}mcolour\x1b[0m {'y' * (number % 50)}\n"
        fold.apply(ToolOutput("c", text, offset=offset if counted else 0, size=len(text) if counted else 0))
        offset += len(text)
        block.changed()
        if number % frames == 0:
            rows = block.render(100)
    rows = block.render(100)
    fresh = block_for(fold.now.entries[0], drawing(), {})
    for _ in range(5):
        whole = fresh.render(100)
    assert rows[2:] == whole[2:]


def test_live_and_replayed_give_the_same_rows() -> None:
    """What is drawn at the end depends on the end alone."""
    events = [
        ToolUse("c", "Bash", args={"command": "x"}),
        *[ToolOutput("c", lines(50, n * 50), offset=n * 450, size=450) for n in range(200)],
        ToolResult("c", "told", COMMAND, exit_code=0),
    ]
    fold, block = told(events[0])
    for event in events[1:]:
        fold.apply(event)
        block.changed()
        block.render(80)
    replayed = Transcript(fold.snapshot())
    assert block.render(80) == block_for(replayed.now.entries[0], drawing(), {}).render(80)


def test_a_call_without_an_end_is_done_when_it_is_closed() -> None:
    """A run that is over closes what it left open: it is shown as stopped and does not tick."""
    _, block = told(ToolUse("c", "Bash", args={"command": "x"}, time=900.0))
    block.close()
    assert block.done
    assert not block.ticks
    assert block.render(80)[0].startswith("– $ x")


@pytest.mark.parametrize(
    ("fields", "source"),
    [
        pytest.param(
            {
                "args": {"command": "ls -l"},
                "pieces": [TranscriptPiece("stdout", "\x1b[31ma\x1b[0m\nb\n")],
                "content": "told",
            },
            "$ ls -l\na\nb",
            id="a command: its line and its output, without colours",
        ),
        pytest.param(
            {"details": ui("diff", diff="--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"), "content": "told"},
            "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
            id="a diff: as a patch",
        ),
        pytest.param({"content": "x" * 300}, "x" * 300, id="words: without breaks"),
        pytest.param({"content": '{"a":1}'}, '{\n  "a": 1\n}', id="JSON: as JSON"),
        pytest.param(
            {"args": {"path": "a.py", "content": "import a\n"}, "content": "ok"}, "import a\n", id="a file: its text"
        ),
    ],
)
def test_the_source_is_what_was_written(fields: dict[str, Any], source: str) -> None:
    """Copying gives no gutters, no hard wraps, no padding."""
    block = block_for(call(**fields), drawing(), {})
    block.render(20)
    assert block.source == source


def test_arguments_are_revealed_while_they_are_written() -> None:
    """Before the call is made its name and what is known of its arguments are shown."""
    fold, block = told(ToolArgs("c", "write", '{"path": "src/a.py", "content": "import os\\nprint('))
    rows = list(block.render(80))
    assert rows == ["◌ write src/a.py  preparing", "  import os", "  print("]
    fold.apply(ToolArgs("c", "write", '1)\\n"}'))
    block.changed()
    assert list(block.render(80))[-1] == "  print(1)"


def test_an_edit_grows_as_a_diff() -> None:
    """An update with the diff so far is drawn as one, its end first; numbers are those of the file."""
    diff = "--- a/x.py\n+++ b/x.py\n@@ -10,60 +10,60 @@\n" + "".join(f"-old {n}\n+new {n}\n" for n in range(30))
    fold, block = told(ToolArgs("c", "edit", '{"input": "'))
    for cut in range(50, len(diff), 37):
        part = diff[: diff.rindex("\n", 0, cut) + 1]
        fold.apply(ToolUpdate("c", ui("diff", path="x.py", diff=part, partial=True)))
        block.changed()
        before = len(block.render(80))
    for _ in range(6):
        rows = block.render(80)
    assert before <= len(rows) == 21
    assert rows[0] == "◌ edit x.py"
    assert rows[-1].strip().startswith("39 - old 29")


def test_arguments_grow_smoothly() -> None:
    """A file that arrives in one piece is revealed line by line, and the block asks to be drawn until it is there."""
    text = "\\n".join(f"line {n}" for n in range(30))
    _, block = told(ToolArgs("c", "write", f'{{"path": "a", "content": "{text}'))
    heights, last = [], []
    while True:
        rows = block.render(80)
        heights.append(len(rows))
        last.append(rows[-1])
        if rows[-1] == "  line 29" and len(heights) > 12:
            break
        assert block.ticks
        assert len(heights) < 60
    assert all(after - before <= 4 for before, after in itertools.pairwise(heights))
    assert heights == sorted(heights)
    assert last.index("  line 29") > 2


def test_a_replacement_grows_as_what_goes_and_what_comes() -> None:
    """Old and new text of an edit are lines of a diff while they are written."""
    written = '{"file_path": "/home/me/project/x.py", "old_string": "a\\nb", "new_string": "c'
    _, block = told(ToolArgs("c", "Edit", written))
    assert list(block.render(80)) == ["◌ Edit x.py  preparing", "  - a", "  - b", "  + c"]


def test_a_command_is_shown_while_it_is_written() -> None:
    """The command line grows in the header."""
    _, block = told(ToolArgs("c", "bash", '{"command": "git log --one'))
    assert block.render(80)[0] == "◌ $ git log --one  preparing"


def test_output_that_is_no_text_is_said_to_be_there() -> None:
    """A command that wrote bytes does not look like one that wrote nothing."""
    rows = drawn(command(details=COMMAND | {"binary": True, "bytes": 2048}, is_error=True, exit_code=3))
    assert rows[1:] == ["│ binary output, 2.0 KB, not shown (ctrl+o)"]


@pytest.mark.parametrize(
    ("source", "args", "row"),
    [
        ("agent", {"command": "rm x"}, "✓ $ rm x  exit 0"),
        ("agent", {"command": "rm x", "private": True}, "✓ $ rm x  exit 0"),
        ("person", {"command": "rm x"}, "✓ ! rm x  exit 0"),
        ("person", {"command": "rm x", "private": True}, "✓ !! rm x  exit 0"),
    ],
)
def test_whose_command_it_was_stands_before_it(source: str, args: dict[str, Any], row: str) -> None:
    """A person's has the sign it was typed with, doubled where the agent is not told."""
    entry = call(name="Bash", args=args, source=source, content="", exit_code=0, details=COMMAND)
    assert drawn(entry) == [row]
    assert drawn(entry, drawing(linear=True)) == [row.replace("✓", "ok:")]


def test_the_time_a_person_took_to_answer_is_not_the_commands() -> None:
    """Neither while it is asked about nor afterwards, whoever listens."""
    for linear, row in ((False, "✓ $ touch a  exit 0 · 2 s"), (True, "ok: $ touch a  exit 0 · 2 s")):
        clock = Clock()
        use = ToolUse("c", "Bash", args={"command": "touch a"})
        fold, block = told(stamp(use, 1, 1000.0), how=drawing(linear=linear, clock=clock))
        fold.apply(stamp(Request("r", "approval", details={"call": "c"}), 2, 1000.0))
        clock.now = 1018.0
        assert " s" not in "".join(block.render(80))
        fold.apply(stamp(RequestResolved("r"), 3, 1018.0))
        clock.now = 1019.0
        assert ("1 s" in "".join(block.render(80))) is not linear
        fold.apply(stamp(ToolResult("c", "", COMMAND, exit_code=0, duration=20.0), 4, 1020.0))
        assert list(block.render(80)) == [row]


@pytest.mark.parametrize("provider", ["claude", "opencode"])
def test_another_agents_reads_look_as_our_own(provider: str) -> None:
    """The name and how many lines; the lines as they are in the file when they are asked for."""
    stream = EventStream(get_provider(provider).source())
    fold = Transcript()
    for event in stream.feed(load_capture(provider, "single_tool")[0]):
        fold.apply(event)
    read = next(entry for entry in fold.now.entries if isinstance(entry, TranscriptCall))
    assert drawn(read)[0] == "✓ Read /project/README.md  5 lines · ctrl+o"
    assert len(drawn(read)) == 1
    unfolded = drawn(read, drawing(unfolded=True))
    assert unfolded[1:3] == ["  # Demo project", ""]
    assert len(unfolded) == 6
