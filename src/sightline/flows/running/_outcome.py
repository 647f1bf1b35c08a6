"""How attempts, steps and flows end."""

from typing import Literal

import msgspec

from sightline.text import clean_line, cut_graphemes, first_line

OUTPUT_CAP = 1024 * 1024  # characters of a step's output that later steps can use
_PREVIEW_CAP = 200

# ok: done. error: it ran, or was about to, and failed. skipped: its `when` is false, or a step it needs was skipped.
# blocked: a step it needs did not succeed. cancelled: the user stopped the flow.
StepStatus = Literal["ok", "error", "skipped", "blocked", "cancelled"]


class AttemptEnd(msgspec.Struct, frozen=True, kw_only=True):
    """How one attempt at a step ended."""

    exit_code: int
    output: str = ""
    problem: str = ""  # what went wrong, in one line
    hint: str = ""
    cut: bool = False  # there was more output than is stored

    @property
    def timed_out(self) -> bool:
        return self.exit_code == 124


class StepResult(msgspec.Struct, frozen=True, kw_only=True):
    """How a step ended, after its last attempt. What never ran has no exit code."""

    status: StepStatus
    output: str = ""
    exit_code: int | None = None
    problem: str = ""
    attempts: int = 0
    timed_out: bool = False

    def parts(self) -> dict[str, object]:
        """What templates see of it."""
        return {"output": self.output, "exit_code": self.exit_code, "status": self.status}


class FlowOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """How a flow ended: 0 every step ok or skipped, 1 a step failed, 124 the time ran out, 130 cancelled."""

    exit_code: int
    steps: dict[str, StepResult]

    def summary(self) -> str:
        """One line that counts the steps by how they ended."""
        words = {"ok": "ok", "error": "failed", "skipped": "skipped", "blocked": "not run", "cancelled": "cancelled"}
        counts = {status: sum(step.status == status for step in self.steps.values()) for status in words}
        return ", ".join(f"{counts[status]} {word}" for status, word in words.items() if counts[status])


def outcome_of(steps: dict[str, StepResult], *, cancelled: bool) -> FlowOutcome:
    failed = [step for step in steps.values() if step.status == "error"]
    code = 0
    if cancelled:
        code = 130
    elif failed:
        # A timeout is the cause only when nothing else went wrong.
        code = 124 if all(step.timed_out for step in failed) else 1
    return FlowOutcome(exit_code=code, steps=steps)


def brief(text: str) -> str:
    """The first line of a text that is not blank, of bounded length."""
    return cut_graphemes(clean_line(first_line(text[:4096])), _PREVIEW_CAP)
