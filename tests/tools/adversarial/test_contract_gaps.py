"""What the documents say and no other test held."""

from typing import Any

import pytest

from sightline.tools import Tool, ToolContext, schema_of
from sightline.tools.edit import EditTool
from sightline.tools.find import FindTool
from sightline.tools.read import ReadTool
from sightline.tools.search import SearchTool
from sightline.tools.write import WriteTool
from tests.tools.support import make_context, run


@pytest.mark.parametrize(
    ("tool", "required", "others"),
    [
        pytest.param(ReadTool(), ["path"], [], id="read.md/Inputs"),
        pytest.param(WriteTool(), ["path", "content"], [], id="write.md/Inputs"),
        pytest.param(EditTool(), ["input"], [], id="edit.md/Inputs"),
        pytest.param(SearchTool(), ["pattern", "paths"], ["i", "gitignore", "skip"], id="search.md/Inputs"),
        pytest.param(FindTool(), ["paths"], ["hidden", "gitignore", "limit", "timeout"], id="find.md/Inputs"),
    ],
)
def test_the_parameters_are_those_of_the_document(tool: Tool[Any], required: list[str], others: list[str]) -> None:
    """Each with a description, so that nobody has to guess."""
    schema = schema_of(tool.params)
    assert schema["required"] == required
    assert list(schema["properties"]) == required + others
    assert all(field.get("description") for field in schema["properties"].values())


async def test_without_hash_lines_content_is_written_as_it_is(tmp_path) -> None:
    """write.md/Notes: numbers are only taken away where they are shown."""
    context = make_context(tmp_path, read={"hash_lines": False})
    await run(WriteTool(), context, path="a", content="1:one\n2:two\n3:three\n")
    assert (context.cwd / "a").read_text() == "1:one\n2:two\n3:three\n"


async def test_a_numbered_mapping_is_not_taken_for_copied_lines(context: ToolContext) -> None:
    """write.md/Notes: with a space after every colon it is YAML, and writing it must be possible."""
    await run(WriteTool(), context, path="a.yaml", content="1: one\n2: two\n3: three\n")
    assert (context.cwd / "a.yaml").read_text() == "1: one\n2: two\n3: three\n"


async def test_hidden_files_are_searched(context: ToolContext) -> None:
    """search.md/Notes: there is no way to leave them out; `.git` is never searched."""
    for name in (".env", ".git/config"):
        (context.cwd / name).parent.mkdir(exist_ok=True)
        (context.cwd / name).write_text("needle\n")
    assert (await run(SearchTool(), context, pattern="needle", paths=".")).details["files"] == [".env"]
