"""How a command ended: as a line for people and an exit code for programs."""

import signal

import msgspec

from sightline.events import ToolResult, call_ending
from sightline.host import Frame
from sightline.transcript import Snapshot, TranscriptCall
from sightline.views.plain._figures import duration_words, size_words
from sightline.views.plain._palette import NEVER, STEP, Palette

_NOT_KNOWN = 1  # the exit code where there is none


class JobEnd(msgspec.Struct, frozen=True):
    """The end of one job."""

    job: str
    how: str  # exit, cancelled, timeout, host, spawn
    message: str
    exit_code: int
    duration: float
    signal: int = 0
    bytes: int = 0
    stored: int = 0
    binary: bool = False
    problem: str = ""  # why it could not be started
    hint: str = ""

    def line(self, palette: Palette) -> str:
        """One line: a sign, how it ended, how long it took, which it was."""
        good = self.exit_code == 0
        parts = [self._words(), duration_words(self.duration), self.job]
        if self.stored < self.bytes:
            parts.insert(2, f"{size_words(self.bytes - self.stored)} of output not stored")
        sign, tint = (STEP["ok"], palette.good) if good else (STEP["error"], palette.bad)
        if self.how == "cancelled":
            sign, tint = NEVER, palette.dim
        sign = f"{tint}{sign}{palette.reset}"
        return f"{sign} {palette.dim}{' · '.join(parts)}{palette.reset}"

    def _words(self) -> str:
        if self.message:
            return self.message
        if self.signal:
            return f"ended by {_signal_name(self.signal)} · exit {self.exit_code}"
        return f"exit {self.exit_code}"


def ending_of(result: ToolResult | TranscriptCall) -> JobEnd:
    found = call_ending(result.details)
    code = result.exit_code
    return JobEnd(
        job=result.id,
        how=found.ended or "exit",
        message=result.content or "",
        exit_code=_NOT_KNOWN if code is None else code,
        duration=result.duration or 0.0,
        signal=found.signal or 0,
        bytes=found.bytes or 0,
        stored=found.stored or 0,
        binary=bool(found.binary),
        problem=found.problem,
        hint=found.hint,
    )


def ending_in(frame: Frame, job: str) -> JobEnd | None:
    """The end of a job, when this frame has it."""
    if isinstance(frame, Snapshot):
        calls = (entry for entry in frame.entries if isinstance(entry, TranscriptCall) and entry.id == job)
        return next((ending_of(call) for call in calls if call.content is not None), None)
    return next((ending_of(event) for event in frame if isinstance(event, ToolResult) and event.id == job), None)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
