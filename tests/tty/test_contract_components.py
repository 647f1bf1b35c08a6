"""What a component is to the engine: tui.md (core component contract, rendering constraints, input handling, focus,
overlays and cursor, lifecycle) and runtime internals (boot, input routing, key handling)."""

from collections.abc import Iterator

import pytest

from sightline.tty._component import CURSOR, Component, Input, Rows
from sightline.tty.cells._width import expand_tabs, measure, truncate, wrap
from sightline.tty.components import CancellableLoader, Container, Editor
from sightline.tty.components._box import Box
from sightline.tty.frame._overlays import Overlay
from sightline.tty.input._bindings import DEFAULT_ACTIONS, Bindings
from sightline.tty.input._keys import Key, Paste, is_release, is_repeat, matches
from tests.tty.contract_support import drawn, numbered
from tests.tty.paper import Paper
from tests.tty.pty_child import KITTY
from tests.tty.support import Lines, a_display
from tests.tty.test_application import application

A = Key("a", text="a")


class Bare(Component):
    """Nothing but `render`."""

    def render(self, width: int) -> Rows:
        return (f"{width} cells",)


def test_component_contract_render_is_all_a_component_needs() -> None:
    """Core component contract: input, releases, invalidating, the focus and the end have defaults that do nothing."""
    paper, bare = Paper(columns=30), Bare()
    display = drawn(paper, bare)
    display.set_focus(bare)
    display.handle_input(A)
    display.handle_input(Paste("text"))
    display.invalidate()
    display.render_now()
    display.remove(bare)
    bare.dispose()
    assert bare.handle_input(A) is False
    assert (bare.wants_key_release, Bare.focused) == (False, False)
    assert paper.tape == ["30 cells"]


def test_component_contract_rows_belong_to_the_component() -> None:
    """Core component contract: whatever is laid over them, cut, stripped or moved, the rows given stay as they were."""

    class Owner(Lines):
        def render(self, width: int) -> Rows:
            return self.rows

    paper, owner = Paper(columns=12, rows=4), Owner()
    given = [*numbered(6), "x" * 40, f"> {CURSOR}"]
    owner.rows = given
    display = drawn(paper, owner)
    display.show_overlay(Lines("over"), Overlay(anchor="top-left", width=6))
    display.render_now()
    owner.rows = tuple(given)
    display.request_render()
    display.render_now()
    display.stop()
    assert given == [*numbered(6), "x" * 40, f"> {CURSOR}"]


class _Unread(list):
    """Rows that may be looked at once."""

    looks = 0

    def __iter__(self) -> Iterator[str]:
        self.looks += 1
        return super().__iter__()


def test_component_contract_the_same_object_is_not_looked_at_again() -> None:
    """Core component contract: reference equality is how the engine knows that a component did not change."""
    paper, still, moving = Paper(), Lines(), Lines("0")
    rows = _Unread(numbered(3))
    still.rows = rows
    display = drawn(paper, still, moving)
    display.render_now()
    looks = rows.looks
    display.request_render()
    display.render_now()
    assert rows.looks == looks
    assert paper.tape == [*numbered(3), "0"]


def test_component_contract_a_new_object_is_what_shows_a_change() -> None:
    """Core component contract: a component that changed returns another object, and is drawn."""
    paper, lines = Paper(), Lines("old")
    display = drawn(paper, lines)
    lines.set(["new"])
    display.request_render()
    display.render_now()
    assert paper.tape == ["new"]


def test_component_contract_the_focus_is_said_by_the_display_alone() -> None:
    """Core component contract, Focusable: a flag, set and cleared by set_focus; the mark gives the cursor's place."""

    class Field(Component):
        def render(self, width: int) -> Rows:
            return [f"> ab{CURSOR if self.focused else ''}c"]

    paper, field = Paper(), Field()
    display = drawn(paper, field)
    assert paper.modes["25"] is False
    display.set_focus(field)
    display.render_now()
    assert (field.focused, paper.cursor, paper.modes["25"]) == (True, (0, 4), True)
    display.set_focus(None)
    display.render_now()
    assert (field.focused, paper.modes["25"]) == (False, False)


def test_rendering_constraints_helpers_count_cells_and_keep_style() -> None:
    """Rendering constraints 2 to 4: visual width, ANSI-aware cutting and wrapping, tabs as spaces."""
    styled = "\x1b[31m漢字 and\twords\x1b[0m"
    assert measure("\x1b[31m漢字\x1b[0m") == 4
    assert truncate(expand_tabs(styled), 6) == "\x1b[31m漢字 …\x1b[0m"
    assert "\t" not in expand_tabs(styled)
    assert all(measure(row) <= 5 and row.endswith("\x1b[0m") for row in wrap(expand_tabs(styled), 5))


def test_input_handling_keys_are_matched_by_name() -> None:
    """Input handling: matches(event, "…") for keys and combinations; deviation typed-input: events, not raw text."""
    assert matches(Key("c", ctrl=True), "ctrl+c")
    assert matches(Key("tab", shift=True), "shift+tab")
    assert not matches(Paste("a"), "a")


def test_input_handling_bindings_of_the_person_are_honoured() -> None:
    """Input handling: a component asks for the action; the person's own key does it, the default no longer."""
    aborted: list[int] = []
    loader = CancellableLoader(
        call_later=lambda delay, then: None,
        request_render=lambda component: None,
        on_abort=lambda: aborted.append(1),
        bindings=Bindings({"interrupt": "f9"}),
    )
    assert not loader.handle_input(Key("escape"))
    assert loader.handle_input(Key("f9"))
    assert aborted == [1]


