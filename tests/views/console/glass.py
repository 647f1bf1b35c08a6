"""The gallery in a real terminal emulator: what a person sees, and the terminal answering what it is asked."""

import os
import select
import termios
from collections.abc import Callable

from sightline.testing.emulators import Emulator, Kind, open_emulator
from tests.cli.support import InTerminal, until


class OnGlass:
    """The program on a pty, an emulator showing what it writes; keys and sizes go in, the screen comes out."""

    def __init__(self, *words: str, kind: Kind = "xterm", columns: int = 80, rows: int = 24) -> None:
        self.emulator: Emulator = open_emulator(kind, columns, rows)
        self.program = InTerminal(*words, columns=columns, rows=rows)
        self.before = _new_modes()

    def press(self, keys: bytes | str) -> None:
        self.program.press(keys.encode() if isinstance(keys, str) else keys)

    def resize(self, columns: int, rows: int) -> None:
        self.pump()
        self.emulator.resize(columns, rows)
        self.program.resize(columns, rows)

    def pump(self) -> None:
        """Show what was written, and answer."""
        if select.select([self.program.master], [], [], 0.02)[0]:
            try:
                data = os.read(self.program.master, 65536)
            except OSError:  # nobody has it open any more
                return
            self.program.output += data
            self.emulator.write(data)
            if answers := self.emulator.replies():
                os.write(self.program.master, answers)

    def until(self, condition: Callable[[list[str]], bool], what: str) -> list[str]:
        """Wait until the screen is like this."""

        def is_so() -> bool:
            self.pump()
            return condition(self.emulator.screen())

        try:
            until(is_so, what)
        except AssertionError as error:
            raise AssertionError(f"{error}; the screen is\n" + "\n".join(self.emulator.screen())) from None
        return self.emulator.screen()

    def until_shows(self, *texts: str) -> list[str]:
        return self.until(lambda rows: all(any(text in row for row in rows) for text in texts), repr(texts))

    def until_gone(self, text: str) -> list[str]:
        return self.until(lambda rows: not any(text in row for row in rows), f"no {text!r}")

    def ended(self) -> int:
        until(lambda: (self.pump(), self.program.process.poll())[1] is not None, "the end")
        self.pump()
        return self.program.process.returncode

    def modes(self) -> list[object]:
        return termios.tcgetattr(self.program.master)

    @property
    def tape(self) -> list[str]:
        return self.emulator.tape().text

    def close(self) -> None:
        self.program.end()
        self.emulator.close()


def _new_modes() -> list[object]:
    """How a terminal is before anybody changed it: the program may be faster than we are."""
    master, slave = os.openpty()
    modes = termios.tcgetattr(slave)
    os.close(slave)
    os.close(master)
    return modes
