"""The pager: any text, however long, and what can be done with it."""

import asyncio
import os

import pytest

from sightline.journal import ArtifactReader
from sightline.transcript import TranscriptCall, TranscriptPiece
from sightline.tty import PLAIN
from sightline.views.console.selectors import _pager
from sightline.views.console.selectors._pager import PagerDocument, Viewer, show
from sightline.views.console.selectors._pages import PagerPosition, TextInMemory
from sightline.views.console.selectors._viewer import view_output
from tests.views.console.selectors.support import HOSTILE, WIDTHS, Desk, new_store


def text_of(lines):
    return "".join(f"line {number}\n" for number in range(lines))


class Counted:
    """A source that tells how much was read of it."""

    def __init__(self, source):
        self.source, self.read_bytes = source, 0

    @property
    def size(self):
        return self.source.size

    def read(self, offset, size):
        data = self.source.read(offset, size)
        self.read_bytes += len(data)
        return data


def pages(text, width=80, height=10):
    made = PagerPosition(TextInMemory(text), PLAIN)
    made.fit(width, height)
    return made


async def opened(desk, *documents, at=0):
    """A viewer on these texts, drawn once."""
    task = asyncio.ensure_future(show(desk, [lambda one=one: one for one in documents], at))
    await desk.until_shown(Viewer)
    desk.rows()
    await desk.until(lambda: not desk.panel._working)
    return task


async def pressed(desk, *names):
    desk.press(*names)
    desk.rows()
    await desk.until(lambda: not desk.shown or not desk.panel._working)


def test_rows_move_up_and_down_and_stop_at_both_ends():
    """Neither end is passed, whatever is asked for."""
    shown = pages(text_of(100))
    assert shown.rows()[0] == "line 0"
    shown.move(5)
    assert shown.rows()[0] == "line 5"
    shown.move(1000)
    assert shown.rows() == [f"line {number}" for number in range(90, 100)]
    assert shown.at_end
    shown.move(-7)
    assert shown.rows()[0] == "line 83"
    shown.move(-1000)
    assert shown.rows()[0] == "line 0"


def test_every_row_is_seen_once_on_the_way_down_and_up():
    """Wrapped lines are several rows, and one can stand between them."""
    text = "\n".join(["word " * (number % 40) for number in range(60)])
    shown = pages(text, width=30, height=7)
    down = [shown.rows()[0]]
    while not shown.at_end:
        shown.move(1)
        down.append(shown.rows()[0])
    whole = pages(text, width=30, height=10_000).rows()
    assert down == whole[: len(down)]
    assert down[-1:] + shown.rows()[1:] == whole[len(down) - 1 :]
    up = [shown.rows()[0]]
    while (shown.top.offset, shown.top.row) > (0, 0):
        shown.move(-1)
        up.append(shown.rows()[0])
    assert up[::-1] == down


def test_a_line_without_end_is_shown_in_pieces(tmp_path):
    """A megabyte without a newline, of characters of several bytes, costs no more than what is near."""
    source = Counted(TextInMemory("é" * 500_000))
    shown = PagerPosition(source, PLAIN)
    shown.fit(100, 20)
    shown.last()
    assert all(set(row) == {"é"} for row in shown.rows())
    shown.move(-20)
    assert all(set(row) == {"é"} for row in shown.rows())
    assert source.read_bytes < 1_000_000


def test_a_gigabyte_opens_and_ends_at_once(tmp_path):
    """Only what is near the window is read: at the beginning, at the end, and in between."""
    path = tmp_path / "out.out"
    with path.open("wb") as file:
        file.write(b"first\n")
        os.truncate(path, 1024**3)
        file.seek(1024**3)
        file.write(b"\n" + text_of(200).encode())
    source = Counted(ArtifactReader(path))
    shown = PagerPosition(source, PLAIN)
    shown.fit(80, 40)
    assert shown.rows()[0] == "first"
    shown.last()
    assert shown.rows()[-1] == "line 199"
    shown.move(-100)
    assert shown.rows()[0] == "line 60"
    assert source.read_bytes < 2_000_000


