"""A read of many wide lines keeps to its limit, and says how to continue, all the way to the model."""

from pathlib import Path
from typing import Any

import pytest

from sightline.conversation import ToolMessage, text_of
from sightline.events import ToolResult
from sightline.tools.read._excerpt import MOST_BYTES
from tests.agent.support import lab


@pytest.mark.parametrize("path", ["wide.txt", "wide.txt:1-3000", "wide.txt:1-3000:raw"])
@pytest.mark.parametrize("width", [600, 20_000])
async def test_a_wide_read_ends_with_how_to_continue(tmp_path: Path, path: str, width: int) -> None:
    """Results of more than 400,000 characters are cut for the model, and of 150,000 for views: the note was lost."""
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "wide.txt").write_text(f"{'x' * width}\n" * 3000)
    turns: list[Any] = [[{"tool": "read", "args": {"path": path}}], [{"text": "ok"}]]
    async with lab(tmp_path, turns) as here:
        await here.run()
        (result,) = here.of(ToolResult)
        model = text_of(next(m for m in here.messages if isinstance(m, ToolMessage)))
    last = result.details["ui"]["last"]
    assert model == result.content
    assert len(model.encode()) < MOST_BYTES + 4096
    assert model.endswith(f"Use :{last + 1} to continue]")
