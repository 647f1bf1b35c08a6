"""Which rows of a live block are safe (§2, the commit-boundary seam)."""

from sightline.tty.components._settling import REARM_FRAMES, STABLE_FRAMES, Settling


def _rows(*rows: str) -> list[str]:
    return list(rows)


def test_s2_a_block_that_only_grows_is_safe_but_for_its_last_row() -> None:
    settling = Settling()
    rows = ["0"]
    settling.observe(rows)
    for index in range(1, 10):
        rows = [*rows, str(index)]
        settling.observe(rows)
    assert settling.safe == 9


def test_s2_a_rewrite_suspends_that_until_the_block_was_clean_for_some_frames() -> None:
    settling = Settling()
    settling.observe(_rows("a"))
    settling.observe(_rows("a", "b", "c"))
    settling.observe(_rows("a", "B", "c"))
    assert settling.safe == 0
    rows = _rows("a", "B", "c")
    for _ in range(REARM_FRAMES):
        rows = [*rows, "more"]
        settling.observe(rows)
    assert settling.safe == len(rows) - 1


def test_s2_a_head_that_stands_still_is_safe_above_a_row_that_ticks() -> None:
    settling = Settling()
    for tick in range(STABLE_FRAMES + 2):
        settling.observe(_rows("prompt", "plan", f"tick {tick}", "end"))
    assert settling.safe == 2


def test_s2_it_is_not_safe_before_the_whole_run_of_frames() -> None:
    settling = Settling()
    for tick in range(STABLE_FRAMES - 1):
        settling.observe(_rows("prompt", f"tick {tick}", "end"))
    assert settling.safe == 0


def test_s2_a_slow_ticker_is_never_promoted_again() -> None:
    """A row that changed after it had been safe keeps everything from it on out of history."""
    settling = Settling()
    for _ in range(STABLE_FRAMES + 2):
        settling.observe(_rows("head", "slow 1", "tail", "end"))
    assert settling.safe == 4
    settling.observe(_rows("head", "slow 2", "tail", "end"))
    for _ in range(3 * STABLE_FRAMES):
        settling.observe(_rows("head", "slow 2", "tail", "end"))
    assert settling.safe == 1


def test_s2_the_floor_travels_with_rows_inserted_above_it() -> None:
    settling = Settling()
    for _ in range(STABLE_FRAMES + 2):
        settling.observe(_rows("head", "slow 1", "tail", "end"))
    settling.observe(_rows("head", "slow 2", "tail", "end"))
    settling.observe(_rows("head", "new", "slow 2", "tail", "end"))
    for _ in range(2 * STABLE_FRAMES):
        settling.observe(_rows("head", "new", "slow 2", "tail", "end"))
    assert settling.safe == 2


def test_s2_a_relayout_before_anything_was_safe_arms_no_floor() -> None:
    settling = Settling()
    settling.observe(_rows("one", "two", "three"))
    settling.observe(_rows("eins", "zwei", "drei"))
    rows = _rows("eins", "zwei", "drei")
    for _ in range(STABLE_FRAMES + 1):
        settling.observe(rows)
    assert settling.safe == 3


def test_s2_style_alone_is_not_a_rewrite() -> None:
    settling = Settling()
    settling.observe(_rows("a", "b"))
    settling.observe(_rows("a", "b", "c"))
    settling.observe(_rows("\x1b[2ma\x1b[0m", "b", "c", "d"))
    assert settling.safe == 3


def test_a_long_block_that_is_restyled_reads_the_same() -> None:
    """Rows are looked at many at a time: one that only changed its colour among them is no change, one word is."""
    watched = Settling()
    rows = [f"row {index}" for index in range(1000)]
    for _ in range(STABLE_FRAMES + 1):
        watched.observe(rows)
    assert watched.safe == 1000
    rows = [*rows[:300], "\x1b[31mrow 300\x1b[0m", *rows[301:]]
    watched.observe(rows)
    assert watched.safe == 1000
    watched.observe([*rows[:700], "another", *rows[701:]])
    assert watched.safe == 700
