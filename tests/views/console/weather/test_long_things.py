"""Things longer than a frame has time for: drawn in slices between which keys are read, with the rows of the whole."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.events import Event, Notice, Text, ToolResult, ToolUse, TurnEnded, User
from sightline.events.stamping import stamp
from sightline.text import clean_text
from sightline.transcript import Remark, Snapshot, TranscriptMessage, TranscriptText, fold
from sightline.tty import PLAIN, expand_tabs, wrap
from sightline.tty.components import Markdown
from sightline.views.console.blocks import _gradual, _words
from sightline.views.console.blocks._call import CallBlock
from sightline.views.console.blocks._gradual import wrapped_lazily
from sightline.views.console.blocks._message import MessageBlock
from sightline.views.console.blocks._pieces import LONG
from sightline.views.console.blocks._remark import RemarkBlock
from sightline.views.console.session import _link
from sightline.views.console.shapes import _command
from tests.tty.paper import Paper
from tests.views.console.blocks.support import call, drawing, drawn, ui
from tests.views.console.sitting import Sitting

_LINES = "\n".join(
    f"line {number} of what was said, which is more than one row can hold: " + "x" * 40 for number in range(160)
)
_LINE = " ".join(f"word{number}" for number in range(2500))
_FENCE = "```\n" + "\n".join(f"code {number} " + "y" * 60 for number in range(300)) + "\n```"

_SPAN = st.one_of(
    st.sampled_from(
        ["x" * 30, " " * 40, "the fox ", "wörter, ", "日本語（の）", "🇩🇪", "e\u0301 \u200d", "\t", "\n", ' "( ']
    ),
    st.text(max_size=12),
)


@pytest.fixture
async def sat(tmp_path: Path, own_home: None, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Sitting]:
    """On a terminal that keeps every row, with slices as short as they get."""
    monkeypatch.setattr(_gradual, "SLICE", 0.0)
    monkeypatch.setattr(_words, "SLICE", 0.0)
    monkeypatch.setattr(_words, "_READ_AT_ONCE", 256)
    one = Sitting(tmp_path)
    one.display.surface = Paper(80, 24)
    yield one
    await one.close()


def said_in_one_go(entry: TranscriptMessage | TranscriptText | Remark) -> list[str]:
    """What the whole of it looks like, at once."""
    how = drawing()
    if isinstance(entry, TranscriptText):
        markdown = Markdown(entry.text)
        markdown.finish()
        return list(markdown.render(80))
    how.linear = True  # nobody draws lines in slices
    block = MessageBlock(entry, how) if isinstance(entry, TranscriptMessage) else RemarkBlock(entry, how)
    how.linear = False
    return list(block.render(80))


LONG_THINGS: dict[str, tuple[Event, TranscriptMessage | TranscriptText | Remark]] = {
    "lines": (User(_LINES, source="person"), TranscriptMessage("", _LINES)),
    "line": (User(_LINE, source="person"), TranscriptMessage("", _LINE)),
    "notice": (Notice(_LINES), Remark("", "info", _LINES)),
    "fence": (Text(_FENCE, 1), TranscriptText("", 1, _FENCE)),
    "paragraph": (Text(_LINE, 1), TranscriptText("", 1, _LINE)),
}


def tape(sat: Sitting) -> list[str]:
    surface: Any = sat.display.surface
    rows: list[str] = surface.tape
    return rows


def is_once(rows: list[str], within: list[str]) -> bool:
    """Whether these rows stand there, all of them, in order, and none twice."""
    wanted = [row.rstrip() for row in rows]
    starts = [at for at in range(len(within)) if within[at : at + len(wanted)] == wanted]
    return len(starts) == 1 and all(within.count(row) == 1 for row in wanted if any(map(str.isdigit, row)))


def finished(sat: Sitting) -> Callable[[], bool]:
    return lambda: not sat.console.transcript.behind and sat.console.transcript.component.held is None


@settings(deadline=None)
@given(st.lists(_SPAN, max_size=60).map("".join), st.integers(1, 30))
def test_rows_made_one_by_one_are_those_of_the_whole(text: str, width: int) -> None:
    """Wherever a long line is cut, and whatever letters stand there."""
    text, cut = clean_text(text), _gradual._CUT
    _gradual._CUT = 16
    try:
        assert list(wrapped_lazily(text, width)) == (wrap(expand_tabs(text), width) or [""])
    finally:
        _gradual._CUT = cut


@pytest.mark.parametrize("name", LONG_THINGS)
async def test_a_long_thing_leaves_room_for_keys_and_is_written_once(sat: Sitting, name: str) -> None:
    """It is not whole in the first frame; a key is on the screen before it is; in the end every row is there once."""
    event, entry = LONG_THINGS[name]
    sat.hears(event, TurnEnded())
    await sat.until(lambda: tape(sat), "the first frame")
    assert sat.console.transcript.behind
    sat.press("q")
    await sat.until(lambda: any("q" in row for row in tape(sat)[-4:]), "the key")
    assert sat.console.transcript.behind
    await sat.until(finished(sat), "the end of it")
    await sat.until(lambda: is_once(said_in_one_go(entry), tape(sat)), "every row, once")


@pytest.mark.parametrize("name", LONG_THINGS)
async def test_what_comes_after_a_long_thing_stands_below_it(sat: Sitting, name: str) -> None:
    """Also when it came before the long thing was drawn whole."""
    event, entry = LONG_THINGS[name]
    sat.hears(event, TurnEnded())
    await sat.until(lambda: tape(sat), "the first frame")
    sat.hears(Notice("what comes after it"))
    await sat.until(finished(sat), "the end of it")
    await sat.until(lambda: is_once([*said_in_one_go(entry), "", "· what comes after it"], tape(sat)), "both, in order")


@pytest.mark.parametrize("name", LONG_THINGS)
@pytest.mark.parametrize("after", [0, 40])
async def test_a_kept_long_thing_is_in_its_place(sat: Sitting, name: str, after: int) -> None:
    """At the end of what was kept, or long before it."""
    event, entry = LONG_THINGS[name]
    sat.console.frame(kept(Notice("before it"), event, TurnEnded(), *(Notice(f"notice {n}") for n in range(after))))
    await sat.until(finished(sat), "the end of it")
    rows = ["· before it", "", *said_in_one_go(entry)]
    for number in range(after):
        rows += ["", f"· notice {number}"]
    await sat.until(lambda: is_once(rows, tape(sat)), "every row, once")


async def test_unfolding_shows_the_end_first(sat: Sitting) -> None:
    """Everything is written anew, but not in one frame; and then each row is there once."""
    sat.hears(*(Notice(f"notice {number}") for number in range(300)))
    await sat.until(lambda: "· notice 299" in tape(sat), "the last")
    surface: Any = sat.display.surface
    surface.expect_gesture()
    sat.console.unfold(True)
    await sat.until(lambda: sat.console.transcript.component.held is not None, "the hold")
    await sat.until(finished(sat), "the rest")
    rows = [row for number in range(300) for row in (f"· notice {number}", "")][:-1]
    await sat.until(lambda: is_once(rows, tape(sat)), "every row, once")


async def test_a_long_thing_waits_while_something_lies_over_it(sat: Sitting) -> None:
    """Under an overlay nothing becomes history: rows would pile up."""
    handle = sat.display.show_overlay(MessageBlock(TranscriptMessage("", "over it"), drawing()))
    sat.hears(User(_LINES, source="person"))
    await sat.until(lambda: sat.console.transcript.behind, "it")
    block = sat.console.transcript.blocks[-1]
    made = len(block.render(80))
    sat.press("q")
    await sat.until(lambda: sat.console.beat._timer is not None, "the next look")
    assert len(block.render(80)) == made
    handle.hide()
    await sat.until(finished(sat), "the end of it")


async def test_a_long_thing_waits_for_a_slow_terminal(sat: Sitting) -> None:
    """No frame is drawn while earlier bytes wait, and no rows are made for it."""
    sat.hears(User(_LINES, source="person"))
    await sat.until(lambda: tape(sat), "the first frame")
    surface: Any = sat.display.surface
    surface.busy = True
    block = sat.console.transcript.blocks[-1]
    assert block.behind
    made = len(block.render(80))
    sat.console.beat._beat()
    assert len(block.render(80)) == made
    surface.busy = False
    sat.display.drained()
    await sat.until(finished(sat), "the end of it")
    await sat.until(lambda: is_once(said_in_one_go(TranscriptMessage("", _LINES)), tape(sat)), "every row, once")


def test_another_width_draws_what_is_left_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is history stays there, and what follows begins with the letter after it."""
    monkeypatch.setattr(_gradual, "SLICE", 0.0)
    block = MessageBlock(TranscriptMessage("", _LINE), drawing(unfolded=True))
    first = list(block.render(80))
    assert block.behind
    assert block.release(len(first)) == len(first)
    rest = "".join(block.render(40))
    assert not block.behind
    assert f"{''.join(first)} {rest}".replace("›", "").split() == _LINE.split()


