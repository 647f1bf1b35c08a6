"""Paths as models write them; where they lead; how they are shown."""

import os
import unicodedata
from pathlib import Path

import pytest

from sightline.tools import ToolError
from sightline.tools.files import _paths, _ripgrep
from sightline.tools.files._paths import display, is_outside, read_need, resolve, unique_suffix, write_need


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "app.py").write_text("one\n")
    (folder / "with space.txt").write_text("two\n")
    return folder


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        pytest.param("src/app.py", "src/app.py", id="read.md/Flow/relative to the workspace"),
        pytest.param("./src/../src//app.py", "src/app.py", id="read.md/Flow/dots are taken away"),
        pytest.param("/", "", id="read.md/Flow/bare slash is the workspace"),
        pytest.param("  src/app.py ", "src/app.py", id="search.md/Inputs/space around it"),
        pytest.param('"src/app.py"', "src/app.py", id="search.md/Inputs/quotes around it"),
        pytest.param("'src/app.py'", "src/app.py", id="search.md/Inputs/single quotes around it"),
        pytest.param("with\\ space.txt", "with space.txt", id="inspect_image.md/shell escapes"),
        pytest.param("new/file.txt", "new/file.txt", id="read.md/Flow/need not exist"),
    ],
)
def test_a_path_means_a_file_of_the_workspace(work: Path, written: str, meant: str) -> None:
    """Every way to write a path leads to the same absolute one."""
    assert resolve(written, work) == work / meant


def test_home_and_file_urls_are_expanded(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`~` is the home folder, `file://` may hold percent signs."""
    monkeypatch.setenv("HOME", str(work / "src"))
    assert resolve("~/app.py", work) == work / "src" / "app.py"
    assert resolve(f"file://{work}/with%20space.txt", work) == work / "with space.txt"


@pytest.mark.parametrize(
    ("existing", "written"),
    [
        pytest.param("Shot at 9.41.02\u202fAM.png", "Shot at 9.41.02 AM.png", id="read.md/Flow/screenshot"),
        pytest.param(unicodedata.normalize("NFD", "café.txt"), "café.txt", id="read.md/Flow/decomposed"),
        pytest.param("café.txt", unicodedata.normalize("NFD", "café.txt"), id="read.md/Flow/composed"),
        pytest.param("it’s.txt", "it's.txt", id="read.md/Flow/curly quote"),
    ],
)
def test_spellings_that_look_the_same_find_the_file(work: Path, existing: str, written: str) -> None:
    """What nobody can see in a name does not keep a file from being found."""
    (work / existing).write_text("x")
    assert resolve(written, work) == work / existing


def test_a_name_that_is_not_utf8_can_be_shown_and_found_again(work: Path) -> None:
    """Shown with a replacement character, and opened by what was shown."""
    odd = os.fsencode(work / "src") + b"/\xff\xfe.txt"
    Path(os.fsdecode(odd)).write_text("x")
    shown = display(Path(os.fsdecode(odd)), work)
    shown.encode("utf-8")
    assert os.fsencode(resolve(shown, work)) == odd


@pytest.mark.parametrize("path", ["", '""', "a\0b"])
def test_what_cannot_be_a_path_is_refused(work: Path, path: str) -> None:
    """An empty path and a NUL are the caller's mistake."""
    with pytest.raises(ToolError):
        resolve(path, work)


def test_display_is_relative_inside_and_absolute_outside(work: Path) -> None:
    """Inside the workspace no absolute path is shown."""
    assert display(work / "src" / "app.py", work) == "src/app.py"
    assert display(work, work) == "."
    assert display(work.parent / "x", work) == f"{work.parent}/x"
    assert display(work.with_name("work2"), work) == str(work.with_name("work2"))


def test_reading_outside_is_a_need_of_the_real_place(work: Path, tmp_path: Path) -> None:
    """`..`, links to files, links to folders and links of files that do not exist yet."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("x")
    (work / "file").symlink_to(outside / "secret")
    (work / "folder").symlink_to(outside)
    real = os.path.realpath(outside)
    for written, what in (
        ("../outside/secret", f"{real}/secret"),
        ("file", f"{real}/secret"),
        ("folder/secret", f"{real}/secret"),
        ("folder/new", f"{real}/new"),
    ):
        path = resolve(written, work)
        assert is_outside(path, work), written
        assert [(need.access, need.what) for need in read_need(path, work)] == [("read", what)]
        assert [(need.access, need.what) for need in write_need(path, work)] == [("write", what)]


def test_a_link_that_stays_in_the_workspace_is_inside(work: Path) -> None:
    """And the need is of where it leads; a folder whose name only begins like the workspace's is outside."""
    (work / "link").symlink_to(work / "src")
    assert not is_outside(work / "link" / "app.py", work)
    assert [need.what for need in read_need(work / "link" / "app.py", work)] == [os.path.realpath(work) + "/src/app.py"]
    assert [need.what for need in write_need(work / "src" / "new.py", work)] == [os.path.realpath(work) + "/src/new.py"]
    assert is_outside(work.with_name("work2"), work)


def test_a_loop_of_links_is_neither_followed_forever_nor_an_error(work: Path) -> None:
    """Two links that lead to each other."""
    (work / "a").symlink_to(work / "b")
    (work / "b").symlink_to(work / "a")
    assert not is_outside(work / "a", work)


@pytest.mark.parametrize("hidden_rg", [False, True], ids=["rg", "no rg"])
@pytest.mark.parametrize(
    ("written", "found"),
    [
        pytest.param("deep/one.py", "pkg/deep/one.py", id="read.md/Flow/one match"),
        pytest.param("/deep/one.py", "pkg/deep/one.py", id="read.md/Flow/absolute, wrong root"),
        pytest.param("../deep/one.py", "pkg/deep/one.py", id="read.md/Flow/dots before it"),
        pytest.param("pkg/deep", "pkg/deep", id="read.md/Flow/a folder"),
        pytest.param("two.py", None, id="read.md/Flow/two matches"),
        pytest.param("eep/one.py", None, id="read.md/Flow/whole names only"),
        pytest.param("ignored.py", None, id="read.md/Flow/ignored"),
        pytest.param("*.py", None, id="read.md/Flow/globs are not globs here"),
        pytest.param("..", None, id="read.md/Flow/nothing left"),
    ],
)
async def test_a_unique_suffix_is_found(
    work: Path, written: str, found: str | None, hidden_rg: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The only path that ends this way, or nothing."""
    if hidden_rg:
        monkeypatch.setattr(_ripgrep, "program", lambda: None)
    for name in ("pkg/deep/one.py", "pkg/two.py", "pkg/deep/two.py", "pkg/ignored.py"):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text("x")
    (work / ".gitignore").write_text("ignored.py\n")
    assert await unique_suffix(written, work) == (None if found is None else work / found)


async def test_a_suffix_search_that_takes_too_long_finds_nothing(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """read.md/Limits & Caps: five seconds, here none at all."""
    monkeypatch.setattr(_paths, "SUFFIX_SECONDS", 0)
    assert await unique_suffix("app.py", work) is None
