"""The layout of the screen, from top to bottom, and dialogs in place of the editor.

    transcript · queue · working row · todo · jobs · widgets · editor or dialog · widgets · status · keys

The dialog of a request stands above the editor, whose draft stays visible, and is shown only once the user has stopped
typing: a letter meant for the draft is never an answer. Keys pressed before it was drawn and read after that go to the
editor, and so does text typed into a dialog that yields to a draft, which is shown again when the draft is empty. Where
there are too few rows for both, the editor is hidden.
"""

from collections.abc import Callable, Sequence
from typing import Literal

from sightline.tty import Application, Bindings, Component, Input, Key, Overlay, OverlayHandle, Paste, Rows, Theme
from sightline.tty.components import BlockColumn, Container, KeyHints
from sightline.views.console._desk import Answerable

_HINTED = (("view_output", "output"), ("history_search", "history"), ("/help", "all keys"), ("exit", "leave"))
"""Hints of the last row after the key that sends, while the editor has the keys; without the last one while it has a
text. `HINTS` of the first paint are the same."""
Enters = Literal["send", "steer", "queue", "run", "insert"]
"""What the key that sends does; the last two with a completion."""
QUIET = 0.5
"""Seconds without a key after which the dialog of a request is shown, and has the keys."""


class _Gap(Component):
    """An empty row below the transcript, once there is one."""

    def __init__(self, transcript: BlockColumn) -> None:
        self._transcript = transcript

    def render(self, width: int) -> Rows:
        return _ONE if len(self._transcript) else _NONE


_ONE, _NONE = ("",), ()
_SPACIOUS = 24
"""Rows of a screen from which the panels above the editor are set apart."""
_DIALOG_ROWS_AT_LEAST = 15
"""Rows for a dialog; with less, the editor below it is hidden."""


class _Below(Component):
    """An empty row below a panel that is shown, on a high screen."""

    def __init__(self, panel: Component, height: Callable[[], int]) -> None:
        self._panel = panel
        self._height = height

    def render(self, width: int) -> Rows:
        return _ONE if self._height() >= _SPACIOUS and self._panel.render(width) else _NONE


class _UsualHints(KeyHints):
    """The keys of the editor, as they are now; or a message in their place."""

    _shown: Sequence[tuple[str, str]] | None  # None: a message is shown

    def __init__(self, hints: Callable[[], Sequence[tuple[str, str]]], theme: Theme) -> None:
        super().__init__(quiet=True, theme=theme)
        self._usual = hints
        self.be_usual()

    def set_hints(self, hints: Sequence[tuple[str, str]]) -> None:
        self._shown = None
        super().set_hints(hints)

    def be_usual(self) -> None:
        self._shown = ()
        super().set_hints(())

    def render(self, width: int) -> Rows:
        if self._shown is not None and (usual := self._usual()) != self._shown:
            super().set_hints(usual)
            self._shown = usual
        return super().render(width)


