"""The items of a step with `foreach`, and the one result of what came of them."""

import json

from sightline.exceptions import OutsideFailure
from sightline.flows.file._template import Reference, Template, Values, one_line, render
from sightline.flows.running._outcome import OUTPUT_CAP, AttemptEnd

ITEMS_AT_MOST = 1000


def items_of(foreach: list[object] | Reference, values: Values) -> list[object]:
    """`OutsideFailure` when what a path leads to is no list, or too long a one."""
    items = values.look_up(foreach) if isinstance(foreach, Reference) else [_filled(item, values) for item in foreach]
    if isinstance(items, str):
        items = [line for line in items.split("\n") if line.strip()]
    where = one_line(foreach.source) if isinstance(foreach, Reference) else "foreach"
    if not isinstance(items, list):
        raise OutsideFailure(f"{where} is not a list", "foreach takes a list, or text with an item in each line")
    if len(items) > ITEMS_AT_MOST:
        hint = "let an earlier step choose fewer"
        raise OutsideFailure(f"{where} has {len(items)} items; a step takes at most {ITEMS_AT_MOST}", hint)
    return items


def _filled(value: object, values: Values) -> object:
    match value:
        case Template():
            return render(value, values)
        case dict():
            return {key: _filled(item, values) for key, item in value.items()}
        case list():
            return [_filled(item, values) for item in value]
        case _:
            return value


def end_of_all(ends: list[AttemptEnd]) -> AttemptEnd:
    """The end of a step from those of its items: the output is the list of theirs, in the order of the items."""
    room = OUTPUT_CAP // max(1, len(ends))
    outputs = [_value(end.output[:room]) for end in ends]
    failed = [end for end in ends if end.exit_code != 0]
    code = 0 if not failed else 124 if all(end.timed_out for end in failed) else 1
    problem = f"{len(failed)} of {len(ends)} failed: {failed[0].problem}" if failed else ""
    cut = any(len(end.output) > room for end in ends)
    return AttemptEnd(exit_code=code, output=json.dumps(outputs, ensure_ascii=False), problem=problem, cut=cut)


def _value(output: str) -> object:
    """A JSON object or list as itself; anything else as text, which `42` and `null` are as well."""
    if output[:1] in ("{", "["):
        try:
            return json.loads(output)
        except (ValueError, RecursionError):
            pass
    return output
