"""How extensions draw the calls of their tools, in place of the shapes we know.

Rules:

- A renderer belongs to a tool's name, as the model calls it. Of two for one name the first counts.
- A renderer returns a component, which is used until something changes, or None: the call is drawn as usual.
- Nothing it does harms the console: what it raises, now or while it draws, is reported once and counts as None from
  then on; rows that are too wide are cut, and of control sequences only style is left.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from sightline.text import clean_line
from sightline.tty import Component, Theme
from sightline.views.console.extensions._guarded import Guarded


class RenderOptions(msgspec.Struct, frozen=True):
    """Options for a renderer."""

    expanded: bool = False
    """The user unfolded all blocks."""
    is_partial: bool = False
    """Arguments are still being written, or there is no result yet."""
    spinner_frame: int | None = None
    """Counts up while the call runs; None: no spinner."""


class Result(msgspec.Struct, frozen=True):
    """The result of a call so far."""

    content: str = ""
    details: Any = None
    is_error: bool = False
    exit_code: int | None = None
    output: str = ""
    """The end of its output."""


RenderCall = Callable[[Any, RenderOptions, Theme], Component | None]
RenderResult = Callable[[Result, RenderOptions, Theme, Any], Component | None]
Report = Callable[[str], None]


class Renderers:
    """The renderers by tool. `call_for` and `result_for` return a function that never raises, or None."""

    def __init__(self, report: Report = lambda text: None) -> None:
        self._report = report
        self._calls: dict[str, tuple[str, RenderCall]] = {}
        self._results: dict[str, tuple[str, RenderResult]] = {}

    def add(
        self,
        tool: str,
        *,
        extension: str = "",
        render_call: RenderCall | None = None,
        render_result: RenderResult | None = None,
    ) -> None:
        if render_call is not None:
            self._calls.setdefault(tool, (extension, render_call))
        if render_result is not None:
            self._results.setdefault(tool, (extension, render_result))

    def call_for(self, name: str) -> RenderCall | None:
        """Draws the arguments: `(args, options, theme)`."""
        found = self._calls.get(name)
        if found is None:
            return None
        extension, render = found

        def draw(args: Any, options: RenderOptions, theme: Theme) -> Component | None:
            return self._drawn(self._calls, name, extension, theme, lambda: render(args, options, theme))

        return draw

    def result_for(self, name: str) -> RenderResult | None:
        """Draws what came of it: `(result, options, theme, args)`."""
        found = self._results.get(name)
        if found is None:
            return None
        extension, render = found

        def draw(result: Result, options: RenderOptions, theme: Theme, args: Any = None) -> Component | None:
            return self._drawn(self._results, name, extension, theme, lambda: render(result, options, theme, args))

        return draw

    def _drawn(
        self, among: dict[str, Any], name: str, extension: str, theme: Theme, make: Callable[[], Component | None]
    ) -> Component | None:
        if name not in among:  # it has failed meanwhile
            return None
        try:
            made = make()
            if made is None:
                return None
            if not isinstance(made, Component):
                raise TypeError(f"{made!r} is not a component")
            drawn = Guarded(made, theme, lambda error: self._failed(among, name, extension, error))
            drawn.render(80)  # a failure shows while there is another way to draw it
        except Exception as error:
            self._failed(among, name, extension, error)
            return None
        return None if drawn.failed else drawn

    def _failed(self, among: dict[str, Any], name: str, extension: str, error: Exception) -> None:
        if among.pop(name, None) is None:
            return
        kind = "calls" if among is self._calls else "results"
        whose = f"the extension {extension}" if extension else "an extension"
        self._report(
            clean_line(f"{whose} cannot draw {kind} of {name}, so they look as usual: {type(error).__name__}: {error}")
        )
