"""The first screen, painted before the program is imported.

- Importing takes five times as long as starting Python. So the prompt is painted with `os`, `sys` and `termios` alone,
  the rest is imported in a thread, and meanwhile keys are read and shown.
- Nothing but those three (and three modules that are part of the interpreter) is imported before the paint: a test pins
  it.
- The rows are those the program shows when it takes over, so nothing moves then.
- Only characters that are surely one cell wide are shown; from the first other byte on, input is stored for the program
  (`rest`).
- The modes of the terminal are always restored.
"""

import _signal  # type: ignore[import-not-found]  # `signal` without the enums: 2 ms
import _thread
import gc
import os
import sys
import termios

TYPE_CHECKING = False  # `typing` is not for the first paint
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Modes = list[int | list[bytes | int]]

_ENDING = (_signal.SIGTERM, _signal.SIGHUP)
_SWITCH = 0.0005  # the thread that imports must not make a key wait
_PASTE, _NO_PASTE = "\x1b[?2004h", "\x1b[?2004l"  # else a pasted line would be an entered one
_INTERRUPTED = 130


class FirstPaint:
    """The rows on the screen, the typed text, and the input that is left for the program."""

    sign = ""
    """The characters before the text."""
    prompt_at = 0
    """The number of the row with the text."""
    commands = ""
    """Letters that are commands while nothing is typed."""

    def __init__(self, size: tuple[int, int]) -> None:
        self.size = size
        self.text = ""
        self.rest = b""
        self.leaves: int | None = None
        """The exit code, once the user leaves."""
        self.is_ours = True
        """Whether it is erased here: the program has not taken over."""

    @property
    def rows(self) -> list[str]:
        raise NotImplementedError

    @property
    def shown(self) -> str:
        """The text in the prompt."""
        return self.text

    @property
    def cursor(self) -> tuple[int, int]:
        return self.prompt_at, min(len(self.sign) + len(self.shown), self.size[0] - 1)

    def paint(self) -> str:
        """The bytes that write all rows, and move the cursor into the prompt. The cursor begins at column 1."""
        rows = self.rows
        up = len(rows) - 1 - self.prompt_at
        return "\r\n".join(rows) + f"\x1b[{up}A\x1b[{self.cursor[1] + 1}G"

    def prompt_row(self) -> str:
        """The bytes that write the prompt again."""
        return f"\r{self.rows[self.prompt_at]}\x1b[K\x1b[{self.cursor[1] + 1}G"

    def erase(self) -> str:
        """The bytes that erase all rows; the cursor is then where the first row was."""
        return f"\r\x1b[{self.prompt_at}A\x1b[J"

    def take(self, data: bytes) -> None:
        """Append typed text to the prompt; from the first byte that is not text, append to `rest`."""
        while data and not self.rest:
            character = _first_character(data)
            if character == "\x7f" and self.text:
                self.text = self.text[:-1]
            elif self._is_typed(character):
                self.text += character
            elif not self.does(character):
                break
            data = data[len(character.encode()) :]
        self.rest += data
        if self.leaves is None and b"\x03" in self.rest:
            self.leaves = self.interrupted()

    def does(self, character: str) -> bool:
        """Handle a key that is not text. False: it is left for the program."""
        return False

    def interrupted(self) -> int | None:
        """The exit code when Ctrl+C is in `rest`; None: stay."""
        return _INTERRUPTED

    def _is_typed(self, character: str) -> bool:
        if not self.text and character in self.commands:
            return False
        plain = " " <= character <= "~" or ("\xa1" <= character <= "\u02ff" and character != "\xad")
        return plain and len(self.sign) + len(self.text) + 1 < self.size[0]


def _first_character(data: bytes) -> str:
    """The first character; NUL, which cannot be typed, where it is longer than two bytes, or not valid."""
    try:
        return data[: 1 if data[0] < 0x80 else 2].decode()
    except UnicodeDecodeError:
        return "\0"


def cut(row: str, columns: int) -> str:
    return row if len(row) <= columns else row[: max(columns - 1, 0)] + "…"


def hints_row(hints: "Sequence[tuple[str, str]]", columns: int) -> str:
    """The row `KeyHints` draws."""
    shown = list(hints)
    while len(shown) > 1 and len(" · ".join(map(" ".join, shown))) > columns:
        del shown[-2]
    row = " · ".join(map(" ".join, shown))
    return row if len(row) <= columns else cut(shown[0][0], columns)


