"""The page of tools says what the tools are."""

from pathlib import Path

import pytest
from tools.reference import tools_page

from sightline.tools import builtin_tools

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "tools.md").read_text()


def test_the_table_is_that_of_the_code() -> None:
    """Every tool with its arguments: `make reference` writes it."""
    assert tools_page(PAGE) == PAGE


@pytest.mark.parametrize("name", [tool.name for tool in builtin_tools()])
def test_every_tool_has_a_section(name: str) -> None:
    """For what the table cannot say."""
    assert f"\n## `{name}`\n" in PAGE
