"""Copies of a process that was killed: found, stored, removed."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sightline.working_copies import WorkingCopy, leftovers, remove_leftover
from sightline.working_copies import _records as records
from tests.working_copies.conftest import git, make_repository, needs_of, shell

OWNER = """
import sys, time
from pathlib import Path
from sightline.working_copies import open_copy
copy = open_copy(Path(sys.argv[1]), Path(sys.argv[2]), "one", sys.argv[3])
print("open", flush=True)
time.sleep(1000)
"""


def killed(workspace: Path, folder: Path, kind: str) -> None:
    process = subprocess.Popen([sys.executable, "-c", OWNER, workspace, folder, kind], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"open\n"
    assert leftovers() == []
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()


@pytest.mark.parametrize("kind", ["overlay", "worktree", "copy"])
@pytest.mark.needs("git")
def test_a_copy_of_a_killed_process_is_stored_and_removed(workspace, tmp_path, kind):
    """Its changes are in the patch where the record says; nothing else of it is left."""
    needs_of(kind, tmp_path)
    (workspace / "file").write_text("start\n")
    make_repository(workspace)
    killed(workspace, tmp_path / "agent", kind)
    (record,) = leftovers()
    assert (record.workspace, record.kind) == (str(workspace), kind)
    shell(WorkingCopy(record), "echo agent >> file")
    stored = remove_leftover(record)
    assert stored.path == record.patch == tmp_path / "agent" / "changes.patch"
    assert "+agent\n" in record.patch.read_text()
    assert os.listdir(tmp_path / "agent") == ["changes.patch"]
    assert leftovers() == []
    assert git(workspace, "worktree", "list").count("\n") == 1
    assert "sightline" not in git(workspace, "branch", "--list")
    assert (workspace / "file").read_text() == "start\n"


def test_one_without_changes_leaves_nothing(workspace, tmp_path):
    """Not even its folder."""
    killed(workspace, tmp_path / "agent", "copy")
    assert remove_leftover(leftovers()[0]).path is None
    assert not (tmp_path / "agent").exists()


def test_one_that_was_killed_while_it_was_opened_is_removed(workspace, tmp_path):
    """It has no list of files yet, and no agent was in it."""
    killed(workspace, tmp_path / "agent", "copy")
    (record,) = leftovers()
    (record.parts / "manifest").unlink()
    remove_leftover(record)
    assert leftovers() == []
    assert not record.parts.exists()


def test_one_whose_workspace_or_folder_is_gone_is_removed(workspace, tmp_path):
    """What can be stored is stored."""
    killed(workspace, tmp_path / "agent", "copy")
    (record,) = leftovers()
    shell(WorkingCopy(record), "echo x > new")
    workspace.rmdir()
    assert remove_leftover(record).path == record.patch
    assert "+x\n" in record.patch.read_text()
    workspace.mkdir()
    killed(workspace, tmp_path / "other", "copy")
    (record,) = leftovers()
    subprocess.run(["rm", "-r", record.folder], check=True)
    remove_leftover(record)
    assert leftovers() == []


def test_a_process_with_the_same_id_is_not_the_owner(workspace, opened):
    """Ids are used again: the time of birth counts too."""
    copy = opened("copy")
    assert leftovers() == []
    record = records.records()[0]
    place = records.records_folder() / f"{record.id}.json"
    place.write_text(json.dumps({**json.loads(place.read_text()), "born": record.born - 1}))
    assert [each.id for each in leftovers()] == [copy.record.id]


def test_what_is_no_record_is_passed_over(workspace, opened):
    """Broken, foreign or another's name; a record may have names of any bytes."""
    folder = records.records_folder()
    opened("copy", "one")
    for name, text in (("a.json", "{"), ("b.json", "[]"), ("c.json", '{"id": "c"}'), ("d.json", "\u00e9")):
        (folder / name).write_text(text)
    real = next(folder.glob("????????????????.json"))
    (folder / "copied.json").write_text(real.read_text())
    assert [record.id for record in records.records()] == [real.stem]
