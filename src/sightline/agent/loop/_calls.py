"""Running the calls of one answer: concurrently where that is allowed, each with exactly one end.

Rules:

- Every call has its `tool_use` and its `tool_result`, whatever happens, and its message in the conversation, in the
  order the model made them.
- A tool that is exclusive runs alone: after what was called before it, before what was called after it.
- A call that is cancelled ends as cancelled, and its result says that nothing it did is undone. Calls after it are not
  started.
- Nothing of a call follows its end, whatever its tool still does.
- A model reads what the user is shown: without what drives a terminal, and then without secrets.
"""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from sightline.actors import Actor
from sightline.agent._bugs import log_bug
from sightline.agent._names import shown_names
from sightline.agent.extensions._hooks import Block, Call, Hooks
from sightline.agent.permissions._approvals import Approvals, Refusal
from sightline.conversation import CallPart, Content, ImagePart, TextPart, ToolMessage
from sightline.events import CallEnding, StateFact, ToolResult, ToolUpdate, ToolUse, call_ending
from sightline.exceptions import SightlineError
from sightline.handles import Grants, Swapped, granted
from sightline.text import clean_line, clean_text, cut_graphemes, first_line
from sightline.tools import (
    CallWriter,
    Image,
    Need,
    Outcome,
    Proposal,
    Tool,
    ToolContext,
    ToolError,
    ToolRegistry,
    Workplace,
    cutting,
    is_inside,
    parameters,
    writing_as,
)

CANCELLED = "cancelled before it ended; what it had done by then is not undone"
NOT_MADE = "not run: the agent was stopped first"
_TEXT_AT_MOST = 400_000  # characters of a result a model reads; every tool of ours stays far below


