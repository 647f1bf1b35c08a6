"""The tools one after the other, as a model uses them: each result has what the next call needs."""

import re
from typing import Any

import pytest

from sightline.tools import ToolContext, ToolError, builtin_tools
from sightline.tools.edit import EditTool
from sightline.tools.find import FindTool
from sightline.tools.hashline import parse
from sightline.tools.read import ReadTool
from sightline.tools.search import SearchTool
from sightline.tools.write import WriteTool
from tests.tools.support import run

PROGRAM = "import os\n\n\ndef area(w, h):\n    return w + h\n\n\nprint(area(2, 3))\n"


async def test_a_task_from_finding_to_editing(context: ToolContext) -> None:
    """edit.md/Inputs: the tags of read, search, write and edit, each taken as it is shown."""
    (context.cwd / "src").mkdir()
    (context.cwd / "src" / "shape.py").write_text(PROGRAM)
    (context.cwd / "src" / "other.py").write_text("from shape import area\n")
    assert "shape.py" in (await run(FindTool(), context, paths=["*.py"])).text

    found = (await run(SearchTool(), context, pattern=r"w \+ h", paths="src")).text
    heading = re.search(r"^# (src/shape\.py#[0-9A-F]{4})$", found, re.MULTILINE)
    line = re.search(r"^\*(\d+):", found, re.MULTILINE)
    assert heading
    assert line
    done = (await run(EditTool(), context, input=f"¶{heading[1]}\nreplace {line[1]}:\n+    return w * h\n")).text

    tag = done.splitlines()[0]
    done = (
        await run(EditTool(), context, input=f"{tag}\nreplace block 4:\n+def area(w, h):\n+    return h * w\n")
    ).text
    assert "replace block 4 → resolved lines 4-5 (2 lines)" in done

    written = (await run(WriteTool(), context, path="notes.txt", content="a\nb\n")).text
    await run(EditTool(), context, input=f"{written.splitlines()[0]}\ninsert tail:\n+c\n")
    assert (context.cwd / "notes.txt").read_text() == "a\nb\nc\n"
    assert (context.cwd / "src" / "shape.py").read_text() == PROGRAM.replace("w + h", "h * w")


async def test_a_stale_tag_after_a_change_from_outside(context: ToolContext) -> None:
    """The error has the new tag and the lines, and that is enough to go on."""
    path = context.cwd / "a.py"
    path.write_text(PROGRAM)
    tag = (await run(ReadTool(), context, path="a.py")).text.splitlines()[0]
    path.write_text(PROGRAM.replace("w + h", "w - h"))
    with pytest.raises(ToolError) as caught:
        await run(EditTool(), context, input=f"{tag}\nreplace 5..5:\n+    return w * h\n")
    fresh = re.search(r"¶a\.py#[0-9A-F]{4}", caught.value.message)
    assert fresh
    assert "*5:    return w - h" in caught.value.message
    await run(EditTool(), context, input=f"{fresh[0]}\nreplace 5..5:\n+    return w * h\n")
    assert "return w * h" in path.read_text()


async def test_a_long_file_is_read_in_pieces_and_edited_by_them(context: ToolContext) -> None:
    """The footer of a summary names ranges that can be read, and their tag is that of the file."""
    body = "".join(f"    x{number} = {number}\n" for number in range(20))
    (context.cwd / "long.py").write_text("".join(f"def f{number}():\n{body}\n\n" for number in range(30)))
    summary = (await run(ReadTool(), context, path="long.py")).text
    again = re.search(r"e\.g\. (long\.py:[0-9,-]+)\]", summary)
    assert again
    part = (await run(ReadTool(), context, path=again[1])).text
    assert part.splitlines()[0] == summary.splitlines()[0]
    await run(EditTool(), context, input=f"{part.splitlines()[0]}\nreplace 2..2:\n+    x0 = 'zero'\n")
    assert "    x0 = 'zero'\n" in (context.cwd / "long.py").read_text()


@pytest.mark.parametrize(
    ("tool", "arguments", "way_out"),
    [
        (ReadTool(), {"path": "gone.py"}, "Use find to look for it"),
        (ReadTool(), {"path": "a.py:0"}, "Use :1"),
        (ReadTool(), {"path": "a.py:9-3"}, "Use :9-9"),
        (SearchTool(), {"pattern": "x", "paths": "gone"}, "Use find to see what there is"),
        (FindTool(), {"paths": ["gone"]}, "a glob such as **/NAME"),
        (WriteTool(), {"path": "a.py:1-2", "content": "x"}, "change these lines with edit"),
        (WriteTool(), {"path": "src/", "content": "x"}, "Give the path of a file"),
        (EditTool(), {"input": "replace 1..1:\n+x\n"}, "input must begin with"),
        (EditTool(), {"input": "# a.py#0A1B\nreplace 1..1:\n+x\n"}, "Write ¶a.py#0A1B"),
        (EditTool(), {"input": "¶a.py\nreplace 1..1:\n+x\n"}, "use ¶a.py#TAG from your latest read"),
        (EditTool(), {"input": "¶gone.py#0A1B\nreplace 1..1:\n+x\n"}, "use only `insert head:`"),
        (EditTool(), {"input": "¶empty.py#TAG\nreplace 1..1:\n+x\n"}, "Use `insert head:` to fill it"),
        (EditTool(), {"input": "¶a.py#TAG\nreplace 9..9:\n+x\n"}, "Use `insert tail:` to add to its end"),
        (EditTool(), {"input": "¶a.py#TAG\nreplace 1..1:\n-x\n+y\n"}, "write `+-…`"),
    ],
)
async def test_an_error_says_what_to_do_next(
    tool: Any, arguments: dict[str, Any], way_out: str, context: ToolContext
) -> None:
    """In a line or two."""
    for name, text in (("a.py", "x\n"), ("empty.py", "")):
        (context.cwd / name).write_text(text)
        if "TAG\nreplace" in arguments.get("input", "") and f"¶{name}" in arguments["input"]:
            tag = (await run(ReadTool(), context, path=name)).text.splitlines()[0].partition("#")[2]
            arguments = {"input": arguments["input"].replace("#TAG", f"#{tag}")}
    with pytest.raises(ToolError) as caught:
        await run(tool, context, **arguments)
    assert way_out in caught.value.message
    assert caught.value.message.count("\n") <= 1


def test_the_description_of_edit_teaches_its_language() -> None:
    """Every operation is in it, and its example is one the parser takes."""
    (tool,) = (tool for tool in builtin_tools() if tool.name == "edit")
    assert len(tool.description) <= 2500
    for operation in (
        "replace N..M:", "replace block N:", "delete N..M", "delete block N", "insert before N:", "insert after N:",
        "insert after block N:", "insert head:", "insert tail:", "+TEXT",
    ):  # fmt: skip
        assert operation in tool.description
    example = tool.description[tool.description.rindex("¶a.py#0A3B") :]
    (section,) = parse(example)
    assert [hunk.operation for hunk in section.hunks] == ["insert after 1:", "replace 4..4:"]


def test_descriptions_are_short() -> None:
    """A model reads them with every request."""
    assert {tool.name: len(tool.description) for tool in builtin_tools() if len(tool.description) > 2500} == {}
