"""Calls that an extension draws itself."""

from typing import Any

from sightline.events import ToolResult, ToolUse
from sightline.tty import Component, Theme
from sightline.tty.components import TextComponent
from sightline.views.console.extensions._renderers import Renderers, RenderOptions, Result
from tests.views.console.blocks.support import Clock, drawing, told


def test_a_renderer_wins_for_its_tool() -> None:
    """Header and body are the extension's; it is told whether more is wanted and whether it is over."""
    seen: list[RenderOptions] = []

    def render_call(args: Any, options: RenderOptions, theme: Theme) -> Component:
        return TextComponent(f"<{args['x']}>")

    def render_result(result: Result, options: RenderOptions, theme: Theme, args: Any) -> Component:
        seen.append(options)
        return TextComponent(f"[{result.content}]")

    how = drawing()
    how.renderers = Renderers()
    how.renderers.add("mine", render_call=render_call, render_result=render_result)
    fold, block = told(ToolUse("c", "mine", args={"x": 1}), how=how)
    assert list(block.render(40)) == ["<1>"]
    fold.apply(ToolResult("c", "said"))
    block.changed()
    assert list(block.render(40)) == ["<1>", "  [said]"]
    assert seen[-1] == RenderOptions(expanded=False, is_partial=False, spinner_frame=None)
    how.unfolded = True
    block.render(40)
    assert seen[-1].expanded


def test_a_renderer_that_raises_is_said_once_and_the_shape_is_drawn() -> None:
    """An extension's mistake costs nothing but its own look."""
    said: list[str] = []

    def fail(*given: Any) -> Component:
        raise ValueError("oops")

    how = drawing()
    how.renderers = Renderers(said.append)
    how.renderers.add("mine", render_call=fail, render_result=fail)
    for _ in range(3):
        _, block = told(ToolUse("c", "mine", args={"path": "x"}), ToolResult("c", "said"), how=how)
        assert list(block.render(40)) == ["✓ mine x", "│ said"]
    assert len(said) == 2
    assert "oops" in said[0]


def test_a_spinner_turns_with_the_clock() -> None:
    """A renderer is asked again when the next picture of its spinner is due."""
    clock = Clock()
    how = drawing(clock=clock)
    how.renderers = Renderers()
    how.renderers.add("mine", render_call=lambda args, options, theme: TextComponent(f"frame {options.spinner_frame}"))
    _, block = told(ToolUse("c", "mine", args={}, time=1000.0), how=how)
    first = block.render(40)[0]
    clock.now = 1000.4
    assert first == "frame 0"
    assert block.render(40)[0] == "frame 5"
