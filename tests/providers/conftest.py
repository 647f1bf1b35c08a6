"""The made-up provider in the registry, its CLI, and the promise that none of its processes outlives a test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sightline.providers import Provider, get_provider
from sightline.providers._registry import _MODULES
from tests.exec.running import descendants, started_since

from .fake_cli import Cli, wait_for


@pytest.fixture
def parrot(monkeypatch: pytest.MonkeyPatch) -> Provider:
    """The one line a sixth provider needs besides its module."""
    monkeypatch.setitem(_MODULES, "parrot", "tests.providers.parrot")
    return get_provider("parrot")


@pytest.fixture
def cli(parrot: Provider, tmp_path: Path) -> Iterator[Cli]:
    cli = Cli(tmp_path)
    before = descendants()
    yield cli
    try:
        wait_for(lambda: not cli.processes() and not started_since(before), "no process left")
    finally:
        for process in cli.processes():
            process.kill()
