"""Input routing and focus (runtime internals: input routing and focus model)."""

from sightline.tty._component import CURSOR, Component, Input, Rows
from sightline.tty.frame._overlays import Overlay
from sightline.tty.input._keys import Key, Paste
from tests.tty.paper import Paper
from tests.tty.support import Lines, a_display

A, RELEASE = Key("a", text="a"), Key("a", text="a", kind="release")


class Field(Component):
    """Shows the cursor while it has the focus."""

    def render(self, width: int) -> Rows:
        return [f"> {CURSOR if self.focused else ''}"]


def test_input_routing_keys_and_pastes_go_to_the_focused_component() -> None:
    display, one, other = a_display(Paper()), Lines("one"), Lines("other")
    display.set_focus(one)
    display.handle_input(A)
    display.set_focus(other)
    display.handle_input(Paste("pasted"))
    assert (one.heard, other.heard) == ([A], [Paste("pasted")])


def test_input_routing_listeners_come_first_and_may_take_or_change_what_was_typed() -> None:
    display, one = a_display(Paper()), Lines("one")
    display.set_focus(one)
    heard: list[Input] = []

    def listen(event: Input) -> Input | None:
        heard.append(event)
        return None if event == A else Key("z", text="z")

    remove = display.add_input_listener(listen)
    display.handle_input(A)
    display.handle_input(Key("b", text="b"))
    remove()
    display.handle_input(A)
    assert heard == [A, Key("b", text="b")]
    assert one.heard == [Key("z", text="z"), A]


def test_input_routing_the_debug_key_is_seen_before_components() -> None:
    display, one, asked = a_display(Paper()), Lines("one"), []
    display.set_focus(one)
    display.on_debug = lambda: asked.append(True)
    display.handle_input(Key("d", ctrl=True, shift=True))
    assert asked == [True]
    assert one.heard == []


def test_input_routing_releases_are_kept_from_those_who_do_not_want_them() -> None:
    display, one = a_display(Paper()), Lines("one")
    display.set_focus(one)
    display.handle_input(RELEASE)
    assert one.heard == []
    one.wants_key_release = True
    display.handle_input(RELEASE)
    assert one.heard == [RELEASE]


def test_set_focus_says_so_to_both_and_the_cursor_follows() -> None:
    paper = Paper()
    display, one, other = a_display(paper), Field(), Field()
    display.add(one)
    display.add(other)
    display.set_focus(one)
    display.render_now()
    assert paper.cursor == (0, 2)
    display.set_focus(other)
    display.render_now()
    assert paper.cursor == (1, 2)
    assert (one.focused, other.focused) == (False, True)


def test_an_overlay_takes_the_focus_and_gives_it_back() -> None:
    display, one, over = a_display(Paper()), Lines("one"), Lines("over")
    display.set_focus(one)
    handle = display.show_overlay(over)
    display.handle_input(A)
    handle.hide()
    display.handle_input(A)
    assert (over.heard, one.heard) == ([A], [A])


def test_input_routing_a_hidden_overlay_loses_the_focus_to_the_next_visible_one() -> None:
    display, one, lower, upper = a_display(Paper()), Lines("one"), Lines("lower"), Lines("upper")
    display.set_focus(one)
    display.show_overlay(lower)
    handle = display.show_overlay(upper)
    handle.set_hidden(True)
    display.handle_input(A)
    assert (lower.heard, upper.heard, one.heard) == ([A], [], [])


def test_resize_an_overlay_that_is_not_visible_at_the_new_size_loses_the_focus() -> None:
    paper = Paper(columns=60)
    display, one, over = a_display(paper), Lines("one"), Lines("over")
    display.set_focus(one)
    display.show_overlay(over, Overlay(visible=lambda columns, rows: columns > 50))
    paper.size = (40, 8)
    display.resized()
    display.handle_input(A)
    assert (over.heard, one.heard) == ([], [A])
