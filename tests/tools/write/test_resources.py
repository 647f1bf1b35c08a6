"""Internal resources through the tool: local:// is written, everything else says why not."""

from pathlib import Path

import pytest

from sightline.tools import ToolError
from sightline.tools.write import WriteTool

from ..support import make_context, run

pytest.importorskip("sightline.tools.resources")


async def test_a_local_resource_is_written_unasked(tmp_path: Path) -> None:
    """write.md/Outputs: internal URL write. The folder is the session's own: nobody has to agree."""
    context = make_context(tmp_path)
    tool = WriteTool()
    assert tool.needs(tool.params(path="local://notes/plan.md", content=""), context) == []
    outcome = await run(tool, context, path="local://notes/plan.md", content="grün\n")
    assert outcome.text == "Successfully wrote 6 bytes to local://notes/plan.md"
    assert outcome.details == {"ui": {"kind": "resource"}}
    assert (context.workplace.local / "notes/plan.md").read_text() == "grün\n"


@pytest.mark.parametrize("url", ["artifact://aaaaaa/1", "history://", "local://../outside.md", "local://a/../../x"])
async def test_what_is_not_ours_to_write_is_refused(tmp_path: Path, url: str) -> None:
    """Nothing outside the session's own folder is made."""
    context = make_context(tmp_path)
    before = files_in(tmp_path)
    with pytest.raises(ToolError):
        await run(WriteTool(), context, path=url, content="x")
    assert files_in(tmp_path) == before


def files_in(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}
