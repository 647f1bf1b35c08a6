"""One entry of an archive replaced or added; everything else in it stays as it is."""

import io
import os
import stat
import struct
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from sightline.tools import ToolError
from sightline.tools.archives import Archive, write_entry
from sightline.tools.archives import _write as writing

from .make import KINDS, bomb_tgz, encrypted_zip, make_archive, make_tar, member, overlapping_zip

WRITE = "write.md/Archive entry write"
FILES = {"top.txt": b"top", "src/a.py": b"a = 1\n", "src/b.bin": bytes(range(256)) * 40}


def contents(path: Path) -> dict[str, bytes]:
    with Archive.open(path) as archive:
        return {name: archive.read(name) for name in archive.files()}


@pytest.mark.parametrize("kind", [pytest.param(kind, id=f"{WRITE}/{kind[1:]}") for kind in KINDS])
def test_an_entry_is_replaced_or_added(tmp_path: Path, kind: str) -> None:
    """The others are still there, in the same order."""
    path = make_archive(tmp_path / kind, FILES)
    write_entry(path, "./src//a.py", b"a = 2\n")
    assert contents(path) == FILES | {"src/a.py": b"a = 2\n"}
    write_entry(path, "new/c.txt", "größer\n".encode())
    assert contents(path) == FILES | {"src/a.py": b"a = 2\n", "new/c.txt": "größer\n".encode()}
    with tarfile.open(path) if "zip" not in kind else zipfile.ZipFile(path) as archive:
        names = archive.getnames() if isinstance(archive, tarfile.TarFile) else archive.namelist()
    assert names == [*FILES, "new/c.txt"]


@pytest.mark.parametrize("kind", [pytest.param(kind, id=f"{WRITE}/new {kind[1:]}") for kind in KINDS])
def test_an_archive_that_is_not_there_is_made(tmp_path: Path, kind: str) -> None:
    """Its folder as well; other programs can read it."""
    path = tmp_path / "new" / "folder" / kind
    write_entry(path, "a/b.txt", b"hello\n")
    assert contents(path) == {"a/b.txt": b"hello\n"}
    if path.suffix != ".zip":
        told = subprocess.run(["tar", "tf", path], capture_output=True, text=True, check=True, timeout=90)
        assert told.stdout == "a/b.txt\n"
    if kind == "a.zip":
        with zipfile.ZipFile(path) as archive:
            assert archive.testzip() is None


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        pytest.param("", "must target a file inside the archive", id="write.md/Errors/no entry"),
        pytest.param(".", "must target a file inside the archive", id="write.md/Errors/only a dot"),
        pytest.param("a/", "must target a file, not a directory", id="write.md/Errors/directory"),
        pytest.param("/", "must target a file, not a directory", id="write.md/Errors/top directory"),
        pytest.param("../a", r"cannot contain '\.\.'", id="write.md/Errors/.."),
        pytest.param("a\\..\\b", r"cannot contain '\.\.'", id="write.md/Errors/backslash .."),
        pytest.param("src", "must target a file, not a directory", id="write.md/Errors/existing directory"),
        pytest.param("top.txt/x", "is a file: nothing can be put below it", id="write.md/Errors/below a file"),
    ],
)
@pytest.mark.parametrize("kind", ["a.zip", "a.tar"])
def test_an_entry_that_cannot_be_is_refused(tmp_path: Path, kind: str, entry: str, said: str) -> None:
    """And the archive is as it was."""
    path = make_archive(tmp_path / kind, FILES)
    before = path.read_bytes()
    with pytest.raises(ToolError, match=said):
        write_entry(path, entry, b"x")
    assert path.read_bytes() == before


