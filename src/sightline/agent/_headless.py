"""The console's commands in a run without a console: `-p "/compact"`.

Those that say or change something of the session work. Those that need a screen are a mistake, and the hint names the
way there is instead. A command of an extension with the same name goes first.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import msgspec

from sightline.exceptions import UserMistake
from sightline.settings import Thinking, shown_rule

if TYPE_CHECKING:
    from sightline.agent._agent import Agent

_IN_THE_CONSOLE = "open the console: sightline"
_INSTEAD = {
    "help": "see `sightline --help`",
    "reasoning": "-v shows calls and their output",
    "unfold": "-v shows calls and their output",
    "output": "`sightline logs JOB` prints the whole output of a job",
    "stop": "press Ctrl+C, or run `sightline stop ID`",
    "queue": "send another prompt with --continue",
    "unqueue": "send another prompt with --continue",
    "new": "a prompt without --continue begins a new session",
    "clear": "a prompt without --continue begins a new session",
    "resume": "give --resume ID",
    "tree": "use `sightline tree ID`",
    "branch": "use `sightline tree ID --to ENTRY`",
    "fork": "use `sightline fork ID`",
    "jobs": "use `sightline jobs`",
    "settings": "use `sightline config`",
    "attach": "name the file in the prompt",
    "todo": _IN_THE_CONSOLE,
    "agents": _IN_THE_CONSOLE,
    "files": _IN_THE_CONSOLE,
    "copy": _IN_THE_CONSOLE,
    "paste": _IN_THE_CONSOLE,
    "history": _IN_THE_CONSOLE,
    "editor": _IN_THE_CONSOLE,
    "keys": _IN_THE_CONSOLE,
    "theme": _IN_THE_CONSOLE,
    "redraw": _IN_THE_CONSOLE,
    "detach": _IN_THE_CONSOLE,
    "quit": _IN_THE_CONSOLE,
}


def headless_commands(agent: "Agent") -> dict[str, Callable[[str], Awaitable[Any]]]:
    """By name, as extensions add theirs."""
    working = {"compact": _compact, "status": _status, "model": _model, "thinking": _thinking, "approvals": _approvals}

    def bound(command: Callable[["Agent", str], Awaitable[str]]) -> Callable[[str], Awaitable[str]]:
        return lambda args: command(agent, args)

    refused = {name: _refusing(name, hint) for name, hint in _INSTEAD.items()}
    return {**refused, **{name: bound(command) for name, command in working.items()}}


def _refusing(name: str, hint: str) -> Callable[[str], Awaitable[Any]]:
    async def refuse(args: str) -> None:
        raise UserMistake(f"/{name} works only in the console", hint)

    return refuse


async def _compact(agent: "Agent", focus: str) -> str:
    return "Compacted." if await agent.shorten("asked", focus) else "Nothing to compact."


async def _status(agent: "Agent", args: str) -> str:
    rows = [
        f"session {agent.stage.session}",
        f"model {agent.model_name}",
        f"thinking {agent.thinking}",
        f"approval level {agent.approvals.policy.approval}",
        f"messages {len(agent.memory.messages)}",
    ]
    return "\n".join(rows)


async def _model(agent: "Agent", name: str) -> str:
    if name:
        agent.set_model(name)
    return f"model {agent.model_name}"


async def _thinking(agent: "Agent", level: str) -> str:
    if level:
        try:
            agent.set_thinking(msgspec.convert(level, Thinking))
        except msgspec.ValidationError as error:
            raise UserMistake(f"no thinking level {level}", str(error)) from None
    return f"thinking {agent.thinking}"


async def _approvals(agent: "Agent", args: str) -> str:
    if args:
        raise UserMistake("a run without a console cannot change its approval level", "give --approval LEVEL")
    approvals = agent.approvals
    rules = [f"{rule.verdict} {shown_rule(rule.rule)}" for rule in approvals.rules]
    return "\n".join([f"approval level {approvals.policy.approval}", *rules])
