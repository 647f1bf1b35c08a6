"""Linear mode: lines are only added, each once, when it is final; and it can be answered."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.tty._component import Component, Rows
from sightline.tty._linear import LAST_QUIET, PROMPT, QUIET, LinearDisplay
from sightline.tty.components._box import Box
from sightline.tty.components._input import Input
from sightline.tty.components._key_hints import KeyHints
from sightline.tty.components._select import Item, SelectList
from sightline.tty.components._text import TextComponent
from sightline.tty.components._transcript import BlockColumn
from sightline.tty.components.editor import Editor
from sightline.tty.input._keys import Key, Paste, matches
from sightline.tty.terminal._capabilities import Capabilities
from sightline.tty.theme._theme import theme_for
from tests.tty.support import FakeClock

THEME = theme_for(dark=True, depth="true")


class Paper:
    """A surface that keeps what was written."""

    def __init__(self, columns: int = 40) -> None:
        self.size = (columns, 24)
        self.busy = False
        self.text = ""

    def write(self, text: str) -> None:
        self.text += text

    @property
    def lines(self) -> list[str]:
        return self.text.split("\n")[:-1]


class Block(Component):
    """Rows that a test sets."""

    def __init__(self, *rows: str) -> None:
        self.rows: Rows = [*rows]
        self.settled = 0
        """Rows that were drawn with others after them: a block that only grows does not take those back."""

    def render(self, width: int) -> Rows:
        return self.rows


class Ear(Component):
    """Keeps the keys it is given."""

    def __init__(self) -> None:
        self.heard: list[object] = []

    def render(self, width: int) -> Rows:
        return (f"an editor with {len(self.heard)} keys",)

    def handle_input(self, event: object) -> bool:
        self.heard.append(event)
        return True


def linear() -> tuple[LinearDisplay, Paper, BlockColumn]:
    paper = Paper()
    display = LinearDisplay(paper, Capabilities(linear=True))
    transcript = BlockColumn(gap=0)
    display.add(transcript)
    return display, paper, transcript


def test_what_is_final_is_written_once_in_order():
    """Drawing again writes nothing again."""
    display, paper, transcript = linear()
    transcript.append(Block("one", "two"))
    display.render_now()
    display.render_now()
    transcript.append(Block("three"))
    display.request_render()
    display.render_now()
    assert paper.lines == ["one", "two", "three"]


def test_a_block_that_goes_on_holds_back_what_follows_it():
    """Its own rows, and those of blocks after it, are written when it ends."""
    display, paper, transcript = linear()
    live = Block("half")
    transcript.append(live, live=True)
    transcript.append(Block("after"))
    display.render_now()
    assert paper.lines == []
    live.rows = ["half", "whole"]
    transcript.finish(live)
    display.request_render()
    display.render_now()
    assert paper.lines == ["half", "whole", "after"]


def test_the_end_makes_everything_final():
    """What still went on when the display stopped is written then, and only then."""
    display, paper, transcript = linear()
    transcript.append(Block("still going"), live=True)
    display.render_now()
    display.stop()
    assert paper.lines == ["still going"]


def test_no_sequence_is_written():
    """Neither style nor links nor anything that moves a cursor."""
    display, paper, transcript = linear()
    transcript.append(TextComponent("\x1b[31mred\x1b[0m \x1b[5;5Hmoved", role="error", theme=THEME))
    display.render_now()
    assert paper.text == "red moved\n"


def test_chrome_is_not_written_but_a_prompt_is():
    """The editor's rows never appear; a prompt does, once, when nothing is going on."""
    display, paper, transcript = linear()
    ear = Ear()
    display.add(ear)
    display.set_focus(ear)
    live = Block("a")
    transcript.append(live, live=True)
    display.render_now()
    assert paper.text == ""
    transcript.finish(live)
    display.request_render()
    display.render_now()
    display.request_render()
    display.render_now()
    assert paper.text == f"a\n{PROMPT}"


def test_output_while_the_prompt_stands_begins_a_line():
    """What is said never stands behind the prompt, which comes again after it."""
    display, paper, transcript = linear()
    display.set_focus(Ear())
    display.render_now()
    transcript.append(Block("news"))
    display.request_render()
    display.render_now()
    assert paper.text == f"{PROMPT}\nnews\n{PROMPT}"


