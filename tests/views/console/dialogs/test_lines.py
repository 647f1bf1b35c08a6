"""Dialogs for who listens to the terminal: written as lines, answered by numbers and lines."""

from typing import Any

import pytest

from sightline.tty import Capabilities, LinearDisplay
from sightline.views.console.dialogs import dialog_for
from tests.views.console.dialogs.support import drawing
from tests.views.console.dialogs.test_approval import request
from tests.views.console.dialogs.test_extension_dialogs import dialog
from tests.views.console.dialogs.test_question import question
from tests.views.console.extending import Surface


def answered(asked: dict[str, Any], *lines: str) -> tuple[str, list[Any]]:
    """What was written, and what was answered, when these lines are entered."""
    surface = Surface()
    display = LinearDisplay(surface, Capabilities())
    shown = dialog_for(asked, drawing(linear=True))
    answers: list[Any] = []
    shown.done = answers.append
    display.show_overlay(shown)
    display.render_now()
    for line in lines:
        display.enter(line)
        display.render_now()
    return "".join(surface.written), answers


def test_an_approval_is_written_whole() -> None:
    """With who asks, the command, the folder, the rule, and numbers for the answers."""
    command = "\n".join(f"echo line {number}" for number in range(60))
    written, _ = answered(request(what=command, args={"command": command}))
    assert "\x1b" not in written
    assert "The agent wants to run (60 lines, 769 bytes):" in written
    assert "Outside the sandbox" in written
    assert "echo line 59" in written
    assert "folder: /project/sub" in written
    assert "3. Yes, always in this folder\n" in written
    assert written.count("exec(git push origin main)") == 1


CASES = [
    (request(), ["1"], {"choice": "once"}),
    (request(), [".y"], {"choice": "once"}),
    (request(), ["2"], {"choice": "this session", "rule": "exec(git push origin main)"}),
    (request(), ["3"], {"choice": "always here", "rule": "exec(git push origin main)"}),
    (request(), [".e", "exec(git push *)", "2"], {"choice": "always here", "rule": "exec(git push *)"}),
    (request(), [".e", "exec(git push *)", "1"], {"choice": "this session", "rule": "exec(git push *)"}),
    (request(), [".e", "exec(git pull *)", "", "2"], {"choice": "always here", "rule": "exec(git pull *)"}),
    (request(), ["4", "use make"], {"choice": "no", "reason": "use make"}),
    (request(), ["4", ""], {"choice": "no"}),
    (request(), ["0"], None),
    (question("red", "green"), ["2"], {"chosen": ["green"]}),
    (question("red", "green"), ["3", "mauve"], {"chosen": [], "text": "mauve"}),
    (question("red", "green", several=True), ["2", "1", "4"], {"chosen": ["red", "green"]}),
    (question("red", "green", "blue", several=True), ["1,3"], {"chosen": ["red", "blue"]}),
    (question("red", "green", "blue", several=True), ["3 1"], {"chosen": ["red", "blue"]}),
    (question("red", "green", "blue", several=True), ["2", "1, 3"], {"chosen": ["red", "green", "blue"]}),
    (question("red", "green", several=True), ["a name"], {"chosen": [], "text": "a name"}),
    (question("red", "green", several=True), ["3", "1 2"], {"chosen": [], "text": "1 2"}),
    (question("red", "green"), ["a name"], {"chosen": [], "text": "a name"}),
    (question("red", "green", free_text=False, several=True), ["a name", "1,9", "1,2"], {"chosen": ["red", "green"]}),
    (question(), ["the grail"], {"chosen": [], "text": "the grail"}),
    (dialog("select", choices=["a", "b"]), ["2"], {"value": "b"}),
    (dialog("select", choices=["a", "b"]), ["0"], {"value": None}),
    (dialog("confirm"), ["1"], {"value": True}),
    (dialog("input", text="there already"), ["Ada"], {"value": "Ada"}),
]


@pytest.mark.parametrize(("asked", "lines", "answer"), CASES)
def test_numbers_and_lines_answer(asked: dict[str, Any], lines: list[str], answer: Any) -> None:
    """Everything keys can answer, lines can."""
    assert answered(asked, *lines)[1] == [answer]


def test_how_several_are_answered_is_said() -> None:
    """Who listens hears it before the choices; what is none of them is refused."""
    written, answers = answered(question("red", "green", several=True, free_text=False), "1,9", "mauve")
    assert "several at once: 1,2" in written
    assert "no such choice: 1,9" in written
    assert "no such choice: mauve" in written
    assert not answers
    written, _ = answered(question("red", "green"))
    assert "or answer in your own words" in written
