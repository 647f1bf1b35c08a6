"""A desk to edit at."""

import pytest

from ..support import make_context
from .support import Desk


@pytest.fixture
def desk(tmp_path) -> Desk:
    return Desk(make_context(tmp_path))
