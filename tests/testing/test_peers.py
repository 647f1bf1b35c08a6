"""Agents that are only compared with: what is wanted, and what is said when one cannot be had."""

from pathlib import Path

import pytest

from sightline.testing import clis, peers


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clis, "cache_folder", lambda: tmp_path / "clis")
    monkeypatch.setenv("PATH", str(tmp_path))


def test_one_that_was_installed_to_its_end_is_left_alone() -> None:
    """Neither node nor a network is needed then."""
    ready = peers.cache_folder("oh-my-pi") / "ready.txt"
    ready.parent.mkdir(parents=True)
    ready.write_text("\n".join(peers.PEERS["oh-my-pi"].packages))
    said: list[str] = []
    peers.install("oh-my-pi", said.append)
    assert (peers.missing("oh-my-pi"), said) == ("", ["oh-my-pi: installed"])


def test_another_version_is_not_the_one_that_is_wanted() -> None:
    """What is compared with is what is named."""
    ready = peers.cache_folder("pi") / "ready.txt"
    ready.parent.mkdir(parents=True)
    ready.write_text("@mariozechner/pi-coding-agent@0.1.0")
    assert peers.missing("pi")


def test_one_that_cannot_be_installed_is_left_out_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is no failure: the others are still compared with."""
    monkeypatch.setattr("sys.argv", ["peers", "install"])
    assert peers.main() == 0
    assert "pi: not installed: node is not installed" in capsys.readouterr().err
    assert peers.missing("pi").startswith("node is not installed")
