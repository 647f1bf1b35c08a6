"""A flow's inputs: how they are declared, and how what the user gave becomes their values."""

from collections.abc import Iterable, Mapping

import msgspec
import yaml

from sightline.exceptions import UserMistake
from sightline.flows.file._document import place
from sightline.flows.file._findings import suggestion
from sightline.flows.file._model import Flow, FlowInput, InputType
from sightline.flows.file._reader import FlowReader, check_name

_FIELDS = ("type", "default", "required", "description")
_TYPES: tuple[InputType, ...] = ("string", "int", "number", "boolean")
_BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_EXAMPLES = {"int": "a whole number", "number": "a number", "boolean": "true or false", "string": "text"}


class InputMistake(msgspec.Struct, frozen=True):
    """What is wrong with one value that the user gave, or did not give."""

    message: str
    hint: str


def read_inputs(reader: FlowReader, node: yaml.Node) -> dict[str, FlowInput]:
    inputs: dict[str, FlowInput] = {}
    for name, key_node, value in reader.entries(node, "inputs"):
        check_name(reader, key_node, name, "an input's name")
        inputs[name] = _read_input(reader, name, key_node, value)
    return inputs


def resolve_inputs(flow: Flow, given: Mapping[str, object]) -> tuple[dict[str, object], list[InputMistake]]:
    """The value of every input, from what was given (texts from a command line are converted) and the defaults."""
    mistakes = [
        InputMistake(f"there is no input {name}", suggestion(name, flow.inputs, f"{flow.name} takes no inputs"))
        for name in given
        if name not in flow.inputs
    ]
    values: dict[str, object] = {}
    for name, declared in flow.inputs.items():
        if name not in given:
            values[name] = declared.default
            if declared.required:
                mistakes.append(_missing(declared))
            continue
        value = converted(given[name], declared.type)
        values[name] = value
        if value is None:
            message = f"input {name} must be {_EXAMPLES[declared.type]}, not {given[name]!r}"
            mistakes.append(InputMistake(message, f"its type is {declared.type}"))
    return values, mistakes


def require_inputs(flow: Flow, given: Mapping[str, object]) -> dict[str, object]:
    """The value of every input; `UserMistake`, with everything that is wrong at once, when one is missing or wrong."""
    values, mistakes = resolve_inputs(flow, given)
    if mistakes:
        hints = dict.fromkeys(mistake.hint for mistake in mistakes)
        raise UserMistake("; ".join(mistake.message for mistake in mistakes), "; ".join(hints))
    return values


def parse_inputs(flow: Flow, pairs: Iterable[str]) -> dict[str, object]:
    """The value of every input from NAME=VALUE texts of a command line."""
    given: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not name or not equals:
            raise UserMistake(f"not an input: {pair}", "write --input NAME=VALUE")
        given[name] = value
    return require_inputs(flow, given)


def converted(value: object, kind: str) -> object:
    """A value as its type, from itself or from its text; None when it is not one."""
    match kind:
        case "boolean":
            return value if isinstance(value, bool) else _BOOLEANS.get(str(value).lower())
        case "string":
            return value if isinstance(value, str) else None
        case _:
            return _number(value, whole=kind == "int")


def _number(value: object, *, whole: bool) -> int | float | None:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    try:
        return int(value) if isinstance(value, (str, int)) else _finite(value, whole=whole)
    except ValueError:
        pass
    try:
        return None if whole else _finite(float(value), whole=False)
    except ValueError:
        return None


def _finite(value: float, *, whole: bool) -> float | None:
    return None if whole or value - value != 0 else value  # infinity and NaN are not their own difference


def _read_input(reader: FlowReader, name: str, key_node: yaml.Node, node: yaml.Node) -> FlowInput:
    what = f"input {name}"
    bare = isinstance(node, yaml.ScalarNode) and not node.value
    fields = {} if bare else reader.fields(node, what, _FIELDS)
    kind = reader.choice(fields["type"], "type", _TYPES) if "type" in fields else "string"
    required = reader.boolean(fields["required"], "required") if "required" in fields else None
    description = reader.text(fields["description"], "description") if "description" in fields else ""
    default = _read_default(reader, fields["default"], kind, what) if "default" in fields else None
    return FlowInput(
        name=name,
        type=kind or "string",
        default=default,
        required="default" not in fields and required is not False,
        description=description or "",
        line=place(key_node)[0],
    )


def _read_default(reader: FlowReader, node: yaml.Node, kind: str | None, what: str) -> object:
    if kind is None:
        return None  # the type is wrong: what the default ought to be is not known
    if kind == "string" and isinstance(node, yaml.ScalarNode):
        return "" if node.tag.endswith(":null") else node.value
    value = reader.scalar(node)
    fitting = None if isinstance(value, str) or value is ... else converted(value, kind)
    if fitting is None or (kind == "boolean" and not isinstance(value, bool)):
        reader.report(node, f"default of {what} is not {_EXAMPLES[kind]}", f"its type is {kind}")
    return fitting


def _missing(declared: FlowInput) -> InputMistake:
    about = f" ({declared.description})" if declared.description else ""
    return InputMistake(f"input {declared.name} is missing{about}", f"give it with --input {declared.name}=VALUE")
