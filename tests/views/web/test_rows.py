"""Rows by number out of an artifact, finished or growing, without interpreting all of it."""

import random

import msgspec
import pytest

from sightline.journal import Artifact, ArtifactReader
from sightline.secrets import MaskedArtifact, Secrets
from sightline.text import OutputScreen, Row, clean_output
from sightline.views.web.rows import _line_rows as _linerows
from sightline.views.web.rows import _lines, _rows
from sightline.views.web.rows._json import ROW_CAP, encode_row
from sightline.views.web.rows._rows import WINDOW, ArtifactRows, text_of

WORDS = ["abc", "ünï", "\n", "\n", "\r\n", "\r", "bar 50%", "\t", "\b", "漢", "x" * 30]
STYLES = [
    "\x1b[31m",
    "\x1b[0m",
    "\x1b[m",
    "\x1b[1;44m",
    "\x1b[39m",
    "\x9b7m",
    "\x1b[38;5;200m",
    "\x1b[K",
    "\x1b[2C",
    "\x1b]0;t\x07",
]
MOVES = ["\x1b[A", "\x1b[2A", "\x1b[B", "\x1b[1F", "\x1b[1;1A", "\x1b[J", "\x1b[2J", "\x1b[3;3H", "\x1b[2d"]
MOVES += [
    "\x1b7",
    "\x1b8",
    "\x1b[s",
    "\x1b[u",
    "\x1b[2L",
    "\x1b[M",
    "\x1b[?1049h",
    "\x1b[?1;47l",
    "\x1bM",
    "\x1bD",
    "\x1bE",
    "\x1b[2;5r",
    "\x1b[S",
    "\x1bc",
]


@pytest.fixture
def small_slices(monkeypatch):
    """Edges everywhere: what is 64 KB is 1 KB."""
    for module in (_lines, _linerows, _rows):
        monkeypatch.setattr(module, "SLICE", 1024)
    monkeypatch.setattr(_linerows, "_CHUNK", 4096)
    monkeypatch.setattr(_rows, "_FIND_CHUNK", 700)


class Output:
    """An artifact being written, and the rows read from it."""

    def __init__(self, folder) -> None:
        self._artifact = Artifact(folder / "job.out")
        self.rows = ArtifactRows(ArtifactReader(folder / "job.out"))

    def write(self, data: str | bytes, stream: str = "stdout") -> None:
        self._artifact.write(stream, data.encode() if isinstance(data, str) else data)

    def finish(self) -> ArtifactRows:
        self.rows.finished = True
        self.rows.look()
        return self.rows

    def expected(self) -> list[bytes]:
        """What one screen makes of all of it."""
        reader, screen = self.rows.reader, OutputScreen()
        for run in reader.streams(0, reader.size):
            screen.feed(clean_output(reader.read(run.offset, run.size).decode("utf-8", "replace")), run.stream)
        screen.finish()
        rows: list[Row] = screen.take_settled()
        return [encode_row(row) for row in rows]

    def all_rows(self) -> list[bytes]:
        found: list[bytes] = []
        while more := self.rows.read(len(found), 37):
            found += more
        return found


@pytest.fixture
def output(tmp_path):
    written = Output(tmp_path)
    yield written
    written.rows.close()


def scribble(output: Output, chance: random.Random, words: list[str]) -> None:
    """Write at random, and look now and then as a page would."""
    for _ in range(chance.randint(1, 300)):
        text = "".join(chance.choice(words) for _ in range(chance.randint(1, 6)))
        output.write(text, chance.choice(["stdout", "stdout", "stderr"]))
        if chance.random() < 0.2:
            output.rows.look()
            output.rows.newest()


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("words", [WORDS + STYLES, WORDS + STYLES + MOVES], ids=["lines", "moving up"])
def test_any_rows_are_those_of_one_screen_over_all_of_it(tmp_path, small_slices, seed, words):
    """However it grew and wherever reading begins: same text, style and stream, same numbers."""
    output, chance = Output(tmp_path), random.Random(seed)
    scribble(output, chance, words)
    rows, expected = output.finish(), output.expected()
    assert rows.total == len(expected)
    assert output.all_rows() == expected
    first = chance.randrange(len(expected) + 1)
    assert rows.read(first, 10) == expected[first : first + 10]
    first, newest = rows.newest()
    assert newest == expected[first:]
    assert len(newest) == min(WINDOW, len(expected))
    rows.close()