def test_a_search_goes_down_and_up_and_finds_across_blocks():
    """Any case; the next, the one before, and nothing behind the last."""
    text = "x" * 70_000 + "\n" + "y\n" * 600_000 + "the Needle\n" + "z\n" * 10 + "a needle again\n"
    shown = pages(text)
    shown.query = "needle"
    assert shown.find(here=True)
    assert shown.rows()[0] == "the Needle"
    assert shown.find()
    assert shown.rows()[0] == "a needle again"
    assert not shown.find()
    assert shown.find(forward=False)
    assert shown.rows()[0] == "the Needle"
    assert not shown.find(forward=False)


def test_a_search_that_is_stopped_finds_nothing():
    """It looks whether it should go on at every megabyte."""
    shown = pages("y\n" * 3_000_000 + "needle\n")
    shown.query = "needle"
    looks = iter([False, True, True, True])
    assert not shown.find(stopped=lambda: next(looks))
    assert shown.top.offset == 0


def test_output_is_drawn_as_a_terminal_would_and_cannot_touch_it():
    """A carriage return starts a line over; titles, moves and bells are gone; tabs are spaces."""
    rows = pages(f"10%\r99%\n\ta\tb\n{HOSTILE}\nback\b\bon\n").rows()
    assert rows[0] == "99%"
    assert "\t" not in rows[1]
    assert rows[1].split() == ["a", "b"]
    assert not any("\x1b" in row or "\x07" in row or "\u202e" in row for row in rows)
    assert rows[-1].startswith("baon")


def test_without_wrapping_a_line_is_a_row():
    """What does not fit is cut, and marked."""
    shown = pages("a" * 300 + "\nb\n", width=20)
    shown.wrapped = False
    assert shown.rows() == ["a" * 19 + "…", "b"]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("height", [8, 24])
async def test_it_fills_the_window_and_fits(width, height):
    """Its rows are as many as the terminal has, and none is too wide, with whatever text."""
    desk = Desk(height=height)
    task = await opened(desk, PagerDocument(HOSTILE, TextInMemory(f"{HOSTILE}\n日本語テキスト\n" * 50)))
    desk.rows(width)
    await desk.until(lambda: not desk.panel._working)
    assert len(desk.rows(width)) == height
    assert desk.panel.render(width) is desk.panel.render(width)
    await pressed(desk, "q")
    await task


async def test_keys_move_and_the_end_of_the_row_says_where():
    """Rows, screens, beginning and end; escape, q and ctrl+c leave."""
    for leaving in ("q", "escape", "ctrl+c", "ctrl+d"):
        desk = Desk(height=12)
        task = await opened(desk, PagerDocument("a text", TextInMemory(text_of(100))))
        assert desk.rows()[0] == "a text"
        for name, first in [("j", 1), ("space", 11), ("b", 1), ("k", 0), ("end", 90), ("up", 89), ("home", 0)]:
            await pressed(desk, name)
            assert desk.rows()[1] == f"line {first}", name
        assert desk.rows()[-1].startswith("0 %")
        desk.press(leaving)
        await asyncio.wait_for(task, 60)


async def test_searching_by_keys():
    """/ and words, n and N; escape leaves the words, not the pager."""
    desk = Desk(height=12)
    task = await opened(desk, PagerDocument("a text", TextInMemory(text_of(100))))
    await pressed(desk, "/", *"line 5")
    assert desk.rows()[-1].startswith("/line 5")
    await pressed(desk, "enter")
    assert desk.rows()[1] == "line 5"
    await pressed(desk, "n")
    assert desk.rows()[1] == "line 50"
    await pressed(desk, "N")
    assert desk.rows()[1] == "line 5"
    await pressed(desk, "/", "ctrl+u", *"nowhere", "enter")
    assert desk.rows()[-1].startswith("not found")
    await pressed(desk, "/", "escape")
    assert not task.done()
    await pressed(desk, "q")
    await task


