"""Opening: which kind is taken and why, what is refused, and that a failure leaves nothing."""

import os
from pathlib import Path

import pytest

from sightline.exceptions import OutsideFailure, UserMistake
from sightline.working_copies import _copying, _manifest, _opening, _overlay, open_copy
from sightline.working_copies import _records as records
from tests.working_copies.conftest import make_repository, needs_of


@pytest.fixture
def no_overlay(monkeypatch):
    monkeypatch.setattr(_opening, "overlay_answer", lambda *_: _overlay.OverlayAnswer(why="not here"))


def test_an_overlay_is_taken_where_it_works(workspace, tmp_path):
    """There is no reason for anything less."""
    needs_of("overlay", tmp_path)
    copy = open_copy(workspace, tmp_path / "agent", "one")
    assert (copy.kind, copy.why, copy.cwd) == ("overlay", "", workspace)


@pytest.mark.needs("git")
def test_a_worktree_is_next_and_then_a_copy(workspace, tmp_path, no_overlay):
    """Each says why the better ones could not be had."""
    copy = open_copy(workspace, tmp_path / "first", "one")
    reason = "worktree: the workspace is not a git repository, or git refuses it"
    assert (copy.kind, copy.why) == ("copy", f"overlay: not here; {reason}")
    make_repository(workspace)
    copy = open_copy(workspace, tmp_path / "second", "one")
    assert (copy.kind, copy.why) == ("worktree", "overlay: not here")


def test_what_is_wanted_and_cannot_be_had_is_an_error(workspace, tmp_path, no_overlay):
    """With the reason; nothing is left behind."""
    with pytest.raises(UserMistake, match="overlay: not here"):
        open_copy(workspace, tmp_path / "agent", "one", "overlay")
    assert records.records() == []
    assert not (tmp_path / "agent" / "copy").exists()


@pytest.mark.parametrize("kind", ["overlay", "worktree", "copy"])
def test_a_workspace_with_our_own_files_in_it_is_refused(tmp_path, monkeypatch, kind):
    """The data folder, the copy's own folder, or a workspace inside of one of them."""
    workspace = tmp_path / "work"
    (workspace / "sub").mkdir(parents=True)
    elsewhere = tmp_path / "agent"
    with pytest.raises(UserMistake, match="contains files of sightline"):
        open_copy(workspace, workspace / "sub" / "agent", "one", kind)
    with pytest.raises(UserMistake, match="contains files of sightline"):
        open_copy(workspace, tmp_path, "one", kind)
    for home in (workspace / "home", workspace, tmp_path):
        monkeypatch.setenv("SIGHTLINE_HOME", str(home))
        with pytest.raises(UserMistake, match="contains files of sightline"):
            open_copy(workspace, elsewhere, "one", kind)
    assert not elsewhere.exists()


def test_a_folder_that_has_a_copy_is_refused(workspace, tmp_path):
    """Two copies in one folder would be one."""
    open_copy(workspace, tmp_path / "agent", "one", "copy")
    with pytest.raises(UserMistake, match="there is a working copy already"):
        open_copy(workspace, tmp_path / "agent", "two", "copy")


@pytest.mark.parametrize("place", ["/", "missing", "file"])
def test_what_is_no_workspace_is_refused(tmp_path, place):
    """A folder that exists, and not the whole file system."""
    (tmp_path / "file").write_text("")
    with pytest.raises(UserMistake, match="not a workspace"):
        open_copy(tmp_path / place, tmp_path / "agent", "one", "copy")


@pytest.mark.parametrize(
    ("bound", "most", "message"),
    [("COPY_FILES_AT_MOST", 3, "more than 3 files"), ("COPY_BYTES_AT_MOST", 10, "too large for a copy")],
)
def test_a_workspace_too_large_for_a_copy_is_refused(workspace, tmp_path, monkeypatch, bound, most, message):
    """Before or while it is copied; what was copied is removed."""
    for number in range(5):
        (workspace / str(number)).write_text("12345")
    monkeypatch.setattr(_copying, bound, most)
    with pytest.raises(UserMistake, match=message):
        open_copy(workspace, tmp_path / "agent", "one", "copy")
    assert not (tmp_path / "agent" / "copy").exists()
    assert records.records() == []


def test_a_workspace_with_too_many_files_has_no_overlay(workspace, tmp_path, monkeypatch):
    """What was there at the start could not be noted."""
    needs_of("overlay", tmp_path)
    for number in range(5):
        (workspace / str(number)).touch()
    monkeypatch.setattr(_manifest, "FILES_AT_MOST", 3)
    assert open_copy(workspace, tmp_path / "agent", "one").why.startswith(
        "overlay: the workspace has more than 3 files"
    )


def test_a_full_disk_leaves_nothing(workspace, tmp_path, monkeypatch):
    """The error is one line, and there is no record."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_manifest.Manifest, "write", full)
    with pytest.raises(OutsideFailure, match="No space left on device"):
        open_copy(workspace, tmp_path / "agent", "one", "copy")
    assert records.records() == []
    assert not (tmp_path / "agent" / "copy").exists()


@pytest.mark.needs("git")
def test_a_copy_has_links_modes_and_gits_own_files_and_nothing_that_is_no_file(workspace, tmp_path):
    """A link is copied as a link, wherever it leads."""
    (workspace / "link").symlink_to("/etc/passwd")
    (workspace / "tool").write_text("x")
    (workspace / "tool").chmod(0o750)
    os.mkfifo(workspace / "pipe")
    make_repository(workspace)
    copy = open_copy(workspace, tmp_path / "agent", "one", "copy")
    assert sorted(os.listdir(copy.cwd)) == [".git", "link", "tool"]
    assert os.readlink(copy.cwd / "link") == "/etc/passwd"
    assert (copy.cwd / "tool").stat().st_mode & 0o777 == 0o750
    assert copy.changes().files == ()


def test_parts_are_for_their_owner_alone(workspace, tmp_path):
    """The agent's files may be as secret as the user's."""
    copy = open_copy(workspace, tmp_path / "agent", "one", "copy")
    assert Path(copy.record.parts).stat().st_mode & 0o077 == 0
