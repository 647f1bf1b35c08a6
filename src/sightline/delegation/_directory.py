"""The agents of a session: which there are, what they do, and their lives.

    pending → running → idle → parked → (revived) running …
                    ↘ aborted

Rules:

- An agent is in one state at a time, and every change is published under its path.
- It works only while it has a place (`Bound`). One that waits for others gives its place away, and waits for one again.
- What ends well, or fails, leaves an idle agent, which takes more prompts. What is stopped for good is aborted.
- An idle agent is parked after a while: nothing is left of it but its files. A message, or the user, revives it.
- Nothing outlives the session: `close` stops everything, and returns when it has ended.
"""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Collection, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from itertools import islice
from typing import Literal, TypeVar

import msgspec

from sightline.actors import Actor
from sightline.agent import LEVELS
from sightline.agent._bugs import log_bug
from sightline.delegation._bound import Bound
from sightline.delegation._driver import Driver, DriverOutcome, How, Reader
from sightline.delegation._excerpt import excerpt
from sightline.delegation._isolation import Isolation
from sightline.delegation._mail_publisher import MailPublisher
from sightline.delegation._mailboxes import (
    MESSAGE_AT_MOST,
    NEVER_READ,
    Mail,
    Mailbox,
    MailNow,
    UserWords,
    mail_text,
    user_text,
)
from sightline.delegation._member import AgentResult, Member, failed_result, stopped_result
from sightline.delegation._names import ROOT, as_name, generated_name, unique_name
from sightline.delegation._record import AgentRecord, AgentShelf, Lifecycle
from sightline.delegation.definitions._definition import AgentDefinition
from sightline.delegation.definitions._discovery import AgentCatalogue
from sightline.events import Event, MailOutcome, MailReader, Notice, RunStarted, Usage
from sightline.exceptions import SightlineError, UserMistake
from sightline.journal import Busy
from sightline.settings import Approval, Settings
from sightline.text import clean_line, clean_text, cut_graphemes
from sightline.transcript import TranscriptMail

T = TypeVar("T")
CarryOut = Callable[[Member], Awaitable[AgentResult]]
OpenDriver = Callable[[Member, bool], Awaitable[Driver]]  # the second: it was there before
_IDLE_AT_MOST = 128  # agents: each has its journal open, so the longest idle are parked before their time
_LOST = "the session ended while it was working"
_NAMED = 50  # agents in a message
_SECONDS_BETWEEN_STOPS = 0.05
_NO_NAMES = frozenset((ROOT.lower(), "all", "you"))  # in messages they mean others: `you` is the user
_DESCRIPTION_AT_MOST = 200  # characters: the agents beside it read it
_ASSIGNMENT_AT_MOST = 256 * 1024  # characters, as of the context: a record with both can be read again
_is_mail_id = re.compile(r"m\d{1,9}").fullmatch


class SpawnRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One agent to be started. What is empty is as its definition, the session or the settings have it."""

    agent: str
    assignment: str
    definition: AgentDefinition | None = None  # one that no catalogue has: of a step that names none
    name: str = ""
    description: str = ""
    context: str = ""
    isolated: bool = False
    model: str = ""
    approval: Approval | None = None  # a cap, beside that of the definition
    cwd: str = ""
    timeout: float = 0.0
    options: dict[str, object] = {}  # of its provider
    is_review: bool = False  # as its record has it


class Delivery(msgspec.Struct, frozen=True):
    """What became of a message, for one of those it was sent to."""

    to: str
    outcome: MailOutcome
    error: str = ""


class SentMail(msgspec.Struct, frozen=True):
    """A message that was sent. Without an id there was no agent to send it to."""

    id: str = ""
    receipts: list[Delivery] = []


class AgentDirectory:
    """Used in the session's event loop only."""

    def __init__(
        self,
        root: Actor,
        shelf: AgentShelf,
        *,
        settings: Callable[[], Settings],
        catalogue: Callable[[], AgentCatalogue],
        open_driver: OpenDriver,
        isolate: Callable[[Member], Awaitable[Isolation]],
        hand_in: Callable[[Member, AgentResult], Awaitable[AgentResult]],
        root_reader: Reader,
    ) -> None:
        """`isolate`: opens the working copy of an agent. `hand_in`: merges it, when nothing of the agent runs any more.
        `root_reader`: gives words to the agent of the session."""
        self._root = root
        self._shelf = shelf
        self._settings = settings
        self._catalogue = catalogue
        self._open_driver = open_driver
        self._isolate = isolate
        self._hand_in = hand_in
        self._root_reader = root_reader
        self.bound = Bound(lambda: settings().task.max_concurrency)
        self._publisher = MailPublisher(root)
        self.root_mail = Mailbox(partial(self._mail_changed, None))
        self._announced_to_root: set[str] = set()  # messages that wait to join its run
        self._members: dict[str, Member] = {}
        self._listeners: list[Callable[[Member], object]] = []
        self._tasks: set[asyncio.Task[object]] = set()
        self._working: dict[str, asyncio.Task[AgentResult]] = {}
        self._waking: dict[str, asyncio.Task[None]] = {}  # those that wait for a place, or are being revived
        self._parking: dict[str, asyncio.TimerHandle] = {}
        self._saving = asyncio.Lock()
        self._closed = self._reported = False

    # Who there is

    @property
    def members(self) -> list[Member]:
        return list(self._members.values())

    @property
    def busy(self) -> bool:
        return bool(self._tasks)

    def get(self, id: str) -> Member:
        """By its id or path, in whatever case. UserMistake when there is none."""
        name = id.strip().replace("/", ".").lower()
        for member in self._members.values():
            if member.id.lower() == name:
                return member
        known = [*islice(self._members, _NAMED), *["…"] * (len(self._members) > _NAMED)]
        named = cut_graphemes(clean_line(id), _DESCRIPTION_AT_MOST)
        raise UserMistake(f"there is no agent {named}", f"agents of this session: {', '.join(known) or 'none'}")

    def at(self, path: str) -> Member | None:
        """The agent at a path, or the one it is below of: another program's own agents are not ours to address."""
        while path:
            if (member := self._members.get(path.replace("/", "."))) is not None:
                return member
            path = path.rpartition("/")[0]
        return None

    def definition(self, name: str) -> AgentDefinition:
        return self._catalogue().get(name)

    @property
    def definitions(self) -> dict[str, AgentDefinition]:
        return self._catalogue().agents

    def listen(self, callback: Callable[[Member], object]) -> Callable[[], None]:
        """Call this when something about an agent has changed. Returns how to stop that."""
        self._listeners.append(callback)
        return lambda: self._listeners.remove(callback)

    def load(self, shown: Callable[[], Collection[str]]) -> None:
        """The agents of a session that is resumed: all are parked. `shown`: the paths of those that published a state;
        one that was stored and never shown has not begun."""
        if records := self._shelf.records():
            paths = shown()
            for record in records:
                if record.path in paths:
                    self._members[record.id] = self._member(record, "aborted" if record.aborted else "parked")

    def load_mail(self, thread: Sequence[TranscriptMail]) -> None:
        """The messages of a session that is resumed. What was unread is unread again."""
        self._publisher.continue_after(thread)
        for mail in thread:
            for receipt in mail.receipts if not mail.by_user else ():
                if receipt.now != "unread":
                    continue
                reader, to = self._members.get(receipt.agent.replace("/", ".")), _name_of(receipt.agent)
                unread = Mail(mail.id, _name_of(mail.sender), to, mail.text, mail.reply_to, mail.time, mail.to_all)
                box = self.root_mail if not receipt.agent else None if reader is None else reader.mailbox
                if box is not None and not (reader is not None and reader.takes_nothing):
                    box.restore(unread)
                else:  # or it had not begun
                    self._publisher.changed(receipt.agent, [mail.id], "dropped", NEVER_READ)

    # Starting

    def allocate(self, request: SpawnRequest, parent: Member | None) -> Member:
        """A new agent, which does nothing yet. UserMistake for what may not be started."""
        if self._closed:
            raise UserMistake("the session is ending", "resume it to start agents")
        definition = _as_requested(request.definition or self._allowed(request.agent, parent), request)
        isolated = request.isolated or definition.isolated
        if isolated and self._settings().task.isolation == "off":  # it would change the files it was to leave alone
            raise UserMistake("no agent works in its own copy of the files (task.isolation is off)", "start another")
        above = f"{parent.id}." if parent is not None else ""
        taken = {id.lower() for id in (*self._members, *self._shelf.names())} | _NO_NAMES
        name = unique_name(f"{above}{as_name(request.name) or generated_name()}", taken)
        record = AgentRecord(
            id=name,
            definition=definition,
            parent="" if parent is None else parent.id,
            depth=1 if parent is None else parent.record.depth + 1,
            description=cut_graphemes(clean_line(self._masked(request.description)), _DESCRIPTION_AT_MOST),
            assignment=self._stored(request.assignment),
            context=self._stored(request.context),
            isolated=isolated,
            created=time.time(),
            is_review=request.is_review,
            is_step=request.definition is not None,
            cwd=request.cwd,
            timeout=request.timeout,
        )
        member = self._members[name] = self._member(record, "pending")
        member.options = request.options
        return member

    def _stored(self, text: str) -> str:
        """As it may be stored, and as the agent reads it: a prompt of ours is masked, too."""
        text = self._masked(text)
        if len(text) > _ASSIGNMENT_AT_MOST:
            what = f"an assignment, and its context, have at most {_ASSIGNMENT_AT_MOST:,} characters"
            raise UserMistake(what, "write the rest to a file, and name that")
        return text

    def _masked(self, text: str) -> str:
        return self._root.secrets.masked(clean_text(text))

    def _member(self, record: AgentRecord, state: Lifecycle) -> Member:
        def save(member: Member) -> None:
            self._track(background(self._save(member)))

        return Member(record, state, self._changed, save, self._mail_changed)

    def _allowed(self, name: str, parent: Member | None) -> AgentDefinition:
        settings = self._settings().task
        definition = self.definition(name)
        if name in settings.disabled:
            raise UserMistake(f"the agent {name} is disabled (task.disabled)", "use another one")
        if parent is None:
            return definition
        own = parent.record.definition
        if own.name == name:
            raise UserMistake(f"{name} may not start itself", "do the work, or start another agent")
        if parent.record.depth >= settings.max_depth:
            raise UserMistake(f"agents {settings.max_depth} levels down start no others", "do the work yourself")
        if not own.may_start(name):
            allowed = ", ".join(own.spawns) or "none"
            raise UserMistake(f"{own.name} may not start {name}", f"it may start: {allowed}")
        return definition

    def forget(self, member: Member) -> None:
        """One that was allocated and is not going to work."""
        if member.state == "pending" and member.actor is None:
            self._members.pop(member.id, None)

    async def work(self, member: Member, carry_out: CarryOut, call: str) -> AgentResult:
        """Let it work on its assignment, as soon as there is a place; returns what came of it.

        Being cancelled aborts it. A parent that waits here gives its own place away meanwhile."""
        task = background(self._work(member, carry_out, call))
        self._working[member.id] = task
        self._track(task)
        parent = self._members.get(member.record.parent)
        try:
            async with given_away(parent):
                await asyncio.wait([task])
        except asyncio.CancelledError:
            if not task.done():
                self.abort(member, "cancelled")
                await asyncio.wait([task])
            if task.cancelled():
                await self._never_began(member)
            raise
        return task.result() if not task.cancelled() else await self._never_began(member)

    async def _never_began(self, member: Member) -> AgentResult:
        """A task that is cancelled before its first step does nothing at all, so its end is seen to here."""
        self._working.pop(member.id, None)
        result = stopped_result(member, member.reason or "cancelled")
        await self._settle(member, result)
        return result

    async def _work(self, member: Member, carry_out: CarryOut, call: str) -> AgentResult:
        try:
            async with self.bound.place() as member.place:
                await self._begin(member, call)
                result = await carry_out(member)
        except asyncio.CancelledError:
            result = stopped_result(member, member.reason or "cancelled")
        except SightlineError as error:
            result = failed_result(member, error.message, error.hint)
        except Exception as error:
            result = failed_result(member, _why(error, "an agent failed"))
        finally:
            self._working.pop(member.id, None)
        if member.isolation is not None:
            result = await self._handed_in(member, result)
        await self._settle(member, result)
        return result

    async def _handed_in(self, member: Member, result: AgentResult) -> AgentResult:
        """To the end, even if its caller no longer waits: what it changed is stored before its copy is removed, or the
        copy stays."""
        isolation = member.isolation

        async def hand_in() -> AgentResult:
            await self._release(member)
            return await self._hand_in(member, result)

        task = background(hand_in())
        self._track(task)
        while not task.done():
            try:
                await asyncio.wait([task])
            except asyncio.CancelledError:
                if isolation is not None:
                    isolation.hurry()
        return task.result()

    async def _begin(self, member: Member, call: str) -> None:
        """It exists for the views from now on. It is stored before that: what is shown can be revived."""
        record = member.record
        await asyncio.to_thread(self._shelf.create, record.id)
        await self._save(member)
        member.actor = self._above(member).child(
            record.id.rpartition(".")[2],
            task=record.description or record.assignment,
            call=call,
            path=record.path,
            seen=partial(self._see, member),
        )
        member.become("running")
        member.may_continue = partial(self._continues, member)
        if record.isolated:
            member.isolation = await self._isolate(member)
            member.workplace = member.isolation.copy.kind
        member.driver = await self._open_driver(member, False)
        member.record = msgspec.structs.replace(member.record, model=member.driver.model)
        await self._save(member)
        member.publish()

    async def _settle(self, member: Member, result: AgentResult) -> None:
        if result.handed_in is not None and not member.reason:
            by_user = bool(result.aborted) and not result.error and not self._closed
            member.become("parked", failed=result.failed and not by_user, stopped=by_user)
            _drop_unread(member)
        elif member.reason or member.driver is None:  # without one it could not be started
            await self._end(member, result.aborted or result.failure)
        else:
            self._rest(member, stopped=bool(result.aborted), failed=bool(result.error))
        if member.actor is not None:
            await self._save(member)

    async def _end(self, member: Member, reason: str) -> None:
        """It takes no prompts any more, and for the views nothing more comes of it."""
        _drop_unread(member)
        await self._release(member)
        member.record = msgspec.structs.replace(member.record, aborted=True)
        member.become("aborted", reason)
        member.mailbox.drop_all()  # what came while it was released
        if member.actor is not None:
            self._above(member).end_child(member.actor, is_error=True, usage=_known(member.usage))

    def _above(self, member: Member) -> Actor:
        """The actor of the agent it works for."""
        parent = self._members.get(member.record.parent)
        return self._root if parent is None or parent.actor is None else parent.actor

    # Resting, waking, stopping

    def _rest(self, member: Member, *, stopped: bool = False, failed: bool = False) -> None:
        """`stopped`: by the user; what it has not read by then waits. `failed`: what it was to do."""
        member.stopping = False
        by_user = stopped and not failed and not self._closed
        member.become("idle" if member.driver is not None else "parked", failed=failed, stopped=by_user)
        member.announced.clear()
        if stopped or self._closed:
            _drop_words(member)
        elif member.words:
            self.wake(member, member.words.pop(0))
            return
        if member.mailbox.peek() and not stopped and not self._closed:
            self.wake(member, member.mailbox.take(member.mailbox.peek()[0].id))
            return
        if stopped and member.is_program and not self._closed:
            self._track(background(self.park(member)))  # nothing of another program is left when it was stopped
            return
        seconds = self._settings().task.idle_seconds
        if seconds and member.driver is not None and not self._closed:
            later = asyncio.get_running_loop().call_later
            self._parking[member.id] = later(seconds, lambda: self._track(background(self.park(member))))
        self._park_oldest()

    def _park_oldest(self) -> None:
        idle = sorted((each for each in self.members if each.state == "idle"), key=lambda each: each.active)
        for member in idle[: max(len(idle) - _IDLE_AT_MOST, 0)] if not self._closed else ():
            self._track(background(self.park(member)))

    async def park(self, member: Member) -> None:
        """Leave nothing of it but its files. One that works is left alone."""
        self._unpark_later(member)
        if member.state == "idle":
            member.become("parked", failed=member.failed, stopped=member.stopped)
            await self._release(member)

    def wake(self, member: Member, given: Mail | UserWords | None = None) -> MailOutcome:
        """Give an agent that rests something to do, in the background: the user's words, or a message. None: it has
        something already."""
        self._refuse_over(member)
        revived = member.state == "parked"
        self._unpark_later(member)
        member.become("running")
        task = self._waking[member.id] = background(self._woken(member, given))
        task.add_done_callback(lambda task: self._never_woke(member, given) if task.cancelled() else None)
        self._track(task)
        return "revived" if revived else "woken"

    def _refuse_over(self, member: Member) -> None:
        """UserMistake for one that takes nothing any more."""
        if member.state == "aborted":
            raise UserMistake(f"{member.id} was stopped: {member.reason or 'cancelled'}", "start another agent")
        if member.is_over:
            raise UserMistake(f"{member.id} worked in its own copy of the files, which is gone", "start another agent")
        if self._closed:
            raise UserMistake("the session is ending", "resume it when it has ended")

    def _never_woke(self, member: Member, given: Mail | UserWords | None) -> None:
        """As `_never_began`: it was stopped before it had begun to wake."""
        self._waking.pop(member.id, None)
        _return(member, given)
        if member.reason:
            self._track(background(self._settle_woken(member)))
        else:
            self._rest(member, stopped=True)

    async def _woken(self, member: Member, given: Mail | UserWords | None) -> None:
        began, mail = False, given if isinstance(given, Mail) else None
        try:
            async with self.bound.place() as member.place:
                driver = member.driver or await self._revive(member)
                self._waking.pop(member.id, None)
                began = True
                running = asyncio.ensure_future(_begun(driver, member, given))
                await asyncio.sleep(0)  # it works from here on
                self._announce(member)
                outcome = await running
        except asyncio.CancelledError:
            self._waking.pop(member.id, None)  # it is stopped once
            await self._settle_woken(member)
        except Exception as error:
            why = clean_line(_why(error, "an agent could not be woken"))
            member.become("parked", why, failed=True)
            _drop_words(member)
            await self._release(member)
            self._answer_mail(member, mail, why)
        else:
            self._answer_mail(member, mail, outcome.text or outcome.failure)
            await self._settle_woken(member, stopped=bool(outcome.stopped), failed=bool(outcome.error))
        finally:
            if self._waking.get(member.id) is asyncio.current_task():  # it may have been woken again by now
                del self._waking[member.id]
            if not began:
                _return(member, given)

    async def _settle_woken(self, member: Member, *, stopped: bool = True, failed: bool = False) -> None:
        """As `_settle`, for one that had no task."""
        if member.reason:
            await self._end(member, member.reason)
        else:
            self._rest(member, stopped=stopped, failed=failed)
        if member.actor is not None:
            await self._save(member)

    async def _revive(self, member: Member) -> Driver:
        if member.actor is None:
            member.actor = self._root.resumed_child(member.path, partial(self._see, member))
            member.publish()  # that it is running: it had no actor yet
        member.may_continue = partial(self._continues, member)
        async with member.opening:  # what it had open may still be closing
            member.driver = await self._open_driver(member, True)
        return member.driver

    def _answer_mail(self, member: Member, mail: Mail | None, words: str) -> None:
        """Another program has no `irc`: its words after a message are the answer to it."""
        if mail is not None and member.is_program:
            self._send_answer(member, mail, words)

    def _continues(self, member: Member) -> bool:
        """Of another program: it works again by itself. False: what it does is not going to be read now."""
        if self._closed or member.state != "idle":
            return False
        self.wake(member)
        return True

    def stop(self, member: Member) -> bool:
        """Stop what it does and those below it; it stays, and takes more prompts. False: it does nothing."""
        stopped = False
        for each in self._with_below(member):
            if each.state == "running" and each.driver is not None and each.driver.busy:
                each.stopping = True
                each.driver.stop("cancelled")
                stopped = True
            elif (task := self._working.get(each.id)) is not None:  # it waits for a place, or is being started
                each.reason = "cancelled"
                task.cancel()
                stopped = True
            elif (waking := self._waking.get(each.id)) is not None:
                waking.cancel()
                stopped = True
        return stopped

    def stop_all(self) -> None:
        """Stop what every agent does: they stay, and take more prompts."""
        for member in self.members:
            self.stop(member)

    def abort(self, member: Member, reason: str) -> None:
        """End it and those below it, for good."""
        for each in self._with_below(member):
            task = self._working.get(each.id)
            if each.state in ("aborted", "parked") or (task is None and each.state == "idle"):
                continue
            each.reason, each.stopping = reason, True
            if each.driver is not None and each.driver.busy:
                each.driver.stop("timeout" if reason == "timeout" else "cancelled")
            elif task is not None:  # it waits for a place, or is being started
                task.cancel()
            elif (waking := self._waking.get(each.id)) is not None:
                waking.cancel()

    def _with_below(self, member: Member) -> list[Member]:
        below = f"{member.id}."
        return [member, *(each for id, each in self._members.items() if id.startswith(below))]

    def answer(self, request: str, answer: object) -> bool:
        """Answer a request of any agent."""
        return any(each.driver is not None and each.driver.answer(request, answer) for each in self.members)

    def level_changed(self) -> None:
        for member in self.members:
            if member.driver is not None:
                member.driver.level_changed()

    def cancel_call(self, id: str) -> bool:
        return any(each.driver is not None and each.driver.cancel_call(id) for each in self.members)

    def give_up_requests(self) -> bool:
        """No user is going to answer."""
        given_up = [each.driver.give_up() for each in self.members if each.driver is not None]
        return any(given_up)

    # Mail

    def send(self, sender: Member | None, to: str, text: str, reply_to: str = "") -> Delivery:
        """Give a message to one agent. It never waits for what that does with it."""
        return self.send_to(sender, [to], text, reply_to).receipts[0]

    def send_to(
        self, sender: Member | None, names: Sequence[str], text: str, reply_to: str = "", *, to_all: bool = False
    ) -> SentMail:
        """The same for one message to several. `to_all`: its readers read that it is."""
        if not names:
            return SentMail()
        whole = "the sender has it" if sender is None else f"history://{sender.id}"
        text, reply_to = excerpt(clean_text(text), MESSAGE_AT_MOST, whole), _mail_id(reply_to)
        receipts: list[Delivery] = []
        readers: list[MailReader] = []
        with self._publisher.sending() as id:
            mail = Mail(id, ROOT if sender is None else sender.id, "", text, reply_to, time.time(), to_all)
            for name in names:
                receipt, reader = self._sent(mail, sender, name)
                receipts.append(receipt)
                readers.append(reader)
        path = "" if sender is None else sender.path
        self._publisher.sent(id, path, text, readers, to_all=to_all, reply_to=reply_to)
        return SentMail(id, receipts)

    def _sent(self, mail: Mail, sender: Member | None, to: str) -> tuple[Delivery, MailReader]:
        try:
            reader = None if to.lower() == ROOT.lower() else self.get(to)
            if reader is sender:
                raise UserMistake("an agent sends no message to itself")
            if reader is not None and reader.state == "aborted":
                raise UserMistake(f"{reader.id} was stopped: {reader.reason or 'cancelled'}")
            if reader is not None and reader.is_over:
                raise UserMistake(f"{reader.id} worked in its own copy of the files, which is gone")
            name, path, box = (ROOT, "", self.root_mail) if reader is None else (reader.id, reader.path, reader.mailbox)
            outcome = self._deliver(msgspec.structs.replace(mail, to=name), reader)
            return Delivery(name, outcome), MailReader(path, outcome, unread=box.is_unread(mail.id))
        except SightlineError as error:
            called = cut_graphemes(clean_line(to), _DESCRIPTION_AT_MOST)
            return Delivery(to, "failed", error.message), MailReader(called, "failed", error.message)

    def _deliver(self, mail: Mail, reader: Member | None) -> MailOutcome:
        box = self.root_mail if reader is None else reader.mailbox
        if box.put(mail):
            return "delivered"  # a call of it waited for this
        if reader is None:
            outcome: MailOutcome = "delivered" if self._root_reader.busy else "woken"
            self._announce_to_root()
            return outcome
        if reader.state in ("idle", "parked"):
            return self.wake(reader, box.take(mail.id))
        self._announce(reader)
        return "delivered"

    def _mail_changed(self, reader: Member | None, mails: Sequence[Mail], now: MailNow, error: str) -> None:
        self._publisher.changed("" if reader is None else reader.path, [mail.id for mail in mails], now, error)

    async def write(
        self,
        readers: Sequence[Member | None],
        text: str,
        how: How = "prompt",
        *,
        reply_to: str = "",
        to_all: bool = False,
    ) -> SentMail:
        """The user's words, as a message to these; None is the agent of the session. To one that takes none it is a
        UserMistake; of several only that one fails."""
        if not text.strip():
            raise UserMistake("the prompt is empty", "write what the agent should do")
        reply_to = _mail_id(reply_to)
        taking: list[Member | None] = []
        seen: list[MailReader] = []
        for reader in readers:
            path = "" if reader is None else reader.path
            try:
                seen.append(MailReader(path, self._takes_words(reader), unread=True))
                taking.append(reader)
            except UserMistake as mistake:
                if not to_all:
                    raise
                seen.append(MailReader(path, "failed", mistake.message))
        with self._publisher.sending() as id:
            self._publisher.written(id, clean_text(text), seen, to_all=to_all, reply_to=reply_to)
        words = user_text(text, reply_to, to_all=to_all)
        for reader in taking:
            dropped = partial(
                self._publisher.changed, "" if reader is None else reader.path, [id], "dropped", NEVER_READ
            )
            try:
                await self._give(reader, UserWords(words, id, how, dropped))
            except SightlineError:
                dropped()
                if not to_all:
                    raise
        return SentMail(id, [Delivery(_name_of(each.agent), each.outcome, each.error) for each in seen])

    def _takes_words(self, reader: Member | None) -> MailOutcome:
        """What becomes of the user's words; UserMistake where it takes none."""
        if reader is None:
            return "delivered" if self._root_reader.busy else "woken"
        if reader.state in ("pending", "running"):
            return "delivered"
        self._refuse_over(reader)
        return "revived" if reader.state == "parked" else "woken"

    async def _give(self, reader: Member | None, words: UserWords) -> None:
        if reader is None:
            await self._root_reader.prompt(words.text, how=words.how, mail=words.mail, on_dropped=words.on_dropped)
        elif self._takes_words(reader) != "delivered":
            self.wake(reader, words)
        elif reader.driver is not None and reader.driver.busy:
            how: How = "steer" if words.how == "prompt" else words.how
            await reader.driver.prompt(words.text, how=how, mail=words.mail, on_dropped=words.on_dropped)
        else:  # its run is about to begin
            reader.words.append(words)

    async def _give_all(self, reader: Member, words: list[UserWords]) -> None:
        """A run has begun for which these waited; it may be over by now."""
        for each in words:
            try:
                await self._give(reader, each)
            except SightlineError:
                each.on_dropped()

    def _see(self, member: Member, event: Event) -> None:
        member.see(event)
        if isinstance(event, RunStarted):  # what came before it began, too
            asyncio.get_running_loop().call_soon(self._announce, member)

    def _announce(self, member: Member) -> None:
        """What it has not read joins its run. Without one it waits, until it works or rests."""
        driver, box = member.driver, member.mailbox
        if driver is None or not driver.busy or member.stopping:  # a message must not start it again
            return
        if member.words:
            words, member.words = member.words, []
            self._track(background(self._give_all(member, words)))
        for mail in box.peek():
            if mail.id not in member.announced:
                member.announced.add(mail.id)
                driver.inform(
                    _mail_text_for(member, mail),
                    mail=mail.id,
                    unless=partial(_is_read, box, mail.id),
                    on_read=partial(box.take, mail.id),
                    on_answer=partial(self._send_answer, member, mail),
                )

    def root_begun(self) -> None:
        """The agent of the session works: what it has not read joins its run."""
        if self.root_mail.peek():
            self._announce_to_root()

    def root_rests(self) -> None:
        """What had not joined the run by its end is announced with the next one."""
        self._announced_to_root.clear()

    def _announce_to_root(self) -> None:
        box = self.root_mail
        for mail in box.peek():
            if mail.id not in self._announced_to_root:
                self._announced_to_root.add(mail.id)
                self._root_reader.inform(
                    mail_text(mail),
                    mail=mail.id,
                    unless=partial(_is_read, box, mail.id),
                    on_read=partial(box.take, mail.id),
                    on_answer=lambda answer: None,
                )

    def _send_answer(self, member: Member, mail: Mail, text: str) -> None:
        """Of another program, which cannot send it by itself. An answer to an answer of such a one is not sent: the two
        would never end."""
        sender = self._members.get(mail.sender)
        is_answer = bool(mail.reply_to and sender is not None and sender.is_program)
        if text.strip() and not is_answer and not self._closed:
            self.send(member, mail.sender, text, mail.id)

    def peers(self, of: Member | None, *, live: bool = False) -> list[Member]:
        """All others that can be sent something. `live`: without those that would have to be revived."""
        states = ("pending", "running", "idle") if live else ("pending", "running", "idle", "parked")
        return [each for each in self.members if each is not of and each.state in states and not each.is_over]

    # The end

    async def settled(self) -> None:
        """Return when one of those that work has ended, or at once where none does."""
        if self._tasks:
            await asyncio.wait(list(self._tasks), return_when="FIRST_COMPLETED")

    async def close(self) -> None:
        """Stop everything, and return when it has ended."""
        self._closed = True
        for handle in self._parking.values():
            handle.cancel()
        while self._tasks:  # one that is just about to begin is stopped when it has begun
            self._stop_for_the_end()
            await asyncio.wait(list(self._tasks), timeout=_SECONDS_BETWEEN_STOPS)
        for member in self.members:
            await self._release(member)
            if member.state in ("running", "idle", "pending"):
                member.become("parked", _LOST if member.state == "running" else "")

    def _stop_for_the_end(self) -> None:
        """Unlike `stop`, this aborts none of them: they can be revived when the session is resumed."""
        for member in self.members:
            if member.driver is not None and member.driver.busy:
                member.driver.stop("cancelled")
            elif (task := self._working.get(member.id)) is not None:
                task.cancel()
            if (waking := self._waking.get(member.id)) is not None:
                waking.cancel()

    async def _save(self, member: Member) -> None:
        """One after the other. Where it cannot be stored the agent works on, and that is reported once."""
        async with self._saving:
            try:
                await asyncio.to_thread(self._shelf.save, member.record)
            except OSError as error:
                if not self._reported:
                    self._reported = True
                    text = f"agents cannot be stored: {error.strerror or error}"
                    self._root.publish(Notice(text, "warning", "after the session has ended they cannot be revived"))

    async def _release(self, member: Member) -> None:
        driver, member.driver = member.driver, None
        if driver is not None:
            async with member.opening:
                await driver.close()
        if member.actor is not None:
            member.actor.close()

    def _unpark_later(self, member: Member) -> None:
        if (handle := self._parking.pop(member.id, None)) is not None:
            handle.cancel()

    def _track(self, task: "asyncio.Task[object]") -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _changed(self, member: Member) -> None:
        for listener in list(self._listeners):
            listener(member)


