"""The console for who listens: lines in, lines out, on a real pty; no escape sequence, nothing said by a sign alone."""

import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.support import SIGHTLINE, InTerminal, running_sessions, stop_hosts, until
from tests.views.console.e2e.support import CTRL_C, CTRL_D, Person, bash, text

pytestmark = pytest.mark.slow

SIGNS = "✓✕◌○›–"


class Ear:
    """The program on lines. `hears` waits for the next of some words, after those that were heard before."""

    def __init__(self, *words: str, through: tuple[str, ...] = ()) -> None:
        self.program = InTerminal(*words, columns=100, through=through)
        self._heard = 0

    @property
    def text(self) -> str:
        return self.program.output.decode("utf-8", "replace").replace("\r", "")

    @property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    def until(self, found: Callable[[], object], what: str) -> None:
        try:
            until(lambda: (self.program.read(), found())[1], what)
        except AssertionError as error:
            raise AssertionError(f"{error}; heard\n{self.text}") from None

    def hears(self, *texts: str) -> None:
        """Each of them, in this order."""
        for wanted in texts:
            self.until(lambda wanted=wanted: wanted in self.text[self._heard :], repr(wanted))
            self._heard = self.text.index(wanted, self._heard) + len(wanted)

    def hears_both(self, one: str, other: str) -> None:
        """Whichever comes first."""
        self.until(lambda: one in self.text[self._heard :] and other in self.text[self._heard :], f"{one}, {other}")

    def is_asked(self) -> None:
        """The prompt is there."""
        self.until(lambda: re.search(r"(^|\n)> $", self.text[self._heard :]), "the prompt")
        self._heard = len(self.text)

    def says(self, line: str) -> None:
        self.program.press(line.encode() + b"\n")

    def once(self, *lines: str) -> None:
        for line in lines:
            assert sum(line in heard for heard in self.lines) == 1, (line, self.text)

    def leaves(self) -> None:
        self.says("/quit")
        assert self.ended() == 0

    def ended(self) -> int:
        code = self.program.wait()
        assert b"\x1b" not in self.program.output
        assert not any(sign in self.text for sign in SIGNS), self.text
        return code