def test_many_calls_are_laid_out_in_one_pass(sat_view: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice as many take twice as many looks, not four times."""
    looks = 0
    asked = CallBlock.open_ended.fget  # type: ignore[attr-defined]

    def counted(block: CallBlock) -> bool:
        nonlocal looks
        looks += 1
        return bool(asked(block))

    monkeypatch.setattr(CallBlock, "open_ended", property(counted))
    numbers = []
    for count in (200, 400):
        looks = 0
        sat_view.replace(kept(*calls(count)))
        numbers.append(looks)
        looks = 0
        sat_view.apply(list(calls(count, "more")))
        numbers.append(looks)
    kept_some, told_some, kept_twice, told_twice = numbers
    assert kept_twice <= 2.2 * kept_some
    assert told_twice <= 2.2 * told_some


@pytest.fixture
async def sat_view(sat: Sitting) -> Any:
    return sat.console.transcript


async def test_what_comes_at_once_is_handed_on_in_parts() -> None:
    """No more of it than a frame can draw, all of it, in order."""
    events = list(calls(130))
    parts = [part async for part in _link._parts(events)]
    assert [len(part) for part in parts] == [100, 100, 60]
    assert [event for part in parts for event in part] == events
    snapshot = Snapshot()
    assert [part async for part in _link._parts(snapshot)] == [snapshot]


def test_of_a_large_table_only_what_is_shown_is_read() -> None:
    """Its size is told nevertheless."""
    read = 0

    class Cell:
        def __str__(self) -> str:
            nonlocal read
            read += 1
            return "cell"

    entry = call(content="", details=ui("table", columns=["a"], rows=[[Cell()] for _ in range(5000)]))
    assert "5,000 rows" in "\n".join(drawn(entry))
    assert read <= 500


def test_of_long_code_only_what_is_shown_is_coloured(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell of thousands of lines, folded and unfolded."""
    lines: list[int] = []

    class Counted(_command.Code):
        def __init__(self, text: str, *args: Any, **options: Any) -> None:
            lines.append(text.count("\n") + 1)
            super().__init__(text, *args, **options)

    monkeypatch.setattr(_command, "Code", Counted)
    code = "\n".join(f"print({number})" for number in range(8000))
    for unfolded, most in ((False, 11), (True, 41)):
        rows = drawn(call(content="", args={"code": code}), drawing(unfolded=unfolded))
        assert any("more lines" in row for row in rows)
        assert max(lines) == most
        assert max(lines) < LONG


def calls(count: int, name: str = "call") -> list[Event]:
    """So many that began and ended."""
    events: list[Event] = []
    for number in range(count):
        events.append(ToolUse(f"{name}-{number}", "Bash", args={"command": "true"}))
        events.append(ToolResult(f"{name}-{number}", "", ui("command"), exit_code=0))
    return events


def kept(*events: Event) -> Snapshot:
    return fold([stamp(event, number, 1000.0) for number, event in enumerate(events, 1)])


def test_a_short_thing_is_drawn_at_once() -> None:
    """There is nothing to wait for: it is done before anybody looks."""
    block = MessageBlock(TranscriptMessage("", "short"), drawing(PLAIN))
    assert block.done
    assert not block.behind
