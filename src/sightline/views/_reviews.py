"""The reviews of a session, as every view shows them: their findings, and the prompt that has them fixed."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from sightline.events import DismissedFindings, FindingFact, ReviewFact, ReviewFinding
from sightline.transcript import Snapshot, TranscriptCall


class ShownFinding(msgspec.Struct, frozen=True):
    """`number`: from 1, in its review."""

    number: int
    finding: ReviewFinding
    is_dismissed: bool


class ShownReview(msgspec.Struct, frozen=True):
    """One that has ended. `fact`: None, where the session ended before it."""

    call: str
    target: str
    fact: ReviewFact | None
    findings: list[ShownFinding]

    @property
    def open(self) -> list[ShownFinding]:
        """Those that are not dismissed."""
        return [each for each in self.findings if not each.is_dismissed]


def reviews_of(state: Snapshot) -> Iterator[ShownReview]:
    """Those that have findings, the last first."""
    dismissed = DismissedFindings.among(state.state)
    numbers = {} if dismissed is None else dismissed.by_review
    for call in reversed(list(_calls(state))):
        if call.content is not None and (findings := _findings(state, call)):
            hidden = set(numbers.get(call.id, ()))
            shown = [ShownFinding(number, each, number in hidden) for number, each in enumerate(findings, 1)]
            yield ShownReview(call.id, call.arg, ReviewFact.of(call.details), shown)


def review_outcome(fact: ReviewFact, *, failed: bool) -> str:
    """In a few words; of one that failed or was stopped, how much it had found by then."""
    if not failed:
        return fact.outcome
    count = len(fact.findings)
    return f"{count} finding{'s' * (count != 1)}"


def fix_prompt(target: str, findings: Iterable[ReviewFinding]) -> str:
    """For the user to read and send."""
    texts = [finding_text(finding) for finding in findings]
    if len(texts) == 1:
        return f"{fix_heading(target, several=False)}\n\n{texts[0]}"
    return "\n\n".join([fix_heading(target, several=True), *(f"{at}. {text}" for at, text in enumerate(texts, 1))])


def fix_heading(target: str, *, several: bool) -> str:
    return f"Fix {'these findings' if several else 'this finding'} of a review of {target}:"


def finding_text(finding: ReviewFinding) -> str:
    where = f"{finding.place}: " if finding.place else ""
    return f"[P{finding.priority}] {where}{finding.title}" + (f"\n\n{finding.body}" if finding.body else "")


def _calls(state: Snapshot) -> Iterator[TranscriptCall]:
    return (entry for entry in state.shown if isinstance(entry, TranscriptCall) and entry.by_user and entry.is_job)


def _findings(state: Snapshot, call: TranscriptCall) -> Sequence[ReviewFinding]:
    """Where the session ended before the review did, those that were reported until then."""
    fact = ReviewFact.of(call.details)
    if fact is not None:
        return fact.findings
    agents = {path for path, agent in state.agents.items() if agent.call == call.id}
    calls = (entry for entry in state.shown if isinstance(entry, TranscriptCall) and entry.agent in agents)
    found = [reported for each in calls if (reported := FindingFact.of(each.details)) is not None]
    return sorted(found, key=lambda each: each.priority)
