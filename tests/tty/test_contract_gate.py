"""The fidelity gate looks: tui-core-renderer.md §3.10 and §6. What would break the contract makes it red."""

from collections.abc import Iterator

import pytest

from sightline.testing.emulators import KINDS, Kind
from sightline.testing.fidelity import Case, Divergence, Session, World, case_of, failure_of, make_case
from sightline.testing.fidelity._bytes import Position, check_frame
from sightline.testing.fidelity._grid import without_marks
from sightline.testing.fidelity._operations import ON_SCENE, ON_TERMINAL, Operation
from tests import needs

BEGIN, END = "\x1b[?2026h", "\x1b[?2026l"


@pytest.mark.parametrize("kind", KINDS)
def test_s3_10_s6_a_random_sequence_shows_what_the_shadow_says(kind: Kind) -> None:
    """§3.10, §6: the engine's real bytes in a real emulator; the whole tape after every operation."""
    needs.require(["tmux" if kind == "tmux" else "node"])
    case = case_of(4, kind)
    failure = failure_of(case)
    assert failure is None, failure.detail


def test_s6_a_seed_is_a_case() -> None:
    """§6: seeds and replay: the same seed makes the same world and sequence; other seeds others."""
    assert case_of(7, "xterm") == case_of(7, "xterm")
    assert case_of(7, "xterm") != case_of(8, "xterm")
    assert len({make_case(seed, "xterm", 1).world for seed in range(40)}) > 30


def test_s6_everything_that_can_happen_is_in_the_sequences() -> None:
    """§6: appending, streaming, rewriting, inserting, finishing, overlays, sizes, suspending, broken promises."""
    every = set(ON_SCENE) | set(ON_TERMINAL)
    assert every >= {"append", "stream", "rewrite_tail", "insert_block", "finish", "open_overlay", "close_overlay"}
    assert every >= {"resize", "resize_storm", "zoom", "split", "attach", "suspend", "break_promise", "scroll_reader"}
    names = {operation.do for seed in range(60) for operation in case_of(seed, "tmux").operations}
    assert names >= {name for name, weight in ON_TERMINAL.items() if weight}


@pytest.fixture
def session() -> Iterator[Session]:
    session = Session(World("xterm", 40, 8, "transcript"))
    for seed in range(12):
        session.apply(Operation("append", seed, size=2))
    yield session
    session.close()


@pytest.mark.parametrize(
    ("bytes_besides", "rule"),
    [
        ("\x1b7\x1b[A\x1b[AX\x1b8", "tape"),
        ("\x1b7\x1b[H\x1b[K\x1b8", "tape"),
        ("\r\n", "cursor row"),
        ("\x1b[G", "cursor column"),
        ("\x1b[8;1H\r\n\x1b[A", "tape"),
    ],
    ids=["another letter", "a row erased", "cursor below", "cursor beside", "a row scrolled away"],
)
def test_s6_what_is_written_besides_is_found(session: Session, bytes_besides: str, rule: str) -> None:
    """§6: tape, history and the parking of the cursor are compared: a byte too many is a divergence."""
    session.emulator.write(bytes_besides)
    with pytest.raises(Divergence) as caught:
        session._check()
    assert caught.value.rule in (rule, "history grows by what is committed", "tape")


def test_s6_columns_in_another_colour_are_found(session: Session) -> None:
    """§6: cells are compared with their style, backgrounds of blanks included."""
    blue = "".join(f"\x1b[{row};40H\x1b[44m \x1b[0m" for row in (6, 8))
    session.emulator.write(f"\x1b7{blue}\x1b8")

    def look_at_every_row() -> None:
        for _ in range(40):
            session._check()

    with pytest.raises(Divergence, match="style of a cell"):
        look_at_every_row()


def test_s6_a_reader_who_is_moved_is_found(session: Session) -> None:
    """§6: a scrolled reader stays pinned to the rows he reads."""
    session.apply(Operation("scroll_reader", 4))
    session.apply(Operation("append", 99))
    session.emulator.scroll_up(-100_000)
    if session._reader is None:
        pytest.fail("nobody scrolled up")
    with pytest.raises(Divergence, match="reader"):
        session._check()


@pytest.mark.parametrize(
    ("frame", "rule"),
    [
        ("\x1b[2Aup", "one synchronized frame encloses everything"),
        (f"{BEGIN}\x1b[Aup{END}\x1b[3G", "one synchronized frame encloses everything"),
        (f"{BEGIN}\x1b[2Jx{END}", "no ED2 or ED3 in an ordinary frame"),
        (f"{BEGIN}\x1b[3Jx{END}", "no ED2 or ED3 in an ordinary frame"),
        ("\x1b[Hx", "only relative moves and erasing to the end"),
        ("\x1b[?7lx", "automatic wrapping is on again after a frame"),
        ("\x1b[?1049hx", "only known modes are set"),
        ("a\tb", "no control characters"),
        (f"{BEGIN}\x1b[4Ax{END}", "history is rewritten"),
    ],
)
def test_s6_bytes_that_break_a_rule_are_found(frame: str, rule: str) -> None:
    """§6: bracket discipline, autowrap pairs, no clear, no home, nothing on a row that is history."""
    with pytest.raises(Divergence) as caught:
        check_frame(frame, synchronized=True, gesture=False, position=Position(10, 8))
    assert caught.value.rule == rule


def test_s6_an_honest_frame_passes() -> None:
    """The rules can be kept: the same shapes, as the engine writes them."""
    check_frame(
        f"{BEGIN}\x1b[2Aup\r\n\x1b[?7lrow\x1b[?7h{END}", synchronized=True, gesture=False, position=Position(10, 8)
    )
    check_frame(f"{BEGIN}\x1b[2J\x1b[H\x1b[3Jall{END}", synchronized=True, gesture=True, position=None)


def test_s5_s6_rows_with_many_marks_are_compared_without_them() -> None:
    """§5, known residual: emulators may move combining marks between cells when read back."""
    assert without_marks("العَرَبِيَّة") == "العربية"
    assert without_marks("plain") == "plain"


def test_s6_a_case_can_be_written_down_and_run_again() -> None:
    """§6: replay: a case survives as one line of text."""
    import msgspec

    case = case_of(3, "ghostty")
    assert msgspec.json.decode(msgspec.json.encode(case), type=Case) == case