def test_a_line_goes_to_the_focused_component_and_is_entered():
    """As text and the enter key; a single letter as the key it is."""
    display, _, _ = linear()
    ear = Ear()
    display.set_focus(ear)
    display.enter("two words")
    display.enter("q")
    display.enter("")
    enter = Key("enter")
    assert ear.heard == [Paste("two words"), enter, Key("q", text="q"), enter, enter]


def test_a_key_that_is_no_text_is_not_entered():
    """A letter that somebody listens for does what it does, and no enter comes after it."""
    display, _, _ = linear()
    ear, taken = Ear(), []
    display.set_focus(ear)
    display.add_input_listener(lambda event: taken.append(event) if matches(event, "q") else event)
    display.enter("q")
    assert (taken, ear.heard) == ([Key("q", text="q")], [])


def test_an_input_submits_the_line():
    """The ordinary component, unchanged."""
    display, _, _ = linear()
    submitted: list[str] = []
    field = Input(theme=THEME)
    field.on_submit = submitted.append
    display.add(field)
    display.set_focus(field)
    display.render_now()
    display.enter("a name")
    assert submitted == ["a name"]


def test_a_line_replaces_what_was_there():
    """What is left in a field nobody sees is not part of the next line."""
    display, _, _ = linear()
    heard: list[str] = []
    field = Input(theme=THEME)
    field.on_change = heard.append
    display.add(field)
    display.set_focus(field)
    field.set_text("left over")
    display.enter("new")
    display.enter("newer")
    assert heard == ["new", "newer"]


def test_the_prompt_comes_after_a_moment_of_quiet():
    """Not between batches of lines that follow each other closely."""
    clock, paper = FakeClock(), Paper()
    display, transcript = LinearDisplay(paper, Capabilities(linear=True), clock), BlockColumn(gap=0)
    display.add(transcript)
    display.set_focus(Ear())
    for number in range(3):
        transcript.append(Block(f"batch {number}"))
        display.request_render()
        clock.advance(QUIET / 2)
    assert paper.text == "batch 0\nbatch 1\nbatch 2\n"
    clock.advance(QUIET)
    assert paper.text.endswith(f"batch 2\n{PROMPT}")


def test_input_that_ended_ends_the_program_when_nothing_is_going_on():
    """What streams is shown to its end first, and so is what comes closely after it."""
    clock, paper, left = FakeClock(), Paper(), []
    display, transcript = LinearDisplay(paper, Capabilities(linear=True), clock), BlockColumn(gap=0)
    display.add(transcript)
    live = Block("streaming")
    transcript.append(live, live=True)
    display.end_when_quiet(lambda: left.append(paper.text))
    clock.advance(10 * LAST_QUIET)
    assert left == []
    transcript.finish(live)
    display.request_render()
    clock.advance(LAST_QUIET / 2)
    transcript.append(Block("more"))
    display.request_render()
    clock.advance(LAST_QUIET * 2)
    assert left == ["streaming\nmore\n"]


def test_zero_cancels_a_dialog_that_can_be():
    """And it says so; the choice is not made."""
    display, paper, _ = linear()
    choices = SelectList([Item("a", "Apple")], theme=THEME)
    answers: list[str] = []
    choices.on_select, choices.on_cancel = lambda item: answers.append(item.value), lambda: answers.append("cancelled")
    display.show_overlay(choices)
    display.render_now()
    assert "Enter a number to choose, 0 to cancel." in paper.lines
    display.enter("0")
    assert answers == ["cancelled"]


def test_an_overlays_choices_have_numbers():
    """A dialog is written as text; a number chooses, also when filtering has not."""
    display, paper, _ = linear()
    chosen: list[str] = []
    choices = SelectList([Item("a", "Apple", "a fruit"), Item("b", "Beet"), Item("c", "Corn")], theme=THEME)
    choices.on_select = lambda item: chosen.append(item.value)
    choices.move(1)
    display.show_overlay(choices)
    display.render_now()
    assert paper.lines == ["1. Apple: a fruit", "2. Beet", "3. Corn", "Enter a number to choose."]
    display.enter("3")
    display.enter("1")
    assert chosen == ["c", "a"]


