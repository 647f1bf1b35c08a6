"""A file is replaced whole or not at all, and what it was besides its content stays."""

import errno
import os
import random
import resource
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sightline.tools import ToolError
from sightline.tools.files import _atomic
from sightline.tools.files._atomic import replace_file


@pytest.fixture(params=["unnamed", "named"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to write the new content: a file without a name, and a hidden one where there are no such files."""
    if request.param == "named":
        monkeypatch.setattr(_atomic, "_UNNAMED", None)
    return str(request.param)


def test_a_new_file_has_the_mode_of_any_new_file(tmp_path: Path) -> None:
    """The umask decides, as for every other program."""
    (tmp_path / "other").write_bytes(b"")
    replace_file(tmp_path / "a", b"one")
    assert (tmp_path / "a").read_bytes() == b"one"
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "other").stat().st_mode


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755, 0o444, 0o4755])
def test_the_mode_is_kept(tmp_path: Path, mode: int) -> None:
    """Also one that nobody may write, for a user who may write everything."""
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(mode)
    if not os.access(path, os.W_OK):
        pytest.skip("only root may write this file")
    replace_file(path, b"new")
    assert (path.read_bytes(), path.stat().st_mode & 0o7777) == (b"new", mode)


@pytest.mark.skipif(os.getuid() != 0, reason="only root may give a file away")
def test_the_owner_is_kept(tmp_path: Path) -> None:
    """A file of another user stays theirs."""
    path = tmp_path / "a"
    path.write_bytes(b"old")
    os.chown(path, 1234, 2345)
    replace_file(path, b"new")
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 2345)


def test_extended_attributes_are_kept(tmp_path: Path) -> None:
    """What other programs noted with the file."""
    path = tmp_path / "a"
    path.write_bytes(b"old")
    try:
        os.setxattr(path, "user.note", b"mine")
    except OSError:
        pytest.skip("this file system has no extended attributes")
    replace_file(path, b"new")
    assert os.getxattr(path, "user.note") == b"mine"


def test_a_link_is_followed_and_stays(tmp_path: Path) -> None:
    """Its target is replaced, through any number of links, whether it is there yet or not."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("folder/real")
    for content in (b"first", b"second"):
        assert replace_file(tmp_path / "one", content) == tmp_path / "folder" / "real"
        assert (tmp_path / "folder" / "real").read_bytes() == content
    assert (tmp_path / "one").is_symlink()
    assert (tmp_path / "two").is_symlink()


def test_another_name_of_the_file_keeps_the_old_content(tmp_path: Path) -> None:
    """A hard link is not written through."""
    (tmp_path / "a").write_bytes(b"old")
    os.link(tmp_path / "a", tmp_path / "b")
    replace_file(tmp_path / "a", b"new")
    assert (tmp_path / "b").read_bytes() == b"old"


def test_a_name_as_long_as_a_name_can_be(tmp_path: Path) -> None:
    """The temporary file has a name of its own."""
    replace_file(tmp_path / ("n" * 255), b"new")
    assert os.listdir(tmp_path) == ["n" * 255]


def make_folder(path: Path) -> None:
    path.mkdir()


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_loop(path: Path) -> None:
    path.symlink_to(path.name)


def make_device_link(path: Path) -> None:
    path.symlink_to("/dev/null")


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        pytest.param(make_folder, "a directory", id="write.md/Side Effects/directory"),
        pytest.param(make_pipe, "a named pipe", id="write.md/Side Effects/pipe"),
        pytest.param(make_loop, "leads back to itself", id="write.md/Side Effects/loop"),
        pytest.param(make_device_link, "a device", id="write.md/Side Effects/device"),
        pytest.param(make_socket, "a socket", id="write.md/Side Effects/socket"),
    ],
)
def test_what_is_no_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: object, said: str) -> None:
    """At once: opening a pipe would wait for a reader."""
    monkeypatch.chdir(tmp_path)
    make(Path("a"))  # type: ignore[operator]
    with pytest.raises(ToolError, match=said):
        replace_file(tmp_path / "a", b"new")


