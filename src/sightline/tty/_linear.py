"""The same components as plain lines, for screen readers and for terminals that cannot move their cursor.

- Lines are only ever added: no sequence is written at all, nothing is taken back.
- A row is written when it is final, once, in order. What a block shows while it changes is not written.
- What stands below the transcript (the editor, hints) is not written. Instead there is a prompt when nothing is in
  progress and nothing was written for a moment. A line that is typed goes to the focused component, as if it had been
  typed there, in place of whatever was there, and entered.
- An overlay is written when it appears, and what of it is new when an answer changed it. Its choices have numbers: a
  number that is entered chooses, 0 cancels. A line that is neither a choice nor a text it takes chooses nothing, least
  of all what happens to be highlighted. A dot and a key (`.ctrl+t`) press it, with a number on that choice; a letter
  alone is no key there.
- A line that was entered before an overlay that the user did not request (`unprompted`) was written is no answer to it:
  it is reported, and not taken.
- An empty line enters what stands in an editor, which was written when it was put there.
- The program may know better that something is in progress (`is_busy`): then there is no prompt.
- Input that ended ends the program, but not while something is in progress (`end_when_quiet`).
- The width is that of the beginning, for good: lines that were written do not change when the window does.
"""

from collections.abc import Callable, Iterator, Sequence

from sightline.text import clean_line
from sightline.tty._component import Component, Rows, Scrollback
from sightline.tty.components._input import Input
from sightline.tty.components._key_hints import KeyHints
from sightline.tty.components._select import SelectList
from sightline.tty.components.editor import Editor
from sightline.tty.frame._composer import Frame
from sightline.tty.frame._cursor import Place
from sightline.tty.frame._display import Display, Surface
from sightline.tty.frame._overlays import OverlayHandle
from sightline.tty.frame._scheduler import Clock, Timer
from sightline.tty.input._keys import Key, KeySpecError, Paste, character_key, parse_key
from sightline.tty.terminal._capabilities import Capabilities

PROMPT = "> "
QUIET = 0.1  # seconds without output before the prompt
LAST_QUIET = 0.5  # and before the end
_HEARD_AFTER = 0.05  # seconds after which what could be read when an overlay was written has been read


