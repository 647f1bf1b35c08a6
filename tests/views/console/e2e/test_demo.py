"""`sightline demo` on a terminal: the agent begins, the person takes over."""

import os
import signal
from pathlib import Path

import psutil
import pytest

from sightline.paths import data_folder
from sightline.testing.standin import StandIn
from tests.views.console.e2e.support import CTRL_C, CTRL_D, ESCAPE, Person, Screen

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def own_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the demo makes is seen, and seen to be gone."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))


def has_shown(screen: Screen, text: str) -> None:
    """It may have left the screen again by now."""
    screen.until(lambda rows: any(text in row for row in screen.tape()), repr(text))


def test_the_demo_opens_the_console_and_the_person_takes_over(person: Person) -> None:
    """A project is mended, four agents work side by side, something long is built; then the editor is the person's."""
    screen = person.opens("demo", rows=40)
    screen.sees("The tests of this shop fail.", "@cart.py what does this do?")
    has_shown(screen, "✓ task parallel (3 tasks)  3 ok / 3")
    has_shown(screen, "✓ task Codex (second-opinion)  1 ok / 1")
    has_shown(screen, "✓ Build a faster build")
    screen.sees("packing part")
    screen.sees("All four tests pass.")
    screen.sees_no("escape stop")
    assert list(person.folder.glob("sightline-demo-*"))
    screen.sees("the demo's script is over, and there is no model to continue with")
    screen.sees("this folder is deleted when you leave")
    screen.says("!echo taken $((2 * 21)) over")
    screen.sees("│ taken 42 over")
    screen.says("thanks")
    screen.sees("! there is no model to continue with")
    screen.press(CTRL_C)
    screen.leaves()
    assert not list(person.folder.glob("sightline-demo-*"))


@pytest.mark.parametrize("person", ["xterm"], indirect=True)
def test_the_agents_of_the_demo_are_watched_at_work(person: Person) -> None:
    """Ours and another program's, which is marked as a recording; one works in a git worktree, and shows its merge."""
    screen = person.opens("demo", rows=40)
    has_shown(screen, "a faster build")
    screen.press("\x1ba")  # alt+a
    screen.sees("── Agents", "Tests: each test by itself", "Writer: a page about the shop")
    screen.sees("Codex: a second opinion (recorded)", "Codex (recorded)")
    screen.press("Build\r")
    screen.sees("Build: a faster build")
    screen.sees("✓ merge 1 file  +1 -1", "9 +     time.sleep(0.1)")
    screen.press("q")
    screen.sees("Agents")
    screen.press(ESCAPE)
    screen.sees("All four tests pass.")
    screen.leaves()


@pytest.mark.parametrize("person", ["xterm"], indirect=True)
def test_the_users_own_model_server_continues_the_demo(person: Person) -> None:
    """One of their settings, with the name they chose for it; the demo writes nothing into their home."""
    with StandIn.in_thread([]) as server:
        home = data_folder()
        home.mkdir()
        wanted = f'[models.servers."my.box"]\nbase_url = "{server.url}/v1"\nmodels = ["qwen"]\n'
        (home / "settings.toml").write_text(wanted)
        screen = person.opens("demo", rows=40)
        screen.sees("the demo's script is over; what you enter next goes to my.box/qwen")
        screen.says("and now?")
        screen.sees("The script is over.")  # the stand-in's own words
        screen.leaves()
        assert [(file.name, file.read_text()) for file in home.iterdir()] == [("settings.toml", wanted)]


@pytest.mark.parametrize("person", ["xterm"], indirect=True)
def test_who_leaves_the_demo_at_work_is_not_told_it_could_go_on(person: Person) -> None:
    """It is stopped, or stayed with."""
    screen = person.opens("demo", rows=40)
    screen.sees("escape stop")
    screen.press(CTRL_D)
    screen.sees("Leave?", "Stop it", "Stay")
    assert "Keep it running" not in "\n".join(screen.tape())
    screen.press("\r")
    screen.ended()
    assert not list(person.folder.glob("sightline-demo-*"))


@pytest.mark.parametrize("person", ["xterm"], indirect=True)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=["SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("seen", ["", "a faster build"], ids=["at once", "at work"])
def test_a_demo_that_is_told_to_end_leaves_nothing(person: Person, number: signal.Signals, seen: str) -> None:
    """Neither its folder nor the host that worked in it, whether that was there already or still on its way."""
    screen = person.opens("demo", rows=40, ready=False)
    screen.until(lambda rows: list(person.folder.glob("sightline-demo-*/home")), "the folder")
    if seen:
        screen.sees(seen)
    hosts = [process for process in psutil.process_iter(["cmdline"]) if str(person.folder) in str(process.info)]
    os.kill(screen.pid, number)
    assert screen.ended() == 128 + number
    assert not list(person.folder.glob("sightline-demo-*"))
    assert not [process for process in hosts if process.is_running() and process.status() != psutil.STATUS_ZOMBIE]
