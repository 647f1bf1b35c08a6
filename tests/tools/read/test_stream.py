"""Lines read from a file in pieces are those of the same file read whole."""

import asyncio
import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.tools import ToolContext
from sightline.tools.files._selectors import LineRange, Selector, merge_ranges
from sightline.tools.hashline import split_lines
from sightline.tools.read import _files
from sightline.tools.read._excerpt import Excerpt, excerpt_of, plan_excerpt
from sightline.tools.read._files import Stopped, stream
from sightline.tools.read._local import _in_thread
from tests.tools.support import make_context


def streamed(data: bytes, selector: Selector | None, piece: int, limit: int) -> Excerpt:
    file = os.memfd_create("lines")
    before = _files.PIECE
    try:
        os.write(file, data)
        os.lseek(file, 0, os.SEEK_SET)
        _files.PIECE = piece
        return stream(file, plan_excerpt(selector, default_limit=limit), len(data))
    finally:
        _files.PIECE = before
        os.close(file)


ranges = st.lists(
    st.builds(lambda first, more: LineRange(first, None if more is None else first + more),
              st.integers(1, 30), st.none() | st.integers(0, 8)),
    max_size=4,
)  # fmt: skip


@given(
    st.text(alphabet="ab\né\r\n", max_size=80),
    st.none() | st.builds(lambda found, raw: Selector(ranges=merge_ranges(found), raw=raw), ranges, st.booleans()),
    st.integers(1, 20),
    st.integers(1, 9),
)
def test_in_pieces_is_as_whole(text: str, selector: Selector | None, piece: int, limit: int) -> None:
    """Whatever the text, the ranges and the size of a piece: same lines, same total, same limits met."""
    whole = excerpt_of(
        split_lines(text, raw=bool(selector and selector.raw)),
        plan_excerpt(selector, default_limit=limit),
        len(text.encode()),
    )
    assert streamed(text.encode(), selector, piece, limit) == whole


def test_a_byte_order_mark_is_no_part_of_the_first_line() -> None:
    """As when the file is read whole."""
    assert streamed("\ufeffa\nb".encode(), None, 64, 10).lines == {1: "a", 2: "b"}


def test_what_follows_the_wanted_lines_of_a_big_file_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """How many lines there are is then not known."""
    monkeypatch.setattr(_files, "COUNTED_TO_THE_END", 100)
    found = streamed(b"x\n" * 10_000, Selector(ranges=(LineRange(3, 4),)), 64, 10)
    assert (list(found.lines), found.total_lines, found.cut_by) == ([2, 3, 4, 5, 6, 7], None, None)


def test_of_a_line_without_end_no_more_is_kept_than_is_shown() -> None:
    """Its size is told, its rest passed over."""
    found = streamed(b"x" * 3_000_000 + b"\ny\n", None, 65_536, 10)
    assert len(found.lines[1]) == 16 * 1024
    assert found.long_lines == {1: 3_000_000}
    assert found.lines[2] == "y"


async def test_a_read_nobody_waits_for_stops(tmp_path: Path) -> None:
    """read.md/Side Effects: between two pieces, within a moment."""
    context: ToolContext = make_context(tmp_path)
    path = context.cwd / "big"
    path.write_bytes(b"x\n" * 100_000)
    started, ended = threading.Event(), threading.Event()

    def work(stopped: object) -> None:
        started.set()
        try:
            while True:
                _files.load(path, plan_excerpt(Selector(ranges=(LineRange(10**9),)), default_limit=1), stopped)  # type: ignore[arg-type]
        except Stopped:
            ended.set()

    before = _files.WHOLE
    _files.WHOLE = 0
    try:
        task = asyncio.create_task(_in_thread(work))
        await asyncio.to_thread(started.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(ended.wait, 10)
    finally:
        _files.WHOLE = before
