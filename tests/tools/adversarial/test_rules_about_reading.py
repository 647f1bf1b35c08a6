"""A rule that forbids reading a file holds for every way that leads to its words."""

from pathlib import Path

import pytest

from sightline.tools import Limits, ToolContext, ToolError
from sightline.tools.edit import EditTool
from sightline.tools.read import ReadTool
from sightline.tools.search import SearchTool
from tests.tools.support import run


@pytest.fixture
def guarded(context: ToolContext) -> ToolContext:
    secret = context.cwd / "secrets" / "key.txt"
    secret.parent.mkdir()
    secret.write_text("needle 12345\n")
    limits = Limits(is_denied=lambda path: Path(path).is_relative_to(secret.parent))
    context.workplace.limits = lambda: limits
    return context


async def test_not_by_the_end_of_a_path(guarded: ToolContext) -> None:
    """The path that was judged did not exist; the one that ends like it is judged again."""
    with pytest.raises(ToolError, match="a rule forbids reading it"):
        await run(ReadTool(), guarded, path="key.txt")


async def test_not_by_an_edit_that_does_not_fit(guarded: ToolContext) -> None:
    """The error would show the lines."""
    with pytest.raises(ToolError) as caught:
        await run(EditTool(), guarded, input="¶secrets/key.txt#0000\nreplace 1..1:\n+x\n")
    assert "forbids" in caught.value.message
    assert "12345" not in caught.value.message


@pytest.mark.parametrize("where", [".", "secrets", "alias", "*.txt"])
async def test_not_by_a_search(where: str, guarded: ToolContext) -> None:
    """Be it through a link: what counts is where a file really is."""
    (guarded.cwd / "alias").symlink_to("secrets")
    (guarded.cwd / "other.txt").write_text("nothing\n")
    assert (await run(SearchTool(), guarded, pattern="needle", paths=where)).text == "No matches found"