def test_input_handling_releases_are_filtered_and_repeats_can_be_told() -> None:
    """Input handling: releases only to who sets wants_key_release; then is_release and is_repeat tell."""
    display, lines = a_display(Paper()), Lines()
    display.set_focus(lines)
    held = [Key("a", text="a", kind="repeat"), Key("a", kind="release")]
    for event in held:
        display.handle_input(event)
    assert lines.heard == held[:1]
    assert (is_repeat(held[0]), is_release(held[1])) == (True, True)


def test_focus_overlays_default_is_bottom_center_over_the_whole_width() -> None:
    """Focus, overlays and cursor: bottom-center, full width, full height, taken away through its handle."""
    paper = Paper(columns=20, rows=6)
    display = drawn(paper, Lines(*numbered(6)))
    over = Lines(*["#" * 20] * 9)
    handle = display.show_overlay(over)
    display.render_now()
    assert handle.options == Overlay(anchor="bottom-center", width=None, max_height=None)
    assert paper.tape == ["#" * 20] * 6
    over.set(["#" * 20])
    display.render_now()
    assert paper.tape == [*numbered(6)[:5], "#" * 20]
    handle.hide()
    display.render_now()
    assert paper.tape == numbered(6)


def test_focus_overlays_an_overlay_is_heard_until_it_is_gone() -> None:
    """Focus, overlays and cursor: set_focus routes input; an overlay has it until hidden, then who had it before."""
    display, under, over = a_display(Paper()), Lines("under"), Lines("over")
    display.set_focus(under)
    handle = display.show_overlay(over)
    display.handle_input(A)
    handle.hide()
    display.handle_input(A)
    assert (over.heard, under.heard) == ([A], [A])


def test_lifecycle_dispose_reaches_everything_inside() -> None:
    """Lifecycle and cancellation: what a component owns ends with it; containers pass that on."""
    ended: list[str] = []

    class Owner(Bare):
        def dispose(self) -> None:
            ended.append("timer")

    Container([Owner(), Box(Owner())]).dispose()
    assert ended == ["timer", "timer"]


def test_boot_children_stand_in_the_order_they_were_added() -> None:
    """Boot: persistent containers below each other, in order, each free to change on its own."""
    paper = Paper()
    chat, status, editor = Container([]), Container([]), Container([Lines("> ")])
    display = drawn(paper, chat, status, editor)
    status.children.append(Lines("working"))
    chat.children.append(Lines("hello"))
    display.request_render()
    display.render_now()
    assert paper.tape == ["hello", "working", ">"]


def test_input_routing_goes_through_listeners_debug_key_focus_and_filter_in_this_order() -> None:
    """Input routing 1 to 4."""
    display, lines, order = a_display(Paper()), Lines(), []

    def first(event: Input) -> Input:
        order.append("listener")
        return event

    display.add_input_listener(first)
    display.on_debug = lambda: order.append("debug")
    display.set_focus(lines)
    display.handle_input(Key("d", ctrl=True, shift=True))
    display.handle_input(Key("a", kind="release"))
    display.handle_input(A)
    assert order == ["listener", "debug", "listener", "listener"]
    assert lines.heard == [A]


@pytest.mark.parametrize("hidden", ["set_hidden", "too small"])
def test_input_routing_focus_of_a_hidden_overlay_goes_to_what_had_it_before(hidden: str) -> None:
    """Input routing 3: the next visible overlay, or else the focus from before the overlay."""
    paper = Paper()
    display, under, over = a_display(paper), Lines("under"), Lines("over")
    display.set_focus(under)
    handle = display.show_overlay(over, Overlay(visible=lambda columns, rows: rows >= 8))
    if hidden == "set_hidden":
        handle.set_hidden(True)
    else:
        paper.size = (40, 5)
    display.handle_input(A)
    assert (over.heard, under.heard) == ([], [A])


def test_key_handling_the_editor_leaves_what_is_not_its_own() -> None:
    """Key handling split: editing is the engine's; what a key means to the program, the program's."""
    editor, seen = Editor(), []
    display = a_display(Paper())
    display.set_focus(editor)
    bindings = Bindings()
    display.add_input_listener(
        lambda event: seen.append(event) if bindings.matches(event, "interrupt") else event  # type: ignore[func-returns-value]
    )
    display.handle_input(Key("c", ctrl=True))
    display.handle_input(A)
    assert seen == [Key("c", ctrl=True)]
    assert editor.text == "a"
    assert {action.scope for action in DEFAULT_ACTIONS.values()} >= {"app", "editor", "select"}


def test_key_handling_suspend_and_reset_are_the_applications() -> None:
    """Key handling split: Ctrl+L is an action of the application, asked before components see the key; so is Ctrl+Z."""
    with application() as child:
        child.until(b"last: none")
        assert b"\x1b[3J" not in child.written
        child.type(b"\x0c")
        child.until(b"\x1b[2J\x1b[H\x1b[3J")
        child.type(b"k")
        child.until(b"k.")
        assert b"ctrl+l" not in child.written
        assert Bindings().keys("suspend") == ("ctrl+z",)


def test_resize_a_report_of_the_same_size_is_no_gesture() -> None:
    """Resize handling: terminals with mode 2048 say their size as soon as it is set: nothing is erased for that."""
    with application(answers=KITTY) as child:
        child.until(b"\x1b[?2048h")
        child.type(b"\x1b[48;24;80;480;800t")
        child.type(b"k")
        child.until(b"k.")
        child.resize(60, 20)
        child.until(b"60 columns")
        assert child.written.count(b"\x1b[3J") == 1
