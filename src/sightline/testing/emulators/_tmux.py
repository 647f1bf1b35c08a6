"""A tmux pane: what a program in it writes, and what tmux makes of it.

- Bytes go through a relay in the pane (`_relay.py`), so tmux reads them from a pty as it reads any program's.
- tmux has processed them once it answers a DSR (`CSI 5 n`) sent behind them. Bytes that end inside a sequence cannot be
  followed by one; they are synchronised by the write that completes them.
- The window has the size it is given, until a client is attached: then it has the client's.
"""

import atexit
import re
import shlex
import shutil
import socket
import sys
import tempfile
import time
from pathlib import Path

from sightline.testing.emulators._client import TerminalClient
from sightline.testing.emulators._control import Control
from sightline.testing.emulators._sgr import cells_of_row
from sightline.testing.emulators._types import Cell, EmulatorError, EmulatorMissing, Modes, Tape

_ASK, _ANSWER = b"\x1b[5n", b"\x1b[0n"
_TIME_LIMIT = 20.0
# The end of the bytes is inside an escape sequence, a string (OSC, DCS, APC, PM) or a UTF-8 character.
_OPEN_END = re.compile(
    rb"(\x1b(?:\[[0-?]*[ -/]*|[ -/]*|[\]P_^X][^\x07\x1b]*\x1b?)"
    rb"|[\xc2-\xf4]|[\xe0-\xf4][\x80-\xbf]|[\xf0-\xf4][\x80-\xbf]{2})\Z"
)
# Not `window-size manual`, which makes tmux 3.3a crash when no session is there yet; resizing a window implies it.
_SETTINGS = ("set -g status off", "set -g default-terminal tmux-256color", "set -sg escape-time 0")
_FACTS = "#{history_size} #{cursor_x} #{cursor_y} #{pane_width} #{pane_height} #{cursor_flag} #{wrap_flag}"


