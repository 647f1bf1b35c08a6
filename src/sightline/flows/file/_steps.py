"""Reading the steps of a flow file. Its references to others are checked afterwards, when all are known."""

import errno
import os
import stat
from pathlib import Path
from typing import TypedDict

import msgspec
import yaml

from sightline.flows.file._condition import Condition, parse_condition
from sightline.flows.file._document import SIZE_CAP, place
from sightline.flows.file._findings import suggestion
from sightline.flows.file._model import NATIVE, AgentStep, CommandStep, OutputFormat, StepRetry
from sightline.flows.file._reader import FlowReader, check_name
from sightline.flows.file._template import ITEM, Reference, Template, TemplateMistake, parse_template
from sightline.flows.running._shell import parse_shell
from sightline.handles import NotRegular, read_at_most
from sightline.providers import APPROVALS, Approval, get_provider, provider_names

_SHARED = ("id", "needs", "when", "timeout", "retry", "foreach", "max_parallel", "cwd")
_AGENT = ("provider", "agent", "prompt", "prompt_file", "model", "approval", "output_format", "options")
_COMMAND = ("run",)
_FORMATS: tuple[OutputFormat, ...] = ("text", "json")
_SECONDS = "in seconds, such as 300"


class _Shared(TypedDict):
    """The fields that every step has."""

    id: str
    needs: tuple[str, ...]
    when: Condition | None
    timeout: float | None
    retry: StepRetry
    foreach: list[object] | Reference | None
    max_parallel: int | None
    cwd: Template
    line: int


class StepReference(msgspec.Struct, frozen=True):
    """A place where a step refers to an input or to another step."""

    reference: Reference
    line: int
    column: int
    file: str = ""  # where a prompt is in a file of its own: that file and the line in it


class StepDraft(msgspec.Struct):
    """A step as read, before anyone has looked at the others. `step` is None when it could not be made sense of."""

    id: str
    node: yaml.Node
    needs: list[tuple[str, yaml.Node]]
    uses: list[StepReference]
    step: AgentStep | CommandStep | None = None
    has_items: bool = False


def read_steps(reader: FlowReader, node: yaml.Node, folder: Path) -> list[StepDraft]:
    if not isinstance(node, yaml.SequenceNode):
        reader.report(node, "steps must be a list", "write each step as: - id: NAME")
        return []
    if not node.value:
        reader.report(node, "steps is empty", "add a step: - id: NAME")
    return [_StepReader(reader, item, folder).read() for item in node.value]


