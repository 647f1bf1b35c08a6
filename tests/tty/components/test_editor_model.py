"""Random keys against a simple model of an editor, and rows for any events at any width."""

import unicodedata

import pytest
import wcwidth
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from sightline.tty._component import CURSOR
from sightline.tty.cells._width import measure
from sightline.tty.components._input import Input
from sightline.tty.components.editor._buffer import Buffer
from sightline.tty.components.editor._clusters import after, before, ceiling, floor, units
from sightline.tty.components.editor._layout import WrappedLine, Wrapping
from sightline.tty.input._keys import NAMED_KEYS, Key, Paste

from .editor_support import ACCENT, FAMILY, FLAG, editor, paste, press

PIECES = [
    "a",
    "b",
    " ",
    ".",
    "日",
    FAMILY,
    FLAG,
    ACCENT,
    "\u0301",
    "\u200d",
    "🇯",
    "👍",
    "👍🏽",
    "क्षि",
    "\t",
    "한",
    "ᆨ",
    "❤️",
]
pieces = st.sampled_from(PIECES)
texts = st.lists(pieces, max_size=12).map("".join)
long_texts = st.lists(st.sampled_from([*PIECES, "word ", "longer words here "]), max_size=80).map("".join)


def clusters_of(text: str) -> list[str]:
    """An own reading of where clusters end: a tab stands alone, everything else as Unicode says."""
    found: list[str] = []
    for part in text.replace("\t", "\0\t\0").split("\0"):
        found += list(wcwidth.iter_graphemes(part))
    return found


class Model:
    """Clusters before and after a cursor; a line break is one of them."""

    def __init__(self, text: str = "", cursor: int = 0) -> None:
        self.text = text
        self.cursor = cursor  # in code points

    def boundaries(self) -> list[int]:
        found, at = [0], 0
        for number, line in enumerate(self.text.split("\n")):
            at += 1 if number else 0
            found.append(at)
            for cluster in clusters_of(line):
                at += len(cluster)
                found.append(at)
        return sorted(set(found))

    def step(self, by: int) -> int:
        found = self.boundaries()
        return found[min(max(0, found.index(self.cursor) + by), len(found) - 1)]

    def replace(self, start: int, end: int, text: str) -> None:
        self.text = self.text[:start] + text + self.text[end:]
        self.cursor = min(at for at in self.boundaries() if at >= start + len(text))

    def line(self) -> tuple[int, int]:
        start = self.text.rfind("\n", 0, self.cursor) + 1
        end = self.text.find("\n", self.cursor)
        return start, len(self.text) if end < 0 else end


class EditorMachine(RuleBasedStateMachine):
    """Each key does to the editor what it does to the model."""

    def __init__(self) -> None:
        super().__init__()
        self.editor = editor()
        self.model = Model()

    @rule(text=pieces)
    def types(self, text):
        """Typed text appears before the cursor."""
        self.editor.handle_input(Key("x", text=text))
        self.model.replace(self.model.cursor, self.model.cursor, text)

    @rule(text=st.lists(st.one_of(pieces, st.just("\n")), min_size=1, max_size=5).map("".join))
    def pastes(self, text):
        """A small paste is text."""
        paste(self.editor, text)
        self.model.replace(self.model.cursor, self.model.cursor, text)

    @rule()
    def breaks_the_line(self):
        """A newline is a character like others."""
        press(self.editor, "ctrl+j")
        self.model.replace(self.model.cursor, self.model.cursor, "\n")

    @rule(forward=st.booleans())
    def moves(self, forward):
        """Left and right go over one cluster."""
        press(self.editor, "right" if forward else "left")
        self.model.cursor = self.model.step(1 if forward else -1)

    @rule(end=st.booleans())
    def goes_to_an_end_of_the_line(self, end):
        """Home and end stay in the line."""
        press(self.editor, "end" if end else "home")
        self.model.cursor = self.model.line()[end]

    @rule(end=st.booleans())
    def goes_to_an_end_of_the_text(self, end):
        """The first and the last position."""
        press(self.editor, "ctrl+end" if end else "ctrl+home")
        self.model.cursor = len(self.model.text) if end else 0

    @rule()
    def erases(self):
        """Backspace takes the cluster before."""
        press(self.editor, "backspace")
        self.model.replace(self.model.step(-1), self.model.cursor, "")

    @rule()
    @precondition(lambda self: self.model.text)
    def deletes(self):
        """Delete takes the cluster after."""
        press(self.editor, "delete")
        self.model.replace(self.model.cursor, self.model.step(1), "")

    @rule()
    def kills_the_line(self):
        """To the end of the line, or the line break."""
        end = self.model.line()[1]
        press(self.editor, "ctrl+k")
        self.model.replace(self.model.cursor, end if end > self.model.cursor else self.model.step(1), "")

    @rule()
    def undoes_everything_and_comes_back(self):
        """All steps back is the beginning, all steps forward is here again."""
        here = (self.editor.text, self.editor.cursor)
        steps = 0
        while self.editor._buffer.undo():
            steps += 1
        assert self.editor.text == ""
        for _ in range(steps):
            assert self.editor._buffer.redo()
        assert not self.editor._buffer.redo()
        assert self.editor.text == here[0]
        self.editor._buffer.move(here[1])

    @invariant()
    def agrees(self):
        """Text and cursor are those of the model."""
        line, column = self.editor.cursor
        lines = self.editor.text.split("\n")
        flat = sum(len(text) + 1 for text in lines[:line]) + column
        assert (self.editor.text, flat) == (self.model.text, self.model.cursor)

    @invariant()
    def shows_one_cursor(self):
        """The cursor is in exactly one row."""
        assert "".join(self.editor.render(7)).count(CURSOR) == 1


