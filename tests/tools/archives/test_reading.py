"""What is in an archive, listed and read without unpacking it."""

import io
import os
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest

from sightline.tools import ToolError
from sightline.tools.archives import Archive

from .make import KINDS, make_archive, make_tar, member

READ = "read.md/Archives"
FILES = {"top.txt": b"top", "src/a.py": b"a = 1\n", "src/deep/b.py": b"x" * 2000, "src/empty": b""}


@pytest.mark.parametrize("kind", [pytest.param(kind, id=f"{READ}/{kind[1:]}") for kind in KINDS])
def test_every_kind_is_listed_and_read(tmp_path: Path, kind: str) -> None:
    """Immediate children only, folders first, sizes of what is not empty."""
    with Archive.open(make_archive(tmp_path / kind, FILES)) as archive:
        assert archive.listing().text == "src/\ntop.txt (3 B)"
        assert archive.listing("src/").text == "deep/\na.py (6 B)\nempty"
        assert archive.listing("./src/deep").text == "b.py (2.0 KB)"
        assert {name: archive.read(name) for name in archive.files()} == FILES
        assert (archive.is_folder("src"), archive.is_file("src"), archive.is_file("src/a.py")) == (True, False, True)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_written_to_the_disk(tmp_path: Path, kind: str) -> None:
    """Not beside the archive either."""
    make_archive(tmp_path / kind, FILES)
    with Archive.open(tmp_path / kind) as archive:
        archive.read("top.txt")
    assert os.listdir(tmp_path) == [kind]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("inner", "said"),
    [
        pytest.param("nothing", "'nothing' not found in", id=f"{READ}/missing"),
        pytest.param("a.py", "Did you mean src/a.py?", id=f"{READ}/missing but alike"),
        pytest.param("src", "is a folder", id=f"{READ}/folder read as file"),
        pytest.param("../top.txt", r"cannot contain '\.\.'", id=f"{READ}/.."),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path: Path, kind: str, inner: str, said: str) -> None:
    """With what to read instead, where that is known."""
    with Archive.open(make_archive(tmp_path / kind, FILES)) as archive, pytest.raises(ToolError, match=said):
        archive.read(inner)


@pytest.mark.parametrize(("folder", "said"), [("no", "not found"), ("top.txt", "is a file")])
def test_what_is_no_folder_is_not_listed(tmp_path: Path, folder: str, said: str) -> None:
    """A file is named as such."""
    with Archive.open(make_archive(tmp_path / "a.zip", FILES)) as archive, pytest.raises(ToolError, match=said):
        archive.list(folder)


def test_a_long_listing_is_cut_at_500(tmp_path: Path) -> None:
    """read.md/Limits & Caps: archive directory default list cap."""
    make_archive(tmp_path / "a.zip", {f"f{number:04}": b"" for number in range(501)})
    with Archive.open(tmp_path / "a.zip") as archive:
        listing = archive.listing()
    assert (listing.shown, listing.total) == (500, 501)
    assert listing.text.splitlines()[-1] == "[500 of 501 entries shown; name a folder inside to see fewer]"
    assert len(listing.text.splitlines()) == 501


def test_an_empty_archive_is_empty(tmp_path: Path) -> None:
    """No entries is no mistake."""
    for kind in ("a.zip", "a.tar", "a.tgz"):
        with Archive.open(make_archive(tmp_path / kind, {})) as archive:
            assert archive.listing().text == "(empty archive directory)"


def test_gzip_is_told_by_content(tmp_path: Path) -> None:
    """A compressed archive named .tar is read all the same."""
    make_archive(tmp_path / "a.tgz", FILES).rename(tmp_path / "a.tar")
    with Archive.open(tmp_path / "a.tar") as archive:
        assert archive.read("top.txt") == b"top"


def test_the_last_of_two_entries_with_one_name_counts(tmp_path: Path) -> None:
    """As it does when the archive is unpacked."""
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        for data in (b"one", b"two"):
            tar.addfile(member("a", data), io.BytesIO(data))
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a", b"one")
        archive.writestr("./a", b"two")
    for kind in ("a.tar", "a.zip"):
        with Archive.open(tmp_path / kind) as opened:
            assert opened.read("a") == b"two"
            assert opened.listing().total == 1


def test_a_file_with_something_below_it_is_a_folder(tmp_path: Path) -> None:
    """What is below can be reached, in whichever order they come."""
    for names in (["a", "a/b/c"], ["a/b/c", "a"], ["a/b/c", "a/b", "a"]):
        make_archive(tmp_path / "a.zip", dict.fromkeys(names, b"x"))
        with Archive.open(tmp_path / "a.zip") as archive:
            assert archive.listing().text == "a/"
            assert archive.files() == ["a/b/c"]


def test_links_and_devices_are_listed_not_followed(tmp_path: Path) -> None:
    """Whatever they point to."""
    make_tar(
        tmp_path / "a.tar",
        [
            member("soft", type=tarfile.SYMTYPE, linkname="/etc/passwd"),
            member("hard", type=tarfile.LNKTYPE, linkname="../../etc/passwd"),
            member("null", type=tarfile.CHRTYPE),
            member("pipe", type=tarfile.FIFOTYPE),
        ],
    )
    info = zipfile.ZipInfo("soft")
    info.create_system, info.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as zipped:
        zipped.writestr(info, "/etc/passwd")
    with Archive.open(tmp_path / "a.tar") as archive:
        assert "soft (a symbolic link to /etc/passwd)" in archive.listing().text
        assert archive.files() == []
        for name in ("soft", "hard", "null", "pipe"):
            with pytest.raises(ToolError, match="not followed"):
                archive.read(name)
    with Archive.open(tmp_path / "a.zip") as archive, pytest.raises(ToolError, match="a symbolic link"):
        archive.read("soft")


def test_a_missing_archive_is_said(tmp_path: Path) -> None:
    """In words, for both kinds."""
    for kind in ("a.zip", "a.tar"):
        with pytest.raises(ToolError, match="not found"):
            Archive.open(tmp_path / kind)
