"""Merging: what both sides changed, what is refused, and what a swapped link cannot do."""

import ctypes
import errno
import os
import stat
import threading
from pathlib import Path

import pytest

from sightline.exceptions import OutsideFailure, UserMistake
from sightline.working_copies import _git, _states
from tests.working_copies.conftest import git, make_repository, python, shell, tree_of

KINDS = pytest.mark.parametrize("kind", ["overlay", "worktree", "copy"])
_HERE, _EXCHANGE = -100, 2
LINES = "".join(f"{number}\n" for number in range(1, 21))


@pytest.fixture
def project(workspace: Path) -> Path:
    (workspace / "text").write_text(LINES)
    (workspace / "binary").write_bytes(b"\0start")
    (workspace / "folder").mkdir()
    (workspace / "folder" / "file").write_text("file\n")
    make_repository(workspace)
    return workspace


@KINDS
@pytest.mark.needs("git")
def test_changes_on_both_sides_are_merged_line_by_line(project, opened, kind):
    """The start of the file was stored when the change was first listed."""
    copy = opened(kind)
    shell(copy, "sed -i s/^20$/agent/ text")
    copy.changes()
    (project / "text").write_text(LINES.replace("1\n", "user\n", 1))
    merged = copy.merge()
    assert (merged.applied, merged.conflicts) == (("text",), ())
    assert (project / "text").read_text() == LINES.replace("1\n", "user\n", 1).replace("20\n", "agent\n")