class _StepReader:
    """One step: its fields, and every reference in them with its place."""

    def __init__(self, reader: FlowReader, node: yaml.Node, folder: Path) -> None:
        self._reader = reader
        self._node = node
        self._folder = folder
        self._uses: list[StepReference] = []
        self._fields: dict[str, yaml.Node] = {}

    def read(self) -> StepDraft:
        node, reader = self._node, self._reader
        if not isinstance(node, yaml.MappingNode):
            reader.report(node, "a step must be a mapping", "write each step as: - id: NAME, then its fields below it")
            return StepDraft("", node, [], [])
        self._fields = reader.fields(node, "a step", (*_SHARED, *_AGENT, *_COMMAND))
        ident = self._id()
        needs = self._needs()
        shared: _Shared = {
            "id": ident,
            "needs": tuple(name for name, _ in needs),
            "when": self._when(),
            "timeout": self._timeout(),
            "retry": self._retry(),
            "foreach": self._foreach(),
            "max_parallel": self._max_parallel(),
            "cwd": (self._template(self._fields["cwd"], "cwd") if "cwd" in self._fields else None) or Template(()),
            "line": place(node)[0],
        }
        step = self._kind(shared)
        return StepDraft(ident, self._fields.get("id", node), needs, self._uses, step, "foreach" in self._fields)

    def _kind(self, shared: _Shared) -> AgentStep | CommandStep | None:
        """Which of the two it is; a step that is both or neither is one mistake, not one for each field."""
        fields, reader = self._fields, self._reader
        agent_fields = [field for field in _AGENT if field in fields]
        for field in ("provider", "agent"):
            if "run" in fields and field in fields:
                hint = "a step is a command or a prompt for an agent: make it two steps"
                reader.report(fields["run"], f"a step has both run and {field}", hint)
                return None
        if "run" in fields:
            for field in agent_fields:
                reader.report(fields[field], f"{field} belongs to an agent step, and this is a command", "remove it")
            return self._command(shared)
        if not agent_fields:
            reader.report(self._node, "a step does nothing", "give it run, or provider and prompt")
            return None
        return self._agent(shared)

    def _id(self) -> str:
        if "id" not in self._fields:
            self._reader.report(self._node, "a step has no id", "add id: NAME")
            return ""
        ident = self._reader.text(self._fields["id"], "id") or ""
        if ident:
            check_name(self._reader, self._fields["id"], ident, "a step's id")
        return ident

    def _needs(self) -> list[tuple[str, yaml.Node]]:
        node = self._fields.get("needs")
        if node is None:
            return []
        items = node.value if isinstance(node, yaml.SequenceNode) else [node]
        named = ((self._reader.text(item, "needs"), item) for item in items)
        found: dict[str, yaml.Node] = {}
        for name, item in named:
            if name in found:
                self._reader.report(item, f"needs names {name} twice", "remove one")
            elif name is not None:
                found[name] = item
        return list(found.items())

    def _when(self) -> Condition | None:
        node = self._fields.get("when")
        text = self._reader.text(node, "when") if node is not None else None
        if node is None or text is None:
            return None
        condition = parse_condition(text)
        if isinstance(condition, TemplateMistake):
            self._reader.report_mistakes(node, [condition])
            return None
        self._note_outside_items(node, Template(tuple(condition.references())))
        return condition

    def _foreach(self) -> list[object] | Reference | None:
        node, reader = self._fields.get("foreach"), self._reader
        if isinstance(node, yaml.SequenceNode):
            if not node.value:
                reader.report(node, "foreach is empty", "write a list of items, or a path to one")
            return [reader.value(item, "an item of foreach", self._note_outside_items) for item in node.value]
        template = reader.template(node, "foreach") if node is not None else None
        if node is None or template is None:
            return None
        self._note_outside_items(node, template)
        if len(template.parts) != 1 or not isinstance(template.parts[0], Reference):
            hint = 'such as foreach: [a, b], or foreach: "{{ steps.ID.json }}"'
            reader.report(node, "foreach must be a list, or one path to a list", hint)
            return None
        return template.parts[0]

    def _note_outside_items(self, node: yaml.Node, template: Template) -> None:
        """What is decided before there is an item."""
        references = list(template.references())
        if any(reference.root == ITEM for reference in references):
            self._reader.report(node, "there is no item here yet", "use item in the prompt, the command or the cwd")
        self._note_uses(node, [reference for reference in references if reference.root != ITEM])

    def _max_parallel(self) -> int | None:
        node = self._fields.get("max_parallel")
        if node is None:
            return None
        if "foreach" not in self._fields:
            self._reader.report(node, "max_parallel belongs to a step with foreach", "remove it")
        hint = "how many items run at once, such as 4"
        most = self._reader.number(node, "max_parallel", least=1, above=False, whole=True, hint=hint)
        return None if most is None else int(most)

    def _timeout(self) -> float | None:
        node = self._fields.get("timeout")
        if node is None:
            return None
        seconds = self._reader.number(node, "timeout", least=0, above=True, whole=False, hint=_SECONDS)
        return None if seconds is None else float(seconds)

    def _retry(self) -> StepRetry:
        node = self._fields.get("retry")
        if node is None:
            return StepRetry()
        if not isinstance(node, yaml.MappingNode):
            self._reader.report(
                node, "retry must have attempts, and may have delay", "write retry: {attempts: 3, delay: 5}"
            )
            return StepRetry()
        number, fields = self._reader.number, self._reader.fields(node, "retry", ("attempts", "delay"))
        attempts = delay = None
        if "attempts" in fields:
            hint = "how often it is tried in total, such as 3"
            attempts = number(fields["attempts"], "attempts", least=1, above=False, whole=True, hint=hint)
        else:
            self._reader.report(node, "retry has no attempts", "write retry: {attempts: 3}")
        if "delay" in fields:
            delay = number(fields["delay"], "delay", least=0, above=False, whole=False, hint=_SECONDS)
        return StepRetry(attempts=int(attempts or 1), delay=float(delay or 0))

    def _command(self, shared: _Shared) -> CommandStep | None:
        node = self._fields["run"]
        if isinstance(node, yaml.SequenceNode):
            words = [self._template(item, "a word of run") for item in node.value]
            if not words:
                self._reader.report(node, "run is empty", "write a command, or a list of words")
            return CommandStep(run=tuple(word for word in words if word is not None), **shared)
        template = self._template(node, "run")
        if template is None:
            return None
        command, mistakes = parse_shell(template)
        self._reader.report_mistakes(node, mistakes)
        return CommandStep(run=command, **shared)

    def _agent(self, shared: _Shared) -> AgentStep:
        reader, fields = self._reader, self._fields
        provider = agent = output_format = None
        if "provider" in fields:
            provider = reader.choice(fields["provider"], "provider", _providers())
        if "agent" in fields:
            agent = reader.text(fields["agent"], "agent")
            self._check_agent()
        if "provider" not in fields and "agent" not in fields:
            hint = f"add provider: {', '.join(_providers())}; or agent: NAME"
            reader.report(self._node, "an agent step has no provider", hint)
        if "output_format" in fields:
            output_format = reader.choice(fields["output_format"], "output_format", _FORMATS)
        return AgentStep(
            provider=provider or "",
            agent=agent or "",
            prompt=self._prompt() or Template(()),
            model=(self._template(fields["model"], "model") if "model" in fields else None) or Template(()),
            approval=self._approval(provider),
            output_format=output_format or "text",
            options=self._options(provider),
            **shared,
        )

    def _check_agent(self) -> None:
        """Its provider and what it returns are up to its definition."""
        for field, hint in (
            ("provider", "the definition of the agent names its provider: remove it"),
            ("output_format", "an agent hands back a text: remove it"),
            ("options", "these belong to a provider: remove them"),
        ):
            if field in self._fields:
                self._reader.report(self._fields[field], f"a step with agent has no {field}", hint)

    def _approval(self, provider: str | None) -> Approval | None:
        node = self._fields.get("approval")
        level = None if node is None else self._reader.choice(node, "approval", APPROVALS)
        if node is not None and level and provider and provider != NATIVE:
            known = get_provider(provider).levels
            if level not in known:
                hint = f"choose one of: {', '.join(known)}"
                self._reader.report(node, f"{provider} has no approval level {level}", hint)
        return level

    def _prompt(self) -> Template | None:
        reader, fields = self._reader, self._fields
        if "prompt" in fields and "prompt_file" in fields:
            reader.report(fields["prompt_file"], "a step has both prompt and prompt_file", "remove one of them")
            return None
        if "prompt" in fields:
            return self._template(fields["prompt"], "prompt")
        if "prompt_file" in fields:
            return self._prompt_file(fields["prompt_file"])
        reader.report(self._node, "an agent step has no prompt", "add prompt: TEXT or prompt_file: FILE")
        return None

    def _prompt_file(self, node: yaml.Node) -> Template | None:
        """The file's text as a template. Its mistakes are reported where the file is named, with their own line."""
        name = self._reader.text(node, "prompt_file")
        if name is None:
            return None
        text, problem = _read_prompt(self._folder / name)
        if problem:
            hint = f"its path is relative to {self._folder.resolve()}"
            self._reader.report(node, f"prompt_file {name} {problem}", hint)
            return None
        template, mistakes = parse_template(text)
        lines = _lines_of(text, [mistake.fragment for mistake in mistakes])
        for mistake, line in zip(mistakes, lines, strict=True):
            self._reader.report(node, f"{name}, line {line}: {mistake.message}", mistake.hint)
        references = list(template.references())
        lines = _lines_of(text, [reference.source for reference in references])
        self._uses += [
            StepReference(reference, *place(node), f"{name}, line {line}: ")
            for reference, line in zip(references, lines, strict=True)
        ]
        return template

    def _options(self, provider: str | None) -> dict[str, object]:
        node = self._fields.get("options")
        if node is None:
            return {}
        options: dict[str, object] = {}
        known = _known_options(provider)
        for key, key_node, value in self._reader.entries(node, "options"):
            options[key] = self._reader.value(value, f"options.{key}", self._note_template)
            if known is not None and key not in known:
                message = f"{provider} takes no option {key}" if known else f"{provider} takes no options: {key}"
                self._reader.report(key_node, message, suggestion(key, known, "remove it"))
        return options

    def _template(self, node: yaml.Node, what: str) -> Template | None:
        template = self._reader.template(node, what)
        if template is not None:
            self._note_template(node, template)
        return template

    def _note_template(self, node: yaml.Node, template: Template) -> None:
        self._note_uses(node, list(template.references()))

    def _note_uses(self, node: yaml.Node, references: list[Reference]) -> None:
        seen: dict[str, int] = {}
        for reference in references:
            occurrence = seen.get(reference.source, 0)
            seen[reference.source] = occurrence + 1
            self._uses.append(
                StepReference(reference, *self._reader.document.locate(node, reference.source, occurrence))
            )