async def test_what_grows_is_followed_until_one_looks_elsewhere(tmp_path, monkeypatch):
    """At the end one stays at the end; the last that comes is seen although it has ended."""
    monkeypatch.setattr(_pager, "_LOOKS_APART", 0.005)
    path = tmp_path / "out.out"
    path.write_text(text_of(50))
    grows = [True]
    desk = Desk(height=12)
    task = await opened(desk, PagerDocument("build", ArtifactReader(path), lambda: grows[0]))
    assert desk.rows()[-1].startswith("following")
    with path.open("a") as file:
        file.write("more\n")
    await desk.until_rows("more")
    await pressed(desk, "home")
    before = desk.redrawn
    with path.open("a") as file:
        file.write("unseen\n" * 20)
    await desk.until(lambda: desk.redrawn > before, "that it was looked at again")
    assert desk.rows()[1] == "line 0"
    await pressed(desk, "end")
    with path.open("a") as file:
        file.write("the last\n")
    grows[0] = False
    await desk.until_rows("the last")
    await pressed(desk, "q")
    await task
    await desk.settled()


async def test_it_is_copied_as_it_was_written():
    """Whole, without wraps, whatever the window shows."""
    desk = Desk(height=12)
    text = "a long line " * 40 + "\n\tindented\n"
    task = await opened(desk, PagerDocument("a text", TextInMemory(text)))
    await pressed(desk, "c")
    await desk.until(lambda: desk.copied)
    assert desk.copied == [text]
    await desk.until_rows("copied")
    await pressed(desk, "q")
    await task


async def test_what_is_too_long_to_copy_is_said(monkeypatch):
    """Rather than half of it."""
    monkeypatch.setattr(_pager, "COPIED_AT_MOST", 10)
    desk = Desk(height=12)
    task = await opened(desk, PagerDocument("a text", TextInMemory(text_of(5))))
    await pressed(desk, "c")
    await desk.until_rows("too much to copy")
    assert desk.copied == []
    await pressed(desk, "q")
    await task


async def test_other_blocks_are_to_the_left_and_right():
    """Each from its beginning; no further than the first and the last."""
    desk = Desk(height=12)
    task = await opened(desk, *[PagerDocument(f"call {n}", TextInMemory(f"said {n}\n")) for n in range(3)], at=1)
    assert desk.rows()[:2] == [pad_title("call 1", "2/3"), "said 1"]
    for name, at in [("right", 2), ("right", 2), ("left", 1), ("left", 0), ("left", 0)]:
        await pressed(desk, name)
        assert desk.rows()[:2] == [pad_title(f"call {at}", f"{at + 1}/3"), f"said {at}"]
        assert (" · right ", " · left/right ", " · left ")[at] + "other block" in desk.rows()[-1]
    await pressed(desk, "q")
    await task


def pad_title(title, place):
    return title.ljust(80 - len(place) - 1) + " " + place


async def test_the_output_of_a_call_opens(tmp_path):
    """Of several calls the one so many back; all of it, from the file that has every byte."""
    store = new_store(tmp_path)
    writer = store.create(cwd="/project")
    session = writer.folder.name
    artifact = writer.artifact("call_1")
    artifact.write("stdout", text_of(1000).encode())
    artifact.close()
    calls = [
        TranscriptCall("", "call_0", "Bash", args={"command": "true"}, content="ok"),
        TranscriptCall(
            "", "call_1", "Bash", args={"command": "make"}, content="…", skipped=900, exit_code=2, received=9
        ),
        TranscriptCall("", "call_2", "Read", args={"path": "a.py"}, content="short"),
        TranscriptCall("", "call_3", "Edit", args={"path": "a.py"}, content="", details=DIFF),
    ]
    desk = Desk(store, session, height=12)
    task = asyncio.ensure_future(view_output(desk, calls, 3))
    await desk.until_rows("line 0")
    assert desk.rows()[0].startswith("Bash make · exit 2")
    await pressed(desk, "end")
    await desk.until_rows("line 999")
    await pressed(desk, "right")
    await desk.until_rows("short")
    await pressed(desk, "right")
    await desk.until_rows("+new", "-old")
    await pressed(desk, "left", "left", "left")
    await desk.until_rows("ok")
    await pressed(desk, "q")
    await task
    writer.close()


