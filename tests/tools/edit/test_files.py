"""What an edit does to files: every byte it does not change stays, and all of a patch is written or none of it."""

import os
import stat

import pytest

from sightline.tools import ToolError
from sightline.tools.edit import EditTool, _files
from sightline.tools.edit._tool import EditParams
from sightline.tools.hashline import Snapshots

KEPT = [
    pytest.param("a\r\nb\r\nc\r\n", "replace 2:\n+x\n+y", "a\r\nx\r\ny\r\nc\r\n", id="CRLF"),
    pytest.param("a\r\nb", "insert tail:\n+x", "a\r\nb\r\nx", id="CRLF without a last line end"),
    pytest.param("a\nb\r\nc\n", "replace 1:\n+x", "x\nb\r\nc\n", id="mixed line ends"),
    pytest.param("\ufeffa\nb\n", "replace 1:\n+x", "\ufeffx\nb\n", id="byte order mark"),
    pytest.param("\ufeffa\nb\n", "insert head:\n+x", "\ufeffx\na\nb\n", id="byte order mark, head"),
    pytest.param("a\nb", "replace 1:\n+x", "x\nb", id="no last line end"),
    pytest.param("a\nb", "delete 2", "a", id="no last line end, last line deleted"),
    pytest.param("a\nb", "insert tail:\n+c", "a\nb\nc", id="no last line end, tail"),
    pytest.param("a", "insert tail:\n+", "a\n\n", id="no last line end, empty line at the tail"),
    pytest.param("a\nb\n", "delete 1..2", "", id="everything deleted"),
    pytest.param("", "insert tail:\n+x", "x\n", id="empty file, tail"),
    pytest.param("", "insert head:\n+x", "x\n", id="empty file, head"),
    pytest.param("a\x0b\u2028c\x85\nd\n", "replace 2:\n+e\x0cf", "a\x0b\u2028c\x85\ne\x0cf\n", id="other separators"),
    pytest.param("a\rb\nc\n", "replace 2:\n+x", "a\rb\nx\n", id="lone CR"),
    pytest.param("a\0b\nc\n", "replace 2:\n+ü😀", "a\0b\nü😀\n", id="NUL and beyond ASCII"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "ops", "after"), KEPT)
async def test_what_is_not_edited_stays_byte_for_byte(desk, before, ops, after):
    """Line ends, byte order mark and the missing last line end included; the next tag is that of a read."""
    tag = desk.show("a.txt", before)
    outcome = await desk.edit(f"¶a.txt#{tag}\n{ops}")
    assert desk.text("a.txt") == after
    again = desk.context.shared(Snapshots).record(desk.path("a.txt"), after)
    assert outcome.text.startswith(f"¶a.txt#{again}\n")


async def test_a_file_that_is_not_utf8_is_refused_untouched(desk):
    """Whatever tag is named."""
    desk.put("a.txt", b"caf\xe9\nx\n")
    tag = desk.context.shared(Snapshots).record(desk.path("a.txt"), "caf\ufffd\nx\n")
    assert "not UTF-8" in await desk.refused(f"¶a.txt#{tag}\ndelete 2")


async def test_a_link_is_followed_and_stays(desk):
    """The target changes, the link does not, and tags are the target's."""
    tag = desk.show("real/a.txt", "a\nb\n")
    desk.path("link.txt").symlink_to("real/a.txt")
    await desk.edit(f"¶link.txt#{tag}\ndelete 1")
    assert desk.path("link.txt").is_symlink()
    assert desk.text("real/a.txt") == "b\n"


async def test_the_mode_is_kept(desk):
    """A script stays executable."""
    tag = desk.show("run.sh", "a\nb\n")
    desk.path("run.sh").chmod(0o754)
    await desk.edit(f"¶run.sh#{tag}\ndelete 1")
    assert stat.S_IMODE(desk.path("run.sh").stat().st_mode) == 0o754


