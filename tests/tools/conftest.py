"""What the program keeps is beside a test's folder and not in it: tests look at everything a tool leaves there."""

import pytest


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path_factory.mktemp("home")))