async def test_the_output_of_a_call_shows_no_secret(tmp_path, monkeypatch):
    """The file has it as it was printed. Neither the rows, nor a search, nor a copy."""
    key = "Kx7vQ2m/Zp9+Lw4TnB8sRd-3fGh6"
    monkeypatch.setenv("MY_API_KEY", key)
    store = new_store(tmp_path)
    writer = store.create(cwd="/project")
    artifact = writer.artifact("call_1")
    artifact.write("stdout", f"MY_API_KEY={key[:9]}\x1b[31m{key[9:]}\x1b[m\nEND {key}\n".encode())
    artifact.close()
    desk = Desk(store, writer.folder.name, height=12)
    call = TranscriptCall("", "call_1", "Bash", args={"command": "cat .env"}, content="…", received=9)
    task = asyncio.ensure_future(view_output(desk, [call]))
    await desk.until_rows("MY_API_KEY=[secret MY_API_KEY]", "END [secret MY_API_KEY]")
    assert not any(key[:6] in row for row in desk.rows())
    await pressed(desk, "/", *key[:6], "enter")
    await desk.until_rows("not found")
    await pressed(desk, "y")
    await desk.until(lambda: desk.copied)
    assert desk.copied == ["MY_API_KEY=[secret MY_API_KEY]\nEND [secret MY_API_KEY]\n"]
    await pressed(desk, "q")
    await task
    writer.close()


DIFF = {"ui": {"kind": "diff"}, "path": "a.py", "diff": "--- a.py\n+++ a.py\n@@ -1 +1 @@\n-old\n+new\n"}


async def test_a_call_that_runs_without_a_file_is_followed_in_what_is_known_of_it(tmp_path, monkeypatch):
    """Another agent's call has no file of ours; its tail is what there is, as it comes."""
    monkeypatch.setattr(_pager, "_LOOKS_APART", 0.005)
    store = new_store(tmp_path)
    call = TranscriptCall(
        "", "item_7", "Shell", args={"command": "make"}, pieces=[TranscriptPiece("stdout", "one\n")], received=4
    )
    desk = Desk(store, "abcdef", height=12)
    task = asyncio.ensure_future(view_output(desk, [call]))
    await desk.until_rows("one", "following")
    call.pieces.append(TranscriptPiece("stdout", "two\n"))
    call.updates += 1
    await desk.until_rows("two")
    await pressed(desk, "q")
    await task


async def test_with_nothing_to_show_it_says_so(tmp_path):
    """No empty pager."""
    desk = Desk(new_store(tmp_path), "abcdef")
    await view_output(desk, [])
    assert desk.told == [("info", "no call has any output yet", "")]


@pytest.mark.parametrize(("many", "said"), [(1, "there is only one"), (3, "there are only 3")])
async def test_a_call_further_back_than_there_are_is_told(tmp_path, many, said):
    """No other call is shown in its place."""
    desk = Desk(new_store(tmp_path), "abcdef")
    calls = [TranscriptCall("", f"c{number}", "Bash", args={"command": "true"}, content="ok") for number in range(many)]
    await view_output(desk, calls, 99)
    assert desk.told == [("warning", f"no call that many back: {said}", "/output 1 is the last")]


async def test_no_key_is_explained_by_its_own_name(tmp_path):
    """`end end` says nothing."""
    desk = Desk(new_store(tmp_path), "abcdef", height=12)
    task = asyncio.ensure_future(
        view_output(desk, [TranscriptCall("", "c", "Bash", args={"command": "true"}, content="ok")])
    )
    await desk.until_rows("ok")
    hints = [hint.split(" ", 1) for hint in desk.rows(120)[-1].split(" · ")[1:]]
    assert ["end", "bottom"] in hints
    assert not [key for key, meaning in hints if key == meaning]
    await pressed(desk, "q")
    await task


async def test_in_linear_mode_it_is_read_out(tmp_path):
    """Its end, where there is much, and what it is the end of."""
    desk = Desk(new_store(tmp_path), "abcdef", linear=True)
    await view_output(desk, [TranscriptCall("", "c", "Bash", args={"command": "seq"}, content=text_of(200_000))])
    ((_, said, _),) = desk.told
    assert said.startswith("Bash seq\n(the last 1024 KB of")
    assert said.endswith("line 199999")
