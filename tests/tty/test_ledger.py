"""The arithmetic of history (§1 and §2 of the contract)."""

from hypothesis import given
from hypothesis import strategies as st

from sightline.tty.frame._ledger import Ledger, first_changed, first_moved


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60), st.integers(1, 20), st.booleans()), max_size=30))
def test_s1_history_only_grows_and_the_window_never_reaches_into_it(
    frames: list[tuple[int, int, int, bool]],
) -> None:
    """W ≥ C always; chunks follow each other without gap or overlap; nothing past the boundary is committed."""
    ledger = Ledger()
    length = 0
    for more, final, height, frozen in frames:
        length += more
        boundary = min(length, final)
        before = ledger.committed
        step = ledger.step(length, boundary, height, frozen=frozen)
        assert ledger.top >= ledger.committed
        if before and length <= before:
            continue
        assert (step.start, step.end) == (before, ledger.committed)
        assert step.end <= max(before, boundary)
        assert not frozen or step.end == before


def test_s1_the_window_is_the_end_of_the_frame() -> None:
    ledger = Ledger()
    step = ledger.step(100, 100, 24)
    assert (step.start, step.end, step.top) == (0, 76, 76)


def test_s1_rows_past_the_boundary_stay_out_of_history() -> None:
    ledger = Ledger()
    step = ledger.step(100, 10, 24)
    assert (step.end, step.top) == (10, 76)


def test_s2_a_shrink_into_history_anchors_the_window_anew() -> None:
    ledger = Ledger()
    ledger.step(100, 100, 20)
    step = ledger.step(50, 50, 20)
    assert (step.start, step.end, step.top) == (30, 30, 30)


def test_s2_a_resync_writes_again_from_the_first_changed_row() -> None:
    ledger = Ledger()
    ledger.step(100, 100, 20)
    ledger.resync(70)
    assert ledger.step(101, 101, 20) == (70, 81, 81)


def test_s2_one_edited_row_is_not_a_move() -> None:
    rows = [f"row {index}" for index in range(30)]
    assert first_moved(rows, [*rows[:28], "edited", rows[29]]) is None


def test_s2_a_restyle_is_not_a_change() -> None:
    rows = [f"row {index}" for index in range(30)]
    assert first_moved(rows, [f"\x1b[2m{row}\x1b[0m" for row in rows]) is None


def test_s2_an_insertion_is_found_at_its_row() -> None:
    rows = [f"row {index}" for index in range(30)]
    assert first_moved(rows, [*rows[:4], "new", *rows[4:]]) == 4


def test_s2_a_removal_is_found_at_its_row() -> None:
    rows = [f"row {index}" for index in range(30)]
    assert first_moved(rows, [*rows[:4], *rows[5:], "next"]) == 4


def test_s2_only_the_last_rows_that_are_not_blank_are_looked_at() -> None:
    """Blank rows say nothing, and what is far above is not compared."""
    rows = ["changed", "changed too", *[""] * 30, "a", "b"]
    assert first_moved(rows, ["x", "y", *rows[2:]]) is None


def test_rows_a_multiplexer_pushed_are_history_at_risk_until_the_boundary_has_passed_them() -> None:
    """Those of what is never final are not."""
    ledger = Ledger()
    ledger.step(20, 6, 20)
    ledger.pushed(15, 6, 12)
    assert (ledger.committed, ledger.firm) == (12, 6)
    ledger.step(24, 9, 20)
    assert (ledger.committed, ledger.firm) == (12, 9)
    ledger.step(30, 14, 10)
    assert (ledger.committed, ledger.firm) == (14, 14)


def test_rows_before_the_boundary_are_not_at_risk() -> None:
    ledger = Ledger()
    ledger.step(20, 10, 20)
    ledger.pushed(8, 10, 18)
    assert (ledger.committed, ledger.firm) == (8, 8)


def test_a_row_at_risk_has_changed_when_it_is_read_differently() -> None:
    """One is enough; its style alone is not."""
    assert first_changed(["a", "b", "c"], ["x", "\x1b[1mb\x1b[0m", "c", "d"], 1) is None
    assert first_changed(["a", "b", "c"], ["a", "b", "d"], 1) == 2
    assert first_changed(["a", "b", "c"], ["a", "b"], 1) == 2
