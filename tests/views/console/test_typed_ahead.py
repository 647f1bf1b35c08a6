"""Keys and lines that were there before a question was: they are no answer to it."""

from collections.abc import Callable
from typing import Any

from sightline.tty import Capabilities, Component, Input, LinearDisplay, Rows
from sightline.tty.input._keys import character_key, parse_key
from sightline.views.console._actions import bindings_from
from sightline.views.console._screen import Slot, _Guarded
from sightline.views.console.dialogs import dialog_for
from tests.views.console.dialogs.support import drawing
from tests.views.console.dialogs.test_approval import request
from tests.views.console.extending import Surface

BINDINGS = bindings_from({})


class Editor(Component):
    """Hears keys."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def render(self, width: int) -> Rows:
        return ("editor",)

    def handle_input(self, event: Input) -> bool:
        self.heard.append(getattr(event, "name", ""))
        return True


class Turns:
    """The loop: what is to be done in its next turns."""

    def __init__(self) -> None:
        self._soon: list[tuple[Callable[..., object], tuple[Any, ...]]] = []

    def call_soon(self, work: Callable[..., object], *args: Any) -> None:
        self._soon.append((work, args))

    def turn(self) -> None:
        now, self._soon = self._soon, []
        for work, args in now:
            work(*args)


def asked() -> tuple[Slot, Editor, Turns, list[Any]]:
    editor, turns = Editor(), Turns()
    slot = Slot(editor, BINDINGS.matches, lambda: True, turns.call_soon, lambda: None, lambda: None)
    dialog = dialog_for(request(leaves=False, sandboxed=True), drawing(), lambda: 24)
    answers: list[Any] = []
    dialog.done = answers.append
    slot.put(dialog, with_editor=True)
    return slot, editor, turns, answers


def test_enter_that_was_pressed_before_the_dialog_was_drawn_does_not_answer() -> None:
    """Nor what could be read already when it was drawn: that goes to the editor, which it was meant for."""
    slot, editor, turns, answers = asked()
    slot.handle_input(parse_key("enter"))
    slot.render(80)
    slot.handle_input(parse_key("enter"))
    turns.turn()
    slot.handle_input(parse_key("enter"))  # read in the turn after the one that drew it
    assert not answers
    assert editor.heard == ["enter"] * 3
    turns.turn()
    slot.handle_input(parse_key("enter"))
    assert answers == [{"choice": "once"}]


def test_escape_is_a_no_at_once() -> None:
    """Nothing is allowed by it."""
    slot, editor, _, answers = asked()
    slot.handle_input(parse_key("escape"))
    assert answers == [None]
    assert not editor.heard


def test_a_command_can_be_entered_while_something_is_asked() -> None:
    """A slash goes to the editor, and the dialog waits; no other letter does."""
    slot, editor, turns, answers = asked()
    slot.render(80)
    turns.turn()
    turns.turn()
    dialog = slot.front
    slot.handle_input(character_key("x"))
    assert not editor.heard
    assert not dialog.is_postponed  # type: ignore[attr-defined]
    slot.handle_input(character_key("/"))
    assert editor.heard == ["/"]
    assert dialog.is_postponed  # type: ignore[attr-defined]
    assert not answers


class Clock:
    """Runs what is due when it is told to."""

    def __init__(self) -> None:
        self.due: list[Callable[[], None]] = []

    def time(self) -> float:
        return 0.0

    def call_later(self, delay: float, work: Callable[[], None]) -> "Clock":
        self.due.append(work)
        return self

    def call_soon(self, work: Callable[[], None]) -> "Clock":
        return self.call_later(0, work)

    def cancel(self) -> None: ...

    def pass_by(self) -> None:
        due, self.due = self.due, []
        for work in due:
            work()


def test_a_line_that_was_entered_before_the_question_does_not_answer_it() -> None:
    """It is said, so that whoever entered it knows."""
    surface, clock = Surface(), Clock()
    display = LinearDisplay(surface, Capabilities(), clock)  # type: ignore[arg-type]
    dialog = dialog_for(request(), drawing(linear=True))
    answers: list[Any] = []
    dialog.done = answers.append
    display.show_overlay(_Guarded(dialog, BINDINGS, lambda: None, unprompted=True))
    display.enter("y")
    display.render_now()
    display.enter("1")
    display.enter("")
    assert not answers
    assert "entered before the question, so not its answer: 1" in "".join(surface.written)
    clock.pass_by()
    display.enter("1")
    assert answers == [{"choice": "once"}]
