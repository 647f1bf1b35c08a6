"""What extensions draw: rows of theirs, their tools' calls, and what they keep on the screen."""

from typing import Any

import pytest

from sightline.transcript import TranscriptCall
from sightline.tty import PLAIN, Component, measure
from sightline.tty.components import TextComponent
from sightline.views.console.blocks import block_for
from sightline.views.console.extensions._guarded import Guarded
from sightline.views.console.extensions._renderers import Renderers, RenderOptions, Result
from sightline.views.console.extensions._screen import Widgets, editor_text, status_texts, title
from tests.views.console.dialogs.support import HOSTILE, check_rows, coloured, drawing


@pytest.fixture
def said() -> list[str]:
    return []


class Fixed(Component):
    def __init__(self, *rows: str) -> None:
        self.rows = list(rows)

    def render(self, width: int) -> list[str]:
        return self.rows


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_rows_are_cut_and_cleaned_whatever_they_hold(width: int) -> None:
    """tui.md/Rendering constraints: too wide is cut by cells, tabs become spaces, nothing drives the terminal."""
    theme = coloured()
    component = Fixed(HOSTILE * 20, "日本語" * 80, theme.style("accent", "a\tb" * 80), "two\nlines", "\x1b[31")
    check_rows(Guarded(component, theme, lambda error: None), width)


def test_style_and_the_cursor_stay() -> None:
    """tui.md/Core component contract: rows may be styled, and a focused one says where the cursor is."""
    from sightline.tty import CURSOR

    theme = coloured()
    row = theme.style("accent", "hi") + CURSOR + theme.style("error", "ho")
    assert Guarded(Fixed(row), theme, lambda error: None).render(40) == (row,)


def test_the_same_rows_are_the_same_rows() -> None:
    """tui.md/Core component contract: the same object as long as nothing changed, another one when it did."""
    component = Fixed("a\tb")
    guarded = Guarded(component, PLAIN, lambda error: None)
    rows = guarded.render(40)
    assert guarded.render(40) is rows
    component.rows = ["c"]
    assert guarded.render(40) == ("c",)


def call(**fields: Any) -> TranscriptCall:
    return TranscriptCall("", "call-1", "paint", "paint", args={"colour": "red"}, **fields)


def painted(said: list[str], **renderers: Any) -> Renderers:
    found = Renderers(said.append)
    found.add("paint", extension="games", **renderers)
    return found


def shown_of(entry: TranscriptCall, renderers: Renderers, *, unfolded: bool = False) -> str:
    look = drawing()
    look.renderers, look.unfolded = renderers, unfolded
    block = block_for(entry, look, {})
    return "\n".join(block.render(80))


def test_a_tool_draws_its_calls_and_results(said: list[str]) -> None:
    """tui.md/Custom tool call/result renderers: in the block of the call, with args, result and theme."""
    renderers = painted(
        said,
        render_call=lambda args, options, theme: TextComponent(f"painting {args['colour']}", theme=theme),
        render_result=lambda result, options, theme, args: TextComponent(
            f"{args['colour']}: {result.content}", theme=theme
        ),
    )
    assert "painting red" in shown_of(call(), renderers)
    ended = shown_of(call(content="done"), renderers)
    assert "painting red" in ended
    assert "red: done" in ended


def test_options_say_how(said: list[str]) -> None:
    """tui.md/Custom tool call/result renderers, options: `expanded`, `is_partial`, `spinner_frame`."""
    got: list[RenderOptions] = []

    def render(args: Any, options: RenderOptions, theme: Any) -> Component:
        got.append(options)
        return TextComponent("x")

    renderers = painted(said, render_call=render)
    shown_of(call(began=1.0), renderers)
    shown_of(call(content="done"), renderers, unfolded=True)
    assert (got[0].expanded, got[0].is_partial) == (False, True)
    assert isinstance(got[0].spinner_frame, int)
    assert (got[-1].expanded, got[-1].is_partial, got[-1].spinner_frame) == (True, False, None)


def test_none_is_drawn_as_usual(said: list[str]) -> None:
    """A renderer may leave it to us."""
    renderers = painted(said, render_result=lambda result, options, theme, args: None)
    assert shown_of(call(content="the output"), renderers) == shown_of(call(content="the output"), Renderers())
    assert not said


@pytest.mark.parametrize("where", ["make", "render"])
def test_a_renderer_that_fails_is_said_once_and_left_out(said: list[str], where: str) -> None:
    """The block is drawn as usual from then on."""

    class Bad(Component):
        def render(self, width: int) -> list[str]:
            raise KeyError("x")

    def render(result: Result, options: RenderOptions, theme: Any, args: Any) -> Component:
        if where == "make":
            raise KeyError("x")
        return Bad()

    renderers = painted(said, render_result=render)
    usual = shown_of(call(content="the output"), Renderers())
    assert shown_of(call(content="the output"), renderers) == usual
    assert shown_of(call(content="the output"), renderers) == usual
    assert len(said) == 1
    assert "the extension games cannot draw results of paint" in said[0]


def test_the_first_renderer_of_a_tool_counts(said: list[str]) -> None:
    """What is the person's own comes first."""
    renderers = painted(said, render_call=lambda args, options, theme: TextComponent("first"))
    renderers.add("paint", extension="late", render_call=lambda args, options, theme: TextComponent("second"))
    assert "first" in shown_of(call(), renderers)


def test_widgets_stand_where_they_belong() -> None:
    """Above or below, in the order they came; long ones are cut, and that is said."""
    state = {
        "ui.widgets": {
            "a.x": {"lines": ["one", "two"], "placement": "above"},
            "b.y": {"lines": ["under"], "placement": "below"},
            "c.z": {"lines": [str(number) for number in range(30)], "placement": "above"},
        }
    }
    above, below = Widgets("above"), Widgets("below")
    assert above.update(state)
    assert below.update(state)
    assert not above.update(state)
    assert list(above.render(40)) == ["one", "two", *map(str, range(9)), "… 21 more lines"]
    assert list(below.render(40)) == ["under"]
    assert above.update({"ui.widgets": {}})
    assert list(above.render(40)) == []


@pytest.mark.parametrize(
    "value", [None, 3, [], {"a": 3}, {"a": {"lines": 3}}, {"a": {"lines": [3, None], "placement": 4}}]
)
def test_state_that_is_none_shows_nothing_bad(value: Any) -> None:
    """It came over a wire."""
    widgets = Widgets("above")
    widgets.update({"ui.widgets": value})
    assert all(measure(row) <= 20 for row in widgets.render(20))
    status_texts({"ui.status": value})
    title({"ui.title": value})
    editor_text({"ui.editor_text": value})


def test_widgets_are_clean_and_fit() -> None:
    """Whatever an extension says."""
    widgets = Widgets("above")
    widgets.update({"ui.widgets": {"a.x": {"lines": [HOSTILE * 9, "日本語" * 30], "placement": "above"}}})
    check_rows(widgets, 20)  # type: ignore[arg-type]