class Slot(Container):
    """The place of the editor. `front` has the keys; the editor may stand below it, where `has_room`."""

    def __init__(
        self,
        editor: Component,
        bindings_match: Callable[[Input, str], bool],
        has_room: Callable[[], bool],
        call_soon: Callable[..., object],
        on_exit: Callable[[], object],
        on_writing: Callable[[], object],
    ) -> None:
        """`on_writing`: text for the editor was typed while a dialog is in front that yields to it."""
        super().__init__([editor])
        self.front = editor
        self._editor = editor
        self._matches = bindings_match
        self._has_room = has_room
        self._call_soon = call_soon
        self._on_exit = on_exit
        self._on_writing = on_writing
        self._with_editor = False
        self._heard: Component | None = editor
        """What was in front when the keys that are read now were pressed."""

    def put(self, front: Component, *, with_editor: bool = False) -> None:
        self.front, self._with_editor = front, with_editor
        self._settle()

    def render(self, width: int) -> Rows:
        self._settle()  # the window may have another size now, the draft other rows
        if not self.is_heard:
            # Keys that can be read by now were pressed before this is drawn: the loop reads them in its next turn.
            self._call_soon(self._call_soon, self._hear, self.front)
        return super().render(width)

    @property
    def is_heard(self) -> bool:
        """Whether what is in front was there when the keys that are read now were pressed."""
        is_guarded = self._with_editor or (isinstance(self.front, Answerable) and self.front.guarded)
        return not is_guarded or self._heard is self.front

    def _hear(self, front: Component) -> None:
        self._heard = front

    def _settle(self) -> None:
        both = self._with_editor and self._has_room()
        self.children = [self.front, self._editor] if both else [self.front]

    def _taker(self) -> Component | None:
        return self.front

    def handle_input(self, event: Input) -> bool:
        if not self.is_heard and not self._matches(event, "interrupt"):
            return self._editor.handle_input(event) if self._with_editor else True
        if self.front.handle_input(event):
            return True
        if isinstance(self.front, Answerable):
            if self._matches(event, "interrupt"):
                self.front.done(None)
            elif self._matches(event, "exit"):
                self._on_exit()
            elif self._with_editor and (_is_slash(event) or (self.front.yields_to_draft and _is_text(event))):
                self.front.is_postponed = True
                self._on_writing()
                return self._editor.handle_input(event)
            return True  # a key unknown to the dialog does nothing else
        return False


def _is_text(event: Input) -> bool:
    return isinstance(event, Paste) or (isinstance(event, Key) and event.kind != "release" and bool(event.text))


def _is_slash(event: Input) -> bool:
    return _is_text(event) and isinstance(event, Key) and event.text == "/"


class Mounted:
    """A dialog that is shown."""

    def __init__(self, ask: Answerable, *, above: bool) -> None:
        self.ask = ask
        self.above = above
        self.overlay: OverlayHandle | None = None


