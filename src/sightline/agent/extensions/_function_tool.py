"""A tool made of an async function: its parameters are the arguments, its docstring says what it does."""

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, get_type_hints

import msgspec
from msgspec import Meta as Meta  # for extension files: what describes an argument

from sightline.tools import Access, Need, Outcome, Tool, ToolContext, schema_of

CONTEXT = "context"  # the parameter that is not the model's to give
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)

ToolFunction = Callable[..., Awaitable["Outcome | str | None"]]
Needs = Callable[..., list[Need]]


class FunctionTool(Tool[Any]):
    """A function that cannot be a tool raises TypeError or ValueError here, not when a model calls it."""

    def __init__(
        self,
        function: ToolFunction,
        *,
        name: str = "",
        description: str = "",
        access: Access = "read",
        needs: Needs | None = None,
        exclusive: bool = False,
    ) -> None:
        if not inspect.iscoroutinefunction(function):
            raise TypeError(f"{_name(function)} is not an async function")
        if access not in ("read", "write", "exec", "network"):
            raise ValueError(f"unknown access class {access!r}; use read, write, exec or network")
        self.name = name or _name(function)  # type: ignore[misc]
        self.description = description or inspect.getdoc(function) or self.name  # type: ignore[misc]
        self.exclusive = exclusive  # type: ignore[misc]
        self.params = _params_of(function)
        self._function = function
        self._access = access
        self._needs = needs

    def needs(self, params: Any, context: ToolContext) -> list[Need]:
        """Its own `needs`; otherwise those of its access class. A rule names it: `exec(NAME)`."""
        if self._needs is not None:
            return self._needs(**_arguments(self._needs, params, context))
        if self._access == "read":
            return []
        what = str(context.cwd) if self._access == "write" else self.name
        return [Need(self._access, what, why=f"the tool {self.name} of an extension")]

    def preview(self, params: Any) -> str:
        values = [getattr(params, name) for name in params.__struct_fields__]
        return next((value for value in values if isinstance(value, str)), "")

    async def execute(self, params: Any, context: ToolContext) -> Outcome:
        result = await self._function(**_arguments(self._function, params, context))
        return result if isinstance(result, Outcome) else Outcome(text="" if result is None else str(result))


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", function))


def _params_of(function: ToolFunction) -> type[msgspec.Struct]:
    hints = get_type_hints(function, include_extras=True)
    fields: list[Any] = []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind not in _NAMED:
            raise TypeError(f"{_name(function)} takes {parameter}; a tool has named arguments only")
        if name == CONTEXT:
            continue
        kind = hints.get(name, str)
        required = parameter.default is inspect.Parameter.empty
        fields.append((name, kind) if required else (name, kind, parameter.default))
    params = msgspec.defstruct(f"{_name(function)}_arguments", fields, kw_only=True, frozen=True)
    schema_of(params)  # a type without a schema raises now
    return params


def _arguments(function: Callable[..., object], params: Any, context: ToolContext) -> dict[str, Any]:
    arguments = {name: getattr(params, name) for name in params.__struct_fields__}
    if CONTEXT in inspect.signature(function).parameters:
        arguments[CONTEXT] = context
    return arguments
