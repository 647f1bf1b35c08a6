"""The environment of what we start ourselves: nothing of it is loaded from where a sandboxed command can write."""

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from sightline.exec import SandboxSpec, bare_environment, trusted_environment, work_in
from sightline.exec.sandbox import _landlock, _launching
from sightline.exec.sandbox._launching import Handover

from .running import Ran

KINDS = [
    pytest.param("bubblewrap", marks=pytest.mark.needs("bubblewrap")),
    pytest.param("landlock", marks=pytest.mark.skipif(not _landlock.abi(), reason="no Landlock")),
]


@pytest.fixture(params=KINDS)
def kind(request, monkeypatch) -> str:
    from sightline.exec import SandboxStatus
    from sightline.exec.sandbox import _sandbox

    monkeypatch.setattr(_sandbox, "_decided", SandboxStatus(kind=request.param))
    return request.param


def _outside_tmp() -> str:
    """A folder one may write to, and that does not look empty in the sandbox."""
    return "/var" if os.access("/var", os.W_OK) else str(Path.home())


@pytest.fixture
def workspace() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="sl-w-", dir=_outside_tmp()) as folder:
        yield Path(folder)


@pytest.mark.parametrize("pty", [False, True])
async def test_what_sets_up_the_sandbox_has_none_of_the_commands_variables(kind, workspace, tmp_path, pty):
    """The loader writes a file for each program that has its variables, and the command cannot write there."""
    env = {**os.environ, "LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(tmp_path / "loaded")}
    spec = SandboxSpec(workspace=str(workspace))
    ran = await Ran("sh", "-c", "echo $LD_DEBUG", cwd=str(workspace), env=env, sandbox=spec, pty=pty).run()
    assert "files" in ran.text().splitlines()[-1]
    assert list(tmp_path.glob("loaded*")) == []


async def test_the_command_has_its_whole_environment_and_nothing_else(kind, workspace):
    """Byte by byte; what a shell exports by itself is not in it."""
    env = {"PATH": os.environ["PATH"], "B": "a b\nc", "LD_LIBRARY_PATH": "/x::", "ODD": "\udcff", "EMPTY": ""}
    spec = SandboxSpec(workspace=str(workspace))
    code = "import os; print(sorted(os.environb.items()))"
    ran = await Ran(sys.executable, "-Ic", code, cwd=str(workspace), env=env, sandbox=spec).run()
    found = dict(eval(ran.text()))
    caches = {b"npm_config_cache", b"npm_config_update_notifier", b"GOCACHE"}
    for name, value in env.items():
        assert found.pop(os.fsencode(name)) == os.fsencode(value)
    assert found.keys() - {b"LC_CTYPE"} == {b"TMPDIR", b"TMPPREFIX", b"PWD", b"SIGHTLINE_RUN", *caches}


async def test_a_secret_is_in_no_command_line(kind, workspace):
    """Other users can read those."""
    code = (  # without those that end meanwhile; those of a busy machine are too many to be printed
        "import glob\nfor f in glob.glob('/proc/[0-9]*/cmdline'):\n"
        "    try: line = open(f, 'rb').read()\n    except OSError: continue\n"
        "    if b'glob' in line or b'what' + b'ever' in line: print(line)"
    )
    spec = SandboxSpec(workspace=str(workspace))
    env = {"PATH": os.environ["PATH"], "MINE": "whatever-it-is"}
    ran = await Ran(sys.executable, "-Ic", code, cwd=str(workspace), env=env, sandbox=spec).run()
    assert "glob" in ran.text()
    assert "whatever-it-is" not in ran.text()


def test_a_zero_byte_does_not_become_an_option():
    """Bubblewrap reads its options with zero bytes between them."""
    handover = Handover()
    try:
        with pytest.raises(ValueError, match="cannot be passed to a command"):
            handover.fill({"X": "y\0--bind\0/\0/"})
    finally:
        handover.close()


async def test_no_descriptor_is_left_open(kind, workspace):
    """Neither here nor in the command."""
    spec = SandboxSpec(workspace=str(workspace))
    before = len(os.listdir("/proc/self/fd"))
    ran = await Ran("sh", "-c", "ls /proc/self/fd", cwd=str(workspace), sandbox=spec).run()
    assert ran.text().split() == ["0", "1", "2", "3"]  # the last is the listing itself
    assert len(os.listdir("/proc/self/fd")) <= before + 2  # the guard's


def test_entries_that_lead_into_a_workspace_are_left_out(monkeypatch, tmp_path):
    """Also links to there, and what is not absolute: it would be wherever a program is started."""
    monkeypatch.setattr("sightline.exec.sandbox._programs._workspaces", set())
    work_in(tmp_path)
    (tmp_path / "lib").mkdir()
    with tempfile.TemporaryDirectory(prefix="sl-l-", dir=_outside_tmp()) as elsewhere:
        (Path(elsewhere) / "link").symlink_to(tmp_path / "lib")
        given = {
            "LD_LIBRARY_PATH": f"/opt/lib::{tmp_path}/lib:lib:{elsewhere}/link:{elsewhere}",
            "LD_PRELOAD": f"{tmp_path}/x.so /opt/y.so",
            "LD_BIND_NOW": "1",
            "OPENSSL_CONF": f"{tmp_path}/openssl.cnf",
            "PYTHONPATH": f"{tmp_path}/src",
        }
        assert trusted_environment(given) == {
            "LD_LIBRARY_PATH": f"/opt/lib:{elsewhere}",
            "LD_PRELOAD": "/opt/y.so",
            "LD_BIND_NOW": "1",
            "PYTHONPATH": f"{tmp_path}/src",
        }


def test_a_bare_environment_has_what_is_named(monkeypatch):
    monkeypatch.setenv("LD_LIBRARY_PATH", "/somewhere")
    monkeypatch.setenv("HOME", "/home/x")
    _launching._own_libraries.cache_clear()
    assert bare_environment("HOME", "NOT_THERE") == {"HOME": "/home/x"}