def test_what_a_zip_records_of_the_others_is_kept(tmp_path: Path) -> None:
    """Modes, times, comments, extra fields, methods, name encodings, the place of the data, and what is before it."""
    path = tmp_path / "a.zip"
    infos = []
    for number, method in enumerate((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)):
        info = zipfile.ZipInfo(f"d/ä{number}", (2001, 2, 3, 4, 5, number * 2))
        info.compress_type, info.external_attr, info.create_system = method, (stat.S_IFREG | 0o751) << 16, 3
        info.comment, info.extra = b"note", struct.pack("<HH4s", 0x9999, 4, b"more")
        infos.append(info)
    with zipfile.ZipFile(path, "w") as archive:
        archive.comment = b"of the archive"
        archive.writestr(zipfile.ZipInfo("mimetype"), b"application/x")
        archive.writestr("change.txt", b"old")
        for info in infos:
            archive.writestr(info, b"content " * 20)
    path.write_bytes(b"#!/bin/sh\n" + path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        before = [vars_of(info) for info in archive.infolist() if info.filename != "change.txt"]
    write_entry(path, "change.txt", b"new and longer than before")
    with zipfile.ZipFile(path) as archive:
        assert [vars_of(info) for info in archive.infolist() if info.filename != "change.txt"] == before
        assert archive.namelist()[:2] == ["mimetype", "change.txt"]
        assert archive.comment == b"of the archive"
        assert archive.testzip() is None
        assert archive.read("change.txt") == b"new and longer than before"
    assert path.read_bytes().startswith(b"#!/bin/sh\nPK")


RECORDED = (
    *(
        "filename",
        "date_time",
        "compress_type",
        "comment",
        "extra",
        "create_system",
        "create_version",
        "extract_version",
    ),
    *("flag_bits", "internal_attr", "external_attr", "CRC", "compress_size", "file_size"),
)


def vars_of(info: zipfile.ZipInfo) -> list[object]:
    return [getattr(info, name) for name in RECORDED]


def test_a_name_in_an_old_encoding_stays_readable(tmp_path: Path) -> None:
    """Its bytes are copied, not made new in another encoding than the header in front of the data has."""
    path = make_archive(tmp_path / "a.zip", {"Xber.txt": b"1", "b": b"2"})
    path.write_bytes(path.read_bytes().replace(b"Xber", b"\x9aber"))
    write_entry(path, "b", b"3")
    assert contents(path) == {"Über.txt": b"1", "b": b"3"}


def test_the_replaced_entry_keeps_its_mode_and_method(tmp_path: Path) -> None:
    """A stored entry stays stored: some formats ask for that. Its time is now."""
    info = zipfile.ZipInfo("run.sh", (1999, 1, 1, 0, 0, 0))
    info.external_attr, info.comment = (stat.S_IFREG | 0o755) << 16, b"note"
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(info, b"old")
    write_entry(tmp_path / "a.zip", "run.sh", b"new" * 100)
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        now = archive.getinfo("run.sh")
    assert (now.external_attr >> 16, now.compress_type, now.comment) == (
        stat.S_IFREG | 0o755,
        zipfile.ZIP_STORED,
        b"note",
    )
    assert now.date_time[0] > 2000


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@pytest.mark.parametrize("packed", [False, True])
def test_what_a_tar_records_of_the_others_is_kept(tmp_path: Path, form: int, packed: bool) -> None:
    """Owners, modes, times, links, long names, extended headers: their bytes are the same."""
    path = tmp_path / ("a.tgz" if packed else "a.tar")
    long = "long/" * 18 + "name" if form == tarfile.USTAR_FORMAT else "long/" * 60 + "nämé"
    with tarfile.open(path, "w:gz" if packed else "w", format=form, pax_headers={"comment": "of all"}) as tar:
        tar.addfile(member("d", type=tarfile.DIRTYPE, mode=0o700))
        tar.addfile(member("run.sh", b"old", mode=0o755, uid=7, uname="me"), io.BytesIO(b"old"))
        tar.addfile(member(long, b"x" * 700, mtime=1e9, gid=9), io.BytesIO(b"x" * 700))
        tar.addfile(member("link", type=tarfile.SYMTYPE, linkname="run.sh"))
        tar.addfile(member("../unsafe", b"u"), io.BytesIO(b"u"))
    before = [info for info in records(path) if info["name"] != "run.sh"]
    write_entry(path, "run.sh", b"new" * 500)
    after = records(path)
    assert [info for info in after if info["name"] != "run.sh"] == before
    changed = next(info for info in after if info["name"] == "run.sh")
    assert (changed["mode"], changed["uid"], changed["uname"], changed["size"]) == (0o755, 7, "me", 1500)
    assert [info["name"] for info in after][1] == "run.sh"
    subprocess.run(["tar", "tf", path], capture_output=True, check=True, timeout=90)


def records(path: Path) -> list[dict[str, object]]:
    with tarfile.open(path) as tar:
        return [info.get_info() | {"pax": info.pax_headers} for info in tar]


def duplicate_tar(path: Path) -> Path:
    return make_tar(path, [member("a"), member("./a")])


def hard_linked(path: Path) -> Path:
    return make_tar(path, [member("a"), member("b", type=tarfile.LNKTYPE, linkname="a")])


def linked(path: Path) -> Path:
    return make_tar(path, [member("a", type=tarfile.SYMTYPE, linkname="/etc/passwd")])


def duplicate_zip(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a", b"1")
        archive.writestr("./a", b"2")
    return path


def linked_zip(path: Path) -> Path:
    info = zipfile.ZipInfo("a")
    info.create_system, info.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(info, "/etc/passwd")
    return path


def garbage(path: Path) -> Path:
    path.write_bytes(b"no archive" * 100)
    return path


def zip64(path: Path) -> Path:
    make_archive(path, {"b": b"1"})
    data = bytearray(path.read_bytes())
    record = data.index(b"PK\x01\x02")
    struct.pack_into("<L", data, record + 42, 0xFFFFFFFF)
    extra = struct.pack("<HHQ", 1, 8, 0)
    struct.pack_into("<H", data, record + 30, len(extra))
    data[record + 47 : record + 47] = extra
    end = data.index(b"PK\x05\x06")
    struct.pack_into("<L", data, end + 12, end - record)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("make", "name", "said"),
    [
        pytest.param(duplicate_tar, "a.tar", "2 entries named 'a'", id=f"{WRITE}/tar with two of the name"),
        pytest.param(duplicate_zip, "a.zip", "2 entries named 'a'", id=f"{WRITE}/zip with two of the name"),
        pytest.param(hard_linked, "a.tar", "hard link to 'a'", id=f"{WRITE}/tar with a hard link to it"),
        pytest.param(linked, "a.tar", "symbolic link", id=f"{WRITE}/tar where it is a link"),
        pytest.param(linked_zip, "a.zip", "symbolic link", id=f"{WRITE}/zip where it is a link"),
        pytest.param(zip64, "a.zip", "Zip64", id=f"{WRITE}/zip64"),
        pytest.param(overlapping_zip, "a.zip", "overlap", id=f"{WRITE}/bomb"),
        pytest.param(garbage, "a.zip", "damaged", id=f"{WRITE}/no zip"),
        pytest.param(garbage, "a.tar", "damaged", id=f"{WRITE}/no tar"),
        pytest.param(bomb_tgz, "a.tgz", "zip bomb", id=f"{WRITE}/tgz bomb"),
    ],
)
def test_an_archive_that_could_not_be_rewritten_faithfully_is_left_alone(
    tmp_path: Path, make: Callable[[Path], Path], name: str, said: str
) -> None:
    """With the reason, and not a byte changed."""
    path = make(tmp_path / name)
    before = path.read_bytes()
    with pytest.raises(ToolError, match=said):
        write_entry(path, "a", b"new")
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [name]


def test_other_entries_may_be_encrypted(tmp_path: Path) -> None:
    """Their bytes are copied; only an encrypted one itself is not replaced."""
    path = encrypted_zip(tmp_path / "a.zip")
    with pytest.raises(ToolError, match="encrypted"):
        write_entry(path, "secret.txt", b"x")
    write_entry(path, "plain.txt", b"changed")
    with Archive.open(path) as archive:
        assert archive.read("plain.txt") == b"changed"
        with pytest.raises(ToolError, match="encrypted"):
            archive.read("secret.txt")


def test_a_large_archive_is_not_rewritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The new one is made in memory."""
    path = make_archive(tmp_path / "a.zip", FILES)
    monkeypatch.setattr(writing, "REWRITE_BYTES", 100)
    with pytest.raises(ToolError, match="not rewritten"):
        write_entry(path, "a", b"x")


def test_a_failing_disk_leaves_the_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The archive is replaced at once or not at all."""
    path = make_archive(tmp_path / "a.zip", FILES)
    before = path.read_bytes()

    def fail(*args: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail)
        with pytest.raises(ToolError, match="No space left"):
            write_entry(path, "a", b"x")
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.zip"]
