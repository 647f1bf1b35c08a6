"""What extensions ask with `ui.select`, `confirm`, `input` and `editor`; and the two dialogs of the console's own."""

from typing import Any

import pytest

from sightline.tty import Paste
from sightline.views.console.dialogs import LeavingDialog, RunningDialog, RunningSession, dialog_for
from tests.views.console.dialogs.support import HOSTILE, WIDTHS, Bench, check_rows, coloured, drawing


def dialog(kind: str, title: str = "Tell me", choices: list[str] | None = None, **details: Any) -> dict[str, Any]:
    shape = {"ui": {"kind": kind}, "extension": "games", **details}
    return {"what": "dialog", "text": title, "choices": choices or [], "agent": "", "details": shape}


def bench(asked: dict[str, Any], **options: Any) -> Bench:
    return Bench(dialog_for(asked, drawing(**options)))


def test_select() -> None:
    """The text that was chosen."""
    shown = bench(dialog("select", "Which?", ["one", "two"], message="Choose well."))
    assert "Which?" in shown.text()
    assert "Choose well." in shown.text()
    assert shown.press("down", "enter").answer == {"value": "two"}


def test_a_long_list_is_found_by_its_letters() -> None:
    """A short one is not: there letters mean nothing."""
    shown = bench(dialog("select", choices=[f"item {number}" for number in range(40)]))
    assert shown.type("39").press("enter").answer == {"value": "item 39"}


@pytest.mark.parametrize(
    ("keys", "answer"), [(["y"], True), (["n"], False), (["enter"], True), (["down", "enter"], False)]
)
def test_confirm(keys: list[str], answer: bool) -> None:
    """Yes or no, by letter or from the list."""
    assert bench(dialog("confirm", "Sure?")).press(*keys).answer == {"value": answer}


def test_input() -> None:
    """One line, which may be there already."""
    shown = bench(dialog("input", "Name?", text="Ada", placeholder="a name"))
    assert shown.type(" L").press("enter").answer == {"value": "Ada L"}
    assert "a name" in bench(dialog("input", "Name?", placeholder="a name")).text()


def test_editor() -> None:
    """Many lines; escape gives it up, and what was pasted stays whole."""
    shown = bench(dialog("editor", "Write", text="one"))
    shown.press("ctrl+j").type("two")
    shown.dialog.handle_input(Paste("\nthree"))
    assert shown.press("enter").answer == {"value": "one\ntwo\nthree"}


@pytest.mark.parametrize("kind", ["select", "confirm", "input", "editor"])
@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
def test_closing_answers_none(kind: str, key: str) -> None:
    """Whoever asked goes on."""
    assert bench(dialog(kind, choices=["a"])).press(key).answer == {"value": None}


@pytest.mark.parametrize("key", ["enter", "escape"])
def test_what_is_not_known_says_so_and_can_be_closed(key: str) -> None:
    """Whoever asked goes on."""
    shown = bench(dialog("hologram", name="x"))
    assert "does not know how to show x" in shown.text()
    assert shown.press(key).answer == {"value": None}


LEAVING = [(["enter"], "keep"), (["down", "enter"], "stop"), (["up", "enter"], None), (["escape"], None)]


@pytest.mark.parametrize(("keys", "answer"), LEAVING)
def test_leaving_while_something_goes_on(keys: list[str], answer: str | None) -> None:
    """Keep it running, stop it, or stay."""
    shown = Bench(LeavingDialog("the agent is working", drawing()))
    assert "The agent is working." in shown.text()
    assert shown.press(*keys).answer == answer


def test_a_session_runs_here_already() -> None:
    """Go on with it, begin another, or look for one."""
    sessions = [RunningSession("s-1", "mend the build", "working for 3 m"), RunningSession("s-2", "", "waits for you")]
    assert Bench(RunningDialog(sessions[:1], drawing())).press("enter").answer == ("attach", "s-1")
    shown = Bench(RunningDialog(sessions, drawing()))
    assert "2 sessions are open in this folder" in shown.text()
    assert "waits for you" in shown.text()
    assert shown.press("down", "enter").answer == ("attach", "s-2")
    assert Bench(RunningDialog(sessions, drawing())).press("down", "down", "enter").answer == ("new", "")
    assert Bench(RunningDialog(sessions, drawing())).press("up", "enter").answer == ("pick", "")
    assert Bench(RunningDialog(sessions, drawing())).press("escape").answer is None


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", ["select", "confirm", "input", "editor", "nonsense"])
def test_hostile_text_does_nothing(kind: str, width: int) -> None:
    """In the title, the message, the choices and the text to begin with."""
    asked = dialog(
        kind, HOSTILE, [HOSTILE, "日本語" * 30], message=HOSTILE * 9, text=HOSTILE, placeholder=HOSTILE, name=HOSTILE
    )
    made = dialog_for(asked, drawing(theme=coloured()))
    made.done = lambda answer: None
    check_rows(made, width)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_consoles_own_fit(width: int) -> None:
    """At every width, with any title."""
    for made in (LeavingDialog(HOSTILE, drawing()), RunningDialog([RunningSession("s", HOSTILE, HOSTILE)], drawing())):
        made.done = lambda answer: None
        check_rows(made, width)
