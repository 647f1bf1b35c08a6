"""One monkey: it plays for a while, comes to rest, and looks whether everything is as it must be. Then it continues.

At rest, after some Escape and Ctrl+C:

- the program lives, or was left: then by a key that leaves, with its terminal as it was before;
- there is exactly one editor, and a word that is typed stands in it, once, and nowhere above;
- nothing was written that a terminal should not have been sent (`Witness` says so at once).
"""

import os
import random
import signal
import time
from collections import Counter
from pathlib import Path

from sightline.testing.emulators import EmulatorMissing
from sightline.testing.monkey._deeds import Deed, deed
from sightline.testing.monkey._glass import Glass
from sightline.testing.monkey._stage import Stage

_AT_REST = (90, 30)
_TWICE = 0.6
"""Seconds after which a second Ctrl+C does not leave."""
_DEADLINE = 30.0
_TRIES = 12
_ROUND = 400
_LEFT = (0, 1, 130, -signal.SIGINT)
"""How it may end: 1 when the session has no host and the user would not have another; by the signal when Ctrl+C was
pressed once more, the terminal having been given back already."""


_MISTAKE = 2
"""There was nothing to resume, which is reported."""


class Trouble(Exception):
    """Something is not as it must be."""


class Monkey:
    """`play` until so many keys were pressed."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self.stage = Stage(folder, self.chance)
        self.keys = 0
        self.rests = 0
        self.restarts = 0
        self.done: list[Deed] = []
        """Since the last rest."""
        self._glass: Glass | None = None

    def play(self, keys: int) -> None:
        try:
            while self.keys < keys:
                self._round()
        except EmulatorMissing:
            raise
        except Exception as error:
            raise Trouble(self._report(error)) from error
        finally:
            self._end()
        if log := self.stage.logged():
            raise Trouble(f"a host failed:\n{log[-4000:]}")

    def _round(self) -> None:
        glass = self._glass = self._glass or self._start()
        self.done = []
        until = self.keys + _ROUND
        while self.keys < until and not glass.ended:
            one = deed(self.chance)
            self.done.append(one)
            self.keys += one.keys
            if one.size is not None:
                glass.resize(*one.size)
            glass.press(one.sends)
            glass.pump(self.chance.choice((0, 0, 0.001, 0.01, 0.05)))
        self._rest(glass)
        self.rests += 1

    def _start(self) -> Glass:
        again = ["--continue"] if self.restarts and self.chance.random() < 0.5 else []
        glass = Glass(
            "--model",
            self.stage.model,
            *again,
            folder=self.stage.project,
            environment=self.stage.environment,
            columns=_AT_REST[0],
            rows=_AT_REST[1],
        )
        if not glass.until(lambda rows: "enter send" in _all(rows) or "Running here" in _all(rows), _DEADLINE):
            raise Trouble("it did not start\n" + "\n".join(glass.emulator.screen()))
        if "Running here" in _all(glass.emulator.screen()):
            glass.press(b"\r")
        return glass

    # ---- at rest

    def _rest(self, glass: Glass) -> None:
        if not glass.ended:
            glass.resize(*_AT_REST)
            # Ends a paste that has no end, and gives up half a sequence.
            glass.press(b"\x1b[201~\x1b")
            glass.pump(0.1)
        word = f"qx{self.rests}w"
        for number in range(_TRIES):
            if number >= _TRIES // 2:
                self._stop_agent(glass)
            if glass.ended or self._usable(glass, word, 1 + number / 2):
                break
        else:
            raise Trouble(f"no editor took the word {word}")
        if self._left(glass):
            return
        self._clear(glass, word)

    def _clear(self, glass: Glass, word: str) -> None:
        """Something may have been asked just before Ctrl+C, which then was an answer."""
        for _ in range(_TRIES):
            if glass.until(lambda rows: word not in _all(rows), 1):
                return
            glass.press(b"\x03")
            glass.pump(_TWICE)
        raise Trouble(f"{word} was not cleared")

    def _stop_agent(self, glass: Glass) -> None:
        """An agent whose every command has to be approved asks the next one as soon as a dialog is closed: one Escape
        closes what it asks, two more stop it."""
        for _ in range(3):
            glass.press(b"\x1b")
            glass.pump(0.15)

    def _usable(self, glass: Glass, word: str, seconds: float) -> bool:
        """Escape what is open, clear what is written, and type a word. A question may come just then."""
        glass.press(b"\x1b")
        glass.pump(0.15)
        glass.press(b"\x03")
        glass.pump(_TWICE)
        glass.press(word.encode())
        there = glass.until(lambda rows: _in_one_editor(rows, word), seconds)
        if there and (above := [row for row in _history(glass) if word in row]):
            raise Trouble(f"the editor is in the history: {above}")
        glass.press(b"\x03")
        glass.pump(_TWICE)
        return there

    def _left(self, glass: Glass) -> bool:
        """Whether it has ended. If so, by its own doing, and the terminal is as it was."""
        if not glass.ended:
            return False
        glass.pump(0.1)
        code, modes = glass.process.returncode, glass.emulator.modes()
        problems = [*glass.witness.left_on]
        refused = code == _MISTAKE and "hint:" in glass.witness.text
        problems += [f"exit code {code}"] * (code not in _LEFT and not refused)
        text = glass.witness.text
        problems += ["a bug"] * ("this is a bug" in text)
        problems += ["raw mode"] * (glass.modes != glass.before)
        problems += ["no wrapping"] * (modes.autowrap is False) + ["no cursor"] * (modes.cursor_visible is False)
        problems += ["bracketed paste"] * bool(modes.bracketed_paste)
        if problems:
            raise Trouble(f"left behind: {', '.join(problems)}\n{glass.witness.text[-3000:]}")
        glass.close()
        self._glass = None
        self.restarts += 1
        return True

    # ---- the end

    def _report(self, error: Exception) -> str:
        screen = self._glass.emulator.screen() if self._glass else []
        kinds = Counter(repr(one.sends[:24]) if one.size is None else "resize" for one in self.done)
        last = " ".join(repr(one.sends[:60]) if one.size is None else str(one.size) for one in self.done[-60:])
        end = self._glass.witness.text[-2000:] if self._glass and self._glass.ended else ""
        shown = "\n".join(screen)
        return f"{type(error).__name__}: {error}\nlast deeds: {last}\n({len(kinds)} kinds)\n{shown}\n{end}"

    def _end(self) -> None:
        if self._glass is not None:
            self._glass.close()
        for pid in self.stage.hosts():
            os.kill(pid, signal.SIGTERM)
            _wait_for(pid)


def _wait_for(pid: int) -> None:
    """It still writes to its folder."""
    deadline = time.monotonic() + _DEADLINE
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.02)


def _all(rows: list[str]) -> str:
    return "\n".join(rows)


def _in_one_editor(rows: list[str], word: str) -> bool:
    """The word stands once, between two rules, with the keys named once below."""
    at = [number for number, row in enumerate(rows) if word in row]
    if len(at) != 1 or sum("enter send" in row for row in rows) != 1:
        return False
    return _has_rule(rows[: at[0]]) and _has_rule(rows[at[0] + 1 :])


def _has_rule(rows: list[str]) -> bool:
    return any(row.startswith("──") for row in rows)


def _history(glass: Glass) -> list[str]:
    tape = glass.emulator.tape(-200)
    return tape.rows[: max(0, tape.scrollback - tape.first)]
