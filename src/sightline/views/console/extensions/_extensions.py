"""The console's half of extensions: what they draw and what they mount.

Rules:

- A file's function `console(ui)` registers components and renderers. Which files count is decided as for the host's
  half, by the same trust. A file without one has nothing to do with the console.
- A file that cannot be loaded, a component that raises and an answer that is no plain data are reported once and answer
  None. None of it ends the console.
- Files are read and run in a thread: the screen does not wait for them.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from sightline.text import clean_line
from sightline.tty import Bindings, Component, Input, Overlay, Theme, matches
from sightline.tty.components import Container
from sightline.views.console._desk import Answerable
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.dialogs._dialog_frame import details_of, kind_of
from sightline.views.console.extensions._guarded import Guarded
from sightline.views.console.extensions._renderers import RenderCall, Renderers, RenderResult

if TYPE_CHECKING:
    from sightline._extension_files import ExtensionFile
    from sightline.views.console._desk import Desk

Done = Callable[[Any], None]
Factory = Callable[[Any, Theme, Bindings, Done], Component | Awaitable[Component]]
F = TypeVar("F", bound=Factory)


class ConsoleUi:
    """The argument of a file's `console` function."""

    def __init__(self, name: str, extensions: "ConsoleExtensions") -> None:
        self.name = name
        self._extensions = extensions

    def component(self, name: str) -> Callable[[F], F]:
        """Register what makes a component for `ui.custom(name, props)`: `factory(props, theme, bindings, done)`, async
        or not. It calls `done(answer)` once."""
        if not isinstance(name, str) or not name:
            raise ValueError(f"{name!r} is not a component name")

        def made(factory: F) -> F:
            self._extensions.add(self.name, name, factory)
            return factory

        return made

    def renderer(
        self, tool: str, *, render_call: RenderCall | None = None, render_result: RenderResult | None = None
    ) -> None:
        """Draw the calls of a tool: `render_call(args, options, theme)`, `render_result(result, options, theme, args)`.
        Each gives a component, or None to have it drawn as usual."""
        add = self._extensions.renderers.add
        add(tool, extension=self.name, render_call=render_call, render_result=render_result)

    def redraw(self, component: Component | None = None) -> None:
        """Draw again: a component has changed without a key."""
        self._extensions.redraw(component)

    def call_later(self, delay: float, callback: Callable[[], None]) -> asyncio.TimerHandle:
        """For animations; `cancel` it in `dispose`."""
        return asyncio.get_running_loop().call_later(delay, callback)


class CustomDialog(Container, Answerable):
    """A component of an extension as a dialog. `hold` gives it its component, which may have answered already.

    - The first answer counts; with it the component is disposed of, once.
    - The keys are the component's. Ctrl+C closes it whatever it does with the key, escape if it does nothing with it.
    - Answers `{"value": …}`, in plain data: None in it when there is no answer, and the extension continues.
    """

    def __init__(self, drawing: DrawingOptions, *, overlay: bool, report: Callable[[Exception], None]) -> None:
        self.overlay = Overlay(anchor="bottom-center", width="100%", max_height="100%") if overlay else None
        """None: in place of the editor."""
        super().__init__()
        self._drawing = drawing
        self._report = report
        self._shown: Callable[[Any], None] | None = None
        self._answers: list[object] = []
        self._disposed = False

    @property
    def done(self) -> Callable[[Any], None]:
        """Closes it with an answer for the desk; None, unanswered."""
        return self._finish

    @done.setter
    def done(self, done: Callable[[Any], None]) -> None:
        self._shown = done
        if self._answers:
            done(self._answers[0])

    def hold(self, component: object) -> None:
        if not isinstance(component, Component):
            raise TypeError(f"{component!r} is not a component")
        self.children = [Guarded(component, self._drawing.theme, self.fail)]
        if self._answers:
            self.dispose()

    def answer(self, value: object) -> None:
        """Called by the component."""
        try:
            self._finish({"value": msgspec.to_builtins(value, str_keys=True)})
        except Exception as error:
            self.fail(error)

    def fail(self, error: Exception) -> None:
        self._report(error)
        self._finish({"value": None})

    def handle_input(self, event: Input) -> bool:
        known = super().handle_input(event)
        if not self._answers and (matches(event, "ctrl+c") or not known):
            if not self._drawing.bindings.matches(event, "interrupt"):
                return known
            self.answer(None)
        return True

    def dispose(self) -> None:
        if self.children and not self._disposed:
            self._disposed = True
            super().dispose()

    def _finish(self, answer: object) -> None:
        if self._answers:
            return
        self._answers.append(answer)
        self.dispose()
        if self._shown is not None:
            self._shown(answer)


