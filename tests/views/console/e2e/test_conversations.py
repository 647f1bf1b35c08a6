"""Conversations at the console, by keys only, read as a person reads the screen."""

import os
import signal

import pytest

from tests.cli.support import running_sessions, until
from tests.providers.fake_acp import install
from tests.providers.fake_app_server import path_with
from tests.providers.test_gemini_channel import words as gemini_words
from tests.views.console.e2e.support import (
    CTRL_D,
    CTRL_O,
    DOWN,
    ENTER,
    ESCAPE,
    UP,
    Person,
    bash,
    pasted,
    text,
)

pytestmark = pytest.mark.slow

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415408d763f8cfc000000301"
    "0100c9fe92ef0000000049454e44ae426082"
)


def test_first_start_without_a_key(person: Person) -> None:
    """The console opens, says what is missing and what to do about it, and can be left."""
    screen = person.opens()
    screen.says("hello")
    screen.sees("Choose a model to work with", "ANTHROPIC_API_KEY", "no model")
    screen.leaves()


def test_what_is_typed_behind_ctrl_d_is_not_acted_on(person: Person) -> None:
    """In one go with it: nothing is sent, there is one farewell, and nothing contradicts it."""
    screen = person.opens("--model", person.script([text("The answer.")], [text("Never said.")]))
    screen.says("a question")
    screen.sees("The answer.")
    screen.sees_no("escape stop")
    screen.press(f"{CTRL_D}hello{ENTER}")
    screen.ended()
    screen.once("Resume with: sightline --resume")
    tape = "\n".join(screen.tape())
    assert not any(words in tape for words in ("› hello", "Never said.", "Still open", "has stopped")), tape
    until(lambda: not running_sessions(), "the end of the session")


@pytest.mark.parametrize("person", ["xterm"], indirect=True)
@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (40, 10)])
@pytest.mark.parametrize("asked", ["approval", "question"])
def test_a_question_above_a_long_pasted_text_stays_visible(person: Person, asked: str, columns: int, rows: int) -> None:
    """All of its answers are in the window, whatever stands in the editor; and the text is there afterwards."""
    waits = bash("until [ -e go ]; do sleep 0.05; done")
    outside = {"tool": "write", "args": {"path": str(person.folder / "x.txt"), "content": "x\n"}}
    which = {"tool": "ask", "args": {"question": "Which colour?", "choices": ["red", "green"]}}
    model = person.script([waits], [outside if asked == "approval" else which], [text("It is done.")])
    screen = person.opens("--model", model, columns=columns, rows=rows, ready=False)
    screen.sees("approval auto")
    screen.says("go on")
    screen.sees("running Bash")
    screen.press("before ", pasted("".join(f"pasted {number}\n" for number in range(200))), "after")
    screen.sees("after")
    (person.project / "go").touch()
    answers = ("Yes, this once", "No (n)") if asked == "approval" else ("red", "green")
    screen.sees("1 + x" if asked == "approval" else "Which colour?", *answers)
    screen.answers("4" if asked == "approval" else "1", lambda shown: not any(answers[-1] in row for row in shown))
    if asked == "approval":  # a yes needs all of it to be seen first
        screen.sees("Tell the agent why (optional)")
        screen.press(ENTER)
    screen.sees("It is done.")
    screen.sees("after")


