"""An agent put together from settings, for a session."""

import os
import time
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, get_args

import msgspec

from sightline.actors import Actor, encodable
from sightline.agent._agent import Agent
from sightline.agent._current_model import CurrentModel, MissingModel
from sightline.agent.conversation._conversation import AgentConversation
from sightline.agent.conversation._instructions import find_context_files, system_prompt
from sightline.agent.conversation._memory import EntryLog, Memory
from sightline.agent.extensions._hooks import Hooks
from sightline.agent.loop._model_request import ModelRequests
from sightline.agent.loop._requests import UserRequests, question_asker
from sightline.agent.permissions._known_rules import KnownRule, known_rules
from sightline.agent.permissions._permissions import SessionPermissions
from sightline.agent.permissions._session_rules import SessionRules
from sightline.events import Notice
from sightline.exceptions import SightlineError, UserMistake
from sightline.exec import Jobs
from sightline.journal import SessionTree
from sightline.models import Model, open_model
from sightline.settings import Approval, Policy, Settings, StartOptions, Thinking, load, remembered_rules
from sightline.tools import (
    ArtifactShelf,
    StoredHistory,
    Tool,
    ToolRegistry,
    Workplace,
    builtin_tools,
    remove_leftovers,
    remove_old_writes,
)
from sightline.tools.read import ReadTool
from sightline.tools.skills import SessionSkills

NOT_FOR_SUBAGENTS = ("todo", "job")


class AgentSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent is built from: the start options, and the settings, rules and tools that apply with them."""

    cwd: Path
    settings: Settings
    policy: Policy
    options: StartOptions = StartOptions()
    named_level: Approval | None = None  # named for this session now; the policy has it
    rules: tuple[KnownRule, ...] = ()  # those of the policy whose origin is known
    environ: Mapping[str, str] = {}
    tools: tuple[Any, ...] = ()  # besides the built-in ones
    only: tuple[str, ...] | None = None  # the names of the tools it may have; None: all
    skills: tuple[str, ...] | None = None  # the names of the skills it may have; None: all
    notices: tuple[str, ...] = ()  # about the settings, to be published first
    may_lack_model: bool = False  # start even without a model: the user may choose one


def agent_spec(options: StartOptions, *, tools: Iterable[Tool[Any]] = (), may_lack_model: bool = False) -> AgentSpec:
    """The spec for these options: with the settings of the folder and the rules remembered there."""
    cwd = Path(options.cwd)
    level = _one_of(Approval, options.approval, "approval")
    _one_of(Thinking, options.thinking, "thinking")
    loaded = load(cwd, flags=options.flags)
    rules, remembered = loaded.settings.permissions, remembered_rules(cwd)
    given = loaded.given.get(("permissions", "approval"), [])
    named = level or (rules.approval if given and given[-1].source.kind == "flag" else None)
    return AgentSpec(
        cwd=cwd,
        settings=loaded.settings,
        policy=Policy(
            level or rules.approval,
            [*rules.allow, *remembered.allow, *options.allow],
            [*rules.deny, *remembered.deny, *options.deny],
            cwd,
        ),
        options=options,
        # The level of a new session is that of the console it is opened in.
        named_level=named if options.approval_named or not options.resume else None,
        rules=known_rules(loaded, remembered, options.allow, options.deny),
        environ=dict(os.environ),
        tools=tuple(tools),
        notices=(*loaded.notices, *remembered.notices),
        may_lack_model=may_lack_model,
    )


def _one_of(kind: object, word: str, what: str) -> Any:
    try:
        return msgspec.convert(word, kind) if word else None
    except msgspec.ValidationError:
        raise UserMistake(f"no {what} level {word}", f"one of {', '.join(get_args(kind))}") from None


def build(
    spec: AgentSpec,
    actor: Actor,
    tree: SessionTree,
    artifacts: ArtifactShelf,
    local: Path,
    history: StoredHistory,
    *,
    parent: SessionPermissions | None = None,
    cap: Approval | None = None,
    entries: EntryLog | None = None,
    hooks: Hooks | None = None,
    role: str = "",
) -> Agent:
    """The agent without its extensions; `add_extensions` loads those.

    `parent`: of the agent this one is below; its rules apply and not those of the spec, at no higher level than `cap`.
    Such an agent starts nothing in the background, and has no todo list: that is the session's. `entries`: where the
    conversation is stored, if not in the session of the actor. `role`: in place of that of the agent of a session."""
    if cap is not None and parent is None:
        raise ValueError("a cap needs a parent: the root has the level of its session")
    settings, begun = spec.settings, time.time()

    def current() -> Settings:
        return workplace.settings  # they can be read again while it runs

    def opened(name: str) -> Model:
        return open_model(name, current(), spec.environ)

    @cache
    def system(sandboxed: bool) -> str:
        text = system_prompt(
            spec.cwd,
            found=found,
            role=role,
            instructions=settings.instructions,
            skills=offer,
            sandboxed=sandboxed,
            now=lambda: begun,
        )
        return actor.secrets.masked(encodable(text))

    requests, had = UserRequests(actor), model_of(tree)
    memory = Memory(actor.log if entries is None else entries, tree)
    if hooks is None:
        hooks = Hooks(lambda text: actor.publish(Notice(text, "warning")))
    jobs = Jobs(max_running=settings.jobs.max_jobs, deliver=lambda job: agent.deliver(job)) if parent is None else None
    workplace = Workplace(
        spec.cwd,
        settings=settings,
        artifacts=artifacts,
        local=local,
        history=history,
        jobs=jobs,
        ask=question_asker(requests, lambda: actor.log.has_answers, actor.publish),
        attended=lambda: actor.log.has_answers,
        limits=lambda: permissions.limits(),
    )
    model = CurrentModel(
        _opened_or_missing(opened, spec.options.model or had or settings.models.default, spec),
        _level(spec.options.thinking)
        or _level(_last(tree, "thinking_level_change", "level"))
        or settings.models.thinking,
        open_model=opened,
        settings=current,
        memory=memory,
        actor=actor,
        chosen=bool(spec.options.model) and spec.options.model != had,
    )
    # After what may fail: from now on they follow the rules of the session.
    if parent is not None:
        permissions = parent.for_agent(actor, requests, memory, cap=cap)
    else:
        permissions = SessionPermissions(
            SessionRules(spec.policy, spec.rules),
            actor=actor,
            requests=requests,
            memory=memory,
            settings=current,
            sandbox=settings.permissions.sandbox,
        )
    workplace.gateway, workplace.network = permissions.gateway, permissions.decide_network
    if parent is None:
        remove_leftovers()
        remove_old_writes()
    found = find_context_files(spec.cwd, settings.context_files, permissions.limits().is_denied)
    without = NOT_FOR_SUBAGENTS if parent is not None else () if settings.todo.enabled else ("todo",)
    offered = [tool for tool in builtin_tools() if tool.name not in without]
    tools = ToolRegistry((*offered, *spec.tools), spec.only)
    workplace.skills = SessionSkills(
        spec.cwd, spec.environ, current, lambda: permissions.limits().is_denied, only=spec.skills
    )
    offer = workplace.skills.offer() if ReadTool.name in tools else ""
    model_requests = ModelRequests(lambda: system(permissions.limits().sandbox), tools, artifacts, actor.log.id)
    conversation = AgentConversation(
        memory, model, actor=actor, hooks=hooks, settings=current, system=lambda: model_requests.system
    )
    workplace.stored = conversation.stored
    agent = Agent(actor, model, conversation, permissions, requests, model_requests, tools, workplace, hooks)
    agent.notices = found.notices
    return agent


def _opened_or_missing(opened: Callable[[str], Model], name: str, spec: AgentSpec) -> Model:
    try:
        return opened(name)
    except SightlineError as error:
        if not spec.may_lack_model:
            raise
        return MissingModel(error)


def model_of(tree: SessionTree) -> str:
    """The model a stored session had last; empty when none was noted."""
    return _last(tree, "model_change", "model")


def _last(tree: SessionTree, type: Any, key: str) -> str:
    entry = tree.latest(type)
    data = entry.data if entry is not None and isinstance(entry.data, dict) else {}
    return str(data.get(key, ""))


def _level(name: str) -> Thinking | None:
    try:
        level: Thinking = msgspec.convert(name, Thinking)
        return level
    except msgspec.ValidationError:
        return None
