"""A provider's program that takes its time to start, seen and stopped as a person does."""

import stat

import pytest

from tests.cli.support import running_sessions, until
from tests.providers.fake_app_server import path_with
from tests.views.console.e2e.support import CTRL_D, ESCAPE, Person

pytestmark = pytest.mark.slow

_SILENT = """#!/bin/sh
echo $$ > "$(dirname "$0")/pid"
sleep 60
touch "$(dirname "$0")/worked"
"""


@pytest.mark.parametrize("person", ["xterm"], indirect=True)
def test_it_is_seen_and_stopped_and_leaving_asks(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """From Enter on there is a row with the key that stops it; Escape does, and Ctrl+D asks first."""
    programs = person.folder / "bin"
    programs.mkdir()
    codex = programs / "codex"
    codex.write_text(_SILENT)
    codex.chmod(codex.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", path_with(programs))
    screen = person.opens("--provider", "codex")
    screen.says("go")
    screen.sees("starting Codex · ", "escape stop", "enter steer · alt+enter queue")
    until((programs / "pid").exists, "its process")
    screen.press(ESCAPE)
    screen.sees("· stopped", "enter send")
    screen.sees_no("starting Codex")
    screen.says("leave now")
    screen.sees("starting Codex")
    screen.press(CTRL_D)
    screen.sees("Leave?")
    screen.press(ESCAPE)
    screen.sees_no("Leave?")
    screen.press(ESCAPE)
    screen.sees("enter send")
    screen.press(CTRL_D)
    screen.ended()
    until(lambda: not running_sessions(), "the end of the session")
    assert not (programs / "worked").exists()