@pytest.mark.parametrize("person", ["xterm"], indirect=True)
@pytest.mark.parametrize("agent", ["ours", "gemini"])
def test_the_key_row_says_what_enter_does_while_the_agent_works(
    person: Person, agent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that can be steered is; one that cannot has a queue. What waits says the same."""
    if agent == "ours":
        model = person.script([bash("echo begun; sleep 60")])
        screen = person.opens("--model", model)
    else:
        install(person.folder / "bin", [gemini_words("begun")])
        monkeypatch.setenv("PATH", path_with(person.folder / "bin"))
        screen = person.opens("--provider", "gemini")
    screen.says("work")
    screen.sees("begun", "enter steer · alt+enter queue" if agent == "ours" else "enter queue · ctrl+o output")
    screen.says("and this too")
    screen.sees("steering" if agent == "ours" else "queued", "and this too")
    screen.sees_no("queued" if agent == "ours" else "steer")
    screen.press(ESCAPE)
    screen.sees("enter send")


def test_a_prompt_and_a_follow_up(person: Person) -> None:
    """Two prompts, two answers, each row once."""
    screen = person.opens("--model", person.script([text("The *first* answer.")], [text("The second answer.")]))
    screen.says("one question")
    screen.sees("The first answer.")
    screen.says("another question")
    screen.sees("The second answer.")
    screen.once("› one question", "The first answer.", "› another question", "The second answer.")


@pytest.mark.parametrize("person", ["xterm"], indirect=True)
def test_how_to_go_on_stands_apart_from_the_conversation(person: Person) -> None:
    """A blank row is between what was drawn and what is said in the end."""
    screen = person.opens("--model", person.script([text("An answer.")]))
    screen.says("a question")
    screen.sees("An answer.")
    screen.leaves()
    rows = screen.tape()
    at = next(number for number, row in enumerate(rows) if "Resume with: sightline --resume" in row)
    assert not rows[at - 1].strip()


def test_approving_with_a_rule(person: Person) -> None:
    """The dialog shows what would be done; always is remembered, so the second time nobody is asked."""
    outside = person.folder / "outside.txt"
    write = {"tool": "write", "args": {"path": str(outside), "content": "first\n"}}
    again = {"tool": "write", "args": {"path": str(outside), "content": "second\n"}}
    screen = person.opens("--model", person.script([write], [text("Written once.")], [again], [text("Written twice.")]))
    screen.says("write it")
    screen.sees("Allow this?", "The agent wants to write", "always in this folder")
    screen.answers("a", lambda rows: any("Written once." in row for row in rows))
    assert outside.read_text() == "first\n"
    screen.says("and again")
    screen.sees("Written twice.")
    assert outside.read_text() == "second\n"


def test_cancelling_a_command_and_going_on(person: Person) -> None:
    """Escape ends the command at once and keeps what it said; the next prompt goes on."""
    model = person.script([bash("echo begun; sleep 60; echo never")], [text("We go on.")])
    screen = person.opens("--model", model)
    screen.says("run it")
    screen.sees("│ begun", "escape stop")
    screen.press(ESCAPE)
    screen.sees_no("escape stop")
    screen.says("go on")
    screen.sees("We go on.")
    screen.once("│ begun")
    assert not any("never" in row and "echo" not in row for row in screen.tape())


def test_steering_while_it_works(person: Person) -> None:
    """What is entered meanwhile waits in sight, and is heard with the next request."""
    wait = person.project / "go"
    model = person.script([bash(f"until [ -e {wait} ]; do sleep 0.05; done; echo released")], [text("Steered.")])
    screen = person.opens("--model", model)
    screen.says("start")
    screen.sees("escape stop")
    screen.says("left, please")
    screen.sees("steering: left, please", "1 waiting")
    wait.touch()
    screen.sees("Steered.")
    tape = screen.tape()
    at = {mark: next(n for n, row in enumerate(tape) if mark in row) for mark in ("released", "› left", "Steered.")}
    assert at["released"] < at["› left"] < at["Steered."]


def test_escape_gives_back_what_was_queued(person: Person) -> None:
    """Stopping the agent puts what waited into the editor."""
    screen = person.opens("--model", person.script([bash("echo begun; sleep 60")]))
    screen.says("start")
    screen.sees("begun")
    screen.says("not sent yet")
    screen.sees("steering: not sent yet")
    screen.press(ESCAPE)
    screen.until(lambda rows: any(row.strip() == "not sent yet" for row in rows), "the words in the editor")
    screen.sees_no("steering: not sent yet")


def test_resuming_yesterdays_session(person: Person) -> None:
    """It is listed, chosen, shown as it was, and gone on with."""
    model = person.script([text("Said yesterday.")], [text("Said today.")])
    screen = person.opens("--model", model)
    screen.says("an old question")
    screen.sees("Said yesterday.")
    screen.leaves()
    again = person.opens()
    again.sees("Paste an API key")  # no model is set up: that is offered first
    again.press(ESCAPE)
    again.sees_no("Paste an API key")
    again.press("/resume", ENTER)
    again.sees("an old question")
    again.press(ENTER)
    again.sees("› an old question", "Said yesterday.")
    again.says("go on")
    again.sees("Said today.")
    again.once("› an old question", "Said yesterday.", "Said today.")


def test_back_in_the_tree_and_resubmitting(person: Person) -> None:
    """An earlier prompt is chosen, comes back to be edited, and the conversation goes on from there."""
    model = person.script([text("Answer A.")], [text("Answer B.")], [text("Answer C.")])
    screen = person.opens("--model", model)
    screen.says("prompt a")
    screen.sees("Answer A.")
    screen.says("prompt b")
    screen.sees("Answer B.")
    screen.press("/tree", ENTER)
    screen.sees("user", "prompt b")
    screen.press("prompt b")
    screen.press(ENTER)
    screen.sees_no("Answer B.")
    screen.until(lambda rows: any(row.strip() == "prompt b" for row in rows), "the prompt in the editor")
    screen.press(" again", ENTER)
    screen.sees("Answer C.", "Answer A.")
    screen.sees_no("Answer B.")


def test_a_file_and_an_image(person: Person) -> None:
    """`@` completes a file of the project; a pasted path of an image becomes an attachment."""
    (person.project / "notes.md").write_text("notes\n")
    image = person.folder / "picture.png"
    image.write_bytes(PNG)
    screen = person.opens("--model", person.script([text("Looked at it.")]))
    screen.press("read @not")
    screen.sees("notes.md")
    screen.press("\t")
    screen.sees("read @notes.md")
    screen.press(pasted(str(image)))
    screen.sees("picture.png")
    screen.press(ENTER)
    screen.sees("Looked at it.", "› read @notes.md")


def test_all_of_an_output(person: Person) -> None:
    """What was cut in the block is all there behind one key, and can be copied."""
    screen = person.opens("--model", person.script([bash("seq -f 'number %g' 1 500")], [text("Counted.")]))
    screen.says("count")
    screen.sees("Counted.")
    assert not any("number 250" in row for row in screen.tape())
    screen.press(CTRL_O)
    screen.sees("q leave", "number 1")
    screen.press("/", "number 250", ENTER)
    screen.sees("number 250")
    screen.press("G")
    screen.sees("number 500")
    screen.press("q")
    screen.sees("Counted.")


def test_detaching_and_attaching_elsewhere(person: Person) -> None:
    """The work goes on without a window; another shows the same picture and the end."""
    wait = person.project / "go"
    model = person.script([bash(f"echo begun; until [ -e {wait} ]; do sleep 0.05; done; echo over")], [text("Done.")])
    screen = person.opens("--model", model)
    screen.says("start")
    screen.sees("begun")
    screen.press("/detach", ENTER)
    screen.ended()
    other = person.opens("attach")
    other.sees("begun", "escape stop")
    wait.touch()
    other.sees("Done.")
    other.once("› start", "│ begun", "│ over", "Done.")


def test_the_same_folder_asks_whether_to_go_on(person: Person) -> None:
    """A session that runs here is offered before a new one begins."""
    screen = person.opens("--model", person.script([bash("echo begun; sleep 60")]))
    screen.says("start")
    screen.sees("begun")
    screen.press("/detach", ENTER)
    screen.ended()
    again = person.opens(ready=False)
    again.sees("Running here", "Resume “")
    again.answers(ENTER, lambda rows: not any("Running here" in row for row in rows))
    again.sees("begun", "escape stop")


def test_leaving_while_it_works_asks(person: Person) -> None:
    """Ctrl+D asks; stopping ends the session and its commands."""
    screen = person.opens("--model", person.script([bash("echo begun; sleep 60")]))
    screen.says("start")
    screen.sees("begun")
    screen.press(CTRL_D)
    screen.sees("Leave?", "Keep it running", "Stop it")
    screen.press(DOWN, ENTER)
    screen.ended()


def test_shell_and_python_modes(person: Person) -> None:
    """`!` runs a shell line, `$` Python that remembers."""
    screen = person.opens("--model", person.script([text("Heard.")]))
    screen.says("!echo from the $((40 + 2))th shell")
    screen.sees("│ from the 42th shell")
    screen.says("$ kept = 6 * 7")
    screen.says("$ kept + 1")
    screen.sees("│ 43")
    screen.press(UP)
    screen.sees(" $ kept + 1")


def test_an_editor_of_ones_own(person: Person, monkeypatch) -> None:
    """Ctrl+G hands the draft to $EDITOR and takes back what it became."""
    script = person.folder / "editor"
    script.write_text('#!/bin/sh\nprintf "from the editor" >> "$1"\n')
    script.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(script))
    screen = person.opens("--model", person.script([text("Read it.")]))
    screen.press("a draft, ")
    screen.sees("a draft,")
    screen.press("\x07")
    screen.sees("a draft, from the editor")
    screen.press(ENTER)
    screen.sees("Read it.")


def test_the_host_that_dies_is_told_and_resumed(person: Person) -> None:
    """It is said within a second, the draft stays, and one key resumes."""
    screen = person.opens("--model", person.script([text("Before.")], [text("After.")]))
    screen.says("first")
    screen.sees("Before.")
    screen.press("my draft")
    screen.sees("my draft")
    (session,) = until(running_sessions, "the session")
    os.kill(session["pid"], signal.SIGKILL)
    screen.sees("The session has stopped", "my draft")
    until(lambda: True)
    screen.press(ENTER)
    screen.sees_no("The session has stopped")
    screen.sees("Before.", "my draft")
    screen.press(ENTER)
    screen.sees("After.")


@pytest.mark.parametrize("person", ["tmux"], indirect=True)  # the one with a shell to go to
def test_suspended_and_brought_back(person: Person) -> None:
    """Suspend/resume: Ctrl+Z gives the terminal to the shell; `fg` draws everything again."""
    screen = person.opens("--model", person.script([text("Said before.")]))
    screen.says("go")
    screen.sees("Said before.")
    screen.press("a draft")
    screen.sees("a draft")
    screen.press("\x1a")
    screen.until(lambda rows: any(row == "$" for row in rows), "the shell's prompt")
    screen.press("fg", ENTER)
    screen.sees("a draft", "enter send")
    screen.once("Said before.")


def test_attaching_to_a_session_in_which_nothing_was_said(person: Person) -> None:
    """It is a session all the same."""
    person.opens("--model", person.script([text("Heard in both.")]))
    (session,) = until(running_sessions, "the session")
    other = person.opens("attach", session["id"])
    other.says("from the second one")
    other.sees("Heard in both.")


def test_typing_ahead_means_a_new_session(person: Person) -> None:
    """Whoever writes at once, although another session is open here, is not asked and loses nothing."""
    first = person.opens("--model", person.script([bash("echo begun; sleep 60")]))
    first.says("start")
    first.sees("begun")
    first.press("/detach", ENTER)
    first.ended()
    (person.folder / "sightline-home" / "settings.toml").write_text(
        f'[models]\ndefault = "{person.script([text("Said in the new one.")], name="second")}"\ndiscover = false\n'
    )
    again = person.opens(ready=False)
    again.press("typed at once", ENTER)
    again.sees("› typed at once", "Said in the new one.")
    again.sees_no("Running here")