EditorMachine.TestCase.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
TestEditorAgainstModel = EditorMachine.TestCase

keys = st.builds(
    Key,
    name=st.one_of(st.sampled_from(sorted(NAMED_KEYS)), st.characters().map(str.lower)),
    ctrl=st.booleans(),
    alt=st.booleans(),
    shift=st.booleans(),
    text=st.one_of(st.just(""), st.text(max_size=3)),
    kind=st.sampled_from(["press", "press", "repeat", "release"]),
)
letters = st.sampled_from("hjklwbe0^$gGfFtT;,xXdDcCyYpPuiaIAoOrvVsS~J.12\"'(w").map(
    lambda letter: Key(letter, text=letter)
)
specials = st.sampled_from(["escape", "enter", "tab", "up", "down", "backspace", "pageup"]).map(Key)
events = st.one_of(
    keys,
    letters,
    specials,
    st.builds(Paste, st.text(max_size=20)),
    st.builds(Paste, st.text(min_size=1, max_size=3).map(lambda text: text * 700)),
    st.just(Paste("row\n" * 12)),
)


@given(
    keymap=st.sampled_from(["emacs", "vim"]),
    story=st.lists(events, max_size=40),
    widths=st.lists(st.integers(0, 120), min_size=1, max_size=3),
)
@settings(max_examples=250, deadline=None)
def test_no_event_breaks_the_editor_at_any_width(keymap, story, widths):
    """Whatever is pressed or pasted: rows fit, the cursor is shown once and stands between clusters."""
    made = editor(keymap=keymap, max_rows=5, history=["old one", "another\nold one"])
    made.on_submit = lambda text: None
    for number, event in enumerate(story):
        made.handle_input(event)
        width = widths[number % len(widths)]
        rows = made.render(width)
        assert all(measure(row) <= width for row in rows)
        assert "".join(rows).count(CURSOR) == (1 if width else 0)
        assert not any(unicodedata.category(letter) == "Cs" for row in rows for letter in row)
        line, column = made.cursor
        assert floor(made._buffer.lines[line], column) == column


@given(story=st.lists(events, max_size=30), width=st.integers(0, 60), mask=st.sampled_from([None, "*", "日"]))
@settings(max_examples=100, deadline=None)
def test_no_event_breaks_the_input_at_any_width(story, width, mask):
    """One row, never wider than asked for, with the cursor in it."""
    made = Input(mask=mask, placeholder="name")
    made.focused = True
    for event in story:
        made.handle_input(event)
        (row,) = made.render(width)
        assert measure(row) <= width
        assert row.count(CURSOR) == 1
        assert "\n" not in made.text


