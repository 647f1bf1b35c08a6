"""Somebody in a hurry: everything is pressed before there is a host."""

import pytest

from tests.cli.support import running_sessions, until
from tests.views.console.e2e.support import ENTER, Person, text

pytestmark = pytest.mark.slow


def test_other_sessions_are_asked_for_before_the_first_is_there(person: Person) -> None:
    """`/new`, and again, at once: one session is shown and runs, and what is said then is said once."""
    screen = person.opens("--model", person.script([text("Heard you.")]))
    screen.press("/new", ENTER, "/new", ENTER)
    screen.says("hello there")
    screen.sees("Heard you.")
    screen.once("Heard you.")
    screen.once("hello there")
    until(lambda: len(running_sessions()) == 1, "the one session that is left")
    screen.leaves()
    until(lambda: not running_sessions(), "its end")