class ConsoleExtensions:
    """The extensions that are loaded."""

    def __init__(
        self,
        drawing: DrawingOptions,
        *,
        report: Callable[[str], None],
        redraw: Callable[[Component | None], None] = lambda component: None,
    ) -> None:
        self._drawing = drawing
        self._report = report
        self.redraw = redraw
        self.renderers = Renderers(report)
        self._factories: dict[tuple[str, str], Factory] = {}

    def add(self, extension: str, name: str, factory: Factory) -> None:
        self._factories.setdefault((extension, name), factory)

    def load(self, files: "Iterable[ExtensionFile]") -> list[str]:
        """Blocking. Returns a line for each file that could not be loaded."""
        from sightline._extension_files import failure

        problems: list[str] = []
        loaded: set[str] = set()
        for file in files:
            try:
                if file.name not in loaded:
                    self._load(file)
                loaded.add(file.name)
            except (Exception, SystemExit) as error:
                problems.append(failure(file.path, error))
        return problems

    async def dialog_for(self, request: dict[str, object]) -> CustomDialog:
        """The component a request names. Where there is none, or it cannot be made, a dialog that answers at once."""
        details = details_of(request)
        extension, name = str(details.get("extension") or ""), str(details.get("name") or "")
        dialog = CustomDialog(self._drawing, overlay=bool(details.get("overlay")), report=self._failed(extension, name))
        factory = self._factories.get((extension, name))
        try:
            if factory is None:
                raise LookupError("no such component; its file must register it in console(ui)")
            made = factory(details.get("props"), self._drawing.theme, self._drawing.bindings, dialog.answer)
            dialog.hold(await made if inspect.isawaitable(made) else made)
        except Exception as error:
            dialog.fail(error)
        return dialog

    def _load(self, file: "ExtensionFile") -> None:
        from sightline._extension_files import imported

        console = getattr(imported(file, "console"), "console", None)
        if console is None:
            return
        if not callable(console) or inspect.iscoroutinefunction(console):
            raise TypeError("console must be an ordinary function, console(ui)")
        console(ConsoleUi(file.name, self))

    def _failed(self, extension: str, name: str) -> Callable[[Exception], None]:
        def report(error: Exception) -> None:
            self._report(clean_line(f"{name} of the extension {extension} failed: {type(error).__name__}: {error}"))

        return report


def is_custom(request: dict[str, object]) -> bool:
    """Whether a request is for a component of an extension's own."""
    return kind_of(request) == "custom" and request.get("what") == "dialog"


async def open_extensions(desk: "Desk", environ: Mapping[str, str]) -> ConsoleExtensions:
    """Load those of the session's folder; blocks are drawn by them from then on. What failed is reported, unless the
    host has reported the same."""
    extensions = ConsoleExtensions(desk.drawing, report=lambda text: desk.report(text, "warning"), redraw=desk.redraw)
    if not desk.settings.extensions.enabled:
        return extensions
    problems = await asyncio.to_thread(_load_here, extensions, Path(desk.cwd), environ)
    reported = {getattr(entry, "text", "") for entry in desk.state.entries} if problems else set()
    for problem in problems:
        if problem not in reported:
            desk.report(problem, "warning", "fix or remove the file")
    desk.drawing.renderers = extensions.renderers
    return extensions


def _load_here(extensions: ConsoleExtensions, cwd: Path, environ: Mapping[str, str]) -> list[str]:
    from sightline._extension_files import extension_files

    return extensions.load(extension_files(cwd, environ).files)