@given(long_texts, st.integers(0, 500))
def test_boundaries_near_a_position_are_those_of_the_whole_line(line, at):
    """Looking around a position finds the same boundaries as reading the line from its beginning."""
    found, position = [0], 0
    for cluster in clusters_of(line):
        position += len(cluster)
        found.append(position)
    at = min(at, len(line))
    assert ceiling(line, at) == min(one for one in found if one >= at)
    assert floor(line, at) == max(one for one in found if one <= at)
    here = floor(line, at)
    assert after(line, here) == min((one for one in found if one > here), default=here)
    assert before(line, here) == max((one for one in found if one < here), default=here)


def starts(rows: WrappedLine) -> list[int]:
    return [rows.bounds(row)[0] for row in range(rows.last() + 1)]


@given(long_texts, st.integers(1, 30), st.integers(0, 1))
def test_every_character_is_in_one_row_that_fits(line, width, hang):
    """Rows follow each other without a gap, break between clusters, and fit but for the blank that hangs."""
    wrapping = Wrapping(width, lambda marker: 5, hang=hang)
    found = starts(WrappedLine(line, wrapping))
    assert found == sorted(set(found))
    for start, end in zip(found, [*found[1:], len(line)], strict=True):
        assert floor(line, start) == start
        cells = sum(wrapping.cells(unit, own) for unit, own in units(line[start:end]))
        assert cells <= width + (hang if line[start:end].endswith(" ") else 0)


@pytest.mark.parametrize(
    ("line", "width", "rows"),
    [
        ("", 5, [""]),
        ("hello world", 5, ["hello ", "world"]),
        ("hello  world", 5, ["hello ", " ", "world"]),
        ("a bb ccc", 4, ["a bb ", "ccc"]),
        ("abcdefgh", 3, ["abc", "def", "gh"]),
        ("hello ", 5, ["hello ", ""]),
        (" ab日", 3, [" ab", "日"]),
        ("ab日本語", 4, ["ab日", "本語"]),
        ("a\tb", 4, ["a", "\t", "b"]),
        (f"x{FAMILY}{FAMILY}", 4, [f"x{FAMILY}", FAMILY]),
        ("日", 1, ["日"]),
    ],
)
def test_lines_break_at_blanks_and_around_wide_characters(line, width, rows):
    """Where the rows of a line end; one blank may hang over the edge."""
    found = WrappedLine(line, Wrapping(width, lambda marker: 5))
    assert [line[slice(*found.bounds(row))] for row in range(found.last() + 1)] == rows


@given(long_texts, texts, st.integers(0, 300), st.integers(0, 10), st.integers(1, 30), st.integers(0, 40))
def test_rows_after_an_edit_are_those_of_the_new_line(line, inserted, at, removed, width, asked):
    """Keeping the rows before a change gives the same as breaking the whole line."""
    wrapping = Wrapping(width, lambda marker: 5)
    rows = WrappedLine(line, wrapping)
    rows.has(asked)
    at = floor(line, min(at, len(line)))
    changed = line[:at] + inserted + line[floor(line, min(at + removed, len(line))) :]
    assert starts(rows.edited(changed)) == starts(WrappedLine(changed, wrapping))


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 20), texts), max_size=30))
def test_steps_back_restore_every_text_exactly(changes):
    """However a text was changed, undo and redo pass through the same texts."""
    buffer = Buffer("one two\nthree")
    seen = [buffer.text]
    for at, length, text in changes:
        line = at % len(buffer.lines)
        start = floor(buffer.lines[line], min(at, len(buffer.lines[line])))
        end = floor(buffer.lines[line], min(start + length, len(buffer.lines[line])))
        version = buffer.version
        buffer.replace((line, start), (line, max(start, end)), text)
        if buffer.version != version:
            seen.append(buffer.text)
    for text in reversed(seen[:-1]):
        assert buffer.undo()
        assert buffer.text == text
    for text in seen[1:]:
        assert buffer.redo()
        assert buffer.text == text


def test_steps_are_bounded_in_number_and_weight():
    """An old step goes when there are too many, or when they hold too much text."""
    buffer = Buffer()
    for _ in range(1200):
        buffer.insert("x")
    undone = 0
    while buffer.undo():
        undone += 1
    assert undone == 1000
    heavy = Buffer()
    for _ in range(6):
        heavy.insert("x" * 1_000_000)
    undone = 0
    while heavy.undo():
        undone += 1
    assert undone < 6
