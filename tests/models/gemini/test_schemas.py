"""JSON Schema in the small part of it that Gemini takes for the arguments of a tool."""

import json
from typing import Any

import msgspec
import pytest

from sightline.models._gemini._schema import translated

STRING = {"type": "string"}


def fit(schema: Any, **root: Any) -> Any:
    """What becomes of one property's schema."""
    whole = {"type": "object", "properties": {"p": schema}, **root}
    raw = translated(json.dumps(whole).encode())
    assert raw is not None
    return json.loads(bytes(raw))["properties"]["p"]


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        pytest.param(
            {"type": "string", "title": "P", "default": "x", "examples": ["y"]}, STRING, id="words it refuses"
        ),
        pytest.param(
            {"type": "object", "properties": {"a": STRING}, "additionalProperties": False, "required": ["a", "b"]},
            {"type": "object", "properties": {"a": STRING}, "required": ["a"]},
            id="additionalProperties, required",
        ),
        pytest.param({"type": "object", "additionalProperties": STRING}, {"type": "object"}, id="a mapping"),
        pytest.param({"const": "a"}, {"type": "string", "enum": ["a"]}, id="const"),
        pytest.param({"const": 3}, {"type": "integer", "description": "One of: 3."}, id="a number's const"),
        pytest.param(
            {"enum": ["a", "", "b"]}, {"type": "string", "enum": ["a", "b"]}, id="enum without its empty word"
        ),
        pytest.param({"enum": ["a", None]}, {"type": "string", "enum": ["a"], "nullable": True}, id="enum with null"),
        pytest.param(
            {"enum": [1, 2], "type": "integer", "description": "How."},
            {"type": "integer", "description": "How. One of: 1, 2."},
            id="a number's enum",
        ),
        pytest.param({"enum": [True]}, {"type": "boolean", "description": "One of: true."}, id="a boolean's enum"),
        pytest.param({"enum": [1.5]}, {"type": "number", "description": "One of: 1.5."}, id="a fraction's enum"),
        pytest.param(
            {"type": ["string", "null"]}, {"type": "string", "nullable": True}, id="a list of types with null"
        ),
        pytest.param(
            {"type": ["string", "integer"], "description": "d"},
            {"anyOf": [{"type": "string", "description": "d"}, {"type": "integer", "description": "d"}]},
            id="types",
        ),
        pytest.param(
            {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}], "default": None, "description": "d"},
            {"type": "integer", "minimum": 1, "nullable": True, "description": "d"},
            id="anyOf with null",
        ),
        pytest.param({"oneOf": [STRING, {"type": "boolean"}]}, {"anyOf": [STRING, {"type": "boolean"}]}, id="oneOf"),
        pytest.param({"anyOf": [{"type": "null"}]}, {"type": "string", "nullable": True}, id="null alone"),
        pytest.param(
            {
                "allOf": [{"properties": {"a": STRING}, "required": ["a"]}, {"properties": {"b": STRING}}],
                "type": "object",
            },
            {"type": "object", "properties": {"a": STRING, "b": STRING}, "required": ["a"]},
            id="allOf",
        ),
        pytest.param({"type": "array"}, {"type": "array", "items": STRING}, id="an array of anything"),
        pytest.param(
            {"type": "array", "prefixItems": [STRING, {"type": "integer"}], "maxItems": 2},
            {"type": "array", "maxItems": 2, "items": {"anyOf": [STRING, {"type": "integer"}]}},
            id="a tuple",
        ),
        pytest.param({"type": "string", "format": "uri"}, STRING, id="a format it refuses"),
        pytest.param(
            {"type": "string", "format": "date-time"}, {"type": "string", "format": "date-time"}, id="a format"
        ),
        pytest.param(
            {"type": "integer", "minimum": 0, "exclusiveMaximum": 9, "multipleOf": 3},
            {"type": "integer", "minimum": 0, "maximum": 8},
            id="limits of a whole number",
        ),
        pytest.param(
            {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
            {"type": "number", "minimum": 0, "maximum": 1},
            id="limits",
        ),
        pytest.param({}, STRING, id="anything"),
        pytest.param(True, STRING, id="true"),
        pytest.param({"$ref": "https://example.com/x"}, {"type": "object"}, id="a reference elsewhere"),
        pytest.param({"$ref": "#/nowhere"}, {"type": "object"}, id="a reference to nothing"),
    ],
)
def test_what_becomes_of_it(schema: Any, expected: Any) -> None:
    """What Gemini refuses is said another way or left out."""
    assert fit(schema) == expected


def test_references_are_put_in_where_they_stand() -> None:
    """With what stands beside them, through other references, and with names that need escapes."""
    defs = {"A": {"$ref": "#/$defs/B~1c"}, "B/c": {"type": "string", "description": "inner"}}
    assert fit({"$ref": "#/$defs/A", "description": "outer"}, **{"$defs": defs}) == {
        "type": "string",
        "description": "outer",
    }
    assert fit({"allOf": [{"$ref": "#/$defs/B~1c"}]}, **{"$defs": defs}) == {"type": "string", "description": "inner"}


def test_a_reference_that_leads_back_into_itself() -> None:
    """It ends as an object of any form."""
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}, "up": {"$ref": "#"}}}
    found = fit({"$ref": "#/$defs/Node"}, **{"$defs": {"Node": node}})
    assert found["properties"]["next"] == {"type": "object"}


def test_references_that_double_at_every_step() -> None:
    """A hostile schema takes no longer than a large one."""
    defs = {
        f"L{at}": {"type": "object", "properties": {side: {"$ref": f"#/$defs/L{at + 1}"} for side in "ab"}}
        for at in range(40)
    }
    assert fit({"$ref": "#/$defs/L0"}, **{"$defs": defs})["type"] == "object"


@pytest.mark.parametrize("schema", [b'{"type":"object"}', b'{"type":"object","properties":{}}', b"true"])
def test_a_tool_without_arguments(schema: bytes) -> None:
    """Gemini refuses an object without properties: nothing is sent."""
    assert translated(schema) is None


def test_what_msgspec_derives_can_be_sent() -> None:
    """A schema derived from a typed struct loses nothing Gemini could have known."""

    class Inner(msgspec.Struct):
        n: int

    class Params(msgspec.Struct):
        path: str
        mode: str | None = None
        inner: list[Inner] = []

    schema = msgspec.json.schema(Params)
    root = {**schema, **schema["$defs"]["Params"]}
    raw = translated(json.dumps(root).encode())
    assert raw is not None
    assert json.loads(bytes(raw)) == {
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "mode": {"type": "string", "nullable": True},
            "inner": {
                "type": "array",
                "items": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
            },
        },
        "required": ["path"],
    }
