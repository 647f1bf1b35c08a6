"""A workspace as the tools find one."""

from pathlib import Path

import pytest

from sightline.tools import ToolContext
from tests.tools.support import make_context


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    return make_context(tmp_path)
