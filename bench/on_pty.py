"""A program on a pseudo-terminal, as a terminal of our own runs it: it reads at once, notes when, and answers.

Queries to the terminal are answered, because some programs wait for it. What was shown when is found out
afterwards, by playing the recording into an emulator (`shown`): nothing stands beside the program while it runs.
"""

import os
import re
import select
import shutil
import signal
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import NamedTuple

from sightline.testing.emulators import Tape, open_emulator

COLUMNS, ROWS = 100, 30
_TAIL = 64  # a question that is longer than this is not one of ours
_ENDING = 5.0

_question = re.compile(
    rb"\x1b\[(?P<report>\??[56]n|\??996n|>?0?c|>0?q|\?u|1[468]t)"
    rb"|\x1b\[\?(?P<mode>\d+)\$p"
    rb"|\x1b\](?P<colour>1[0-2]|4;\d+);\?(?:\x07|\x1b\\)"
    rb"|\x1bP(?P<strings>[+$])q[^\x1b]*\x1b\\"
)
_KNOWN_MODES = (b"25", b"1004", b"2004", b"2026")


class Chunk(NamedTuple):
    """Bytes, and when they were read (`time.monotonic`)."""

    at: float
    data: bytes


class OnPty:
    """The program, from exec on."""

    def __init__(self, argv: list[str], env: dict[str, str], cwd: Path, keys: bytes = b"", rows: int = ROWS) -> None:
        """`keys` are typed before it runs."""
        self.chunks: list[Chunk] = []
        self.rows = rows
        self.over = False
        """The program has closed the terminal."""
        self._tail = b""
        self.master, slave = os.openpty()
        termios.tcsetwinsize(slave, (rows, COLUMNS))
        program = shutil.which(argv[0], path=env["PATH"])
        assert program, f"{argv[0]} is not installed"
        name = os.ttyname(slave)
        files = [(os.POSIX_SPAWN_OPEN, 0, name, os.O_RDWR, 0), *((os.POSIX_SPAWN_DUP2, 0, fd) for fd in (1, 2))]
        with chdir(cwd):
            self.began = time.monotonic()
            self.pid = os.posix_spawn(program, argv, env, file_actions=files, setsid=True)
        if keys:
            self.press(keys)
        os.close(slave)

    def press(self, keys: bytes) -> None:
        os.write(self.master, keys)

    def read(self, seconds: float) -> bytes:
        """What comes within that time, as soon as it comes; nothing when it is over, or the program is."""
        if self.over:
            time.sleep(max(0.0, seconds))
        if self.over or not select.select([self.master], [], [], max(0.0, seconds))[0]:
            return b""
        try:
            data = os.read(self.master, 1 << 16)
        except OSError:
            self.over = True
            return b""
        self.chunks.append(Chunk(time.monotonic(), data))
        if b"\x1b" in data or self._tail:
            self._answer(data)
        return data

    def watch(self, seconds: float) -> None:
        """Let it run for that long."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self.read(left)

    def until(self, condition: Callable[[], bool], seconds: float = 60.0, quiet: float = 0.0) -> None:
        """Until it is so, and after that until nothing was written for `quiet` seconds."""
        deadline = time.monotonic() + seconds
        while not condition():
            hoping = time.monotonic() < deadline and not self.over
            assert hoping, "waited in vain; the screen was\n" + "\n".join(tape_of(self.chunks, self.rows)[-self.rows :])
            self.read(0.05)
        while quiet and self.read(quiet):
            assert time.monotonic() < deadline, "it never stopped writing"

    def written(self) -> bytes:
        return b"".join(chunk.data for chunk in self.chunks)

    def wrote(self, sight: bytes, since: int = 0) -> Callable[[], bool]:
        """Whether these bytes were written, from chunk `since` on."""
        found, place = b"", since

        def looked() -> bool:
            nonlocal found, place
            new = self.chunks[place:]
            place = len(self.chunks)
            found = found[-len(sight) :] + b"".join(chunk.data for chunk in new)
            return sight in found

        return looked

    def _answer(self, data: bytes) -> None:
        queried, end = self._tail + data, 0
        for match in _question.finditer(queried):
            end = match.end()
            if answer := self._answer_to(match, len(queried) - end):
                self.press(answer)
        rest = queried[end:][-_TAIL:]
        self._tail = rest[rest.rfind(b"\x1b") :] if b"\x1b" in rest else b""

    def _answer_to(self, match: "re.Match[bytes]", after: int) -> bytes:
        """As xterm would, on a black screen, with synchronized output and the kitty keyboard protocol."""
        if mode := match["mode"]:
            return b"\x1b[?%s;%d$y" % (mode, 2 if mode in _KNOWN_MODES else 0)
        if colour := match["colour"]:
            return b"\x1b]%s;rgb:%s\x1b\\" % (colour, b"ffff/ffff/ffff" if colour == b"10" else b"0000/0000/0000")
        if strings := match["strings"]:
            return b"\x1bP0%sr\x1b\\" % strings
        match match["report"].replace(b"0c", b"c").replace(b"0q", b"q"):
            case b"6n" | b"?6n":
                return self._cursor(after)
            case b"5n":
                return b"\x1b[0n"
            case b"?996n" | b"996n":
                return b"\x1b[?997;1n"
            case b"c":
                return b"\x1b[?62;22c"
            case b">c":
                return b"\x1b[>41;380;0c"
            case b">q":
                return b"\x1bP>|XTerm(380)\x1b\\"
            case b"?u":
                return b"\x1b[?0u"
            case b"14t":
                return b"\x1b[4;%d;%dt" % (self.rows * 18, COLUMNS * 9)
            case b"16t":
                return b"\x1b[6;18;9t"
            case b"18t":
                return b"\x1b[8;%d;%dt" % (self.rows, COLUMNS)
        return b""

    def _cursor(self, after: int) -> bytes:
        """Where it stood at the query, `after` bytes before the end."""
        written = self.written()
        with closing_emulator(self.rows) as emulator:
            column, row = emulator(written[: len(written) - after]).cursor
        return b"\x1b[%d;%dR" % (row + 1, column + 1)

    def end(self) -> None:
        """Have it gone, with everything it started and has not sent away."""
        family = descendants(self.pid)
        for pid in family:
            _kill(pid, signal.SIGTERM)
        deadline = time.monotonic() + _ENDING
        while not self._reaped() and time.monotonic() < deadline:
            self.read(0.05)
        for pid in [pid for pid in family if is_alive(pid)]:
            _kill(pid, signal.SIGKILL)
        self.ended()
        os.close(self.master)

    def ended(self) -> None:
        """Wait for its end, reading its last output."""
        while not self._reaped():
            self.read(0.05)

    def _reaped(self) -> bool:
        if self.pid and os.waitpid(self.pid, os.WNOHANG)[0]:
            self.pid = 0
        return not self.pid


@contextmanager
def on_pty(argv: list[str], env: dict[str, str], cwd: Path, keys: bytes = b"", rows: int = ROWS) -> Iterator[OnPty]:
    with closing_emulator():  # so that it is there when the program asks where the cursor is
        pass
    program = OnPty(argv, env, cwd, keys, rows)
    try:
        yield program
    finally:
        program.end()


def _kill(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def is_alive(pid: int) -> bool:
    try:
        return _stat(pid)[0] != "Z"
    except OSError:
        return False


def _stat(pid: int) -> list[str]:
    """From the state on; the name before it may hold anything."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()