@pytest.mark.parametrize("head", ["¶new/file.txt", "¶new/file.txt#0A3B"])
async def test_a_section_of_insertions_at_the_ends_creates_a_file(desk, head):
    """edit.md/Outputs: Created <path>."""
    outcome = await desk.edit(f"{head}\ninsert tail:\n+end\ninsert head:\n+one\n+two")
    assert desk.text("new/file.txt") == "one\ntwo\nend\n"
    assert outcome.text.split("\n")[1] == "Created new/file.txt"
    assert outcome.details["op"] == "create"
    assert outcome.details["diff"].startswith("--- /dev/null\n+++ b/new/file.txt\n@@ -0,0 +1,3 @@\n+one\n")


async def test_a_created_file_can_be_edited_at_once(desk):
    """Its tag is in the result."""
    outcome = await desk.edit("¶new.txt\ninsert head:\n+one")
    await desk.edit(f"{outcome.text.splitlines()[0]}\nreplace 1:\n+two")
    assert desk.text("new.txt") == "two\n"


async def test_a_file_that_went_away_is_not_made_anew(desk):
    """The tag says the model thinks of what was there."""
    tag = desk.show("a.txt", "a\n")
    desk.path("a.txt").unlink()
    assert "no longer exists" in await desk.refused(f"¶a.txt#{tag}\ninsert head:\n+x")


@pytest.mark.parametrize("ops", ["delete 1", "insert after 1:\n+x", "replace block 1:\n+x"])
async def test_anything_else_on_a_missing_file_is_refused(desk, ops):
    """Both without a tag and with one."""
    assert "Missing hashline snapshot tag" in await desk.refused(f"¶a.txt\n{ops}")
    assert "does not exist" in await desk.refused(f"¶a.txt#0A3B\n{ops}")


async def test_all_sections_are_checked_before_a_file_is_written(desk):
    """edit.md/Outputs: multi-section input; a mistake in the last section leaves the first file alone."""
    one, two = desk.show("one.txt", "a\nb\n"), desk.show("two.txt", "c\nd\n")
    await desk.refused(f"¶one.txt#{one}\ndelete 1\n¶two.txt#{two}\ndelete 9")
    await desk.refused(f"¶one.txt#{one}\ndelete 1\n¶new.txt\ninsert head:\n+x\n¶two.txt#0000\ndelete 1")


async def test_several_sections_change_several_files(desk):
    """edit.md/Worked examples: multi-file."""
    one, two = desk.show("src/a.ts", "1\n2\n3\n4\n"), desk.show("src/b.ts", "x\n" * 20)
    outcome = await desk.edit(f"¶src/a.ts#{one}\nreplace 4..4:\n+const enabled = true;\n¶src/b.ts#{two}\ndelete 20\n")
    assert desk.text("src/a.ts") == "1\n2\n3\nconst enabled = true;\n"
    assert desk.text("src/b.ts") == "x\n" * 19
    assert [line for line in outcome.text.split("\n") if line.startswith("¶")] == [
        line for line in outcome.text.split("\n") if line.startswith(("¶src/a.ts#", "¶src/b.ts#"))
    ]
    assert [result["path"] for result in outcome.details["per_file_results"]] == ["src/a.ts", "src/b.ts"]
    assert outcome.details["diff"].count("--- a/") == 2


async def test_sections_of_one_file_are_one(desk):
    """Line numbers mean the same state in both, also when the path is written differently."""
    tag = desk.show("a.txt", "a\nb\nc\n")
    outcome = await desk.edit(f"¶a.txt#{tag}\ndelete 1\n¶./a.txt#{tag}\nreplace 3:\n+x")
    assert desk.text("a.txt") == "b\nx\n"
    assert "per_file_results" not in outcome.details


