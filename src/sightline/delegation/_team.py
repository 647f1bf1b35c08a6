"""The team of a session: its directory, and the tools by which the agents in it delegate and write to each other.

An agent of ours is built like the agent of the session, with these differences: its role and tools are those of its
definition, its permissions are its parent's or fewer, its conversation is in a journal of its own, it starts nothing in
the background, and it hands back a result.
"""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from sightline.actors import Log
from sightline.agent import LEVELS, NOT_FOR_SUBAGENTS, Agent, AgentSpec, build, missing_messages
from sightline.delegation._directory import AgentDirectory, SpawnRequest, background
from sightline.delegation._driver import Driver, OwnProgram, ProgramStart
from sightline.delegation._isolation import Isolation, commits_text
from sightline.delegation._member import AgentResult, Member
from sightline.delegation._native import NativeDriver, NativeReader
from sightline.delegation._other_program import level_for
from sightline.delegation._record import FOLDER, AgentShelf
from sightline.delegation._task_run import Budget, TaskRun
from sightline.delegation.definitions._definition import AgentDefinition
from sightline.delegation.definitions._discovery import AgentCatalogue, find_agents
from sightline.delegation.tools._irc import IrcTool
from sightline.delegation.tools._task import TaskTool
from sightline.delegation.tools._yield import ReportFindingTool, YieldTool
from sightline.events import Event, Notice
from sightline.exceptions import SightlineError, UserMistake
from sightline.journal import (
    Entry,
    EntryPlace,
    JournalHeader,
    JournalWriter,
    SessionReader,
    SessionTree,
    agent_states,
    mail_events,
    readable,
    readable_events,
)
from sightline.settings import Approval, Settings
from sightline.text import clean_text, first_line
from sightline.tools import AnyTool, Need, StoredHistory, builtin_tools
from sightline.transcript import fold

if TYPE_CHECKING:
    from sightline.delegation.definitions._extension_agents import ExtensionAgents
    from sightline.working_copies import CopyRecord, StoredPatch

_COPY = "copy"  # the folder of a working copy, in that of its agent
_SCRIPTED = "scripted:"
_DELEGATING = (IrcTool.name, TaskTool.name, YieldTool.name, ReportFindingTool.name)
_SECONDS_TO_END = 10.0
_SECONDS_BETWEEN_TRIES = 0.2
_LISTED = 32  # other agents in the role of one
_HAND_BACK = """\
You work for another agent, which gave you a task. It sees nothing of what you do but what you hand back: when you \
are done, call `yield` once with the whole result. Do not ask back where you can decide; where you cannot continue, \
yield with `error`. Other agents may work in the same folder: a change you did not make may be theirs."""


class AgentEntries:
    """The journal of one agent's conversation; its events are in that of the session, and stored before."""

    def __init__(self, writer: JournalWriter, log: Log) -> None:
        self._writer = writer
        self._log = log

    @property
    def seq(self) -> int:
        return self._log.seq

    def store_entry(self, entry: Entry) -> EntryPlace | None:
        self._log.flush()  # an agent must not remember what was never shown
        self._writer.append([entry])
        return self._writer.place_of(entry.id)


