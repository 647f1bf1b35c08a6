"""Deliberate breaks of the engine, one rule each. The fidelity gate must go red for every one of them."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import pytest

from sightline.testing.emulators import Kind
from sightline.testing.fidelity import _session
from sightline.tty.cells._width import measure
from sightline.tty.frame import _display, _painter, _rows
from sightline.tty.frame._composer import Composer, Frame
from sightline.tty.frame._display import Display
from sightline.tty.frame._ledger import FrameStep, Ledger
from sightline.tty.frame._painter import Painter, Place
from sightline.tty.terminal._capabilities import Capabilities

Break = Callable[[pytest.MonkeyPatch], None]


class Mutation(NamedTuple):
    """A rule of the contract (§3), how it is broken, and by which rules of the gate that may be found."""

    invariant: int
    apply: Break
    rules: tuple[str, ...]
    emulator: Kind = "xterm"


MUTATIONS: dict[str, Mutation] = {}


def mutation(invariant: int, *rules: str, emulator: Kind = "xterm") -> Callable[[Break], Break]:
    def add(function: Break) -> Break:
        MUTATIONS[function.__name__] = Mutation(invariant, function, rules, emulator)
        return function

    return add


def _after(patch: pytest.MonkeyPatch, owner: type, name: str, then: Callable[..., Any]) -> None:
    """Let `then(result, self, *arguments)` replace what a method gives."""
    original = getattr(owner, name)

    def replaced(self: Any, *arguments: Any, **named: Any) -> Any:
        return then(original(self, *arguments, **named), self, *arguments)

    patch.setattr(owner, name, replaced)


@mutation(1, "no ED2 or ED3 in an ordinary frame")
def history_is_cleared_by_an_update(patch: pytest.MonkeyPatch) -> None:
    _after(patch, Painter, "commit", lambda _, painter, *__: painter._out.append("\x1b[3J"))


@mutation(1, "no ED2 or ED3 in an ordinary frame")
def a_forced_frame_clears_the_screen(patch: pytest.MonkeyPatch) -> None:
    _after(patch, Painter, "erase", lambda _, painter, *__: painter._out.append("\x1b[2J"))


@mutation(1, "only relative moves and erasing to the end")
def an_update_goes_home(patch: pytest.MonkeyPatch) -> None:
    _after(patch, Painter, "commit", lambda _, painter, *__: painter._out.append("\x1b[H"))


@mutation(2, "tape")
def the_window_reaches_into_history(patch: pytest.MonkeyPatch) -> None:
    def lower(step: FrameStep, ledger: Ledger, length: int, boundary: int, height: int) -> FrameStep:
        return step._replace(top=max(0, length - height))

    _after(patch, Ledger, "step", lower)


@mutation(2, "history is rewritten")
def a_committed_row_is_written_again(patch: pytest.MonkeyPatch) -> None:
    """In a later frame, with the same text: where it is still on the screen, nothing shows it."""
    last: dict[int, str] = {}

    def again(_: None, painter: Painter, target: Sequence[str], chunk: int, *__: int) -> None:
        if chunk:
            last[id(painter)] = _rows.fitted(target[chunk - 1], 20)
        elif id(painter) in last:
            painter._go_to(-1)
            painter._out.append("\r" + last[id(painter)])
            painter._column = -1

    _after(patch, Painter, "commit", again)


@mutation(2, "tape")
def the_audit_is_skipped(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Display, "_audit", lambda display, frame: None)


@mutation(2, "tape")
def rows_that_moved_are_not_written_again(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Ledger, "resync", lambda ledger, row: None)


@mutation(3, "tape")
def the_chunk_is_one_row_short(patch: pytest.MonkeyPatch) -> None:
    def shorter(step: FrameStep, *_: Any) -> FrameStep:
        return step._replace(end=max(step.start, step.end - 1))

    _after(patch, Ledger, "step", shorter)


@mutation(3, "tape", "history grows by what is committed", "cursor row")
def a_row_too_many_is_scrolled(patch: pytest.MonkeyPatch) -> None:
    def scrolled(_: None, painter: Painter, target: Sequence[str], chunk: int, *__: int) -> None:
        if chunk:
            painter._go_to(len(painter.painted) - 1)
            painter._out.append("\n\x1b[A")

    _after(patch, Painter, "commit", scrolled)


@mutation(3, "tape")
def one_row_too_many_is_inserted(patch: pytest.MonkeyPatch) -> None:
    def inserted(_: None, painter: Painter, *__: Any) -> None:
        painter._out[:] = ["\x1b[2L" if part == "\x1b[L" else part for part in painter._out]

    _after(patch, Painter, "_insert", inserted)


@mutation(3, "tape")
def a_deleted_row_stays(patch: pytest.MonkeyPatch) -> None:
    def deleted(_: None, painter: Painter, *__: Any) -> None:
        painter._out[:] = [part for part in painter._out if part != "\x1b[M"]

    _after(patch, Painter, "_delete_rows", deleted)


@mutation(3, "tape", "history grows by what is committed")
def what_is_written_above_the_window_is_a_row_short(patch: pytest.MonkeyPatch) -> None:
    original = Painter._write_above
    patch.setattr(Painter, "_write_above", lambda painter, rows, width: original(painter, rows[1:], width))


@mutation(4, "a region ends with its frame")
def a_region_stays(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(_painter, "_NO_REGION", "")


@mutation(4, "only relative moves and erasing to the end")
def the_terminal_is_asked_where_the_cursor_is(patch: pytest.MonkeyPatch) -> None:
    _after(patch, Painter, "commit", lambda _, painter, *__: painter._out.append("\x1b[6n"))


@mutation(5, "tape")
def rows_that_may_change_become_history(patch: pytest.MonkeyPatch) -> None:
    original = Ledger.step

    def step(ledger: Ledger, length: int, boundary: int, height: int, *, frozen: bool = False) -> FrameStep:
        return original(ledger, length, length, height, frozen=frozen)

    patch.setattr(Ledger, "step", step)


@mutation(5, "tape")
def what_lies_under_an_overlay_becomes_history(patch: pytest.MonkeyPatch) -> None:
    original = Ledger.step

    def step(ledger: Ledger, length: int, boundary: int, height: int, *, frozen: bool = False) -> FrameStep:
        return original(ledger, length, boundary, height)

    patch.setattr(Ledger, "step", step)


@mutation(5, "tape")
def an_overlay_becomes_history(patch: pytest.MonkeyPatch) -> None:
    """Overlays are laid over the frame's own rows, which the ledger then takes for content."""
    original = _display.composite

    def into_the_frame(window: list[str], *arguments: Any) -> list[str]:
        return original([f"{row[:1]}?" for row in window], *arguments)

    patch.setattr(_display, "composite", into_the_frame)


