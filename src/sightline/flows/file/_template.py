"""Templates: text with paths in it, and nothing but paths.

    {{ inputs.name }}             an input
    {{ steps.id.output }}         the output of a command or the text of an agent, without newlines at its end
    {{ steps.id.json.key.0 }}     the same text read as JSON, then keys and positions; -1 is the last
    {{ steps.id.exit_code }}      its exit code
    {{ steps.id.status }}         ok, error, skipped or blocked
    {{ item.key.0 }}              in a step with foreach: its item, then keys and positions

A path is looked up, never evaluated: there are no calls, attributes, filters or operators, so no value can turn into
code here. `\\{{` stands for two plain braces. Text becomes itself, true and false and numbers what JSON writes, null
nothing, lists and maps compact JSON.
"""

import json
import re
from collections.abc import Callable, Iterator

import msgspec

from sightline.exceptions import OutsideFailure
from sightline.flows.file._findings import suggestion
from sightline.text import clean_line, clean_text, cut_graphemes

ITEM = "item"
STEP_PARTS = ("output", "json", "exit_code", "status")

_opening = re.compile(r"\\\{\{|\{\{")
_path = re.compile(r"[\w-]+(?:\.[\w-]+)*")
_LITERAL_HINT = r"for two plain braces write \{{"


class Reference(msgspec.Struct, frozen=True):
    """A path, split at its dots, and how the author wrote it."""

    path: tuple[str, ...]
    source: str

    @property
    def root(self) -> str:
        return self.path[0]

    @property
    def name(self) -> str:
        """The input or step it is about; empty for an item."""
        return "" if self.root == ITEM else self.path[1]


class Template(msgspec.Struct, frozen=True):
    """Text and references in the order they were written."""

    parts: tuple[str | Reference, ...]

    def references(self) -> Iterator[Reference]:
        return (part for part in self.parts if isinstance(part, Reference))


class TemplateMistake(msgspec.Struct, frozen=True):
    """What is wrong with one template, and the fragment it is wrong about."""

    fragment: str
    message: str
    hint: str


class Values(msgspec.Struct, frozen=True):
    """What paths are looked up in: inputs by name, and for each step that is over its parts."""

    inputs: dict[str, object]
    steps: dict[str, dict[str, object]]
    item: object = None

    def look_up(self, reference: Reference) -> object:
        """The value of a path; `OutsideFailure` when what was there at run time has no such place."""
        if reference.root == "inputs":
            return self.inputs[reference.name]
        if reference.root == ITEM:
            return _walk(self.item, reference, 1)
        part = reference.path[2]
        outputs = self.steps[reference.name]
        if part != "json":
            return outputs[part]
        return _walk(_as_json(str(outputs["output"]), reference), reference, 3)


def parse_template(text: str) -> tuple[Template, list[TemplateMistake]]:
    """The parts of a text and everything wrong with its templates; a wrong one is left out of the parts."""
    parts: list[str | Reference] = []
    mistakes: list[TemplateMistake] = []
    position = 0
    while (opening := _opening.search(text, position)) is not None:
        parts.append(text[position : opening.start()])
        if opening.group() != "{{":
            parts.append("{{")
            position = opening.end()
            continue
        end = text.find("}}", opening.end())
        inner = text[opening.end() : end]
        if end < 0 or "{{" in inner:
            mistakes.append(TemplateMistake("{{", "a template is never closed", f"close it with }}}}; {_LITERAL_HINT}"))
            position = opening.end()
            continue
        position = end + 2
        parsed = parse_reference(inner.strip(), text[opening.start() : position])
        if isinstance(parsed, Reference):
            parts.append(parsed)
        else:
            mistakes.append(parsed)
    parts.append(text[position:])
    return Template(tuple(part for part in parts if part != "")), mistakes


