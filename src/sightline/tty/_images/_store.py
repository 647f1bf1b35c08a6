"""The images of one terminal: which are shown as pixels, what was sent for them, and what must be sent next.

Rules:

- An image's bytes go to the terminal once. After that it is placed by its number. They go again only when the terminal
  threw them away: after the screen was cleared, which only a gesture of the user does.
- What must reach the terminal before a frame (bytes, virtual placements, deletions) waits in `take_pending`. It belongs
  behind a clear of the screen and before the first row.
- At most `limit` images are pixels. One that has to give way is deleted from the terminal, and its component notified.
- Decoding and encoding are work for another thread, if `background` is given: until it is done there is text.
"""

from binascii import b2a_base64
from collections.abc import Callable
from os import urandom

from sightline.tty._component import Component
from sightline.tty._images import _kitty
from sightline.tty._images._header import ImageHeader, read_header
from sightline.tty._images._row import ImageRow
from sightline.tty.terminal._capabilities import ImageProtocol

Background = Callable[[Callable[[], None], Callable[[], None]], None]
"""Runs the first somewhere else, then the second on the loop."""

_LARGEST = 16 * 1024 * 1024
_KITTY_PIXELS = (2400, 1600)  # a re-encoded image is sent at most this large: more than a screen shows anyway
NEEDS_DECODER = "to see it: pip install 'sightline[images]'"


class ImageBudget:
    """Which images the terminal has to hold as pixels: those with the highest numbers.

    One that had to give way stays text, and so does every older one: taking turns would redraw both for ever.
    """

    def __init__(self, limit: int) -> None:
        self._limit = max(limit, 0)
        self._live: set[int] = set()
        self._floor = -1

    def admit(self, number: int) -> list[int]:
        """Admit an image: returns the numbers of those that must give way for it, perhaps its own."""
        if number in self._live or self.is_refused(number):
            return []
        self._live.add(number)
        demoted = sorted(self._live)[: max(len(self._live) - self._limit, 0)]
        self._live.difference_update(demoted)
        self._floor = max([self._floor, *demoted])
        return demoted

    def is_refused(self, number: int) -> bool:
        return number <= self._floor

    def is_live(self, number: int) -> bool:
        return number in self._live

    def release(self, number: int) -> None:
        self._live.discard(number)


class Picture:
    """One image, as the store knows it."""

    def __init__(self, number: int, data: bytes, owner: Component) -> None:
        self.number = number
        self.owner = owner
        self.header: ImageHeader | None = read_header(data) if len(data) <= _LARGEST else None
        self.data = data if self.header is not None else b""
        self.problem = "" if self.header is not None else "too large" if len(data) > _LARGEST else "not readable"
        self.sent = False
        self.placed: tuple[int, int] | None = None
        self.drawing: str | bytes | None = None
        self.drawing_for: tuple[int, int] | None = None
        self.at_work = False


