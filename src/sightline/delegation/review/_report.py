"""What came of a review: the verdict of the reviewer and its findings, each with the lines around its place.

A user's own reviewer may have a result of any form: one that is a verdict is read as such, any other is the summary.
"""

import os
from typing import Literal

import msgspec
from msgspec.structs import replace

from sightline.delegation._member import AgentResult, Member
from sightline.events import ReviewFact, ReviewFinding
from sightline.text import clean_line, clean_text, cut_graphemes
from sightline.working_copies import RepositoryChange

_SUMMARY_AT_MOST, _CHECKED_AT_MOST = 4000, 500  # characters
_MOST_CHECKED = 30
_FINDINGS_AT_MOST = 180 * 1024  # bytes of all of them, so that an event can have them


class _Verdict(msgspec.Struct, frozen=True):
    verdict: Literal["approve", "request_changes"]
    summary: str = ""
    confidence: float | None = None
    checked: list[str] = []


def review_fact(change: RepositoryChange, member: Member, result: AgentResult, cwd: str) -> ReviewFact:
    """Blocking. The most urgent finding comes first."""
    found = _verdict(member)
    summary = result.output if found is None else found.summary
    placed = [_placed(change, finding, cwd) for finding in sorted(result.findings, key=lambda each: each.priority)]
    return ReviewFact(
        target=change.target.about,
        agent=member.path,
        base=change.target.base,
        tip=change.target.tip,
        verdict="" if found is None else found.verdict,
        summary=cut_graphemes(clean_text(summary).strip(), _SUMMARY_AT_MOST),
        confidence=None if found is None else found.confidence,
        checked=[clean_line(each)[:_CHECKED_AT_MOST] for each in found.checked[:_MOST_CHECKED]] if found else [],
        warnings=result.warnings,
        findings=_bounded(placed),
        changed_files=len(change.files),
        left_out=change.left_out,
    )


def report_of(fact: ReviewFact, ended: str = "") -> str:
    """All of it in words. `ended`: why it did not come to its end."""
    parts = [f"Review of {fact.target}: {ended or fact.outcome}", fact.summary]
    for number, finding in enumerate(fact.findings, 1):
        where = f"{finding.place}: " if finding.place else ""
        body = "".join(f"\n   {line}".rstrip() for line in finding.body.split("\n")) if finding.body else ""
        parts.append(f"{number}. [P{finding.priority}] {where}{finding.title}{body}")
    parts += [f"Warning: {warning}." for warning in fact.warnings]
    parts += [f"Not reviewed, because a rule denies reading them: {fact.left_out} files."] if fact.left_out else []
    return "\n\n".join(part for part in parts if part)


def _verdict(member: Member) -> _Verdict | None:
    data = None if member.yielded is None else member.yielded.data
    try:
        return msgspec.convert(data, _Verdict)
    except (msgspec.ValidationError, RecursionError):
        return None


def _placed(change: RepositoryChange, finding: ReviewFinding, cwd: str) -> ReviewFinding:
    """With its file as it is named in the folder of the session, and the lines there."""
    path = change.find(finding.file, cwd)
    if not path:
        return finding
    file = os.path.relpath(os.path.join(change.repository.folder, path), os.path.realpath(cwd))
    return replace(finding, file=clean_line(file), diff=change.around(path, finding.first_line, finding.last_line))


def _bounded(findings: list[ReviewFinding]) -> list[ReviewFinding]:
    room = _FINDINGS_AT_MOST // max(len(findings), 1)
    return [_within(finding, room) for finding in findings]


def _within(finding: ReviewFinding, room: int) -> ReviewFinding:
    if _size(finding) > room:
        finding = replace(finding, diff="")
    if (over := _size(finding) - room) > 0:
        most = max((len(finding.body.encode("utf-8", "replace")) - over) // 4, 0)
        finding = replace(finding, body=f"{cut_graphemes(finding.body, most)} …")
    return finding


def _size(finding: ReviewFinding) -> int:
    return len(msgspec.json.encode(finding))
