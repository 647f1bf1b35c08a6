"""Plain files written whole."""

import os
import stat
from pathlib import Path

import msgspec
import pytest

from sightline.secrets import RestoredText
from sightline.tools import Need, ToolError
from sightline.tools.edit import EditTool
from sightline.tools.hashline import Snapshots
from sightline.tools.write import WriteTool

from ..support import make_context, run

PLAIN = "write.md/Plain file path"
OUTPUT = "write.md/Outputs"


def needs(folder: Path, path: str) -> list[Need]:
    tool = WriteTool()
    return tool.needs(tool.params(path=path, content=""), make_context(folder))


@pytest.mark.parametrize(
    ("path", "lands"),
    [
        pytest.param("a.txt", "work/a.txt", id=f"{PLAIN}/new"),
        pytest.param("new/deep/a.txt", "work/new/deep/a.txt", id=f"{PLAIN}/folders are made"),
        pytest.param("./x/../a.txt", "work/a.txt", id=f"{PLAIN}/dots"),
        pytest.param("../beside.txt", "beside.txt", id=f"{PLAIN}/outside"),
        pytest.param('"a b.txt"', "work/a b.txt", id=f"{PLAIN}/quotes"),
        pytest.param("folder.zip/a.txt", "work/folder.zip/a.txt", id=f"{PLAIN}/folder named like an archive"),
        pytest.param("folder.db/a.txt", "work/folder.db/a.txt", id=f"{PLAIN}/folder named like a database"),
        pytest.param("a:b", "work/a:b", id=f"{PLAIN}/colon"),
    ],
)
async def test_a_file_is_written(tmp_path: Path, path: str, lands: str) -> None:
    """Where it says, and the need names that place."""
    outcome = await run(WriteTool(), make_context(tmp_path), path=path, content="hällo\n")
    assert (tmp_path / lands).read_bytes() == "hällo\n".encode()
    assert needs(tmp_path, path) == [Need("write", str(tmp_path / lands), why=needs(tmp_path, path)[0].why)]
    assert "Successfully wrote 7 bytes to " in outcome.text


async def test_an_existing_file_is_replaced(tmp_path: Path) -> None:
    """All of it; its mode stays."""
    context = make_context(tmp_path)
    path = context.cwd / "a.sh"
    path.write_text("old content that is longer")
    path.chmod(0o640)
    outcome = await run(WriteTool(), context, path="a.sh", content="new")
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("new", 0o640)
    assert outcome.details["op"] == "update"


@pytest.mark.parametrize(
    ("before", "content", "after", "said"),
    [
        (b"a\r\nb\r\n", "a\nc\n", b"a\r\nc\r\n", "with CRLF line ends"),
        (b"a\r\nb\r\nc\n", "a\nc\n", b"a\r\nc\r\n", "with CRLF line ends"),
        (b"a\nb\nc\r\n", "a\nc\n", b"a\nc\n", ""),
        (b"a\r\nb\r\n", "a\r\nc\n", b"a\r\nc\n", ""),
        (b"a\nb\n", "a\r\nc\r\n", b"a\r\nc\r\n", ""),
        (b"a\nb\n", "a\nc", b"a\nc\n", "with a final newline"),
        (b"a\r\n", "c", b"c\r\n", "with CRLF line ends, with a final newline"),
        (b"a\nb", "a\nc\n", b"a\nc\n", ""),
        (b"\xef\xbb\xbfa\n", "c\n", b"\xef\xbb\xbfc\n", "with a byte order mark"),
        (b"#!/bin/sh\r\nls\r\n", "#!/bin/sh\nls\n", b"#!/bin/sh\nls\n", ""),
        (b"\0\r\n", "c\n", b"c\n", ""),
        (b"a\r\n", "", b"", ""),
        (b"", "c\nd", b"c\nd", ""),
    ],
)
async def test_lines_end_as_in_the_file_before(
    tmp_path: Path, before: bytes, content: str, after: bytes, said: str
) -> None:
    """What a model cannot see in a file it read: a CRLF file became one with LF, with every line changed. What is asked
    about, written, compared and said is the same."""
    context, tool = make_context(tmp_path), WriteTool()
    path = context.cwd / "a.txt"
    path.write_bytes(before)
    proposal = await tool.changes(tool.params(path="a.txt", content=content), context)
    outcome = await run(tool, context, path="a.txt", content=content)
    assert path.read_bytes() == after
    assert outcome.details["diff"] == proposal.diff or b"\0" in before
    assert ("as the file was before" in outcome.text) == bool(said) == ("as_before" in outcome.details)
    assert f"[Written {said}, as" in outcome.text or not said
    if said == "with CRLF line ends" and b"\nc\n" not in before:
        assert outcome.details["diff"].endswith("@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n")


