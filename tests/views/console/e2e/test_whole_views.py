"""Views over the whole window, while the terminal changes its size: closed, they have left nothing behind."""

import pytest

from tests.views.console.e2e.support import CTRL_C, CTRL_O, ENTER, Person, bash, text

WORDS = [f"word{number:03d}" for number in range(60)]


@pytest.mark.parametrize("person", ["xterm", "tmux"], indirect=True)
@pytest.mark.parametrize(("opens", "sign"), [(("/mail", ENTER), "Mail: 0 messages"), ((CTRL_O,), " % · q leave")])
def test_a_view_that_was_resized_and_closed_is_gone(person: Person, opens: tuple[str, ...], sign: str) -> None:
    """Narrower, lower, wider and higher: nothing of it is in the scrollback, and all that was said is there once."""
    said = "\n\n".join(f"{word} {'and more ' * 10}" for word in WORDS)
    screen = person.opens("--model", person.script([bash("seq 200")], [text(said)]), columns=110, rows=30)
    screen.says("go")
    screen.sees(WORDS[-1], "enter send")
    screen.press(*opens)
    screen.sees(sign, "leave")
    for columns, rows in ((60, 30), (60, 14), (110, 30)):
        screen.resize(columns, rows)
        screen.until(lambda now, rows=rows: len(now) == rows and "leave" in now[-1], f"the view at {columns}x{rows}")
    screen.resize(60, 30)
    screen.press("q")
    screen.sees("enter send")
    screen.sees_no(sign)
    screen.once(*WORDS)
    assert not [row for row in screen.tape() if sign in row or "q leave" in row]
    screen.press(CTRL_C)
