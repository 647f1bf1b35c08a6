"""The tools of a session by name, how a model is told of them, and its arguments made into parameters.

What a model writes is read leniently where the meaning is certain (a number in quotes, a list written as its JSON
text, one item where a list is meant) and refused with one precise line where it is not.
"""

from collections.abc import Iterable, Iterator
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec

from sightline.tools._tool import Tool, ToolError


class Tools:
    """The tools there are. A later one of the same name takes the place of the earlier."""

    def __init__(self, tools: Iterable[Tool[Any]] = ()) -> None:
        self._tools: dict[str, Tool[Any]] = {}
        for tool in tools:
            self.add(tool)

    def add(self, tool: Tool[Any]) -> None:
        self._tools[tool.name] = tool

    def __iter__(self) -> Iterator[Tool[Any]]:
        return iter(self._tools.values())

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def get(self, name: str) -> Tool[Any]:
        """The tool; a ToolError that names those there are when there is none of that name."""
        tool = self._tools.get(name)
        if tool is None:
            raise ToolError(f"there is no tool '{name}'{_nearest(name, self._tools)}; tools: {', '.join(self._tools)}")
        return tool


def builtin_tools() -> list[Tool[Any]]:
    """Everything that comes with the program, in the order a model is told of it."""
    from sightline.tools.ask import AskTool
    from sightline.tools.bash import BashTool
    from sightline.tools.edit import EditTool
    from sightline.tools.find import FindTool
    from sightline.tools.job import JobTool
    from sightline.tools.read import ReadTool
    from sightline.tools.search import SearchTool
    from sightline.tools.todo import TodoTool
    from sightline.tools.write import WriteTool

    return [
        ReadTool(),
        SearchTool(),
        FindTool(),
        EditTool(),
        WriteTool(),
        BashTool(),
        JobTool(),
        TodoTool(),
        AskTool(),
    ]


def schema_of(params: type[msgspec.Struct]) -> dict[str, Any]:
    """The JSON schema of a tool's arguments: one object, nothing referred to elsewhere, no titles."""
    schema = msgspec.json.schema(params)
    definitions = schema.pop("$defs", {})
    plain: dict[str, Any] = _inlined(schema, definitions)
    plain.setdefault("properties", {})
    plain["additionalProperties"] = False
    return plain


def parameters(tool: Tool[Any], args: dict[str, Any]) -> Any:
    """The parameters a call's arguments stand for, or a ToolError that says what is wrong with them."""
    fields = {field.encode_name: field for field in msgspec.structs.fields(tool.params)}
    for name in args:
        if name not in fields:
            known = ", ".join(fields) or "none"
            raise ToolError(f"{tool.name} has no argument '{name}'{_nearest(name, fields)}; arguments: {known}")
    given = {name: _meant(value, fields[name].type) for name, value in args.items()}
    try:
        return msgspec.convert(given, tool.params, strict=False)
    except msgspec.ValidationError as error:
        raise ToolError(f"{tool.name}: {_said(str(error))}") from None


def _meant(value: Any, wanted: Any) -> Any:
    """A list or an object written as its JSON text, or one item in place of a list of one."""
    if not isinstance(value, str):
        return value
    kinds = {get_origin(kind) or kind for kind in _alternatives(wanted)}
    if str in kinds:
        return value
    decoded = _decoded(value)
    if decoded is not None:
        return decoded
    return [value] if kinds & {list, tuple} else value


def _alternatives(wanted: Any) -> list[Any]:
    """The types a field may have, without what is said about them."""
    if get_origin(wanted) is Annotated:
        return _alternatives(get_args(wanted)[0])
    if get_origin(wanted) in (Union, UnionType):
        return [kind for part in get_args(wanted) for kind in _alternatives(part)]
    return [wanted]


def _decoded(text: str) -> Any:
    if not text.lstrip().startswith(("[", "{")):
        return None
    try:
        return msgspec.json.decode(text)
    except msgspec.MsgspecError:
        return None


def _said(error: str) -> str:
    """`Expected `int`, got `str` - at `$.limit`` → `limit: expected int, got str`."""
    what, _, where = error.replace("`", "").partition(" - at ")
    what = what[:1].lower() + what[1:]
    place = where.removeprefix("$").removeprefix(".")
    return f"{place}: {what}" if place else what


def _nearest(name: str, known: Iterable[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, list(known), 1)
    return f" (did you mean '{near[0]}'?)" if near else ""


def _inlined(schema: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_inlined(item, definitions) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _inlined(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    return {key: _inlined(value, definitions) for key, value in schema.items() if key != "title"}