@pytest.mark.parametrize(
    ("before", "content", "after"),
    [
        (b"a\r\nb\r\n", "a\nc\n", b"a\r\nx\r\n"),
        (b"a\r\nb\r\n", "a\nc", b"a\r\nx\r\n"),
        (b"\xef\xbb\xbfa\r\nb\r\n", "a\nc\n", b"\xef\xbb\xbfa\r\nx\r\n"),
        (b"a\nb\n", "a\r\nc\r\n", b"a\r\nx\r\n"),
        (b"a\nb\n", "a\nc\r", b"a\nx"),
    ],
)
async def test_the_tag_is_of_what_was_stored(tmp_path: Path, before: bytes, content: str, after: bytes) -> None:
    """However its lines end and whatever was added: an edit by that tag fits, without a warning."""
    context = make_context(tmp_path)
    path = context.cwd / "a.txt"
    path.write_bytes(before)
    written = await run(WriteTool(), context, path="a.txt", content=content)
    head = written.text.partition("\n")[0]
    assert head == f"¶a.txt#{Snapshots().record(path, path.read_bytes().decode())}"
    edited = await run(EditTool(), context, input=f"{head}\nreplace 2..2:\n+x")
    assert (path.read_bytes(), edited.details["warnings"]) == (after, [])


async def test_a_restored_value_has_the_line_ends_of_its_file(tmp_path: Path) -> None:
    """The words that stand for it have none; what is restored is what was there, byte for byte."""
    context = make_context(tmp_path)
    context.restored = lambda written, replaced: RestoredText(written.replace("[secret KEY]", "k1\nk2"), ("KEY",))
    (context.cwd / "a.txt").write_bytes(b"a\r\nk1\nk2\r\n")
    await run(WriteTool(), context, path="a.txt", content="b\n[secret KEY]\n")
    assert (context.cwd / "a.txt").read_bytes() == b"b\r\nk1\nk2\r\n"


async def test_the_result_starts_with_a_fresh_header(tmp_path: Path) -> None:
    """write.md/Outputs: the next edit needs no read; the count is of real bytes."""
    context = make_context(tmp_path)
    outcome = await run(WriteTool(), context, path="src/a.py", content="x = 'ü'\n")
    tag = context.shared(Snapshots).record(context.cwd / "src/a.py", "x = 'ü'\n")
    assert outcome.text == f"¶src/a.py#{tag}\nSuccessfully wrote 9 bytes to src/a.py"


async def test_without_hash_lines_there_is_no_header(tmp_path: Path) -> None:
    """And content is written unchanged, whatever it looks like."""
    context = make_context(tmp_path, read={"hash_lines": False})
    outcome = await run(WriteTool(), context, path="a.py", content="1:a\n2:b\n")
    assert outcome.text == "Successfully wrote 8 bytes to a.py"
    assert (context.cwd / "a.py").read_text() == "1:a\n2:b\n"


async def test_copied_line_numbers_are_removed(tmp_path: Path) -> None:
    """write.md/Flow 1: headers and prefixes of read output; it is said."""
    context = make_context(tmp_path)
    outcome = await run(WriteTool(), context, path="a.py", content="¶a.py#0A1B\n1:a\n2:b\n")
    assert (context.cwd / "a.py").read_text() == "a\nb\n"
    assert outcome.text.endswith("[Removed the headers and line numbers that were copied from read output.]")


