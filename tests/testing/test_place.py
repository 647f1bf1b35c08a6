"""The neutral place real CLIs run in."""

import os
import subprocess
import tomllib
from pathlib import Path

import pytest

from sightline.testing.place import prepare_place

URL = "http://127.0.0.1:9"

pytestmark = pytest.mark.needs("git")


def test_the_project_works(tmp_path: Path) -> None:
    """The demo project runs, and is a clean git repository."""
    project = prepare_place(tmp_path, URL).project
    run = subprocess.run(["python3", "src/app.py"], cwd=project, capture_output=True, text=True, check=True)
    status = subprocess.run(["git", "status", "--short"], cwd=project, capture_output=True, text=True, check=True)
    assert run.stdout == "hello 15\n"
    assert status.stdout == ""


@pytest.mark.parametrize("provider", ["claude", "codex", "gemini", "opencode", "openai_compatible"])
def test_the_environment_is_made_up_not_inherited(
    tmp_path: Path, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of the caller's environment gets in, and the home is not the caller's."""
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "secret")
    environment = prepare_place(tmp_path, URL).environment(provider)
    assert "ANTHROPIC_AUTH_TOKEN" not in environment
    assert environment["HOME"] == str(tmp_path / "home")
    assert environment["HTTPS_PROXY"] == URL
    assert environment["HOME"] != os.environ["HOME"]


def test_codex_is_pointed_at_the_stand_in(tmp_path: Path) -> None:
    """Its settings are readable and name the stand-in's address and the project."""
    prepare_place(tmp_path, URL)
    config = tomllib.loads((tmp_path / "home/.codex/config.toml").read_text())
    assert config["model_providers"]["standin"]["base_url"] == f"{URL}/v1"
    assert config["projects"] == {str(tmp_path / "project"): {"trust_level": "trusted"}}