class Team:
    """Made for the agent of a session; `directory` has the others."""

    def __init__(
        self,
        root: Agent,
        spec: AgentSpec,
        folder: Path,
        open_other: Callable[[Member, ProgramStart], Driver],
    ) -> None:
        """`folder`: of the session. `open_other`: for agents that are a program of their own."""
        self._root = root
        self._open_other = open_other
        self._spec = spec
        self._of_extensions: list[ExtensionAgents] = []
        self._noticed: set[str] = set()
        self._folder = folder
        self._shelf = AgentShelf(folder)
        self.directory = AgentDirectory(
            root.actor,
            self._shelf,
            settings=self._settings,
            catalogue=self.catalogue,
            open_driver=self._open_driver,
            isolate=self._isolate,
            hand_in=self._hand_in,
            root_reader=NativeReader(root),
        )
        self._run = TaskRun(self._shelf, self._settings, self.directory.abort, root.secrets)
        self.directory.load(lambda: {state.agent for state in agent_states(folder)})
        self.directory.load_mail(fold(mail_events(folder)).mail)
        root.when_begun(self.directory.root_begun)
        root.when_idle(self.directory.root_rests)
        self._collecting: asyncio.Task[None] | None = None
        if any(member.record.isolated for member in self.directory.members):
            self._collecting = background(self._collect_leftovers())
        root.workplace.agents = self
        if self._settings().task.max_depth > 0:
            for tool in self._tools_of(None, root):
                root.tools.add(tool)
            root.model_requests.tools_changed()

    def catalogue(self) -> AgentCatalogue:
        """As it is on the disk now. What could not be read of it is reported, once."""
        tools = [tool.name for tool in self._root.tools]
        extensions = self._defined_by_extensions()
        extra = [definition for each in extensions for definition in each.agents]
        found = find_agents(self._spec.cwd, self._spec.environ, extra=extra, tools=tools)
        for each in extensions:
            found.notices += [*each.notices, *([each.problem] if each.problem else [])]
        for text in found.notices:
            if text not in self._noticed:
                self._noticed.add(text)
                self._root.actor.observed_by("settings").publish(Notice(text, "warning"))
        return found

    def _defined_by_extensions(self) -> "list[ExtensionAgents]":
        """By each file; its function is called once."""
        new = self._root.defines_agents[len(self._of_extensions) :]
        if new:
            from sightline.delegation.definitions._extension_agents import agents_of  # most sessions have none

            options = self._settings().extensions.options
            for file, function in new:
                self._of_extensions.append(agents_of(file, function, self._spec.cwd, options.get(file.name)))
        return self._of_extensions

    def start(self, request: SpawnRequest) -> "tuple[Member, asyncio.Task[AgentResult]]":
        """Start an agent beside that of the session, without a call."""
        member = self.directory.allocate(request, None)
        return member, background(self.directory.work(member, self.carry_out, ""))

    async def carry_out(self, member: Member) -> AgentResult:
        """The task of an agent that has begun."""
        return await self._run.carry_out(member)

    # What they returned and did

    def ids(self) -> list[str]:
        return [member.id for member in self.directory.members]

    def output(self, id: str) -> Path | None:
        member = self._known(id)
        return None if member is None else self._shelf.output(member.id)

    def transcript(self, id: str) -> str | None:
        member = self._known(id)
        if member is None:
            return None
        try:
            if member.is_program:  # its conversation is stored by its program
                return readable_events(SessionReader(self._folder).events(), member.path) or "(nothing yet)"
            return readable(SessionTree.load(self._shelf.folder(member.id))) or "(nothing yet)"
        except OSError:
            return "(nothing yet)"

    def _known(self, id: str) -> Member | None:
        return next((member for member in self.directory.members if member.id.lower() == id.lower()), None)

    def _settings(self) -> Settings:
        return self._root.workplace.settings

    # Agents of ours

    async def _open_driver(self, member: Member, resumed: bool) -> Driver:
        if member.is_program:
            return self._open_other(member, self._program(member))
        return self._native(member, await self._unremembered(member) if resumed else [])

    def _program(self, member: Member) -> ProgramStart:
        """One that is a process of its own."""
        parent, copy = self._parent_of(member), None if member.isolation is None else member.isolation.copy
        is_ours = not member.record.definition.provider
        spec = self._spec_of(member, parent) if is_ours else None
        return ProgramStart(
            level=lambda: self._level(member, parent),
            cwd=str(self._cwd_of(member) if copy is None else copy.cwd),
            entering=() if copy is None else copy.words,
            model=member.record.definition.model if spec is None else spec.options.model,
            own=None if spec is None else self._own_program(member, parent, spec),
            script="" if is_ours else member.record.script or self._script_of(member, parent),
        )

    def _own_program(self, member: Member, parent: Agent, spec: AgentSpec) -> OwnProgram:
        denied = [each.rule for each in parent.permissions.approvals.rules if each.verdict == "deny"]
        if member.isolation is not None:  # a path of the workspace is another one there
            there = str(member.isolation.copy.cwd)
            denied += [
                rule.replace(here, there) for here in _spellings(self._spec.cwd) for rule in denied if here in rule
            ]
        options = msgspec.structs.replace(spec.options, deny=list(dict.fromkeys(denied)))
        only = tuple(name for name in self._tool_names(member) if name not in NOT_FOR_SUBAGENTS)
        return OwnProgram(folder=self._shelf.folder(member.id), options=options, only=only, skills=spec.skills)

    # Working copies

    async def _collect_leftovers(self) -> None:
        """Of agents that were at work when the program was killed: what they had changed is stored, and shown."""
        from sightline.working_copies import leftovers

        agents = str(self._folder.resolve() / FOLDER)
        for record in await asyncio.to_thread(leftovers):
            if not record.folder.startswith(f"{agents}/"):
                continue
            try:
                stored = await self._stored_leftover(record)
            except (OSError, SightlineError) as error:
                text = f"the working copy of {record.name} could not be read: {error}"
                self._root.actor.publish(Notice(text, "warning", "`sightline doctor` lists it"))
                continue
            for commits in stored.commits:
                text = f"{record.name} was cut off. {commits_text(commits)}"
                self._root.actor.publish(Notice(clean_text(text), "warning"))
            if stored.path is not None:
                text = f"{record.name} was cut off; what it had changed is in {stored.path}"
                self._root.actor.publish(Notice(text, "warning", "nothing was merged; `git apply` does it"))

    async def _stored_leftover(self, record: "CopyRecord") -> "StoredPatch":
        """Processes of the killed session may still be ending in it."""
        from sightline.working_copies import remove_leftover

        deadline = asyncio.get_running_loop().time() + _SECONDS_TO_END
        while True:
            try:
                return await asyncio.to_thread(remove_leftover, record)
            except UserMistake:
                if asyncio.get_running_loop().time() > deadline:
                    raise
            await asyncio.sleep(_SECONDS_BETWEEN_TRIES)

    async def _isolate(self, member: Member) -> Isolation:
        from sightline.working_copies import open_copy  # most sessions have no such agent

        assert member.actor is not None
        settings, folder = self._settings().task, self._shelf.folder(member.id) / _COPY
        copy = await asyncio.to_thread(
            open_copy,
            self._spec.cwd,
            folder,
            member.id,
            want="auto" if settings.isolation == "off" else settings.isolation,
            branch=settings.merge == "branch",
        )
        return Isolation(copy, member.actor, member.copy_changed)

    async def _hand_in(self, member: Member, result: AgentResult) -> AgentResult:
        isolation, member.isolation = member.isolation, None
        assert isolation is not None
        policy = self._parent_of(member).permissions.policy
        handed_in = await isolation.hand_in(
            is_good=not result.failed,
            title=member.record.description or first_line(member.record.assignment),
            branch=self._settings().task.merge == "branch",
            may_write=lambda path: policy.decide(Need("write", path)).verdict == "allow",
        )
        return msgspec.structs.replace(result, handed_in=handed_in)

    async def _unremembered(self, member: Member) -> list[Event]:
        """What it published since its last message that is stored: its host may have been killed."""
        self._root.actor.log.flush()
        nodes = self._root.memory.tree.nodes.values()
        places = [(node.seq, node.offset + node.size + 1) for node in nodes if node.size]
        events = await asyncio.to_thread(_published_since, self._folder, places, self._shelf.folder(member.id))
        return [event for event in events if event.agent == member.path]

    def _native(self, member: Member, unremembered: list[Event]) -> NativeDriver:
        assert member.actor is not None
        folder, record, root = self._shelf.folder(member.id), member.record, self._root
        member.has_irc = IrcTool.name in self._tool_names(member)
        header = JournalHeader(member.id, str(self._cwd_of(member)), record.description)
        writer = JournalWriter(folder, None if _has_journal(folder) else header)
        try:
            tree = SessionTree.load(folder)
            if tree.torn_at is not None:  # the host was killed while it wrote: what follows must not join that line
                writer.cut_to(tree.torn_at)
            parent = self._parent_of(member)
            agent = build(
                self._spec_of(member, parent),
                member.actor,
                tree,
                root.workplace.artifacts,
                root.workplace.local,
                self._history(),
                parent=parent.permissions,
                cap=self._cap(member),
                entries=AgentEntries(writer, root.actor.log),
                hooks=root.hooks,
                role="" if record.is_step else _role(record.definition, record.context, self._roster(member)),
            )
            for message in missing_messages(agent.memory.messages, unremembered, member.path):
                agent.memory.add(message)
        except BaseException:
            writer.close()
            raise
        agent.workplace.agents = self
        for tool in self._tools_of(member, agent):
            agent.tools.add(tool)
        budget = Budget(
            lambda: 0 if record.is_step else self._settings().task.request_budget,
            lambda text: agent.add_unshown_message(text, "task"),
            lambda: self.directory.abort(member, "it made more requests than its budget allows"),
        )
        agent.model_requests.on_request = budget.count
        return NativeDriver(agent, writer)

    def _history(self) -> StoredHistory:
        history = self._root.workplace.history
        assert history is not None
        return history

    def _parent_of(self, member: Member) -> Agent:
        """The agent it works for; where that is gone, the agent of the session: it never has more than that one."""
        parent = member.record.parent
        while parent:
            above = self.directory.get(parent)
            if isinstance(above.driver, NativeDriver):
                return above.driver.agent
            parent = above.record.parent
        return self._root

    def _definitions(self, member: Member) -> list[AgentDefinition]:
        """Its own and those of all it is below, from the top: also of one that is parked, and lends it nothing now."""
        found, above = [member.record.definition], member.record.parent
        while above:
            record = self.directory.get(above).record
            found.append(record.definition)
            above = record.parent
        return found[::-1]

    def _cap(self, member: Member) -> Approval | None:
        """The lowest level that any of them names."""
        caps = [definition.approval for definition in self._definitions(member) if definition.approval]
        return min(caps, key=LEVELS.index) if caps else None

    def _tool_names(self, member: Member) -> tuple[str, ...]:
        """What is left of the session's tools, from one to the next."""
        names = tuple(tool.name for tool in self._root.tools)
        for definition in self._definitions(member):
            names = definition.tools_of(names)
        return names

    def _skill_names(self, member: Member) -> tuple[str, ...] | None:
        """What is left of the skills, from one to the next; None: all."""
        named = [definition.skills for definition in self._definitions(member) if definition.skills is not None]
        return tuple(name for name in named[0] if all(name in each for each in named)) if named else None

    def _level(self, member: Member, parent: Agent) -> Approval:
        """The level of one that is a program: what its definition names, else its parent's for ours and `auto` for
        another, and never more than its parent may do. UserMistake where that could not be seen to."""
        from sightline.providers import get_provider

        definition, policy = member.record.definition, parent.permissions.policy
        highest = parent.permissions.level
        named = definition.approval or ("auto" if definition.provider else highest)
        level = min(named, self._cap(member) or named, highest, key=LEVELS.index)
        if not definition.provider or member.record.is_step:  # ours has the rules; a step was named by the user
            return level
        return level_for(get_provider(definition.provider), level, self._tool_names(member), policy.deny)

    def _spec_of(self, member: Member, parent: Agent) -> AgentSpec:
        definition, record = member.record.definition, member.record
        settings = self._settings()
        roles = {"small": settings.models.small, "slow": settings.models.slow}
        model = record.model or roles.get(definition.model, definition.model) or parent.model.name
        if script := self._script_of(member, parent):
            model = f"{_SCRIPTED}{script}"
        thinking = definition.thinking or parent.model.thinking
        options = msgspec.structs.replace(self._spec.options, resume="", model=model, thinking=thinking, title="")
        return msgspec.structs.replace(
            self._spec,
            cwd=self._cwd_of(member),
            settings=settings,
            options=options,
            tools=self._extension_tools(),
            only=(*self._tool_names(member), *_DELEGATING),
            skills=self._skill_names(member),
            may_lack_model=False,
        )

    def _script_of(self, member: Member, parent: Agent) -> str:
        """Its part of the session's script, which has those of the agents in it; empty where there is a model."""
        if not parent.model.name.startswith(_SCRIPTED):
            return ""
        file = self._root.model.name.removeprefix(_SCRIPTED)
        return f"{os.path.abspath(file) if member.is_program else file}#{member.id}"  # that has another folder

    def _cwd_of(self, member: Member) -> Path:
        return Path(member.record.cwd) if member.record.cwd else self._spec.cwd

    def _extension_tools(self) -> tuple[AnyTool, ...]:
        own = {*(tool.name for tool in builtin_tools()), IrcTool.name, TaskTool.name}
        return tuple(tool for tool in self._root.tools if tool.name not in own)

    def _roster(self, member: Member) -> str:
        peers = [peer for peer in self.directory.peers(member) if peer.state in ("pending", "running")]
        if not peers or not member.has_irc:
            return ""
        rows = [f"- {peer.id} ({peer.record.definition.name}): {peer.record.description}" for peer in peers[:_LISTED]]
        return "\n".join(["Other agents at work, which you can reach with `irc`:", *rows])

    def _tools_of(self, member: Member | None, agent: Agent) -> list[AnyTool]:
        tools: list[AnyTool] = [IrcTool(self.directory, member)] if member is None or member.has_irc else []
        if self._may_start(member):
            task = TaskTool(
                self.directory, self._run, member, settings=self._settings, jobs=lambda: agent.workplace.jobs
            )
            tools.append(task)
        if member is not None and not member.record.is_step:
            tools.append(YieldTool(member))
            if member.record.is_review or ReportFindingTool.name in (member.record.definition.tools or ()):
                tools.append(ReportFindingTool(member))
        return tools

    def _may_start(self, member: Member | None) -> bool:
        depth = self._settings().task.max_depth
        if member is None:
            return depth > 0
        return member.record.depth < depth and TaskTool.name in self._tool_names(member)

    async def close(self) -> None:
        await self.directory.close()
        if self._collecting is not None:
            await asyncio.wait([self._collecting])

    def settings_changed(self) -> None:
        """They were read again: more may work at once, and another shape of `task` may be shown."""
        self.directory.bound.refresh()
        self._root.model_requests.tools_changed()


def _published_since(session: Path, places: list[tuple[int, int]], agent: Path) -> list[Event]:
    """The events of a session after the last message of one of its agents. `places`: where in the journal which events
    are behind."""
    nodes = SessionTree.load(agent).nodes.values() if _has_journal(agent) else ()
    last = max((node.seq for node in nodes if node.type == "message"), default=0)
    start = max((place for seq, place in places if seq <= last), default=0)
    return [event for event in SessionReader(session).events(start) if event.seq > last]


def _has_journal(folder: Path) -> bool:
    """Not, if the host was killed while the agent was being started."""
    return (folder / "journal.jsonl").exists()


def _spellings(folder: Path) -> set[str]:
    return {str(folder), str(folder.absolute()), str(folder.resolve())}


def _role(definition: AgentDefinition, context: str, roster: str) -> str:
    parts = [definition.prompt.strip(), _HAND_BACK, roster]
    if context:
        parts.append(f"<context>\n{context}\n</context>")
    return "\n\n".join(part for part in parts if part)
