"""The prompt editor: modes, what is handed in, and the ways out."""

import os
from pathlib import Path

import pytest

from sightline.tty import CURSOR, measure
from sightline.views.console.input import PromptHistory, Submission
from sightline.views.console.input._empty import CURSOR as CURSOR_AT
from sightline.views.console.input._empty import empty_rows

from ....tty.components.editor_support import Clock
from .support import FakeDesk, drawing, paste, png, press, prompt_editor, shown

SECTION = "tui-runtime-internals.md/Mode transitions and backgrounding"


@pytest.fixture
def desk(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    return FakeDesk(folder)


@pytest.fixture
def editor(desk):
    made = prompt_editor(desk)
    made.handed_in = []
    desk.enter = made.handed_in.append
    return made


@pytest.mark.parametrize("width", [20, 40, 56, 57, 58, 80, 200])
def test_the_empty_editor_looks_as_the_first_paint_draws_it(editor, width):
    """Nothing moves when the console takes the first paint over."""
    rows = editor.component.render(width)
    assert [row.replace(CURSOR, "") for row in rows] == empty_rows(width)
    row, column = CURSOR_AT
    assert measure(rows[row].partition(CURSOR)[0]) == column


@pytest.mark.parametrize(
    ("written", "handed_in"),
    [
        ("hello", Submission("hello", written="hello")),
        ("  hello ", Submission("hello", private=True, written="  hello ")),
        ("!ls -l", Submission("ls -l", "shell", written="!ls -l")),
        ("! ls", Submission("ls", "shell", written="! ls")),
        ("!!ls", Submission("ls", "shell", True, written="!!ls")),
        ("$1 + 1", Submission("1 + 1", "python", written="$1 + 1")),
        ("$$ x", Submission("x", "python", True, written="$$ x")),
        ("${name} is what?", Submission("${name} is what?", written="${name} is what?")),
        (" !ls", Submission("!ls", private=True, written=" !ls")),
        ("/model x", Submission("/model x", written="/model x")),
    ],
)
def test_the_sign_a_text_begins_with_says_what_it_is(editor, written, handed_in):
    """`!` is for the shell, `$` for Python, doubled they are private; a template and a blank before it are words."""
    editor.set_text(written)
    press(editor, "enter")
    assert editor.handed_in == [handed_in]
    assert editor.text == ""


@pytest.mark.parametrize(
    ("written", "role", "title"),
    [
        pytest.param("!", "warning", "shell", id=f"{SECTION}/! is bash mode"),
        pytest.param("!!", "warning", "shell, hidden from the model", id="a private command"),
        pytest.param("$", "info", "Python", id=f"{SECTION}/$ is python mode"),
        pytest.param("${", "border", "", id=f"{SECTION}/$ of a template is none"),
        pytest.param("words", "border", "", id="words"),
    ],
)
def test_the_rule_says_which_mode_it_is(editor, written, role, title):
    """tui-runtime-internals.md, Bash/Python input modes: prefixes change the editor's border."""
    press(editor, f"'{written}")
    assert editor.component.border_role == role
    assert title in shown(editor)[0]
    assert bool(title) == ("─ " in shown(editor)[0])
    press(editor, *["backspace"] * len(written))
    assert (editor.mode, editor.component.border_role) == ("prompt", "border")


@pytest.mark.parametrize("written", ["", "   ", "!", "!! ", "$", "\n"])
def test_nothing_is_no_submission(editor, written):
    """Enter on an empty editor, or on a sign alone, hands nothing in."""
    editor.set_text(written)
    press(editor, "enter")
    assert editor.handed_in == []


def test_escape_leaves_an_inactive_mode(editor):
    """tui-runtime-internals.md, Bash/Python input modes: escape clears the text and the border is as before.

    (tui-runtime-internals.md/Mode transitions and backgrounding)
    """
    press(editor, "'!ls", "escape")
    assert (editor.text, editor.mode, editor.component.border_role) == ("", "prompt", "border")


def test_escape_that_stopped_something_leaves_the_text(desk, editor):
    """tui-runtime-internals.md, Bash/Python input modes: while something runs, escape is for that.

    (tui-runtime-internals.md/Mode transitions and backgrounding)
    """
    asked = []
    desk.escape = lambda: asked.append("stop") or True
    press(editor, "'!ls", "escape")
    assert (editor.text, asked) == ("!ls", ["stop"])


def test_escape_leaves_words_alone(desk, editor):
    """Words are cleared with ctrl+c only, never by a key that means something else."""
    desk.escape = lambda: False
    press(editor, "'hello", "escape")
    assert editor.text == "hello"


def test_clearing_can_be_taken_back(editor):
    """What ctrl+c cleared by mistake comes back with the key for undo."""
    press(editor, "'a long thought")
    editor.clear()
    assert editor.empty
    press(editor, "ctrl+_")
    assert editor.text == "a long thought"


def test_taking_hands_in_to_the_caller(editor):
    """A key that sends otherwise gets what enter would have handed in; enter means the same as before afterwards."""
    press(editor, "'later")
    assert editor.take() == Submission("later", written="later")
    assert (editor.text, editor.handed_in, editor.take()) == ("", [], None)
    press(editor, "'now", "enter")
    assert [one.text for one in editor.handed_in] == ["now"]


def test_what_comes_back_stands_before_what_is_written(editor):
    """Queued messages that were stopped are in the editor again, and what was being written is not lost."""
    press(editor, "'being written")
    editor.restore("first", "  ", "second")
    assert editor.text == "first\n\nsecond\n\nbeing written"
    press(editor, "'!")
    assert editor.text.endswith("being written!")


def test_a_large_paste_is_folded_and_handed_in_whole(editor):
    """A hundred pasted lines are a marker on the screen and a hundred lines for the agent."""
    text = "\n".join(f"line {number}" for number in range(100))
    paste(editor, text)
    assert "[pasted #1, 100 lines]" in shown(editor)[1]
    press(editor, "enter")
    assert editor.handed_in[0].text == text


def test_commands_run_with_one_enter(desk, editor):
    """Enter on an offered command runs it; tab writes it out, for what may follow."""
    desk.commands = lambda: [("model", "choose a model"), ("help", "what there is")]
    press(editor, "'/mo", "enter")
    assert [one.text for one in editor.handed_in] == ["/model"]
    press(editor, "'/he", "tab")
    assert editor.text == "/help "


def test_a_path_is_no_command(desk, editor):
    """`/usr/bin` at the beginning offers nothing."""
    desk.commands = lambda: [("usr", "")]
    press(editor, "'/usr/")
    assert len(shown(editor)) == 3


def test_a_title_is_shown_while_words_are_written(editor):
    """The console may say something in the rule; a mode says its own."""
    editor.title = "answer to Explore-2"
    press(editor, "'a")
    assert "answer to Explore-2" in shown(editor)[0]
    editor.set_text("!")
    assert "answer to" not in shown(editor)[0]


def test_the_persons_own_editor_has_the_text(editor, desk, monkeypatch):
    """ctrl+g opens $VISUAL on the text, and what was saved there is in the editor."""

    def edit(argv):
        assert argv[:2] == ["myedit", "--wait"]
        Path(argv[2]).write_text(Path(argv[2]).read_text() + " world\n")
        return 0

    monkeypatch.setenv("VISUAL", "myedit --wait")
    desk.run = edit
    press(editor, "'hello", "ctrl+g")
    assert (editor.text, desk.told) == ("hello world", [])


@pytest.mark.parametrize("trouble", ["fails", "removes the file", "is quoted wrongly"])
def test_an_editor_that_fails_costs_nothing(editor, desk, monkeypatch, trouble):
    """The text stays as it was, and what went wrong is said."""
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "ed 'x" if trouble == "is quoted wrongly" else "myedit")

    def run(argv):
        if trouble == "removes the file":
            os.unlink(argv[-1])
            return 0
        return 127

    desk.run = run
    press(editor, "'hello", "ctrl+g")
    assert editor.text == "hello"
    [(level, _, hint)] = desk.told
    assert level == "error"
    assert "EDITOR" in hint