def descendants(pid: int) -> list[int]:
    """A process and all below it."""
    if not pid:
        return []
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            children.setdefault(int(_stat(int(folder.name))[1]), []).append(int(folder.name))
        except OSError:
            continue  # it is gone
    family = [pid]
    for member in family:
        family += children.get(member, [])
    return family


def idle_share(program: OnPty, pids: list[int], seconds: float) -> float:
    """The share of one core that processes take while they are idle."""
    used, began = {pid: _cpu(pid) for pid in pids}, time.monotonic()
    program.watch(seconds)
    return sum(_cpu(pid) - before for pid, before in used.items() if is_alive(pid)) / (time.monotonic() - began)


def _cpu(pid: int) -> float:
    """Seconds, so far."""
    return sum(map(int, _stat(pid)[11:13])) / os.sysconf("SC_CLK_TCK")


def cpu_with_children(pid: int) -> float:
    """Seconds so far, with those of the children it has waited for; none when it has ended."""
    try:
        return sum(map(int, _stat(pid)[11:15])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return 0.0


def memory_of(pids: list[int]) -> float:
    """PSS in MB: what is shared with other processes is counted in part."""
    rollups = [Path(f"/proc/{pid}/smaps_rollup").read_text() for pid in pids if is_alive(pid)]
    return sum(int(size) for rollup in rollups for size in re.findall(r"^Pss:\s+(\d+)", rollup, re.MULTILINE)) / 1024


@contextmanager
def closing_emulator(rows: int = ROWS) -> Iterator[Callable[[bytes], Tape]]:
    """Write to it, and get its screen."""
    emulator = open_emulator("xterm", COLUMNS, rows)
    try:
        yield lambda data: emulator.feed(data, first=-1)
    finally:
        emulator.close()


def shown(chunks: list[Chunk], rows: int = ROWS) -> Iterator[tuple[float, Tape]]:
    """The screen after each chunk, and when that was."""
    with closing_emulator(rows) as emulator:
        for chunk in chunks:
            yield chunk.at, emulator(chunk.data)


def whole_updates(chunks: list[Chunk]) -> list[Chunk]:
    """Pieces of one synchronized update as one: a terminal shows nothing of it before its end."""
    joined: list[Chunk] = []
    held = b""
    for chunk in chunks:
        held += chunk.data
        if held.rfind(b"\x1b[?2026h") <= held.rfind(b"\x1b[?2026l"):
            joined.append(chunk._replace(data=held))
            held = b""
    return joined


def first_shown(chunks: list[Chunk], sight: str) -> float | None:
    """When a pattern was on the screen first."""
    pattern = re.compile(sight, re.MULTILINE)
    return next((at for at, tape in shown(whole_updates(chunks)) if pattern.search("\n".join(tape.screen))), None)


def tape_of(chunks: list[Chunk], rows: int = ROWS) -> list[str]:
    """Everything that is on the screen and above it in the end."""
    emulator = open_emulator("xterm", COLUMNS, rows)
    try:
        return emulator.feed(b"".join(chunk.data for chunk in chunks)).text
    finally:
        emulator.close()