class TmuxEmulator:
    """A pane of a server of its own."""

    def __init__(self, columns: int, rows: int, scrollback: int) -> None:
        if shutil.which("tmux") is None:
            raise EmulatorMissing("tmux", "tmux is not installed; the tmux emulator needs version 3.2 or newer")
        self.name = "tmux"
        self._open = b""
        self._answered = b""
        self._expected_answers = 0
        self._client: TerminalClient | None = None
        self._folder = Path(tempfile.mkdtemp(prefix="sightline-tmux-"))
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self._folder / "relay"))
        self._listener.listen()
        self._listener.settimeout(_TIME_LIMIT)
        self._relays: list[socket.socket] = []
        settings = [*_SETTINGS, f"set -g history-limit {scrollback}"]
        size = ["-x", str(columns), "-y", str(rows)]
        self._control = Control(self._folder, settings, [*size, f"{self._relay_command()} --last"])
        atexit.register(self.close)
        self._relays.append(self._accept())
        self._pane = self._control.ask("display-message -p '#{pane_id}'")[0][0]
        self.resize(columns, rows)

    @property
    def size(self) -> tuple[int, int]:
        """The pane's own."""
        facts = self._facts()
        return facts[3], facts[4]

    def write(self, data: str | bytes) -> None:
        data = data.encode() if isinstance(data, str) else data
        whole = self._open + data
        unfinished = _OPEN_END.search(whole)
        self._open = unfinished[0] if unfinished else b""
        self._expected_answers += whole.count(_ASK)
        if unfinished:
            self._relays[0].sendall(data)
        else:
            self._expected_answers += 1
            self._relays[0].sendall(data + _ASK)
            self._read_answers()

    def feed(self, data: str | bytes, first: int = 0) -> Tape:
        self.write(data)
        return self.tape(first)

    def resize(self, columns: int, rows: int) -> None:
        """Give the window this size, whatever client is attached."""
        self._control.ask(f"resize-window -x {columns} -y {rows}")

    def tape(self, first: int = 0) -> Tape:
        facts = self._facts()
        scrollback, cursor, height = facts[0], (facts[1], facts[2]), facts[4]
        first = max(0, scrollback + first) if first < 0 else min(first, scrollback + height)
        capture = f"capture-pane -p -t {self._pane} -S {first - scrollback} -E {height - 1}"
        if first == scrollback + height:
            return Tape([], scrollback, frozenset(), cursor, first)
        rows, joined = self._control.ask(f"{capture} -N", f"{capture} -J")
        wrapped = frozenset(first + row for row in _wrapped(rows, joined))
        return Tape([row.rstrip(" ") for row in rows], scrollback, wrapped, cursor, first)

    def screen(self) -> list[str]:
        return self.tape(first=-1).screen

    def cursor(self) -> tuple[int, int]:
        facts = self._facts()
        return facts[1], facts[2]

    def cells(self, row: int) -> list[Cell]:
        line = self._control.ask(f"capture-pane -p -e -N -t {self._pane} -S {row} -E {row}")[0]
        return cells_of_row(line[0], self.size[0])

    def replies(self) -> bytes:
        answered, self._answered = self._answered, b""
        return answered

    def modes(self) -> Modes:
        facts = self._facts()
        return Modes(cursor_visible=bool(facts[5]), autowrap=bool(facts[6]))

    def split(self, *, beside: bool = False) -> None:
        """Another pane takes half of the window: below, or beside."""
        self._control.ask(
            f"split-window -d {'-h' if beside else '-v'} -t {self._pane} {shlex.quote(self._relay_command())}"
        )
        self._relays.append(self._accept())

    def kill_split(self) -> None:
        """The other pane is gone."""
        self._control.ask(f"kill-pane -a -t {self._pane}")
        self._relays.pop().close()

    def zoom(self) -> None:
        """The pane takes the whole window, or returns what it took."""
        self._control.ask(f"resize-pane -Z -t {self._pane}")

    def attach(self, columns: int, rows: int) -> None:
        """A person attaches with a terminal of this size; the window follows it."""
        self.detach()
        self._client = TerminalClient(self._control.command(), columns, rows)
        self._control.ask("set-option -w window-size latest")
        self._wait_for("#{window_width} #{window_height}", f"{columns} {rows}")

    def detach(self) -> None:
        """That client detaches; the window has the same size."""
        if self._client:
            self._client.close()
            self._client = None

    def server_pid(self) -> int:
        """The server's process."""
        return int(self._control.ask("display-message -p '#{pid}'")[0][0])

    def close(self) -> None:
        atexit.unregister(self.close)
        if not self._folder.exists():
            return
        if self._client:
            self._client.close()
        self._control.close()
        for part in (self._listener, *self._relays):
            part.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _relay_command(self) -> str:
        program = [sys.executable, "-S", "-E", str(Path(__file__).with_name("_relay.py"))]
        return "exec " + shlex.join([*program, str(self._folder / "relay")])

    def _accept(self) -> socket.socket:
        peer, _ = self._listener.accept()
        peer.settimeout(_TIME_LIMIT)
        if peer.recv(1) != b"\n":
            raise EmulatorError("the relay in the tmux pane ended")
        return peer

    def _read_answers(self) -> None:
        received = b""
        while received.count(_ANSWER) < self._expected_answers:
            try:
                part = self._relays[0].recv(65536)
            except TimeoutError as error:
                raise EmulatorError(f"tmux did not answer within {_TIME_LIMIT:.0f} s") from error
            if not part:
                raise EmulatorError("the relay in the tmux pane ended")
            received += part
        self._expected_answers = 0
        self._answered += received.removesuffix(_ANSWER)

    def _facts(self) -> list[int]:
        return [int(fact) for fact in self._control.ask(f"display-message -p -t {self._pane} '{_FACTS}'")[0][0].split()]

    def _wait_for(self, facts: str, expected: str) -> None:
        limit = time.monotonic() + _TIME_LIMIT
        while self._control.ask(f"display-message -p -t {self._pane} '{facts}'")[0][0] != expected:
            if time.monotonic() > limit:
                raise EmulatorError(f"tmux did not come to {expected} for {facts}")
            time.sleep(0.005)


def _wrapped(rows: list[str], joined: list[str]) -> list[int]:
    """Which rows continue the row before: those that `joined` shows as one line with it."""
    wrapped = []
    row = 0
    for line in joined:
        length = len(rows[row]) if row < len(rows) else 0
        row += 1
        while length < len(line) and row < len(rows):
            wrapped.append(row)
            length += len(rows[row])
            row += 1
    return wrapped
