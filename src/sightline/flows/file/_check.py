"""`check` and `load`: a file to its findings, or to a flow without any.

Every mistake is found in one go, and each is reported once: what only follows from a mistake already reported (a
template that uses a step whose need is misspelled) is not.
"""

import errno
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

import yaml

from sightline.flows.file._document import SIZE_CAP, FlowDocument, read_document
from sightline.flows.file._findings import Finding, FlowInvalid, suggestion
from sightline.flows.file._graph import cycles, reachable
from sightline.flows.file._inputs import read_inputs
from sightline.flows.file._model import Flow, FlowInput
from sightline.flows.file._reader import FlowReader
from sightline.flows.file._steps import StepDraft, StepReference, read_steps
from sightline.flows.file._template import ITEM, one_line
from sightline.handles import NotRegular, read_at_most
from sightline.text import clean_line, cut_graphemes

_FIELDS = ("name", "inputs", "steps")
_TEXT_CAP = 400
_descriptor = re.compile(r"/dev/stdin|/(?:dev|proc/self)/fd/[0-9]+").fullmatch


def check(path: str | Path) -> list[Finding]:
    """Every mistake of a flow file, in the order of its lines. Nothing is run."""
    return _read(Path(path))[1]


def load(path: str | Path) -> Flow:
    """The flow of a file; `FlowInvalid` with every finding when there is a mistake in it."""
    flow, findings = _read(Path(path))
    if flow is None or findings:
        raise FlowInvalid(str(path), findings)
    return flow


def _read(path: Path) -> tuple[Flow | None, list[Finding]]:
    data = _bytes_of(path)
    document = data if isinstance(data, Finding) else read_document(data)
    if isinstance(document, Finding):
        return None, [_shown(document)]
    reader = FlowReader(document)
    flow = _read_flow(reader, document, path)
    return flow, sorted(map(_shown, reader.findings))


def _bytes_of(path: Path) -> bytes | Finding:
    """As much of a file as can be a flow, and a byte more. A device may have no end, and opening one may do things; for
    a named pipe that no program writes to it would wait for ever. What a shell's `<(…)` names is open already."""
    try:
        if stat.S_ISFIFO(path.stat().st_mode) and _descriptor(str(path)):
            with path.open("rb") as file:
                return file.read(SIZE_CAP + 1)
        return read_at_most(path, SIZE_CAP + 1)
    except NotRegular as error:
        if not stat.S_ISDIR(error.mode):
            return Finding(1, 1, f"{path} is not a file", "name a file with a flow in it")
        return Finding(1, 1, f"cannot read {path}: {os.strerror(errno.EISDIR)}", "check the file's name")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return Finding(1, 1, f"cannot read {path}: {reason}", "check the file's name")


def _shown(finding: Finding) -> Finding:
    """Fit for a terminal: a finding quotes the file, and a file can hold anything."""
    message, hint = (cut_graphemes(clean_line(text), _TEXT_CAP) for text in (finding.message, finding.hint))
    return Finding(finding.line, finding.column, message, hint)


def _read_flow(reader: FlowReader, document: FlowDocument, path: Path) -> Flow | None:
    root = document.root
    if not isinstance(root, yaml.MappingNode):
        reader.report(root, "a flow must be a mapping", "begin with name: NAME, then steps:")
        return None
    fields = reader.fields(root, "a flow", _FIELDS)
    for field in ("name", "steps"):
        if field not in fields:
            reader.report(root, f"a flow has no {field}", f"add {field}: at the beginning of a line")
    name = reader.text(fields["name"], "name") if "name" in fields else None
    inputs = read_inputs(reader, fields["inputs"]) if "inputs" in fields else {}
    drafts = read_steps(reader, fields["steps"], path.parent) if "steps" in fields else []
    _check_drafts(reader, drafts, inputs)
    steps = {draft.id: draft.step for draft in drafts if draft.step is not None}
    return Flow(name=name or "", inputs=inputs, steps=steps, path=str(path))


def _check_drafts(reader: FlowReader, drafts: list[StepDraft], inputs: dict[str, FlowInput]) -> None:
    """Check the references of steps to one another and to the inputs."""
    known: dict[str, StepDraft] = {}
    for draft in drafts:
        if draft.id and draft.id in known:
            first = known[draft.id].node.start_mark.line + 1
            reader.report(draft.node, f"there are two steps {draft.id}", f"the first is on line {first}; rename one")
        elif draft.id:
            known[draft.id] = draft
    unsure = {id(draft) for draft in drafts if not _check_needs(reader, draft, known)}
    needs = {name: [need for need, _ in draft.needs if need in known and need != name] for name, draft in known.items()}
    for circle in cycles(needs):
        way = " → ".join(circle)
        reader.report(known[circle[0]].node, f"steps wait for one another: {way}", "remove one of these needs")
    for draft in drafts:
        behind = {need for name, _ in draft.needs for need in (name, *reachable(name, needs))}
        complete = id(draft) not in unsure and not any(id(known[name]) in unsure for name in behind if name in known)
        reader.findings += _check_uses(draft, known, inputs, behind if complete else None)


def _check_needs(reader: FlowReader, draft: StepDraft, known: dict[str, StepDraft]) -> bool:
    """Whether everything it needs exists and is not itself."""
    good = True
    for need, node in draft.needs:
        if need == draft.id:
            reader.report(node, f"{need} needs itself", "remove it")
            good = False
        elif need not in known:
            others = [name for name in known if name != draft.id]
            reader.report(
                node, f"needs names an unknown step {need}", suggestion(need, others, "there is no other step")
            )
            good = False
    return good


def _check_uses(
    draft: StepDraft, known: dict[str, StepDraft], inputs: dict[str, FlowInput], behind: set[str] | None
) -> Iterator[Finding]:
    """References that lead nowhere. `behind` is what the step waits for, None when that cannot be known."""
    for use in draft.uses:
        if use.reference.root == ITEM:
            if not draft.has_items:
                yield _finding(use, f"{one_line(use.reference.source)}: the step has no foreach", "add foreach: [LIST]")
            continue
        name, shown = use.reference.name, one_line(use.reference.source)
        if use.reference.root == "inputs":
            if name not in inputs:
                hint = suggestion(name, inputs, "declare it under inputs")
                yield _finding(use, f"{shown}: there is no input {name}", hint)
        elif name == draft.id:
            yield _finding(use, f"{shown}: a step cannot use its own output", "use that of a step before it")
        elif name not in known:
            others = [other for other in known if other != draft.id]
            yield _finding(use, f"{shown}: there is no step {name}", suggestion(name, others, "there is no other step"))
        elif behind is not None and name not in behind:
            yield _finding(use, f"{shown}: {draft.id} does not wait for {name}", f"add {name} to its needs")


def _finding(use: StepReference, message: str, hint: str) -> Finding:
    return Finding(use.line, use.column, f"{use.file}{message}", hint)
