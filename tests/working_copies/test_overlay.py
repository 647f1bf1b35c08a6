"""The overlay: what a process in it sees, what the upper folder says, and how it ends."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sightline.exceptions import UserMistake
from sightline.working_copies import _overlay, open_copy
from tests.working_copies.conftest import needs_of, python, run_in, shell, tree_of


@pytest.fixture
def copy(workspace, opened):
    (workspace / "file").write_text("start\n")
    (workspace / "folder").mkdir()
    (workspace / "folder" / "inner").write_text("inner\n")
    return opened("overlay")


def test_a_process_in_it_sees_the_workspace_at_its_own_path_and_changes_nothing_there(copy, workspace):
    """Paths stay the same, absolute ones too."""
    shell(copy, f"echo agent > {workspace}/file; rm -r folder; pwd")
    assert shell(copy, "pwd; cat file; ls") == f"{workspace}\nagent\nfile\n"
    assert tree_of(workspace) == {
        "file": ("file", b"start\n", 0o644),
        "folder/inner": ("file", b"inner\n", 0o644),
    }


def test_a_process_starts_in_the_folder_it_was_started_in_and_with_its_own_environment(copy, workspace):
    """A subfolder is the overlay's, not the one below; variables and signals are as the caller set them."""
    code = "import os, sys; os.write(1, repr(sorted(os.environb)).encode()); open('new', 'w')"
    environment = {"ONLY": "this", "LC_ALL": "C"}
    words = [*copy.words, sys.executable, "-I", "-S", "-c", code]
    done = subprocess.run(words, cwd=workspace / "folder", env=environment, capture_output=True, check=True)
    assert b"b'ONLY'" in done.stdout
    assert [change.path for change in copy.changes().files] == ["folder/new"]
    status = shell(copy, "grep SigIgn /proc/self/status")
    assert int(status.split()[1], 16) & (1 << (signal.SIGPIPE - 1)) == 0


def test_exit_codes_are_those_of_the_command(copy):
    """127 for a command that is not there; it is never run outside of the copy."""
    assert subprocess.run([*copy.words, "sh", "-c", "exit 7"], cwd=copy.cwd).returncode == 7
    assert subprocess.run([*copy.words, "no-such-program"], cwd=copy.cwd, capture_output=True).returncode == 127
    broken = [*copy.words[:-1], "/nonexistent", "sh", "-c", "echo ran"]
    done = subprocess.run(broken, cwd=copy.cwd, capture_output=True)
    assert (done.returncode, done.stdout) == (126, b"")


