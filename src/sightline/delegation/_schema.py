"""Whether a value fits a JSON schema: the part of the language that describes what an agent returns.

A schema comes from a file of an agent, which another may have written. So this reads it, and runs nothing: no reference
is followed, no pattern is matched against a long text, and depth is bounded. What it does not know it does not check.
"""

import contextlib
import operator
import re
from collections.abc import Callable

Schema = dict[str, object]
_DEPTH = 40
_PATTERN_AT_MOST = 200  # characters of a pattern, and of the text it is matched against
_REPEATS_AT_MOST = 2  # in a pattern
_PROBLEMS_AT_MOST = 8
_BOUNDS: dict[str, Callable[[float, float], bool]] = {
    "minimum": operator.lt,
    "maximum": operator.gt,
    "exclusiveMinimum": operator.le,
    "exclusiveMaximum": operator.ge,
}
_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


def problems(value: object, schema: object, place: str = "", depth: int = 0) -> list[str]:
    """What of the value does not fit, in words for a model; nothing when all of it does."""
    if not isinstance(schema, dict) or depth > _DEPTH:
        return ["nothing is allowed here" if not place else f"{place}: not allowed"] if schema is False else []
    found = [*_of_kind(value, schema, place), *_of_choice(value, schema, place, depth)]
    if isinstance(value, dict):
        found += _of_object(value, schema, place, depth)
    elif isinstance(value, list):
        found += _of_list(value, schema, place, depth)
    elif isinstance(value, str):
        found += _of_text(value, schema, place)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        found += _of_number(value, schema, place)
    return found[:_PROBLEMS_AT_MOST]


def _at(place: str, what: str) -> str:
    return f"{place}: {what}" if place else what


def _is(value: object, kind: object) -> bool:
    types = _TYPES.get(kind) if isinstance(kind, str) else None
    if types is None:
        return True
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, types)


def _of_kind(value: object, schema: Schema, place: str) -> list[str]:
    kinds = schema.get("type")
    types = kinds if isinstance(kinds, list) else [kinds]
    if kinds is not None and not any(_is(value, kind) for kind in types):
        return [_at(place, f"expected {' or '.join(map(str, types))}, got {_kind_of(value)}")]
    if isinstance(allowed := schema.get("enum"), list) and value not in allowed:
        return [_at(place, f"one of {', '.join(map(str, allowed))}")]
    if "const" in schema and value != schema["const"]:
        return [_at(place, f"must be {schema['const']!r}")]
    return []


def _kind_of(value: object) -> str:
    return next((name for name in ("null", "boolean", "integer", *_TYPES) if _is(value, name)), "something else")


def _of_choice(value: object, schema: Schema, place: str, depth: int) -> list[str]:
    found: list[str] = []
    for each in _list(schema.get("allOf")):
        found += problems(value, each, place, depth + 1)
    for name in ("anyOf", "oneOf"):
        choices = _list(schema.get(name))
        if choices and not any(not problems(value, each, place, depth + 1) for each in choices):
            found.append(_at(place, "fits none of the forms that are allowed"))
    return found


def _of_object(value: Schema, schema: Schema, place: str, depth: int) -> list[str]:
    found = [_at(place, f"{name} is missing") for name in _names(schema.get("required")) if name not in value]
    known = schema.get("properties")
    known = known if isinstance(known, dict) else {}
    others = schema.get("additionalProperties", True)
    for name, each in value.items():
        inner = f"{place}.{name}" if place else str(name)
        if name in known:
            found += problems(each, known[name], inner, depth + 1)
        elif others is False:
            found.append(_at(place, f"{name} is unknown"))
        else:
            found += problems(each, others, inner, depth + 1)
    return found


def _of_list(value: list[object], schema: Schema, place: str, depth: int) -> list[str]:
    found = _bounds(len(value), schema, place, "minItems", "maxItems", "items")
    items = schema.get("items")
    for number, each in enumerate(value):
        found += problems(each, items, f"{place}[{number}]", depth + 1)
        if len(found) >= _PROBLEMS_AT_MOST:
            break
    return found


def _of_text(value: str, schema: Schema, place: str) -> list[str]:
    found = _bounds(len(value), schema, place, "minLength", "maxLength", "characters")
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and len(pattern) <= _PATTERN_AT_MOST and len(value) <= _PATTERN_AT_MOST:
        # One that repeats groups, or much else, may take minutes for a text it does not match.
        simple = "(" not in pattern and len(re.findall(r"[*+{]", pattern)) <= _REPEATS_AT_MOST
        with contextlib.suppress(re.error, OverflowError):
            if simple and re.search(pattern, value) is None:
                found.append(_at(place, f"does not match {pattern}"))
    return found


def _of_number(value: float, schema: Schema, place: str) -> list[str]:
    found = []
    for name, misses in _BOUNDS.items():
        bound = schema.get(name)
        if isinstance(bound, int | float) and not isinstance(bound, bool) and misses(value, bound):
            found.append(_at(place, f"{name} is {bound}"))
    return found


def _bounds(size: int, schema: Schema, place: str, least: str, most: str, what: str) -> list[str]:
    found = []
    if isinstance(low := schema.get(least), int) and size < low:
        found.append(_at(place, f"at least {low} {what}"))
    if isinstance(high := schema.get(most), int) and size > high:
        found.append(_at(place, f"at most {high} {what}"))
    return found


def _names(value: object) -> list[str]:
    return [name for name in _list(value) if isinstance(name, str)]


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
