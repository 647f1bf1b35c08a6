"""An agent put together from settings, for a session."""

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from sightline.agent._agent import Agent
from sightline.agent._bounds import encodable
from sightline.agent._hooks import Hooks
from sightline.agent._instructions import find_context_files, system_prompt
from sightline.agent._known_rules import KnownRule, known_rules
from sightline.agent._memory import Memory
from sightline.agent._missing_model import MissingModel
from sightline.agent._questions import asked
from sightline.agent._requests import Requests
from sightline.agent._secrets import Secrets
from sightline.agent._stage import Stage
from sightline.events import Notice
from sightline.exceptions import SightlineError
from sightline.exec import Jobs
from sightline.journal import Tree
from sightline.models import Model, open_model
from sightline.settings import Approval, Policy, Settings, Thinking, denied_paths, load, remembered_rules
from sightline.tools import ArtifactShelf, History, Need, Tool, Tools, Workplace, builtin_tools, remove_leftovers


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What whoever starts an agent asks for; the rest is in the settings."""

    cwd: Path
    settings: Settings
    policy: Policy
    model: str = ""  # empty: that of the session, else of the settings
    thinking: Thinking | None = None
    approval: Approval | None = None  # that somebody named now; the policy has it
    rules: tuple[KnownRule, ...] = ()  # those of the policy, as far as it is known where they come from
    environ: Mapping[str, str] = {}
    tools: tuple[Any, ...] = ()  # besides those there are, tools.Tool
    notices: tuple[str, ...] = ()  # about the settings, to be told first
    may_lack_model: bool = False  # begin even where there is no model to ask: the person may choose one


def wanted_in(
    cwd: Path,
    *,
    flags: Mapping[str, str] | None = None,
    approval: Approval | None = None,
    allow: Iterable[str] = (),
    deny: Iterable[str] = (),
    model: str = "",
    thinking: Thinking | None = None,
    tools: Iterable[Tool[Any]] = (),
    may_lack_model: bool = False,
) -> Wanted:
    """What the settings that hold in a folder say, what is remembered there, and what is asked for besides."""
    loaded, allow, deny = load(cwd, flags=flags), tuple(allow), tuple(deny)
    rules, remembered = loaded.settings.permissions, remembered_rules(cwd)
    return Wanted(
        cwd=cwd,
        settings=loaded.settings,
        policy=Policy(
            approval or rules.approval,
            [*rules.allow, *remembered.allow, *allow],
            [*rules.deny, *remembered.deny, *deny],
            cwd,
        ),
        model=model,
        thinking=thinking,
        approval=approval,
        rules=known_rules(loaded, remembered, allow, deny),
        environ=dict(os.environ),
        tools=tuple(tools),
        notices=(*loaded.notices, *remembered.notices),
        may_lack_model=may_lack_model,
    )


def build(
    wanted: Wanted, stage: Stage, tree: Tree, artifacts: ArtifactShelf, local: Path, history: History, secrets: Secrets
) -> Agent:
    """Everything but the extensions, which are added to it."""
    settings = wanted.settings

    def opened(name: str) -> Model:
        return open_model(name, workplace.settings, wanted.environ)

    requests = Requests(stage.publish, stage.seq)
    jobs = Jobs(max_running=settings.jobs.max_jobs, deliver=lambda job: agent.deliver(job))
    workplace = Workplace(
        wanted.cwd,
        settings=settings,
        artifacts=artifacts,
        local=local,
        history=history,
        jobs=jobs,
        ask=asked(requests, lambda: stage.attended, stage.publish),
        attended=lambda: stage.attended,
        sandbox=settings.permissions.sandbox and wanted.policy.approval != "full",
        is_denied=denying(wanted.policy),
        read_only=tuple(denied_paths(wanted.policy, wanted.cwd)),
    )
    remove_leftovers()
    found = find_context_files(wanted.cwd, settings.context_files, workplace.is_denied)
    memory = Memory(stage, tree)
    had = model_of(tree)
    model = _opened_or_missing(opened, wanted.model or had or settings.models.default, wanted)
    agent = Agent(
        stage,
        model=model,
        open_model=opened,
        settings=settings,
        policy=wanted.policy,
        rules=wanted.rules,
        tools=Tools([*_offered(settings), *wanted.tools]),
        workplace=workplace,
        memory=memory,
        requests=requests,
        hooks=Hooks(lambda text: stage.publish(Notice(text, "warning", source="agent"))),
        secrets=secrets,
        system=secrets.masked(
            encodable(
                system_prompt(
                    wanted.cwd,
                    found=found,
                    instructions=settings.instructions,
                    sandboxed=workplace.sandbox,
                )
            )
        ),
        chosen=bool(wanted.model) and wanted.model != had,
        thinking=wanted.thinking or _level(_last(tree, "thinking_level_change", "level")) or settings.models.thinking,
    )
    agent.notices = found.notices
    return agent


def _opened_or_missing(opened: Callable[[str], Model], name: str, wanted: Wanted) -> Model:
    try:
        return opened(name)
    except SightlineError as error:
        if not wanted.may_lack_model:
            raise
        return MissingModel(error)


def _offered(settings: Settings) -> list[Tool[Any]]:
    return [tool for tool in builtin_tools() if tool.name != "todo" or settings.todo.enabled]


def denying(policy: Policy) -> Callable[[str], bool] | None:
    """What a search that walks over files leaves out."""
    if not any(rule.startswith("read") for rule in policy.deny):
        return None
    return lambda path: policy.decide(Need("read", path)).verdict == "deny"


def model_of(tree: Tree) -> str:
    """The model a stored session had last; empty when none was noted."""
    return _last(tree, "model_change", "model")


def _last(tree: Tree, type: Any, key: str) -> str:
    entry = tree.latest(type)
    data = entry.data if entry is not None and isinstance(entry.data, dict) else {}
    return str(data.get(key, ""))


def _level(name: str) -> Thinking | None:
    try:
        level: Thinking = msgspec.convert(name, Thinking)
        return level
    except msgspec.ValidationError:
        return None
