"""Our files are for their owner alone, whatever the umask and whatever was there before."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from sightline.exceptions import OutsideFailure
from sightline.host.socket._runtime import listen, runtime_folder
from sightline.journal import Store
from sightline.paths import NotOurs, data_folder, private_folder

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a folder to another user")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def open_to_others(folder: Path) -> list[str]:
    return [str(path) for path in (folder, *folder.rglob("*")) if not path.is_symlink() and mode(path) & 0o077]


@pytest.fixture
def umask(request):
    old = os.umask(request.param)
    yield
    os.umask(old)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o277, 0o777], indirect=True)
def test_folders_have_mode_0700_whatever_the_umask(tmp_path, umask):
    """Those above it that had to be made, too: who can rename one can replace all below."""
    folder = private_folder(tmp_path / "a" / "b" / "c", tmp_path / "a")
    assert [mode(path) for path in (folder, folder.parent, folder.parent.parent)] == [0o700] * 3


@pytest.mark.parametrize("umask", [0o000], indirect=True)
def test_everything_a_session_stores_is_its_owners_alone(umask):
    """Journal, artifacts, the list of jobs, the socket's folder, the host's log."""
    argv = [sys.executable, "-m", "sightline", "exec", "--", "sh", "-c", "echo hello"]
    subprocess.run(argv, check=True, capture_output=True, timeout=60)
    argv = [sys.executable, "-m", "sightline", "sessions"]
    subprocess.run(argv, check=True, capture_output=True, timeout=60)
    stored = [path.name for path in data_folder().rglob("*")]
    assert {"sessions", "jobs.jsonl", "run", "journal.jsonl", "artifacts"} <= set(stored)
    assert open_to_others(data_folder()) == []


def test_what_was_open_to_others_is_closed():
    """By the next session: the folders, through which others would have to go. A person's own file keeps its mode."""
    (data_folder() / "sessions").mkdir(parents=True)
    own = data_folder() / "mine.txt"
    own.write_text("x")
    own.chmod(0o644)
    for folder in (data_folder(), data_folder() / "sessions"):
        folder.chmod(0o755)
    Store(data_folder()).create().close()
    assert [mode(folder) for folder in (data_folder(), data_folder() / "sessions")] == [0o700, 0o700]
    assert mode(own) == 0o644


def test_a_folder_elsewhere_is_not_changed(tmp_path):
    """A person's settings may be in a folder with other things; only what we make is closed."""
    (tmp_path / "dotfiles").mkdir(mode=0o755)
    private_folder(tmp_path / "dotfiles")
    assert mode(tmp_path / "dotfiles") == 0o755


@root_only
@pytest.mark.parametrize("what", [".", "sessions"])
def test_a_data_folder_of_another_user_is_refused(what):
    """He could read and change all that is stored there."""
    folder = data_folder() / what
    folder.mkdir(parents=True)
    os.chown(folder, 65534, 65534)
    with pytest.raises(OutsideFailure, match="belongs to another user") as caught:
        Store(data_folder()).create()
    assert "SIGHTLINE_HOME" in caught.value.hint


@root_only
def test_a_link_that_another_user_made_is_refused(tmp_path):
    """Wherever it leads: he can lead it elsewhere."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    os.lchown(tmp_path / "link", 65534, 65534)
    with pytest.raises(NotOurs):
        private_folder(tmp_path / "link", tmp_path / "link")


@root_only
def test_a_runtime_folder_of_another_user_is_not_used(tmp_path, monkeypatch):
    """After `su` the variable may still name that of whoever logged in. One that is ours and open is not, either."""
    monkeypatch.delenv("SIGHTLINE_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    assert runtime_folder() == runtime / "sightline"
    runtime.chmod(0o777)
    assert runtime_folder() == tmp_path / "data" / "sightline" / "run"
    runtime.chmod(0o700)
    os.chown(runtime, 65534, 65534)
    assert runtime_folder() == tmp_path / "data" / "sightline" / "run"


@root_only
def test_a_socket_is_not_made_in_another_users_folder():
    """He could put his own in its place."""
    folder = runtime_folder()
    folder.mkdir(parents=True)
    os.chown(folder, 65534, 65534)
    with pytest.raises(OutsideFailure, match="belongs to another user"):
        listen("abcdef")
