"""The console's first screen, with its host started meanwhile. Imports nothing but what the first paint may.

- It looks as the console before the first event: the empty editor, the status, the keys.
- Typed text is shown, and typed once more into the real editor, which may complete it, or take it as a command; enter
  and all other keys wait for that.
- Ctrl+C clears, twice in a moment it leaves, and so does Ctrl+D on an empty prompt, as in the console. A host that was
  started then finds the pipe for its answer closed, and ends.
"""

import time

from sightline.views.console.input._empty import empty_rows
from sightline.views.console.paint._first_paint import FirstPaint, cut, hints_row, open_painted, terminal_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Options = Mapping[str, object]

STARTING = "starting…"
HINTS = (("enter", "send"), ("ctrl+o", "output"), ("ctrl+r", "history"), ("/help", "all keys"), ("ctrl+d", "leave"))
"""Keys that the placeholder of the editor does not name; the last leaves where nothing is written."""
_ROWS, _COLUMNS = 5, 20
_TWICE = 0.5


class ConsolePaint(FirstPaint):
    """The empty editor with a row above and below, the status, and the keys."""

    sign = " "
    prompt_at = 1

    def __init__(self, size: tuple[int, int], provider: str = "") -> None:
        super().__init__(size)
        self._provider = provider
        self._interrupted = float("-inf")
        self._handed_over = ""

    @property
    def rows(self) -> list[str]:
        columns = self.size[0]
        above, prompt, below = empty_rows(columns)
        status = f"{STARTING} · {self._provider}" if self._provider else STARTING
        status = status if len(status) <= columns else cut(STARTING, columns)
        hints = hints_row(HINTS[:-1] if self.shown else HINTS, columns)
        return [above, self.sign + self.shown if self.shown else prompt, below, status, hints]

    @property
    def shown(self) -> str:
        return self.text or self._handed_over

    def hand_over(self) -> None:
        """Move the typed text into `rest`, to be typed again; it stays on the screen."""
        self._handed_over, self.text = self.text, ""
        self.rest = self._handed_over.encode() + self.rest

    def does(self, character: str) -> bool:
        if character == "\x03":
            now = time.monotonic()
            if not self.text and now - self._interrupted <= _TWICE:
                self.leaves = 0
            self.text, self._interrupted = "", now
            return True
        if character == "\x04" and not self.text:
            self.leaves = 0
            return True
        return False

    def interrupted(self) -> int | None:
        return 0 if self.rest.count(b"\x03") > 1 else None


def open_console(options: "Options | Callable[[], Options]", *, provider: str = "", prompt: str = "") -> int | None:
    """Paint, start the host, import and listen at once, then run the console. Returns the exit code; None without a
    terminal to paint on. `options` are the fields of `StartOptions`, or a function that returns them, which may take
    its time."""
    size = terminal_size(_ROWS, _COLUMNS)
    if size is None:
        return None
    found: list[Options] = []
    hosts: list[int] = []
    screen = ConsolePaint(size, provider)

    def start(options: "Options") -> None:
        from sightline.host.process._console_launch import start_host

        found.append(options)
        hosts.append(start_host(as_json(options)))

    def load() -> None:
        if callable(options):
            start(options())
        _load()

    def take_over(before: "list[int | list[bytes | int]]") -> int:
        from sightline.views.console._run import run

        screen.hand_over()
        return run(painted=screen, before=before, options=found[0], host_fd=hosts[0], prompt=prompt)

    return open_painted(screen, load, take_over, lambda: None if callable(options) else start(options))


def _load() -> None:
    """Import what the console needs until its first frame."""
    import asyncio  # noqa: F401

    from sightline.tty.input import _listener  # noqa: F401
    from sightline.views.console import _run  # noqa: F401


def as_json(value: object) -> str:
    """A value as JSON: importing `json` would cost more than the paint."""
    if isinstance(value, str):
        return '"' + "".join(map(_as_json, value)) + '"'
    if isinstance(value, list | tuple):
        return f"[{','.join(map(as_json, value))}]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{as_json(str(key))}:{as_json(entry)}" for key, entry in value.items()) + "}"
    if value is None or isinstance(value, bool):
        return "null" if value is None else "true" if value else "false"
    return repr(value)


def _as_json(character: str) -> str:
    if " " <= character <= "~":
        return "\\" + character if character in '"\\' else character
    code = ord(character)
    if code < 0x10000:
        return f"\\u{code:04x}"
    return f"\\u{0xD800 + (code - 0x10000 >> 10):04x}\\u{0xDC00 + (code - 0x10000 & 0x3FF):04x}"