def terminal_size(rows: int, columns: int = 1) -> tuple[int, int] | None:
    """The size of the terminal; None if stdin or stdout is not one, it cannot be drawn on, or is too small."""
    environment = os.environ
    linear = environment.get("SIGHTLINE_LINEAR") or environment.get("ACCESSIBLE")
    if linear or environment.get("TERM", "dumb") in ("", "dumb") or not (os.isatty(0) and os.isatty(1)):
        return None
    try:
        os.fstat(2)  # the next file that is opened would become a missing stderr
        width, height = os.get_terminal_size(1)
    except OSError:
        return None
    width, height = width or 80, height or 24
    return (width, height) if height > rows and width >= columns else None


def open_painted(
    screen: FirstPaint,
    load: "Callable[[], None]",
    take_over: "Callable[[Modes], int]",
    before_import: "Callable[[], None]" = lambda: None,
) -> int:
    """Paint; call `before_import`; `load` in a thread and read keys meanwhile; then `take_over`, with the terminal's
    original modes. Returns the exit code."""
    modes = termios.tcgetattr(0)

    def restore() -> None:
        try:
            termios.tcsetattr(0, termios.TCSADRAIN, modes)
        except termios.error:
            pass  # the terminal is gone

    def ended_by(number: int, _frame: object) -> None:
        _take_off(screen)
        restore()
        _signal.signal(number, _signal.SIG_DFL)
        os.kill(os.getpid(), number)

    for number in _ENDING:
        _signal.signal(number, ended_by)
    try:
        _write(_typed_early(screen, modes) + screen.paint() + _PASTE)
        before_import()
        _listen_while_loading(screen, load)
        return take_over(modes) if screen.leaves is None else screen.leaves
    finally:
        _take_off(screen)
        restore()


def _typed_early(screen: FirstPaint, modes: "Modes") -> str:
    """Switch to raw mode. What was typed before was echoed by the terminal's driver where the paint begins: it goes
    into the prompt, and the bytes that are returned erase the echo."""
    termios.tcsetattr(0, termios.TCSANOW, _raw(modes, wait=0))
    early = os.read(0, 4096)
    termios.tcsetattr(0, termios.TCSANOW, _raw(modes, wait=1))
    lines = early.count(b"\n")
    if modes[0] & termios.ICRNL:  # type: ignore[operator]
        early = early.replace(b"\n", b"\r")  # undo what the driver made of enter
    screen.take(early)
    up = f"\x1b[{lines}A" if lines else ""
    return f"\r{up}\x1b[J" if early else ""


def _take_off(screen: FirstPaint) -> None:
    if screen.is_ours:
        screen.is_ours = False
        _write(screen.erase() + _NO_PASTE)


def _listen_while_loading(screen: FirstPaint, load: "Callable[[], None]") -> None:
    """Read and show what is typed until everything is imported, or the user leaves."""
    import select

    loaded, done = os.pipe()
    failed: list[BaseException] = []
    interval = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH)
    gc.disable()  # imports make no garbage
    _thread.start_new_thread(_load, (load, done, failed))
    try:
        while screen.leaves is None and loaded not in (ready := select.select([0, loaded], [], [])[0]):
            if ready:
                _read(screen)
    finally:
        sys.setswitchinterval(interval)
        gc.enable()
    os.close(loaded)
    if failed:
        raise failed[0]


def _read(screen: FirstPaint) -> None:
    data = os.read(0, 4096)
    shown = screen.text
    screen.take(data)
    if screen.text != shown:
        _write(screen.prompt_row())
    if not data:
        screen.leaves = _INTERRUPTED


def _load(load: "Callable[[], None]", done: int, failed: list[BaseException]) -> None:
    try:
        load()
    except BaseException as error:
        failed.append(error)
    os.close(done)


def _raw(modes: "Modes", wait: int) -> "Modes":
    """Raw modes: every key as it is pressed, no echo, no signals. `wait` is the minimum of bytes a read waits for."""
    changed = list(modes)
    characters = list(changed[6])  # type: ignore[arg-type]
    characters[termios.VMIN], characters[termios.VTIME] = wait, 0
    changed[6] = characters
    changed[0] &= ~(termios.BRKINT | termios.ICRNL | termios.INPCK | termios.ISTRIP | termios.IXON)  # type: ignore[operator]
    changed[3] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN | termios.ISIG)  # type: ignore[operator]
    return changed


def _write(text: str) -> None:
    try:
        os.write(1, text.encode())
    except OSError:
        pass  # the terminal is gone: reading will fail, too
