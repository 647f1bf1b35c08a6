"""A neutral place per test, and the certainty that the real CLIs are there."""

from pathlib import Path

import pytest
from lab import Lab

from sightline.testing import clis

CLI_PROVIDERS = ["claude", "codex", "gemini", "opencode"]


@pytest.fixture(scope="session", autouse=True)
def installed_clis() -> None:
    """Live tests fail, rather than skip, where the CLIs are missing."""
    missing = clis.missing()
    if missing:
        pytest.fail(f"not installed: {', '.join(missing)}; run `make live`, which installs them", pytrace=False)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The CLIs are installed in the project's own folder, and no program is run from the folder one works in."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(params=CLI_PROVIDERS)
def provider(request: pytest.FixtureRequest) -> str:
    """Each provider that is a CLI."""
    name: str = request.param
    return name


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)
