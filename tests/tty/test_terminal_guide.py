"""The pages for those who build on the engine are true: their programs run, and their tables are the code's."""

import asyncio
import pydoc
import re
from pathlib import Path

import pytest

import sightline.tty
import sightline.tty.components
from sightline.testing.emulators import open_emulator
from sightline.tty import PLAIN, Application, Bindings, Capabilities, Display, Key, Paste
from sightline.tty.components import BlockColumn, Editor, Input, Markdown, SelectList, TextComponent
from sightline.tty.input._bindings import DEFAULT_ACTIONS
from tests.tty.pty_child import on_pty, restored

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "internals" / "terminal-programs.md").read_text()
GUIDE, _, _REST = PAGE.partition("## Keys of the terminal engine")
KEYS = _REST.partition("## The gallery")[0]


def snippets(page):
    return re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def guide():
    """What the guide's programs define, in the order they stand there."""
    namespace = {"__name__": "guide"}
    for snippet in snippets(GUIDE):
        exec(compile(snippet, "terminal-programs.md", "exec"), namespace)
    return namespace


@pytest.fixture
def emulator():
    opened = open_emulator("xterm", columns=40, rows=10)
    yield opened
    opened.close()


@pytest.fixture
async def application(guide, emulator):
    """An application as the guide tests one."""
    display = Display(guide["Glass"](emulator), Capabilities())
    return Application(display, PLAIN, asyncio.get_running_loop(), Bindings())


def shown(application, emulator):
    application.display.render_now()
    return emulator.tape().text


def test_the_smallest_program_runs_as_it_stands_there():
    """On a real pty: what is entered is shown, Ctrl+D leaves, the terminal is as before."""
    takes_the_terminal = "import fcntl, termios\nfcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
    with on_pty(snippets(GUIDE)[0], prologue=takes_the_terminal) as child:
        child.until(b"Say something")
        child.type(b"hello\r")
        child.until(b"hello")
        child.type(b"\x04")
        assert child.wait() == 0
        assert child.attributes() == child.before
        assert restored(child.written)


async def test_the_guides_own_test_passes(guide):
    """The test it shows is one."""
    await guide["test_what_is_entered_is_shown_once"]()


async def test_an_answer_that_streams_is_shown_once(guide, application, emulator):
    """The last line waits until the text is finished: that is why both are."""
    transcript = BlockColumn()
    application.display.add(transcript)

    async def pieces():
        for number in range(30):
            yield f"- point {number}\n"
        yield "\n42"
        assert not any("42" in row for row in shown(application, emulator))

    await guide["answer"](application.display, transcript, PLAIN, pieces())
    rows = shown(application, emulator)
    assert [sum(row.endswith(f"point {number}") for row in rows) for number in range(30)] == [1] * 30
    assert rows[-1].strip() == "42"


async def test_a_spinner_turns_until_it_is_stopped(guide, application, emulator):
    """With what the guide hands it."""
    loader = guide["spinner"](application, "working")
    application.display.add(loader)
    assert "working" in shown(application, emulator)[0]
    loader.stop()


async def test_a_menu_in_a_box_gets_the_keys_and_gives_the_focus_back(guide, application, emulator):
    """Down and enter choose; afterwards whoever had the focus has it."""
    below, said = Editor(), []
    application.display.add(below)
    application.display.set_focus(below)
    guide["ask"](application, "Go on?", ["yes", "no"], said.append)
    assert any("Go on?" in row for row in shown(application, emulator))
    application.display.handle_input(Key("down"))
    application.display.handle_input(Key("enter"))
    assert said == ["no"]
    assert application.display.focus.component is below
    assert not any("Go on?" in row for row in shown(application, emulator))


def test_keys_of_ones_own(guide):
    """The overrides are good ones, and the keys are recognised."""
    assert guide["bindings"].problems == []
    assert guide["wants_help"](Key("f1"))
    assert guide["wants_help"](Key("h", ctrl=True, shift=True))
    assert not guide["wants_help"](Paste("f1"))


