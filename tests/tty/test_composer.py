"""Components into frames: what is asked, what is kept, what has left (runtime internals: render loop)."""

from sightline.tty.components._container import Container
from sightline.tty.components._transcript import BlockColumn
from sightline.tty.frame._composer import Composer
from tests.tty.paper import Paper
from tests.tty.support import FakeClock, Lines, a_display


def _composer(*children: Lines) -> Composer:
    composer = Composer()
    composer.children.extend(children)
    return composer


def test_s2_the_boundary_is_what_the_first_child_with_one_says_else_the_end() -> None:
    composer, transcript = Composer(), BlockColumn(gap=0)
    transcript.append(Lines("a"))
    transcript.append(Lines("live"), live=True)
    composer.children.extend([Lines("head"), transcript, Lines("chrome")])
    assert composer.compose(40).boundary == 2
    assert _composer(Lines("a", "b")).compose(40).boundary == 2


def test_an_unchanged_frame_is_the_same_frame() -> None:
    composer = _composer(Lines("a"), Lines("b"))
    assert composer.compose(40) is composer.compose(40)


def test_render_loop_a_component_scoped_render_asks_only_what_contains_it() -> None:
    spinner, inner, other = Lines("|"), Lines("inner"), Lines("other")
    paper = Paper()
    display = a_display(paper)
    for child in (other, spinner, Container([inner])):
        display.add(child)
    display.render_now()
    asked = other.asked
    spinner.set(["/"])
    display.request_render(spinner)
    display.render_now()
    assert (other.asked, spinner.asked, inner.asked) == (asked, asked + 1, asked)
    inner.set(["changed"])
    display.request_render(inner)
    display.render_now()
    assert (other.asked, inner.asked) == (asked, asked + 1)
    assert paper.tape == ["other", "/", "changed"]


def test_render_loop_a_full_request_in_the_same_frame_asks_everything() -> None:
    spinner, other = Lines("|"), Lines("other")
    display = a_display(Paper())
    display.add(other)
    display.add(spinner)
    display.render_now()
    asked = other.asked
    display.request_render(spinner)
    display.request_render()
    display.render_now()
    assert other.asked == asked + 1


def test_render_loop_an_overlay_or_another_size_asks_everything() -> None:
    paper = Paper()
    spinner, other = Lines("|"), Lines("other")
    display = a_display(paper)
    display.add(other)
    display.add(spinner)
    display.render_now()
    handle = display.show_overlay(Lines("over"))
    display.render_now()
    asked = other.asked
    display.request_render(spinner)
    display.render_now()
    assert other.asked == asked + 1
    handle.hide()
    display.render_now()
    paper.size = (30, 8)
    paper.expect_gesture()
    asked = other.asked
    display.request_render(spinner)
    display.render_now()
    assert other.asked == asked + 1


def test_a_child_that_is_history_whole_is_not_asked_again() -> None:
    paper = Paper(rows=3)
    head, body = Lines("head"), Lines(*(f"row {index}" for index in range(9)))
    display = a_display(paper)
    display.add(head)
    display.add(body)
    display.render_now()
    asked = head.asked
    body.set([*body.rows, "more"])
    display.request_render()
    display.render_now()
    assert head.asked == asked
    assert paper.tape == ["head", *(f"row {index}" for index in range(9)), "more"]


def test_render_loop_frames_wait_for_a_terminal_that_is_slow() -> None:
    """While bytes are still queued nothing is drawn; afterwards one frame shows the latest state."""
    from sightline.tty.frame._display import Display
    from sightline.tty.terminal._capabilities import Capabilities

    paper, clock, lines = Paper(), FakeClock(), Lines("0")
    display = Display(paper, Capabilities(), clock)
    display.add(lines)
    clock.advance(1)
    paper.busy = True
    for index in range(1, 20):
        lines.set([str(index)])
        display.request_render()
        clock.advance(1)
    assert len(paper.written) == 1
    paper.busy = False
    display.drained()
    assert paper.tape == ["19"]
    assert len(paper.written) == 2
