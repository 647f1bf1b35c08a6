"""Sessions that run, told apart: what each is about and how it stands, in `ps`, `sessions` and `attach`."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sightline.host import Hello
from sightline.views.plain._standing import standing_word
from tests.cli.support import SIGHTLINE, detached, running_sessions, sightline, until

pytestmark = pytest.mark.usefixtures("hosts")

PROMPTS = ("mend the tests", "write the page")


@pytest.mark.parametrize(
    ("facts", "word"),
    [
        ({}, "idle"),
        ({"running": 1}, "jobs running"),
        ({"running": 1, "busy": True}, "working"),
        ({"busy": True, "waiting": 1}, "waits for you"),
    ],
)
def test_how_a_session_stands(facts: dict[str, Any], word: str) -> None:
    """What needs the person most comes first."""
    assert standing_word(Hello("k3m9qz", "1", 1, **facts)) == word


def _working() -> int:
    """How many have begun to work: one that has not is not offered, since there is nothing in it."""
    return sum(host["title"] != "" and host["state"] == "working" for host in running_sessions())


@pytest.fixture
def working(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Two sessions whose agents are at work in this folder; their ids, the one that began last first."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    script = tmp_path / "script.json"
    script.write_text(json.dumps([[{"text": "x", "delay_ms": 3_600_000}]]))  # longer than the busiest machine needs
    runs = []
    for count, prompt in enumerate(PROMPTS, 1):
        command = [SIGHTLINE, "-p", prompt, "--model", f"scripted:{script}"]
        quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        runs.append(subprocess.Popen(command, **quiet))
        until(lambda count=count: _working() == count, "the session")
    yield [host["id"] for host in running_sessions()]
    for run in runs:
        run.terminate()
        run.wait(20)


def test_running_sessions_have_a_title_and_say_how_they_stand(working: list[str]) -> None:
    """The same word in both lists."""
    rows = sightline("ps").stdout.decode().splitlines()[1:]
    assert [row.split()[0] for row in rows] == working
    assert all(" ◌ working " in row for row in rows)
    assert [row.rpartition("  ")[2] for row in rows] == list(reversed(PROMPTS))
    assert [host["state"] for host in running_sessions()] == ["working", "working"]
    kept = sightline("sessions").stdout.decode().splitlines()[1:]
    assert sorted(row.split()[0] for row in kept) == sorted(working)
    assert all(" ◌ working " in row for row in kept)


def test_which_of_several_is_asked_with_what_tells_them_apart(working: list[str]) -> None:
    """Into a pipe, where nobody can choose."""
    error, first, second, hint = sightline("attach").stderr.decode().splitlines()
    assert error == "error: 2 sessions run in this folder:"
    assert [row.split()[:2] for row in (first, second)] == [[session, "working"] for session in working]
    assert (first.rpartition("  ")[2], second.rpartition("  ")[2]) == tuple(reversed(PROMPTS))
    assert hint == f"hint: name one: sightline attach {working[0]}"


def test_on_a_terminal_the_person_chooses(working: list[str], in_terminal: Any) -> None:
    """As in the console, which it is; leaving ends nothing."""
    terminal = in_terminal("attach")
    terminal.wait_for("Running here", *PROMPTS)
    terminal.press(b"\x03")
    assert terminal.wait() == 0
    until(lambda: len(running_sessions()) == 2, "the host that was not needed to go")
    assert [host["id"] for host in running_sessions()] == working


def test_a_session_of_commands_among_them_is_listed(working: list[str], in_terminal: Any) -> None:
    """The console cannot show it."""
    session = detached("exec sleep 60").partition("-")[0]
    terminal = in_terminal("attach")
    assert terminal.wait() == 2
    assert "3 sessions run in this folder:" in terminal.text
    assert f"{session}  jobs running" in terminal.text
