"""What the engine knows of anything that is drawn.

- `render(width)` gives rows: strings of at most `width` cells that hold text, SGR and links (`_link`), each complete in
  itself: it begins in the default style and ends in it.
- Rows belong to the component and are never changed by the caller. A component that did not change returns the same
  object as last time: that is how the engine knows, without looking at a row. One that changed returns a new one.
- A component whose rows become history (a transcript, a long text) reports which of them are final, and releases
  those: see `Scrollback`.
"""

from collections.abc import Iterable, Sequence

from sightline.tty.input._keys import Key, Paste

Rows = Sequence[str]
Input = Key | Paste

CURSOR = "\x1b_sightline:cursor\x1b\\"
"""Put by a focused component where the cursor belongs. Takes no cell and never reaches the terminal."""


class Component:
    """Something with rows."""

    wants_key_release = False  # whether key releases are passed to `handle_input` too
    focused = False  # set by the display; only a focused component puts the cursor mark into its rows
    joins_previous = False  # no blank row stands between it and the block before it in a transcript

    def render(self, width: int) -> Rows:
        raise NotImplementedError

    def handle_input(self, event: Input) -> bool:
        """React to a key or pasted text. Returns false when it means nothing here."""
        return False

    def invalidate(self) -> None:
        """Drop cached rows: the theme changed, or they will not be needed again for long."""

    def contains(self, component: "Component") -> bool:
        """Whether a change of `component` can change these rows."""
        return component is self

    def refresh(self, component: "Component") -> None:
        """`component` looks different although it was done: render it again if it is shown here."""

    def dispose(self) -> None:
        """It is removed for good: end timers, processes and watchers."""


class CachedComponent(Component):
    """A component that draws its rows once for each width and `_key`, until it is invalidated."""

    _drawn_for: tuple[object, ...] | None = None
    _rows: Rows = ()

    def _key(self) -> tuple[object, ...]:
        """Everything but the width that the rows depend on, where no call of `invalidate` reports it."""
        return ()

    def _draw(self, width: int) -> Iterable[str]:
        raise NotImplementedError

    def render(self, width: int) -> Rows:
        key = (width, *self._key())
        if key != self._drawn_for:
            self._drawn_for, self._rows = key, tuple(self._draw(width))
        return self._rows

    def invalidate(self) -> None:
        self._drawn_for, self._rows = None, ()


class Scrollback(Component):
    """A component whose rows become history. Row numbers count from the first row it still renders."""

    def live_from(self) -> int | None:
        """The first row that may still change; None when it makes no promise at all."""
        return None

    def safe_to(self) -> int | None:
        """The end of the rows after `live_from` that will not change although what follows them may."""
        return None

    def release(self, rows: int) -> int:
        """The first `rows` rows are history. Returns how many of them no longer appear in `render`."""
        return 0

    def reclaimed(self) -> int:
        """How many released rows are rendered again since the last call, because something changed among them."""
        return 0

    def restore(self) -> None:
        """The history is written anew: render everything again, from the beginning."""
