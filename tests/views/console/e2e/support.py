"""A person at the console: they press keys and read the screen, nothing else. In an emulator, or in a real tmux.

Both show the same program on a real pty. `sees` waits until something stands on the screen; `tape` is the screen and
everything above it.
"""

import json
import os
import shlex
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from sightline.testing.emulators import Kind
from tests.cli.support import SIGHTLINE, until
from tests.views.console.glass import OnGlass

Where = Literal["xterm", "ghostty", "tmux"]

ENTER, ESCAPE, UP, DOWN, TAB, BACK = "\r", "\x1b", "\x1b[A", "\x1b[B", "\t", "\x7f"
LEFT, RIGHT = "\x1b[D", "\x1b[C"
CTRL_C, CTRL_D, CTRL_G, CTRL_L, CTRL_O, CTRL_R, CTRL_Z = "\x03", "\x04", "\x07", "\x0c", "\x0f", "\x12", "\x1a"
ALT_ENTER, ALT_O, ALT_UP, ALT_T, ALT_L, ALT_C = "\x1b\r", "\x1bo", "\x1b[1;3A", "\x1bt", "\x1bl", "\x1bc"
READY = "enter send"
_FOREGROUND = 5  # place, after the state, of the group that has the terminal


def pasted(text: str) -> str:
    return f"\x1b[200~{text}\x1b[201~"


class Screen:
    """What a person sees and does."""

    def press(self, *keys: str) -> None:
        raise NotImplementedError

    def rows(self) -> list[str]:
        """The screen."""
        raise NotImplementedError

    def tape(self) -> list[str]:
        """The screen and what is above it."""
        raise NotImplementedError

    def resize(self, columns: int, rows: int) -> None:
        raise NotImplementedError

    def ended(self) -> object:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError

    def until(self, condition: Callable[[list[str]], Any], what: str) -> Any:
        try:
            return until(lambda: condition(self.rows()), what)
        except AssertionError as error:
            raise AssertionError(f"{error}; the screen is\n" + "\n".join(self.rows())) from None

    def sees(self, *texts: str) -> None:
        def all_there(rows: list[str]) -> bool:
            return all(any(text in row for row in rows) for text in texts)

        self.until(all_there, repr(texts))

    def sees_no(self, text: str) -> None:
        self.until(lambda rows: not any(text in row for row in rows), f"no {text!r}")

    def leaves(self) -> None:
        """When nothing works any more: words are there before their run ends, and Ctrl+D would ask."""
        self.sees_no("escape stop")
        self.press(CTRL_D)
        self.ended()

    def says(self, text: str) -> None:
        """Type it, see it in the editor, and send it."""
        self.press(text)
        self.sees(text.splitlines()[-1][-60:])
        self.press(ENTER)

    def answers(self, key: str, then: Callable[[list[str]], bool]) -> None:
        """Press a key of what is asked until it was heard: one that comes at the moment it is drawn counts as typed
        before, and goes to the editor. No person is as fast as a test."""
        for _ in range(10):
            self.press(key)
            try:
                until(lambda: then(self.rows()), "the answer to be heard", seconds=2)
            except AssertionError:
                continue
            return
        raise AssertionError(f"{key} was not heard; the screen is\n" + "\n".join(self.rows()))

    def once(self, *texts: str) -> None:
        """Each stands in the tape in exactly one row."""
        tape = self.tape()
        for text in texts:
            assert sum(text in row for row in tape) == 1, (text, "\n".join(tape))


def wait_for_rest(pid: int) -> None:
    """Until the program waits for keys: on a busy machine one may see what it wrote before it goes on. A key that comes
    then was pressed before the question was there, for all it knows."""
    for _ in range(200):
        if _status(pid)[:1] != ["R"]:
            return
        time.sleep(0.005)


