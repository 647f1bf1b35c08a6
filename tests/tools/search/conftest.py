"""A small workspace, searched with ripgrep and without."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.tools import Outcome, ToolContext
from sightline.tools.files import _ripgrep
from sightline.tools.search import SearchTool
from tests.tools.support import make_context, run

Search = Callable[..., Awaitable[Outcome]]


@pytest.fixture(params=["rg", "no rg"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Every test that uses it runs with ripgrep, and with none to be found."""
    if request.param == "no rg":
        monkeypatch.setattr(_ripgrep, "program", lambda: None)
    return str(request.param)


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    context = make_context(tmp_path)
    work = context.cwd
    (work / "src").mkdir()
    (work / "src" / "app.py").write_text("import os\n\ndef login():\n    pass\n\nlogin()\nend\n")
    (work / "src" / "util.ts").write_text("function login() {}\nconst x = `${platform}`\n")
    (work / "docs").mkdir()
    (work / "docs" / "guide.md").write_text("How to login\n")
    (work / ".hidden").write_text("login hidden\n")
    return context


@pytest.fixture
def search(context: ToolContext) -> Search:
    async def search(pattern: str, paths: str | list[str] = ".", **args: Any) -> Outcome:
        return await run(SearchTool(), context, pattern=pattern, paths=paths, **args)

    return search
