"""Long source files without the bodies of their functions."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from sightline.tools import ToolContext
from sightline.tools.hashline import Snapshots
from sightline.tools.read import ReadTool, _local
from sightline.tools.read._local import summarize
from tests.tools.support import make_context, run

BODY = "".join(f"    x{number} = {number}\n" for number in range(20))
PYTHON = f"import os\n\n\ndef first():\n{BODY}\n\ndef second():\n{BODY}"
GO = "func first() {\n" + BODY + "}\n\nfunc second() {\n" + BODY + "}\n"

pytestmark = pytest.mark.skipif(find_spec("tree_sitter") is None, reason="the extra `code` is not installed")


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    return make_context(tmp_path, read={"default_limit": 10})


async def test_bodies_are_left_out_and_the_footer_says_where_they_are(context: ToolContext) -> None:
    """read.md/Local text files, Outputs: declarations stay, `...` for the rest, concrete ranges at the end."""
    path = context.cwd / "a.py"
    path.write_text(PYTHON)
    outcome = await run(ReadTool(), context, path="a.py")
    tag = Snapshots().record(path, PYTHON)
    assert outcome.text == (
        f"¶a.py#{tag}\n1:import os\n2:\n3:\n4:def first():\n...\n25:\n26:\n27:def second():\n...\n\n"
        "[40 lines elided; re-read needed ranges, e.g. a.py:5-24,28-47]"
    )
    assert outcome.details["summary"] == {"lines": 47, "elided_spans": 2, "elided_lines": 40}
    again = await run(ReadTool(), context, path="a.py:5-24,28-47")
    assert set(re.findall(r"^(\d+):", again.text, re.MULTILINE)) >= {"5", "24", "28", "47"}


async def test_a_body_between_braces_becomes_one_line(context: ToolContext) -> None:
    """read.md/Local text files: opener and closer merged, with the lines it stands for."""
    (context.cwd / "a.go").write_text(GO)
    text = (await run(ReadTool(), context, path="a.go")).text
    assert "1-22:func first() { .. }\n23:\n24-45:func second() { .. }" in text


@pytest.mark.parametrize(
    ("name", "selector", "settings"),
    [
        pytest.param("a.py", ":1", {"default_limit": 10}, id="read.md/Local text files/explicit selector"),
        pytest.param("a.py", ":raw", {"default_limit": 10}, id="read.md/Local text files/raw"),
        pytest.param("a.py", "", {"default_limit": 10, "summarize": False}, id="read.md/Local text files/switched off"),
        pytest.param("a.txt", "", {"default_limit": 10}, id="read.md/Local text files/no grammar"),
        pytest.param("a.py", "", {"default_limit": 47}, id="read.md/Local text files/short enough to show whole"),
    ],
)
async def test_otherwise_the_text_itself_is_shown(
    tmp_path: Path, name: str, selector: str, settings: dict[str, object]
) -> None:
    """A summary is for a file that would not be shown whole, when nothing in particular was asked for."""
    context = make_context(tmp_path, read=settings)
    (context.cwd / name).write_text(PYTHON)
    text = (await run(ReadTool(), context, path=f"{name}{selector}")).text
    assert "elided" not in text
    assert "x1 = 1" in text


@pytest.mark.parametrize(
    ("limit", "value"),
    [
        pytest.param("MAX_SUMMARY_BYTES", len(PYTHON) - 1, id="read.md/Limits & Caps/2 MiB"),
        pytest.param("MAX_SUMMARY_LINES", 46, id="read.md/Limits & Caps/20,000 lines"),
        pytest.param("MAX_LINES", 8, id="read.md/Limits & Caps/a summary that is too long itself"),
    ],
)
def test_a_file_that_is_too_big_is_not_summarized(monkeypatch: pytest.MonkeyPatch, limit: str, value: int) -> None:
    """Each limit alone."""
    assert (_local.MAX_SUMMARY_BYTES, _local.MAX_SUMMARY_LINES) == (2 * 1024**2, 20_000)
    lines = PYTHON.split("\n")[:-1]
    assert summarize(PYTHON, lines, Path("a.py"), mode="hash") is not None
    monkeypatch.setattr(_local, limit, value)
    assert summarize(PYTHON, lines, Path("a.py"), mode="hash") is None
