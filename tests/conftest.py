"""Rules for the whole suite: every file the program keeps is in a temporary folder, and no skip goes unexplained."""

import os
import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from sightline.testing.emulators import EmulatorMissing

# How long an example takes says something about the machine only.
settings.register_profile("sightline", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("sightline")

_skipped: list[str] = []


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    """Whatever a test makes the program keep stays in the test's own folder."""
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "sightline-home"))


@pytest.fixture(scope="module", autouse=True)
def nobody_left_unburied():
    """Hosts become children of this process when what they were forked from ends, and nobody else waits for them."""
    yield
    try:
        while (ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is not None:
            os.waitpid(ended.si_pid, os.WNOHANG)
    except ChildProcessError:
        pass


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    return (yield from _skipped_without_emulators())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    return (yield from _skipped_without_emulators())


def _skipped_without_emulators():
    """A machine without node or tmux runs what can run there."""
    try:
        return (yield)
    except EmulatorMissing as missing:
        pytest.skip(str(missing))


def pytest_runtest_logreport(report):
    if report.skipped:
        _skipped.append(report.nodeid)


def pytest_collectreport(report):
    if report.skipped:
        _skipped.append(report.nodeid)


def pytest_sessionfinish(session, exitstatus):
    """In CI a skip must be listed in skips.toml, with its reason."""
    if not os.environ.get("SIGHTLINE_STRICT_SKIPS"):
        return
    listed = tomllib.loads((Path(__file__).parent / "skips.toml").read_text()).get("skip", [])
    unexplained = [test for test in _skipped if not any(entry["test"] == test and entry["reason"] for entry in listed)]
    if unexplained:
        print("\nskipped without a reason in tests/skips.toml:", *unexplained, sep="\n  ")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
