"""The ten invariants of the contract (tui-core-renderer.md §3): each holds, and the gate sees when it does not."""

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import sightline.tty
from sightline.testing.emulators import Kind
from sightline.testing.fidelity import Failure, Session, World, failure_of, make_case
from sightline.testing.fidelity._operations import Operation
from tests.tty.mutations import MUTATIONS, names

CASES, LENGTH = 14, 90
"""How long a mutation may stay unseen."""
CLEARS = "\x1b[2J\x1b[H\x1b[3J"


def first_failure(kind: Kind) -> Failure | None:
    found = (failure_of(make_case(seed, kind, LENGTH)) for seed in range(CASES))
    return next((failure for failure in found if failure is not None), None)


@pytest.mark.parametrize("name", names())
def test_a_broken_rule_turns_the_gate_red(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One rule broken in the engine: within a bounded number of operations the gate names what it sees."""
    mutation = MUTATIONS[name]
    mutation.apply(monkeypatch)
    failure = first_failure(mutation.emulator)
    assert failure is not None, f"{name} went unseen"
    assert failure.rule in mutation.rules, failure.detail


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["xterm", "ghostty", "tmux"])
def test_the_same_operations_are_green_unbroken(kind: Kind) -> None:
    """The operations that find every mutation find nothing in the engine as it is."""
    failure = first_failure(kind)
    assert failure is None, failure.detail


def test_every_invariant_has_a_mutation() -> None:
    """§3 has ten rules; each of them is broken at least once above."""
    assert {mutation.invariant for mutation in MUTATIONS.values()} == set(range(1, 11))


@contextmanager
def drawn(kind: Kind = "xterm", columns: int = 40, rows: int = 8) -> Iterator[Session]:
    """A session with more rows than the screen has."""
    session = Session(World(kind, columns, rows, "transcript", shell_rows=3))
    try:
        for seed in range(10):
            session.apply(Operation("append", seed, size=2))
        yield session
    finally:
        session.close()


def written(session: Session, *operations: Operation) -> str:
    """The bytes of these operations; each is held against the shadow on its way."""
    before = len(session.written)
    for operation in operations:
        session.apply(operation)
    return "".join(session.written[before:])


def test_invariant_1_history_is_cleared_by_gestures_only() -> None:
    """ED3 comes once with a resize, a reset, a replaced session; never with anything else, nor in a multiplexer."""
    ordinary = [
        Operation(name, 7, size=4) for name in ("append", "begin", "grow", "stream", "tick", "finish", "redraw")
    ]
    gestures = [Operation("resize", 5), Operation("reset", 1), Operation("replace_session", 9, size=3)]
    with drawn() as session:
        assert "\x1b[3J" not in "".join(session.written) + written(session, *ordinary)
        for gesture in gestures:
            assert written(session, gesture).count(CLEARS) == 1
    with drawn("tmux") as session:
        assert "J" not in written(session, *ordinary, *gestures).replace("\x1b[J", "")


def test_invariant_2_a_committed_row_is_never_written_again() -> None:
    """What is in the scrollback stays as it is while the window changes; a moved row is doubled, not lost."""
    with drawn() as session:
        before = session.emulator.tape().rows[: len(session.shadow.state.tape)]
        written(session, *(Operation(name, 3, size=3) for name in ("begin", "grow", "tick_block", "edit", "tick")))
        assert session.emulator.tape().rows[: len(before)] == before
        moved = session.scene.blocks[2]
        session.scene.remove(moved)
        written(session, Operation("tick", 1))
        rows = session.emulator.tape().rows
        assert rows[: len(before)] == before
        assert rows.count("3n0") + rows.count("4n0") >= 1


def test_invariant_3_history_grows_by_the_chunk() -> None:
    """A frame that makes five rows history makes the tape's scrollback five rows longer, whatever else it draws."""
    with drawn() as session:
        for operation in (Operation("append", 77, size=5), Operation("edit", 4, size=3), Operation("flood", 5, size=2)):
            tape, scrollback = len(session.shadow.state.tape), session.emulator.tape().scrollback
            written(session, operation)
            assert session.emulator.tape().scrollback - scrollback == len(session.shadow.state.tape) - tape


def test_invariant_4_nothing_asks_for_the_viewport_or_the_platform() -> None:
    """The modules that make a frame know no platform, no environment and no question to the terminal."""
    folder = Path(sightline.tty.__file__).parent / "frame"
    frame = ("_ledger", "_composer", "_painter", "_rows", "_display", "_overlays", "_reflow", "_continuation")
    for module in frame:
        tree = ast.parse((folder / f"{module}.py").read_text())
        imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        assert not imported & {"os", "sys", "platform"}, module
        strings = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
        assert not any(isinstance(text, str) and text.endswith(("[6n", "[c", "[5n", "[?6n")) for text in strings)


def test_invariant_5_rows_that_may_change_stay_in_the_window() -> None:
    """A live block that rewrites itself holds everything after it out of history, however tall it is."""
    with drawn() as session:
        written(session, Operation("begin", 50, size=9), Operation("tick_block", 1), Operation("append", 51, size=9))
        assert not any("33n" in row or "32n" in row for row in session.shadow.state.tape)
        written(session, Operation("finish_all", 0))
        assert any("33n0" in row for row in session.shadow.state.tape)


def test_invariant_6_the_cursor_is_parked_on_the_last_row_of_content() -> None:
    """Nobody has the focus: the cursor is hidden on the last row that is drawn, not at the bottom of the screen."""
    session = Session(World("xterm", 40, 20, "transcript", hardware_cursor=False))
    try:
        written(session, Operation("append", 1, size=2))
        tape = session.emulator.tape()
        assert tape.scrollback + tape.cursor[1] == len(tape.text) - 1
        assert session.emulator.modes().cursor_visible is False
        written(session, Operation("resize", 6))
    finally:
        session.close()


def test_invariant_7_the_cursor_is_placed_inside_the_frame() -> None:
    """Every synchronized frame is one write that ends with its end."""
    with drawn() as session:
        frames = [text for text in session.written if "\x1b[?2026h" in text]
        assert frames
        assert all(text.endswith("\x1b[?2026l") and text.count("\x1b[?2026") == 2 for text in frames)


def test_invariant_8_no_row_makes_the_engine_raise() -> None:
    """Rows that are too wide, or that would drive the terminal, are cut and cleaned."""
    with drawn(columns=20, rows=5) as session:
        written(session, *(Operation("hostile", seed, size=1) for seed in range(20)))


def test_invariant_9_a_multiplexer_keeps_its_history() -> None:
    """A split, a zoom and another size clear nothing; every letter is there once."""
    with drawn("tmux", columns=60, rows=12) as session:
        text = written(
            session, Operation("resize", 7), Operation("split", 2), Operation("zoom", 1), Operation("resize", 11)
        )
        assert "\x1b[2J" not in text
        assert "\x1b[3J" not in text
        assert "".join(session.emulator.tape().rows).count("5n1") == 1


def test_invariant_10_the_gate_holds_the_engine_against_the_contract() -> None:
    """The shadow is a second opinion: it knows nothing of the engine's own ledger."""
    import sightline.testing.fidelity as gate

    for module in ("_shadow", "_window", "_grid", "_bytes", "_divergence"):
        assert "sightline.tty" not in (Path(gate.__file__).parent / f"{module}.py").read_text()
