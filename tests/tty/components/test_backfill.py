"""A long past is shown from its end: the last screenful at once, the rest above it, and nothing moves."""

import asyncio
import contextlib
import re

import pytest

from sightline.testing.emulators import KINDS, open_emulator
from sightline.tty._component import Component, Rows
from sightline.tty._linear import LinearDisplay
from sightline.tty.components import BlockColumn, backfill, show_end
from sightline.tty.frame._display import Display
from sightline.tty.terminal._capabilities import Capabilities
from tests.tty.glass import Chrome, Glass
from tests.tty.paper import Paper
from tests.tty.support import Lines, a_display

SIZE = (40, 12)


def blocks(count, *, first=0):
    """Every row once, and blank ones between them."""
    return [Lines(f"row {index}a", f"row {index}b 漢字") for index in range(first, first + count)]


def told(some):
    rows = []
    for block in some:
        rows += [*([""] if rows else []), *block.rows]
    return rows


def held(display, past):
    """A display on which the end of the past is shown; the transcript, and what is to be filled in."""
    transcript = BlockColumn()
    display.add(transcript)
    display.add(Chrome())
    older = show_end(transcript, past, display.surface.size)
    display.render_now()
    return transcript, older


def test_the_last_screenful_is_there_at_once_and_is_no_history():
    """As many blocks as fill the screen are asked for their rows; the others are not."""
    paper = Paper(*SIZE)
    past = blocks(100)
    _, older = held(a_display(paper), past)
    assert len(paper.tape) == SIZE[1]
    assert paper.tape[-4] == "row 99b 漢字"
    assert sum(block.asked > 0 for block in past) == len(past) - len(older) == 6


def test_a_short_past_is_just_shown():
    """Nothing is held where nothing is missing."""
    transcript = BlockColumn()
    assert not show_end(transcript, blocks(2), SIZE)
    assert transcript.held is None
    assert len(transcript) == 2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("slices", [1, 7, 50])
