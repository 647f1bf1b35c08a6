"""`/review`: what to review is chosen or named; a reviewer works on it beside the conversation, and its findings are a
list to step through (`_findings`), which opens when the review ends, and again with the key."""

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from sightline.host import DismissFinding, Review, ReviewChoices
from sightline.text import clean_line, clean_text
from sightline.transcript import TranscriptCall
from sightline.tty.components import Item
from sightline.views._reviews import ShownFinding, ShownReview, fix_prompt, reviews_of
from sightline.views.console._desk import Desk, accepted, reply_data
from sightline.views.console._external import edit_file
from sightline.views.console.selectors._findings import FindingsPanel, finding_label, review_of
from sightline.views.console.selectors._panel import ChoicePanel, QuestionPanel
from sightline.views.console.shapes._shape import plural
from sightline.working_copies import ChangeChoices

if TYPE_CHECKING:
    from sightline.views.console._console import Console

_FINDINGS, _UNCOMMITTED, _BRANCH, _COMMIT, _OTHER = "findings", "uncommitted", "branch", "commit", "\0other"
_LOOKS_APART, _LOOKS_AT_MOST = 0.2, 50  # seconds apart
_ACTIONS = (("fix", "Fix this"), ("all", "Fix all"), ("dismiss", "Dismiss it"), ("edit", "Open it in the editor"))


async def open(console: "Console", args: str) -> None:
    text = args.strip()
    focus = text.removeprefix("-- ") if text.startswith("-- ") else ""
    if not text or focus:
        await _choose(console, f" -- {focus}" if focus else "")
    elif not await _begin(console, text):
        console.set_draft(f"/review {text}")


async def step(console: "Console", args: str = "") -> None:
    """Through the findings of the last review that has some."""
    review = next(reviews_of(console.state), None)
    if review is None:
        console.report("no review has found anything in this session", hint="/review begins one")
    else:
        await _step_through(console, review)


# Which change


async def _choose(console: "Console", focus: str) -> None:
    reply = await accepted(console, ReviewChoices())
    if reply is None:
        return
    there = msgspec.convert(reply_data(reply), ChangeChoices)
    review = next(reviews_of(console.state), None)
    chosen = await console.ask(ChoicePanel(console, "Review", list(_items(there, review)), filter=False))
    if chosen == _FINDINGS and review is not None:
        await _step_through(console, review)
    elif chosen == _UNCOMMITTED:
        await _begin(console, focus)
    elif chosen == _BRANCH:
        await _choose_branch(console, there, focus)
    elif chosen == _COMMIT:
        await _choose_commit(console, there, focus)


def _items(there: ChangeChoices, review: ShownReview | None) -> Iterator[Item]:
    """What has nothing in it is shown as that, and cannot be chosen."""
    if review is not None:
        about = f"{review.target}: {len(review.open)} not dismissed"
        yield Item(_FINDINGS, "Findings of the last review", about)
    files = plural(there.uncommitted, "file") if there.uncommitted else "there are none"
    yield Item(_UNCOMMITTED, "Uncommitted changes", files, disabled=not there.uncommitted)
    ahead = plural(there.ahead, "commit") if there.ahead else "no commit"
    compared = f"{ahead} that {there.main} has not" if there.main else "choose one"
    compared = compared if there.branches else "there is no branch yet"
    yield Item(_BRANCH, "Changes against a branch", compared, disabled=not there.branches)
    last = f"the last one: {there.commits[0].title}" if there.commits else "there is no commit yet"
    yield Item(_COMMIT, "A commit or a range", last, disabled=not there.commits)


async def _choose_branch(console: "Console", there: ChangeChoices, focus: str) -> None:
    names = [*([there.main] if there.main else []), *(name for name in there.branches if name != there.main)]
    items = [Item(name, name, "the main branch" if name == there.main else "") for name in names]
    name = await console.ask(ChoicePanel(console, "Against which branch", items, confirm="review"))
    if name is not None:
        await _begin(console, f"{name}{focus}")


async def _choose_commit(console: "Console", there: ChangeChoices, focus: str) -> None:
    items = [Item(each.id, each.id, each.title) for each in there.commits]
    items.append(Item(_OTHER, "Another one, or a range", "such as v1.0..HEAD"))
    name = await console.ask(ChoicePanel(console, "Which commit", items, confirm="review"))
    if name == _OTHER:
        await _ask_for_one(console, focus)
    elif name is not None:
        await _begin(console, f"{name}{focus}")