def given_away(member: Member | None) -> AbstractAsyncContextManager[None]:
    """While an agent waits for another; None: the agent of the session, which needs no place."""
    return nullcontext() if member is None or member.place is None else member.place.given_away()


def background(work: Coroutine[object, object, T]) -> "asyncio.Task[T]":
    return asyncio.get_running_loop().create_task(work)


def _begun(driver: Driver, member: Member, given: Mail | UserWords | None) -> Awaitable[DriverOutcome]:
    match given:
        case Mail():
            return driver.run(_mail_text_for(member, given), origin="irc", mail=given.id)
        case UserWords():
            return driver.run(given.text, origin="", mail=given.mail, on_dropped=given.on_dropped)
        case None:
            return driver.run("", origin="")


def _drop_words(member: Member) -> None:
    """No run is going to begin for which these waited."""
    words, member.words = member.words, []
    for each in words:
        each.on_dropped()


def _drop_unread(member: Member) -> None:
    """It takes nothing any more."""
    _drop_words(member)
    member.mailbox.drop_all()


def _return(member: Member, given: Mail | UserWords | None) -> None:
    """It was not read."""
    if isinstance(given, Mail):
        member.mailbox.put_back(given)
        if member.takes_nothing:
            member.mailbox.drop_all()
    elif given is not None:
        given.on_dropped()