class Listener(Person):
    """Who hears what others see."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "xterm")
        self._ears: list[Ear] = []

    def listens(self, *words: str, ready: bool = True, through: tuple[str, ...] = ()) -> Ear:
        ear = Ear(*words, through=through)
        self._ears.append(ear)
        if ready:
            ear.is_asked()
        return ear

    def gate(self) -> tuple[Path, str]:
        """A file, and shell words that wait for it."""
        file = self.project / "go"
        return file, f"until [ -e {file} ]; do sleep 0.02; done"

    def close(self) -> None:
        for ear in self._ears:
            ear.program.end()


@pytest.fixture
def listener(own_home, tmp_path: Path, monkeypatch) -> Iterator[Listener]:
    monkeypatch.setenv("SIGHTLINE_LINEAR", "1")
    monkeypatch.setenv("SIGHTLINE_MODELS_DISCOVER", "false")
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "VISUAL"):
        monkeypatch.delenv(name, raising=False)
    one = Listener(tmp_path)
    monkeypatch.chdir(one.project)
    yield one
    one.close()
    stop_hosts()


def test_a_prompt_and_its_answer_are_written_once(listener: Listener) -> None:
    """The terminal shows what is typed; it is not said again, and neither is the answer."""
    ear = listener.listens("--model", listener.script([text("The *first* answer.")], [text("The second.")]))
    ear.says("one question")
    ear.hears("The first answer.")
    ear.is_asked()
    ear.says("another question")
    ear.hears("The second.")
    ear.is_asked()
    ear.once("one question", "The first answer.", "another question", "The second.")
    ear.leaves()


def test_a_new_conversation_begins_with_the_greeting(listener: Listener) -> None:
    """What this is, where and with what it works, and three things to try, once; a resumed one has none."""
    model = listener.script([text("The answer.")])
    ear = listener.listens("--model", model)
    ear.hears(
        "Sightline 0", "/project", "approval auto (/approvals change)", "Three things to try:", "explain this project"
    )
    ear.says("a question")
    ear.hears("The answer.")
    ear.is_asked()
    ear.once("Three things to try:")
    (session,) = running_sessions()
    ear.leaves()
    again = listener.listens("--resume", session["id"], ready=False)
    again.hears("The answer.")
    again.is_asked()
    assert "Three things to try:" not in again.text
    again.leaves()


def test_a_command_is_told_while_it_runs(listener: Listener) -> None:
    """Its beginning, each line when it ends, and its end with the exit code; failures by a word."""
    go, wait = listener.gate()
    command = f"echo begun; {wait}; printf 'no newline'; exit 3"
    ear = listener.listens("--model", listener.script([bash(command)], [text("It failed.")]))
    ear.says("run it")
    ear.hears("running: $ echo begun", "\nbegun\n")
    assert "no newline" not in ear.text.split("\nbegun\n")[1]
    go.touch()
    ear.hears("no newline\n", "failed: $ echo begun", "exit 3", "It failed.")
    ear.is_asked()
    ear.leaves()


def test_a_long_output_is_told_by_its_ends_and_whole_on_request(listener: Listener) -> None:
    """The first lines and the last; /output says every one."""
    ear = listener.listens("--model", listener.script([bash("seq -f 'number %g' 1 500")], [text("Counted.")]))
    ear.says("count")
    ear.hears("number 1\n", "lines left out (/output)", "number 500\n", "ok: $ seq", "Counted.")
    assert "number 250\n" not in ear.text
    ear.is_asked()
    ear.says("/output")
    ear.hears("number 1\n", "number 250\n", "number 500\n")
    ear.is_asked()
    ear.leaves()


def test_an_approval_by_numbers_with_a_rule_that_is_changed(listener: Listener) -> None:
    """All there is to know, numbered answers, the rule said and replaced; then nobody is asked again."""
    outside = listener.folder / "outside.txt"
    write = {"tool": "write", "args": {"path": str(outside), "content": "first\n"}}
    again = {"tool": "write", "args": {"path": str(outside), "content": "second\n"}}
    ear = listener.listens("--model", listener.script([write], [text("Once.")], [again], [text("Twice.")]))
    ear.says("write it")
    ear.hears("waiting for your answer", "Allow this?", "The agent wants to write")
    ear.hears("3. Yes, always in this folder", "4. No")
    ear.is_asked()
    ear.says(".e")
    ear.hears("Remember:")
    ear.is_asked()
    ear.says(f"write({listener.folder}/*)")
    ear.hears("How long is", "2. Always in this folder")
    ear.is_asked()
    ear.says("2")
    ear.hears("ok: Write", "Once.")
    ear.is_asked()
    ear.says("and again")
    ear.hears("Twice.")
    assert outside.read_text() == "second\n"
    assert ear.text.count("Allow this?") == 1
    ear.is_asked()
    ear.leaves()


@pytest.mark.parametrize("line", ["go on please", "", "7", "y", "s", "a", "01"])
def test_a_line_that_is_no_answer_approves_nothing(listener: Listener, line: str) -> None:
    """It was meant for the agent, or for nobody; the question stays, and no with a reason is heard by the model."""
    outside = listener.folder / "outside.txt"
    write = {"tool": "write", "args": {"path": str(outside), "content": "first\n"}}
    ear = listener.listens("--model", listener.script([write], [text("As you like.")]))
    ear.says("write it")
    ear.hears("Enter a number to choose")
    ear.is_asked()
    ear.says(line)
    if line:
        ear.hears(f"no such choice: {line}")
    ear.is_asked()
    assert not outside.exists()
    ear.says("4")
    ear.hears("Tell the agent why")
    ear.is_asked()
    ear.says("not there")
    ear.hears("failed: Write", "not there", "As you like.")
    assert not outside.exists()
    ear.is_asked()
    ear.leaves()


def test_a_question_by_number_and_in_words(listener: Listener) -> None:
    """One of the choices; and an answer of one's own."""
    ask = {"tool": "ask", "args": {"question": "Which colour?", "choices": ["red", "blue"]}}
    ear = listener.listens("--model", listener.script([ask], [text("Nice.")], [ask], [text("Unusual.")]))
    for answers, said in (("2",), "Nice."), (("3", "mauve"), "Unusual."):
        ear.says("ask me")
        ear.hears("The agent asks", "Which colour?", "1. red", "2. blue", "3. Something else")
        for answer in answers:
            ear.is_asked()
            ear.says(answer)
        ear.hears(said)
        ear.is_asked()
    assert "mauve" in ear.text
    ear.leaves()