def test_a_line_in_linear_mode_is_handed_in_as_it_is(desk):
    """Who listens to the terminal gets no completions in the way of a whole line."""
    from sightline.views.console.input import PromptEditor

    made = PromptEditor(desk, drawing(linear=True))
    handed_in = []
    desk.enter = handed_in.append
    desk.commands = lambda: [("model", "")]
    paste(made, "/mo")
    press(made, "enter")
    assert [one.text for one in handed_in] == ["/mo"]


@pytest.mark.parametrize("width", [20, 40, 80, 200])
@pytest.mark.parametrize(
    "text", ["日本語のテキスト" * 20, "👨‍👩‍👧‍👦🇯🇵" * 30, "a\x1b[31mb\x9b2J\u202ec", "!" + "x" * 500]
)
def test_no_row_is_wider_than_the_terminal(editor, width, text):
    """Whatever is written: rows fit, and control characters are not in them."""
    paste(editor, text)
    for row in editor.component.render(width):
        assert measure(row.replace(CURSOR, "")) <= width
        assert not any(character in row.replace(CURSOR, "") for character in "\x1b\x9b\u202e")


def test_rows_are_the_same_object_until_something_changes(editor):
    """An editor nobody touched costs a frame nothing."""
    press(editor, "'hello")
    assert editor.component.render(60) is editor.component.render(60)