def parse_reference(path: str, source: str) -> Reference | TemplateMistake:
    """The reference a path is, or what is wrong with it. Whether its input or step exists is not known here."""
    if _path.fullmatch(path) is None:
        return TemplateMistake(
            source, f"{one_line(source)} is not a path", f"{_not_a_path_hint(path)}; {_LITERAL_HINT}"
        )
    segments = tuple(path.split("."))
    root = segments[0]
    if root not in ("inputs", "steps", ITEM):
        hint = suggestion(root, ("inputs", "steps"))
        return TemplateMistake(source, f"{one_line(source)}: a path begins with inputs or steps, not {root}", hint)
    if root == "inputs" and len(segments) != 2:
        return TemplateMistake(source, f"{one_line(source)} does not name an input", "an input's path is inputs.NAME")
    if root == "steps":
        wrong = _wrong_step_path(segments, source)
        if wrong is not None:
            return wrong
    return Reference(segments, source)


def render(template: Template, values: Values, written: Callable[[str], str] = lambda text: text) -> str:
    """The text with every path replaced by its value, as `written` puts it."""
    return "".join(part if isinstance(part, str) else written(as_text(values.look_up(part))) for part in template.parts)


def as_text(value: object) -> str:
    """How a value is written into a text. What could drive a terminal never comes along, not even out of JSON."""
    if isinstance(value, str):
        return clean_text(value)
    if value is None:
        return ""
    try:
        return clean_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    except RecursionError:
        raise OutsideFailure("a value is nested too deeply to be written", "use a path further into it") from None


def one_line(source: str) -> str:
    return " ".join(source.split())


def _wrong_step_path(segments: tuple[str, ...], source: str) -> TemplateMistake | None:
    shown, known = one_line(source), ", ".join(STEP_PARTS)
    if len(segments) < 3:
        return TemplateMistake(
            source, f"{shown} does not say which part of the step", f"a step's path is steps.ID.PART: {known}"
        )
    part = segments[2]
    if part not in STEP_PARTS:
        return TemplateMistake(source, f"{shown}: a step has no {part}", suggestion(part, STEP_PARTS))
    if part != "json" and len(segments) > 3:
        return TemplateMistake(
            source, f"{shown}: there is nothing inside {part}", "to look inside JSON use steps.ID.json.KEY"
        )
    return None


def _not_a_path_hint(path: str) -> str:
    if "(" in path:
        return "a template cannot call anything"
    if "|" in path:
        return "a template has no filters"
    if "[" in path:
        return "write a position as .0"
    return "write inputs.NAME or steps.ID.output"


def _as_json(output: str, reference: Reference) -> object:
    """The output as one JSON document, or as a list when each of its lines is one."""
    try:
        return json.loads(output)
    except (ValueError, RecursionError):
        pass
    try:
        return [json.loads(line) for line in output.split("\n") if line.strip()] or _no_json(reference)
    except (ValueError, RecursionError):
        return _no_json(reference)


def _no_json(reference: Reference) -> object:
    raise OutsideFailure(
        f"{one_line(reference.source)}: the output of {reference.name} is not JSON",
        f"let {reference.name} answer with JSON only, or use steps.{reference.name}.output",
    )


def _walk(value: object, reference: Reference, start: int) -> object:
    for depth, segment in enumerate(reference.path[start:], start):
        try:
            value = value[int(segment)] if isinstance(value, list) else _field(value, segment)
        except (KeyError, IndexError, ValueError, TypeError):
            where = ".".join(reference.path[:depth])
            raise OutsideFailure(
                f"{one_line(reference.source)}: there is no {segment} in {where}", f"it has {_contents(value)}"
            ) from None
    return value


def _field(value: object, name: str) -> object:
    if not isinstance(value, dict):
        raise KeyError(name)
    return value[name]


def _contents(value: object) -> str:
    match value:
        case dict():
            return cut_graphemes(clean_line(", ".join(list(value)[:10])), 200) or "no keys"
        case list():
            return f"{len(value)} items, counted from 0"
        case _:
            return "no keys: it is a single value"