class CallRunner:
    """Runs the calls of one session."""

    def __init__(
        self,
        actor: Actor,
        tools: ToolRegistry,
        workplace: Workplace,
        approvals: Approvals,
        hooks: Hooks,
        on_result: Callable[[ToolMessage], None],
        store_value: Callable[[str, object, StateFact | None], None],
    ) -> None:
        self._actor = actor
        self._tools = tools
        self._workplace = workplace
        self._approvals = approvals
        self._hooks = hooks
        self._secrets = actor.secrets
        self._on_result = on_result
        self._store_value = store_value
        self._running: dict[str, asyncio.Task[Outcome]] = {}
        self._stopped = self._ends_run = False
        self._began = time.time()

    async def make(self, calls: list[CallPart]) -> bool:
        """Run all of them to their ends. Results are recorded in the order of the calls. True: one ends the run."""
        self._stopped = self._ends_run = False
        for call in calls:
            self._actor.publish(self._tool_use(call))
        waiting: list[tuple[CallPart, asyncio.Task[Outcome], float]] = []
        for call in calls:
            if call.name in self._tools and self._tools.get(call.name).exclusive:
                await self._settle(waiting)
                await self._settle([self._begin(call)])
            else:
                waiting.append(self._begin(call))
        await self._settle(waiting)
        return self._ends_run

    def cancel(self, id: str = "") -> bool:
        """Cancel one call, or all. One that is already winding up is left to that."""
        self._stopped = self._stopped or not id
        found = [task for call, task in self._running.items() if id in ("", call)]
        for task in found:
            if not task.cancelling():
                task.cancel()
        return bool(found)

    def preview(self, call: str, name: str, written: str) -> dict[str, object] | None:
        """What to show of arguments that are still being written; never fails."""
        if name not in self._tools:
            return None
        try:
            return self._tools.get(name).partial(written, self._context(call))
        except Exception:  # half an argument may be anything
            return None

    def _begin(self, call: CallPart) -> tuple[CallPart, "asyncio.Task[Outcome]", float]:
        task = asyncio.get_running_loop().create_task(_not_made() if self._stopped else self._made(call))
        self._running[call.id] = task
        task.add_done_callback(lambda _: self._end(call, task, began))
        began = time.monotonic()
        return call, task, began

    async def _settle(self, begun: list[tuple[CallPart, "asyncio.Task[Outcome]", float]]) -> None:
        """Wait for them all and record them in order. Being cancelled meanwhile cancels them first."""
        tasks = [task for _, task, _ in begun]
        try:
            if tasks:
                await asyncio.wait(tasks)
        except asyncio.CancelledError:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            raise
        finally:
            for call, task, _ in begun:
                outcome = _outcome_of(task)
                self._ends_run = self._ends_run or outcome.ends_run
                self._on_result(self._message(call, outcome))
            begun.clear()

    async def _made(self, call: CallPart) -> Outcome:
        writer = CallWriter(self._actor.log.id, self._actor.path, call.id, self._began)
        with cutting(self._secrets.without_beginning), writing_as(writer):
            return await self._outcome(call)

    async def _outcome(self, call: CallPart) -> Outcome:
        if call.broken:
            quoted = cut_graphemes(self._secrets.masked(call.broken), 200)
            raise ToolError(f"the arguments of {call.name} are not a JSON object: {quoted}")
        tool = self._tools.get(call.name)
        hooked = await self._hooks.before_call(Call(call.id, call.name, call.args)) if self._hooks else call
        if isinstance(hooked, Block):
            raise ToolError(f"not run: {hooked.reason}")
        params = parameters(tool, hooked.args)
        context = self._context(call.id)
        needs = self._needs(tool, params, context)
        if needs:
            shown = self._secrets.masked_value(hooked.args)
            proposals = _Proposals(partial(tool.changes, params, context))
            await self._approvals.ask(tool.name, call.id, needs, shown, changes=proposals.make)
            decided, needs = needs, self._needs(tool, params, context)
            if not self._still_allowed(needs, decided) or not await proposals.still_hold():
                raise ToolError("its target changed while the call was being approved: make the call again")
        context.passed = tuple(
            name for need in needs if need.access == "exec" for name in self._approvals.policy.passed(need)
        )
        try:
            with granted(self._grants(needs)) if tool.confined else nullcontext():
                outcome = await tool.execute(params, context)
        except SystemExit as error:  # it would end the host
            outcome = _failure(ToolError(f"the tool tried to exit ({error.code})"))
        except Exception as error:
            outcome = _failure(error)
        finally:
            context.save()
        if self._hooks:
            outcome = await self._hooks.after_call(Call(call.id, call.name, hooked.args), outcome)
        return outcome

    def _needs(self, tool: Tool[Any], params: Any, context: ToolContext) -> list[Need]:
        return [need for need in tool.needs(params, context) if not self._is_own(need)]

    def _still_allowed(self, now: list[Need], decided: list[Need]) -> bool:
        """Whether what is needed now was decided: a new level may have removed the sandbox, or need no question."""
        return now == decided or all(self._approvals.policy.decide(need).verdict == "allow" for need in now)

    def _grants(self, needs: list[Need]) -> Grants:
        """The paths that may be opened after the decision. What is written is read first, unless a rule forbids."""
        reads = [need.real or need.what for need in needs if need.access == "read"]
        writes = [need for need in needs if need.access == "write"]
        reads += [need.real or need.what for need in writes if self._may_read(need.what)]
        own = os.path.realpath(self._workplace.local)
        return Grants(reads, [need.real or need.what for need in writes], [own])

    def _may_read(self, path: str) -> bool:
        is_denied = self._workplace.limits().is_denied
        return is_denied is None or not is_denied(path)

    def _is_own(self, need: Need) -> bool:
        """Whether it is a file behind local://, which is the agent's own."""
        return need.access in ("read", "write") and is_inside(Path(need.what), self._workplace.local)

    def _context(self, call: str) -> ToolContext:
        def update(details: dict[str, Any]) -> None:
            if call in self._running:
                self._actor.publish(ToolUpdate(call, details))

        return ToolContext(
            call,
            self._workplace,
            update=update,
            output=self._actor.output(call),
            start=lambda spec: self._actor.start(call, spec),
            store=self._store_value,
            restored=self._secrets.restored,
        )

    def _tool_use(self, call: CallPart) -> ToolUse:
        args = call.args if not call.broken else call.broken
        name, native_name = shown_names(call.name)
        return ToolUse(call.id, name, native_name, self._arg(call), args, clean_line(call.native_id))

    def _arg(self, call: CallPart) -> str:
        try:
            tool: Tool[Any] = self._tools.get(call.name)
            text = tool.preview(parameters(tool, call.args))
        except Exception:  # its result reports what is wrong with it
            text = next((value for value in call.args.values() if isinstance(value, str)), "")
        return first_line(text)

    def _end(self, call: CallPart, task: "asyncio.Task[Outcome]", began: float) -> None:
        """Publish the end of a call at once, whatever else still runs."""
        self._running.pop(call.id, None)
        outcome = _outcome_of(task)
        self._actor.publish(
            ToolResult(
                call.id,
                outcome.text,
                outcome.details,
                outcome.is_error,
                outcome.exit_code,
                round(time.monotonic() - began, 4),
                clean_line(call.native_id),
            )
        )

    def _message(self, call: CallPart, outcome: Outcome) -> ToolMessage:
        text = self._secrets.masked(clean_text(outcome.text))
        if len(text) > _TEXT_AT_MOST:
            text = f"{text[:_TEXT_AT_MOST]}\n[{len(text) - _TEXT_AT_MOST:,} more characters are left out]"
        parts: list[Content] = [TextPart(text)] if text or not outcome.images else []
        parts += [self._stored_image(call, number, image) for number, image in enumerate(outcome.images)]
        name, native_id = self._actor.name(call.name), self._secrets.masked(call.native_id)
        return ToolMessage(call.id, name, parts, native_id, outcome.is_error, _ending(outcome))

    def _stored_image(self, call: CallPart, number: int, image: Image) -> Content:
        name = f"{call.id}-image{number}.{image.media_type.rpartition('/')[2]}"
        try:
            return ImagePart(image.media_type, self._workplace.artifacts.store(name, image.data))
        except OSError as error:
            return TextPart(f"[an image ({image.media_type}) that could not be stored: {error.strerror}]")


