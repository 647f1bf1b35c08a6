"""One writer of a file at a time, in all sessions; and nothing is left of one that was killed."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sightline.paths import data_folder
from sightline.tools import ToolError, remove_leftovers
from sightline.tools.files import _atomic, _file_lock
from sightline.tools.files._atomic import replace_file, writing

EDITOR = """
import asyncio, sys
from pathlib import Path
from sightline.settings import Settings
from sightline.tools import ToolContext, ToolError, Workplace, parameters
from sightline.tools.edit import EditTool
from sightline.tools.hashline import Snapshots

folder, mine, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
context = ToolContext("a-1", Workplace(folder, settings=Settings(), artifacts=None, local=folder / "local"))
tool = EditTool()

async def main():
    for number in range(count):
        text = (folder / "a.txt").read_text()
        tag = context.shared(Snapshots).record(folder / "a.txt", text)
        patch = f"¶a.txt#{tag}\\ninsert tail:\\n+{mine} {number}"
        try:
            await tool.execute(parameters(tool, {"input": patch}), context)
            print(f"{mine} {number}", flush=True)
        except ToolError:
            pass

asyncio.run(main())
"""


@pytest.mark.slow
def test_no_edit_that_was_reported_is_lost(tmp_path: Path) -> None:
    """Two sessions, each a process, edit one file at the same time: all that either was told is done is there."""
    (tmp_path / "a.txt").write_text("first\n")
    sessions = [
        subprocess.Popen([sys.executable, "-c", EDITOR, str(tmp_path), name, "150"], stdout=subprocess.PIPE, text=True)
        for name in ("one", "two")
    ]
    reported = [line for session in sessions for line in session.communicate(timeout=120)[0].splitlines()]
    lines = (tmp_path / "a.txt").read_text().splitlines()
    assert {row.split()[0] for row in reported} == {"one", "two"}
    assert sorted(reported) == sorted(lines[1:])
    assert os.listdir(data_folder() / "writing") == []


def test_waiting_for_another_session_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What to do is said, and the file is as it was."""
    monkeypatch.setattr(_file_lock, "SECONDS", 0.05)
    (tmp_path / "a").write_bytes(b"old")
    with writing(tmp_path / "a"), pytest.raises(ToolError, match=r"Another session is writing .*Try again"):
        replace_file(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_bytes() == b"old"
    replace_file(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_bytes() == b"new"


def test_every_path_to_a_file_means_the_same_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through a link as well."""
    monkeypatch.setattr(_file_lock, "SECONDS", 0.05)
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    with writing(tmp_path / "folder" / "a"):
        with pytest.raises(ToolError, match="Another session"):
            replace_file(tmp_path / "link" / "a", b"new")
        replace_file(tmp_path / "link" / "b", b"new")


def test_two_entries_of_one_archive_are_both_there(tmp_path: Path) -> None:
    """Each writer reads the archive once it has the lock."""
    import threading
    import zipfile

    from sightline.tools.archives import write_entry

    names = [f"{number}.txt" for number in range(12)]
    writers = [threading.Thread(target=write_entry, args=(tmp_path / "a.zip", name, b"x")) for name in names]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert sorted(archive.namelist()) == sorted(names)


WRITER = """
import itertools, sys
from pathlib import Path
from sightline.tools.files import _atomic
if sys.argv[2] == "beside":
    _atomic._link_real = _atomic._link
    def link(descriptor, name, folder=None):
        if folder is None:
            raise OSError(18, "another file system")
        _atomic._link_real(descriptor, name, folder)
    _atomic._link = link
if sys.argv[2] == "named":
    _atomic._UNNAMED = None
for number in itertools.count():
    _atomic.replace_file(Path(sys.argv[1]), b"%d" % (number % 10) * 1000)
    print(number, flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("way", ["ours", "beside", "named"])
def test_nothing_is_left_of_a_writer_that_was_killed(tmp_path: Path, way: str) -> None:
    """Where its new file can be in our folder, not even until the next session starts."""
    path = tmp_path / "a"
    path.write_bytes(b"x")
    for number in range(25):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path), way], stdout=subprocess.PIPE)
        assert writer.stdout is not None
        for _ in range(1 + number % 5):
            writer.stdout.readline()
        writer.kill()
        writer.wait()
        writer.stdout.close()
        if way != "ours":
            remove_leftovers()
        assert os.listdir(tmp_path) == ["a"]
    remove_leftovers()
    assert os.listdir(data_folder() / "writing") == []


def test_only_files_of_ours_are_removed(tmp_path: Path) -> None:
    """A note that names anything else, or something that is no file, removes nothing."""
    ours, theirs, folder = tmp_path / ".sightline-1.tmp", tmp_path / "notes.txt", tmp_path / ".sightline-2.tmp"
    ours.write_bytes(b"")
    theirs.write_bytes(b"")
    folder.mkdir()
    for number, noted in enumerate((ours, theirs, folder, tmp_path / "gone")):
        place = data_folder() / "writing" / f"{number}.lock"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(os.fsencode(noted))
    remove_leftovers()
    assert sorted(os.listdir(tmp_path)) == [".sightline-2.tmp", "notes.txt"]
    assert os.listdir(data_folder() / "writing") == []


def test_what_is_in_use_is_not_removed(tmp_path: Path) -> None:
    """A session that starts does not disturb one that writes, nor wait for it."""
    with writing(tmp_path / "a") as file:
        began = time.monotonic()
        remove_leftovers()
        assert time.monotonic() - began < 1
        file.replace(b"new")
    assert (tmp_path / "a").read_bytes() == b"new"


def test_a_new_file_needs_no_other_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It gets its own at once."""
    if _atomic._UNNAMED is None:
        pytest.skip("this system has no files without a name")

    def fail(*args: object, **options: object) -> None:
        raise AssertionError("renamed")

    monkeypatch.setattr(os, "replace", fail)
    replace_file(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_bytes() == b"new"