async def test_what_goes_wrong_in_a_task_ends_the_program(guide, application):
    """At once, not when somebody happens to ask for the result."""

    class Lost(TextComponent):
        def set_text(self, text):
            raise LookupError("lost")

    guide["begin"](application, Lost(""))
    with pytest.raises(LookupError, match="lost"):
        await asyncio.wait_for(application.ended(), 20)


async def test_what_is_done_beside_the_window_is_shown(guide, application, emulator):
    """Until the program ends, which cancels it."""
    text = TextComponent("")
    application.display.add(text)
    guide["begin"](application, text)
    await asyncio.sleep(0)
    assert shown(application, emulator) == ["0 done"]
    await application.cancel_tasks()


async def test_a_component_of_ones_own_keeps_the_contract(guide, application, emulator):
    """The same object while nothing changed; a key that means nothing is not taken."""
    tally = guide["Tally"](PLAIN)
    application.display.add(tally)
    application.display.set_focus(tally)
    assert tally.render(40) is tally.render(40)
    assert not tally.handle_input(Key("x"))
    application.display.handle_input(Key("+", text="+"))
    assert shown(application, emulator) == ["pressed 1 times"]
    assert emulator.cursor() == (len("pressed 1 times"), 0)


async def test_a_log_is_on_the_tape_once_and_keeps_no_rows(guide, application, emulator):
    """Also after a resize, which writes all of it again."""
    log = guide["Log"]()
    application.display.add(log)
    application.display.add(TextComponent("below"))
    for number in range(100):
        log.add(f"line {number}")
        if number % 7 == 0:
            application.display.render_now()
    whole = [*(f"line {number}" for number in range(100)), "below"]
    assert shown(application, emulator) == whole
    assert len(log.render(40)) <= 10
    emulator.resize(30, 6)
    application.display.resized()
    assert shown(application, emulator) == whole


def test_finishing_a_text_shows_what_could_have_become_something_else():
    """The guide's example of why a text is finished."""
    words = Markdown("42")
    assert list(words.render(20)) == []
    words.finish()
    assert list(words.render(20)) == ["42"]


def test_the_page_of_keys_is_the_table_in_the_code():
    """Every action of every scope with its default keys in order, and no other."""
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| .+ \|$", KEYS, re.MULTILINE)
    assert {name: tuple(re.findall(r"`(.+?)`", keys)) for name, keys in rows} == {
        name: action.keys for name, action in DEFAULT_ACTIONS.items()
    }
    assert len(rows) == len(DEFAULT_ACTIONS)


def test_the_page_of_keys_says_which_actions_nobody_listens_to():
    """As long as that is so."""
    sources = (ROOT / "src/sightline/tty").rglob("*.py")
    listening = "".join(path.read_text() for path in sources if path.name != "_bindings.py")
    deaf = [name for name in DEFAULT_ACTIONS if f'"{name}"' not in listening]
    assert re.findall(r"^\| `(\w+)` .*no component listens", KEYS, re.MULTILINE) == deaf


def test_the_example_of_the_page_of_keys_runs():
    """It asserts that its overrides have no problems."""
    [snippet] = snippets(KEYS)
    exec(snippet, {})


@pytest.mark.parametrize("package", [sightline.tty, sightline.tty.components])
def test_the_public_names_can_be_looked_up(package):
    """`dir`, completion and `help` show each of them, whether it has been used or not."""
    assert dir(package) == sorted(package.__all__)
    page = pydoc.plain(pydoc.render_doc(package))
    assert [name for name in package.__all__ if name not in page] == []


@pytest.mark.parametrize(
    ("component", "callbacks"),
    [
        (Editor, ["on_submit", "on_change", "on_escape", "on_external_editor", "request_render"]),
        (Input, ["on_submit", "on_change", "on_cancel"]),
        (SelectList, ["on_select", "on_highlight", "on_cancel"]),
    ],
)
def test_help_tells_what_can_be_called_back(component, callbacks):
    """With what each is called."""
    page = pydoc.plain(pydoc.render_doc(component))
    assert [name for name in callbacks if f"{name} = None" not in page] == []
