"""The made-up provider in the registry, its CLI, and the promise that none of its processes outlives a test."""

from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from sightline.exec import _orphans
from sightline.providers import Provider, get_provider
from sightline.providers._registry import _MODULES

from .fake_cli import Cli, wait_for


@pytest.fixture
def parrot(monkeypatch: pytest.MonkeyPatch) -> Provider:
    """The one line a sixth provider needs besides its module."""
    monkeypatch.setitem(_MODULES, "parrot", "tests.providers.parrot")
    return get_provider("parrot")


@pytest.fixture
def cli(parrot: Provider, tmp_path: Path) -> Iterator[Cli]:
    cli = Cli(tmp_path)
    before = set(psutil.Process().children(recursive=True))  # an emulator stays for the tests that need one
    yield cli

    def none_left() -> bool:
        _orphans.collect()
        return not cli.processes() and set(psutil.Process().children()) <= before

    try:
        wait_for(none_left, "no process left")
    finally:
        for process in cli.processes():
            process.kill()
