"""The reviews that the user requested (`/review`): each is a reviewer among the agents of the session.

Rules:

- What is reviewed is read once, when the review begins: what is changed after that is not part of it.
- A review is a call of the user's that continues in the background: one `tool_use`, and one `tool_result` with what
  was found, also where it was stopped or failed.
- The agent of the session does not learn of it. The user sends it what it is to fix.
- At most so many run at once. Their ends are waited for, also when the session ends.
"""

import asyncio
import os
import time
from contextlib import suppress

import msgspec

from sightline.agent import Agent, StreamedText
from sightline.agent._bugs import log_bug
from sightline.delegation import AgentResult, Member, Team
from sightline.delegation.review._report import report_of, review_fact
from sightline.delegation.review._request import fits, review_request
from sightline.events import CallEnding, DismissedFindings, ReviewFact, ToolResult, ToolUse, call_ending
from sightline.exceptions import OutsideFailure, UserMistake
from sightline.handles import folder_exactly
from sightline.host.session._session import HostSession
from sightline.journal import REVIEW_NOTE
from sightline.paths import private_folder
from sightline.text import clean_text
from sightline.tools import Need
from sightline.working_copies import RepositoryChange, change_choices, read_change

NAME = "Review"
_AT_MOST = 8
_REMEMBERED = 64  # reviews with findings that were dismissed
_NUMBER_AT_MOST = 1000
_FOLDER = "reviews"
_SECONDS_BETWEEN_STOPS = 0.05


class BegunReview(msgspec.Struct, frozen=True):
    """`call`: its id."""

    call: str
    target: str  # in words
    member: Member
    result: "asyncio.Task[ToolResult]"


