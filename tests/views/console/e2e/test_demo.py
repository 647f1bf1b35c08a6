"""`sightline demo` on a terminal: the agent begins, the person takes over."""

import pytest

from tests.views.console.e2e.support import CTRL_D, Person

pytestmark = pytest.mark.slow


def test_the_demo_opens_the_console_and_the_person_takes_over(person: Person) -> None:
    """A project is mended, three steps are delegated, something long is built; then the editor is the person's."""
    screen = person.opens("demo", rows=40)
    screen.sees("The tests of this shop fail.")
    screen.sees("crew", "chain (3 steps)")
    screen.sees("3 ok / 3")
    screen.sees("packing part")
    screen.sees("All four tests pass.")
    screen.sees_no("escape stops it")
    screen.says("!echo taken $((2 * 21)) over")
    screen.sees("  taken 42 over")
    screen.says("thanks")
    screen.sees("the script is over", "ctrl+d leaves.")
    screen.sees_no("escape stops it")
    screen.press(CTRL_D)
    screen.ended()
    assert not list(person.folder.glob("sightline-demo-*"))