async def test_a_write_that_fails_midway_puts_the_others_back(desk, monkeypatch):
    """Those already written get their old content, those created go."""
    from sightline.tools.files import _atomic

    one, two = desk.show("one.txt", "a\nb\n"), desk.show("two.txt", "c\nd\n")
    real = _atomic.Writing.replace

    def failing(file, data):
        if file.path.name == "two.txt":
            raise ToolError("Cannot write two.txt: No space left on device.")
        return real(file, data)

    monkeypatch.setattr(_atomic.Writing, "replace", failing)
    message = await desk.refused(f"¶one.txt#{one}\ndelete 1\n¶new.txt\ninsert head:\n+x\n¶two.txt#{two}\ndelete 1")
    assert "No space left" in message
    assert "No file was changed" in message


async def test_a_change_between_check_and_write_is_not_overwritten(desk, monkeypatch):
    """The other writer's content stays."""
    from sightline.tools.edit import _work

    tag = desk.show("a.txt", "a\nb\n")
    real = _work._plans

    def slow(*args):
        plans = real(*args)
        desk.put("a.txt", "theirs, longer\n")
        return plans

    monkeypatch.setattr(_work, "_plans", slow)
    with pytest.raises(ToolError, match="changed at this moment by something other"):
        await desk.edit(f"¶a.txt#{tag}\ndelete 1")
    assert desk.text("a.txt") == "theirs, longer\n"


REFUSED = [
    pytest.param("folder", "directory", id="a folder"),
    pytest.param("pipe", "not a regular file", id="a pipe"),
    pytest.param("http://example.org/x", "edit changes files", id="a web address"),
    pytest.param("artifact://aaaaaa/x", "edit changes files", id="an internal address"),
    pytest.param("local://../x", "leads out", id="out of local://"),
    pytest.param("a\0b", "NUL", id="NUL in the path"),
    pytest.param("x" * 5000, "Cannot read", id="a path too long"),
    pytest.param("gen.pb.go", "generated", id="a generated file"),
]


@pytest.mark.parametrize(("path", "part"), REFUSED)
async def test_what_is_no_text_file_is_refused(desk, path, part):
    """Without waiting for anything and without a trace."""
    desk.path("folder").mkdir()
    os.mkfifo(desk.path("pipe"))
    desk.put("gen.pb.go", "x\n")
    assert part in await desk.refused(f"¶{path}#0A3B\ndelete 1")


async def test_a_file_too_large_is_refused(desk, monkeypatch):
    """The limit is stated."""
    monkeypatch.setattr(_files, "MAX_FILE", 1 << 20)
    desk.put("big.txt", b"x" * (1 << 20) + b"\n")
    assert "larger than 1 MiB" in await desk.refused("¶big.txt#0A3B\ndelete 1")


async def test_local_files_can_be_edited(desk):
    """local:// is a folder of the session."""
    local = desk.context.workplace.local
    local.mkdir()
    (local / "notes.md").write_text("a\n")
    tag = desk.context.shared(Snapshots).record(local / "notes.md", "a\n")
    await desk.edit(f"¶local://notes.md#{tag}\nreplace 1:\n+b")
    assert (local / "notes.md").read_text() == "b\n"


def test_each_file_is_one_need_to_write(desk, tmp_path):
    """Named by where it really is; a link out of the workspace is seen through."""
    desk.put("a.txt", "a\n")
    desk.path("out").symlink_to(tmp_path / "elsewhere.txt")
    params = EditParams(input="¶a.txt#0A3B\ndelete 1\n¶out#0A3B\ndelete 1\n¶./a.txt#0A3B\ndelete 2")
    needs = EditTool().needs(params, desk.context)
    assert [(need.access, need.what) for need in needs] == [
        ("write", str(desk.path("a.txt").resolve())),
        ("write", str((tmp_path / "elsewhere.txt").resolve())),
    ]
    assert EditTool().preview(params) == "a.txt, out, ./a.txt"


def test_needs_of_a_patch_that_makes_no_sense_are_an_error(desk):
    """Nobody is asked about it."""
    with pytest.raises(ToolError, match="must begin with"):
        EditTool().needs(EditParams(input="nonsense"), desk.context)