@pytest.mark.parametrize("content", ["8080:80\n", "a: 1\nb: 2\n", "12:30\n14:45\n"])
async def test_what_only_looks_like_line_numbers_stays(tmp_path: Path, content: str) -> None:
    """Ports, mappings, times."""
    context = make_context(tmp_path)
    await run(WriteTool(), context, path="a", content=content)
    assert (context.cwd / "a").read_text() == content


@pytest.mark.parametrize(
    ("before", "mode", "content", "after"),
    [
        pytest.param(None, 0, "#!/bin/sh\n", 0o755, id=f"{OUTPUT}/shebang/new"),
        pytest.param("x", 0o600, "#!/bin/sh\n", 0o700, id=f"{OUTPUT}/shebang/only who may read may run"),
        pytest.param("x", 0o755, "#!/bin/sh\n", 0o755, id=f"{OUTPUT}/shebang/already"),
        pytest.param("x", 0o644, " #!/bin/sh\n", 0o644, id=f"{OUTPUT}/shebang/not at the start"),
    ],
)
async def test_a_program_is_made_executable(
    tmp_path: Path, before: str | None, mode: int, content: str, after: int
) -> None:
    """When its first line says that it is one."""
    context = make_context(tmp_path)
    path = context.cwd / "run"
    if before is not None:
        path.write_text(before)
        path.chmod(mode)
    outcome = await run(WriteTool(), context, path="run", content=content)
    assert stat.S_IMODE(path.stat().st_mode) == after
    assert outcome.details.get("made_executable", False) == (after != mode)


async def test_a_file_system_without_modes_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """write.md/Limits & Caps: it depends on the host."""

    def fail(*args: object, **options: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "fchmod", fail)
    outcome = await run(WriteTool(), make_context(tmp_path), path="run", content="#!/bin/sh\n")
    assert "made_executable" not in outcome.details
    assert (tmp_path / "work" / "run").read_text() == "#!/bin/sh\n"


@pytest.mark.parametrize(
    ("make", "path", "said"),
    [
        pytest.param(lambda work: (work / "d").mkdir(), "d", "a directory", id=f"{PLAIN}/directory"),
        pytest.param(lambda work: None, "d/", "names a directory", id=f"{PLAIN}/trailing slash"),
        pytest.param(lambda work: None, "/", "names a directory", id=f"{PLAIN}/the workspace"),
        pytest.param(lambda work: os.mkfifo(work / "p"), "p", "a named pipe", id=f"{PLAIN}/pipe"),
        pytest.param(lambda work: None, "/dev/full", "a device", id=f"{PLAIN}/device"),
        pytest.param(lambda work: (work / "l").symlink_to("l"), "l", "leads back to itself", id=f"{PLAIN}/loop"),
        pytest.param(lambda work: (work / "f").touch(), "f/a", "[Nn]ot a directory", id=f"{PLAIN}/below a file"),
        pytest.param(lambda work: (work / "f").touch(), "f/a/b", "[Nn]ot a directory", id=f"{PLAIN}/far below a file"),
        pytest.param(lambda work: (work / "f.py").touch(), "f.py:5-10", "leave out ':5-10'", id=f"{PLAIN}/selector"),
        pytest.param(lambda work: None, "", "path is empty", id=f"{PLAIN}/empty path"),
        pytest.param(lambda work: None, "a\0b", "NUL", id=f"{PLAIN}/NUL"),
        pytest.param(lambda work: None, "n" * 300, "name too long|File name too long", id=f"{PLAIN}/long name"),
        pytest.param(
            lambda work: (work / "a.go").write_text("// Code generated by x.\n"), "a.go", "looks generated",
            id="write.md/Errors/generated file",
        ),
        pytest.param(
            lambda work: ((work / "a.go").write_text("// Code generated by x.\n"), (work / "l").symlink_to("a.go")),
            "l", "looks generated", id="write.md/Errors/generated file behind a link",
        ),
        pytest.param(lambda work: None, "https://example.com/a", "Web pages cannot be written", id=f"{PLAIN}/web"),
        pytest.param(lambda work: None, "s3://bucket/a", "s3:// cannot be written", id=f"{PLAIN}/other scheme"),
    ],
)  # fmt: skip
async def test_what_cannot_be_written_is_refused_before_anyone_is_asked(
    tmp_path: Path, make: object, path: str, said: str
) -> None:
    """In `needs` already, and again when it runs; nothing is made on the way."""
    if path.startswith("s3"):
        pytest.importorskip("sightline.tools.resources")
    context = make_context(tmp_path)
    make(context.cwd)  # type: ignore[operator]
    before = sorted(os.listdir(context.cwd))
    with pytest.raises(ToolError, match=said):
        needs(tmp_path, path)
    with pytest.raises(ToolError, match=said):
        await run(WriteTool(), context, path=path, content="x")
    assert sorted(os.listdir(context.cwd)) == before


