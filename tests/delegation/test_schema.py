"""Results that a schema describes: what fits is accepted, what does not is named, and no schema can do harm."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.delegation._schema import problems

PERSON = {
    "type": "object",
    "required": ["name", "age"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 20},
        "age": {"type": "integer", "minimum": 0, "exclusiveMaximum": 150},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 2},
        "more": {"anyOf": [{"type": "null"}, {"type": "boolean"}]},
        "code": {"type": "string", "pattern": "^[a-z]+$"},
    },
}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"name": "Ada", "age": 36}, []),
        ({"name": "Ada", "age": 36.0, "tags": ["a"], "more": None, "code": "ab"}, []),
        ({"name": "Ada"}, ["age is missing"]),
        ({"name": "", "age": 1}, ["name: at least 1 characters"]),
        ({"name": "Ada", "age": "36"}, ["age: expected integer, got string"]),
        ({"name": "Ada", "age": True}, ["age: expected integer, got boolean"]),
        ({"name": "Ada", "age": 150}, ["age: exclusiveMaximum is 150"]),
        ({"name": "Ada", "age": 1, "tags": ["c"]}, ["tags[0]: one of a, b"]),
        ({"name": "Ada", "age": 1, "tags": ["a"] * 3}, ["tags: at most 2 items"]),
        ({"name": "Ada", "age": 1, "more": 7}, ["more: fits none of the forms that are allowed"]),
        ({"name": "Ada", "age": 1, "code": "A"}, ["code: does not match ^[a-z]+$"]),
        ({"name": "Ada", "age": 1, "x": 1}, ["x is unknown"]),
        ("Ada", ["expected object, got string"]),
    ],
)
def test_what_does_not_fit_is_named(value: object, said: list[str]) -> None:
    assert problems(value, PERSON) == said


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=300, deadline=None)
@given(values, values)
def test_anything_may_be_a_schema(value: object, schema: object) -> None:
    """It names few problems, and never fails."""
    assert len(problems(value, schema)) <= 8


def test_a_hostile_pattern_costs_nothing() -> None:
    """One that backtracks, and one that is not a pattern: neither is run."""
    began = time.process_time()
    for pattern in ("(a+)+$", "a*a*a*a*a*a*a*a*b", "["):
        problems("a" * 200, {"type": "string", "pattern": pattern})
    assert time.process_time() - began < 5


def test_a_deep_schema_ends() -> None:
    deep: dict[str, object] = {}
    for _ in range(5000):
        deep = {"allOf": [deep]}
    assert problems(1, deep) == []


@pytest.mark.parametrize(
    "schema",
    [
        {"required": [{}, [], None, 3]},
        {"properties": {"a": {"pattern": "a{99999999999}"}}},
        {"properties": [], "required": {}, "type": {}, "enum": "x", "items": 3, "anyOf": {}, "minLength": "x"},
    ],
)
def test_an_odd_schema_is_not_checked_and_breaks_nothing(schema: dict[str, object]) -> None:
    assert problems({"a": "b"}, schema) == []
