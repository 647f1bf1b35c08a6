"""Five agents at once, by keys alone: watched, steered, answered, stopped, written to; detached, killed, and back."""

import os
import signal
from typing import Any

import pytest

from tests.cli.support import running_sessions, until
from tests.views.console.e2e.support import (
    ALT_O,
    DOWN,
    ENTER,
    ESCAPE,
    READY,
    TAB,
    UP,
    Person,
    Screen,
    bash,
    text,
)

ALT_A, DELETE, CTRL_T = "\x1ba", "\x1b[3~", "\x14"
WAIT = 'until test -e "$1"; do sleep 0.05; done; echo "found-$1"\n'
ALLOWED = ("--set", "permissions.sandbox=false", "--allow", "exec(sh wait.sh *)")


def waits(name: str) -> dict[str, Any]:
    """A command that is allowed, and ends when the file is there."""
    return bash(f"sh wait.sh {name}")


def done(result: str) -> dict[str, Any]:
    return {"tool": "yield", "args": {"result": result}}


def irc(**args: Any) -> dict[str, Any]:
    return {"tool": "irc", "args": {"op": "send", **args}}


def shared_out(person: Person, scripts: dict[str, list[Any]], *after: Any) -> str:
    """The model: it sends out these at once."""
    (person.project / "wait.sh").write_text(WAIT)
    tasks = [{"id": id, "description": f"the part of {id}", "assignment": "Do it."} for id in scripts]
    call = {"tool": "task", "args": {"agent": "task", "context": "All.", "tasks": tasks}, "agents": scripts}
    return person.script([call], *after)


def go(person: Person, *names: str) -> None:
    for name in names:
        (person.project / name).touch()


def marks(screen: Screen, name: str) -> None:
    """Move down in the list to the row of this agent."""
    for _ in range(10):
        if any(row.startswith("›") and f"{name}:" in row for row in screen.rows()):
            return
        before = screen.rows()
        screen.press(DOWN)
        screen.until(lambda rows, before=before: rows != before, f"the row of {name}")
    raise AssertionError("\n".join(screen.rows()))


@pytest.mark.parametrize("person", ["xterm", "tmux"], indirect=True)
def test_five_agents_are_watched_steered_answered_and_stopped(person: Person) -> None:
    """One is watched and steered, one answered, one stopped; what each did is read, unfolded and folded, and is there
    once when the user comes back."""
    scripts: dict[str, list[Any]] = {
        "Reader": [[text("Reader begins."), waits("go-reader")], [text("Reader looked closer."), done("read")]],
        "Asker": [[text("Asker begins."), bash("touch asked-for")], [text("Asker goes on."), done("asked")]],
        "Stray": [[text("Stray begins."), waits("never")], [done("strayed")]],
        "Writer": [[irc(to="Main", message="Writer wrote this.")], [waits("go-writer")], [done("written")]],
        "Tester": [[waits("go-tester")], [text("Tester tested."), done("tested")]],
    }
    model = shared_out(person, scripts, [text("All five are back.")])
    screen = person.opens("--model", model, *ALLOWED, rows=40)
    screen.says("share it out")
    screen.sees("Asker asks: Allow this?", "touch asked-for")
    screen.answers("y", lambda rows: not any("Allow this?" in row for row in rows))
    until(lambda: (person.project / "asked-for").exists(), "what was allowed")

    screen.press(ALT_A)
    screen.sees("── Agents", "Reader: the part of Reader", "Tester: the part of Tester", "ctrl+t messages")
    screen.until(lambda rows: any("Main  " in row and "1 unread" in row for row in rows), "the message to Main")
    marks(screen, "Reader")
    screen.press(ENTER)
    screen.sees("Reader begins.", "following")
    assert not any("Stray begins." in row for row in screen.rows())
    screen.press(ENTER)
    screen.sees("message ›")
    screen.press("look closer", ENTER)
    screen.sees("sent")
    go(person, "go-reader")
    screen.sees("found-go-reader", "› look closer", "Reader looked closer.")
    screen.press("q")
    screen.sees("── Agents")

    marks(screen, "Stray")
    screen.press(DELETE)
    screen.until(lambda rows: any("Stray: the part of Stray" in row and "idle" in row for row in rows), "Stray at rest")
    screen.press(CTRL_T)
    screen.sees("Mail: 2 messages · 1 unread", "Writer → Main  m1 · delivered · unread", "you → Reader  m2 · read")
    screen.press("q")
    screen.sees("── Agents")
    screen.press(ESCAPE)
    screen.sees_no("── Agents")

    go(person, "go-writer", "go-tester")
    screen.sees("All five are back.")
    screen.once("m1 from Writer: Writer wrote this.")
    screen.press(ALT_O)
    screen.until(lambda rows: any("Tester tested." in row for row in screen.tape()), "unfolded blocks")
    screen.press(ALT_O)
    for path, words in {"Asker": "Asker goes on.", "Tester": "Tester tested.", "Stray": "Stray begins."}.items():
        screen.press(ALT_A)
        screen.sees("── Agents")
        marks(screen, path)
        screen.press(ENTER)
        screen.sees(words, "following")
        screen.press("q")
        screen.sees("── Agents")
        screen.press(ESCAPE)
        screen.sees_no("── Agents")

    (session,) = [row["id"] for row in until(running_sessions, "the session")]
    screen.press("/detach", ENTER)
    screen.ended()
    again = person.opens("attach", session, rows=40)
    again.sees("All five are back.")
    again.once("› share it out", "m1 from Writer: Writer wrote this.", "All five are back.")
    assert sum("the part of Reader" in row for row in again.tape()) == 2  # a step of the call, and its block
    again.press("/mail", ENTER)
    again.sees("Mail: 2 messages", "Writer → Main  m1 · read", "you → Reader  m2 · read")
    again.press("q")
    again.sees_no("Mail: 2 messages")
    again.leaves()