async def test_half_a_character_is_refused(tmp_path: Path) -> None:
    """No file can hold it."""
    with pytest.raises(ToolError, match="surrogate"):
        await WriteTool().execute(WriteTool().params(path="a", content="x\ud800"), make_context(tmp_path))
    assert not (tmp_path / "work" / "a").exists()


async def test_a_link_out_of_the_workspace_needs_what_it_leads_to(tmp_path: Path) -> None:
    """Whether the file, a folder above it or nothing is there yet; the link stays."""
    context = make_context(tmp_path)
    outside = tmp_path / "outside"
    outside.mkdir()
    (context.cwd / "file").symlink_to("../outside/real.txt")
    (context.cwd / "folder").symlink_to("../outside")
    for path, lands in (("file", "real.txt"), ("folder/new/a.txt", "new/a.txt")):
        assert [(need.access, need.what) for need in needs(tmp_path, path)] == [("write", str(outside / lands))]
        await run(WriteTool(), context, path=path, content="x")
        assert (outside / lands).read_text() == "x"
    assert (context.cwd / "file").is_symlink()


async def test_a_failing_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing half, nothing left over."""
    context = make_context(tmp_path)
    (context.cwd / "a").write_text("old")

    def fail(*args: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(ToolError, match="No space left on device"):
        await run(WriteTool(), context, path="a", content="new")
    assert ((context.cwd / "a").read_text(), os.listdir(context.cwd)) == ("old", ["a"])


@pytest.mark.parametrize(
    ("before", "after", "details"),
    [
        (None, "a\nb\n", {"op": "create", "added": 2, "removed": 0}),
        ("a\nb\n", "a\nc\n", {"op": "update", "added": 1, "removed": 1}),
        ("a\n", "a\n", {"op": "update", "added": 0, "removed": 0, "diff": ""}),
        ("a\n" * 5000, "b\n", {"op": "update", "added": 1, "removed": 5000}),
    ],
    ids=["new", "changed", "same", "long"],
)
async def test_views_are_told_what_changed(
    tmp_path: Path, before: str | None, after: str, details: dict[str, object]
) -> None:
    """As a unified diff."""
    context = make_context(tmp_path)
    if before is not None:
        (context.cwd / "a").write_text(before)
    outcome = await run(WriteTool(), context, path="a", content=after)
    assert outcome.details["ui"] == {"kind": "diff"}
    assert {name: outcome.details[name] for name in details} == details
    if outcome.details["diff"]:
        assert outcome.details["diff"].startswith(f"--- {'/dev/null' if before is None else 'a/a'}\n+++ b/a\n@@ ")


async def test_what_views_are_told_is_small(tmp_path: Path) -> None:
    """Whatever is written."""
    context = make_context(tmp_path)
    for content in ("ü" * 1_000_000, "line\n" * 1999, "\x01\n" * 1999):
        outcome = await run(WriteTool(), context, path="a", content=content)
        assert len(msgspec.json.encode(outcome.details)) < 64 * 1024


def test_it_runs_alone() -> None:
    """write.md/Side Effects: concurrency is exclusive."""
    assert WriteTool.exclusive
    assert WriteTool().preview(WriteTool().params(path="a/b", content="")) == "a/b"