def _providers() -> tuple[str, ...]:
    return (NATIVE, *provider_names())


def _known_options(provider: str | None) -> list[str] | None:
    """The options a provider's CLI takes; None where they are not known before it runs."""
    if provider == NATIVE:
        return []
    command = get_provider(provider).command if provider else None
    return None if command is None else sorted(command.options)


def _lines_of(text: str, fragments: list[str]) -> list[int]:
    """The line of each fragment, from 1. The same one again is its next occurrence."""
    lines: list[int] = []
    after: dict[str, int] = {}
    for fragment in fragments:
        found = max(text.find(fragment, after.get(fragment, 0)), 0)
        after[fragment] = found + len(fragment)
        lines.append(text.count("\n", 0, found) + 1)
    return lines


def _read_prompt(path: Path) -> tuple[str, str]:
    """The text of a file, or what is wrong with it."""
    try:
        data = read_at_most(path, SIZE_CAP + 1)
    except FileNotFoundError:
        return "", "does not exist"
    except NotRegular as error:
        is_folder = stat.S_ISDIR(error.mode)
        return "", f"cannot be read: {os.strerror(errno.EISDIR)}" if is_folder else "is not a file"
    except (OSError, ValueError) as error:
        return "", f"cannot be read: {getattr(error, 'strerror', None) or error}"
    if len(data) > SIZE_CAP:
        return "", "is larger than 1 MB"
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return "", "is not UTF-8 text"
    return (text, "") if text.strip() else ("", "is empty")
