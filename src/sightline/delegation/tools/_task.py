"""`task`: start agents, one or several at once, and get what they return.

Rules:

- One shape is shown to the model, by the setting `task.batch`: `{agent, context, tasks: [{id, description, assignment,
  isolated}]}`, or one item without `context`. A single item is accepted in either case.
- The call's details are the delegation contract: a step for each agent, with the last line of what it does.
- The call waits for its agents, unless `task.background` is set and the agent is not blocking: then each is a job,
  whose end is delivered once.
- A mistake in the arguments starts nothing.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated

import msgspec
from msgspec import Meta

from sightline.delegation._directory import AgentDirectory, SpawnRequest
from sightline.delegation._excerpt import excerpt, listed
from sightline.delegation._isolation import handed_in_text
from sightline.delegation._member import AgentResult, Member
from sightline.delegation._names import NAME_AT_MOST, as_name
from sightline.delegation._task_run import TaskRun
from sightline.delegation.definitions._definition import AgentDefinition
from sightline.events import STOPPED_BY_USER, CallEnding, Delegation, DelegationItem, DelegationStatus, ReviewFinding
from sightline.exceptions import SightlineError, UserMistake
from sightline.exec import Jobs
from sightline.settings import Settings
from sightline.text import clean_line, cut_graphemes, first_line
from sightline.tools import Details, Outcome, Tool, ToolContext, ToolError

PREVIEW = 5000  # characters of a result in the text for the model
_PREVIEWS = 60_000  # the same for all agents of a call
_PROGRESS_SECONDS = 0.15
_TASKS_AT_MOST = 64

WHAT = """\
Start agents that work for you, each with a conversation of its own: they see nothing of yours. Use them for parts of \
the work that are independent of each other, and for searching much to find little. Give each a complete assignment: \
the goal, where to look, what to return. They work at the same time; start all that are independent in one call.
"""
_FOLLOW_UP = (
    "To follow up on what an agent did, message it with `irc` in place of starting another: it knows the subject."
)


# The shapes the model is shown: a docstring of theirs would be part of that.


class ShownItem(msgspec.Struct, frozen=True):
    assignment: Annotated[str, Meta(description="The work: complete instructions. The agent knows nothing else.")]
    id: Annotated[str, Meta(description="A short name for the agent, such as AuthReader.", max_length=NAME_AT_MOST)] = (
        ""
    )
    description: Annotated[str, Meta(description="A few words for people.")] = ""


class TaskItem(ShownItem, frozen=True):
    isolated: Annotated[
        bool,
        Meta(description="Work in a copy of the files, which is merged when the agent is done. It cannot use `irc`."),
    ] = False


class BatchParams(msgspec.Struct, frozen=True):
    agent: Annotated[str, Meta(description="Which kind of agent.")]
    context: Annotated[str, Meta(description="What all of them need to know: goal, constraints, files.")]
    tasks: Annotated[list[TaskItem], Meta(description="One for each agent.")]


class SharedBatchParams(BatchParams, frozen=True):  # where no agent can be isolated (`task.isolation`)
    tasks: Annotated[list[ShownItem], Meta(description="One for each agent.")]  # type: ignore[assignment]


class FlatParams(TaskItem, frozen=True, kw_only=True):  # where `task.batch` is off
    agent: Annotated[str, Meta(description="Which kind of agent.")]


class SharedFlatParams(ShownItem, frozen=True, kw_only=True):  # the same where no agent can be isolated
    agent: Annotated[str, Meta(description="Which kind of agent.")]


class TaskParams(msgspec.Struct, frozen=True):
    """As a call may be written."""

    agent: str = ""
    context: str = ""
    tasks: list[TaskItem] | None = None
    assignment: str = ""
    id: str = ""
    description: str = ""
    isolated: bool = False
    schema: object = None


class TaskTool(Tool[TaskParams]):
    name = "task"
    params = TaskParams

    def __init__(
        self,
        directory: AgentDirectory,
        run: TaskRun,
        caller: Member | None,
        *,
        settings: Callable[[], Settings],
        jobs: Callable[[], Jobs | None],
    ) -> None:
        """`caller`: the agent that has this tool; None: the agent of the session."""
        self._directory = directory
        self._run = run
        self._caller = caller
        self._settings = settings
        self._jobs = jobs

    @property
    def description(self) -> str:  # type: ignore[override]
        offered = "\n".join(
            f"- {definition.name}: {definition.description}" for definition in self._offered() if definition.description
        )
        return f"{WHAT}\n{_FOLLOW_UP}\n\nKinds of agents:\n{offered}"

    def schema(self) -> Details:
        from sightline.tools import schema_of

        settings = self._settings().task
        if settings.isolation == "off":
            return schema_of(SharedBatchParams if settings.batch else SharedFlatParams)
        return schema_of(BatchParams if settings.batch else FlatParams)

    def preview(self, params: TaskParams) -> str:
        items = params.tasks or []
        return f"{params.agent} × {len(items)}" if len(items) > 1 else params.agent

    async def execute(self, params: TaskParams, context: ToolContext) -> Outcome:
        requests = self._requests(params)
        members: list[Member] = []
        try:
            for request in requests:
                members.append(self._directory.allocate(request, self._caller))
        except SightlineError as error:
            for member in members:
                self._directory.forget(member)
            raise ToolError(f"{error.message}; {error.hint}" if error.hint else error.message) from None
        if self._in_background(members):
            return self._begin_jobs(members, context)
        return await self._wait_for(members, context)

    # Arguments

    def _requests(self, params: TaskParams) -> list[SpawnRequest]:
        if params.schema is not None:
            raise ToolError(
                "`schema` is not an argument of this tool: a definition of an agent names the form of its result."
            )
        if not params.agent.strip():
            raise ToolError("`agent` is missing: name the kind of agent to start.")
        if not self._settings().task.batch and (params.tasks is not None or params.context):
            raise ToolError("`tasks` and `context` are not available here (task.batch): start one agent a call.")
        return [
            SpawnRequest(
                agent=params.agent.strip(),
                assignment=item.assignment,
                name=item.id,
                description=item.description,
                context=params.context.strip(),
                isolated=item.isolated,
            )
            for item in self._items(params)
        ]

    def _items(self, params: TaskParams) -> list[TaskItem]:
        if params.tasks is None:
            if not params.assignment.strip():
                raise ToolError("`assignment` is missing: say what the agent is to do.")
            return [TaskItem(params.assignment, params.id, params.description, params.isolated)]
        if params.assignment:
            raise ToolError("give `tasks` or `assignment`, not both.")
        if not params.tasks:
            raise ToolError("`tasks` is empty: give one item for each agent.")
        if len(params.tasks) > _TASKS_AT_MOST:
            raise ToolError(f"{len(params.tasks)} tasks are more than {_TASKS_AT_MOST} in one call.")
        if not params.context.strip():
            raise ToolError("`context` is missing: say what all of the agents need to know.")
        for number, item in enumerate(params.tasks, 1):
            if not item.assignment.strip():
                raise ToolError(f"task {number} has no `assignment`.")
        names = [as_name(item.id).lower() for item in params.tasks if item.id]
        if len(set(names)) < len(names):
            raise ToolError("two tasks have the same `id`.")
        return params.tasks

    def _offered(self) -> list[AgentDefinition]:
        """The kinds of agents its caller may start."""
        own = None if self._caller is None else self._caller.record.definition
        disabled = self._settings().task.disabled
        return [
            each
            for each in self._directory.definitions.values()
            if each.name not in disabled and (own is None or (each.name != own.name and own.may_start(each.name)))
        ]

    def _in_background(self, members: list[Member]) -> bool:
        settings = self._settings()
        blocking = any(member.record.definition.blocking for member in members)
        return settings.task.background and settings.jobs.enabled and self._jobs() is not None and not blocking

    # Waiting for them

    async def _wait_for(self, members: list[Member], context: ToolContext) -> Outcome:
        results: dict[str, AgentResult] = {}
        progress = _Progress(members, results, context.update)
        forget = self._directory.listen(progress.changed)
        progress.publish()
        try:
            tasks = [asyncio.ensure_future(self._one(member, results, progress, context.call)) for member in members]
            try:
                await asyncio.gather(*tasks)
            except asyncio.CancelledError:
                for task in tasks:
                    task.cancel()
                await asyncio.wait(tasks)
                raise
        finally:
            forget()
            progress.close()
        found = [results[member.id] for member in members]
        details = {**progress.details(), "results": msgspec.to_builtins(found, enc_hook=str)}
        failed = all(result.failed for result in found)
        most = min(PREVIEW, _PREVIEWS // len(found))
        texts = [summary(result, member, most) for result, member in zip(found, members, strict=True)]
        return Outcome(text="\n\n".join(texts), details=details, is_error=failed)

    async def _one(
        self, member: Member, results: dict[str, AgentResult], progress: "_Progress", call: str
    ) -> AgentResult:
        result = results[member.id] = await self._directory.work(member, self._run.carry_out, call)
        progress.changed(member)
        return result

    # In the background

    def _begin_jobs(self, members: list[Member], context: ToolContext) -> Outcome:
        jobs = self._jobs()
        assert jobs is not None
        results: dict[str, AgentResult] = {}
        progress = _Progress(members, results, context.update)
        begun, failed = [], []
        for member in members:
            label = member.record.description or first_line(member.record.assignment)
            label = cut_graphemes(clean_line(f"{member.record.definition.name} {label}"), 80)
            try:
                jobs.register(
                    "task", label, self._job(member, results, progress, context.call), owner=context.agent, id=member.id
                )
                begun.append(member)
            except (UserMistake, ValueError, RuntimeError) as error:
                self._directory.forget(member)
                failed.append(f"{member.id}: {error}")
        if not begun:
            raise ToolError(f"no agent could be started: {'; '.join(failed)}")
        lines = [f"- `{member.id}` (job `{member.id}`)" for member in begun]
        text = f"Started {len(begun)} {'agent' if len(begun) == 1 else 'agents'} in the background:\n" + "\n".join(
            lines
        )
        text += (
            "\n\nEach result is delivered when it is there. Do other work, wait with `job`, or message them with `irc`."
        )
        if failed:
            text += f"\nNot started: {'; '.join(failed)}"
        ending = CallEnding(ended="job", job=begun[0].id) if len(begun) == 1 else CallEnding(ended="job")
        return Outcome(text=text, details={**progress.details(), **ending.as_details()})

    def _job(
        self, member: Member, results: dict[str, AgentResult], progress: "_Progress", call: str
    ) -> Callable[[], Awaitable[str]]:
        async def work() -> str:
            result = await self._one(member, results, progress, call)
            if result.failed:
                raise TaskFailed(summary(result, member))
            return summary(result, member)

        return work


class TaskFailed(Exception):
    """A task in the background failed; the message is what the model reads."""


class _Progress:
    """The step list of one call, published when something of its agents changed, not more often than it can be seen."""

    def __init__(
        self, members: list[Member], results: dict[str, AgentResult], update: Callable[[Details], object]
    ) -> None:
        self._members = members
        self._results = results
        self._update = update
        self._later: asyncio.TimerHandle | None = None

    def changed(self, member: Member) -> None:
        if member in self._members and self._later is None:
            self._later = asyncio.get_running_loop().call_later(_PROGRESS_SECONDS, self.publish)

    def publish(self) -> None:
        self._later = None
        self._update(self.details())

    def close(self) -> None:
        if self._later is not None:
            self._later.cancel()
            self._later = None

    def details(self) -> Details:
        items = [self._item(member) for member in self._members]
        active = next((item.id for item in items if item.status == "running"), None)
        return Delegation("parallel" if len(items) > 1 else "single", items, active).as_details()

    def _item(self, member: Member) -> DelegationItem:
        record, result = member.record, self._results.get(member.id)
        status: DelegationStatus = "pending" if member.state == "pending" else "running"
        preview = member.last_line
        if result is not None:
            status = "error" if result.failed else "ok"
            stopped = STOPPED_BY_USER if member.stopped else result.aborted
            preview = result.failure or stopped or first_line(result.output.strip())
        task = record.description or first_line(record.assignment)
        name = f"{record.id} ({record.definition.name})"
        return DelegationItem(
            record.path, name, clean_line(task), status, cut_graphemes(clean_line(preview), 200) or None
        )


def summary(result: AgentResult, member: Member, most: int = PREVIEW) -> str:
    """What the model reads of one agent. `most`: characters of its result, its error and its findings, each."""
    spent = f"{result.requests} requests, {result.tokens:,} tokens, {result.seconds:.0f} s"
    how = f"was stopped ({result.aborted})" if result.aborted else "failed" if result.error else "is done"
    parts = [f"Agent `{result.id}` ({result.agent}) {how}: {spent}."]
    if result.error:
        parts.append(f"Error: {excerpt(result.failure, most, f'history://{result.id}')}")
    parts += [f"Warning: {warning}." for warning in result.warnings]
    if result.findings:
        findings = [_finding(number, each) for number, each in enumerate(result.findings, 1)]
        parts.append("Findings:\n" + listed(findings, most, f"history://{result.id}"))
    if result.output:
        parts.append(excerpt(result.output, most, f"agent://{result.id}"))
    if result.handed_in is not None:
        parts.append(handed_in_text(result.handed_in))
    if member.state == "aborted" or member.record.isolated:
        parts.append(f"[its transcript: history://{result.id}]")
    else:
        parts.append(f"[{result.id} is idle: message it with irc to follow up; its transcript: history://{result.id}]")
    return "\n\n".join(parts)


def _finding(number: int, finding: ReviewFinding) -> str:
    lines = f":{finding.first_line}-{finding.last_line}" if finding.first_line else ""
    place = f" {finding.file}{lines}" if finding.file else ""
    body = f"\n   {finding.body}" if finding.body else ""
    return f"{number}. [P{finding.priority}]{place} {finding.title}{body}"
