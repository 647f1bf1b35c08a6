"""The display: components, focus and overlays on one side, a terminal on the other, one frame at a time.

A frame: compose the rows; check whether history is still what components render; advance the ledger; take the cursor
mark out; lay overlays over the window; paint. Nothing here asks where the terminal is scrolled to, and nothing depends
on which terminal it is, except that history is written anew when the size changes, but not in a multiplexer.

A multiplexer that changes its size pushes rows of what it shows into its history by itself, and a view over the whole
screen is no history. So it is drawn apart, on the alternate screen; the frame and the ledger stand still meanwhile, and
what the size did to history is found out when the view is gone.
"""

from collections.abc import Callable
from typing import Protocol

from sightline.tty._component import CURSOR, Component, Input
from sightline.tty._images import ImageStore
from sightline.tty.frame._composer import Composer, Frame
from sightline.tty.frame._continuation import end_of_history
from sightline.tty.frame._cursor import Place, drawn, take_mark
from sightline.tty.frame._ledger import Ledger, first_changed, first_moved
from sightline.tty.frame._overlays import Overlay, OverlayHandle, composite
from sightline.tty.frame._painter import ALTERNATE_SCREEN, NORMAL_SCREEN, Painter
from sightline.tty.frame._redraw_log import RedrawLog
from sightline.tty.frame._scheduler import LONGEST_HOLD, RESIZE_SETTLE, TMUX_LONGEST_HOLD, TMUX_SETTLE, Clock, Scheduler
from sightline.tty.input._focus import Focus
from sightline.tty.terminal._capabilities import Capabilities


