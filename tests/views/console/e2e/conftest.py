"""A person before a terminal, and nothing left behind by them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import needs
from tests.cli.support import stop_hosts
from tests.views.console.e2e.support import Person


@pytest.fixture(params=["xterm", "tmux"])
def person(request, own_home, tmp_path: Path, monkeypatch) -> Iterator[Person]:
    monkeypatch.setenv("EDITOR", "false")
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "TMUX", "TMUX_PANE", "VISUAL"):
        monkeypatch.delenv(name, raising=False)
    # No server of this machine is asked for models.
    monkeypatch.setenv("SIGHTLINE_MODELS_DISCOVER", "false")
    needs.require(["tmux" if request.param == "tmux" else "node"])
    one = Person(tmp_path, request.param)
    monkeypatch.chdir(one.project)
    yield one
    one.close()
    stop_hosts()
