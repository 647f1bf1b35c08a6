"""JSON Schema as Gemini takes it for the arguments of a tool: a small part of it, and a 400 for anything else.

- References are put in where they stand; one that leads back into itself becomes an object of any form.
- `const` is an enum of one; enums are texts. What may be null is `nullable`; `oneOf` is `anyOf`; `allOf` is merged.
- Every schema has a type or `anyOf`, an array has `items`, and what is required exists.
- All other words are left out. What a number's enum allowed goes into its description.
"""

from functools import lru_cache

import msgspec

_BOUNDS = ("minItems", "maxItems", "minProperties", "maxProperties", "minimum", "maximum", "minLength", "maxLength")
_SUPPORTED = ("description", "pattern", *_BOUNDS)
_FORMATS = {"string": ("date-time",), "integer": ("int32", "int64"), "number": ("float", "double")}
_SCHEMAS_AT_MOST = 5000  # references can double at every step
_ANYTHING = {"type": "string"}

Schema = dict[str, object]


@lru_cache(maxsize=256)
def translated(schema: bytes) -> msgspec.Raw | None:
    """The schema in Gemini's terms; None for a tool without arguments, whose empty object it refuses."""
    root = msgspec.json.decode(schema)
    fit = _Translator(root).fit(root, ())
    return msgspec.Raw(msgspec.json.encode(fit)) if fit.get("properties") else None


class _Translator:
    def __init__(self, root: object) -> None:
        self._root = root
        self._left = _SCHEMAS_AT_MOST

    def fit(self, schema: object, inside: tuple[str, ...]) -> Schema:
        """`inside`: the references this schema was reached through."""
        self._left -= 1
        if not isinstance(schema, dict) or self._left < 0:
            return dict(_ANYTHING)
        reference = schema.get("$ref")
        if isinstance(reference, str):
            target = None if reference in inside else self._target(reference)
            inside = (*inside, reference)
            beside = {key: value for key, value in schema.items() if key != "$ref"}
            schema = {**(target if isinstance(target, dict) else {"type": "object"}), **beside}
            if "$ref" in schema:
                return self.fit(schema, inside)
        return self._fit_plain(self._merged(schema, inside), inside)

    def _fit_plain(self, schema: Schema, inside: tuple[str, ...]) -> Schema:
        fit: Schema = {key: schema[key] for key in _SUPPORTED if key in schema}
        kind = schema.get("type")
        if isinstance(kind, list):
            return self._any_of([{**schema, "type": one} for one in kind], inside)
        alternatives = schema.get("anyOf") or schema.get("oneOf")
        if isinstance(alternatives, list):
            return {**self._any_of(alternatives, inside), **fit}
        kind = kind if isinstance(kind, str) else _guessed_type(schema)
        fit["type"] = kind
        _add_bounds(fit, schema, kind)
        if schema.get("nullable") is True:
            fit["nullable"] = True
        if schema.get("format") in _FORMATS.get(kind, ()):
            fit["format"] = schema["format"]
        _add_enum(fit, schema, kind)
        if kind == "object":
            self._add_properties(fit, schema, inside)
        elif kind == "array":
            fit["items"] = self.fit(_items(schema), inside)
        return fit

    def _any_of(self, alternatives: list[object], inside: tuple[str, ...]) -> Schema:
        fits = [self.fit(one, inside) for one in alternatives if not _is_null(one)]
        fit: Schema = fits[0] if len(fits) == 1 else {"anyOf": fits} if fits else dict(_ANYTHING)
        return {**fit, "nullable": True} if len(fits) < len(alternatives) else fit

    def _add_properties(self, fit: Schema, schema: Schema, inside: tuple[str, ...]) -> None:
        properties = schema.get("properties")
        if not isinstance(properties, dict) or not properties:
            return
        fit["properties"] = {name: self.fit(value, inside) for name, value in properties.items()}
        required = [name for name in _listed(schema, "required") if name in properties]
        if required:
            fit["required"] = required

    def _merged(self, schema: Schema, inside: tuple[str, ...]) -> Schema:
        parts = schema.get("allOf")
        if not isinstance(parts, list):
            return schema
        merged = {key: value for key, value in schema.items() if key != "allOf"}
        for part in parts:
            reference = part.get("$ref") if isinstance(part, dict) else None
            if isinstance(reference, str):
                part = {} if reference in inside else self._target(reference)
            if not isinstance(part, dict):
                continue
            part = self._merged(part, (*inside, reference) if isinstance(reference, str) else inside)
            properties = {**_mapped(part, "properties"), **_mapped(merged, "properties")}
            required = [*_listed(part, "required"), *_listed(merged, "required")]
            merged = {**part, **merged}
            if properties:
                merged["properties"], merged["required"] = properties, list(dict.fromkeys(required))
        return merged

    def _target(self, reference: str) -> object:
        """Where a reference inside the schema leads; None for any other."""
        if not reference.startswith("#"):
            return None
        at = self._root
        for step in reference[1:].split("/")[1:]:
            step = step.replace("~1", "/").replace("~0", "~")
            at = at.get(step) if isinstance(at, dict) else None
        return at


def _listed(schema: Schema, word: str) -> list[object]:
    value = schema.get(word)
    return value if isinstance(value, list) else []


def _mapped(schema: Schema, word: str) -> Schema:
    value = schema.get(word)
    return value if isinstance(value, dict) else {}


def _items(schema: Schema) -> object:
    items = schema.get("items")
    if isinstance(items, dict):
        return items
    listed = schema.get("prefixItems")
    return {"anyOf": listed} if isinstance(listed, list) and listed else None


def _is_null(schema: object) -> bool:
    return isinstance(schema, dict) and (
        schema.get("type") == "null" or ("const" in schema and schema["const"] is None)
    )


def _guessed_type(schema: Schema) -> str:
    if "properties" in schema or "additionalProperties" in schema:
        return "object"
    if "items" in schema or "prefixItems" in schema:
        return "array"
    values = [schema["const"]] if "const" in schema else _listed(schema, "enum")
    if values and all(isinstance(value, bool) for value in values):
        return "boolean"
    if values and all(isinstance(value, int) for value in values):
        return "integer"
    return "number" if values and all(isinstance(value, (int, float)) for value in values) else "string"


def _add_bounds(fit: Schema, schema: Schema, kind: str) -> None:
    """It has no exclusive bounds: for whole numbers the next one is the same, for others it is nearly so."""
    step = 1 if kind == "integer" else 0
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    if isinstance(above, (int, float)) and not isinstance(above, bool):
        fit.setdefault("minimum", above + step)
    if isinstance(below, (int, float)) and not isinstance(below, bool):
        fit.setdefault("maximum", below - step)


def _add_enum(fit: Schema, schema: Schema, kind: str) -> None:
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if not isinstance(values, list):
        return
    if None in values:
        fit["nullable"] = True
    words = [
        value if isinstance(value, str) else msgspec.json.encode(value).decode()
        for value in values
        if value is not None
    ]
    if kind == "string":
        words = [word for word in words if word]  # it refuses the empty one
        if words:
            fit["enum"] = words
        return
    if words:
        choices = f"One of: {', '.join(words)}."
        fit["description"] = f"{fit['description']} {choices}" if fit.get("description") else choices
