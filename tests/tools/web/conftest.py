from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sightline.tools import ToolContext
from tests.tools.support import make_context
from tests.tools.web.server import Server, serving


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with serving() as running:
        yield running


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    """One that may read this machine."""
    return make_context(tmp_path, web={"private_hosts": True, "timeout": 10})


@pytest.fixture
def strict(tmp_path: Path) -> ToolContext:
    """One as it is by default."""
    return make_context(tmp_path)