def test_all_of_it_is_history_in_order_each_row_once(kind, slices):
    """In real terminals, however it is cut; the screen reads the same after each slice."""
    with contextlib.closing(open_emulator(kind, *SIZE)) as emulator:
        display, past = Glass(emulator).display(), blocks(60)
        transcript, older = held(display, past)
        screen = emulator.tape().screen
        step = -(-len(older) // slices)
        for at in range(0, len(older), step):
            transcript.fill(older[at : at + step])
            display.request_render()
            display.render_now()
            assert emulator.tape().screen == screen
        transcript.release_hold()
        display.request_render()
        display.render_now()
        tape = emulator.tape()
        assert tape.text[: len(told(past))] == told(past)
        assert tape.screen == screen


def test_only_the_first_two_rows_are_touched_on_the_way():
    """Where a terminal does not show frames at once: whatever part of it has arrived, all rows below stand still."""
    with contextlib.closing(open_emulator("xterm", *SIZE)) as emulator:
        surface = Glass(emulator)
        display = Display(surface, Capabilities(synchronized_output=False))
        transcript, older = held(display, blocks(20))
        below = emulator.tape().screen[2:]
        written: list[str] = []
        surface.write = written.append  # type: ignore[method-assign]
        transcript.fill(older)
        display.request_render()
        display.render_now()
        for part in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|\r\n|[^\x1b\r]+|\r", "".join(written)):
            emulator.write(part)
            assert emulator.tape().screen[2:] == below, part


def test_what_goes_on_meanwhile_is_shown_and_waits_for_its_turn():
    """A block that streams below, while older ones come in above: in the end all is there in order."""
    with contextlib.closing(open_emulator("xterm", *SIZE)) as emulator:
        display, past = Glass(emulator).display(), blocks(30)
        transcript, older = held(display, past)
        news = Lines("news 0")
        transcript.append(news, live=True)
        for index, block in enumerate(older):
            transcript.fill([block])
            news.set([*news.rows, f"news {index + 1}"])
            display.request_render()
            display.render_now()
            assert emulator.tape().screen[-4].startswith(f"news {index + 1}")
        transcript.finish(news)
        transcript.release_hold()
        display.request_render()
        display.render_now()
        expected = told([*past, news])
        assert emulator.tape().text[: len(expected)] == expected


def test_a_change_of_size_in_the_middle_leaves_nothing_out():
    """History is written anew with what was filled in, and goes on from there."""
    with contextlib.closing(open_emulator("xterm", *SIZE)) as emulator:
        surface, past = Glass(emulator), blocks(40)
        display = surface.display()
        transcript, older = held(display, past)
        transcript.fill(older[:10])
        display.request_render()
        display.render_now()
        emulator.resize(50, 20)
        surface.has_new_size(display)
        transcript.fill(older[10:])
        display.request_render()
        display.render_now()
        transcript.release_hold()
        display.request_render()
        display.render_now()
        assert emulator.tape().text[: len(told(past))] == told(past)


@pytest.mark.parametrize("multiplexer", ["screen", "zellij"])
def test_a_multiplexer_that_loses_what_leaves_a_region_gets_none(multiplexer):
    """It is written through the window, as everything else is there."""
    paper, past = Paper(*SIZE), blocks(30)
    display = a_display(paper, multiplexer=multiplexer)
    transcript, older = held(display, past)
    transcript.fill(older)
    transcript.release_hold()
    display.request_render()
    display.render_now()
    assert not any("\x1b[1;2r" in text for text in paper.written)
    assert paper.tape[: len(told(past))] == told(past)


def test_a_block_that_was_taller_than_the_screen_leaves_it_standing():
    """When it is finished its first rows become history, without having been on the screen."""
    paper = Paper(*SIZE)
    display = a_display(paper)
    transcript, tall = BlockColumn(), Lines(*(f"row {index}" for index in range(100)))
    transcript.append(tall, live=True)
    display.add(transcript)
    display.add(Chrome())
    display.render_now()
    transcript.finish(tall)
    display.request_render()
    display.render_now()
    assert "\x1b[1;2r" in paper.written[-1]
    assert len(paper.written[-1]) < 100 * 9 + 100  # the rows, not the window again
    assert paper.tape[:100] == list(tall.rows)


def test_filling_in_needs_a_hold():
    with pytest.raises(ValueError, match="hold"):
        BlockColumn().fill(blocks(1))


def test_blocks_before_the_hold_come_and_go_without_moving_it():
    """Where older blocks go in is told by those that are held."""
    transcript = BlockColumn(gap=0)
    first, second = Lines("first"), Lines("second")
    transcript.append(first)
    transcript.hold()
    transcript.append(Lines("held"))
    transcript.insert(0, second)
    transcript.remove(first)
    transcript.fill([Lines("filled")])
    assert list(transcript.render(40)) == ["second", "filled", "held"]
    assert transcript.safe_to() == 2
    transcript.release_hold()
    transcript.render(40)
    assert transcript.safe_to() == 3


def test_an_empty_block_that_is_held_does_not_slip_into_history():
    """It has no row that could keep it."""
    paper = Paper(*SIZE)
    display, transcript = a_display(paper), BlockColumn(gap=0)
    display.add(transcript)
    transcript.hold()
    late = Lines()
    transcript.append(late, live=True)
    transcript.append(Lines(*(f"end {index}" for index in range(20))))
    transcript.finish(late)
    transcript.fill([Lines("old")])
    display.render_now()
    transcript.fill([Lines("less old")])
    display.request_render()
    display.render_now()
    transcript.release_hold()
    display.request_render()
    display.render_now()
    assert paper.tape == ["old", "less old", *(f"end {index}" for index in range(20))]


# ---- in slices, on a loop


class Slow(Component):
    """Takes a while to draw."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._rows: Rows | None = None

    def render(self, width: int) -> Rows:
        if self._rows is None:
            import time

            end = time.perf_counter() + 0.003
            while time.perf_counter() < end:
                pass
            self._rows = (self.name,)
        return self._rows


def on_loop(past, *, meanwhile=None, surface=None):
    """Show the past on a display with a loop; what is on the tape in the end, and how many frames it took."""
    paper = surface or Paper(*SIZE)

    async def main():
        loop = asyncio.get_running_loop()
        display = Display(paper, Capabilities(synchronized_output=True), loop)
        transcript = BlockColumn(gap=0)
        display.add(transcript)
        display.add(Lines("prompt"))
        older = show_end(transcript, past, paper.size)
        display.render_now()
        filling = loop.create_task(backfill(display, transcript, older))
        if meanwhile is not None:
            await meanwhile(display, transcript)
        await asyncio.wait_for(filling, 20)
        display.render_now()
        return transcript

    return asyncio.run(main()), paper


def test_it_is_filled_in_by_slices_between_which_the_loop_is_free():
    """Keys are heard in between: a timer that is due each millisecond never waits for long."""
    waits = []

    async def meanwhile(display, transcript):
        loop = asyncio.get_running_loop()
        while transcript.held is not None:
            before = loop.time()
            await asyncio.sleep(0)
            waits.append(loop.time() - before)

    past = [Slow(f"row {index}") for index in range(60)]
    _, paper = on_loop(past, meanwhile=meanwhile)
    assert paper.tape == [*(f"row {index}" for index in range(60)), "prompt"]
    assert len(waits) > 20
    assert sorted(waits)[len(waits) // 2] < 0.016


def test_it_waits_while_something_lies_over_the_window():
    """Under an overlay nothing becomes history."""

    async def meanwhile(display, transcript):
        overlay = display.show_overlay(Lines("a question"))
        for _ in range(5):
            await asyncio.sleep(0.01)
        assert len(transcript) < 30
        assert "row 0" not in paper.tape
        overlay.hide()

    paper = Paper(*SIZE)
    on_loop([Lines(f"row {index}") for index in range(30)], meanwhile=meanwhile, surface=paper)
    assert paper.tape == [*(f"row {index}" for index in range(30)), "prompt"]


def test_it_waits_for_a_slow_terminal():
    """Nothing piles up: as much is filled in as was drawn."""

    async def meanwhile(display, transcript):
        paper.busy = True
        await asyncio.sleep(0.02)
        assert len(transcript) < 30
        paper.busy = False
        display.drained()

    paper = Paper(*SIZE)
    on_loop([Slow(f"row {index}") for index in range(30)], meanwhile=meanwhile, surface=paper)
    assert paper.tape == [*(f"row {index}" for index in range(30)), "prompt"]


def test_a_transcript_that_is_cleared_meanwhile_ends_it():
    """What was to be filled in belongs to what is gone."""

    async def meanwhile(display, transcript):
        transcript.clear()
        transcript.append(Lines("another session"))
        display.request_render()

    transcript, _ = on_loop([Slow(f"row {index}") for index in range(30)], meanwhile=meanwhile)
    assert len(transcript) == 1


class Sheet:
    """Takes lines."""

    size, busy, text = SIZE, False, ""

    def write(self, text):
        self.text += text


def test_on_lines_it_is_told_in_order():
    """There is no screen to be filled first: everything is written when its turn has come."""
    surface, past = Sheet(), [Lines(f"row {index}") for index in range(30)]

    async def main():
        display = LinearDisplay(surface, Capabilities(linear=True), asyncio.get_running_loop())
        transcript = BlockColumn(gap=0)
        display.add(transcript)
        older = show_end(transcript, past, surface.size)
        display.render_now()
        await backfill(display, transcript, older)
        display.stop()

    asyncio.run(main())
    assert surface.text.split() == [word for index in range(30) for word in ("row", str(index))]
