"""`/btw` by keys: while the agent works, while something is asked, stopped, and there again when one comes back."""

import pytest

from tests.cli.support import running_sessions, until
from tests.views.console.e2e.support import CTRL_D, ENTER, ESCAPE, Person, bash, text

ALT_A, DELETE, DOWN, F9 = "\x1ba", "\x1b[3~", "\x1b[B", "\x1b[20~"
WAITING = "echo it-waits; until test -e go; do sleep 0.05; done; echo it-went"


def aside(words: str, **more: object) -> dict[str, object]:
    return {"aside": True, "blocks": [text(words, **more)]}


@pytest.mark.parametrize("person", ["xterm", "tmux"], indirect=True)
def test_a_side_question_while_the_agent_works_and_after_a_return(person: Person) -> None:
    """The answer is a block of its own, and the run is not disturbed; attached again, each row is there once."""
    model = person.script(
        [text("I begin."), bash(WAITING)], [text("I am done.")], aside("A **file** is\n\nwaited for."), aside("Yes.")
    )
    screen = person.opens("--model", model, "--set", "permissions.sandbox=false", "--allow", "exec")
    screen.says("go")
    screen.sees("it-waits")
    screen.says("/btw what is it?")
    screen.sees("? btw-1 what is it?", "│ A file is", "│ waited for.", "running Bash")
    (person.project / "go").touch()
    screen.sees("I am done.")
    screen.says("/btw")
    screen.sees("there is no question", "/btw QUESTION")
    screen.says("/btw sure?")
    screen.sees("? btw-2 sure?", "│ Yes.")
    screen.once("I begin.", "? btw-1 what is it?", "│ A file is", "│ waited for.", "I am done.", "│ Yes.")
    (session,) = [row["id"] for row in until(running_sessions, "the session")]
    screen.press("/detach", ENTER)
    screen.ended()
    again = person.opens("--resume", session)
    again.sees("I am done.", "│ Yes.")
    again.once("I begin.", "? btw-1 what is it?", "│ A file is", "│ waited for.", "? btw-2 sure?", "│ Yes.")
    again.press(CTRL_D)


@pytest.mark.parametrize("person", ["xterm"], indirect=True)
def test_a_side_question_while_something_is_asked(person: Person) -> None:
    """A slash in the dialog begins a command; the dialog comes back and is answered."""
    model = person.script([bash("echo it-ran")], [text("I am done.")], aside("To see it run."))
    screen = person.opens("--model", model, "--set", "permissions.sandbox=false", "--approval", "edit")
    screen.says("go")
    screen.sees("Allow this?", "Yes, this once")
    screen.answers("/", lambda rows: any("/help" in row for row in rows))
    screen.press("btw why?", ENTER)
    screen.sees("? btw-1 why?", "│ To see it run.", "Yes, this once")
    screen.answers("y", lambda rows: any("I am done." in row for row in rows))
    screen.press(CTRL_D)


@pytest.mark.parametrize("person", ["xterm"], indirect=True)
def test_a_side_question_is_stopped(person: Person) -> None:
    """Asked with a key, too; stopped by Escape, and by Delete in the list of agents."""
    slow = {"chunk": 1, "delay_ms": 100}
    model = person.script(aside("slowly " * 100, **slow), aside("slower " * 100, **slow))
    screen = person.opens("--model", model, "--set", "console.keys.btw=f9")
    screen.press("one?")
    screen.sees(" one?")
    screen.press(F9)
    screen.sees("│ slow", "answering btw-1", "escape stop")
    screen.press(ESCAPE)
    screen.sees("stopped")
    screen.sees_no("answering")
    screen.says("/btw two?")
    screen.sees("│ slow", "answering btw-2")
    screen.press(ALT_A)
    screen.sees("── Agents", "btw-2: two?")
    screen.press(DOWN, DOWN)
    screen.sees("›   btw-2: two?")
    screen.press(DELETE)
    screen.sees_no("answering")
    screen.press(ESCAPE)
    screen.sees_no("── Agents")
    screen.press(CTRL_D)
