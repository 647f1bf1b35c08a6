"""A run of another agent's program with `-p`, watched in a console: its words once, and Escape stops it."""

from collections.abc import Iterator

import pytest

from tests.cli.fake_claude import DONE, INIT, FakeClaude, called, returned, said
from tests.cli.support import running_sessions, until
from tests.views.console.e2e.support import ESCAPE, Person

pytestmark = pytest.mark.slow


@pytest.fixture
def program(person: Person, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeClaude]:
    claude = FakeClaude(person.folder, monkeypatch)
    steps = (called("t1", "make all"), "WAIT go", returned("t1", "made it"), said("Last words."), "WAIT end")
    claude.plays(INIT, said("First words."), *steps, DONE)
    yield claude
    claude.close()


def test_it_is_watched_from_the_middle_to_the_end(person: Person, program: FakeClaude) -> None:
    """What was said before and what comes stands there once. A prompt is refused, and stays in the editor."""
    run = program.started("-v")
    until(running_sessions, "the host")
    screen = person.opens("attach", running_sessions()[0]["id"], ready=False)
    screen.sees("First words.", "make all", "escape stop", "claude their-model")
    screen.says("and another thing")
    screen.sees("takes no other prompt", "resume it: sightline --resume")
    screen.sees(" and another thing")
    program.go()
    screen.sees("made it", "Last words.")
    screen.once("First words.", "make all", "made it", "Last words.")
    program.go("end")
    screen.sees("The session has stopped")
    screen.once("First words.", "make all", "made it", "Last words.")
    out, _ = run.communicate(timeout=60)
    assert (run.returncode, out.count(b"words.")) == (0, 2)


def test_escape_in_a_console_stops_it(person: Person, program: FakeClaude) -> None:
    """As Ctrl+C does where it was started."""
    run = program.started()
    id = until(running_sessions, "the host")[0]["id"]
    screen = person.opens("attach", id, ready=False)
    screen.sees("First words.", "escape stop")
    screen.press(ESCAPE)
    _, err = run.communicate(timeout=60)
    assert run.returncode == 130
    assert f"Resume with: sightline --resume {id}".encode() in err
    screen.sees("stopped")
