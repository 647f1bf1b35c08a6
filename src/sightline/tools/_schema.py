"""The JSON schema of a tool's arguments, in the words every model API takes.

Rules:

- One object. Nothing is referred to elsewhere, nothing has a title, and what has a list of values has its type too.
- An optional field is simply not required: that it may be null as well is left out.
- A whole number or any other is a number.
"""

from typing import Any

import msgspec

JsonSchema = dict[str, Any]

_NULL = {"type": "null"}
_WHOLE_OR_NOT = [{"type": "integer"}, {"type": "number"}]


def schema_of(params: type[msgspec.Struct]) -> JsonSchema:
    schema = msgspec.json.schema(params)
    definitions = schema.pop("$defs", {})
    plain: JsonSchema = _plain(schema, definitions)
    plain.setdefault("properties", {})
    plain["additionalProperties"] = False
    return plain


def _plain(schema: Any, definitions: JsonSchema) -> Any:
    if isinstance(schema, list):
        return [_plain(item, definitions) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        return _plain({**definitions[schema["$ref"].rpartition("/")[2]], **beside}, definitions)
    return _simple({key: _part(key, value, definitions) for key, value in schema.items() if key != "title"})


def _part(key: str, value: Any, definitions: JsonSchema) -> object:
    if key == "properties":  # by name: one of them may be called `title`
        return {name: _plain(schema, definitions) for name, schema in value.items()}
    return _plain(value, definitions)


def _simple(schema: JsonSchema) -> JsonSchema:
    if not schema.get("required", True):
        del schema["required"]
    if "enum" in schema and all(isinstance(value, str) for value in schema["enum"]):
        schema = {"type": "string", **schema}
    if schema.get("default", "") is None and _NULL in schema.get("anyOf", ()):
        schema = _given(schema)
    if schema.get("anyOf") == _WHOLE_OR_NOT:
        schema = {key: value for key, value in schema.items() if key != "anyOf"} | {"type": "number"}
    return schema


def _given(schema: JsonSchema) -> JsonSchema:
    """Of a field that is null when it is not given: what it is when it is."""
    rest = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
    kinds = [kind for kind in schema["anyOf"] if kind != _NULL]
    return {**kinds[0], **rest} if len(kinds) == 1 else {"anyOf": kinds, **rest}