def test_a_second_process_is_in_the_same_mount_as_the_first(copy):
    """Both see each other's changes at once; when all have ended, the next one mounts anew."""
    first = subprocess.Popen(
        [*copy.words, "sh", "-c", "echo one > seen; read line; cat answer"],
        cwd=copy.cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        _wait_for(lambda: any(change.path == "seen" for change in copy.changes().files))
        assert shell(copy, "cat seen; echo two > answer; ls -i seen") != ""
        output, _ = first.communicate(b"\n", timeout=60)
        assert output == b"two\n"
    finally:
        first.kill()
        first.wait()
    assert shell(copy, "cat seen answer") == "one\ntwo\n"


def test_nothing_is_mounted_after_a_kill(copy):
    """The mount is known to the processes in it alone. As long as there is one, the copy is not removed."""
    process = subprocess.Popen([*copy.words, "sleep", "1000"], cwd=copy.cwd)
    _wait_for(lambda: _command(process.pid).startswith(b"sleep"))
    assert str(copy.cwd) not in Path("/proc/self/mountinfo").read_text()
    assert f" {copy.cwd} " in Path(f"/proc/{process.pid}/mountinfo").read_text()
    with pytest.raises(UserMistake, match="a process is still in the working copy"):
        copy.remove()
    process.kill()
    process.wait()
    copy.remove()
    assert not copy.record.parts.exists()


def test_a_process_in_it_may_start_others_in_it(copy):
    """They are in it already."""
    words = (*copy.words, *copy.words, "sh", "-c", "echo x > new")
    subprocess.run(words, cwd=copy.cwd, check=True)
    assert [change.path for change in copy.changes().files] == ["new"]


def test_a_namespace_that_is_not_the_copys_is_not_entered(copy):
    """Its numbers were used again, by a namespace that has something else at that path; a new mount is made."""
    process = subprocess.Popen([*copy.words, "sleep", "1000"], cwd=copy.cwd)
    try:
        _wait_for(lambda: _command(process.pid).startswith(b"sleep"))
        noted = copy.record.parts / "namespace"
        namespace, device = noted.read_text().split()
        noted.write_text(f"{namespace} {int(device) + 1}\n")
        assert shell(copy, "stat -c %i /proc/self/ns/mnt -L").strip() != namespace
    finally:
        process.kill()
        process.wait()


def _command(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def _wait_for(condition) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("name", ["a,b", "a:b", "a\\b", "a\nb", "a b", "\udcff", "upperdir=x,y"])
def test_a_workspace_may_have_any_name(tmp_path, name):
    """Options of a mount are separated by commas, folders by colons."""
    needs_of("overlay", tmp_path)
    workspace = tmp_path / name
    workspace.mkdir()
    (workspace / name).write_text("x")
    copy = open_copy(workspace, tmp_path / "agents" / name, "one", "overlay")
    python(copy, "import os; [open(name, 'a').write('y') for name in os.listdir()]")
    assert [change.path for change in copy.changes().files] == [name]
    assert copy.merge().applied == (name,)
    assert (workspace / name).read_text() == "xy"
    copy.remove()


def test_a_folder_that_was_made_anew_has_none_of_its_old_files(copy, workspace):
    """It is opaque: what is below does not show through, and counts as deleted."""
    shell(copy, "rm -r folder; mkdir folder; echo x > folder/new")
    assert {change.path: change.kind for change in copy.changes().files} == {
        "folder/inner": "deleted",
        "folder/new": "added",
    }


def test_a_file_that_is_only_touched_is_no_change(copy):
    """It is in the upper folder with the content it had."""
    shell(copy, "touch file; chmod 644 folder/inner; cp file copy; mv copy file")
    assert copy.changes().files == ()
    copy.remove()


def test_changes_can_be_listed_while_files_come_and_go(copy):
    """A file that vanishes between two looks is no error."""
    code = (
        "import os, shutil\n"
        "for n in range(100000):\n"
        "    os.makedirs(f'd{n % 7}/x', exist_ok=True); open(f'd{n % 7}/x/f', 'w').write('x')\n"
        "    shutil.rmtree(f'd{(n + 3) % 7}', ignore_errors=True)\n"
    )
    process = subprocess.Popen([*copy.words, sys.executable, "-I", "-S", "-c", code], cwd=copy.cwd)
    try:
        _wait_for(lambda: copy.changes().files)
        for _ in range(50):
            for change in copy.changes().files:
                assert change.kind in ("added", "deleted")
            copy.diff(10_000)
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()


def test_the_list_of_changes_is_cut_and_says_so(copy, monkeypatch):
    """Then nothing is merged or removed, because nothing could be stored whole."""
    monkeypatch.setattr(_overlay, "CANDIDATES_AT_MOST", 10)
    python(copy, "import os; os.makedirs('a/b'); [open(f'{d}/{n}', 'w') for d in ('a', 'a/b') for n in range(20)]")
    assert not copy.changes().is_whole
    for call in (copy.merge, copy.store_patch, copy.remove):
        with pytest.raises(Exception, match="not all changes"):
            call()
    assert copy.record.parts.exists()


def test_the_diff_is_cut_after_a_line_and_says_so(copy):
    """Of binary files it has the names."""
    shell(copy, "seq 1000 > numbers; printf '\\0' > binary")
    whole = copy.diff(100_000)
    assert whole.is_whole
    assert "Binary files /dev/null and b/binary differ\n" in whole.text
    assert "@@ -0,0 +1,1000 @@\n+1\n" in whole.text
    cut = copy.diff(500)
    assert not cut.is_whole
    assert whole.text.startswith(cut.text)
    assert cut.text.endswith("\n")
    assert 300 < len(cut.text) <= 500


def test_a_folder_with_another_file_system_in_it_has_no_overlay(tmp_path):
    """What is mounted in it would be missing; the reason names it."""
    answer = _overlay.overlay_answer("/dev", tmp_path)
    assert answer.mode is None
    assert answer.why.startswith("another file system is mounted in the workspace: /dev/")


def test_a_launcher_that_cannot_mount_is_a_reason_and_not_an_error(workspace, tmp_path, monkeypatch):
    """The next kind is taken, and says why."""
    needs_of("overlay", tmp_path)
    monkeypatch.setattr(_overlay, "_known", {})
    monkeypatch.setattr(_overlay, "_PROBE", "import sys; sys.exit('Function not implemented')")
    copy = open_copy(workspace, tmp_path / "agents", "one")
    assert copy.kind == "copy"
    assert copy.why.startswith("overlay: the kernel refuses it: Function not implemented; worktree: ")


@pytest.mark.needs("bubblewrap")
def test_the_copy_runs_the_commands_of_the_sandbox(copy, workspace):
    """Bubblewrap works in it, and what it lets a command write is the copy's."""
    bind = ["bwrap", "--ro-bind", "/", "/", "--bind", str(workspace), str(workspace)]
    run_in(copy, *bind, "sh", "-c", "echo x > new")
    assert [change.path for change in copy.changes().files] == ["new"]
    assert not (workspace / "new").exists()
