"""One line of text to type, that scrolls sideways when it is longer than the row."""

from collections.abc import Callable, Iterator

from sightline.text import clean_line
from sightline.tty._component import CURSOR, Component, Rows
from sightline.tty._component import Input as InputEvent
from sightline.tty.cells._width import measure, truncate
from sightline.tty.components.editor._clusters import before, units_from
from sightline.tty.components.editor._editing import DO, Editing
from sightline.tty.components.editor._frame import empty
from sightline.tty.input._bindings import Bindings
from sightline.tty.input._keys import Key, Paste
from sightline.tty.theme._theme import PLAIN, Theme


class Input(Component):
    """A prompt and what is typed after it. With `mask`, each character is shown as that one.

    Set what is to be called: `on_submit(text)` on enter (the text stays: `set_text("")` empties it), `on_change(text)`
    after each change, `on_cancel()` on escape and ctrl+c. A key without its callback means nothing here.
    """

    on_submit: Callable[[str], None] | None = None
    on_change: Callable[[str], None] | None = None
    on_cancel: Callable[[], None] | None = None

    def __init__(
        self,
        *,
        prompt: str = "› ",
        placeholder: str = "",
        mask: str | None = None,
        bindings: Bindings | None = None,
        theme: Theme = PLAIN,
    ) -> None:
        self._theme = theme
        self._prompt, self._placeholder = clean_line(prompt), clean_line(placeholder)
        self._mask = None if mask is None else truncate(clean_line(mask), 1, "") or "*"
        self._bindings = bindings or Bindings()
        self._editing = Editing()
        self._first = 0
        self._rows: tuple[object, tuple[str, ...]] | None = None

    @property
    def text(self) -> str:
        return self._editing.buffer.line

    @property
    def cursor(self) -> int:
        return self._editing.buffer.cursor[1]

    def set_text(self, text: str) -> None:
        self._editing.buffer.set_text(clean_line(text))

    def set_placeholder(self, placeholder: str) -> None:
        """Another hint in place of the text while there is none."""
        self._placeholder = clean_line(placeholder)
        self.invalidate()

    def handle_input(self, event: InputEvent) -> bool:
        version = self._editing.buffer.version
        known = self._react(event)
        if self._editing.buffer.version != version and self.on_change is not None:
            self.on_change(self.text)
        return known

    def render(self, width: int) -> Rows:
        state = (width, self.focused, self._editing.buffer.version, self.cursor)
        if self._rows is None or self._rows[0] != state:
            self._rows = (state, (self._draw(max(0, width)),))
        return self._rows[1]

    def invalidate(self) -> None:
        self._rows = None

    def _react(self, event: InputEvent) -> bool:
        if isinstance(event, Paste):
            self._editing.paste(clean_line(event.text))
            return True
        if event.kind == "release":
            return False
        if self._bindings.matches(event, "submit"):
            return _called(self.on_submit, self.text)
        if not self.text and self._bindings.matches(event, "exit"):
            return False  # with nothing to delete the key means what it means elsewhere
        action = next((name for name in DO if self._bindings.matches(event, name)), None)
        if action is not None:
            self._editing.do(action)
            return True
        if self._bindings.matches(event, "interrupt"):
            return _called(self.on_cancel)
        return self._type(event)

    def _type(self, event: Key) -> bool:
        typed = clean_line(event.text)
        if typed:
            self._editing.type(typed)
        return bool(typed)

    def _draw(self, width: int) -> str:
        prompt = truncate(self._prompt, width, "")
        room = width - measure(prompt)
        if not self.text:
            hint = empty(self._theme, self._placeholder, room, focused=self.focused)
            return self._theme.style("accent", prompt) + hint
        self._scroll(room)
        return self._theme.style("accent", prompt) + "".join(self._pieces(room))

    def _scroll(self, room: int) -> None:
        """Scroll as little as possible for the cursor to be visible, with a cell for it to stand on."""
        line, cursor = self.text, self.cursor
        if cursor < self._first:
            self._first = cursor
        fits, used = cursor, 0
        while fits > self._first:
            start = before(line, fits)
            used += self._cells(line[start:fits])
            if used > room - 1:
                break
            fits = start
        self._first = fits

    def _pieces(self, room: int) -> Iterator[str]:
        position, used = self._first, 0
        for unit, _ in units_from(self.text, self._first):
            cells = self._cells(unit)
            if used + cells > room:
                break
            if position == self.cursor and self.focused:
                yield CURSOR
            yield self._mask or unit
            used += cells
            position += len(unit)
        if position == self.cursor and self.focused:
            yield CURSOR

    def _cells(self, unit: str) -> int:
        return measure(self._mask) if self._mask else measure(unit)


def _called(callback: Callable[..., None] | None, *arguments: str) -> bool:
    if callback is None:
        return False
    callback(*arguments)
    return True
