"""How a command ended, in a line for a person and in a number for a program."""

import signal

import msgspec

from sightline.events import ToolResult, call_ending
from sightline.host import Frame
from sightline.transcript import Snapshot, TranscriptCall
from sightline.views.plain._figures import duration_words, size_words
from sightline.views.plain._palette import NEVER, STEP, Palette

_NOT_KNOWN = 1  # the exit code in place of one nobody saw


class JobEnd(msgspec.Struct, frozen=True):
    """The end of one job."""

    job: str
    how: str  # exit, cancelled, timeout, host, spawn
    said: str
    exit_code: int
    duration: float
    signal: int = 0
    bytes: int = 0
    kept: int = 0
    binary: bool = False

    def line(self, palette: Palette) -> str:
        """One line: a sign, how it ended, how long it took, which it was."""
        good = self.exit_code == 0
        parts = [self._words(), duration_words(self.duration), self.job]
        if self.kept < self.bytes:
            parts.insert(2, f"{size_words(self.bytes - self.kept)} of output not stored")
        sign, tint = (STEP["ok"], palette.good) if good else (STEP["error"], palette.bad)
        if self.how == "cancelled":
            sign, tint = NEVER, palette.dim
        sign = f"{tint}{sign}{palette.reset}"
        return f"{sign} {palette.dim}{' · '.join(parts)}{palette.reset}"

    def _words(self) -> str:
        if self.said:
            return self.said
        if self.signal:
            return f"ended by {_signal_name(self.signal)} · exit {self.exit_code}"
        return f"exit {self.exit_code}"


def ending_of(result: ToolResult | TranscriptCall) -> JobEnd:
    found = call_ending(result.details)
    code = result.exit_code
    return JobEnd(
        job=result.id,
        how=found.ended or "exit",
        said=result.content or "",
        exit_code=_NOT_KNOWN if code is None else code,
        duration=result.duration or 0.0,
        signal=found.signal or 0,
        bytes=found.bytes or 0,
        kept=found.stored or 0,
        binary=bool(found.binary),
    )


def ending_in(frame: Frame, job: str) -> JobEnd | None:
    """The end of a job, when this frame tells it."""
    if isinstance(frame, Snapshot):
        calls = (entry for entry in frame.entries if isinstance(entry, TranscriptCall) and entry.id == job)
        return next((ending_of(call) for call in calls if call.content is not None), None)
    return next((ending_of(event) for event in frame if isinstance(event, ToolResult) and event.id == job), None)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