def _status(pid: int) -> list[str]:
    """Of a process, from its state on; nothing when it has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


class OnEmulator(Screen):
    def __init__(self, *words: str, kind: Kind = "xterm", columns: int = 100, rows: int = 30) -> None:
        self._glass = OnGlass(*words, kind=kind, columns=columns, rows=rows)

    @property
    def pid(self) -> int:
        return self._glass.program.process.pid

    def press(self, *keys: str) -> None:
        wait_for_rest(self.pid)
        for key in keys:
            self._glass.press(key)
            self._glass.pump()

    def rows(self) -> list[str]:
        self._glass.pump()
        return self._glass.emulator.screen()

    def tape(self) -> list[str]:
        self._glass.pump()
        return self._glass.tape

    def resize(self, columns: int, rows: int) -> None:
        self._glass.resize(columns, rows)

    def ended(self) -> int:
        return self._glass.ended()

    def hang_up(self) -> None:
        """The window is closed."""
        self._glass.program.close()

    def close(self) -> None:
        self._glass.close()


class OnTmux(Screen):
    """A server of its own; the program is started from a shell, as a person would."""

    def __init__(self, folder: Path, *words: str, columns: int = 100, rows: int = 30) -> None:
        self._socket = str(folder / f"tmux-{os.urandom(3).hex()}")
        self("new-session", "-d", "-x", str(columns), "-y", str(rows), "sh")
        self("set", "-g", "window-size", "manual")
        self("set", "-g", "escape-time", "0")
        self._shell = int(self("display-message", "-p", "-t", ":0.0", "#{pane_pid}"))
        self.press("PS1='$ '; clear; " + shlex.join([SIGHTLINE, *words]), ENTER)

    def __call__(self, *words: str) -> str:
        command = ["tmux", "-u", "-S", self._socket, "-f", "/dev/null", *words]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=90).stdout

    def press(self, *keys: str) -> None:
        shell = _status(self._shell)
        if len(shell) > _FOREGROUND:
            wait_for_rest(int(shell[_FOREGROUND]))
        for key in keys:
            data = [f"{byte:02x}" for byte in key.encode()]
            for at in range(0, len(data), 500):
                self("send-keys", "-t", ":0.0", "-H", *data[at : at + 500])

    def rows(self) -> list[str]:
        return self("capture-pane", "-p", "-t", ":0.0").splitlines()

    def tape(self) -> list[str]:
        return self("capture-pane", "-p", "-S", "-", "-t", ":0.0").rstrip().splitlines()

    def resize(self, columns: int, rows: int) -> None:
        self("resize-window", "-x", str(columns), "-y", str(rows))

    def ended(self) -> None:
        """The shell asks for the next command."""
        self.until(lambda rows: any(row == "$" for row in rows), "the shell's prompt")

    def close(self) -> None:
        subprocess.run(["tmux", "-S", self._socket, "kill-server"], capture_output=True)


class Person:
    """Has a project, a scripted model, and as many screens as they like."""

    def __init__(self, folder: Path, where: Where) -> None:
        self.where = where
        self.folder = folder
        self.project = folder / "project"
        self.project.mkdir()
        self._screens: list[Screen] = []

    def script(self, *turns: Any, name: str = "script") -> str:
        """The name of a model that says this."""
        file = self.folder / f"{name}.json"
        file.write_text(json.dumps(list(turns)))
        return f"scripted:{file}"

    def opens(self, *words: str, columns: int = 100, rows: int = 30, ready: bool = True) -> Any:
        """The program on a screen of its own."""
        screen: Screen
        if self.where == "tmux":
            screen = OnTmux(self.folder, *words, columns=columns, rows=rows)
        else:
            screen = OnEmulator(*words, kind=self.where, columns=columns, rows=rows)
        self._screens.append(screen)
        if ready:
            screen.sees(READY)
        return screen

    def close(self) -> None:
        for screen in self._screens:
            screen.close()


def bash(command: str, **more: Any) -> dict[str, Any]:
    return {"tool": "bash", "args": {"command": command}, **more}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"text": words, **more}
