"""Archives made to do damage, and damaged ones: a ToolError, soon, with little memory, and nothing on the disk."""

import random
import tarfile
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from sightline.tools import ToolError
from sightline.tools.archives import Archive, _limits

from .make import (
    KINDS,
    bomb_tgz,
    bomb_zip,
    encrypted_zip,
    lying_zip,
    make_archive,
    member,
    overlapping_zip,
    patched_tar,
)

READ = "read.md/Archives"
NEGATIVE = b"\xff" * 11 + b"\x00"  # a size of -256 in the form for large numbers


def read_everything(path: Path) -> None:
    with Archive.open(path) as archive:
        for name in archive.files():
            archive.read(name)


def huge_entry(path: Path) -> Path:
    """Declares more than is read, packed no tighter than anything else."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("big", bytes(_limits.ENTRY_BYTES + 1))
    return path


def other_method(path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("a", b"x" * 100)
    return path


def long_header(path: Path) -> Path:
    """An extended header that says it is a gigabyte."""
    return patched_tar(path, slice(124, 136), b"%011o" % 2**30)


def header_of_a_gigabyte(path: Path) -> Path:
    patched_tar(path, slice(124, 136), b"%011o" % 2**30)
    data = bytearray(path.read_bytes())
    data[156:157] = tarfile.XHDTYPE
    data[148:156] = b" " * 8
    data[148:156] = b"%06o\0 " % sum(data[:512])
    path.write_bytes(data)
    return path


def many_global_headers(path: Path) -> Path:
    """Each is read by reading the next: deeper than a stack."""
    info = tarfile.TarInfo.create_pax_global_header({"a": "b"})
    path.write_bytes(info * 5000 + member("a").tobuf() + bytes(1024))
    return path


def damaged_in_the_middle(path: Path) -> Path:
    make_archive(path, {f"f{number}": b"x" * 600 for number in range(5)})
    data = bytearray(path.read_bytes())
    data[2 * 1536 : 2 * 1536 + 200] = b"?" * 200
    path.write_bytes(data)
    return path


def cut_short(path: Path) -> Path:
    make_archive(path, {"a": bytes(random.Random(1).randbytes(50_000))})
    path.write_bytes(path.read_bytes()[:20_000])
    return path


def not_an_archive(path: Path) -> Path:
    path.write_bytes(b"just words\n" * 100)
    return path


def nothing(path: Path) -> Path:
    path.write_bytes(b"")
    return path


@pytest.mark.parametrize(
    ("make", "name", "said"),
    [
        pytest.param(bomb_zip, "a.zip", "zip bomb", id=f"{READ}/zip bomb: ratio"),
        pytest.param(lying_zip, "a.zip", "damaged", id=f"{READ}/zip bomb: lies about its size"),
        pytest.param(overlapping_zip, "a.zip", "overlap", id=f"{READ}/zip bomb: entries on each other"),
        pytest.param(huge_entry, "a.zip", "at most 64 MiB", id=f"{READ}/zip: entry too large"),
        pytest.param(other_method, "a.zip", "method 12", id=f"{READ}/zip: method that unpacks without bound"),
        pytest.param(encrypted_zip, "a.zip", "encrypted", id=f"{READ}/zip: encrypted"),
        pytest.param(not_an_archive, "a.zip", "damaged or not of the kind", id=f"{READ}/zip: something else"),
        pytest.param(cut_short, "a.zip", "damaged or not of the kind", id=f"{READ}/zip: cut short"),
        pytest.param(nothing, "a.zip", "damaged or not of the kind", id=f"{READ}/zip: empty file"),
        pytest.param(bomb_tgz, "a.tgz", "zip bomb", id=f"{READ}/tgz bomb"),
        pytest.param(long_header, "a.tar", "at most 64 MiB|damaged", id=f"{READ}/tar: says it is a gigabyte"),
        pytest.param(header_of_a_gigabyte, "a.tar", "impossible length", id=f"{READ}/tar: header of a gigabyte"),
        pytest.param(many_global_headers, "a.tar", "damaged", id=f"{READ}/tar: headers without end"),
        pytest.param(damaged_in_the_middle, "a.tar", "damaged", id=f"{READ}/tar: damaged in the middle"),
        pytest.param(cut_short, "a.tar", "damaged", id=f"{READ}/tar: cut short"),
        pytest.param(cut_short, "a.tgz", "damaged", id=f"{READ}/tgz: cut short"),
        pytest.param(not_an_archive, "a.tar", "damaged", id=f"{READ}/tar: something else"),
        pytest.param(not_an_archive, "a.tgz", "damaged", id=f"{READ}/tgz: something else"),
        pytest.param(nothing, "a.tar", "damaged", id=f"{READ}/tar: empty file"),
    ],
)
def test_it_is_refused(tmp_path: Path, make: Callable[[Path], Path], name: str, said: str) -> None:
    """With the reason."""
    path = make(tmp_path / name)
    started = time.monotonic()
    with pytest.raises(ToolError, match=said):
        read_everything(path)
    assert time.monotonic() - started < _limits.SECONDS


@pytest.mark.parametrize("kind", [tarfile.REGTYPE, tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME])
def test_a_negative_size_does_not_go_round_in_circles(tmp_path: Path, kind: bytes) -> None:
    """The next header would be the one before."""
    path = patched_tar(tmp_path / "a.tar", slice(124, 136), NEGATIVE)
    data = bytearray(path.read_bytes())
    data[156:157] = kind
    data[148:156] = b" " * 8
    data[148:156] = b"%06o\0 " % sum(data[:512])
    path.write_bytes(data)
    with pytest.raises(ToolError):
        read_everything(path)


def test_a_bomb_costs_little_memory(tmp_path: Path) -> None:
    """Refused before it is unpacked, or while it is."""
    paths = [bomb_zip(tmp_path / "a.zip"), bomb_tgz(tmp_path / "a.tgz"), header_of_a_gigabyte(tmp_path / "a.tar")]
    tracemalloc.start()
    try:
        for path in paths:
            with pytest.raises(ToolError):
                read_everything(path)
        assert tracemalloc.get_traced_memory()[1] < 16 * 2**20
    finally:
        tracemalloc.stop()


def test_an_archive_in_an_archive_is_not_opened(tmp_path: Path) -> None:
    """A bomb inside stays packed: it is an entry like any other."""
    inner = bomb_zip(tmp_path / "inner.zip").read_bytes()
    path = make_archive(tmp_path / "a.zip", {"inner.zip": inner})
    with Archive.open(path) as archive:
        assert archive.read("inner.zip") == inner
        with pytest.raises(ToolError, match="not found"):
            archive.read("inner.zip:bomb")
        with pytest.raises(ToolError, match="not found"):
            archive.read("inner.zip/bomb")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["../evil", "a/../../evil", "/etc/evil", "..\\evil", "C:\\evil", "a/" * 300 + "x"])
def test_an_entry_that_leads_out_is_not_offered(tmp_path: Path, kind: str, name: str) -> None:
    """Only counted; the others can be read."""
    path = make_archive(tmp_path / kind, {name: b"evil", "good.txt": b"good"})
    with Archive.open(path) as archive:
        assert (archive.files(), archive.unsafe) == (["good.txt"], 1)
        assert "1 entries with names that lead out" in archive.listing().text
        assert archive.read("good.txt") == b"good"


def test_too_many_entries_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before they are all in memory, for tar."""
    from sightline.tools.archives import _archive, _tar, _zip

    for module in (_archive, _tar, _zip):
        monkeypatch.setattr(module, "ENTRIES", 10)
    for kind in ("a.zip", "a.tar"):
        with pytest.raises(ToolError, match="more than 10 entries"):
            Archive.open(make_archive(tmp_path / kind, {f"{number}": b"" for number in range(11)}))


def test_an_archive_that_takes_too_long_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock is looked at with every step."""
    path = make_archive(tmp_path / "a.tgz", {"a": b"x"})
    monkeypatch.setattr(_limits, "SECONDS", -1.0)
    with pytest.raises(ToolError, match="seconds"):
        Archive.open(path)


@pytest.mark.parametrize("kind", KINDS)
def test_damage_anywhere_raises_nothing_but_tool_errors(tmp_path: Path, kind: str) -> None:
    """Random bytes changed, cut out or put in."""
    chance = random.Random(kind)
    whole = make_archive(tmp_path / kind, {"a.txt": b"some text " * 50, "d/b.bin": chance.randbytes(700)}).read_bytes()
    for _ in range(150):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 6)):
            at = chance.randrange(len(data))
            match chance.randrange(3):
                case 0:
                    data[at] = chance.randrange(256)
                case 1:
                    del data[at : at + chance.randint(1, 40)]
                case _:
                    data[at:at] = chance.randbytes(4)
        (tmp_path / kind).write_bytes(data)
        with suppress(ToolError):
            read_everything(tmp_path / kind)
