"""xterm.js and Ghostty's core, hosted by one node process that all terminals of this process share."""

import atexit
import itertools
import os
import select
import subprocess
import threading
from pathlib import Path
from struct import pack, unpack
from typing import Any, Literal, TypeVar

import msgspec

from sightline.testing.emulators._install import ensure, require
from sightline.testing.emulators._types import Cell, EmulatorError, Modes, Tape, rgb

_Answer = TypeVar("_Answer")
_TIME_LIMIT = 20.0
_DRIVER = Path(__file__).with_name("driver.mjs")


class _Failure(msgspec.Struct):
    error: str


class _Replies(msgspec.Struct):
    data: str


class _View(msgspec.Struct):
    first: int
    rows: list[str]


class _Driver:
    """The node process: one request, one answer."""

    def __init__(self) -> None:
        require("node")
        command = ["node", str(_DRIVER), str(ensure())]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, start_new_session=True, bufsize=0)
        assert self._process.stdout is not None
        self._answers = os.fdopen(self._process.stdout.fileno(), "rb", closefd=False)
        self._lock = threading.Lock()
        atexit.register(self.stop)

    def ask(self, request: dict[str, Any], payload: bytes, answer: type[_Answer]) -> _Answer:
        header = msgspec.json.encode(request)
        message = pack("<II", len(header), len(payload)) + header + payload
        with self._lock:
            try:
                self._send(message)
                self._wait()
                body = self._read(unpack("<I", self._read(4))[0])
            except (OSError, EOFError) as error:
                raise EmulatorError(f"the node process of the emulators ended: {self._process.poll()}") from error
        if body.startswith(b'{"error"'):
            raise EmulatorError(f"{request['do']}: {msgspec.json.decode(body, type=_Failure).error}")
        return msgspec.json.decode(body, type=answer)

    def _send(self, message: bytes) -> None:
        assert self._process.stdin is not None
        view = memoryview(message)
        while view:
            view = view[self._process.stdin.write(view) :]

    def _wait(self) -> None:
        """For the answer. An emulator that turns in circles is ended with its process; the next one gets another."""
        if not select.select([self._answers], [], [], _TIME_LIMIT)[0]:
            self._process.kill()
            _drivers.pop(os.getpid(), None)
            raise EmulatorError(f"an emulator did not answer within {_TIME_LIMIT:.0f} s")

    def _read(self, length: int) -> bytes:
        data = self._answers.read(length)
        if len(data) < length:
            raise EOFError
        return data

    def stop(self) -> None:
        """It ends when its client is gone."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._answers.close()
        self._process.wait(timeout=10)


_drivers: dict[int, _Driver] = {}
_ids = itertools.count(1)
_starting = threading.Lock()


def _driver() -> _Driver:
    """This process's own: a forked child must not talk over its parent's pipes."""
    with _starting:
        if os.getpid() not in _drivers:
            _drivers[os.getpid()] = _Driver()
        return _drivers[os.getpid()]


class NodeEmulator:
    """A terminal inside the node process."""

    def __init__(self, kind: Literal["xterm", "ghostty"], columns: int, rows: int, scrollback: int) -> None:
        self.name: str = kind
        self._driver = _driver()
        self._id = next(_ids)
        self._size = (columns, rows)
        self._ask("open", dict, kind=kind, columns=columns, rows=rows, scrollback=scrollback)

    @property
    def size(self) -> tuple[int, int]:
        return self._size

    def write(self, data: str | bytes) -> None:
        self._ask("write", dict, _bytes(data))

    def feed(self, data: str | bytes, first: int = 0) -> Tape:
        return self._ask("tape", Tape, _bytes(data), first=first)

    def resize(self, columns: int, rows: int) -> None:
        self._ask("resize", dict, columns=columns, rows=rows)
        self._size = (columns, rows)

    def tape(self, first: int = 0) -> Tape:
        return self._ask("tape", Tape, first=first)

    def screen(self) -> list[str]:
        return self.tape(first=-1).screen

    def cursor(self) -> tuple[int, int]:
        return self.tape(first=-1).cursor

    def cells(self, row: int) -> list[Cell]:
        cells = self._ask("cells", list[Cell], row=row)
        return [msgspec.structs.replace(cell, fg=rgb(cell.fg), bg=rgb(cell.bg)) for cell in cells]

    def replies(self) -> bytes:
        return self._ask("replies", _Replies).data.encode("latin-1")

    def modes(self) -> Modes:
        return self._ask("modes", Modes)

    def close(self) -> None:
        if self._id:
            self._ask("close", dict)
            self._id = 0

    def _ask(self, do: str, answer: type[_Answer], payload: bytes = b"", **arguments: Any) -> _Answer:
        return self._driver.ask({"do": do, "id": self._id, **arguments}, payload, answer)


class XtermEmulator(NodeEmulator):
    """xterm.js, which also knows of a reader who scrolled up."""

    def __init__(self, columns: int, rows: int, scrollback: int) -> None:
        super().__init__("xterm", columns, rows, scrollback)

    def scroll_up(self, lines: int) -> None:
        """The reader looks further back (or, with a negative number, forward again)."""
        self._ask("scroll", _View, lines=lines)

    def viewport(self) -> tuple[int, list[str]]:
        """What the reader sees: the number of its first row on the tape, and the rows."""
        view = self._ask("viewport", _View)
        return view.first, view.rows


class GhosttyEmulator(NodeEmulator):
    """Ghostty's core."""

    def __init__(self, columns: int, rows: int) -> None:
        super().__init__("ghostty", columns, rows, scrollback=0)


def _bytes(data: str | bytes) -> bytes:
    return data.encode() if isinstance(data, str) else data
