"""The same hostile paths for every tool that takes one: a result or a ToolError, soon, and nothing else ever."""

import asyncio
import io
import os
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sightline.tools import Outcome, Tool, ToolContext, ToolError, parameters
from sightline.tools.edit import EditTool
from sightline.tools.files._globs import Globs
from sightline.tools.files._paths import shown
from sightline.tools.find import FindTool
from sightline.tools.read import ReadTool
from sightline.tools.search import SearchTool
from sightline.tools.write import WriteTool
from tests.tools.support import run

HOSTILE = [
    "", " ", ".", "..", "/", "//", "~", "~nobody/x", "\0", "a\0b", "\ud800", "a\udcff", "x" * 300, "x/" * 3000,
    "file://", "file:///", "file://[", "file://[::1]/a", "file:///%00", "file:///a%0ab", "file:///%ed%a0%80",
    "a.py/", "a.py/x", "a.py:0", "a.py:5-3", "a.py:" + "9" * 50, "a.py:raw:raw", "a.py:1," * 500,
    "pipe", "pipe.zip", "pipe.zip:x", "pipe.db", "pipe.db:t", "pipe.ipynb", "pipe.pdf", "pipe:conflicts", "loop",
    "local://", "local://../x", "local:///etc/passwd", "local://a\0b", "local://\ud800", "artifact://../x",
    "history://../x", "conflict://", "conflict://99999999999", "agent://x", "foo://bar", "https://[", "a.zip:../x",
    "a.zip:/etc", "a.tar.gz:", "x.db:", "x.db?q=", "*", "**", "[", "{" * 500, "{" + "{a,b}" * 20, "**/" * 100 + "x",
    "*a" * 40 + "b", "'", '""', "C:\\x", "-rf", "--help", "$(id)", "a.py\n", "nl\nname",
]  # fmt: skip


def calls(path: str) -> list[tuple[Tool[Any], dict[str, Any]]]:
    patches = (f"¶{path}#0A1B\nreplace 1..1:\n+x\n", f"¶{path}\ninsert head:\n+x\n")
    return [
        (ReadTool(), {"path": path}),
        (SearchTool(), {"pattern": "x", "paths": path}),
        (FindTool(), {"paths": [path], "timeout": 1}),
        *((EditTool(), {"input": patch}) for patch in patches),
        (WriteTool(), {"path": path, "content": "x\n"}),
    ]


@pytest.mark.parametrize("path", HOSTILE, ids=lambda path: ascii(path[:30]))
async def test_a_hostile_path_is_answered_or_refused(path: str, context: ToolContext) -> None:
    """In words that can be sent, whatever it says; what is changed is in the workspace."""
    work = context.cwd
    (work / "a.py").write_text("x = 1\n")
    (work / ("a" * 200)).write_text("x\n")
    (work / "nl\nname").write_text("x\n")
    (work / "loop").symlink_to("loop")
    for name in ("pipe", "pipe.zip", "pipe.db", "pipe.ipynb", "pipe.pdf"):
        os.mkfifo(work / name)
    for tool, arguments in calls(path):
        if path == "~" and tool.name in ("search", "find"):
            continue  # that is a folder like any other, only a large one
        try:
            params = parameters(tool, arguments)
            needs = tool.needs(params, context)
            if any(need.access == "write" and not Path(need.what).is_relative_to(work) for need in needs):
                continue  # somebody would have been asked
            outcome = await asyncio.wait_for(tool.execute(params, context), 20)
        except ToolError as problem:
            outcome = Outcome(text=problem.message)
        assert outcome.text.encode()
        assert len(msgspec.json.encode(outcome.details)) <= 64 * 1024


@pytest.mark.parametrize("name", ["a\nb.txt", "c\r¶x#0000.txt", "d\x1b[2J.txt", "e\u2028f.txt"], ids=ascii)
async def test_a_name_cannot_make_a_row_of_its_own(name: str, context: ToolContext) -> None:
    """Shown on one line in every listing, and found again by what is shown."""
    (context.cwd / name).write_text("hit\n")
    row = "".join("\ufffd" if ord(character) < 32 or character == "\u2028" else character for character in name)
    assert (await run(ReadTool(), context, path=".")).text.startswith(f"{row} (")
    assert (await run(FindTool(), context, paths=["."])).text == row
    assert (await run(SearchTool(), context, pattern="hit", paths=".")).text.startswith(f"# {row}#")
    assert "1:hit" in (await run(ReadTool(), context, path=row)).text


async def test_notes_are_edited_by_their_address_and_unasked(context: ToolContext) -> None:
    """As they are written; the header of the result is the next edit's."""
    await run(WriteTool(), context, path="local://plan.md", content="one\n")
    text = (await run(ReadTool(), context, path="local://plan.md")).text
    patch = f"{text.splitlines()[0]}\nreplace 1..1:\n+two\n"
    assert EditTool().needs(parameters(EditTool(), {"input": patch}), context) == []
    result = (await run(EditTool(), context, input=patch)).text
    assert result.startswith("¶local://plan.md#")
    await run(EditTool(), context, input=f"{result.splitlines()[0]}\ninsert tail:\n+three\n")
    assert (context.workplace.local / "plan.md").read_text() == "two\nthree\n"


async def test_the_folder_of_notes_is_no_note(context: ToolContext) -> None:
    """A file in its place would be the end of all notes."""
    with pytest.raises(ToolError, match="local:// is a folder"):
        await run(EditTool(), context, input="¶local://\ninsert head:\n+x\n")
    assert not context.workplace.local.exists()


@pytest.mark.parametrize(
    ("glob", "yes", "no"),
    [
        ("*a*b*c", "xaxbxc", "xaxcxb"),
        ("**/x/**/y/*.py", "1/x/2/3/y/z.py", "1/x/2/3/y/4/z.py"),
        ("**/a/**/a/b", "a/a/a/b", "a/b"),
        ("{src,test}/**/*.{ts,tsx}", "test/a/b.tsx", "test/a/b.tsxx"),
        ("**test", "a/btest", "a/testb"),
        ("{a,b", "{a,b", "a"),
        ("[ab]*[!c]", "bxd", "bxc"),
    ],
)
def test_a_glob_means_what_it_says(glob: str, yes: str, no: str) -> None:
    """Although no star ever tries a second place."""
    assert Globs([("", glob)])(yes)
    assert not Globs([("", glob)])(no)


async def test_a_glob_that_stands_for_too_much_is_refused(context: ToolContext) -> None:
    """Two to the power of twenty globs."""
    with pytest.raises(ToolError, match="more than 256 globs"):
        await run(FindTool(), context, paths=["{a,b}" * 20])


@pytest.mark.parametrize("kind", ["zip", "tar"])
async def test_names_in_an_archive_make_no_rows_of_their_own(kind: str, context: ToolContext) -> None:
    """As on disk: shown on one line, found by what is shown; a link's target too."""
    names = [b"a\nb.txt", b"c\x1b[2J.txt", *([b"\xff.txt"] if kind == "tar" else [])]
    path = context.cwd / f"a.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            for name in names:
                archive.writestr(name.decode(), "words")
    else:
        with tarfile.open(path, "w") as tar:
            for name in names:
                entry = tarfile.TarInfo(os.fsdecode(name))
                entry.size = 5
                tar.addfile(entry, io.BytesIO(b"words"))
    rows = (await run(ReadTool(), context, path=path.name)).text.splitlines()
    assert sorted(rows) == sorted(f"{shown(name)} (5 B)" for name in names)
    for name in names:
        assert "1:words" in (await run(ReadTool(), context, path=f"{path.name}:{shown(name)}")).text
