"""How a model is told of the tools, and how what it writes becomes their parameters."""

import json
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Meta

from sightline.models._gemini._schema import translated
from sightline.tools import Outcome, Tool, ToolContext, ToolError, ToolRegistry, builtin_tools, parameters, schema_of

TOOLS = {tool.name: tool for tool in builtin_tools()}
# What Anthropic, both OpenAI APIs and, translated, Gemini take, and the servers that copied them.
_WORDS = {
    "type", "properties", "required", "additionalProperties", "items", "anyOf", "enum", "default", "description",
    "minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
}  # fmt: skip


class Inner(msgspec.Struct):
    title: str
    kind: Literal["b", "a"] | None = None


class Params(msgspec.Struct, kw_only=True):
    """Says nothing."""

    title: Annotated[str, Meta(min_length=1, description="what it is called")]
    many: Annotated[list[Inner], Meta(description="several")] | None = None
    one: Inner | None = None
    size: Annotated[float, Meta(gt=0, description="how much")] | None = None
    count: int | float = 1
    either: str | list[str] | None = None
    level: Literal["low", "high"] = "low"
    flag: bool = False
    named: bool = msgspec.field(default=False, name="async")


class Probe(Tool[Params]):
    name = "probe"
    description = "tries"
    params = Params

    async def execute(self, params: Params, context: ToolContext) -> Outcome:
        return Outcome()


def schemas(schema: Any) -> list[dict[str, Any]]:
    """A schema and all those in it."""
    found = [schema]
    for part in [*schema.get("properties", {}).values(), *schema.get("anyOf", [])]:
        found += schemas(part)
    return found + (schemas(schema["items"]) if "items" in schema else [])


@pytest.mark.parametrize("name", TOOLS)
def test_every_schema_is_plain(name: str) -> None:
    """One object; words every API knows; nothing referred to, nothing null; what is required exists."""
    schema = schema_of(TOOLS[name].params)
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    for part in schemas(schema):
        assert set(part) <= _WORDS
        assert part.get("type") in ("object", "array", "string", "number", "integer", "boolean") or "anyOf" in part
        assert part.get("default", "") is not None
        assert set(part.get("required", ())) <= set(part.get("properties", ()))
        assert part.get("required", True)
        assert part.get("type") != "array" or "items" in part
    assert all(part.get("description") for part in schema["properties"].values())
    json.dumps(schema)
    assert translated(msgspec.json.encode(schema)) is not None


def test_what_a_schema_is_made_of() -> None:
    """References are put in, null goes, descriptions stay, an enum has a type, a number is a number."""
    inner = {
        "type": "object",
        "properties": {"title": {"type": "string"}, "kind": {"type": "string", "enum": ["a", "b"]}},
        "required": ["title"],
    }
    assert schema_of(Params) == {
        "type": "object",
        "description": "Says nothing.",
        "properties": {
            "title": {"type": "string", "minLength": 1, "description": "what it is called"},
            "many": {"type": "array", "items": inner, "description": "several"},
            "one": inner,
            "size": {"type": "number", "exclusiveMinimum": 0, "description": "how much"},
            "count": {"type": "number", "default": 1},
            "either": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
            "level": {"type": "string", "enum": ["high", "low"], "default": "low"},
            "flag": {"type": "boolean", "default": False},
            "async": {"type": "boolean", "default": False},
        },
        "required": ["title"],
        "additionalProperties": False,
    }