class _Proposals:
    """The changes the user was shown for a call: they must still be what it does when the user has answered."""

    def __init__(self, changes: Callable[[], Awaitable[Proposal]]) -> None:
        self._changes = changes
        self._shown: list[Proposal] = []

    async def make(self) -> Proposal:
        """For the user. An invalid call is reported by its result; a change that cannot be shown is reported here."""
        self._shown.append(await self._made())
        return self._shown[-1]

    async def still_hold(self) -> bool:
        if not self._shown:
            return True
        now = await self._made()
        return all(shown == now for shown in self._shown)

    async def _made(self) -> Proposal:
        try:
            return await self._changes()
        except SightlineError as error:
            return Proposal(unseen=f"its change cannot be shown: {error.message}")
        except Exception as error:
            return Proposal(unseen=f"its change cannot be shown: {type(error).__name__}")


def _ending(outcome: Outcome) -> CallEnding | None:
    """What the conversation stores of how a call ended: enough to show its result without the text for the model."""
    found = call_ending(outcome.details)
    ending = CallEnding(by=found.by, rule=found.rule, reason=found.reason, outcome_lines=found.outcome_lines or None)
    ending = msgspec.structs.replace(ending, exit_code=outcome.exit_code or None)
    return None if ending == CallEnding() else ending


def _outcome_of(task: "asyncio.Task[Outcome]") -> Outcome:
    """The outcome of a call that has ended. A bug in a tool fails its call, not the session."""
    if task.cancelled():
        return Outcome(
            text=CANCELLED, details=CallEnding(ended="cancelled", outcome_lines=[CANCELLED]).as_details(), is_error=True
        )
    error = task.exception()
    return task.result() if error is None else _failure(error)


def _failure(error: BaseException) -> Outcome:
    if isinstance(error, Refusal):
        return Outcome(text=error.message, details=error.ending.as_details(), is_error=True)
    if isinstance(error, SightlineError):
        text = f"{error.message}\nhint: {error.hint}" if error.hint else error.message
        return Outcome(text=text, is_error=True)
    if isinstance(error, Swapped):
        return Outcome(text=f"Cannot open {error.filename}: {error.strerror}.", is_error=True)
    log_bug("a tool failed", error)
    return Outcome(text=f"the tool failed: {type(error).__name__}: {error}", is_error=True)


async def _not_made() -> Outcome:
    return Outcome(text=NOT_MADE, details=CallEnding(ended="cancelled").as_details(), is_error=True)
