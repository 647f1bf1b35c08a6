"""The record of who wrote a file: exact, small, for its owner alone, and never a reason to fail."""

import errno
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sightline.paths import data_folder
from sightline.tools import CallWriter, ToolError, remove_old_writes, writing_as
from sightline.tools.files import _write_ledger as ledger
from sightline.tools.files._atomic import replace_file, writing
from sightline.tools.files._write_ledger import content_digest, writes_of

ME = CallWriter("aaaaaa", "Explore-2/Review-1", "aaaaaa-7")


def written(path: Path, data: bytes, writer: CallWriter = ME) -> None:
    with writing_as(writer), writing(path) as file:
        file.content(1000)
        file.replace(data)


def records() -> list[Path]:
    return sorted((data_folder() / "writes").glob("*"))


def test_a_write_is_recorded_with_who_and_what(tmp_path: Path) -> None:
    """Session, agent, call, time, and digests of the content before and after."""
    began = time.time()
    written(tmp_path / "a", b"one")
    written(tmp_path / "a", b"two", CallWriter("bbbbbb", "", "bbbbbb-1"))
    first, second = writes_of(tmp_path / "a")
    assert (first.session, first.agent, first.call) == ("aaaaaa", "Explore-2/Review-1", "aaaaaa-7")
    assert (first.before, first.after) == ("", content_digest(b"one"))
    assert (second.session, second.agent, second.before) == ("bbbbbb", "", content_digest(b"one"))
    assert began <= first.at <= second.at <= time.time()
    assert first.is_by(ME)
    assert not second.is_by(ME)


def test_nothing_is_recorded_without_a_call(tmp_path: Path) -> None:
    """A program that uses tools by itself is no agent of a session."""
    (tmp_path / "a").write_bytes(b"")
    replace_file(tmp_path / "a", b"one")
    assert writes_of(tmp_path / "a") == []
    assert records() == []


def test_every_path_to_a_file_means_the_same_record(tmp_path: Path) -> None:
    """Links are followed, and a name need not be UTF-8."""
    real = Path(os.fsdecode(os.fsencode(tmp_path / "real") + b"\xff"))
    real.mkdir()
    (tmp_path / "link").symlink_to(real)
    written(tmp_path / "link" / "a", b"one")
    assert len(writes_of(real / "a")) == 1


def test_a_record_is_for_its_owner_and_holds_the_last_writes(tmp_path: Path) -> None:
    for number in range(ledger.MAX_WRITES + 3):
        written(tmp_path / "a", b"%d" % number)
    (record,) = records()
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    assert stat.S_IMODE(record.parent.stat().st_mode) == 0o700
    found = writes_of(tmp_path / "a")
    assert len(found) == ledger.MAX_WRITES
    assert found[-1].after == content_digest(b"%d" % (ledger.MAX_WRITES + 2))


def test_it_is_recorded_before_the_new_content_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader of the new content finds out whose it is."""
    seen: list[tuple[bool, bytes]] = []
    (tmp_path / "a").write_bytes(b"old")
    replace = os.replace

    def watched(source: str, target: str, **more: int) -> None:
        if target == "a":
            seen.append((bool(writes_of(tmp_path / "a")), (tmp_path / "a").read_bytes()))
        replace(source, target, **more)

    monkeypatch.setattr(os, "replace", watched)
    written(tmp_path / "a", b"new")
    assert seen == [(True, b"old")]


def test_a_write_that_failed_is_not_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was recorded before it is."""
    written(tmp_path / "a", b"one")
    known = writes_of(tmp_path / "a")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ToolError, match="No space left"):
        written(tmp_path / "a", b"two")
    assert (tmp_path / "a").read_bytes() == b"one"
    assert writes_of(tmp_path / "a") == known


def test_a_place_that_takes_no_records_fails_no_write(tmp_path: Path) -> None:
    """As with a full disk: only the name of the writer is missing."""
    data_folder().mkdir(parents=True, exist_ok=True)
    (data_folder() / "writes").write_bytes(b"a file where the folder should be")
    written(tmp_path / "a", b"one")
    assert (tmp_path / "a").read_bytes() == b"one"
    assert writes_of(tmp_path / "a") == []
    remove_old_writes()


FULL = """
import resource, signal, sys
from pathlib import Path
from sightline.tools import CallWriter, writing_as
from sightline.tools.files._atomic import writing
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
with writing_as(CallWriter("aaaaaa", "", "aaaaaa-1")), writing(Path(sys.argv[1])) as file:
    file.replace(b"small")
"""


def test_a_record_that_cannot_be_written_whole_is_not_left(tmp_path: Path) -> None:
    """A real limit: the file itself fits, its record does not."""
    path = tmp_path / "a"
    subprocess.run([sys.executable, "-c", FULL, str(path)], check=True, timeout=60)
    assert path.read_bytes() == b"small"
    assert records() == []


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'[{"session": 1}]', b"\xff\xfe", b"[" * 100_000])
def test_a_record_that_cannot_be_read_is_none(tmp_path: Path, content: bytes) -> None:
    """And the next write makes a new one."""
    written(tmp_path / "a", b"one")
    (record,) = records()
    record.write_bytes(content)
    assert writes_of(tmp_path / "a") == []
    written(tmp_path / "a", b"two")
    assert [write.after for write in writes_of(tmp_path / "a")] == [content_digest(b"two")]


def test_old_records_are_removed_and_no_more_than_so_many_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a day, and the oldest first."""
    monkeypatch.setattr(ledger, "MAX_FILES", 3)
    now = time.time()
    for number in range(6):
        written(tmp_path / f"{number}", b"x")
        (record,) = [one for one in records() if one.stat().st_mtime > now - 1]
        age = 2 * ledger.MAX_AGE if number == 5 else 60 * (number + 1)
        os.utime(record, (now - age, now - age))
    remove_old_writes()
    assert [bool(writes_of(tmp_path / f"{number}")) for number in range(6)] == [True] * 3 + [False] * 3


def test_a_killed_writer_costs_no_record(tmp_path: Path) -> None:
    """Whenever it is killed, the record is one of its writes, whole, and that of the content or the next one."""
    path = tmp_path / "a"
    script = (
        FULL.partition("signal.signal")[0]
        + """
number = 0
while True:
    number += 1
    with writing_as(CallWriter("aaaaaa", "", str(number))), writing(Path(sys.argv[1])) as file:
        file.replace(b"%d" % number)
    print(number, flush=True)
"""
    )
    for number in range(8):
        process = subprocess.Popen([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE)
        assert process.stdout is not None
        for _ in range(3 + number % 4):
            process.stdout.readline()
        process.kill()
        process.wait()
        process.stdout.close()
        digests = [write.after for write in writes_of(path)]
        assert content_digest(path.read_bytes()) in digests[-2:]