class LinearDisplay(Display):
    """A display that only appends."""

    def __init__(self, surface: Surface, capabilities: Capabilities, clock: Clock | None = None) -> None:
        super().__init__(surface, capabilities, clock)
        self._prompted = False
        self._announced: OverlayHandle | None = None
        self._clock = clock
        self._quiet_timer: Timer | None = None
        self._leave: Callable[[], object] | None = None
        self._announced_rows: tuple[OverlayHandle | None, list[str]] = (None, [])  # the last overlay, as it was written
        self._unheard: OverlayHandle | None = None  # written so lately that a line read now was entered before
        self.is_busy: Callable[[], bool] = lambda: False

    def render_now(self) -> None:
        """Write what became final."""
        columns = self._width()
        only = None if self._force or self._replace else self._only or None
        self._only, self._force, self._replace = set(), False, False
        frame = self._frame(columns, only)
        self._audit(frame)
        self._finish(frame, frame.boundary, columns)
        self._announce()
        if self._announced is not None or self._is_idle(frame, columns):
            self._await_quiet()
        else:
            self._forget_quiet()
        self._was_drawn()

    def enter(self, line: str) -> None:
        self._prompted = False
        focused = self.focus.component
        if focused is None:
            return None
        if self._is_early():
            return self._write_rows([f"entered before the question, so not its answer: {line}"] if line else [])
        chosen = _list_in(focused)
        if self.visible_overlays() and line.startswith(".") and self._press(chosen, line[1:]):
            return self._answered()
        if chosen is not None and _choose(chosen, line):
            return self._answered()
        if chosen is not None and line == "0":
            self.handle_input(Key("escape"))
            return self._answered()
        if line or chosen is not None:
            _empty(focused)
        before = focused.render(self._width())
        if line:
            is_key = len(line) == 1 and not self.visible_overlays()  # there they are entered after a dot
            self.handle_input(character_key(line) if is_key else Paste(line))
        if self.focus.component is focused and self._is_to_be_entered(focused, line, before):
            self.handle_input(Key("enter"))
        elif chosen is not None and focused.render(self._width()) == before and line:
            self._write_rows([f"no such choice: {line}"])
        return self._answered()

    def _is_to_be_entered(self, focused: Component, line: str, before: Rows) -> bool:
        """Where it is known, only what became text: a letter may have been a key that did something."""
        written = _written(focused)
        if written is not None:
            return bool(written) or (not line and _list_in(focused) is None)
        return len(line) != 1 or focused.render(self._width()) != before

    def _press(self, choices: SelectList | None, words: str) -> bool:
        """A key by its name, on the choice with a number if one is given. False if it is none."""
        name, _, number = words.strip().partition(" ")
        try:
            key = character_key(name) if len(name) == 1 else parse_key(name)
        except KeySpecError:
            return False
        if choices is not None and (at := _numbered(choices, number)):
            _highlight(choices, at)
        self.handle_input(key)
        return True

    def end_when_quiet(self, leave: Callable[[], object]) -> None:
        """No more lines follow: leave when what is in progress has ended."""
        self._leave = leave
        self._forget_quiet()
        self.request_render(urgent=True)

    def resized(self) -> None:
        """Lines that were written stay as they are, and those to come look like them."""

    def adopt(self, rows: list[str], cursor: Place, size: tuple[int, int] | None = None) -> None:
        """There is no window to take rows over into."""

    def stop(self) -> None:
        """Nothing changes any more: what was not final yet is now."""
        if self._scheduler is not None:
            self._scheduler.stop()
        self._forget_quiet()
        columns = self._width()
        frame = self._frame(columns, None)
        self._finish(frame, frame.length, columns)
        self._end_prompt()

    def _width(self) -> int:
        if self._size is None:
            self._size = self.surface.size
        return self._size[0]

    def _finish(self, frame: Frame, final: int, columns: int) -> None:
        """Rows before `final` are written, unless they were or stand below the transcript."""
        final = min(final, frame.length - self._rows_below(columns))
        # One row more than there is: where every row is final, the frame has not shrunk into history.
        step = self._ledger.step(frame.length + 1, final, 0)
        self._write_rows(frame.between(step.start, step.end))
        self._remember(frame)

    def _rows_below(self, columns: int) -> int:
        """How many rows are not for good: those after the last transcript, or else from where the focus is on."""
        below: list[Component] = []
        for child in reversed(self.children):
            if isinstance(child, Scrollback):
                break
            below.append(child)
        else:
            focused = self.focus.component
            holders = [child for child in self.children if focused is not None and child.contains(focused)]
            below = self.children[self.children.index(holders[0]) :] if holders else []
        return sum(len(child.render(columns)) for child in below)

    def _is_idle(self, frame: Frame, columns: int) -> bool:
        return frame.boundary >= frame.length - self._rows_below(columns) and not self.is_busy()

    def _announce(self) -> None:
        visible = self.visible_overlays()
        overlay = visible[-1] if visible else None
        if overlay is self._announced:
            return
        self._announced = overlay
        if overlay is not None:
            rows = [*_spoken(overlay.component, self._width())]
            if self._announced_rows[0] is not overlay and self._clock is not None:
                self._unheard = overlay
                self._clock.call_later(_HEARD_AFTER, self._hear)
            before = self._announced_rows[1] if self._announced_rows[0] is overlay else []
            known = next((at for at, pair in enumerate(zip(rows, before, strict=False)) if pair[0] != pair[1]), 0)
            self._announced_rows = (overlay, rows)
            self._write_rows(rows[known:])

    def _hear(self) -> None:
        self._unheard = None

    def _is_early(self) -> bool:
        visible = self.visible_overlays()
        if not visible or not getattr(visible[-1].component, "unprompted", False):
            return False
        return visible[-1] is not self._announced_rows[0] or visible[-1] is self._unheard

    def _answered(self) -> None:
        self._announced = None
        self.request_render(urgent=True)

    def _await_quiet(self) -> None:
        if self._clock is None:
            self._quiet()
        elif self._quiet_timer is None:
            self._quiet_timer = self._clock.call_later(LAST_QUIET if self._leave else QUIET, self._quiet)

    def _forget_quiet(self) -> None:
        if self._quiet_timer is not None:
            self._quiet_timer.cancel()
            self._quiet_timer = None

    def _quiet(self) -> None:
        self._quiet_timer = None
        if self._leave is not None:
            self._leave()
        elif self.focus.component is not None:
            self._show_prompt()

    def _write_rows(self, rows: Sequence[str]) -> None:
        if rows:
            self._forget_quiet()
            self._end_prompt()
            self.surface.write("".join(f"{readable(row)}\n" for row in rows))

    def _show_prompt(self) -> None:
        if not self._prompted:
            self._prompted = True
            self.surface.write(PROMPT)

    def _end_prompt(self) -> None:
        if self._prompted:
            self._prompted = False
            self.surface.write("\n")