@pytest.mark.parametrize("seed", range(30))
def test_search_finds_what_the_rows_show(tmp_path, small_slices, seed):
    """In any case, across styles, not what was drawn over; in portions that go on where the last ended."""
    output, chance = Output(tmp_path), random.Random(seed)
    scribble(output, chance, WORDS + STYLES + (MOVES if seed % 2 else []))
    rows, expected = output.finish(), output.expected()
    for text in ("ABC", "bar 5", "漢", "cÜN"):
        found, start, more = [], 0, True
        while more:
            part = rows.find(text, start, 7)
            found, start, more = found + part.rows, part.next, part.more
        assert found == [n for n, row in enumerate(expected) if text.casefold() in text_of(row).casefold()]
    rows.close()


def test_a_row_that_is_still_written_is_there_and_changes(output):
    """A progress bar is one row from its first character on."""
    output.write("begin\n 10%")
    output.rows.look()
    assert [text_of(row) for row in output.rows.read(0, 5)] == ["begin", " 10%"]
    output.write("\r 20%")
    output.rows.look()
    assert [text_of(row) for row in output.rows.newest()[1]] == ["begin", " 20%"]


def test_half_a_character_waits_for_its_other_half(output):
    """Nothing is shown wrong for a moment because a pipe was read in the middle of a character or a sequence."""
    output.write("ü".encode()[:1])
    output.rows.look()
    assert output.rows.total == 0
    output.write("ü".encode()[1:] + b"\x1b[3")
    output.rows.look()
    assert output.rows.read(0, 1) == [b'[["\xc3\xbc"]]']
    output.write(b"1mr")
    output.rows.look()
    assert msgspec.json.decode(output.rows.read(0, 1)[0]) == [["ü"], ["r", {"f": 1}]]


def test_any_row_of_a_million_is_read_from_near_it(output, monkeypatch):
    """A row costs the bytes around it, never the bytes before it."""
    for block in range(100):
        output.write("".join(f"\x1b[3{n % 8}mrow {block * 10_000 + n}\n" for n in range(10_000)))
    rows = output.finish()
    assert rows.total == 1_000_000
    read, size = [], ArtifactReader.read

    def counted(reader, offset, count):
        read.append(count)
        return size(reader, offset, count)

    monkeypatch.setattr(ArtifactReader, "read", counted)
    for number in (0, 123_456, 500_000, 999_999):
        assert msgspec.json.decode(rows.read(number, 1)[0]) == [[f"row {number}", {"f": number % 10_000 % 8}]]
    assert sum(read) <= 4 * 2 * _linerows._CHUNK


def test_a_line_without_end_is_cut_and_says_so(output):
    """A line of megabytes is one row that shows its beginning; the rows after it keep their numbers."""
    output.write("first\n" + "x" * 3_000_000 + "\nafter\n")
    rows = output.finish()
    assert rows.total == 3
    first, long, after = rows.read(0, 3)
    shown, marker = msgspec.json.decode(long)
    assert shown == ["x" * ROW_CAP]
    assert marker[0] == f" … {3_000_000 - ROW_CAP:,} more bytes in this line"
    assert (text_of(first), text_of(after)) == ("first", "after")
    assert rows.read(2, 1) == [after]
    assert rows.find("AFTER", 0, 5).rows == [2]


