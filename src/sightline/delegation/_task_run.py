"""One task of one agent: its prompt, the reminders to hand back a result, its budget, and what came of it.

Rules:

- An agent of ours finishes by calling `yield`. One that stops without it is reminded three times; the third time it has
  to call it. After that its last words are its result, with a warning.
- A result that a schema describes is checked when it is handed back; one that does not fit may be corrected once.
- After so many requests it is reminded to finish; after half as many again it is stopped. So it is when its time is
  over.
- A step of a flow is not asked to hand back anything, and has no budget: all of its words are its result.
- The whole of what it returned is stored before anyone reads of it.
"""

import asyncio
import time
from collections.abc import Callable

import msgspec

from sightline.delegation._driver import Driver, DriverOutcome
from sightline.delegation._member import AgentResult, Member
from sightline.delegation._record import AgentShelf
from sightline.secrets import Secrets
from sightline.settings import Settings

REMINDERS = 3
OUTPUT_AT_MOST = 500_000  # bytes
LINES_AT_MOST = 5000
YIELD = "yield"
_REMINDER = (
    "You stopped without handing back a result. Call `yield` with the result of your task now; if you could not do it, "
    "call `yield` with `error` and say why."
)
_NOT_YIELDED = f"it handed back no result, though reminded {REMINDERS} times: these are its last words"


class TaskRun:
    """Carries out the assignment of an agent."""

    def __init__(
        self,
        shelf: AgentShelf,
        settings: Callable[[], Settings],
        abort: Callable[[Member, str], object],
        secrets: Secrets,
    ) -> None:
        self._shelf = shelf
        self._secrets = secrets
        self._settings = settings
        self._abort = abort

    async def carry_out(self, member: Member) -> AgentResult:
        assert member.driver is not None
        began, limit = time.monotonic(), self._limit(member)
        timer = None
        if limit:
            timer = asyncio.get_running_loop().call_later(limit, self._abort, member, "timeout")
        try:
            outcome, reminded = await self._run(member, member.driver)
        finally:
            if timer is not None:
                timer.cancel()
        result = self._result(member, outcome, reminded, time.monotonic() - began)
        result = msgspec.structs.replace(result, output=self._secrets.masked(result.output))
        if result.output:
            await asyncio.to_thread(self._shelf.save_output, member.id, result.output)
        return result if member.record.is_step else msgspec.structs.replace(result, output=bounded(result.output))

    def _limit(self, member: Member) -> float:
        named = member.record.timeout
        return named or (0 if member.record.is_step else self._settings().task.max_seconds)

    async def _run(self, member: Member, driver: Driver) -> tuple[DriverOutcome, int]:
        if member.reason:  # it was stopped before it had begun
            return DriverOutcome(stopped=member.reason), 0
        outcome = await driver.run(member.record.assignment, origin="task")
        reminded = 0
        must_yield = not (member.is_program or member.record.is_step)
        while must_yield and member.yielded is None and not (outcome.error or outcome.stopped or member.reason):
            if reminded == REMINDERS:
                break
            reminded += 1
            forced = YIELD if reminded == REMINDERS else ""
            outcome = await driver.run(_REMINDER, origin="task", force_tool=forced)
        return outcome, reminded

    def _result(self, member: Member, outcome: DriverOutcome, reminded: int, seconds: float) -> AgentResult:
        yielded, record = member.yielded, member.record
        output, error, hint, warnings = outcome.text, outcome.error, outcome.hint, []
        if record.is_step:
            output = outcome.words
        if yielded is not None:
            error, hint = yielded.error, ""
            output = yielded.text
            if yielded.data is not None:
                output = msgspec.json.format(msgspec.json.encode(yielded.data), indent=2).decode()
        elif reminded == REMINDERS and not error:
            warnings.append(_NOT_YIELDED)
        if outcome.is_refused:
            warnings.append("something it needed was refused: no user was there to ask")
        return AgentResult(
            id=member.id,
            agent=record.definition.name,
            description=record.description,
            output=output,
            error=error,
            hint=hint,
            aborted=member.reason or outcome.stopped,
            is_refused=outcome.is_refused,
            warnings=warnings,
            findings=list(member.findings),
            requests=member.requests,
            tokens=member.tokens,
            cost=member.cost,
            seconds=seconds,
        )


def bounded(text: str) -> str:
    """At most so many bytes and lines, from the beginning; all of it is behind agent://."""
    lines = text.split("\n")
    cut = "\n".join(lines[:LINES_AT_MOST]) if len(lines) > LINES_AT_MOST else text
    data = cut.encode("utf-8", "replace")
    if len(data) > OUTPUT_AT_MOST:
        cut = data[:OUTPUT_AT_MOST].decode("utf-8", "ignore")
    return cut


class Budget:
    """Counts the requests of an agent, and sees to it that they end."""

    def __init__(
        self,
        limit: Callable[[], int],
        remind: Callable[[str], object],
        stop: Callable[[], object],
    ) -> None:
        self._limit = limit
        self._remind = remind
        self._stop = stop
        self._made = 0

    def count(self) -> None:
        self._made += 1
        limit = self._limit()
        if limit and self._made == limit:
            self._remind(
                f"You have made {limit} requests, which is the budget of this task. Finish now: call `{YIELD}` with "
                "what you have, and say what is missing."
            )
        elif limit and self._made > limit + limit // 2:
            self._stop()