def test_a_read_only_file_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Renaming over it would work: the folder is writable."""
    (tmp_path / "a").write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(ToolError, match="read-only"):
        replace_file(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_bytes() == b"old"


def test_a_missing_folder_is_said(tmp_path: Path) -> None:
    """Making folders is for the caller."""
    with pytest.raises(ToolError, match="No such file"):
        replace_file(tmp_path / "no" / "a", b"new")


@pytest.mark.parametrize("call", ["write", "fsync", "fchmod", "link", "replace"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES, errno.EIO], ids=["full", "forbidden", "broken"])
def test_a_failure_leaves_the_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str, call: str, code: int
) -> None:
    """Whichever step fails."""
    if call == "link" and way == "named":
        return
    (tmp_path / "a").write_bytes(b"old")

    def fail(*args: object, **options: object) -> None:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        with pytest.raises(ToolError, match=os.strerror(code)):
            replace_file(tmp_path / "a", b"new")
    assert os.listdir(tmp_path) == ["a"]
    assert (tmp_path / "a").read_bytes() == b"old"


def test_a_name_that_is_taken_is_not_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody's file with the name of our temporary one stays theirs; another name is tried."""
    theirs = tmp_path / ".sightline-theirs.tmp"
    theirs.write_bytes(b"theirs")
    names = iter([theirs.name, theirs.name, ".sightline-free.tmp"])
    monkeypatch.setattr(_atomic, "_free_name", lambda: next(names))
    replace_file(tmp_path / "a", b"new")
    assert theirs.read_bytes() == b"theirs"
    assert sorted(os.listdir(tmp_path)) == [".sightline-theirs.tmp", "a"]


def limit_file_size() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))


def test_a_disk_that_takes_no_more_costs_nothing(tmp_path: Path) -> None:
    """With a real limit on the size of files: half of the content is written, then no more."""
    (tmp_path / "a").write_bytes(b"old")
    script = (
        "import sys; from pathlib import Path; from sightline.tools.files._atomic import replace_file\n"
        "try: replace_file(Path(sys.argv[1]), bytes(2 << 20))\n"
        "except Exception as problem: print(type(problem).__name__, problem)"
    )
    told = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "a")],
        preexec_fn=limit_file_size, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert told.stdout.startswith("ToolError Cannot write")
    assert os.listdir(tmp_path) == ["a"]
    assert (tmp_path / "a").read_bytes() == b"old"


def test_writers_at_the_same_time_do_not_mix(tmp_path: Path) -> None:
    """The last one wins, whole."""
    contents = [bytes([65 + number]) * 200_000 for number in range(8)]
    threads = [threading.Thread(target=replace_file, args=(tmp_path / "a", content)) for content in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (tmp_path / "a").read_bytes() in contents
    assert os.listdir(tmp_path) == ["a"]


WRITER = """
import itertools, sys
from pathlib import Path
from sightline.tools.files import _atomic
if sys.argv[2] == "named":
    _atomic._UNNAMED = None
for number in itertools.count():
    _atomic.replace_file(Path(sys.argv[1]), b"%d" % (number % 10) * 3_000_000)
    print(number, flush=True)
"""


@pytest.mark.slow
def test_killed_at_any_moment_the_file_is_whole(tmp_path: Path, way: str) -> None:
    """kill -9 while it writes without pause: one of the contents, all of it. Without a name, nothing half is left."""
    path = tmp_path / "a"
    path.write_bytes(b"x" * 3_000_000)
    chance = random.Random(5)
    for _ in range(12):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path), way], stdout=subprocess.PIPE)
        assert writer.stdout is not None
        for _ in range(chance.randint(1, 3)):
            writer.stdout.readline()
        stopper = threading.Event()
        stopper.wait(chance.random() * 0.02)
        writer.kill()
        writer.wait()
        writer.stdout.close()
        assert is_whole(path)
        left = [other for other in tmp_path.iterdir() if other != path]
        assert way == "named" or all(is_whole(other) for other in left)
        for other in left:
            other.unlink()


def is_whole(path: Path) -> bool:
    data = path.read_bytes()
    return len(data) == 3_000_000 and len(set(data)) == 1
