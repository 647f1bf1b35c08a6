"""Terminals, consoles and hosts that go away: the work goes on, and whoever comes sees the same."""

import asyncio
import os
import re
import signal

import pytest

from sightline import __version__
from sightline.host import Stop, connect
from tests.cli.support import running_sessions, until
from tests.views.console.e2e.support import CTRL_D, ENTER, Person, bash, text
from tests.views.console.weather.support import IN_XTERM, watched

pytestmark = [pytest.mark.slow, IN_XTERM]

GONE = {
    "the terminal is closed": lambda screen: screen.hang_up(),
    "SIGHUP": lambda screen: os.kill(screen.pid, signal.SIGHUP),
    "SIGTERM": lambda screen: os.kill(screen.pid, signal.SIGTERM),
    "kill -9": lambda screen: os.kill(screen.pid, signal.SIGKILL),
}


def waits(person: Person) -> str:
    """A model that runs a command and a job until `go` is there."""
    go = person.project / "go"  # a sandboxed command sees nothing else of /tmp
    wait = f"until [ -e {go} ]; do sleep 0.05; done"
    job = {"tool": "bash", "args": {"command": f"echo job-began; {wait}; touch job-over", "async": True}}
    return person.script(
        [text("First words."), job],
        [bash(f"printf 'count-%02d\\n' 1 2 3; {wait}; printf 'count-%02d\\n' 4")],
        [text("The last words.")],
    )


@pytest.mark.parametrize("gone", GONE)
def test_the_work_goes_on_and_attaching_shows_the_same(person: Person, gone: str, tmp_path) -> None:
    """Host, command and job live; another screen has the picture, the draft, and the end of it all."""
    screen = person.opens("--model", waits(person))
    screen.says("start")
    screen.sees("count-03", "escape stop", "1 job")
    screen.press("half a thought")
    screen.sees("half a thought")
    drafts = tmp_path / "sightline-home" / "drafts"
    until(lambda: any("half a thought" in file.read_text() for file in drafts.glob("*")), "the draft to be kept")
    before = shown(screen)
    (session,) = until(running_sessions, "the session")
    GONE[gone](screen)
    until(lambda: screen._glass.program.process.poll() is not None, "the console to end")
    other = person.opens("attach", session["id"])
    other.sees("count-03", "escape stop", "half a thought", "1 job")
    assert shown(other) == before
    (person.project / "go").touch()
    other.sees("The last words.")
    until((person.project / "job-over").exists, "the job to end")
    other.once("› start", "First words.", "count-01", "count-04", "The last words.")
    watched(other)


def shown(screen) -> list[str]:
    """The conversation, without the greeting of a new one and without how long things take."""
    rows = screen.tape()
    begin = rows.index("› start")
    end = next(number for number, row in enumerate(rows) if "escape stop" in row)
    return [re.sub(r"  \d+ s$", "", row) for row in rows[begin:end] if "no output for" not in row]


def test_answered_in_one_console_it_closes_in_the_other(person: Person) -> None:
    """Both ask; the second answers; the first has its editor back, and both show what came of it."""
    outside = person.folder / "outside.txt"
    write = {"tool": "write", "args": {"path": str(outside), "content": "written\n"}}
    first = person.opens("--model", person.script([write], [text("It was written.")]))
    first.says("write it")
    first.sees("Allow this?")
    (session,) = until(running_sessions, "the session")
    second = person.opens("attach", session["id"])
    second.sees("Allow this?")
    second.answers("y", lambda rows: not any("Allow this?" in row for row in rows))
    for screen in (second, first):
        screen.sees_no("Allow this?")
        screen.sees("It was written.")
    first.press("my word")
    first.sees("my word")
    assert outside.read_text() == "written\n"


def test_a_question_outlives_the_console_it_was_asked_in(person: Person) -> None:
    """Nobody is there for a while; whoever comes is asked, and the answer counts."""
    outside = person.folder / "outside.txt"
    write = {"tool": "write", "args": {"path": str(outside), "content": "written\n"}}
    screen = person.opens("--model", person.script([write], [text("It was written.")]))
    screen.says("write it")
    screen.sees("Allow this?")
    (session,) = until(running_sessions, "the session")
    os.kill(screen.pid, signal.SIGKILL)
    until(lambda: screen._glass.program.process.poll() is not None, "the console to end")
    other = person.opens("attach", session["id"])
    other.sees("Allow this?")
    other.answers("y", lambda rows: not any("Allow this?" in row for row in rows))
    other.sees("It was written.")
    assert outside.read_text() == "written\n"


def test_a_host_of_another_version_is_told(person: Person, tmp_path, monkeypatch) -> None:
    """Which is which, and what to do."""
    screen = person.opens("--model", person.script([bash("echo began; sleep 60")]))
    screen.says("start")
    screen.sees("│ began")
    screen.press("/detach", ENTER)
    screen.ended()
    (session,) = until(running_sessions, "the session")
    newer = tmp_path / "newer"
    newer.mkdir()
    (newer / "sitecustomize.py").write_text("import sightline\n\nsightline.__version__ = '99.0'\n")
    monkeypatch.setenv("PYTHONPATH", str(newer))
    other = person.opens("attach", session["id"])
    other.sees(f"this session runs version {__version__}", "this console is version 99.0", "│ began")


def test_leaving_one_of_two_consoles_leaves_the_other_alone(person: Person) -> None:
    """The session goes on for whoever is still there, and that is said to the one who leaves."""
    first = person.opens("--model", person.script([text("Said.")], [text("And on.")]))
    first.says("hello")
    first.sees("Said.")
    (session,) = until(running_sessions, "the session")
    second = person.opens("attach", session["id"])
    second.sees("Said.")
    second.press(CTRL_D)
    assert second.ended() == 0
    assert b"Still open in another console" in second._glass.program.output
    first.says("go on")
    first.sees("And on.")


def test_stopping_it_elsewhere_is_told_here(person: Person) -> None:
    """Somebody stops the session; the console says so and can resume it."""
    screen = person.opens("--model", person.script([text("Said.")], [text("And on.")]))
    screen.says("hello")
    screen.sees("Said.")
    (session,) = until(running_sessions, "the session")
    asyncio.run(_stop(session["id"]))
    screen.sees("The session has stopped", "the session was ended elsewhere")
    screen.press(ENTER)
    screen.sees_no("The session has stopped")
    screen.says("go on")
    screen.sees("And on.")


async def _stop(session: str) -> None:
    client = await connect(session)
    assert (await client.submit(Stop())).ok
    client.close()