class ImageStore:
    """Draws pictures in the way the terminal knows, within a budget."""

    def __init__(
        self,
        protocol: ImageProtocol = "none",
        *,
        cell: tuple[int, int] = (10, 20),
        placeholders: bool = False,
        limit: int = 8,
        first_number: int | None = None,
        background: Background | None = None,
    ) -> None:
        self.protocol = protocol
        self.cell = cell
        self.placeholders = placeholders
        self.on_change: Callable[[Component], None] | None = None  # a component has to be rendered again
        self._budget = ImageBudget(limit)
        self._background = background
        # Other programs may have left images in the same terminal: begin where they hardly will.
        self._next = first_number or _kitty.FIRST_ID + int.from_bytes(urandom(2), "big") * 128
        self._live: dict[int, Picture] = {}
        self._pending: list[tuple[int, list[str]]] = []

    def picture(self, data: bytes, owner: Component) -> Picture:
        """Make an image known. Nothing is sent before it is drawn."""
        number, self._next = self._next, self._next + 1
        return Picture(number, data, owner)

    def fit(self, picture: Picture, columns: int, rows: int) -> tuple[int, int]:
        """The cells it takes: its own size, or what fits, in its own proportions."""
        header = picture.header
        if header is None:
            return 1, 1
        cell_width, cell_height = max(self.cell[0], 1), max(self.cell[1], 1)
        columns, rows = min(max(columns, 1), _kitty.MOST_CELLS), min(max(rows, 1), _kitty.MOST_CELLS)
        scale = min(1.0, columns * cell_width / header.width, rows * cell_height / header.height)
        wide = -int(-header.width * scale // cell_width)
        high = -int(-header.height * scale // cell_height)
        return min(max(wide, 1), columns), min(max(high, 1), rows)

    def draw(self, picture: Picture, columns: int, rows: int) -> list[str] | None:
        """Rows with the image in so many cells; None while, or because, there are no pixels to see."""
        if self._budget.is_refused(picture.number):
            return None
        drawing = self._drawing(picture, (columns, rows))
        if drawing is None or not self._admitted(picture):
            return None
        if isinstance(drawing, str):
            return _at_cursor(drawing, rows)
        self._send(picture, drawing)
        if not self.placeholders:
            return _at_cursor(_kitty.place(picture.number, columns, rows), rows)
        if picture.placed != (columns, rows):
            picture.placed = (columns, rows)
            self._pending.append((picture.number, [_kitty.place_virtually(picture.number, columns, rows)]))
        return _kitty.placeholders(picture.number, columns, rows)

    def take_pending(self) -> list[str]:
        """What to write before the next frame's rows. Each is handed out once."""
        pending, self._pending = self._pending, []
        return [text for _, texts in pending for text in texts]

    def screen_cleared(self) -> None:
        """The whole screen was erased, and with it what the terminal held: what is still shown must be sent again."""
        self._pending.clear()
        for picture in self._live.values():
            if isinstance(picture.drawing, bytes):
                placed, picture.placed, picture.sent = picture.placed, None, False
                self._send(picture, picture.drawing)
                if placed is not None:
                    picture.placed = placed
                    self._pending.append((picture.number, [_kitty.place_virtually(picture.number, *placed)]))

    def drop(self, picture: Picture) -> None:
        self._budget.release(picture.number)
        self._remove(picture)

    def _admitted(self, picture: Picture) -> bool:
        for number in self._budget.admit(picture.number):
            if (old := self._live.get(number)) is not None:
                self._remove(old)
                self._notify(old.owner)
        if not self._budget.is_live(picture.number):
            return False
        self._live[picture.number] = picture
        return True

    def _remove(self, picture: Picture) -> None:
        self._live.pop(picture.number, None)
        unsent = any(number == picture.number for number, _ in self._pending)
        self._pending = [entry for entry in self._pending if entry[0] != picture.number]
        if picture.sent and not unsent:
            self._pending.append((picture.number, [_kitty.delete(picture.number)]))
        picture.sent, picture.placed, picture.drawing, picture.drawing_for = False, None, None, None

    def _send(self, picture: Picture, png: bytes) -> None:
        if not picture.sent:
            picture.sent = True
            self._pending.append((picture.number, _kitty.transmit(picture.number, png)))

    def _drawing(self, picture: Picture, cells: tuple[int, int]) -> str | bytes | None:
        """What draws it in these cells: a sequence, or (kitty) the bytes to send; None when there is nothing (yet)."""
        header = picture.header
        if self.protocol == "none" or header is None or picture.problem:
            return None
        if self.protocol == "iterm2":
            return _inline(picture.data, *cells)
        if self.protocol == "kitty":
            cells = (0, 0)  # the same bytes for every size
            if header.format == "png":
                picture.drawing = picture.data
                return picture.data
        if picture.drawing_for != cells and not picture.at_work:
            self._prepare(picture, cells)
        return picture.drawing if picture.drawing_for == cells else None

    def _prepare(self, picture: Picture, cells: tuple[int, int]) -> None:
        from sightline.tty._images._pixels import can_decode

        if not can_decode():
            picture.problem = NEEDS_DECODER
            return
        made: list[str | bytes | None] = []
        picture.at_work = True

        def work() -> None:
            made.append(self._made(picture.data, cells))

        def done() -> None:
            picture.at_work = False
            picture.drawing, picture.drawing_for = made[0], cells
            picture.problem = "" if made[0] is not None else "not readable"
            if self._background is not None:
                self._notify(picture.owner)

        if self._background is None:
            work()
            done()
        else:
            self._background(work, done)

    def _notify(self, owner: Component) -> None:
        owner.invalidate()
        if self.on_change is not None:
            self.on_change(owner)

    def _made(self, data: bytes, cells: tuple[int, int]) -> str | bytes | None:
        from sightline.tty._images import _pixels, _sixel

        if self.protocol == "kitty":
            return _pixels.as_png(data, *_KITTY_PIXELS)
        # Sixels come in bands of six pixels: a last band that is not whole would reach into the row below.
        decoded = _pixels.as_rgba(data, cells[0] * self.cell[0], max(cells[1] * self.cell[1] // 6 * 6, 6))
        return None if decoded is None else _sixel.encode(*decoded)


def _at_cursor(drawing: str, rows: int) -> list[str]:
    return [""] * (rows - 1) + [ImageRow("", drawing, rows)]


def _inline(data: bytes, columns: int, rows: int) -> str:
    """Draw the file at the cursor, fitted into so many cells: the inline image of iTerm2 (OSC 1337)."""
    payload = b2a_base64(data, newline=False).decode("ascii")
    options = f"inline=1;size={len(data)};width={columns};height={rows};preserveAspectRatio=1;doNotMoveCursor=1"
    return f"\x1b]1337;File={options}:{payload}\x07"