class ConsoleScreen:
    """Fills an application's display."""

    def __init__(
        self,
        application: Application,
        transcript: BlockColumn,
        editor: Component,
        *,
        enters: Callable[[], "Enters"],
        is_writing: Callable[[], bool],
        on_exit: Callable[[], object],
        on_free: Callable[[], object],
    ) -> None:
        """`enters`: what the key that sends does now; `is_writing`: there is a draft; `on_exit`: the key to leave was
        pressed and the dialog had no use for it; `on_free`: the last dialog was closed."""
        self._display = application.display
        self._loop = application.loop
        self._linear = application.linear
        self._bindings = application.bindings
        self._editor = editor
        matches, call_soon = application.bindings.matches, self._loop.call_soon
        self.slot = Slot(editor, matches, self._has_room_for_editor, call_soon, on_exit, self._arrange)
        self.widgets_above = Container()
        self.widgets_below = Container()
        self._enters = enters
        self._is_writing = is_writing
        self._on_free = on_free
        self._on_exit = on_exit
        self.hints = _UsualHints(self._usual_hints, application.theme)
        self._gap = _Gap(transcript)
        self._transcript = transcript
        self._below: tuple[Component, ...] = ()
        self._mounted: list[Mounted] = []
        self._last_key = float("-inf")

    def build(self, panels: Sequence[Component], status: Component) -> None:
        apart = [part for panel in panels for part in (panel, _Below(panel, lambda: self._display.surface.size[1]))]
        rows = (self._transcript, self._gap, *apart, self.widgets_above, self.slot, self.widgets_below, status)
        for component in (*rows, self.hints):
            self._display.add(component)
        self._display.set_focus(self.slot)
        self._below = (self.widgets_below, status, self.hints)

    def room(self) -> int:
        """Rows available for a dialog."""
        editor = (child for child in self.slot.children if child is self._editor)
        return self._rows_without(*self._below, *editor)

    def _has_room_for_editor(self) -> bool:
        return self._rows_without(*self._below, self._editor) >= _DIALOG_ROWS_AT_LEAST

    def _rows_without(self, *components: Component) -> int:
        columns, rows = self._display.surface.size
        return rows - sum(len(component.render(columns)) for component in components)

    @property
    def asking(self) -> Answerable | None:
        """The dialog that has, or will have, the keys."""
        return self._mounted[-1].ask if self._mounted else None

    @property
    def has_overlay(self) -> bool:
        return any(mounted.overlay is not None for mounted in self._mounted)

    @property
    def is_answered(self) -> bool:
        """Whether keys go to the dialog: not while it waits for the user to stop typing, or to be drawn."""
        if not self._mounted:
            return False
        return self._mounted[-1].overlay is not None or (self.shows_question and self.slot.is_heard)

    @property
    def shows_question(self) -> bool:
        """Whether a dialog is in front, though keys may not go to it yet."""
        return self.slot.front is not self._editor

    def usual_hints(self) -> None:
        """The keys of the editor, while it has the keys."""
        self.hints.be_usual()

    def _usual_hints(self) -> Sequence[tuple[str, str]]:
        if self.shows_question:
            return ()
        enters = self._enters()
        if enters in ("run", "insert"):
            return (("enter", enters), ("tab", "complete"), ("escape", "close"))
        usual = _HINTED[:-1] if self._is_writing() and not self._linear else _HINTED
        named = (("submit", enters), *((("follow_up", "queue"),) if enters == "steer" else ()), *usual)
        return [(key, meaning) for action, meaning in named for key in self._first_key(action)]

    def _first_key(self, action: str) -> Sequence[str]:
        return (action,) if action.startswith("/") else self._bindings.keys(action)[:1]

    def heard(self) -> None:
        """A key was pressed."""
        self._last_key = self._loop.time()

    def mount(self, ask: Answerable, overlay: Overlay | None, *, above: bool = False) -> Mounted:
        mounted = Mounted(ask, above=above)
        self._mounted.append(mounted)
        if overlay is not None or self._linear:
            guarded = _Guarded(ask, self._bindings, self._on_exit, unprompted=above or ask.guarded)
            mounted.overlay = self._display.show_overlay(guarded, overlay or Overlay())
        self._arrange()
        return mounted

    def unmount(self, mounted: Mounted) -> None:
        self._mounted.remove(mounted)
        if mounted.overlay is not None:
            mounted.overlay.hide()
        self._arrange()
        if not self._mounted:
            self._on_free()

    def _arrange(self) -> None:
        inline = [mounted for mounted in self._mounted if mounted.overlay is None]
        if not inline:
            self.slot.put(self._editor)
        elif inline[-1].above:
            self.slot.put(self._editor)
            self._show_above(inline[-1])
        else:
            self.slot.put(inline[-1].ask)
        self.usual_hints()
        if all(mounted.overlay is None for mounted in self._mounted):
            self._display.set_focus(None)
            self._display.set_focus(self.slot)
        self._display.request_render(urgent=True)

    def _show_above(self, mounted: Mounted) -> None:
        """Show it when the user has stopped typing; where it yields to a draft, when there is none."""
        if not self._mounted or self._mounted[-1] is not mounted:
            return
        wait = self._last_key + QUIET - self._loop.time()
        if (mounted.ask.yields_to_draft or mounted.ask.is_postponed) and self._is_writing():
            wait = QUIET
        if wait > 0:
            self._loop.call_later(wait, self._show_above, mounted)
            return
        mounted.ask.is_postponed = False
        self.slot.put(mounted.ask, with_editor=True)
        self.usual_hints()
        self._display.request_render(urgent=True)


class _Guarded(Container):
    """A dialog as an overlay: a key it does not know goes nowhere else."""

    def __init__(self, ask: Answerable, bindings: Bindings, on_exit: Callable[[], object], *, unprompted: bool) -> None:
        super().__init__([ask])
        self.unprompted = unprompted
        self._ask = ask
        self._bindings = bindings
        self._on_exit = on_exit

    def handle_input(self, event: Input) -> bool:
        if not self._ask.handle_input(event):
            if self._bindings.matches(event, "interrupt"):
                self._ask.done(None)
            elif self._bindings.matches(event, "exit"):
                self._on_exit()
        return True
