"""What was judged is what is opened: nothing put in its place meanwhile is."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from sightline import handles
from sightline.handles import Grants, NotRegular, Swapped, granted


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A workspace, and a folder outside that has a secret."""
    (tmp_path / "work" / "folder").mkdir(parents=True)
    (tmp_path / "work" / "folder" / "a.txt").write_text("mine")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.txt").write_text("secret")
    return tmp_path / "work"


def swap(work: Path) -> None:
    """The folder that was judged is a link now, and leads out."""
    (work / "folder").rename(work / "before")
    (work / "folder").symlink_to(work.parent / "outside")


def test_a_link_put_in_place_of_a_folder_is_not_followed(work: Path) -> None:
    """It leads elsewhere than what was granted."""
    with granted(Grants(reads=[str(work / "folder" / "a.txt")])):
        assert handles.read_at_most(work / "folder" / "a.txt", 100) == b"mine"
        swap(work)
        with pytest.raises(Swapped):
            handles.read_at_most(work / "folder" / "a.txt", 100)


def test_a_link_put_there_after_the_last_look_is_not_followed(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even when the path was just resolved: no part of what is opened may be a link."""
    real = os.path.realpath

    def late(path: str | Path) -> str:
        found = real(path)
        swap(work)
        return found

    monkeypatch.setattr(os.path, "realpath", late)
    with pytest.raises(Swapped):
        handles.read_at_most(work / "folder" / "a.txt", 100)


def test_a_held_folder_stays_the_one_that_was_judged(work: Path) -> None:
    """Whatever its name leads to by now."""
    with handles.entry(work / "folder" / "new.txt", "write") as entry:
        swap(work)
        os.close(entry.open(os.O_CREAT | os.O_WRONLY))
    assert (work / "before" / "new.txt").exists()
    assert os.listdir(work.parent / "outside") == ["a.txt"]


def test_reading_is_not_writing(work: Path) -> None:
    """A file that may be read may not be opened to be written, and the other way round."""
    path = work / "folder" / "a.txt"
    with granted(Grants(reads=[str(path)])), pytest.raises(Swapped), handles.entry(path, "write"):
        pass
    with granted(Grants(writes=[str(path)])), pytest.raises(Swapped):
        handles.read_at_most(path, 1)


def test_folders_of_ones_own_are_granted_whole(work: Path) -> None:
    """And nothing whose name only begins the same."""
    (work / "folder-2").mkdir()
    (work / "folder-2" / "b.txt").write_text("x")
    with granted(Grants(own=[str(work / "folder")])):
        assert handles.read_at_most(work / "folder" / "a.txt", 100) == b"mine"
        with pytest.raises(Swapped):
            handles.read_at_most(work / "folder-2" / "b.txt", 100)


async def test_threads_of_a_call_have_its_grants(work: Path) -> None:
    """Nothing is opened there that was not decided."""
    with granted(Grants()), pytest.raises(Swapped):
        await asyncio.to_thread(handles.read_at_most, work / "folder" / "a.txt", 100)
    assert await asyncio.to_thread(handles.read_at_most, work / "folder" / "a.txt", 100) == b"mine"


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "loop"])
def test_what_is_no_file_is_not_opened(work: Path, kind: str) -> None:
    """At once: a pipe without a writer would wait for ever."""
    path = work / "it"
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "device":
            path.symlink_to("/dev/zero")
        case "folder":
            path.mkdir()
        case "loop":
            path.symlink_to("it")
    with pytest.raises(NotRegular):
        handles.read_at_most(path, 10)


def test_missing_folders_are_made_in_the_one_that_is_open(work: Path) -> None:
    """One after the other."""
    with handles.entry(work / "x" / "y" / "z.txt", "write", make_folders=0o700) as entry:
        os.close(entry.open(os.O_CREAT | os.O_WRONLY))
    assert (work / "x" / "y" / "z.txt").is_file()
    assert (work / "x").stat().st_mode & 0o777 == 0o700


def test_links_that_lead_to_what_was_granted_are_followed(work: Path) -> None:
    """A link is no offence by itself."""
    (work / "link").symlink_to("folder")
    with granted(Grants(reads=[str(work / "folder" / "a.txt")])):
        assert handles.read_at_most(work / "link" / "a.txt", 100) == b"mine"


def test_no_descriptor_is_left(work: Path) -> None:
    """Of what was opened, and of what was not."""
    before = len(os.listdir("/proc/self/fd"))
    for path in (work / "folder" / "a.txt", work / "no" / "a.txt", work / "folder"):
        for _ in range(3):
            try:
                handles.read_at_most(path, 1)
            except OSError:
                pass
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_link_that_is_exchanged_while_it_is_followed_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was a link when it was looked at, and is a folder when it is read: not an invalid argument of anybody's."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_text("x")
    (tmp_path / "link").symlink_to("folder")
    real = os.readlink

    def late(path: str, *args: Any) -> str:
        os.unlink(tmp_path / "link")
        (tmp_path / "folder").rename(tmp_path / "link")
        return real(path, *args)

    monkeypatch.setattr(os, "readlink", late)
    with pytest.raises(Swapped, match="leads to another place now"):
        handles.open_regular(tmp_path / "link" / "file")