def readable(row: str) -> str:
    """What can be read of a row: no style, no links, no pictures."""
    return clean_line(row).rstrip()


def _spoken(component: Component, columns: int) -> Iterator[str]:
    choices = _list_in(component)
    if choices is None and not _has_hints(component):
        yield from component.render(columns)
        return
    yield from _around(component, choices, columns)
    if choices is None:
        return
    for number, item in enumerate(choices.matching, start=1):
        yield f"{number}. {item.label}" + (f": {item.description}" if item.description else "")
    yield "Enter a number to choose" + (", 0 to cancel." if choices.on_cancel is not None else ".")


def _around(component: Component, choices: SelectList | None, columns: int) -> Iterator[str]:
    """What stands around a list: the text of its siblings."""
    if isinstance(component, KeyHints):
        yield from (f"keys, entered after a dot: {readable(row)}" for row in component.render(columns * 4))
    elif isinstance(component, Input):
        if component.text:
            yield f"now: {clean_line(component.text)}"
    elif _has_hints(component) or (choices is not None and _list_in(component) is not None):
        for child in getattr(component, "children", ()):
            yield from _around(child, choices, columns) if child is not choices else ()
    else:
        yield from component.render(columns)


def _has_hints(component: Component) -> bool:
    return isinstance(component, KeyHints) or any(map(_has_hints, getattr(component, "children", ())))


def _list_in(component: Component) -> SelectList | None:
    if isinstance(component, SelectList):
        return component
    found = (_list_in(child) for child in getattr(component, "children", ()))
    return next((one for one in found if one is not None), None)


def _written(component: Component) -> str | None:
    """The text in what is typed into; None where there is nothing of the kind."""
    if isinstance(component, SelectList):
        return component.query
    if isinstance(component, Input | Editor):
        return component.text
    found = [text for child in getattr(component, "children", ()) if (text := _written(child)) is not None]
    return "".join(found) if found else None


def _empty(component: Component) -> None:
    """Remove what was typed before: the user would not see it."""
    choices = _list_in(component)
    if choices is not None:
        choices.set_query("")
    elif isinstance(component, Input | Editor):
        component.set_text("")
    else:
        for child in getattr(component, "children", ()):
            _empty(child)


def _choose(choices: SelectList, line: str) -> bool:
    number = _numbered(choices, line)
    if not number:
        return False
    _highlight(choices, number)
    choices.choose()
    return True


def _numbered(choices: SelectList, line: str) -> int:
    """The number of a choice, written as it was shown; 0 when it is none."""
    number = int(line) if line.isascii() and line.isdecimal() and len(line) < 10 else 0
    return number if line == str(number) and number <= len(choices) else 0


def _highlight(choices: SelectList, number: int) -> None:
    at = [item.value for item in choices.matching].index(choices.highlighted.value) if choices.highlighted else 0
    choices.move(number - 1 - at)