@pytest.mark.parametrize("person", ["xterm", "tmux"], indirect=True)
def test_messages_are_read_answered_and_written_by_keys(person: Person) -> None:
    """Each reaches its readers as the user's words. After a kill the same messages are there, and the next one has the
    next number."""
    scripts: dict[str, list[Any]] = {
        "Reader": [
            [irc(to="Writer", message="Which file?\nI see two.")],
            [waits("go")],
            [done("read")],
            [text("Reader read that.")],
            [text("Reader is back.")],
        ],
        "Writer": [[waits("go")], [done("written")], [text("Writer read that.")], [text("Writer is back.")]],
    }
    model = shared_out(person, scripts, [text("So.")], [text("Main read that.")])
    screen = person.opens("--model", model, *ALLOWED)
    screen.press("/mail", ENTER)
    screen.sees("no messages between agents yet", "following")
    screen.press("q")
    screen.says("share it out")
    screen.sees("irc send Writer")
    screen.press("/mail", ENTER)
    screen.sees("Reader → Writer  m1 · delivered · unread", "Which file?", "I see two.")
    screen.press(ENTER)
    screen.sees("answer m1 to Reader")
    screen.press("the first", ENTER)
    screen.sees("you → Reader  m2 · answers m1 · delivered · unread", "sent: Reader delivered")
    go(person, "go")
    screen.sees("Mail: 2 messages", "m1 · read", "m2 · answers m1 · read")
    screen.press("q")
    screen.sees("So.")
    screen.press("/mail", ENTER)
    screen.sees("following")
    screen.press("m", UP)
    screen.sees("to all")
    screen.press(TAB)
    screen.sees("to Main")
    screen.press(UP, "stop for today", ENTER)
    screen.sees("you → all  m3 · 3 read")
    screen.press("q")
    screen.sees("Main read that.", "› stop for today")
    before = messages(screen)
    (host,) = until(running_sessions, "the session")
    os.kill(host["pid"], signal.SIGKILL)
    screen.sees("The session has stopped", "1. Resume")
    screen.answers(ENTER, lambda rows: not any("The session has stopped" in row for row in rows))
    screen.sees(READY)
    assert messages(screen) == before
    screen.press("/mail", ENTER)
    screen.sees("following")
    screen.press(UP, UP, UP, ENTER)
    screen.sees("answer m1 to Reader")
    screen.press("and the second", ENTER)
    screen.sees("you → Reader  m4 · answers m1 · revived · read", "sent: Reader revived")
    screen.press("q")
    screen.leaves()


def messages(screen: Screen) -> list[str]:
    """The rows of `/mail`, which is left again."""
    screen.press("/mail", ENTER)
    screen.sees("following", "you → all  m3 · 3 read")
    rows = [row for row in screen.rows() if row.strip() and "following" not in row]
    screen.press("q")
    screen.sees_no("following")
    return rows