def arguments(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Everything a schema allows."""
    if "anyOf" in schema:
        return st.one_of([arguments(part) for part in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match schema["type"]:
        case "object":
            properties = {name: arguments(part) for name, part in schema["properties"].items()}
            required = {name: properties.pop(name) for name in schema.get("required", ())}
            return st.fixed_dictionaries(required, optional=properties)
        case "array":
            return st.lists(arguments(schema["items"]), min_size=schema.get("minItems", 0), max_size=3)
        case "string":
            return st.text(st.characters(codec="utf-8"), min_size=schema.get("minLength", 0), max_size=10)
        case "boolean":
            return st.booleans()
        case "integer":
            return st.integers(schema.get("minimum", -(2**53)), schema.get("maximum", 2**53))
        case _:
            above = schema.get("exclusiveMinimum")
            lowest = schema.get("minimum", above)
            return st.floats(lowest, schema.get("maximum"), allow_nan=False, allow_infinity=False).filter(
                lambda number: above is None or number > above
            )


@pytest.mark.parametrize("name", [*TOOLS, "probe"])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_what_a_schema_allows_is_accepted(name: str, data: st.DataObject) -> None:
    """Any arguments, as they come out of JSON, and the parameters are what was written."""
    tool = TOOLS.get(name) or Probe()
    args = json.loads(json.dumps(data.draw(arguments(schema_of(tool.params)))))
    params = msgspec.to_builtins(parameters(tool, args))
    for key, value in args.items():
        if isinstance(value, str | int | float):
            assert params.get(key, value) == value


@pytest.mark.parametrize(
    ("args", "field", "value"),
    [
        pytest.param({"title": "t", "size": "2.5"}, "size", 2.5, id="a number in quotes"),
        pytest.param({"title": "t", "flag": "true"}, "flag", True, id="a boolean in quotes"),
        pytest.param({"title": "t", "many": '[{"title": "x"}]'}, "many", [Inner("x")], id="a list as JSON text"),
        pytest.param({"title": "t", "many": {"title": "x"}}, "many", [Inner("x")], id="one object for a list"),
        pytest.param({"title": "t", "many": '{"title": "x"}'}, "many", [Inner("x")], id="one object as JSON text"),
        pytest.param({"title": "t", "one": '{"title": "x"}'}, "one", Inner("x"), id="an object as JSON text"),
        pytest.param({"title": "t", "either": "[x]"}, "either", "[x]", id="a text that may be one"),
        pytest.param({"title": "[1]"}, "title", "[1]", id="a text that looks like JSON"),
        pytest.param({"title": "t", "size": None, "flag": None}, "flag", False, id="null for what need not be given"),
        pytest.param({"title": "t", "async": True}, "named", True, id="another name"),
    ],
)
def test_what_is_meant_is_understood(args: dict[str, Any], field: str, value: Any) -> None:
    """Where the meaning is certain."""
    assert getattr(parameters(Probe(), args), field) == value


def test_one_text_for_a_list_of_texts() -> None:
    """As a model writes it that has one id."""
    assert parameters(TOOLS["job"], {"poll": "a-1"}).poll == ["a-1"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({}, "probe: object missing required field title"),
        ({"title": None}, "probe: title: expected str, got null"),
        ({"title": ""}, "probe: title: expected str of length >= 1"),
        ({"title": 5}, "probe: title: expected str, got int"),
        (
            {"title": "t", "titel": "x"},
            "probe has no argument 'titel' (did you mean 'title'?); arguments: title, many, ",
        ),
        ({"title": "t", "zzz": 1}, "probe has no argument 'zzz'; arguments: "),
        ({"title": "t", "a\nb": 1}, "probe has no argument 'a b'; arguments: "),
        ({"title": "t", "size": 0}, "probe: size: expected float > 0.0"),
        ({"title": "t", "size": "much"}, "probe: size: expected float | null, got str"),
        ({"title": "t", "level": "mid"}, "probe: level: invalid enum value 'mid'; one of: high, low"),
        ({"title": "t", "level": "a\nb"}, "probe: level: invalid enum value 'a\\nb'; one of: high, low"),
        ({"title": "t", "many": "x"}, "probe: many[0]: expected object, got str"),
        ({"title": "t", "many": [{"title": "x"}, {}]}, "probe: many[1]: object missing required field title"),
        (
            {"title": "t", "many": [{"title": "x", "kind": "c"}]},
            "probe: many[0].kind: invalid enum value 'c'; one of: a, b",
        ),
        ({"title": "t", "flag": "perhaps"}, "probe: flag: expected bool, got str"),
    ],
)
def test_bad_arguments_are_refused_in_one_precise_line(args: dict[str, Any], said: str) -> None:
    """Which argument, what was expected, what came."""
    with pytest.raises(ToolError) as caught:
        parameters(Probe(), args)
    assert caught.value.message.startswith(said)
    assert "\n" not in caught.value.message
    assert len(caught.value.message) < 400


@given(st.dictionaries(st.sampled_from([*(f.encode_name for f in msgspec.structs.fields(Params)), "x"]), st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=5,
)))  # fmt: skip
def test_whatever_is_written_is_accepted_or_refused(args: dict[str, Any]) -> None:
    """Nothing but the tool's own error, in one line."""
    try:
        said = repr(parameters(Probe(), args))
    except ToolError as error:
        said = error.message
    assert "\n" not in said


def test_the_tools_there_are() -> None:
    """By name, a later one in place of an earlier; an unknown name is answered with those there are."""
    probe = Probe()
    tools = ToolRegistry([*TOOLS.values(), probe])
    assert [tool.name for tool in tools] == [*TOOLS, "probe"]
    assert tools.get("probe") is probe
    other = Probe()
    tools.add(other)
    assert tools.get("probe") is other
    with pytest.raises(ToolError) as caught:
        tools.get("raed\n")
    assert caught.value.message.startswith("there is no tool 'raed ' (did you mean 'read'?); tools: read, ")


def test_what_comes_with_the_program() -> None:
    """In the order a model is told of them; each says what it does."""
    assert list(TOOLS) == ["read", "search", "find", "edit", "write", "bash", "job", "todo", "ask"]
    assert all(len(tool.description) > 40 for tool in TOOLS.values())