def test_a_line_that_draws_over_itself_for_megabytes_shows_its_end(output):
    """A progress bar that was redrawn a hundred thousand times shows how it ended."""
    output.write("".join(f"\r{n:7d} of 100000" for n in range(100_001)) + "\ndone\n")
    assert [text_of(row) for row in output.finish().read(0, 2)] == [" 100000 of 100000", "done"]


def test_rows_of_a_command_that_moves_up_far_into_its_output(output):
    """Only what the cursor can reach is interpreted; what is before it is still read by line."""
    output.write("".join(f"line {n}\n" for n in range(200_000)))
    output.write("a\nb\n\x1b[2A\x1b[KA\x1b[2B\n")
    rows = output.finish()
    assert [text_of(row) for row in rows.read(199_998, 5)][:4] == ["line 199998", "line 199999", "A", "b"]
    assert text_of(rows.read(77, 1)[0]) == "line 77"
    found = rows.find("line 1999", 0, 500)
    while found.more:  # a search answers after a moment, and says where to continue
        assert not found.rows or found.rows[-1] < 199_999
        found = rows.find("line 1999", found.next, 500)
    assert found.rows[-1] == 199_999


def test_more_rows_than_may_be_laid_out_end_with_a_note(output, monkeypatch):
    """The cap of a command that draws over itself is visible."""
    monkeypatch.setattr(_rows, "_STORED_BYTES", 20_000)
    output.write("\x1b[A" + "".join(f"line {n}\n" for n in range(50_000)))
    rows = output.finish()
    assert rows.total < 50_000
    assert "Download has all of it" in text_of(rows.read(rows.total - 1, 1)[0])
    assert rows.unseen == 0


def test_a_deleted_artifact_has_no_rows(tmp_path):
    """Nothing fails because somebody cleared up."""
    rows = ArtifactRows(ArtifactReader(tmp_path / "gone.out"))
    rows.finished = True
    rows.look()
    assert (rows.total, rows.read(0, 10), rows.newest(), rows.find("x", 0, 5).rows) == (0, [], (0, []), [])


def test_what_a_command_prints_cannot_leave_its_row(output):
    """Titles, links, the clipboard and markup: the page gets characters and known styles, nothing else."""
    output.write(
        "\x1b]0;title\x07\x1b]52;c;aGk=\x07\x1b]8;;http://x\x07link\x1b]8;;\x07\x1b[5n\x1b[?25l<script>\u202e\x00\n"
    )
    (row,) = output.finish().read(0, 5)
    assert msgspec.json.decode(row) == [["link<script>"]]


KEY = "Kx7vQ2m/Zp9+Lw4TnB8sRd-3fGh6"


@pytest.mark.parametrize("move", ["", "\x1b[A\n"])
def test_rows_show_no_secret_and_a_search_finds_none(tmp_path, small_slices, move):
    """However they are read: by number, the newest, and those that contain something. Their numbers stay."""
    artifact = Artifact(tmp_path / "job.out")
    rows = ArtifactRows(MaskedArtifact(tmp_path / "job.out", Secrets({"MY_API_KEY": KEY})))
    lines = [f"{number} {KEY if number % 7 == 0 else 'x' * (number % 40)} end" for number in range(400)]
    for line in lines:
        data = f"{line}\n{move}".encode()
        for start in range(0, len(data), 9):
            artifact.write("stdout", data[start : start + 9])
            rows.look()
            assert KEY[:4] not in "".join(map(text_of, rows.newest()[1]))
    rows.finished = True
    rows.look()
    texts = [text_of(row) for first in range(0, rows.total, 100) for row in rows.read(first, 100)]
    assert texts[: len(lines)] == [line.replace(KEY, "[secret MY_API_KEY]") for line in lines]
    assert rows.find(KEY[3:12], 0, 10).rows == []
    found, first = [], 0
    while first < rows.total:
        answer = rows.find("[secret my_api_key]", first, 1000)
        found, first = found + answer.rows, answer.next
    assert found == list(range(0, 400, 7))
    rows.close()
