"""An attempt at a step by an agent of the session: our own, another program, or one that a file defines.

Rules:

- A step that names a provider gives it its prompt and nothing else; all words of the agent are its result. One that
  names an agent starts it as `task` does: with its instructions, and it hands back a result. What was refused to it
  is then a warning; a provider to which something was refused has failed.
- It ends with its step: nothing of it stays open. While the session runs a prompt of the user revives it.
"""

from sightline.actors import Actor
from sightline.delegation import AgentDefinition, AgentResult, Member, SpawnRequest, Team
from sightline.events import Notice
from sightline.exceptions import SightlineError
from sightline.flows import NATIVE, OUTPUT_CAP, AttemptEnd, StepTask, brief
from sightline.providers import REFUSED_EXIT_CODE
from sightline.settings import Approval

_REFUSED = "a permission was refused"
_MORE_TIME = "allow more time, or ask for less at once"


class StepAgent:
    """`run` it to its end; `stop` ends it for good."""

    def __init__(self, team: Team, task: StepTask, level: Approval) -> None:
        """`level`: that of the settings."""
        self._team = team
        self._task = task
        self._level = level
        self._member: Member | None = None
        self._began = False

    @property
    def actor(self) -> Actor | None:
        return None if self._member is None else self._member.actor

    async def run(self) -> AttemptEnd:
        directory = self._team.directory
        try:
            self._member = member = directory.allocate(self._request(), None)
        except SightlineError as error:
            return AttemptEnd(exit_code=1, problem=error.message, hint=error.hint)
        result = await directory.work(member, self._carry_out, self._task.call)
        await directory.park(member)
        if self._task.agent and member.actor is not None:
            for warning in result.warnings:
                member.actor.observed_by("flow").publish(Notice(warning, "warning"))
        return self._ended(result)

    async def stop(self) -> None:
        if self._member is not None:
            self._team.directory.abort(self._member, "cancelled")

    async def _carry_out(self, member: Member) -> AgentResult:
        self._began = True
        return await self._team.carry_out(member)

    def _request(self) -> SpawnRequest:
        task = self._task
        return SpawnRequest(
            agent=task.agent or task.provider,
            assignment=task.prompt,
            definition=None if task.agent else _definition(task.provider),
            name=task.name,
            description=task.description,
            model=task.model,
            approval=self._cap(),
            cwd=task.cwd,
            timeout=task.timeout or 0.0,
            options=task.options,
        )

    def _cap(self) -> Approval:
        """`auto` is up to the settings: ours, or those of another program."""
        named = self._task.approval or "auto"
        is_ours = self._task.agent or self._task.provider == NATIVE
        return self._level if named == "auto" and is_ours else named

    def _ended(self, result: AgentResult) -> AttemptEnd:
        output = result.output[:OUTPUT_CAP].rstrip("\n")
        cut = len(result.output) > OUTPUT_CAP
        if result.aborted == "timeout":
            problem = f"timed out after {self._task.timeout:g} s" if self._task.timeout else "timed out"
            return AttemptEnd(exit_code=124, output=output, problem=problem, hint=_MORE_TIME, cut=cut)
        if result.failed:
            # What happened in its run was published there; why it could not begin was not.
            hint = "" if self._began else result.hint
            problem = brief(result.error or result.aborted)
            return AttemptEnd(exit_code=1, output=output, problem=problem, hint=hint, cut=cut)
        if result.is_refused and not self._task.agent:
            return AttemptEnd(exit_code=REFUSED_EXIT_CODE, output=output, problem=_REFUSED, cut=cut)
        return AttemptEnd(exit_code=0, output=output, cut=cut)


def _definition(provider: str) -> AgentDefinition:
    """Of a step that names none: the provider as it is, which may start any agent."""
    other = "" if provider == NATIVE else provider
    return AgentDefinition(
        name=provider, description="a step of a flow", prompt="", spawns=("*",), provider=other, source="user"
    )
