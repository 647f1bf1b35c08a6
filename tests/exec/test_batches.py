"""The batching rule, with a clock the tests hold."""

from hypothesis import given
from hypothesis import strategies as st

from sightline.exec._batches import AT_ONCE, ENOUGH, MARK, SEEN, Batches, OutputPiece


class Timed:
    """Feeds batches and asks them when they want to be asked, as the pipeline does."""

    def __init__(self) -> None:
        self.batches = Batches()
        self.now = 100.0
        self.out: list[tuple[float, OutputPiece]] = []
        self.whole = b""

    def wait(self, seconds: float) -> None:
        until = self.now + seconds
        while (due := self.batches.due()) is not None and due <= until:
            self.now = max(self.now, due) + 1e-9
            self._note(self.batches.take(self.now))
        self.now = max(self.now, until)

    def write(self, data: bytes, stream: str = "stdout") -> None:
        offset = len(self.whole)
        self.whole += data
        self._note(self.batches.add(stream, offset, data, self.now))

    def finish(self) -> None:
        self._note(self.batches.finish())

    def _note(self, pieces: list[OutputPiece]) -> None:
        self.out += [(self.now, piece) for piece in pieces]

    @property
    def texts(self) -> list[bytes]:
        return [piece.data for _, piece in self.out]


def test_the_first_output_goes_out_at_once():
    timed = Timed()
    timed.write(b"hello\n")
    assert timed.texts == [b"hello\n"]


def test_after_fifty_milliseconds_the_next_goes_out_at_once():
    timed = Timed()
    timed.write(b"a")
    timed.wait(AT_ONCE + 0.001)
    timed.write(b"b")
    assert timed.texts == [b"a", b"b"]


def test_sooner_than_that_it_waits_for_the_mark():
    """And what came meanwhile goes with it, in one piece."""
    timed = Timed()
    timed.write(b"a")
    for text in (b"b", b"c", b"d"):
        timed.wait(0.01)
        timed.write(text)
    assert timed.texts == [b"a"]
    timed.wait(MARK)
    assert timed.texts == [b"a", b"bcd"]
    assert MARK <= timed.out[1][0] - timed.out[0][0] < MARK + 0.001


def test_what_waits_goes_with_the_first_that_comes_after_fifty_milliseconds():
    timed = Timed()
    timed.write(b"a")
    timed.wait(0.02)
    timed.write(b"b")
    timed.wait(0.04)
    timed.write(b"c")
    assert timed.texts == [b"a", b"bc"]


def test_four_kilobytes_do_not_wait():
    timed = Timed()
    timed.write(b"a")
    timed.wait(0.001)
    timed.write(b"b" * ENOUGH)
    assert timed.texts == [b"a", b"b" * ENOUGH]


def test_a_flood_shows_its_last_fifty_kilobytes_and_says_what_was_passed_over():
    timed = Timed()
    timed.write(b"x" * SEEN * 10)
    [(_, piece)] = timed.out
    assert piece.dropped + len(piece.data) == SEEN * 10
    assert len(piece.data) > SEEN * 0.9


def test_when_the_budget_is_used_up_the_rest_waits_for_the_mark():
    timed = Timed()
    timed.write(b"1" * (SEEN - 100))
    timed.wait(0.06)
    timed.write(b"2" * (SEEN - 100))
    timed.write(b"3" * 1000)
    assert len(timed.out) == 1
    timed.wait(MARK)
    assert len(timed.out) == 2
    assert timed.out[1][1].dropped > 0
    assert timed.texts[1].endswith(b"3" * 1000)


def test_the_kept_part_begins_with_a_whole_line_where_one_is_near():
    timed = Timed()
    timed.write(b"a line of text\n" * SEEN)
    assert timed.texts[0].startswith(b"a line")


def test_without_a_line_the_kept_part_begins_with_a_whole_character():
    for shift in range(4):
        timed = Timed()
        timed.write(b"x" * shift + "😀".encode() * SEEN)
        assert "\ufffd" not in timed.texts[0].decode("utf-8", "replace")


def test_streams_that_take_turns_stay_apart_and_in_order():
    timed = Timed()
    timed.write(b"first")
    timed.write(b"out", "stdout")
    timed.write(b"err", "stderr")
    timed.write(b"more", "stderr")
    timed.write(b"out", "stdout")
    timed.finish()
    assert [(piece.stream, piece.data) for _, piece in timed.out] == [
        ("stdout", b"first"),
        ("stdout", b"out"),
        ("stderr", b"errmore"),
        ("stdout", b"out"),
    ]


def test_streams_that_take_turns_byte_by_byte_become_no_flood_of_pieces():
    timed = Timed()
    for _ in range(20_000):
        timed.write(b"o", "stdout")
        timed.write(b"e", "stderr")
        timed.now += 1e-6
    assert len(timed.out) <= SEEN // 64 + 1


def test_what_waits_is_bounded_whatever_comes():
    timed = Timed()
    for _ in range(500):
        timed.write(b"y\n" * 5000)
        waiting = sum(len(piece.data) for piece in timed.batches._waiting)
        assert waiting <= SEEN


writes = st.lists(
    st.tuples(
        st.sampled_from(["stdout", "stderr"]),
        st.one_of(
            st.binary(min_size=1, max_size=300),
            st.builds(lambda unit, count: unit * count, st.binary(min_size=1, max_size=40), st.integers(1, 4000)),
        ),
        st.sampled_from([0.0, 0.0001, 0.01, 0.049, 0.051, 0.1, 0.25]),
    ),
    max_size=40,
)


@given(writes)
def test_pieces_and_what_was_dropped_are_exactly_the_bytes_in_order(steps):
    """Whatever is written when: nothing is missing, doubled or moved, and the rules of time and size hold."""
    timed = Timed()
    origin: list[str] = []
    for stream, data, pause in steps:
        timed.write(data, stream)
        origin += [stream] * len(data)
        timed.wait(pause)
    timed.finish()
    end = 0
    for _, piece in timed.out:
        assert piece.offset == end + piece.dropped
        end = piece.offset + len(piece.data)
        assert piece.data
        assert piece.data == timed.whole[piece.offset : end]
        assert set(origin[piece.offset : end]) == {piece.stream}
    assert end == len(timed.whole), "the last bytes are always shown"
    in_time = [(when, len(piece.data)) for when, piece in timed.out[:-1]]
    for when, _ in in_time:
        assert sum(size for other, size in in_time if when <= other < when + MARK - 1e-6) <= 2 * SEEN
    for when in {when for when, _ in in_time}:
        assert sum(size for other, size in in_time if other == when) <= SEEN