async def _ask_for_one(console: "Console", focus: str) -> None:
    text, mistake = "", ""
    while True:
        about = "A commit, such as HEAD~2, or a range, such as v1.0..HEAD."
        panel = QuestionPanel(console, "Review", text=text, about=about, mistake=mistake, confirm="review")
        text = await console.ask(panel)
        if not text:
            return
        reply = await console.submit(Review(f"{text}{focus}"))
        if reply.ok:
            _watch(console, reply.id, reply_data(reply))
            return
        mistake = reply.error


# The review


async def _begin(console: "Console", text: str) -> bool:
    reply = await accepted(console, Review(text.strip()))
    if reply is not None:
        _watch(console, reply.id, reply_data(reply))
    return reply is not None


def _watch(console: "Console", call: str, data: dict[str, object]) -> None:
    if not console.drawing.linear:  # there a list would be read over what the user does
        console.spawn(_open_at_the_end(console, call, str(data.get("agent") or "")))


async def _open_at_the_end(console: "Console", call: str, agent: str) -> None:
    """Show the findings when there are some, unless the user is busy with something else then."""
    session = console.session
    while not _has_ended(console, call, agent):
        await asyncio.sleep(_LOOKS_APART)
        if console.session != session:
            return
    review = review_of(console, call)
    if review is None or console.draft or console.screen.asking is not None or console.state.requests:
        return
    await _step_through(console, review, unrequested=True)


def _has_ended(desk: Desk, call: str, agent: str) -> bool:
    """Its agent is looked at first: that costs nothing."""
    known = desk.state.agents.get(agent)
    if known is None or known.running:
        return False
    calls = (each for each in reversed(desk.state.entries) if isinstance(each, TranscriptCall) and each.id == call)
    found = next(calls, None)
    return found is None or found.content is not None


async def _step_through(console: "Console", review: ShownReview, *, unrequested: bool = False) -> None:
    if console.drawing.linear:
        prompt = await _step_by_words(console, review)
    else:
        panel = FindingsPanel(console, review, unrequested=unrequested)
        console.spawn(panel.poll())
        prompt = await (console.ask(panel, above=True) if unrequested else console.ask(panel))
    if prompt:
        console.set_draft("\n\n".join([*([console.draft] if console.draft else []), prompt]))


async def _step_by_words(console: "Console", review: ShownReview) -> str:
    """In linear mode: one list after the other, and what is chosen is read out."""
    at = ""
    while True:
        items = [_spoken_item(shown) for shown in review.findings]
        at = await console.ask(ChoicePanel(console, f"Findings of the review of {review.target}", items, at=at))
        if at is None:
            return ""
        shown = review.findings[int(at) - 1]
        console.report(_spoken(shown))
        done = await _act(console, review, shown)
        if done:
            return done
        review = review_of(console, review.call) or review


async def _act(console: "Console", review: ShownReview, shown: ShownFinding) -> str:
    """What to do about a finding; the prompt that fixes it."""
    actions = [Item(value, "Restore it" if value == "dismiss" and shown.is_dismissed else label)
               for value, label in _ACTIONS]  # fmt: skip
    match await console.ask(ChoicePanel(console, finding_label(shown), actions, filter=False)):
        case "fix":
            return fix_prompt(review.target, [shown.finding])
        case "all" if review.open:
            return fix_prompt(review.target, [each.finding for each in review.open])
        case "dismiss":
            await _dismiss(console, review, shown)
        case "edit" if shown.finding.file:
            edit_file(console, shown.finding.file, shown.finding.first_line)
    return ""


async def _dismiss(console: "Console", review: ShownReview, shown: ShownFinding) -> None:
    """Until the list has it: the host's event comes after its reply."""
    if await accepted(console, DismissFinding(review.call, shown.number, not shown.is_dismissed)) is None:
        return
    for _ in range(_LOOKS_AT_MOST):
        if review_of(console, review.call) != review:
            return
        await asyncio.sleep(_LOOKS_APART)


def _spoken_item(shown: ShownFinding) -> Item:
    place = clean_line(shown.finding.place)
    return Item(str(shown.number), finding_label(shown), f"dismissed, {place}" if shown.is_dismissed else place)


def _spoken(shown: ShownFinding) -> str:
    finding = shown.finding
    parts = [f"{clean_line(finding.place)}: {clean_line(finding.title)}", clean_text(finding.body), finding.diff]
    return "\n".join(part for part in parts if part.strip())