class Reviews:
    """Those of one session."""

    def __init__(self, session: HostSession, agent: Agent, team: Team) -> None:
        self._session = session
        self._agent = agent
        self._team = team
        self._actor = session.actor("person", agent.secrets)
        self._open: dict[str, BegunReview] = {}  # by the id of the call
        self._dismissed: dict[str, list[int]] | None = None  # None: those of an earlier host are not read yet

    async def choices(self) -> object:
        """What there is to review."""
        return msgspec.to_builtins(await asyncio.to_thread(change_choices, self._cwd))

    async def begin(self, text: str) -> BegunReview:
        """`text`: what to review, and after `--` what to look at above all."""
        self._refuse_where_none_can_begin()
        target, focus = _parts(text)
        change = await asyncio.to_thread(read_change, self._cwd, target, self._may_read)
        call = self._session.new_call()
        stored = "" if fits(change) else await asyncio.to_thread(self._store, change, call)
        self._refuse_where_none_can_begin()
        member = self._team.directory.allocate(review_request(change, focus, stored), None)
        args = {"target": change.target.about, **({"focus": focus} if focus else {})}
        note = self._agent.secrets.masked(clean_text(f"/{NAME.lower()} {text}".strip()))
        self._agent.model.note_chosen()  # as with a prompt: it may be the first thing in the session
        self._agent.memory.note("custom", {"text": note}, REVIEW_NOTE)
        self._actor.publish(ToolUse(call, NAME, NAME.lower(), change.target.about, args, job=True))
        task = asyncio.get_running_loop().create_task(self._carried_out(call, change, member))
        begun = self._open[call] = BegunReview(call, change.target.about, member, task)
        self._session.track(_ended(task))
        return begun

    async def run(self, text: str) -> StreamedText:
        """Review, and return what was found, in words: its result has them for the views. Being cancelled stops it."""
        begun = await self.begin(text)
        try:
            result = await asyncio.shield(begun.result)
        except asyncio.CancelledError:
            await self._stop_all(begun)
            raise
        if result.is_error:
            ending = call_ending(result.details)
            how = "was stopped" if ending.ended else "has failed"
            raise OutsideFailure(f"the review of {begun.target} {how}", ending.problem)
        return StreamedText(result.content)

    def stop(self, call: str) -> bool:
        """False: it has ended."""
        begun = self._open.get(call)
        return begun is not None and self._team.directory.stop(begun.member)

    async def dismiss(self, call: str, finding: int, *, dismissed: bool) -> None:
        """Mark a finding as one that the user does not want to see; or no longer."""
        if not call.startswith(f"{self._session.id}-c") or not call.isascii() or not 1 <= finding <= _NUMBER_AT_MOST:
            raise UserMistake("there is no such finding")
        if self._dismissed is None:
            await self._session.fold_stored()
        if self._dismissed is None:
            stored = DismissedFindings.among(self._session.snapshot().state)
            self._dismissed = {} if stored is None else dict(stored.by_review)
        numbers = {*self._dismissed.pop(call, []), finding} - ({finding} if not dismissed else set())
        if numbers:
            self._dismissed[call] = sorted(numbers)
        for oldest in list(self._dismissed)[:-_REMEMBERED]:
            del self._dismissed[oldest]
        self._actor.publish(DismissedFindings(dict(self._dismissed)).as_state())

    async def close(self) -> None:
        await self._stop_all(*self._open.values())

    async def _stop_all(self, *reviews: BegunReview) -> None:
        """And wait for their ends. One that is just about to begin is stopped when it has begun."""
        while left := [begun for begun in reviews if not begun.result.done()]:
            for begun in left:
                self.stop(begun.call)
            await asyncio.wait([begun.result for begun in left], timeout=_SECONDS_BETWEEN_STOPS)

    @property
    def _cwd(self) -> str:
        return str(self._agent.workplace.cwd)

    def _may_read(self, path: str) -> bool:
        """Also what the agent would have to ask about because it is outside its folder: the user named the change."""
        decision = self._agent.permissions.policy.decide(Need("read", path))
        return decision.verdict == "allow" or (decision.verdict == "ask" and decision.outside)

    def _store(self, change: RepositoryChange, call: str) -> str:
        """The diff, as a file that the reviewer can read; its address. Empty, where it cannot be stored."""
        name = f"{call}.diff"
        data = self._agent.secrets.masked(change.diff).encode("utf-8", "replace")
        try:
            own = os.path.join(os.path.realpath(private_folder(self._agent.workplace.local)), _FOLDER)
            with suppress(FileExistsError):
                os.mkdir(own, 0o700)
            folder = folder_exactly(own)  # agents write there, too: a link in its place leads nowhere
            try:
                descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=folder)
            finally:
                os.close(folder)
            with open(descriptor, "wb") as opened:
                opened.write(data)
        except OSError:
            return ""
        return f"local://{_FOLDER}/{name}"

    def _refuse_where_none_can_begin(self) -> None:
        if self._session.stopping:
            raise UserMistake("the session is ending", "resume it when it has ended")
        if len(self._open) >= _AT_MOST:
            raise UserMistake(f"{_AT_MOST} reviews are running", "wait until one of them has ended")

    async def _carried_out(self, call: str, change: RepositoryChange, member: Member) -> ToolResult:
        began = time.monotonic()
        try:
            done = await self._team.directory.work(member, self._team.carry_out, call)
            fact = await asyncio.to_thread(review_fact, change, member, done, self._cwd)
            result = _result(call, fact, done if _has_reviewed(member, done) else _without_review(done))
        except Exception as error:
            log_bug("a review failed", error)
            result = ToolResult(call, f"unexpected {type(error).__name__} (this is a bug in sightline)", {}, True)
        finally:
            self._open.pop(call, None)
        result = msgspec.structs.replace(result, duration=round(time.monotonic() - began, 3))
        self._actor.publish(result)
        return result


def _has_reviewed(member: Member, done: AgentResult) -> bool:
    """Whether anything came of it. Another program hands nothing back: its words are its review."""
    return bool(done.failed or member.yielded or done.findings or (member.is_program and done.output.strip()))


def _without_review(done: AgentResult) -> AgentResult:
    return msgspec.structs.replace(done, error="the reviewer handed back no review", hint="try another model")


def _result(call: str, fact: ReviewFact, done: AgentResult) -> ToolResult:
    ended = f"failed: {done.failure}" if done.error else f"stopped ({done.aborted})" if done.aborted else ""
    aborted = done.aborted if done.aborted in ("cancelled", "timeout") else ""
    ending = CallEnding(ended=aborted, problem=done.failure)
    details = {**fact.as_details(), **ending.as_details()}
    return ToolResult(call, report_of(fact, ended), details, is_error=bool(ended))


def _parts(text: str) -> tuple[str, str]:
    """`main -- the locking`: what to review, and what to look at."""
    target, _, focus = f" {text.strip()} ".partition(" -- ")
    return target.strip(), focus.strip()


async def _ended(task: "asyncio.Task[ToolResult]") -> None:
    await asyncio.wait([task])
