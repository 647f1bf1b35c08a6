"""The little program that gives up its rights and becomes the command."""

import os
import subprocess
import sys

import pytest

from sightline.exec.sandbox import _landlock
from sightline.exec.sandbox._launching import Handover

pytestmark = pytest.mark.skipif(not _landlock.abi(), reason="the kernel has no Landlock")


def launch(*arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    handover = Handover()
    given = handover.fill(dict(os.environ) if env is None else env)
    argv = [sys.executable, "-I", "-S", _landlock.__file__, str(handover.descriptor), *arguments]
    try:
        return subprocess.run(
            argv, capture_output=True, text=True, timeout=90, env=given, pass_fds=[handover.descriptor]
        )
    finally:
        handover.close()


def test_it_becomes_the_command(tmp_path):
    """No process stands between the starter and the command."""
    done = launch("no-network", "", str(tmp_path), "--", "sh", "-c", "echo $PPID")
    assert done.stdout == f"{os.getpid()}\n"


def test_it_refuses_to_run_anything_unprotected(tmp_path):
    """A folder it cannot allow is no reason to go on without."""
    done = launch("no-network", "", str(tmp_path / "none"), "--", "echo", "ran")
    assert (done.returncode, done.stdout) == (126, "")
    assert "the sandbox could not be set up" in done.stderr


def test_a_file_that_cannot_be_run_ends_with_126(tmp_path):
    """As in a shell."""
    (tmp_path / "file").write_text("")
    done = launch("no-network", "", str(tmp_path), "--", str(tmp_path / "file"))
    assert (done.returncode, done.stderr) == (126, f"sightline: {tmp_path}/file: Permission denied\n")


def test_the_environment_is_passed_on_untouched(tmp_path):
    """Python adds a variable to a bare one; the command does not see it."""
    assert launch("network", "", str(tmp_path), "--", "/usr/bin/env", env={}).stdout == ""
    assert launch("network", "", str(tmp_path), "--", "/usr/bin/env", env={"LC_CTYPE": "C"}).stdout == "LC_CTYPE=C\n"


def test_separators_after_the_first_belong_to_the_command(tmp_path):
    """A command may have its own."""
    assert launch("network", "", str(tmp_path), "--", "echo", "--", "x").stdout == "-- x\n"


@pytest.mark.parametrize("version", range(1, _landlock.abi() + 1))
def test_the_rules_hold_on_every_version_the_kernel_can_play(tmp_path, version):
    """An older kernel knows fewer rights; a file outside is safe on all of them, inside works on all."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import _landlock as it\n"
        "it.restrict([sys.argv[2]], network=False, version=int(sys.argv[3]))\n"
        "open(sys.argv[2] + '/inside', 'w').close()\n"
        "try: open(sys.argv[2] + '-outside', 'w').close()\n"
        "except PermissionError: print('refused')\n"
    )
    folder = tmp_path / "w"
    folder.mkdir()
    argv = [sys.executable, "-c", code, os.path.dirname(_landlock.__file__), str(folder), str(version)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=90)
    assert (done.stdout, done.stderr) == ("refused\n", "")
    assert (folder / "inside").exists()


def test_a_process_outside_cannot_be_signalled(tmp_path):
    """Where the kernel can keep that (version 6)."""
    if _landlock.abi() < 6:
        pytest.skip("this kernel's Landlock knows no signals")
    done = launch("no-network", "", str(tmp_path), "--", "sh", "-c", f"kill -0 {os.getpid()}")
    assert done.returncode != 0


def test_a_kernel_without_it_has_version_0(monkeypatch):
    """Not an error."""

    def no_such_call(*_: object) -> int:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(_landlock, "_call", no_such_call)
    assert _landlock.abi() == 0


def test_the_terminal_it_was_started_on_can_be_opened_by_name():
    """Programs do that, with what /dev/tty or `tty` says."""
    ours, its = os.openpty()
    code = (
        "import os; os.write(os.open(os.ttyname(0), os.O_RDWR), b'by name'); os.close(os.open('/dev/tty', os.O_RDWR))"
    )
    handover = Handover()
    argv = [sys.executable, "-I", "-S", _landlock.__file__, str(handover.descriptor), "no-network", "", "/tmp", "--"]
    argv = ["setsid", "-c", "-w", *argv, sys.executable, "-c", code]
    given = handover.fill({})
    child = subprocess.Popen(argv, env=given, stdin=its, stdout=its, stderr=its, pass_fds=[handover.descriptor])
    handover.close()
    assert child.wait(30) == 0, os.read(ours, 1000)
    assert os.read(ours, 7) == b"by name"
    os.close(its)
    os.close(ours)


def test_a_filter_that_cannot_be_read_is_a_refusal(tmp_path):
    """Never go on without."""
    done = launch("no-network", str(tmp_path / "none"), str(tmp_path), "--", "echo", "ran")
    assert (done.returncode, done.stdout) == (126, "")
