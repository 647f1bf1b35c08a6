"""What the model and the views are told of an edit that was made."""

from collections.abc import Sequence
from hashlib import sha256

from msgspec.structs import asdict, replace

from sightline.events import ChangedFile, DiffFact
from sightline.secrets import RestoredText
from sightline.text import Unified, unified_diff
from sightline.tools._tool import Outcome, Proposal
from sightline.tools._truncation import fitting_diff
from sightline.tools.edit._files import FilePlan
from sightline.tools.hashline import Snapshots, compact, header, unified

# Of the diffs in details, as JSON; they are there twice when there are several files.
MAX_DIFF_BYTES = 24 * 1024
_NOTEBOOK_WARNING = "Cells were renumbered: read the notebook again before the next edit."


def outcome(plans: Sequence[FilePlan], snapshots: Snapshots) -> Outcome:
    texts: list[str] = []
    results: list[ChangedFile] = []
    for plan in plans:
        state = plan.state()
        renumbered = _is_renumbered(plan, state)
        # Lines of renumbered cells cannot be followed through this edit.
        tag = snapshots.record_whole(plan.path, state, None if renumbered else plan.step)
        warnings = plan.warnings + ([_NOTEBOOK_WARNING] if renumbered else [])
        texts.append(_text(plan, tag, warnings))
        results.append(_changed(plan, warnings, MAX_DIFF_BYTES // len(plans)))
    fact = DiffFact(**asdict(results[0]))
    if len(plans) > 1:
        restored = tuple(name for plan in plans for name in plan.secrets.restored)
        left = tuple(name for plan in plans for name in plan.secrets.left)
        diff, secrets = "".join(result.diff for result in results), RestoredText("", restored, left).in_file
        fact = replace(fact, diff=diff, per_file_results=results, secrets=secrets)
    return Outcome(text="\n\n".join(texts), details=fact.as_details())


def proposal(plans: Sequence[FilePlan]) -> Proposal:
    """What they would change, all of it."""
    restored = RestoredText("", tuple(name for plan in plans for name in plan.secrets.restored))
    diffs = [_diff(plan) for plan in plans]
    return Proposal(
        diff="".join(diff.text for diff in diffs),
        added=sum(diff.added for diff in diffs),
        removed=sum(diff.removed for diff in diffs),
        about=restored.about,
        basis=" ".join(sha256(plan.before or b"").hexdigest() for plan in plans),
    )


def _diff(plan: FilePlan) -> Unified:
    """Where the file lacks its final newline, before or after, that is part of what changes or stays."""
    if not plan.as_notebook and not (_is_ended(plan.before) and _is_ended(plan.after)):
        before = None if plan.before is None else _plain(plan.before)
        return unified_diff(before, _plain(plan.after), f"a/{plan.shown}", f"b/{plan.shown}")
    text = unified(plan.shown, plan.lines, plan.changes, created=plan.created)
    added, removed = (sum(map(len, lines)) for lines in zip(*((c.after, c.before) for c in plan.changes), strict=True))
    return Unified(text, added, removed)


def _is_ended(data: bytes | None) -> bool:
    return not data or data.endswith(b"\n")


def _plain(data: bytes) -> str:
    """As an edit sees it: it never changes how a line ends, but whether the last one does."""
    return data.decode().removeprefix("\ufeff").replace("\r\n", "\n")


def _is_renumbered(plan: FilePlan, state: Sequence[str]) -> bool:
    if not plan.as_notebook:
        return False
    lines = list(plan.lines)
    for change in reversed(plan.changes):
        lines[change.before_at : change.before_at + len(change.before)] = change.after
    return lines != list(state)


def _text(plan: FilePlan, tag: str, warnings: Sequence[str]) -> str:
    rows = [header(plan.shown, tag), *plan.notes]
    preview = "" if plan.created else compact(plan.lines, plan.changes)
    rows.append(preview or f"{'Created' if plan.created else 'Updated'} {plan.shown}")
    rows += plan.secrets.notes
    if warnings:
        rows += ["", "Warnings:", *warnings]
    return "\n".join(rows)


def _changed(plan: FilePlan, warnings: Sequence[str], limit: int) -> ChangedFile:
    diff = _diff(plan)
    return ChangedFile(
        path=plan.shown,
        op="create" if plan.created else "update",
        diff=fitting_diff(diff.text, limit),
        first_changed_line=min(change.after_at for change in plan.changes) + 1,
        added=diff.added,
        removed=diff.removed,
        warnings=list(warnings),
        secrets=plan.secrets.in_file,
    )
