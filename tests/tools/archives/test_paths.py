"""Which part of a path is the archive, which the entry, and which the lines."""

import pytest

from sightline.tools import ToolError
from sightline.tools.archives import ArchivePath, candidates, normalize_entry
from sightline.tools.files._selectors import LineRange, Selector

READ = "read.md/Archives"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        pytest.param("a.zip", [ArchivePath("a.zip", "")], id=f"{READ}/archive.ext"),
        pytest.param("d/a.tar:x/y", [ArchivePath("d/a.tar", "x/y")], id=f"{READ}/archive.ext:path"),
        pytest.param("a.tar.gz:x", [ArchivePath("a.tar.gz", "x")], id=f"{READ}/.tar.gz"),
        pytest.param("A.TGZ:x", [ArchivePath("A.TGZ", "x")], id=f"{READ}/.tgz"),
        pytest.param(
            "a.zip:x/y:50-60",
            [ArchivePath("a.zip", "x/y", Selector(ranges=(LineRange(50, 60),)))],
            id=f"{READ}/archive.ext:path:50-60",
        ),
        pytest.param("a.zip:raw", [ArchivePath("a.zip", "", Selector(raw=True))], id=f"{READ}/archive.ext:raw"),
        pytest.param(
            "a.zip:b.tar:c",
            [ArchivePath("a.zip:b.tar", "c"), ArchivePath("a.zip", "b.tar:c")],
            id=f"{READ}/two suffixes",
        ),
        pytest.param("a.zipper:x", [], id=f"{READ}/longer suffix"),
        pytest.param("a.zip/x", [], id=f"{READ}/folder named so"),
        pytest.param("a.rar:x", [], id=f"{READ}/other archive"),
        pytest.param("plain.txt:5", [], id=f"{READ}/plain file"),
        pytest.param("d/.zip:x", [ArchivePath("d/.zip", "x")], id=f"{READ}/hidden"),
    ],
)
def test_a_path_is_cut_after_an_archive(path: str, expected: list[ArchivePath]) -> None:
    """Every place where that is possible, the longest archive path first."""
    assert candidates(path) == expected


@pytest.mark.parametrize(
    ("name", "normal"),
    [
        pytest.param("a/b", "a/b", id=f"{READ}/as it is"),
        pytest.param("./a//./b/", "a/b", id=f"{READ}/dots and slashes"),
        pytest.param("a\\b", "a/b", id=f"{READ}/backslash"),
        pytest.param("", "", id=f"{READ}/top"),
        pytest.param("a..b/...", "a..b/...", id=f"{READ}/dots in names"),
    ],
)
def test_an_entry_has_one_name(name: str, normal: str) -> None:
    """However it is written."""
    assert normalize_entry(name) == normal


@pytest.mark.parametrize("name", ["..", "../a", "a/../../b", "a\\..\\b", "a/.."])
def test_a_name_cannot_lead_out(name: str) -> None:
    """`..` is refused wherever it is."""
    with pytest.raises(ToolError, match=r"cannot contain '\.\.'"):
        normalize_entry(name)
