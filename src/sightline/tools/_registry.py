"""The tools of a session by name, and how the arguments a model writes become parameters.

What a model writes is read leniently where the meaning is certain (a number in quotes, a list written as its JSON
text, one item where a list is meant, null for what need not be given) and refused with one precise line where it is
not.
"""

import re
from collections.abc import Container, Iterable, Iterator
from functools import lru_cache
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec

from sightline.text import clean_line, cut_graphemes
from sightline.tools._schema import schema_of
from sightline.tools._tool import Tool, ToolError

AnyTool = Tool[Any]  # whatever its parameters are

_ERROR_AT_MOST = 200
_half = re.compile("[\ud800-\udc7f\udd00-\udfff]").search
_steps = re.compile(r"\[[^\]]*\]|[^.\[\]]+").findall


class ToolRegistry:
    """Tools by name. A later one of the same name replaces the earlier. `only`: names of those it takes; None: all."""

    def __init__(self, tools: Iterable[AnyTool] = (), only: Container[str] | None = None) -> None:
        self._tools: dict[str, AnyTool] = {}
        self._only = only
        for tool in tools:
            self.add(tool)

    def add(self, tool: AnyTool) -> None:
        if self._only is None or tool.name in self._only:
            self._tools[tool.name] = tool

    def __iter__(self) -> Iterator[AnyTool]:
        return iter(self._tools.values())

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def get(self, name: str) -> AnyTool:
        """The tool; a ToolError that names those there are when there is none of that name."""
        tool = self._tools.get(name)
        if tool is None:
            mistake = f"there is no tool '{_one_line(name)}'{_nearest(name, self._tools)}"
            raise ToolError(f"{mistake}; tools: {', '.join(self._tools)}")
        return tool


def builtin_tools() -> list[AnyTool]:
    """Everything that comes with the program, in the order of a request's tool list."""
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


def parameters(tool: AnyTool, args: dict[str, Any]) -> Any:
    """A call's arguments as a struct of the tool's parameters. ToolError names what is wrong with them."""
    fields = _fields(tool.params)  # type: ignore[arg-type] # a class can be hashed
    for name in args:
        if name not in fields:
            mistake = f"{tool.name} has no argument '{_one_line(name)}'{_nearest(name, fields)}"
            raise ToolError(f"{mistake}; arguments: {', '.join(fields) or 'none'}")
    for name, value in args.items():
        if (half := _half_in(value)) is not None:
            raise ToolError(
                f"{tool.name}: `{name}` has a lone surrogate in it (U+{ord(half):04X}), which no "
                "text can hold. Write the character itself."
            )
    given = {
        name: _meant(value, fields[name].type)
        for name, value in args.items()
        if value is not None or fields[name].required
    }
    try:
        return msgspec.convert(given, tool.params, strict=False)
    except msgspec.ValidationError as error:
        raise ToolError(f"{tool.name}: {_mistake(str(error), tool)}") from None


def _half_in(value: object) -> str | None:
    """A surrogate without its other half. (Those that stand for bytes of a name are none.)"""
    match value:
        case str():
            found = None if value.isascii() else _half(value)
            return found[0] if found else None
        case list():
            return next(filter(None, map(_half_in, value)), None)
        case dict():
            return next(filter(None, map(_half_in, [*value.keys(), *value.values()])), None)
    return None


@lru_cache(256)
def _fields(params: type[msgspec.Struct]) -> dict[str, msgspec.structs.FieldInfo]:
    return {field.encode_name: field for field in msgspec.structs.fields(params)}


def _meant(value: object, field_type: object) -> object:
    """A list or an object written as its JSON text, or one item in place of a list of one."""
    kinds = {get_origin(kind) or kind for kind in _alternatives(field_type)}
    if isinstance(value, str) and str not in kinds:
        decoded = _decoded(value)
        value = value if decoded is None else decoded
    if isinstance(value, str | dict) and not kinds - {list, tuple, NoneType}:
        return [value]
    return value


def _alternatives(field_type: object) -> list[object]:
    """The types a field may have, without their annotations."""
    if get_origin(field_type) is Annotated:
        return _alternatives(get_args(field_type)[0])
    if get_origin(field_type) in (Union, UnionType):
        return [kind for part in get_args(field_type) for kind in _alternatives(part)]
    return [field_type]


def _decoded(text: str) -> object:
    if not text.lstrip().startswith(("[", "{")):
        return None
    try:
        return msgspec.json.decode(text)
    except msgspec.MsgspecError:
        return None


def _mistake(error: str, tool: AnyTool) -> str:
    """`Expected `int`, got `str` - at `$.limit`` → `limit: expected int, got str`."""
    at = error.rfind(" - at `$")
    what, where = (error, "") if at < 0 else (error[:at], error[at + len(" - at `$") :].rstrip("`"))
    what = _one_line(what.replace("`", ""))
    what = what[:1].lower() + what[1:]
    place = where.removeprefix(".")
    if what.startswith("invalid enum value"):
        what += _choices(schema_of(tool.params), place)
    return f"{place}: {what}" if place else what


def _choices(schema: dict[str, Any], place: str) -> str:
    """The allowed values of the field at a place such as `ops[0].op`."""
    for name in _steps(place):
        schema = schema.get("items", {}) if name.startswith("[") else schema.get("properties", {}).get(name, {})
    known = schema.get("enum", ())
    return f"; one of: {', '.join(map(str, known))}" if known else ""


def _one_line(text: str) -> str:
    return cut_graphemes(clean_line(text), _ERROR_AT_MOST)


def _nearest(name: str, known: Iterable[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, list(known), 1)
    return f" (did you mean '{near[0]}'?)" if near else ""