def test_steering_queueing_and_taking_back(listener: Listener) -> None:
    """What is entered while it works waits, which is said; /queue lists it, /unqueue gives it back to be sent."""
    go, wait = listener.gate()
    model = listener.script([bash(f"echo begun; {wait}")], [text("Steered.")], [text("Sent after all.")])
    ear = listener.listens("--model", model)
    ear.says("start")
    ear.hears("begun")
    ear.says("left, please")
    ear.hears("steering: the agent reads it with its next request")
    ear.says("/queue and later this")
    ear.hears("queued until the agent is done")
    ear.says("/queue")
    ear.hears("steering: left, please", "queued: and later this")
    ear.says("/unqueue")
    ear.hears("in the editor: left, please", "and later this", "an empty line sends it")
    ear.says("right, please")
    ear.hears("steering")
    go.touch()
    ear.hears("you: right, please", "Steered.")
    ear.is_asked()
    ear.leaves()


def test_stop_instead_of_escape(listener: Listener) -> None:
    """/stop ends what runs and gives back what waited; an empty line sends that."""
    ear = listener.listens("--model", listener.script([bash("echo begun; sleep 60")], [text("We go on.")]))
    ear.says("start")
    ear.hears("begun")
    ear.says("then this")
    ear.hears("steering")
    ear.says("/stop")
    ear.hears_both("stopped: $ echo begun", "in the editor: then this")
    ear.is_asked()
    ear.says("")
    ear.hears("We go on.")
    ear.is_asked()
    ear.says("/stop")
    ear.hears("nothing is running")
    ear.leaves()


def test_back_in_the_tree(listener: Listener) -> None:
    """An entry by its number; where it goes on is said, the prompt comes back, and nothing is said again."""
    model = listener.script([text("Answer A.")], [text("Answer B.")], [text("Answer C.")])
    ear = listener.listens("--model", model)
    for prompt, answer in ("prompt a", "Answer A."), ("prompt b", "Answer B."):
        ear.says(prompt)
        ear.hears(answer)
        ear.is_asked()
    ear.says("/tree")
    ear.hears("Session tree", '3. user: "prompt b"')
    ear.is_asked()
    ear.says("3")
    ear.hears_both("the conversation continues after: Answer A.", "in the editor: prompt b")
    ear.is_asked()
    ear.says("prompt c")
    ear.hears("Answer C.")
    ear.is_asked()
    assert ear.text.count("\nAnswer A.\n") == 1
    ear.says("/tree")
    ear.hears('elsewhere: user: "prompt b"')
    ear.is_asked()
    ear.says(".ctrl+o")
    ear.hears("Session tree (no-tools)")
    ear.is_asked()
    ear.says("0")
    ear.is_asked()
    ear.leaves()


def test_detaching_attaching_and_resuming(listener: Listener) -> None:
    """The work goes on; another ear hears where it is and the end. A kept conversation is told from its beginning."""
    go, wait = listener.gate()
    model = listener.script([bash(f"echo begun; {wait}; echo over")], [text("Done.")], [text("Later.")])
    ear = listener.listens("--model", model)
    ear.says("start")
    ear.hears("begun")
    ear.says("/detach")
    assert ear.ended() == 0
    ear.hears("Attach with: sightline attach")
    other = listener.listens("attach", ready=False)
    other.hears("you: start", "running: $ echo begun", "begun")
    go.touch()
    other.hears("over", "ok: $ echo begun", "Done.")
    other.is_asked()
    other.leaves()
    again = listener.listens()
    again.says("/resume")
    again.hears("start")
    again.is_asked()
    again.says("1")
    again.hears("you: start", "ok: $ echo begun", "Done.")
    again.is_asked()
    again.says("go on")
    again.hears("Later.")
    again.is_asked()
    again.once("you: start", "Done.", "Later.")
    again.leaves()


def test_lists_have_numbers_and_are_left_with_zero(listener: Listener) -> None:
    """Model, settings, theme, thinking, history, agents, keys: each is opened by its name and left again."""
    ear = listener.listens("--model", listener.script([text("Hello.")]))
    ear.says("hello")
    ear.hears("Hello.")
    ear.is_asked()
    for command in ("model", "settings", "theme", "thinking", "approvals", "history", "agents", "keys", "branch"):
        ear.says(f"/{command}")
        ear.hears("1. ", "Enter a number to choose, 0 to cancel.")
        ear.is_asked()
        ear.says("0")
        ear.is_asked()
    for command, said in ("jobs", "no job"), ("files", "no file"), ("todo", "the todo list is empty"):
        ear.says(f"/{command}")
        ear.hears(said)
        ear.is_asked()
    ear.says("/status")
    ear.hears("session: ", "agent: idle", "model:", "scripted:")
    ear.says("/copy")
    ear.hears("copied the answer")
    ear.says("/nonsense")
    ear.hears("error: no command /nonsense", "hint: ")
    ear.is_asked()
    ear.leaves()


