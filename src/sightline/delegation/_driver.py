"""What works for an agent: our own loop, or another provider's program. To the directory they are the same."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal, Protocol

import msgspec

from sightline.settings import Approval, StartOptions

How = Literal["prompt", "steer", "follow_up"]


class OwnProgram(msgspec.Struct, frozen=True, kw_only=True):
    """An agent of ours that runs in a process of its own."""

    folder: Path  # of what it stores
    options: StartOptions
    only: tuple[str, ...]  # the names of its tools
    skills: tuple[str, ...] | None = None  # the names of its skills; None: all


class ProgramStart(msgspec.Struct, frozen=True, kw_only=True):
    """How a driver is started that is a program of its own."""

    level: Callable[[], Approval]  # the most it may do now
    cwd: str
    entering: tuple[str, ...] = ()  # words before its command line, which start it in a working copy
    model: str = ""
    own: OwnProgram | None = None  # None: it is the provider's that the definition names
    script: str = ""  # where it may have a recording, which is played in place of the program


class DriverOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """How a run of an agent ended."""

    text: str = ""  # its last words
    words: str = ""  # all of its words
    error: str = ""  # why it failed
    hint: str = ""  # what to do about that
    stopped: str = ""  # cancelled or timeout
    is_refused: bool = False  # something it needed was refused

    @property
    def failure(self) -> str:
        return f"{self.error}; {self.hint}" if self.error and self.hint else self.error


class Reader(Protocol):
    """An agent that takes words, of the user and of other agents. `mail`: the id of the message that they are."""

    @property
    def busy(self) -> bool: ...

    async def prompt(self, text: str, *, how: How, mail: str, on_dropped: Callable[[], object]) -> None:
        """The user's words. `on_dropped`: called when they will never be read."""

    def inform(
        self,
        text: str,
        *,
        mail: str,
        unless: Callable[[], bool],
        on_read: Callable[[], object],
        on_answer: Callable[[str], object],
    ) -> None:
        """A message of another agent: read at its next step, unless it was read before; else in a run of its own.
        `on_answer`: called with what it writes about that, where it cannot send messages by itself."""


class Driver(Reader, Protocol):
    """One agent at work. Used in the session's event loop only."""

    @property
    def model(self) -> str: ...

    async def run(
        self,
        text: str,
        *,
        origin: str,
        force_tool: str = "",
        mail: str = "",
        on_dropped: Callable[[], object] | None = None,
    ) -> DriverOutcome:
        """Give it a prompt and wait until it has nothing more to do. Empty: it has something to do already.
        `force_tool`: it must call this one first."""

    def stop(self, reason: str) -> None:
        """End the run soon."""

    def answer(self, request: str, answer: object) -> bool:
        """Answer a request of it; false when it has none such."""

    def cancel_call(self, id: str) -> bool: ...

    def level_changed(self) -> None:
        """The approval level of the session is another one now."""

    def give_up(self) -> bool:
        """No user is going to answer: close its open requests; whether there were any."""

    async def close(self) -> None:
        """Release everything but what is stored."""
