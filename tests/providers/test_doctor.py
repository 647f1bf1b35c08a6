"""What is installed, in which version, and what to do about what is not."""

import time

import pytest

from sightline.providers import Provider
from sightline.providers import _registry as registry
from sightline.providers.running import _doctor as doctor

from .fake_cli import Cli


@pytest.fixture
def only_parrots(parrot: Provider, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Nothing in the registry and on the PATH but the made-up provider."""
    monkeypatch.setattr(registry, "_MODULES", {"parrot": registry._MODULES["parrot"]})
    monkeypatch.setenv("PATH", str(cli.programs))
    return cli


async def test_an_installed_cli_is_found_with_its_version(only_parrots: Cli):
    """Where it is, what it says it is, and which version was tested."""
    only_parrots.write('print("parrot-cli v1.4.0-beta.2 (Parrot)")')
    (status,) = await doctor.survey()
    assert (status.path, status.version, status.tested) == (str(only_parrots.binary), "1.4.0-beta.2", "1.2.3")
    assert (status.problem, status.hint) == ("", "")


async def test_a_missing_cli_says_how_to_install_it(only_parrots: Cli):
    """The very command."""
    (status,) = await doctor.survey()
    assert (status.path, status.version) == (None, None)
    assert (status.problem, status.hint) == ("not installed", "npm install -g @birds/parrot")


@pytest.mark.parametrize("body", ["sys.exit(1)", 'print("1.2.3"); sys.exit(1)', 'print("hello")', "forever()"])
async def test_a_cli_that_cannot_say_its_version_is_a_problem(
    only_parrots: Cli, monkeypatch: pytest.MonkeyPatch, body: str
):
    """It fails, talks of something else, or does not answer in time."""
    monkeypatch.setattr(doctor, "_SECONDS_FOR_A_VERSION", 0.5)
    only_parrots.write(body)
    (status,) = await doctor.survey()
    assert status.version is None
    assert status.problem == "`parrot --version` does not work"


async def test_the_clis_are_asked_all_at_once(only_parrots: Cli, monkeypatch: pytest.MonkeyPatch):
    """Four slow CLIs take as long as one."""
    for name in "abcd":
        monkeypatch.setitem(registry._MODULES, name, "tests.providers.parrot")
    only_parrots.write('time.sleep(1); print("1.2.3")')
    began = time.monotonic()
    assert [status.version for status in await doctor.survey()] == ["1.2.3"] * 5
    assert time.monotonic() - began < 3


async def test_every_provider_there_is_has_a_line():
    """In the registry's order."""
    statuses = await doctor.survey()
    assert [status.name for status in statuses] == list(registry._MODULES)


async def test_a_server_that_nobody_named_is_a_problem(monkeypatch: pytest.MonkeyPatch):
    """A provider without a CLI is ready once it knows where to ask."""
    for name in ("OPENAI_BASE_URL", "SIGHTLINE_OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    status = {status.name: status for status in await doctor.survey()}["openai_compatible"]
    assert status.problem == "no server is set"
    assert "OPENAI_BASE_URL" in status.hint
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    status = {status.name: status for status in await doctor.survey()}["openai_compatible"]
    assert status.problem == ""