async def test_vim_keys_are_those_of_vim(desk):
    """With the vim keymap escape goes to normal mode first, and only then means anything to the console."""
    made = prompt_editor(desk, keymap="vim")
    escaped = []
    desk.escape = lambda: escaped.append(1) or True
    press(made, "'hello", "escape")
    assert (escaped, "NORMAL" in shown(made)[0]) == ([], True)
    press(made, "escape")
    assert escaped == [1]


async def test_a_prompt_that_begins_with_a_blank_is_not_kept(editor, desk, tmp_path):
    """A leading blank keeps words out of the history file; a private command is kept, it is the person's."""
    history = PromptHistory(tmp_path)
    made = prompt_editor(desk, history=history)
    for written in (" secret", "open", "!!ls"):
        made.set_text(written)
        press(made, "enter")
        await desk.settled()
    assert [entry.text for entry in history.entries()] == ["open", "!!ls"]
    assert {entry.cwd for entry in history.entries()} == {desk.cwd}


async def test_what_comes_back_in_linear_mode_is_said(desk, tmp_path):
    """A text nobody sees is told, with how it is sent and how it is not; no draft of another console is put there."""
    from sightline.views.console.input import Drafts, PromptDraft, PromptEditor

    drafts = Drafts(tmp_path)
    drafts.save("s1", PromptDraft("kept for a console one can see"))
    made = PromptEditor(desk, drawing(linear=True))
    await made.open_draft(drafts, "s1")
    made.restore("use tabs")
    assert made.text == "use tabs"
    assert desk.told == [("info", "in the editor: use tabs", "an empty line sends it, anything else replaces it")]
    assert drafts.load("s1").text == "kept for a console one can see"


def test_a_line_in_linear_mode_takes_the_place_of_what_was_there(desk):
    """Wherever in the tree of components the editor is."""
    from sightline.tty import Capabilities, LinearDisplay
    from sightline.tty.components import Container
    from sightline.views.console.input import PromptEditor

    class Sheet:
        size, busy = (40, 24), False

        def write(self, text):
            pass

    made = PromptEditor(desk, drawing(linear=True))
    handed_in = []
    desk.enter = handed_in.append
    display = LinearDisplay(Sheet(), Capabilities())
    slot = Container([made.component])
    display.add(slot)
    display.set_focus(slot)
    made.set_text("nobody sees this")
    display.enter("hello there")
    assert [one.text for one in handed_in] == ["hello there"]


def test_completions_wait_for_a_pause(desk):
    """tui-runtime-internals.md, Event-driven vs throttled behavior: keys in a row ask once, when they pause."""
    clock, asked = Clock(), []
    made = prompt_editor(desk, call_later=clock.call_later)
    desk.commands = lambda: asked.append(1) or [("model", "")]
    press(made, "'/mo")
    assert asked == []
    clock.pass_by(0.1)
    assert (asked, "/model" in shown(made)[3]) == ([1], True)


def test_entries_that_come_late_do_not_move_who_looks_at_one(editor):
    """History that is read from disk while somebody goes through it goes before what is there."""
    for text in ("one", "two"):
        editor.set_text(text)
        press(editor, "enter")
    press(editor, "up", "up")
    assert editor.text == "one"
    editor.component.set_history(["older", "one"])
    press(editor, "up")
    assert editor.text == "older"
    press(editor, "down", "down")
    assert editor.text == "two"


def test_the_guide_shows_the_editor_as_it_is():
    """Its picture of the empty editor is the first paint's."""
    guide = (Path(__file__).parents[4] / "docs" / "guide" / "console.md").read_text()
    assert "\n".join(empty_rows(80)) in guide


@pytest.mark.parametrize("keymap", ["emacs", "vim"])
async def test_no_sequence_of_keys_breaks_it(desk, tmp_path, keymap):
    """Thousands of random keys, pastes and widths: rows always fit, and it can be emptied in the end."""
    import random

    (tmp_path / "shot.png").write_bytes(png())
    chance = random.Random(6)
    made = prompt_editor(desk, history=PromptHistory(tmp_path), keymap=keymap)
    desk.enter = lambda handed_in: None
    desk.commands = lambda: [("model", "choose"), ("help", "")]
    keys = [key for action in made.component._bindings.actions("editor") for key in drawing().bindings.keys(action)]
    keys = [key for key in keys if key not in ("ctrl+g",)]
    typed = [f"'{letter}" for letter in 'ab!$@/ \\"{日👨.~']
    for step in range(1500):
        roll = chance.random()
        if roll < 0.05:
            paste(made, chance.choice([str(tmp_path / "shot.png"), "x\n" * 30, "日本\x1b[2J", "/", "@"]))
        else:
            press(made, chance.choice(keys) if roll < 0.4 else chance.choice(typed))
        width = chance.choice([20, 40, 80])
        assert all(measure(row.replace(CURSOR, "")) <= width for row in made.component.render(width))
        if step % 50 == 0:
            await desk.settled()
    made.clear()
    assert made.empty
    await desk.settled()
