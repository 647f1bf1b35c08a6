"""Extensions: one Python file each, which adds tools, commands and hooks to the agent.

Rules:

- A file has a function `setup(extension)`. It is called once for a session, before the first prompt.
- The person's own files are in the user's folder. A project's are loaded only when the person trusted the folder.
- A file that cannot be loaded is told, with the line that failed, and left out; the session goes on.
"""

import inspect
import sys
import traceback
from collections.abc import Awaitable, Callable, Iterable
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

import msgspec

from sightline.agent._hooks import Hook, Moment
from sightline.conversation import TextPart, UserMessage
from sightline.events import Notice
from sightline.text import clean_line, clean_text
from sightline.tools import Access, Need, Outcome, Tool, ToolContext

if TYPE_CHECKING:
    from sightline.agent._agent import Agent

F = TypeVar("F", bound=Callable[..., Any])


class Extension:
    """What a file's `setup` is given."""

    def __init__(self, name: str, agent: "Agent", options: Any = None) -> None:
        self.name = name
        self.options = options  # `extensions.options.NAME` of the settings
        self._agent = agent

    @property
    def cwd(self) -> Path:
        return self._agent.workplace.cwd

    def tool(
        self,
        function: Callable[..., Awaitable[Outcome | str]] | None = None,
        *,
        name: str = "",
        description: str = "",
        access: Access = "read",
        needs: Callable[..., list[Need]] | None = None,
        exclusive: bool = False,
    ) -> Any:
        """Make a tool of an async function: its parameters but `context` are the arguments, its docstring says what
        it does, what it returns goes to the model. `@extension.tool` or `@extension.tool(access="network")`."""

        def made(function: F) -> F:
            self.add_tool(_FunctionTool(function, name, description, access, needs, exclusive))
            return function

        return made if function is None else made(function)

    def add_tool(self, tool: Tool[Any]) -> None:
        """A tool written as a class."""
        self._agent.tools.add(tool)
        self._agent.asking.tools_changed()

    def command(self, name: str) -> Callable[[F], F]:
        """Make a command of a function of one text: `@extension.command("greet")`."""

        def made(function: F) -> F:
            async def run(args: str) -> Any:
                said = function(args)
                return await said if inspect.isawaitable(said) else said

            self._agent.commands[name] = run
            return function

        return made

    def on(self, moment: Moment) -> Callable[[F], F]:
        """Be asked, or told, at a moment: `@extension.on("before_call")`."""

        def made(function: F) -> F:
            hook: Hook = function
            self._agent.hooks.add(moment, hook, self.name)
            return function

        return made

    def notify(self, text: str, hint: str = "") -> None:
        """Tell the person something."""
        self._agent.stage.publish(Notice(clean_text(text), "info", clean_text(hint), source=self.name))

    def say(self, text: str) -> None:
        """Tell the model something with the next request."""
        self._agent.memory.add_custom(self.name, UserMessage([TextPart(text)], self.name))

    def keep(self, value: Any) -> None:
        """Keep a value with the conversation; `kept` has it again after a resume."""
        self._agent.keep(self.name, value)

    @property
    def kept(self) -> Any:
        return self._agent.workplace.kept.get(self.name)


class _FunctionTool(Tool[Any]):
    """A tool made of a function."""

    def __init__(
        self,
        function: Callable[..., Awaitable[Outcome | str]],
        name: str,
        description: str,
        access: Access,
        needs: Callable[..., list[Need]] | None,
        exclusive: bool,
    ) -> None:
        if not inspect.iscoroutinefunction(function):
            raise TypeError(f"{function.__name__} is not an async function")
        self.name = name or function.__name__  # type: ignore[misc]
        self.description = description or inspect.getdoc(function) or self.name  # type: ignore[misc]
        self.exclusive = exclusive  # type: ignore[misc]
        self.params = _params_of(function)
        self._function = function
        self._access = access
        self._needs = needs
        self._wants_context = "context" in inspect.signature(function).parameters

    def needs(self, params: Any, context: ToolContext) -> list[Need]:
        if self._needs is not None:
            return self._needs(**_as_arguments(params))
        if self._access == "read":
            return []
        what = str(context.cwd) if self._access == "write" else self.name
        return [Need(self._access, what, why=f"the tool {self.name} of an extension")]

    def preview(self, params: Any) -> str:
        return next((value for value in _as_arguments(params).values() if isinstance(value, str)), "")

    async def execute(self, params: Any, context: ToolContext) -> Outcome:
        arguments = _as_arguments(params)
        if self._wants_context:
            arguments["context"] = context
        said = await self._function(**arguments)
        return said if isinstance(said, Outcome) else Outcome(text="" if said is None else str(said))


def _params_of(function: Callable[..., Any]) -> type[msgspec.Struct]:
    hints = get_type_hints(function, include_extras=True)
    fields: list[Any] = []
    for name, parameter in inspect.signature(function).parameters.items():
        if name == "context":
            continue
        kind = hints.get(name, str)
        required = parameter.default is inspect.Parameter.empty
        fields.append((name, kind) if required else (name, kind, parameter.default))
    return msgspec.defstruct(f"{function.__name__}_params", fields, kw_only=True, frozen=True)


def _as_arguments(params: Any) -> dict[str, Any]:
    return {name: getattr(params, name) for name in params.__struct_fields__}


def load_extensions(agent: "Agent", files: Iterable[Path]) -> None:
    """Load each; what fails is told."""
    for file in files:
        name = file.stem
        try:
            module = _imported(file)
            setup = getattr(module, "setup", None)
            if setup is None:
                raise TypeError("it has no function setup(extension)")
            setup(Extension(name, agent, agent.settings.extensions.options.get(name)))
        except Exception as error:
            _tell(agent, file, error)


def _imported(file: Path) -> Any:
    name = f"sightline_extension_{file.stem}"
    spec: ModuleSpec | None = spec_from_file_location(name, file, loader=SourceFileLoader(name, str(file)))
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load {file}")
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _tell(agent: "Agent", file: Path, error: Exception) -> None:
    here = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
    line = getattr(error, "lineno", None) or (here[-1].lineno if here else None)
    where = f"{file}:{line}" if line else str(file)
    text = clean_line(f"the extension {where} is left out: {type(error).__name__}: {error}")
    agent.stage.publish(Notice(text, "warning", "mend it, or move it away", source="agent"))
