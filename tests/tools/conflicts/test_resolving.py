"""A conflict gives way to what is written; the rest of the file stays, byte for byte."""

from pathlib import Path

import pytest

from sightline.tools import ToolError
from sightline.tools.conflicts import Conflicts, resolve_all, resolve_one

from .test_regions import THREE, TWO

RESOLVE = "write.md/Outputs/Conflict resolution"


@pytest.mark.parametrize(
    ("before", "content", "after"),
    [
        pytest.param(TWO, "mine\n", "a\nmine\nb\n", id=f"{RESOLVE}/text"),
        pytest.param(TWO, "mine", "a\nmine\nb\n", id=f"{RESOLVE}/text without a last end"),
        pytest.param(TWO, "", "a\nb\n", id=f"{RESOLVE}/nothing"),
        pytest.param(TWO, "@ours", "a\nours\nb\n", id=f"{RESOLVE}/@ours"),
        pytest.param(TWO, "@theirs\n", "a\ntheirs\nb\n", id=f"{RESOLVE}/@theirs"),
        pytest.param(TWO, "@both", "a\nours\ntheirs\nb\n", id=f"{RESOLVE}/@both"),
        pytest.param(THREE, "@base", "base\n", id=f"{RESOLVE}/@base"),
        pytest.param(TWO, "x\n  @theirs\ny\n@ours\n", "a\nx\ntheirs\ny\nours\nb\n", id=f"{RESOLVE}/mixed"),
        pytest.param(TWO, "mail @ours now\n", "a\nmail @ours now\nb\n", id=f"{RESOLVE}/not alone on its line"),
        pytest.param(TWO.replace("\n", "\r\n"), "x\ny\n@ours", "a\r\nx\r\ny\r\nours\r\nb\r\n", id=f"{RESOLVE}/CRLF"),
        pytest.param(
            "\ufeff\n" + THREE + "no end", "x", "\ufeff\nx\nno end", id=f"{RESOLVE}/byte order mark, no last end"
        ),
    ],
)
def test_the_replacement_takes_its_place(tmp_path: Path, before: str, content: str, after: str) -> None:
    """Lines that stand for a side are replaced by it; line ends are those of the file."""
    path = tmp_path / "a"
    path.write_bytes(before.encode())
    conflicts = Conflicts()
    conflicts.register(path, before)
    resolved = resolve_one(1, content, conflicts)
    assert path.read_bytes().decode() == after == resolved.text
    assert (resolved.done, resolved.left) == ((1,), ())


@pytest.mark.parametrize("how", ["surrogateescape", "replace"])
def test_bytes_that_are_no_text_stay(tmp_path: Path, how: str) -> None:
    """Outside and inside the conflict, however the file was read when it was shown."""
    path = tmp_path / "a"
    path.write_bytes(b"\xff\xfe\n<<<<<<< a\n\x80x\n=======\ny\n>>>>>>> b\n\xc3")
    conflicts = Conflicts()
    conflicts.register(path, path.read_bytes().decode("utf-8", how))
    resolve_one(1, "@ours", conflicts)
    assert path.read_bytes() == b"\xff\xfe\n\x80x\n\xc3"


def test_the_others_of_the_file_are_left(tmp_path: Path) -> None:
    """With their ids, wherever they are now."""
    path = tmp_path / "a"
    path.write_text(TWO + THREE + TWO)
    conflicts = Conflicts()
    conflicts.register(path, path.read_text())
    assert resolve_one(1, "x\n" * 50, conflicts).left == (2, 3)
    assert resolve_one(3, "@ours", conflicts).left == (2,)
    assert resolve_one(2, "@base", conflicts).left == ()
    assert path.read_text() == "a\n" + "x\n" * 50 + "b\nbase\na\nours\nb\n"


@pytest.mark.parametrize(
    ("change", "content", "said"),
    [
        pytest.param(
            lambda text: text.replace("theirs", "yours"), "x", "changed since it was shown", id=f"{RESOLVE}/stale"
        ),
        pytest.param(lambda text: "clean\n", "x", "resolved already", id=f"{RESOLVE}/resolved by hand"),
        pytest.param(lambda text: text, "@base", "has no base", id=f"{RESOLVE}/no base"),
        pytest.param(lambda text: text, TWO, "conflict markers itself", id=f"{RESOLVE}/markers in the replacement"),
    ],
)
def test_what_cannot_be_resolved_is_left_alone(tmp_path: Path, change: object, content: str, said: str) -> None:
    """Somebody else has been there, or the replacement makes no sense."""
    path = tmp_path / "a"
    path.write_text(TWO)
    conflicts = Conflicts()
    conflicts.register(path, TWO)
    path.write_text(change(TWO))  # type: ignore[operator]
    before = path.read_bytes()
    with pytest.raises(ToolError, match=said):
        resolve_one(1, content, conflicts)
    assert path.read_bytes() == before


def test_a_file_that_is_gone_is_said(tmp_path: Path) -> None:
    """Its name is in the message."""
    conflicts = Conflicts()
    conflicts.register(tmp_path / "gone.py", TWO)
    with pytest.raises(ToolError, match=r"gone\.py' not found"):
        resolve_one(1, "x", conflicts)


def test_a_changed_place_is_no_changed_conflict(tmp_path: Path) -> None:
    """Lines before it came and went; it reads the same."""
    path = tmp_path / "a"
    conflicts = Conflicts()
    conflicts.register(path, TWO)
    path.write_text("new\n" * 30 + TWO)
    resolve_one(1, "@ours", conflicts)
    assert path.read_text() == "new\n" * 30 + "a\nours\nb\n"


def test_all_are_resolved_file_by_file(tmp_path: Path) -> None:
    """A file that fails does not hold back the others; a conflict nobody was shown stays."""
    conflicts = Conflicts()
    texts = {"a": TWO + THREE, "b": TWO, "c": TWO}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        conflicts.register(tmp_path / name, text)
    (tmp_path / "b").unlink()
    (tmp_path / "c").write_text(TWO + TWO.replace("ours", "unseen"))
    done = {resolved.path.name: resolved for resolved in resolve_all("@theirs", conflicts)}
    assert (tmp_path / "a").read_text() == "a\ntheirs\nb\ntheirs\n"
    assert done["a"].done == (1, 2)
    assert "not found" in done["b"].problem
    assert (done["c"].done, done["c"].left) == ((4,), (5,))
    assert "unseen" in (tmp_path / "c").read_text()


def test_a_file_is_resolved_whole_or_not_at_all(tmp_path: Path) -> None:
    """One of its conflicts has no base: neither is touched."""
    path = tmp_path / "a"
    path.write_text(TWO + THREE)
    conflicts = Conflicts()
    conflicts.register(path, TWO + THREE)
    (resolved,) = resolve_all("@base", conflicts)
    assert "has no base" in resolved.problem
    assert path.read_text() == TWO + THREE


def test_nothing_to_resolve_is_said() -> None:
    """Before anything is read."""
    with pytest.raises(ToolError, match="No conflicts are known"):
        resolve_all("@ours", Conflicts())