def test_what_is_around_a_list_is_written_with_it():
    """The question of a dialog comes before its choices."""
    display, paper, _ = linear()
    question = TextComponent("Delete it?", theme=THEME)
    display.show_overlay(Box(question, SelectList([Item("y", "Yes"), Item("n", "No")], theme=THEME), theme=THEME))
    display.render_now()
    assert paper.lines == ["Delete it?", "1. Yes", "2. No", "Enter a number to choose."]


def test_an_overlay_is_written_once_until_it_is_answered():
    """Frames in between do not repeat it; an answer that leaves it open does."""
    display, paper, _ = linear()
    heard: list[object] = []
    text = TextComponent("Really?", theme=THEME)
    text.handle_input = lambda event: bool(heard.append(event)) or True  # type: ignore[method-assign]
    display.show_overlay(text)
    for _ in range(3):
        display.request_render()
        display.render_now()
    assert paper.text == f"Really?\n{PROMPT}"
    display.enter("what")
    display.render_now()
    assert paper.text == f"Really?\n{PROMPT}Really?\n{PROMPT}"
    assert any(matches(event, "enter") for event in heard)


@pytest.mark.parametrize("line", ["go on please", "", "7", "x", "01", "1.", "\uff11", "9" * 5000])
def test_a_line_that_is_no_choice_chooses_nothing(line):
    """Least of all what is highlighted, which nobody sees; a list that can be searched takes words."""
    display, paper, _ = linear()
    chosen: list[str] = []
    choices = SelectList([Item("a", "Apple"), Item("b", "Beet")], theme=THEME)
    choices.on_select = lambda item: chosen.append(item.value)
    display.show_overlay(choices)
    display.render_now()
    display.enter(line)
    assert chosen == []
    assert f"no such choice: {line}" in paper.text or not line
    searched = SelectList([Item("a", "Apple"), Item("b", "Beet")], filter=True, theme=THEME)
    searched.on_select = lambda item: chosen.append(item.value)
    display.show_overlay(searched)
    display.render_now()
    display.enter("beet")
    assert chosen == ["b"]


def test_a_key_is_entered_after_a_dot():
    """On the choice whose number is given; what is no key is a line like any other."""
    display, _, _ = linear()
    pressed: list[tuple[str, str]] = []

    class Cancelling(SelectList):
        def handle_input(self, event: Any) -> bool:
            if matches(event, "ctrl+x") and self.highlighted is not None:
                pressed.append((str(event), self.highlighted.value))
                return True
            return super().handle_input(event)

    display.show_overlay(Cancelling([Item("a", "Apple"), Item("b", "Beet")], theme=THEME))
    display.render_now()
    for line in (".ctrl+x", ".ctrl+x 2", ".no+key"):
        display.enter(line)
    assert pressed == [("ctrl+x", "a"), ("ctrl+x", "b")]


def test_a_letter_alone_is_no_key_of_a_dialog():
    """It is a word like any other: only what comes after a dot is pressed."""
    display, _, _ = linear()
    pressed: list[str] = []

    class Lettered(SelectList):
        def handle_input(self, event: Any) -> bool:
            if matches(event, "y"):
                pressed.append(str(event))
                return True
            return super().handle_input(event)

    display.show_overlay(Lettered([Item("a", "Apple"), Item("b", "Beet")], theme=THEME))
    display.render_now()
    display.enter("y")
    assert pressed == []
    display.enter(".y")
    assert pressed == ["y"]


def test_keys_of_a_dialog_are_said_with_how_to_enter_them():
    """All of them, however narrow the terminal."""
    display, paper, _ = linear()
    hints = KeyHints([("ctrl+x", "cancel it"), ("ctrl+t", "something else entirely")], theme=THEME)
    display.show_overlay(Box(TextComponent("Jobs", theme=THEME), hints, theme=THEME))
    display.render_now()
    assert paper.lines == ["Jobs", "keys, entered after a dot: ctrl+x cancel it · ctrl+t something else entirely"]


