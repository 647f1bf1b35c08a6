"""The console's commands in a run without a console: `-p "/compact"`.

Those that show or change something of the session work. Those that need a screen fail, with a hint what to use instead.
A command of an extension with the same name has precedence; one of a file does not.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from sightline.agent.loop._command_run import StreamedText
from sightline.exceptions import UserMistake
from sightline.journal import Store
from sightline.settings import Thinking, shown_rule
from sightline.text import clean_line
from sightline.tools.skills import standing_of

if TYPE_CHECKING:
    from sightline.agent._agent import Agent


class HeadlessRun(NamedTuple):
    """What the commands work on. `review`: has a change reviewed, and returns what was found."""

    agent: "Agent"
    store: Store
    review: Callable[[str], Awaitable[str]]


_Command = Callable[[HeadlessRun, str], Awaitable[str]]

_SOURCES = {"project": "of this project", "user": "yours"}
_WIDEST = 30  # columns of the names
_IN_THE_CONSOLE = "open the console: sightline"
_INSTEAD = {
    "setup": "set a key such as ANTHROPIC_API_KEY, or open the console: sightline",
    "provider": "give --provider NAME",
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
    "serve": "run `sightline serve`",
    "agents": "-v shows what each agent does",
    "mail": "-v shows a message where it is read",
    "files": "open the console: sightline --continue",
    "worktree": "use `sightline worktree`",
    "copy": "the answer is printed",
    "paste": "name the file in the prompt",
    "history": "search sessions: sightline sessions WORDS",
    "editor": _IN_THE_CONSOLE,
    "keys": _IN_THE_CONSOLE,
    "theme": "use `sightline config set theme dark`",
    "redraw": _IN_THE_CONSOLE,
    "detach": _IN_THE_CONSOLE,
    "quit": _IN_THE_CONSOLE,
}


def headless_commands(run: HeadlessRun) -> dict[str, Callable[[str], Awaitable[object]]]:
    """The commands by name."""

    def bound(command: _Command) -> Callable[[str], Awaitable[str]]:
        return lambda args: command(run, args)

    refused = {name: _refusing(name, hint) for name, hint in _INSTEAD.items()}
    return {**refused, **{name: bound(command) for name, (command, _) in _WORKING.items()}}


def _refusing(name: str, hint: str) -> Callable[[str], Awaitable[object]]:
    async def refuse(args: str) -> None:
        raise UserMistake(f"/{name} works only in the console", hint)

    return refuse


async def _help(run: HeadlessRun, args: str) -> str:
    extensions = [name for name in run.agent.commands if name not in _WORKING and name not in _INSTEAD]
    files = run.agent.file_commands.offered().commands if run.agent.file_commands is not None else []
    rows = [(name, about) for name, (_, about) in _WORKING.items()]
    rows += [(name, "of an extension") for name in extensions]
    rows += [
        (f"{each.name} {each.args}".rstrip(), f"{each.about} ({_SOURCES[each.source]})")
        for each in files
        if each.source in _SOURCES
    ]
    wide = min(max(len(name) for name, _ in rows), _WIDEST) + 1
    return "\n".join([f"/{name:<{wide}} {about}" for name, about in rows])


async def _skill(run: HeadlessRun, args: str) -> str:
    """Without a name; with one it is a prompt, and not this."""
    skills = run.agent.workplace.skills
    found = skills.find().skills if skills is not None else []
    rows = [
        ": ".join(filter(None, (f"{skill.name} ({skill.place}, {standing_of(skill)})", skill.description)))
        for skill in found
    ]
    return "\n".join(rows) or "There are no skills here."


async def _compact(run: HeadlessRun, focus: str) -> str:
    return "Compacted." if await run.agent.conversation.compact(focus, why="asked") else "Nothing to compact."


async def _btw(run: HeadlessRun, question: str) -> str:
    outcome = await run.agent.side_question(question, run.agent.actor.observed_by("btw")).answer()
    return StreamedText(outcome.text)


async def _review(run: HeadlessRun, args: str) -> str:
    return await run.review(args)


async def _status(run: HeadlessRun, args: str) -> str:
    rows = [
        f"session {run.agent.actor.log.id}",
        f"model {run.agent.model.name}",
        f"thinking {run.agent.model.thinking}",
        f"approval level {run.agent.permissions.level}",
        f"messages {len(run.agent.memory.messages)}",
    ]
    return "\n".join(rows)


async def _model(run: HeadlessRun, name: str) -> str:
    if name:
        run.agent.model.choose(name)
    return f"model {run.agent.model.name}"


async def _thinking(run: HeadlessRun, level: str) -> str:
    if level:
        try:
            run.agent.model.think(msgspec.convert(level, Thinking))
        except msgspec.ValidationError as error:
            raise UserMistake(f"no thinking level {level}", str(error)) from None
    return f"thinking {run.agent.model.thinking}"


async def _todo(run: HeadlessRun, args: str) -> str:
    if args not in ("", "show", "clear"):
        raise UserMistake(f"/todo {args} works only in the console", "without a screen: /todo, or /todo clear")
    text = run.agent.todo.edit("") if args == "clear" else run.agent.todo.markdown()
    return text.strip() or "The todo list is empty."


async def _rename(run: HeadlessRun, title: str) -> str:
    if not title:
        raise UserMistake("no title given", "write it after the command: /rename TITLE")
    run.store.rename(run.agent.actor.log.id, title)
    return f"Renamed to: {clean_line(title)}"


async def _approvals(run: HeadlessRun, args: str) -> str:
    if args:
        raise UserMistake("a run without a console cannot change its approval level", "give --approval LEVEL")
    approvals = run.agent.permissions.approvals
    rules = [f"{rule.verdict} {shown_rule(rule.rule)}" for rule in approvals.rules]
    return "\n".join([f"approval level {approvals.policy.approval}", *rules])


_WORKING: dict[str, tuple[_Command, str]] = {
    "help": (_help, "these commands"),
    "status": (_status, "session, model, approval level"),
    "model": (_model, "the model, or change it: /model NAME"),
    "thinking": (_thinking, "how long the model thinks, or change it: /thinking LEVEL"),
    "approvals": (_approvals, "the approval level and the rules"),
    "btw": (_btw, "ask a side question, outside the conversation: /btw QUESTION"),
    "skill": (_skill, "the skills here, or use one: /skill NAME WORDS"),
    "review": (_review, "review a change: /review BRANCH, A..B or COMMIT"),
    "todo": (_todo, "the todo list, or clear it: /todo clear"),
    "compact": (_compact, "summarise the older part of the conversation"),
    "rename": (_rename, "give the session a title: /rename TITLE"),
}

OWN_COMMANDS = frozenset((*_WORKING, *_INSTEAD))
"""Names that are the console's."""
