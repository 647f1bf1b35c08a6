"""Extensions: one Python file each, which adds tools, commands and hooks to the agent.

Rules:

- A file has a function `setup(extension)`. It is called once for a session, before the first prompt. One that has only
  a function `console(ui)` is for the console, one that has only `agents(definitions)` for those who start agents.
- A file's name is its extension's. Of two with the same name the first counts: a project cannot replace the user's own
  extensions, nor an extension a tool or a command that exists.
- A file that cannot be loaded is reported, with the line that failed, and left out whole; the session continues.
"""

import inspect
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args, overload

from sightline._extension_files import ExtensionFile, failure, imported
from sightline.agent.extensions._function_tool import FunctionTool, Needs, ToolFunction
from sightline.agent.extensions._hooks import Hook, Moment
from sightline.agent.extensions._ui import ExtensionUi, ExtensionWidgets
from sightline.events import Notice
from sightline.tools import Access, Tool

if TYPE_CHECKING:
    from sightline.agent._agent import Agent

F = TypeVar("F", bound=Callable[..., object])
T = TypeVar("T", bound=ToolFunction)

_tool_name = re.compile(r"[A-Za-z0-9_-]{1,64}").fullmatch  # what every model API takes
_command_name = re.compile(r"[A-Za-z0-9][\w.:-]*").fullmatch


class Extension:
    """The argument of a file's `setup`. What `setup` adds counts once it has returned; what is added later, at once."""

    def __init__(self, name: str, agent: "Agent", options: Any, shown: ExtensionWidgets) -> None:
        self.name = name
        self.options = options  # `extensions.options.NAME` of the settings
        self.ui = ExtensionUi(name, agent.actor, agent.requests, agent.secrets, shown)
        self._agent = agent
        self._waiting: list[Callable[[], None]] | None = []
        self._tools: set[str] = set()
        self._commands: set[str] = set()

    @property
    def cwd(self) -> Path:
        """The folder the agent works in."""
        return self._agent.workplace.cwd

    @overload
    def tool(self, function: T) -> T: ...
    @overload
    def tool(
        self,
        *,
        name: str = "",
        description: str = "",
        access: Access = "read",
        needs: Needs | None = None,
        exclusive: bool = False,
    ) -> Callable[[T], T]: ...
    def tool(self, function: Any = None, **more: Any) -> Any:
        """Make a tool of an async function: its parameters but `context` are the arguments, its docstring says what
        it does, what it returns goes to the model. `@extension.tool` or `@extension.tool(access="network")`."""

        def made(function: T) -> T:
            self.add_tool(FunctionTool(function, **more))
            return function

        return made if function is None else made(function)

    def add_tool(self, tool: Tool[Any]) -> None:
        """A tool written as a class."""
        if not isinstance(tool, Tool):
            raise TypeError(f"not a tool: {tool!r}")
        if not _tool_name(tool.name):
            raise ValueError(f"{tool.name!r} is not a tool name: use up to 64 letters, digits, _ and -")
        if tool.name in self._agent.tools or tool.name in self._tools:
            raise ValueError(f"there is already a tool {tool.name}; choose another name")
        self._tools.add(tool.name)
        self._do(lambda: self._add_tool(tool))

    def command(self, name: str) -> Callable[[F], F]:
        """Make a command of a function of one text: `@extension.command("greet")` is `/greet`."""
        if not isinstance(name, str) or not _command_name(name):
            raise ValueError(f"{name!r} is not a command name: use letters, digits, . : _ and -, without the slash")
        if name in self._agent.commands or name in self._commands:
            raise ValueError(f"there is already a command /{name}; choose another name")
        self._commands.add(name)

        def made(function: F) -> F:
            async def run(args: str) -> Any:
                result = function(args)
                return await result if inspect.isawaitable(result) else result

            run.__doc__ = function.__doc__  # the help text
            self._do(lambda: self._agent.commands.update({name: run}))
            return function

        return made

    def on(self, moment: Moment) -> Callable[[F], F]:
        """Add a hook for a moment: `@extension.on("before_call")`."""
        if moment not in get_args(Moment):
            raise ValueError(f"unknown moment {moment!r}; use one of {', '.join(get_args(Moment))}")

        def made(function: F) -> F:
            hook: Hook = function
            self._do(lambda: self._agent.hooks.add(moment, hook, self.name))
            return function

        return made

    def notify(self, text: str, hint: str = "") -> None:
        """Show the user a notice."""
        text = self._agent.secrets.masked(text)
        self._agent.actor.observed_by(self.name).publish(Notice(text, "info", hint))

    def say(self, text: str) -> None:
        """Add a text for the model to the next request."""
        self._agent.add_shown_message(text, self.name)

    async def prompt(self, text: str) -> None:
        """Send a prompt, as if the user had written it; during a run it joins in."""
        await self._agent.prompt(text, origin=self.name)

    def keep(self, value: Any) -> None:
        """Store a value with the conversation; `kept` has it again after a resume. Plain data only."""
        self._agent.store_value(self.name, value)

    @property
    def kept(self) -> Any:
        return self._agent.workplace.stored.get(self.name)

    def settle(self) -> None:
        """`setup` has returned: what it added counts."""
        waiting, self._waiting = self._waiting, None
        for add in waiting or ():
            add()

    def _do(self, add: Callable[[], None]) -> None:
        if self._waiting is None:
            add()
        else:
            self._waiting.append(add)

    def _add_tool(self, tool: Tool[Any]) -> None:
        self._agent.tools.add(tool)
        self._agent.model_requests.tools_changed()


def load_extensions(agent: "Agent", files: Iterable[ExtensionFile]) -> None:
    """Load each; failures are reported."""
    loaded: dict[str, Path] = {}
    shown = ExtensionWidgets(agent.actor)
    if agent.memory.messages:
        shown.clear()
    for file in files:
        try:
            if file.name in loaded:
                raise ValueError(f"{loaded[file.name]} has the same name")
            _load(agent, file, shown)
            loaded[file.name] = file.path
        except (Exception, SystemExit) as error:
            text = failure(file.path, error)
            agent.actor.publish(Notice(text, "warning", "fix or remove the file"))


def _load(agent: "Agent", file: ExtensionFile, shown: ExtensionWidgets) -> None:
    module = imported(file)
    setup, agents = getattr(module, "setup", None), getattr(module, "agents", None)
    if setup is not None or (agents is None and not callable(getattr(module, "console", None))):
        _set_up(agent, file, setup, shown)
    if agents is not None:
        agent.defines_agents.append((file, agents))


def _set_up(agent: "Agent", file: ExtensionFile, setup: object, shown: ExtensionWidgets) -> None:
    if not callable(setup):
        raise TypeError("it has no function setup(extension)")
    if inspect.iscoroutinefunction(setup):
        raise TypeError("setup is async; make it an ordinary function, and wait in a session_start hook")
    extension = Extension(file.name, agent, agent.workplace.settings.extensions.options.get(file.name), shown)
    setup(extension)
    extension.settle()