class Surface(Protocol):
    """Where bytes go."""

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows."""

    @property
    def busy(self) -> bool:
        """Whether earlier bytes still wait to be taken: no frame is drawn then."""

    def write(self, text: str) -> None: ...


class Display:
    """Draws its children into the terminal's own scrollback, each row exactly once."""

    def __init__(
        self, surface: Surface, capabilities: Capabilities, clock: Clock | None = None, images: ImageStore | None = None
    ) -> None:
        self.surface = surface
        self.images = images or ImageStore(
            capabilities.images, cell=capabilities.cell_size or (10, 20), placeholders=capabilities.kitty_placeholders
        )
        self.images.on_change = self.refresh
        self.capabilities = capabilities
        self.focus = Focus()
        self.on_debug: Callable[[], None] | None = None  # called for the debug key, before any component sees it
        self.on_apart: Callable[[bool], object] = lambda is_apart: None  # a view is on the alternate screen, or not
        self.log: RedrawLog | None = None
        self._composer = Composer()
        self._ledger = Ledger()
        self._painter = Painter(capabilities)
        self._overlays: list[OverlayHandle] = []
        self._scheduler = Scheduler(clock, self._draw) if clock is not None else None
        self._history: list[str] = []  # rows that are history and still composed, as last seen: for the audit
        self._history_start = 0
        self._released = 0
        self._size: tuple[int, int] | None = None
        self._only: set[Component] | None = set()
        # Also when the size is the same again: in between, the terminal may have moved rows to its history.
        self._resized = False
        self._cursor: Place | None = None  # where the focused component had it in the last frame
        self._drawn_width = 0
        self._apart: tuple[int, int] | None = None  # the size a view has on the alternate screen, while one is there
        self._covered = False  # by an overlay: what of the painted window leaves the screen is no copy of the frame
        self._force = False
        self._replace = False
        self._waiting = False
        self._after_frame: list[Callable[[], object]] = []

    @property
    def children(self) -> list[Component]:
        return self._composer.children

    def add(self, component: Component) -> None:
        self.children.append(component)
        self.request_render()

    def remove(self, component: Component) -> None:
        self.children.remove(component)
        if self.focus.component is not None and component.contains(self.focus.component):
            self.set_focus(None)
        self.request_render()

    def show_overlay(self, component: Component, options: Overlay | None = None) -> OverlayHandle:
        """Lay a component over the window and give it the focus. Nothing becomes history meanwhile."""
        handle = OverlayHandle(component, options or Overlay(), self.focus.component, self._overlay_changed)
        self._overlays.append(handle)
        self.set_focus(component)
        self.request_render(urgent=True)
        return handle

    def _overlay_changed(self) -> None:
        for handle in [handle for handle in self._overlays if handle.gone]:
            self._overlays.remove(handle)
            if handle.has_focus(self.focus.component):
                self.set_focus(handle.focus_before)
        self._correct_focus()
        self.request_render(urgent=True)

    def visible_overlays(self) -> list[OverlayHandle]:
        if not self._overlays:
            return []
        columns, rows = self.surface.size
        return [handle for handle in self._overlays if handle.is_visible(columns, rows)]

    def adopt(self, rows: list[str], cursor: Place, size: tuple[int, int] | None = None) -> None:
        """Rows that were drawn before there was a display, when the terminal had this size, become its window: they
        are redrawn only where they change."""
        self._painter.adopt(rows, cursor)
        self._size = size or self.surface.size

    def refresh(self, component: Component) -> None:
        """A component looks different although it was thought to be done: what is not history shows it."""
        for child in self.children:
            child.refresh(component)
        self.request_render()

    def set_capabilities(self, capabilities: Capabilities) -> None:
        """The terminal turned out to be another one than was thought."""
        self.capabilities = self._painter.capabilities = capabilities

    def invalidate(self) -> None:
        """The theme changed: everything that is not history looks different."""
        for component in (*self.children, *(handle.component for handle in self._overlays)):
            component.invalidate()
        self.request_render(urgent=True)

    def set_focus(self, component: Component | None) -> None:
        self.focus.set(component)

    def add_input_listener(self, listener: Callable[[Input], Input | None]) -> Callable[[], None]:
        """Let `listener` see input before components do: it may answer with other input, or with None to take it."""
        return self.focus.add_listener(listener)

    def handle_input(self, event: Input) -> bool:
        """Dispatch a key or pasted text. Returns whether a component or listener took it."""
        self._correct_focus()
        taken = self.focus.dispatch(event, self.on_debug)
        if taken is not None:
            self.request_render(urgent=True)
        return bool(taken)

    def _correct_focus(self) -> None:
        """An overlay that is not visible any more loses the focus to the next visible one, or to what had it before."""
        hidden = [handle for handle in self._overlays if handle.has_focus(self.focus.component)]
        if not hidden or hidden[0].is_visible(*self.surface.size):
            return
        visible = self.visible_overlays()
        self.set_focus(visible[-1].component if visible else hidden[0].focus_before)

    def request_render(
        self,
        component: Component | None = None,
        *,
        urgent: bool = False,
        force: bool = False,
        clear_scrollback: bool = False,
    ) -> None:
        """Request a frame. Given a component, only what contains it is rendered anew, if nothing else is requested."""
        if component is None:
            self._only = None
        elif self._only is not None:
            self._only.add(component)
        self._force = self._force or force
        self._replace = self._replace or clear_scrollback
        if self._scheduler is not None:
            self._scheduler.request(urgent=urgent or force or clear_scrollback, small=component is not None)

    def resized(self) -> None:
        """The surface has another size: draw when it has been still for a moment."""
        self._only = None
        self._resized = True
        self._correct_focus()
        if self._scheduler is not None:
            in_tmux = self.capabilities.multiplexer == "tmux"
            self._scheduler.hold(*(TMUX_SETTLE, TMUX_LONGEST_HOLD) if in_tmux else (RESIZE_SETTLE, LONGEST_HOLD))

    def reset(self) -> None:
        """Clear the screen and draw everything anew, on the user's request."""
        self.request_render(force=True, clear_scrollback=True)

    def after_frame(self, callback: Callable[[], object]) -> None:
        """Call this once, when the next frame was drawn."""
        self._after_frame.append(callback)

    def drained(self) -> None:
        """The surface took everything: a frame that waited for that can be drawn."""
        if self._waiting:
            self._waiting = False
            self._draw()

    def _draw(self) -> None:
        if self.surface.busy:
            self._waiting = True
            return
        self.render_now()

    @property
    def way_back(self) -> str:
        """What brings back the normal screen, for a terminal that is left without another frame."""
        return NORMAL_SCREEN if self._apart else ""

    def stop(self) -> None:
        """Leave the terminal for good: everything above the chrome stays as it stands, the chrome is erased."""
        self._release_window(lambda frame: frame.chrome)

    def pause(self) -> None:
        """Leave the terminal for a while: what is final stays, the rest is erased and drawn again by `resume`."""
        self._release_window(lambda frame: frame.boundary)

    def _release_window(self, end: Callable[[Frame], int]) -> None:
        if self._scheduler is not None:
            self._scheduler.stop()
        if self._apart:
            self._return_to_window()
            self._make_room(*self.surface.size)
            self._size = self.surface.size
        if self._size is None:
            return
        frame = self._frame(self._size[0], None)
        self._match_history(frame, *self._size)
        step = self._ledger.settle(end(frame), frame.length)
        rows, _ = take_mark(frame.between(step.start, step.end))
        self.surface.write(self._painter.settle(rows, *self._size))
        self._remember(frame)

    def resume(self) -> None:
        """The terminal is ours again, with whatever stands above the cursor now."""
        self._painter.forget()
        self._size = None
        self.request_render(urgent=True)

    def render_now(self) -> None:
        if self._only and self._patched(self._only):
            return
        columns, height = self.surface.size
        resized = self._size is not None and (self._resized or self._size != (columns, height))
        overlays = self.visible_overlays()
        if self.capabilities.multiplexer and any(handle.options.whole for handle in overlays):
            self._draw_apart(overlays, columns, height, resized=resized)
            return
        if self._apart:
            self._return_to_window()
        gesture = (resized or self._replace) and not self.capabilities.multiplexer
        only = None if self._force or self._replace or resized or self._overlays else self._only or None
        if resized and not gesture:
            self._make_room(columns, height)
        elif (self._force or self._replace) and not gesture:
            self._painter.erase(columns, height)
        self._size = columns, height
        self._nothing_requested()
        if gesture:
            self._start_over()
        frame = self._frame(columns, only)
        self._match_history(frame, columns, height)
        text = self._step(frame, overlays, columns, height, gesture=gesture)
        if self.log is not None:
            self._log("replay" if gesture else "resize" if resized else "update", frame, text)
        self._write(text)

    def _nothing_requested(self) -> None:
        self._resized = self._force = self._replace = False
        self._only = set()

    def _draw_apart(self, overlays: list[OverlayHandle], columns: int, height: int, *, resized: bool) -> None:
        rows, cursor = self._with_cursor(composite([], overlays, columns, height), columns)
        if not self._apart:
            if resized:
                self._make_room(columns, height)
            self._size = columns, height
            self._painter.switch(ALTERNATE_SCREEN, columns, height)
            self.on_apart(True)
        elif self._resized or self._apart != (columns, height):
            self._painter.reflow(columns, height)
        elif self._force or self._replace:
            self._painter.erase(columns, height)
        self._apart = columns, height
        self._nothing_requested()
        self._painter.send(self.images.take_pending())
        text = self._painter.update(rows, 0, cursor, columns, height)
        if self.log is not None:
            self.log.add("apart", rows=len(rows), characters=len(text))
        self._write(text)

    def _return_to_window(self) -> None:
        self._painter.switch(NORMAL_SCREEN, *self.surface.size)
        self._apart = None
        self.on_apart(False)

    def _log(self, what: str, frame: Frame, text: str) -> None:
        assert self.log is not None
        ledger = self._ledger
        numbers = {"C": ledger.committed, "W": ledger.top, "B": frame.boundary, "L": frame.length}
        self.log.add(what, **numbers, composed=len(frame.rows), characters=len(text))

    def _patched(self, only: set[Component]) -> bool:
        """The short way for a spinner: rows of the window that changed in place, and nothing else happened."""
        if self._force or self._replace or self._resized or self._overlays or self._size != self.surface.size:
            return False
        rows = self._composer.patch(only)
        top = self._ledger.top
        if rows is None or any(index < top or CURSOR in row for index, row in rows) or self._cursor_is_drawn():
            return False
        self._only = set()
        self._painter.send(self.images.take_pending())
        text = self._painter.patch(((index - top, row) for index, row in rows), self._cursor, self._size[0])
        if self.log is not None:
            self.log.add("patch", rows=len(rows), characters=len(text))
        self._write(text, small=True)
        return True

    def _cursor_is_drawn(self) -> bool:
        return self._cursor is not None and not self.capabilities.hardware_cursor

    def _start_over(self) -> None:
        self.images.screen_cleared()
        self._composer.restore()
        self._ledger.restart()
        self._history, self._history_start = [], 0
        self._released = self._drawn_width = 0

    def _write(self, text: str, *, small: bool = False) -> None:
        if text:
            self.surface.write(text)
        self._was_drawn(small=small)

    def _was_drawn(self, *, small: bool = False) -> None:
        if self._scheduler is not None:
            self._scheduler.drawn(small=small)
        waiting, self._after_frame = self._after_frame, []
        for callback in waiting:
            callback()

    def _frame(self, columns: int, only: set[Component] | None) -> Frame:
        frame = self._composer.compose(columns, only)
        if self._composer.moved_at is not None:
            self._ledger.resync(self._composer.moved_at)
            self._composer.moved_at = None
            self._history, self._history_start = [], frame.start
        elif frame.start < self._history_start:
            self._ledger.resync(frame.start)
            self._history, self._history_start = [], frame.start
        return frame

    def _match_history(self, frame: Frame, columns: int, height: int) -> None:
        """Find where the frame continues after history, which may have been wrapped at another width."""
        if self._drawn_width in (0, columns):
            self._audit(frame)
        else:
            self._continued(frame, columns, height)
        self._drawn_width = columns

    def _audit(self, frame: Frame) -> None:
        """Has a component changed what is history? Then it is written again from there: doubled, never lost."""
        if frame.length <= self._ledger.committed:
            return
        if frame.chrome < self._ledger.committed:
            # So much was removed that what stands below would pass for history.
            self._ledger.resync(max(frame.start, frame.chrome))
            self._history = self._history[: max(0, self._ledger.committed - self._history_start)]
        if not self._history:
            return
        now = frame.between(self._history_start, self._ledger.committed)
        if now == self._history:
            return
        written, now = take_mark(list(self._history))[0], take_mark(now)[0]
        firm = self._ledger.firm - self._history_start
        moved = first_moved(written[:firm], now[:firm])
        if moved is None:
            moved = first_changed(written, now, firm)
        if moved is not None:
            self._ledger.resync(self._history_start + moved)

    def _step(self, frame: Frame, overlays: list[OverlayHandle], columns: int, height: int, *, gesture: bool) -> str:
        step = self._ledger.step(frame.length, frame.boundary, height, frozen=bool(overlays))
        if step.top < frame.start or step.start < frame.start:
            # The frame shrank to before what is still composed.
            self._composer.restore()
            self._released = 0
            frame = self._composer.compose(columns)
            # What was history may look different by now, and be longer.
            step = self._ledger.step(frame.length, frame.boundary, height, frozen=bool(overlays))
        chunk, _ = take_mark(frame.between(step.start, step.end))
        window = frame.between(step.top, frame.length)
        self._covered = bool(overlays)
        if overlays:
            window = composite(window, overlays, columns, height)
        window, cursor = self._with_cursor(window, columns)
        self._painter.send(self.images.take_pending())
        if gesture:
            text = self._painter.full(chunk, window, cursor, columns)
        else:
            text = self._painter.update(chunk + window, len(chunk), cursor, columns, height)
        self._remember(frame)
        return text

    def _with_cursor(self, rows: list[str], columns: int) -> tuple[list[str], Place | None]:
        """The rows without the mark, and where the terminal's own cursor belongs."""
        rows, self._cursor = take_mark(rows)
        if self._cursor is not None and self._cursor_is_drawn():
            return drawn(rows, self._cursor, columns), None
        return rows, self._cursor

    def _remember(self, frame: Frame) -> None:
        """Release rows that are history from the composition; those that cannot leave yet are for the audit."""
        if self._ledger.firm != self._released:
            self._released = self._ledger.firm
            self._composer.release(self._released)
        self._history_start = self._composer.start
        self._history = frame.between(self._history_start, self._ledger.committed)

    def _make_room(self, columns: int, height: int) -> None:
        """What the multiplexer pushed into history by itself is history, final or not; the rest is erased."""
        out_of_reach = self._painter.reflow(columns, height)
        if self._ledger.top == self._ledger.committed and not self._covered:
            frame = self._composer.frame
            self._ledger.pushed(out_of_reach, frame.boundary, frame.chrome)
            self._remember(frame)

    def _continued(self, frame: Frame, columns: int, height: int) -> None:
        """History was wrapped at another width: find where the frame continues after it."""
        # What stands below is never history, however many letters a component lost with its width.
        rows = frame.rows[: frame.chrome - frame.start]
        firm, done, rest = end_of_history(rows, self._history, self._ledger.firm - self._history_start)
        self._ledger.continue_at(frame.start + firm, frame.start + done + (rest is not None))
        if rest is not None:
            self._painter.commit([rest], 1, columns, height)