@KINDS
@pytest.mark.needs("git")
@pytest.mark.parametrize("to", ["file", "link"])
def test_on_a_full_disk_the_old_stays(project, opened, kind, to, monkeypatch):
    """A link that becomes a file, a file that becomes a link: the old one is there until the new one is whole. What
    was not merged is refused, and can be merged when there is room."""
    (project / "changing").symlink_to("text") if to == "file" else (project / "changing").write_text("old\n")
    before = tree_of(project)
    copy = opened(kind)
    shell(copy, "rm changing; " + ("echo new > changing" if to == "file" else "ln -s binary changing"))

    def fsync(descriptor: int, fsync=os.fsync) -> None:
        if os.readlink(f"/proc/self/fd/{descriptor}").startswith(f"{project}/"):
            raise OSError(errno.ENOSPC, "No space left on device")
        fsync(descriptor)

    def symlink(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(os, "fsync", fsync)
        full.setattr(os, "symlink", symlink)
        merged = copy.merge()
    assert [(each.path, "No space left" in each.why) for each in merged.refused] == [("changing", True)]
    assert tree_of(project) == before
    assert copy.merge().applied == ("changing",)
    assert tree_of(project)["changing"] == (("file", b"new\n", 0o644) if to == "file" else ("link", b"binary", 0))
    assert tree_of(project).keys() == before.keys()


@KINDS
@pytest.mark.needs("git")
def test_a_conflict_leaves_the_users_file_and_stores_both(project, opened, kind):
    """The user's file is as it was; the agent's, and a merge with markers, stay beside the copy when it is removed."""
    copy = opened(kind)
    shell(copy, "sed -i s/^5$/agent/ text; echo new > other; printf '\\0agent' > binary")
    copy.changes()
    (project / "text").write_text(LINES.replace("5\n", "user\n", 1))
    (project / "binary").write_bytes(b"\0user")
    merged = copy.merge()
    assert merged.applied == ("other",)
    binary, text = merged.conflicts
    assert (text.path, text.reason, text.workspace) == ("text", "both changed", project / "text")
    assert (project / "text").read_text() == LINES.replace("5\n", "user\n", 1)
    assert (project / "binary").read_bytes() == b"\0user"
    copy.remove()
    assert text.agent is not None
    assert text.merge is not None
    assert binary.agent is not None
    assert text.agent.read_text() == LINES.replace("5\n", "agent\n", 1)
    assert "<<<<<<< workspace\nuser\n||||||| start\n5\n=======\nagent\n>>>>>>> agent\n" in text.merge.read_text()
    assert (binary.agent.read_bytes(), binary.merge) == (b"\0agent", None)
    assert merged.patch is not None
    assert "+agent" in merged.patch.read_text()


@pytest.mark.needs("git")
@pytest.mark.parametrize(("kind", "applied"), [("overlay", False), ("copy", False), ("worktree", True)])
def test_a_start_that_is_unknown_is_never_guessed(project, opened, kind, applied):
    """Both changed the file before anyone looked. Only a worktree has the start, in its commit."""
    copy = opened(kind)
    shell(copy, "sed -i s/^20$/agent/ text")
    (project / "text").write_text(LINES.replace("1\n", "user\n", 1))
    merged = copy.merge()
    assert merged.applied == (("text",) if applied else ())
    assert [conflict.reason for conflict in merged.conflicts] == ([] if applied else ["start unknown"])
    assert ("agent" in (project / "text").read_text()) is applied
    assert "user" in (project / "text").read_text()


@KINDS
@pytest.mark.needs("git")
def test_deleting_on_one_side_and_changing_on_the_other_is_a_conflict(project, opened, kind):
    """In both directions; a file both deleted is none."""
    copy = opened(kind)
    shell(copy, "rm text binary; echo agent > folder/file")
    copy.changes()
    (project / "text").write_text("user\n")
    (project / "binary").unlink()
    (project / "folder" / "file").unlink()
    merged = copy.merge()
    assert [(each.path, each.agent is None) for each in merged.conflicts] == [("text", True), ("folder/file", False)]
    assert merged.applied == ("binary",)
    assert (project / "text").read_text() == "user\n"
    assert not (project / "folder" / "file").exists()


@KINDS
@pytest.mark.needs("git")
def test_a_folder_with_something_of_the_users_is_not_replaced(project, opened, kind):
    """The agent put a file where the folder was; the user a file into the folder."""
    copy = opened(kind)
    shell(copy, "rm -r folder; echo agent > folder")
    (project / "folder" / "mine").write_text("user\n")
    merged = copy.merge()
    assert [conflict.path for conflict in merged.conflicts] == ["folder"]
    assert (project / "folder" / "mine").read_text() == "user\n"


@KINDS
@pytest.mark.needs("git")
def test_what_was_merged_is_the_start_of_the_next_merge(project, opened, kind):
    """An agent that continues is not in conflict with its own first result."""
    copy = opened(kind)
    shell(copy, "sed -i s/^20$/first/ text")
    copy.merge()
    shell(copy, "sed -i s/^first$/second/ text; rm folder/file")
    (project / "text").write_text((project / "text").read_text().replace("1\n", "user\n", 1))
    merged = copy.merge()
    assert (merged.applied, merged.conflicts) == (("folder/file", "text"), ())
    assert (project / "text").read_text() == LINES.replace("1\n", "user\n", 1).replace("20\n", "second\n")


@KINDS
@pytest.mark.needs("git")
def test_protected_files_are_refused_and_gits_own_are_no_change(project, opened, kind):
    """They are in the patch, and the workspace has none of them."""
    copy = opened(kind)
    shell(copy, "mkdir -p .sightline sub/.vscode; echo x > .sightline/settings.toml; echo x > .envrc; echo y > fine")
    shell(copy, "echo x > sub/.vscode/tasks.json; mkdir -p deep/.git/hooks; echo evil > deep/.git/hooks/pre-commit")
    merged = copy.merge()
    assert merged.applied == ("fine",)
    refused = {each.path: each.why for each in merged.refused}
    assert set(refused) == {".sightline/settings.toml", ".envrc", "sub/.vscode/tasks.json"}
    assert set(refused.values()) == {"it is protected"}
    assert {".envrc", ".sightline/settings.toml", "deep/.git/hooks/pre-commit"}.isdisjoint(tree_of(project))
    assert not (project / "deep").exists()
    assert merged.patch is not None
    assert b"+++ b/.envrc" in merged.patch.read_bytes()
    assert b"pre-commit" not in merged.patch.read_bytes()


@KINDS
@pytest.mark.needs("git")
def test_a_planted_link_leads_nowhere(project, opened, kind, tmp_path):
    """A link in place of a folder is merged as a link; nothing is written or read through one."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("outside\n")
    copy = opened(kind)
    shell(copy, f"rm -r folder; ln -s {outside} folder; ln -s {outside}/file leak; echo x > plain")
    merged = copy.merge()
    assert set(merged.applied) == {"folder", "folder/file", "leak", "plain"}
    assert os.readlink(project / "folder") == str(outside)
    assert tree_of(outside) == {"file": ("file", b"outside\n", 0o644)}
    assert merged.patch is not None
    assert b"+outside\n" not in merged.patch.read_bytes()


@KINDS
@pytest.mark.needs("git")
def test_a_folder_that_became_a_link_in_the_workspace_is_not_written_through(project, opened, kind, tmp_path):
    """The user (or a command) replaced it before the merge."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("outside\n")
    copy = opened(kind)
    shell(copy, "echo agent > folder/file; echo agent > folder/new")
    copy.changes()
    (project / "folder" / "file").unlink()
    (project / "folder").rmdir()
    (project / "folder").symlink_to(outside)
    merged = copy.merge()
    assert merged.applied == ()
    assert len(merged.conflicts) + len(merged.refused) == 2
    assert tree_of(outside) == {"file": ("file", b"outside\n", 0o644)}


def test_a_link_that_is_swapped_all_the_time_is_never_written_through(workspace, opened, tmp_path):
    """While files are merged into a folder, it is exchanged for a link out of the workspace again and again."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (workspace / "folder").mkdir()
    (workspace / "folder" / "start").write_text("")
    (workspace / "link").symlink_to(outside)
    copy = opened("overlay")
    python(copy, "for n in range(300): open(f'folder/{n}', 'w').write('agent')")
    ended = threading.Event()
    swapping = threading.Thread(target=_swap, args=(workspace, ended))
    swapping.start()
    try:
        merged = copy.merge()
    finally:
        ended.set()
        swapping.join()
    assert list(outside.iterdir()) == []
    assert len(merged.applied) + len(merged.refused) + len(merged.conflicts) == 300


def _swap(workspace: Path, ended: threading.Event) -> None:
    folder, link = (os.fsencode(workspace / name) for name in ("folder", "link"))
    libc = ctypes.CDLL(None)
    while not ended.is_set():
        assert libc.renameat2(_HERE, folder, _HERE, link, _EXCHANGE) == 0


@KINDS
@pytest.mark.needs("git")
def test_what_is_no_file_is_refused(project, opened, kind):
    """A pipe and a socket are listed, never opened, and never merged; a hard link is a file of its own."""
    copy = opened(kind)
    shell(copy, "mkfifo pipe; ln text second")
    python(copy, "import socket; socket.socket(socket.AF_UNIX).bind('socket')")
    changes = {change.path: change.content for change in copy.changes().files}
    assert changes == {"pipe": "special", "socket": "special", "second": "text"}
    merged = copy.merge()
    assert merged.applied == ("second",)
    assert {each.path for each in merged.refused} == {"pipe", "socket"}
    assert (project / "second").read_text() == LINES
    assert (project / "text").stat().st_nlink == 1
    copy.remove()


@KINDS
@pytest.mark.needs("git")
def test_modes_are_merged_without_set_id_bits(project, opened, kind):
    """Each side's where only that one changed it."""
    (project / "user").write_text("1\n")
    copy = opened(kind)
    shell(copy, "chmod 4755 text; echo 2 >> user; echo x > tool; chmod 700 tool")
    copy.changes()
    (project / "user").chmod(0o600)
    assert set(copy.merge().applied) == {"text", "tool", "user"}
    modes = {name: stat.S_IMODE((project / name).stat().st_mode) for name in ("text", "tool", "user")}
    assert modes == {"text": 0o755, "tool": 0o700, "user": 0o600}
    assert (project / "user").read_text() == "1\n2\n"


def test_without_git_both_changed_is_a_conflict(workspace, opened, monkeypatch):
    """And everything else is merged as with it."""
    (workspace / "text").write_text(LINES)
    copy = opened("copy")
    shell(copy, "sed -i s/^20$/agent/ text; echo x > new")
    copy.changes()
    (workspace / "text").write_text(LINES.replace("1\n", "user\n", 1))
    monkeypatch.setattr(_git, "find_program", lambda name: None)
    merged = copy.merge()
    assert merged.applied == ("new",)
    assert [(each.path, each.reason, each.merge) for each in merged.conflicts] == [("text", "both changed", None)]


def test_a_file_too_large_for_a_patch_is_stored_beside_it(workspace, opened, monkeypatch):
    """It is not merged, and not lost."""
    monkeypatch.setattr(_states, "READ_AT_MOST", 1000)
    copy = opened("copy")
    shell(copy, "head -c 5000 /dev/zero > large")
    merged = copy.merge()
    assert [(each.path, each.why) for each in merged.refused] == [("large", "it is too large to be merged")]
    copy.remove()
    assert [place.read_bytes() for place in merged.large] == [bytes(5000)]


@KINDS
@pytest.mark.needs("git")
def test_nothing_is_removed_before_it_was_stored(project, opened, kind):
    """A change after the patch counts as one that is not stored."""
    copy = opened(kind)
    shell(copy, "echo one > new")
    with pytest.raises(UserMistake, match="neither merged nor stored"):
        copy.remove()
    copy.store_patch()
    shell(copy, "echo two > new")
    with pytest.raises(UserMistake, match="neither merged nor stored"):
        copy.remove()
    stored = copy.store_patch()
    copy.remove()
    assert stored.path is not None
    assert "+two" in stored.path.read_text()
    assert not copy.record.parts.exists()


def test_two_merges_into_one_workspace_wait_for_each_other(workspace, opened, monkeypatch):
    """Each agent's changes are there afterwards; two who changed one line conflict."""
    (workspace / "text").write_text(LINES)
    copies = [opened("copy", name) for name in ("one", "two")]
    for number, copy in enumerate(copies):
        shell(copy, f"echo {number} > new-{number}; sed -i 's/^5$/agent {number}/' text")
        copy.changes()
    results = []
    threads = [threading.Thread(target=lambda copy=copy: results.append(copy.merge())) for copy in copies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {path for each in results for path in each.applied} == {"new-0", "new-1", "text"}
    assert [conflict.path for each in results for conflict in each.conflicts] == ["text"]


def test_a_workspace_that_was_exchanged_is_not_merged_into(workspace, opened):
    """Another folder of the same name is another workspace."""
    copy = opened("copy")
    shell(copy, "echo x > new")
    workspace.rename(workspace.with_name("moved"))
    workspace.mkdir()
    with pytest.raises(OutsideFailure, match="another folder now"):
        copy.merge()
    assert list(workspace.iterdir()) == []


@pytest.mark.needs("git")
def test_names_that_are_taken_or_too_long_are_stored_under_a_digest(workspace, opened):
    """`x.merge` may be a file of its own, and a name as long as it can be has no room for an ending."""
    long = "n" * 255
    for name in ("x", "x.merge", long):
        (workspace / name).write_text(LINES)
    copy = opened("copy")
    shell(copy, f"for name in x x.merge {long}; do sed -i s/^5$/agent/ $name; done")
    copy.changes()
    for name in ("x", "x.merge", long):
        (workspace / name).write_text(LINES.replace("5\n", "user\n", 1))
    merged = copy.merge()
    stored = [place for each in merged.conflicts for place in (each.agent, each.merge)]
    assert None not in stored
    assert len(set(stored)) == 6
    assert all("agent" in place.read_text() for place in stored if place is not None)


def test_a_large_file_that_became_small_is_stored_beside_the_patch(workspace, opened, monkeypatch):
    """A patch cannot take away what it cannot have."""
    monkeypatch.setattr(_states, "READ_AT_MOST", 1000)
    (workspace / "large").write_bytes(bytes(5000))
    copy = opened("copy")
    shell(copy, "echo precious > large")
    stored = copy.store_patch()
    assert [place.read_bytes() for place in stored.large] == [b"precious\n"]
    copy.remove()
    assert stored.large[0].exists()


@KINDS
@pytest.mark.needs("git")
def test_a_folder_with_another_spelling_of_git_is_reported(project, opened, kind):
    """It may be git's own elsewhere, so it is not merged; its files are stored beside the patch, which git takes."""
    copy = opened(kind)
    shell(copy, "mkdir .GIT folder/.Git; echo mine > .GIT/config; echo 1 > folder/.Git/x; echo new > other")
    assert [each.path for each in copy.changes().files] == [".GIT/config", "folder/.Git/x", "other"]
    merged = copy.merge()
    assert merged.applied == ("other",)
    assert [(each.path, each.why) for each in merged.refused] == [
        (".GIT/config", "it is git's own"),
        ("folder/.Git/x", "it is git's own"),
    ]
    assert [path.read_text() for path in merged.large] == ["mine\n", "1\n"]
    (project / "other").unlink()
    git(project, "apply", str(merged.patch))
    assert (project / "other").read_text() == "new\n"
    copy.remove()
