"""The slash commands of a session that come from files: which there are now, and a prompt made of one.

Rules:

- A name of the console or of an extension is theirs. A file that cannot be used is refused by its name, so that the
  model does not read `/deploy now` as words.
- What the user typed is their prompt, and is shown as that. What the command made of it is a message of its own, by
  `command`. Both are added to the conversation when all of it is there, or neither.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sightline.agent.commands._command_file import CommandFile
from sightline.agent.commands._discovery import CommandCatalogue, find_commands
from sightline.agent.commands._expansion import SOURCE, CommandExpansion
from sightline.agent.loop._calls import CallRunner
from sightline.agent.loop._command_run import named
from sightline.agent.loop._headless_commands import OWN_COMMANDS
from sightline.agent.loop._queue import Inbox, QueuedPrompt
from sightline.events import CommandsState, Notice, OfferedCommand
from sightline.exceptions import UserMistake
from sightline.text import clean_line, cut_graphemes
from sightline.tools import ToolRegistry

if TYPE_CHECKING:
    from sightline.agent._agent import Agent

_OURS, _EXTENSION = "a command of the console", "a command of an extension"

_ABOUT, _ARGUMENTS = 150, 100  # characters that are offered: as many as of all commands fit into one event


def own_names() -> dict[str, str]:
    """That no file replaces, each with whose it is."""
    return dict.fromkeys(OWN_COMMANDS, _OURS)


def add_file_commands(agent: "Agent", environ: Mapping[str, str]) -> None:
    """Find them, for the agent of a session. What is left out is reported."""
    agent.file_commands = FileCommands(agent, environ)
    agent.file_commands.find()


class FileCommands:
    """Those of one session."""

    def __init__(self, agent: "Agent", environ: Mapping[str, str]) -> None:
        self._agent = agent
        self._environ = environ
        self._found = CommandCatalogue([], [])
        self._expansion: CommandExpansion | None = None

    def find(self) -> None:
        """As the files are now."""
        before = self._found.notices
        taken = dict.fromkeys(self._agent.commands, _EXTENSION) | own_names()
        self._found = find_commands(self._agent.workplace.cwd, self._environ, taken)
        for notice in self._found.notices:
            if notice not in before:
                self._agent.actor.publish(Notice(notice, "warning"))

    def offered(self) -> CommandsState:
        """With those of extensions."""
        extensions = [OfferedCommand(name, _about(run)) for name, run in self._agent.commands.items()]
        files = [_offered(each) for name, each in self._found.usable.items() if name not in self._agent.commands]
        return CommandsState([*extensions, *files])

    def named(self, text: str) -> CommandFile | None:
        """The command that a prompt is. UserMistake for one that is there and cannot be used."""
        name, _ = named(text)
        command = self._found.usable.get(name) if name else None
        if command is not None or not name or name in OWN_COMMANDS:
            return command
        unusable = self._found.why_not(name)
        if unusable is None:
            return None
        hint = "fix its file: " + clean_line(unusable.file)
        if unusable.state == "untrusted":
            hint = "read it, then trust the folder: sightline config trust"
        raise UserMistake(f"/{name} cannot be used: {unusable.why}", f"{hint}; `sightline commands` lists them")

    def prompt(self, command: CommandFile, typed: QueuedPrompt, inbox: Inbox) -> "CommandPrompt":
        if self._expansion is None:
            self._expansion = self._new_expansion()
        return CommandPrompt(self._agent, self._expansion, command, typed, inbox)

    def cancel(self, call: str) -> bool:
        """Cancel a piece that runs."""
        return self._expansion is not None and self._expansion.calls.cancel(call)

    def _new_expansion(self) -> CommandExpansion:
        from sightline.tools.bash import SeparateBash
        from sightline.tools.read import ReadTool

        agent = self._agent
        tools = ToolRegistry((SeparateBash(), ReadTool()), agent.tools)
        actor, approvals = agent.actor.observed_by(SOURCE), agent.permissions.approvals
        return CommandExpansion(
            lambda on_result: CallRunner(
                actor, tools, agent.workplace, approvals, agent.hooks, on_result, agent.store_value
            ),
            agent.workplace.cwd,
            actor.new_call,
        )


class CommandPrompt:
    """One command, typed as a prompt."""

    def __init__(
        self, agent: "Agent", expansion: CommandExpansion, command: CommandFile, typed: QueuedPrompt, inbox: Inbox
    ) -> None:
        self.model = command.model
        self._agent = agent
        self._expansion = expansion
        self._command = command
        self._typed = typed
        self._inbox = inbox

    def show(self) -> None:
        self._agent.conversation.show_prompt(self._typed)

    async def add(self) -> None:
        agent, hooks = self._agent, self._agent.hooks
        expanded = await self._expansion.expand(self._command, named(self._typed.text)[1])
        text = await hooks.prompt(expanded.text) if hooks else expanded.text
        self._inbox.take_unshown()
        agent.conversation.store_prompt(self._typed)
        agent.conversation.add_prompt(QueuedPrompt(text=text, images=expanded.images, origin=SOURCE))
        agent.model.note_chosen()


def _offered(command: CommandFile) -> OfferedCommand:
    about, arguments = cut_graphemes(command.description, _ABOUT), cut_graphemes(command.arguments, _ARGUMENTS)
    return OfferedCommand(command.name, about, arguments, command.source)


def _about(run: object) -> str:
    return next(iter((run.__doc__ or "").strip().splitlines()), "")
