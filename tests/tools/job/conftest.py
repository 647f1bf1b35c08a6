import pytest


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is remembered and where sockets are is this test's own."""
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path_factory.mktemp("home")))