def _name_of(path: str) -> str:
    """How messages name the agent at a path."""
    return path.replace("/", ".") or ROOT


def _mail_id(text: str) -> str:
    """What a message answers, where it is the id of one."""
    return text if _is_mail_id(text) else ""


def _is_read(box: Mailbox, id: str) -> bool:
    return not box.is_unread(id)


def _mail_text_for(member: Member, mail: Mail) -> str:
    if member.is_program:
        return mail_text(mail, f"your last message is sent to {mail.sender} as the answer")
    return mail_text(mail, "" if member.has_irc else "you have no irc, so that you cannot answer it")


def _why(error: Exception, where: str) -> str:
    """Why an agent failed, for the one that waits for it."""
    if isinstance(error, SightlineError):
        return f"{error.message}; {error.hint}" if error.hint else error.message
    if isinstance(error, Busy):
        return "its journal is in use by another process"
    if isinstance(error, OSError):
        return f"a system call failed: {error.strerror or str(error) or type(error).__name__}"
    log_bug(where, error)
    return f"unexpected {type(error).__name__}: {error} (this is a bug in sightline)"


def _known(usage: Usage) -> Usage | None:
    return None if usage == Usage() else usage


def _as_requested(definition: AgentDefinition, request: SpawnRequest) -> AgentDefinition:
    caps = [cap for cap in (definition.approval, request.approval) if cap]
    cap: Literal["", "plan", "edit", "auto", "full"] = min(caps, key=LEVELS.index) if caps else ""
    return msgspec.structs.replace(definition, model=request.model or definition.model, approval=cap)