def test_shell_and_python_lines(listener: Listener) -> None:
    """`!` and `$`, with what they print."""
    ear = listener.listens("--model", listener.script([text("Heard.")]))
    ear.says("!echo from the $((40 + 2))th shell; false")
    ear.hears("\nfrom the 42th shell\n", "failed: ! echo", "exit 1")
    ear.is_asked()
    ear.says("$ 6 * 7")
    ear.hears("6 * 7", "42")
    ear.is_asked()
    ear.leaves()


def test_a_file_changed_is_listed_and_its_diff_said(listener: Listener) -> None:
    """/files, then its number."""
    write = {"tool": "write", "args": {"path": "new.txt", "content": "first\n"}}
    ear = listener.listens("--model", listener.script([write], [text("Written.")]), "--approval", "full")
    ear.says("write it")
    ear.hears("Written.")
    ear.is_asked()
    ear.says("/files")
    ear.hears("1. new.txt")
    ear.is_asked()
    ear.says("1")
    ear.hears("+first")
    ear.is_asked()
    ear.says("0")
    ear.is_asked()
    ear.leaves()


def test_leaving_while_it_works_asks(listener: Listener) -> None:
    """By Ctrl+D as by /quit; by number it goes on or is stopped."""
    ear = listener.listens("--model", listener.script([bash("echo begun; sleep 60")]))
    ear.says("start")
    ear.hears("begun")
    ear.program.press(CTRL_D.encode())
    ear.hears("Leave?", "1. Keep it running", "2. Stop it")
    ear.is_asked()
    ear.says("0")
    ear.says("/quit")
    ear.hears("Leave?")
    ear.is_asked()
    ear.says("2")
    assert ear.ended() == 0


def test_control_d_and_control_c_leave(listener: Listener) -> None:
    """Ctrl+D at once when nothing goes on; Ctrl+C says that it takes two."""
    model = listener.script([text("Hello.")])
    ear = listener.listens("--model", model)
    ear.program.press(CTRL_D.encode())
    assert ear.ended() == 0
    until(lambda: not running_sessions(), "the end of the session")
    ear = listener.listens("--model", model)
    ear.program.press(CTRL_C.encode())
    ear.hears("ctrl+c again to leave")
    ear.program.press(CTRL_C.encode())
    ear.until(lambda: ear.program.process.poll() is not None or ear.program.press(CTRL_C.encode()), "the end")


def test_a_host_that_dies_is_told_and_resumed(listener: Listener) -> None:
    """By a number; nothing that was said is lost."""
    ear = listener.listens("--model", listener.script([text("Before.")], [text("After.")]))
    ear.says("first")
    ear.hears("Before.")
    ear.is_asked()
    (session,) = until(running_sessions, "the session")
    os.kill(session["pid"], signal.SIGKILL)
    ear.hears("The session has stopped", "1. Resume")
    ear.is_asked()
    ear.says("1")
    ear.is_asked()
    ear.says("go on")
    ear.hears("After.")
    ear.is_asked()
    ear.leaves()


def test_an_editor_of_ones_own(listener: Listener, monkeypatch) -> None:
    """/editor; what was written there is said, and an empty line sends it, of several lines if need be."""
    script = listener.folder / "editor"
    script.write_text('#!/bin/sh\nprintf "first line\\nsecond line" >> "$1"\n')
    script.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(script))
    ear = listener.listens("--model", listener.script([text("Read it.")]))
    ear.says("/editor")
    ear.hears("in the editor: first line", "second line")
    ear.is_asked()
    ear.says("")
    ear.hears("Read it.")
    ear.is_asked()
    ear.leaves()


@pytest.mark.parametrize("through", ["TERM=dumb exec $0 $@", "$0 $@ | cat"], ids=["dumb", "piped"])
def test_where_nothing_can_be_drawn_there_are_lines(listener: Listener, monkeypatch, through: str) -> None:
    """A terminal that says it is dumb is as good as asking for lines; so is output that goes to a pipe."""
    monkeypatch.delenv("SIGHTLINE_LINEAR")
    ear = listener.listens("--model", listener.script([text("The answer.")]), through=("sh", "-c", through))
    ear.says("hello")
    ear.hears("The answer.")
    ear.is_asked()
    ear.leaves()


def test_without_a_person_there_is_no_console(listener: Listener) -> None:
    """Input from a pipe is a mistake of usage, and the hint says how to go about it."""
    done = subprocess.run([SIGHTLINE], input=b"hi\n", capture_output=True, timeout=90)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"the console needs a terminal, and standard input is not one" in done.stderr
    assert b"-p" in done.stderr
    assert not running_sessions()
