"""Rules for the whole suite: each test has its own folders, any order will do, and no skip goes unexplained."""

import os
import signal
import tomllib
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from sightline.testing.emulators import EmulatorMissing
from tests import needs

_WORKERS_PER_CORE = 3  # tests wait most of their time: for processes, terminals, deadlines

# How long an example takes says something about the machine only.
settings.register_profile("sightline", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("sightline")

# A run started in the background (`nohup make test &`) is told to ignore these, and so would be every program that a
# test starts and then ends with them.
for _number, _usual in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGHUP, signal.SIG_DFL),
    (signal.SIGQUIT, signal.SIG_DFL),
):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _usual)

_skipped: list[str] = []
_missing: Counter[str] = Counter()
_other_skips: Counter[str] = Counter()


def pytest_xdist_auto_num_workers() -> int:
    return _WORKERS_PER_CORE * len(os.sched_getaffinity(0))


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    """Whatever a test makes the program keep stays in the test's own folder, which is empty when it starts."""
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "sightline-home"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.setenv("TMUX_TMPDIR", str(tmp_path / "runtime"))


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
    with_needs = (name for mark in item.iter_markers("needs") for name in mark.args)
    return (yield from _skipped_where_missing(item, with_needs))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    return (yield from _skipped_where_missing(item))


def _skipped_where_missing(item, programs=()):
    """A machine without node, tmux or a browser runs what can run there."""
    try:
        needs.require(programs)
        return (yield)
    except (EmulatorMissing, needs.Missing) as missing:
        item.user_properties.append(("missing", missing.program))
        pytest.skip(str(missing))


def pytest_runtest_logreport(report):
    _note_skip(report)


def pytest_collectreport(report):
    _note_skip(report)


def _note_skip(report):
    if not report.skipped or hasattr(report, "wasxfail"):
        return
    _skipped.append(report.nodeid)
    missing = dict(getattr(report, "user_properties", ())).get("missing")
    if missing:
        _missing[missing] += 1
    else:
        _other_skips[report.longrepr[2].removeprefix("Skipped: ")] += 1


def pytest_terminal_summary(terminalreporter, config):
    """The last lines before the totals: how to run in this order again, and what this machine could not test."""
    seed = config.getoption("randomly_seed", None)
    if isinstance(seed, int):
        terminalreporter.write_line(f"order: make test SEED={seed}, or pytest --randomly-seed={seed}")
    if _skipped:
        terminalreporter.write_line(needs.summary(_missing, _other_skips))


def pytest_sessionfinish(session, exitstatus):
    """In CI a skip must be listed in skips.toml, with its reason."""
    if not os.environ.get("SIGHTLINE_STRICT_SKIPS") or hasattr(session.config, "workerinput"):
        return
    listed = tomllib.loads((Path(__file__).parent / "skips.toml").read_text()).get("skip", [])
    unexplained = [test for test in _skipped if not any(entry["test"] == test and entry["reason"] for entry in listed)]
    if unexplained:
        print("\nskipped without a reason in tests/skips.toml:", *unexplained, sep="\n  ")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
