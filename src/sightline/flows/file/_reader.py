"""Reading the fields of a flow file: each mistake is noted where it is, and reading continues.

A key that is probably a misspelling of a known one is reported and then read as that one, so that one slip of the
finger is one finding and what is inside it is still checked.
"""

import re
from collections.abc import Callable, Iterable
from typing import TypeVar

import yaml

from sightline.flows.file._document import FlowDocument, place
from sightline.flows.file._findings import Finding, closest, suggestion
from sightline.flows.file._template import Template, TemplateMistake, parse_template

Word = TypeVar("Word", bound=str)

_TAG = "tag:yaml.org,2002:"
_PLAIN_TAGS = frozenset(_TAG + name for name in ("str", "int", "float", "bool", "null", "timestamp", "merge", "value"))
_KINDS: dict[type[yaml.Node], str] = {yaml.MappingNode: "a mapping", yaml.SequenceNode: "a list"}

# Thirty years of seconds; also excludes infinity, and whole numbers no clock can count.
_LARGEST = 1e9


class FlowReader:
    """The findings of one document, and typed access to its nodes. A getter that returns None has reported why."""

    def __init__(self, document: FlowDocument) -> None:
        self.document = document
        self.findings: list[Finding] = []

    def report(self, node: yaml.Node, message: str, hint: str = "") -> None:
        self.findings.append(Finding(*place(node), message, hint))

    def report_mistakes(self, node: yaml.Node, mistakes: Iterable[TemplateMistake]) -> None:
        """Mistakes inside a text, each at its own line; the same fragment twice means its next occurrence."""
        seen: dict[str, int] = {}
        for mistake in mistakes:
            occurrence = seen.get(mistake.fragment, 0)
            seen[mistake.fragment] = occurrence + 1
            line, column = self.document.locate(node, mistake.fragment, occurrence)
            self.findings.append(Finding(line, column, mistake.message, mistake.hint))

    def entries(self, node: yaml.Node, what: str) -> list[tuple[str, yaml.Node, yaml.Node]]:
        """Key, key node and value node of each entry of a mapping; a repeated key is reported and left out."""
        if not isinstance(node, yaml.MappingNode):
            self.report(node, f"{what} must be a mapping of names to values", "write name: value, one per line")
            return []
        found: dict[str, tuple[str, yaml.Node, yaml.Node]] = {}
        for key_node, value in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self.report(
                    key_node, f"a name in {what} is {_kind(key_node)}", "quote a value that begins with {{ or ["
                )
            elif key_node.value in found:
                first = place(found[key_node.value][1])[0]
                self.report(key_node, f"{key_node.value} is there twice", f"the first is on line {first}; remove one")
            else:
                found[key_node.value] = (key_node.value, key_node, value)
        return list(found.values())

    def fields(self, node: yaml.Node, what: str, known: tuple[str, ...]) -> dict[str, yaml.Node]:
        """The value nodes of a mapping whose keys are known beforehand."""
        entries = self.entries(node, what)
        given = {key: value for key, _, value in entries if key in known}
        for key, key_node, value in entries:
            if key in known:
                continue
            self.report(key_node, f"unknown key {key} in {what}", suggestion(key, known))
            meant = closest(key, known)
            if meant:
                given.setdefault(meant, value)
        return given

    def text(self, node: yaml.Node, what: str) -> str | None:
        """A scalar as it was written: `run: true` is the command true, `default: 1.10` keeps its zero."""
        if not isinstance(node, yaml.ScalarNode):
            self.report(node, f"{what} must be text, not {_kind(node)}", f'put it in quotes: {what}: "…"')
            return None
        if node.tag not in _PLAIN_TAGS:
            self.report(node, f"{what} has the tag {node.tag.removeprefix(_TAG)}", "remove the tag; it is read as text")
            return None
        if not node.value.strip():
            self.report(node, f"{what} is empty", "give it a value or remove it")
            return None
        return str(node.value)

    def choice(self, node: yaml.Node, what: str, known: tuple[Word, ...]) -> Word | None:
        value = self.text(node, what)
        found = next((word for word in known if word == value), None)
        if value is not None and found is None:
            self.report(node, f"unknown {what}: {value}", suggestion(value, known))
        return found

    def boolean(self, node: yaml.Node, what: str) -> bool | None:
        value = self.scalar(node)
        if isinstance(value, bool):
            return value
        self.report(node, f"{what} must be true or false", "write it without quotes")
        return None

    def number(
        self, node: yaml.Node, what: str, *, least: float, above: bool, whole: bool, hint: str
    ) -> int | float | None:
        """A number of at least (or above) a bound; whole ones are ints."""
        value = self.scalar(node)
        number = value if isinstance(value, int if whole else int | float) and not isinstance(value, bool) else None
        if number is not None and number <= _LARGEST and (number > least if above else number >= least):
            return number
        kind = "whole number" if whole else "number"
        bound = f"above {least:g}" if above else f"of at least {least:g}"
        self.report(node, f"{what} must be a {kind} {bound}", hint)
        return None

    def scalar(self, node: yaml.Node) -> object:
        """What YAML makes of a scalar without quotes; a value of no use to any caller when it makes nothing of it."""
        if not isinstance(node, yaml.ScalarNode) or node.tag not in _PLAIN_TAGS:
            return ...
        if node.tag == f"{_TAG}timestamp":
            return node.value
        try:
            return yaml.constructor.SafeConstructor().construct_object(node)
        except (yaml.YAMLError, ValueError, LookupError):
            return ...

    def template(self, node: yaml.Node, what: str) -> Template | None:
        text = self.text(node, what)
        if text is None:
            return None
        template, mistakes = parse_template(text)
        self.report_mistakes(node, mistakes)
        return template

    def value(self, node: yaml.Node, what: str, note: Callable[[yaml.Node, Template], None]) -> object:
        """Any plain value, with every text in it a Template; each is noted with its own node."""
        match node:
            case yaml.MappingNode():
                entries = self.entries(node, what)
                return {key: self.value(value, f"{what}.{key}", note) for key, _, value in entries}
            case yaml.SequenceNode():
                return [self.value(item, what, note) for item in node.value]
        value = self.scalar(node)
        if value is ...:
            self.report(node, f"{what} cannot be read as a value", "remove its tag, or put it in quotes")
            return None
        if not isinstance(value, str):
            return value
        template, mistakes = parse_template(value)
        self.report_mistakes(node, mistakes)
        note(node, template)
        return template


def _kind(node: yaml.Node) -> str:
    return _KINDS.get(type(node), "a value")


_name = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")


def check_name(reader: FlowReader, node: yaml.Node, name: str, what: str) -> None:
    if _name.fullmatch(name) is None:
        reader.report(
            node, f"{what} cannot be {name!r}", "use letters, digits, _ and -, at most 64, beginning with a letter or _"
        )