@mutation(6, "cursor row")
def the_cursor_is_parked_at_the_bottom_of_the_screen(patch: pytest.MonkeyPatch) -> None:
    def parked(_: None, painter: Painter, cursor: Place | None, width: int) -> None:
        if cursor is None:
            painter._out.append("\x1b[99B")

    _after(patch, Painter, "_place", parked)


@mutation(7, "one synchronized frame encloses everything")
def the_cursor_is_placed_after_the_frame(patch: pytest.MonkeyPatch) -> None:
    _after(patch, Painter, "_framed", lambda text, *_: f"{text}\x1b[?25h" if "\x1b[?2026h" in text else text)


@mutation(7, "one synchronized frame encloses everything")
def a_frame_is_not_ended(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(_painter, "END_FRAME", "")


@mutation(7, "a frame is one write")
def a_frame_is_two_writes(patch: pytest.MonkeyPatch) -> None:
    def twice(display: Display, text: str, **_: Any) -> None:
        middle = len(text) // 2
        display.surface.write(text[:middle])
        display.surface.write(text[middle:])

    patch.setattr(Display, "_write", twice)


@mutation(8, "ValueError")
def a_row_that_is_too_wide_raises(patch: pytest.MonkeyPatch) -> None:
    def fitted(row: str, width: int) -> str:
        if measure(row) > width:
            raise ValueError(f"{measure(row)} cells do not fit {width}")
        return _rows.fitted(row, width)

    patch.setattr(_painter, "fitted", fitted)


@mutation(8, "tape", "cursor row", "history grows by what is committed")
def a_row_that_is_too_wide_is_not_cut(patch: pytest.MonkeyPatch) -> None:
    original = _rows.fitted
    patch.setattr(_painter, "fitted", lambda row, width: original(row, 10_000))


@mutation(8, "only known sequences are written", "no control characters", "no ED2 or ED3 in an ordinary frame",
          "only relative moves and erasing to the end", "only known modes are set")  # fmt: skip
def a_row_may_hold_anything(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(_rows, "make_safe", lambda row: row)


@mutation(8, "no automatic wrapping where widths are in doubt")
def widths_in_doubt_may_wrap(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(_painter, "may_overflow", lambda row, width: False)


@mutation(9, "only relative moves and erasing to the end", "no ED2 or ED3 in an ordinary frame", emulator="tmux")
def a_multiplexer_is_cleared(patch: pytest.MonkeyPatch) -> None:
    def unaware(**named: Any) -> Capabilities:
        return Capabilities(**{**named, "multiplexer": ""})

    patch.setattr(_session, "Capabilities", unaware)


@mutation(9, "letters of the tape", "tape", "StopIteration", emulator="tmux")
def a_multiplexer_gets_its_history_anew(patch: pytest.MonkeyPatch) -> None:
    """Without clearing: everything is written again below what is there."""

    def from_the_start(display: Display, frame: Frame, columns: int, height: int) -> None:
        display._composer.restore()
        display._ledger.restart()

    patch.setattr(Display, "_continued", from_the_start)


@mutation(9, "letters of the tape", "tape", emulator="tmux")
def a_multiplexer_is_taken_not_to_wrap(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Display, "_continued", lambda display, frame, columns, height: None)


@mutation(10, "tape")
def a_gesture_forgets_what_left_the_composition(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Composer, "restore", lambda composer: None)


@mutation(10, "tape after suspending")
def what_is_final_is_lost_when_the_window_is_given_up(patch: pytest.MonkeyPatch) -> None:
    def settle(ledger: Ledger, boundary: int, length: int) -> FrameStep:
        return FrameStep(ledger.committed, ledger.committed, ledger.committed)

    patch.setattr(Ledger, "settle", settle)


@mutation(10, "tape")
def what_is_longer_than_its_successor_stays(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(_rows, "ERASE_TO_END", "")


@mutation(10, "style of a cell")
def a_row_taken_up_again_has_no_style(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(_rows, "_open_style", lambda text: "")


@mutation(10, "cursor column")
def the_cursor_is_a_column_off(patch: pytest.MonkeyPatch) -> None:
    original = Painter._place

    def place(painter: Painter, cursor: Place | None, width: int) -> None:
        original(painter, cursor and (cursor[0], cursor[1] + 1), width)

    patch.setattr(Painter, "_place", place)


def names() -> Iterable[str]:
    return sorted(MUTATIONS, key=lambda name: MUTATIONS[name].invariant)
