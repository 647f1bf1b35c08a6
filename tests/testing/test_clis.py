"""Installing the real CLIs: what is wanted, and what is said when it cannot be done."""

from pathlib import Path

import pytest

from sightline.testing import clis


def test_every_provider_with_a_cli_is_pinned() -> None:
    """The versions are those the providers were tested with."""
    assert {name: (cli.package, cli.tested) for name, cli in clis.pinned().items()} == {
        "claude": ("@anthropic-ai/claude-code", "2.1.197"),
        "codex": ("@openai/codex", "0.166.0"),
        "gemini": ("@google/gemini-cli", "0.61.0"),
        "opencode": ("opencode-ai", "1.18.33"),
    }


def test_a_machine_without_node_is_told_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names what is missing and which version is needed."""
    monkeypatch.setattr(clis, "cache_folder", lambda: tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(clis.CliError, match="node is not installed; the agent CLIs need node 20"):
        clis.install(lambda line: None)


def test_a_complete_cache_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With every CLI at its version nothing is installed, so neither node nor a network is needed."""
    monkeypatch.setattr(clis, "cache_folder", lambda: tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "ready.txt").write_text("".join(f"{cli.package}@{cli.tested}\n" for cli in clis.pinned().values()))
    said: list[str] = []
    clis.install(said.append)
    assert said == [f"agent CLIs: all 4 installed in {tmp_path}"]


def test_an_interrupted_installation_is_not_taken_for_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Packages that are there but were not set up to the end are still missing."""
    monkeypatch.setattr(clis, "cache_folder", lambda: tmp_path)
    for cli in clis.pinned().values():
        (tmp_path / "node_modules" / cli.package).mkdir(parents=True)
    assert list(clis.missing()) == ["claude", "codex", "gemini", "opencode"]
