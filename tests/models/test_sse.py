"""Server-sent events come out the same however the bytes are cut."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.models.http._sse import EventTooLong, ServerEvent, Splitter

STREAM = (
    b'\xef\xbb\xbfevent: one\r\ndata: {"a":"\xe6\x97\xa5"}\r\n\r\n: a comment\n\ndata: 1\ndata:2\nid: 7\nretry: 10\n\n'
    b"event: nothing\n\nevent:three\rdata:  padded \r\rdata\n\ndata: [DONE]\n\n"
)
EVENTS = [
    ServerEvent("one", b'{"a":"\xe6\x97\xa5"}'),
    ServerEvent("", b"1\n2"),
    ServerEvent("three", b" padded "),
    ServerEvent("", b""),
    ServerEvent("", b"[DONE]"),
]


def split(chunks: list[bytes]) -> list[ServerEvent]:
    splitter = Splitter()
    events = [event for chunk in chunks for event in splitter.feed(chunk)]
    rest = splitter.end()
    return [*events, rest] if rest is not None else events


def test_whole_stream() -> None:
    """Names, comments, all line ends, several data lines, a byte order mark."""
    assert split([STREAM]) == EVENTS


@pytest.mark.parametrize("at", range(len(STREAM) + 1))
def test_cut_in_two_anywhere(at: int) -> None:
    """One cut, wherever it falls, changes nothing."""
    assert split([STREAM[:at], STREAM[at:]]) == EVENTS


@given(st.lists(st.integers(0, len(STREAM)), max_size=40))
def test_cut_into_any_pieces(cuts: list[int]) -> None:
    """Chunked equals whole."""
    places = [0, *sorted(cuts), len(STREAM)]
    assert split([STREAM[start:end] for start, end in pairwise(places)]) == EVENTS


def test_an_event_comes_as_soon_as_its_blank_line_has() -> None:
    """Nothing is held back for the next chunk, whatever the line ends."""
    for end in (b"\n", b"\r", b"\r\n"):
        assert Splitter().feed(b"data: 1" + end + end) == [ServerEvent("", b"1")]


@pytest.mark.parametrize(
    ("rest", "event"),
    [
        (b'data: {"a":1}', ServerEvent("", b'{"a":1}')),
        (b'event: e\ndata: {"a":1}\n', ServerEvent("e", b'{"a":1}')),
        (b"data: [DONE]", ServerEvent("", b"[DONE]")),
        (b'data: {"a":', None),
        (b"data: [DON", None),
        (b"data: ", None),
        (b"event: e", None),
        (b"", None),
        (b"data: " + b"[" * 100_000, None),
    ],
)
def test_the_end_without_a_blank_line(rest: bytes, event: ServerEvent | None) -> None:
    """A server that forgets the last blank line is understood; half an event is none."""
    splitter = Splitter()
    assert splitter.feed(rest) == []
    assert splitter.end() == event


def test_an_event_that_is_too_long() -> None:
    """The limit holds for one line and for many."""
    with pytest.raises(EventTooLong):
        Splitter(limit=100).feed(b"data: " + b"x" * 100)
    splitter = Splitter(limit=110)
    for _ in range(10):
        splitter.feed(b"data: 0123456789\n")
    with pytest.raises(EventTooLong):
        splitter.feed(b"data: x\n")


def test_a_long_stream_of_short_events_has_no_limit() -> None:
    """What is counted is the event, not the stream, and comments in between count for nothing."""
    splitter = Splitter(limit=100)
    assert sum(len(splitter.feed(b": ping\n\ndata: 12345\n\n")) for _ in range(1000)) == 1000


def test_a_long_event_costs_its_length() -> None:
    """Sixteen megabytes in small chunks: time that grows with the square would be minutes."""
    splitter = Splitter()
    started = time.process_time()
    for _ in range(16 * 1024):
        splitter.feed(b"data: "[: 0 if splitter._line else 6] + b"x" * 1024)
    assert len(splitter.feed(b"\n\n")[0].data) == 16 * 1024 * 1024
    assert time.process_time() - started < 2
