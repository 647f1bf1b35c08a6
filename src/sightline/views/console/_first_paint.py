"""The first screen of the gallery, before the program is there.

- Importing takes five times as long as starting Python. So the prompt is painted with what `os`, `sys` and `termios`
  give, the rest is imported in a thread, and meanwhile keys are read and shown already.
- Nothing but those three (and two modules that are part of the interpreter) is imported before the paint: a test pins
  it.
- What is shown here is what the gallery shows when it takes over, so nothing moves then.
- Only text whose width nobody doubts is shown here, one cell for each character; from the first byte that is anything
  else on, input is kept for the one who can read it.
- Whatever happens, the terminal gets its modes back.
"""

import _signal  # type: ignore[import-not-found]  # `signal` without the enums: 2 ms
import _thread
import os
import sys
import termios

PROMPT = "› "
TITLE = "Sightline gallery: every component in every state."
PLACEHOLDER = "type a name, or press tab for the next one"
HINTS = (
    ("tab", "next"),
    ("shift+tab", "back"),
    ("enter", "show, try"),
    ("?", "help"),
    ("ctrl+t", "theme"),
    ("q", "quit"),
)
COMMANDS = "q?"
"""Letters that mean something while nothing is typed."""

_PROMPT_ROW = 2
_ENDING = (_signal.SIGTERM, _signal.SIGHUP)
_SWITCH = 0.0005  # the thread that imports must not make a key wait


class FirstPaint:
    """The rows on the screen, what was typed into them, and what was read but not understood."""

    def __init__(self, size: tuple[int, int]) -> None:
        self.size = size
        self.text = ""
        self.rest = b""
        self.is_ours = True
        """Nobody else takes it off the screen."""

    @property
    def rows(self) -> list[str]:
        columns = self.size[0]
        prompt = PROMPT + (self.text or PLACEHOLDER)
        return [_cut(TITLE, columns), "", _cut(prompt, columns), _hints(columns)]

    @property
    def cursor(self) -> tuple[int, int]:
        return _PROMPT_ROW, min(len(PROMPT) + len(self.text), self.size[0] - 1)

    def paint(self) -> str:
        """All rows, from wherever the cursor is at the beginning of a line, and the cursor into the prompt."""
        rows = self.rows
        up = len(rows) - 1 - _PROMPT_ROW
        return "\r\n".join(rows) + f"\x1b[{up}A\x1b[{self.cursor[1] + 1}G"

    def prompt_row(self) -> str:
        """The prompt again, after something was typed."""
        return f"\r{self.rows[_PROMPT_ROW]}\x1b[K\x1b[{self.cursor[1] + 1}G"

    def erase(self) -> str:
        """Off the screen with it; the cursor stands where the first row was."""
        return f"\r\x1b[{_PROMPT_ROW}A\x1b[J"

    def take(self, data: bytes) -> None:
        """Bytes that were read: text at the end of the prompt, as long as that is all they are."""
        if self.rest:
            self.rest += data
            return
        while data:
            character = _first_character(data)
            if character == "\x7f" and self.text:
                self.text = self.text[:-1]
            elif not self._is_typed(character):
                break
            else:
                self.text += character
            data = data[len(character.encode()) :]
        self.rest = data

    def _is_typed(self, character: str) -> bool:
        if not self.text and character in COMMANDS:
            return False
        plain = " " <= character <= "~" or ("\xa1" <= character <= "\u02ff" and character != "\xad")
        return plain and len(PROMPT) + len(self.text) + 1 < self.size[0]

    @property
    def wants_out(self) -> bool:
        return b"\x03" in self.rest


def _first_character(data: bytes) -> str:
    """The first character; a NUL, which nobody types, where it is longer than two bytes, not whole, or none."""
    try:
        return data[: 1 if data[0] < 0x80 else 2].decode()
    except UnicodeDecodeError:
        return "\0"


def _cut(row: str, columns: int) -> str:
    return row if len(row) <= columns else row[: max(columns - 1, 0)] + "…"


def _hints(columns: int) -> str:
    row = ""
    for key, meaning in HINTS:
        longer = f"{row} · {key} {meaning}" if row else f"{key} {meaning}"
        if len(longer) > columns:
            break
        row = longer
    return row or _cut(HINTS[0][0], columns)


def can_paint() -> bool:
    """Whether there is a terminal on both sides that can be drawn on, and large enough for it."""
    environment = os.environ
    linear = environment.get("SIGHTLINE_LINEAR") or environment.get("ACCESSIBLE")
    if linear or environment.get("TERM", "dumb") in ("", "dumb") or not (os.isatty(0) and os.isatty(1)):
        return False
    try:
        os.fstat(2)  # whatever is opened next would take the place of a missing stderr
    except OSError:
        return False
    return not 0 < os.get_terminal_size(1).lines <= len(FirstPaint((80, 24)).rows)


def open_gallery() -> int:
    """Paint, import and listen at once, then hand over. The exit code."""
    columns, rows = os.get_terminal_size(1)
    screen = FirstPaint((columns or 80, rows or 24))
    modes = termios.tcgetattr(0)

    def restore() -> None:
        try:
            termios.tcsetattr(0, termios.TCSADRAIN, modes)
        except termios.error:
            pass  # the terminal is gone

    def ended_by(number: int, _frame: object) -> None:
        if screen.is_ours:
            _write(screen.erase())
        restore()
        _signal.signal(number, _signal.SIG_DFL)
        os.kill(os.getpid(), number)

    for number in _ENDING:
        _signal.signal(number, ended_by)
    termios.tcsetattr(0, termios.TCSANOW, _raw(modes))
    try:
        _write(screen.paint())
        if not _listen_while_loading(screen):
            _write(screen.erase())
            return 130
        from sightline.views.console.gallery._session import browse

        return browse(painted=screen, before=modes)
    finally:
        restore()


def _listen_while_loading(screen: FirstPaint) -> bool:
    """Read and show what is typed until everything is imported. False when the person wants out."""
    import select

    loaded, done = os.pipe()
    failed: list[BaseException] = []
    interval = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH)
    _thread.start_new_thread(_load, (done, failed))
    try:
        while loaded not in (ready := select.select([0, loaded], [], [])[0]):
            if ready and not _read(screen):
                return False
    finally:
        sys.setswitchinterval(interval)
    os.close(loaded)
    if failed:
        raise failed[0]
    return True


def _read(screen: FirstPaint) -> bool:
    data = os.read(0, 4096)
    shown = screen.text
    screen.take(data)
    if screen.text != shown:
        _write(screen.prompt_row())
    return bool(data) and not screen.wants_out


def _load(done: int, failed: list[BaseException]) -> None:
    try:
        from sightline.views.console import gallery

        gallery.load()
    except BaseException as error:
        failed.append(error)
    os.close(done)


def _raw(modes: "list[int | list[bytes | int]]") -> "list[int | list[bytes | int]]":
    """Every key as it is pressed, nothing shown and nothing done by the terminal's driver."""
    changed = list(modes)
    changed[0] &= ~(termios.BRKINT | termios.ICRNL | termios.INPCK | termios.ISTRIP | termios.IXON)  # type: ignore[operator]
    changed[3] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN | termios.ISIG)  # type: ignore[operator]
    return changed


def _write(text: str) -> None:
    try:
        os.write(1, text.encode())
    except OSError:
        pass  # the terminal is gone, which reading will tell