def test_of_an_overlay_that_changed_what_is_new_is_written():
    """What stood before it was heard."""
    display, paper, _ = linear()
    question, choices = TextComponent("Delete it?", theme=THEME), SelectList([Item("n", "No")], theme=THEME)
    hints = KeyHints([("escape", "back")], theme=THEME)
    box = Box(question, choices, hints, theme=THEME)

    def ask_why(item: Item) -> None:
        box.children = [question, TextComponent("Why?", theme=THEME), Input(theme=THEME), hints]

    choices.on_select = ask_why
    display.show_overlay(box)
    display.render_now()
    paper.text = ""
    display.enter("1")
    display.render_now()
    assert paper.lines == ["Why?", "keys, entered after a dot: escape back"]


def test_an_empty_line_enters_what_stands_in_the_editor():
    """Which another line replaces."""
    display, _, _ = linear()
    editor, sent = Editor(theme=THEME), []
    editor.on_submit = sent.append
    display.add(editor)
    display.set_focus(editor)
    editor.set_text("a draft")
    display.enter("")
    editor.set_text("another")
    display.enter("this instead")
    assert sent == ["a draft", "this instead"]


def test_there_is_no_prompt_while_somebody_says_it_is_busy():
    """Although everything that was said is final."""
    display, paper, transcript = linear()
    ear = Ear()
    display.add(ear)
    display.set_focus(ear)
    busy = True
    display.is_busy = lambda: busy
    transcript.append(Block("a"))
    display.render_now()
    assert paper.text == "a\n"
    busy = False
    display.request_render()
    display.render_now()
    assert paper.text == f"a\n{PROMPT}"


def test_another_width_changes_nothing():
    """The window's size at the beginning counts."""
    display, paper, transcript = linear()
    transcript.append(TextComponent("some words that fill a good part of a line"))
    display.render_now()
    paper.size = (10, 5)
    display.resized()
    transcript.append(TextComponent("more words that fill a good part of a line"))
    display.request_render()
    display.render_now()
    assert paper.lines == [
        "some words that fill a good part of a",
        "line",
        "more words that fill a good part of a",
        "line",
    ]


Operation = tuple[str, int]
OPERATIONS = st.lists(
    st.tuples(st.sampled_from(["append", "open", "stream", "rewrite", "finish", "draw"]), st.integers(0, 5)),
    max_size=60,
)


class Story:
    """Operations on a transcript, and what must have been written in the end."""

    def __init__(self) -> None:
        self.display, self.paper, self.transcript = linear()
        self.display.set_focus(None)
        self.blocks: list[Block] = []
        self.live: list[Block] = []
        self.number = 0

    def rows(self, count: int) -> list[str]:
        self.number += count
        return [f"\x1b[1mrow {self.number - at}\x1b[0m" for at in range(count, 0, -1)]

    def do(self, operation: str, count: int) -> None:
        block = self.live[count % len(self.live)] if self.live else None
        if operation in ("append", "open"):
            self.add(Block(*self.rows(count)), live=operation == "open")
        elif operation == "draw":
            self.display.request_render()
            self.display.render_now()
            for drawn in self.live:
                drawn.settled = max(drawn.settled, len(drawn.rows) - 1)
        elif block is not None and operation == "finish":
            self.live.remove(block)
            self.transcript.finish(block)
        elif block is not None:
            kept = len(block.rows) if operation == "stream" else max(block.settled, len(block.rows) - 1)
            block.rows = [*block.rows[:kept], *self.rows(count)]

    def add(self, block: Block, *, live: bool) -> None:
        self.blocks.append(block)
        self.transcript.append(block, live=live)
        if live:
            self.live.append(block)

    def expected(self) -> list[str]:
        return [row[4:-4] for block in self.blocks for row in block.rows]


@settings(max_examples=150, deadline=None)
@given(OPERATIONS)
def test_every_row_is_written_exactly_once_whatever_happens(operations):
    """Blocks added, streamed, rewritten at their end, finished in any order: at the end each row is there once."""
    story = Story()
    for operation, count in operations:
        story.do(operation, count)
    story.display.stop()
    assert story.paper.lines == story.expected()
    assert "\x1b" not in story.paper.text
