"""`when`: whether a step runs.

    inputs.deep                          true unless it is false, null, 0, empty text or an empty list or map
    not inputs.deep
    steps.triage.json.kind == "bug"      both sides are compared as the text a template would make of them
    steps.lint.exit_code != 0

A side is a path (with or without braces around it) or a literal: text in quotes, a number, true, false, null.
"""

import re

import msgspec

from sightline.flows.file._template import Reference, TemplateMistake, Values, as_text, one_line, parse_reference

_token = re.compile(
    r"""\s*(?:
        (?P<operator>==|!=)
      | (?P<text>"[^"]*"|'[^']*')
      | (?P<number>-?\d+(?:\.\d+)?(?![\w.-]))
      | (?P<braced>\{\{.*?\}\})
      | (?P<word>[\w.-]+)
      | (?P<other>\S)
    )""",
    re.VERBOSE | re.DOTALL,
)
_LITERALS = {"true": True, "false": False, "null": None}
_HINT = "write a path, not PATH, or PATH == VALUE (also !=), such as: inputs.deep == true"


class Condition(msgspec.Struct, frozen=True):
    """One test: a side alone, or two compared."""

    left: object  # a Reference, or a literal's value
    operator: str = ""
    right: object = None
    negated: bool = False

    def references(self) -> list[Reference]:
        return [side for side in (self.left, self.right) if isinstance(side, Reference)]

    def holds(self, values: Values) -> bool:
        left = _value(self.left, values)
        if not self.operator:
            return bool(left) != self.negated
        equal = as_text(left) == as_text(_value(self.right, values))
        return (equal == (self.operator == "==")) != self.negated

    def decides_about(self, step: str) -> bool:
        """Whether it tests how that step ended, and so decides also when that step failed."""
        return any(
            reference.root == "steps" and reference.name == step and reference.path[2] in ("status", "exit_code")
            for reference in self.references()
        )


def parse_condition(text: str) -> Condition | TemplateMistake:
    tokens = [(match.lastgroup or "", match.group().strip()) for match in _token.finditer(text)]
    negated = bool(tokens) and tokens[0] == ("word", "not")
    if negated:
        del tokens[0]
    words = {token for kind, token in tokens if kind == "word"}
    if words & {"and", "or"}:
        return TemplateMistake(text, "when tests one thing; it has no and, no or", "give each test a step of its own")
    kinds = [kind == "operator" for kind, _ in tokens]
    if kinds not in ([False], [False, True, False]):
        return TemplateMistake(text, f"when cannot be read: {one_line(text)}", _HINT)
    sides = [_side(*token) for token in tokens if token[0] != "operator"]
    for side in sides:
        if isinstance(side, TemplateMistake):
            return side
    if len(sides) == 1:
        return Condition(sides[0], negated=negated)
    return Condition(sides[0], tokens[1][1], sides[1], negated)


def _side(kind: str, token: str) -> object:
    match kind:
        case "text":
            return token[1:-1]
        case "number":
            return float(token) if "." in token else int(token)
        case "word" if token in _LITERALS:
            return _LITERALS[token]
        case "word" if "." not in token:
            return TemplateMistake(
                token, f"when: {token} is neither a path nor a literal", f'text needs quotes: "{token}"'
            )
        case "braced":
            return parse_reference(token[2:-2].strip(), token)
        case "word":
            return parse_reference(token, token)
        case _:
            return TemplateMistake(token, f"when cannot be read at {token}", _HINT)


def _value(side: object, values: Values) -> object:
    return values.look_up(side) if isinstance(side, Reference) else side
