"""Events in, state out, nothing else: no clock, no I/O, and the same events always give the same state.

A `state` is about the agent whose path it has; one of a path that was never announced is dropped. Whether a subagent
is running follows its own runs and what it publishes about itself (`AgentState`); of a provider's subagent, which
publishes nothing, only its start and its end.
"""

from collections.abc import Iterable
from copy import copy
from typing import Literal, TypeVar

import msgspec
from msgspec.structs import replace

from sightline.events import (
    AgentEnded,
    AgentStarted,
    AgentState,
    BranchState,
    CompactionState,
    Error,
    Event,
    JobsState,
    MailChanged,
    MailSent,
    ModelState,
    Notice,
    QueueState,
    Reasoning,
    Request,
    RequestResolved,
    RetryState,
    RunEnded,
    RunStarted,
    State,
    Text,
    ToolArgs,
    ToolConnection,
    ToolOutput,
    ToolResult,
    ToolUpdate,
    ToolUse,
    TurnEnded,
    Unknown,
    User,
    call_ending,
    handlers_of,
)
from sightline.transcript._repair import parked
from sightline.transcript._state import (
    ENDED_TAIL,
    HOSTS,
    OUTPUT_TAIL,
    Entry,
    MailReceipt,
    Reached,
    Remark,
    Snapshot,
    Total,
    TranscriptAgent,
    TranscriptCall,
    TranscriptMail,
    TranscriptMessage,
    TranscriptPiece,
    TranscriptRun,
    TranscriptText,
)

_JOINED_TO = 2048
_LOOKED_BACK = 50  # entries among which a call may be that asks without its name
_WHILE_HOST_RUNS = (QueueState.KEY, JobsState.KEY, RetryState.KEY, CompactionState.KEY)
_NOT_TIMED = frozenset(("host", "unfinished"))  # when it ended is not known, or it never began
C = TypeVar("C", bound=Entry | TranscriptAgent)
E = TypeVar("E", TranscriptMessage, TranscriptText, TranscriptCall, Remark)


class Transcript:
    """The fold in progress. `apply` each event once, in order; `Transcript(snapshot)` resumes from a `snapshot`."""

    def __init__(self, snapshot: Snapshot | None = None) -> None:
        self._begin_with(Snapshot() if snapshot is None else snapshot)

    def _begin_with(self, snapshot: Snapshot) -> None:
        self.now = snapshot
        self._words: dict[tuple[str, int, bool], TranscriptText] = {}
        self._calls: dict[str, TranscriptCall] = {}
        self._held: dict[str, int] = {}  # characters in the tails of running calls
        self._waiting: dict[str, TranscriptCall] = {}  # by the request whose answer they wait for
        self._mail = {mail.id: number for number, mail in enumerate(snapshot.mail)}
        for entry in self.now.entries:
            self._index(entry)

    def apply(self, event: Event) -> Entry | None:
        """The entry the event began or changed, if it did either."""
        if event.seq:
            self.now.seq = event.seq
        handler = _HANDLERS.get(type(event))
        if handler is None:  # a kind this fold does not know changes nothing
            return None
        entry: Entry | None = handler(self, event)
        return entry

    def snapshot(self) -> Snapshot:
        """A copy that later events do not change. What they replace, but never change, is shared: a copy of a long
        session must not hold up the loop."""
        now = self.now
        return replace(
            now,
            entries=[copied(entry) for entry in now.entries],
            agents={path: copied(agent) for path, agent in now.agents.items()},
            totals={path: copy(total) for path, total in now.totals.items()},
            requests=dict(now.requests),
            state=dict(now.state),
            ranges=list(now.ranges),
            mail=list(now.mail),
            unread=dict(now.unread),
        )

    def catch_up(self, later: Snapshot) -> list[Entry] | None:
        """Continue from a later state of the same conversation. The entries that are new or changed; those that were
        known stay the same objects, and so does the table of agents. None when it is another conversation."""
        now = self.now
        if not now.seq <= later.seq or (now.branched, now.ranges) != (later.branched, later.ranges):
            return None
        known = {_key(entry): entry for entry in now.entries}
        if not known.keys() <= {_key(entry) for entry in later.entries}:
            return None
        missed = [_updated(known.get(_key(entry)), entry) for entry in later.entries]
        now.agents.clear()
        now.agents.update(later.agents)
        merged = replace(later, entries=[entry for entry, _ in missed], agents=now.agents)
        self._begin_with(merged)
        return [entry for entry, changed in missed if changed]

    def lose_host(self, time: float = 0.0) -> None:
        """The host is gone: nothing is under way any more, and nothing waits for an answer. `time`: when that was
        seen."""
        self.now.running = False
        self.now.requests.clear()
        for state in (self.now.state, *(agent.state for agent in self.now.agents.values())):
            for key in _WHILE_HOST_RUNS:
                state.pop(key, None)
        for agent in self.now.agents.values():
            fact = agent.fact and parked(agent.fact)
            if fact is not None:
                agent.stand(fact, self.now.seq, time)

    @property
    def text(self) -> str:
        """The words of the root agent, joined as they are."""
        entries = self.now.entries
        return "".join(e.text for e in entries if isinstance(e, TranscriptText) and not e.reasoning and not e.agent)

    def _index(self, entry: Entry) -> None:
        if isinstance(entry, TranscriptText):
            self._words[entry.agent, entry.block, entry.reasoning] = entry
        elif isinstance(entry, TranscriptCall):
            self._calls[entry.id] = entry
            if entry.request:
                self._waiting[entry.request] = entry

    def _add(self, entry: E) -> E:
        self.now.entries.append(entry)
        self._index(entry)
        return entry

    def _call(
        self, event: ToolUse | ToolArgs | ToolOutput | ToolUpdate | ToolConnection | ToolResult, name: str = ""
    ) -> TranscriptCall:
        """The call an event belongs to; one whose beginning was never seen begins here."""
        call = self._calls.get(event.id)
        if call is None:
            call = self._add(TranscriptCall(event.agent, event.id, name, seq=event.seq))
        return call

    def _on_text(self, event: Text | Reasoning) -> TranscriptText:
        reasoning = isinstance(event, Reasoning)
        words = self._words.get((event.agent, event.block, reasoning))
        if words is None:
            return self._add(TranscriptText(event.agent, event.block, event.text, reasoning, event.seq))
        words.text += event.text
        return words

    _on_reasoning = _on_text

    def _on_user(self, event: User) -> TranscriptMessage:
        source = "" if event.source == "person" else event.source
        message = TranscriptMessage(event.agent, event.text, event.how, event.seq, event.attachments, source)
        message.left_out_lines, message.job = event.left_out_lines, event.job
        if event.mail:
            self._on_mail_read(event, message)
        return self._add(message)

    def _on_mail_read(self, event: User, message: TranscriptMessage) -> None:
        """A message is in the conversation of a reader: it shows what was sent, not what is around it."""
        message.mail = event.mail
        if event.mail in self._mail:
            mail = self.now.mail[self._mail[event.mail]]
            message.text, message.sender, message.reply_to = mail.text, mail.sender, mail.reply_to
            self._mail_became(event.mail, event.agent, "read", event.seq)

    def _on_mail_sent(self, event: MailSent) -> None:
        mail = TranscriptMail(
            event.id,
            event.seq,
            event.time,
            event.agent,
            event.source == "person",
            event.text,
            tuple(MailReceipt.of(reader, event.seq) for reader in event.readers),
            event.to_all,
            event.reply_to,
        )
        self._mail[event.id] = len(self.now.mail)
        self.now.mail.append(mail)
        for receipt in mail.receipts if not mail.by_user else ():
            self._count_unread(receipt.agent, receipt.now == "unread")

    def _count_unread(self, reader: str, more: int) -> None:
        """The user's words are not among them: they wait for the next step of their reader, not in its mailbox."""
        count = self.now.unread.get(reader, 0) + more
        self.now.unread[reader] = count
        if not count:
            del self.now.unread[reader]

    def _on_mail_changed(self, event: MailChanged) -> None:
        for id in event.ids:
            self._mail_became(id, event.agent, event.now, event.seq, event.error)

    def _mail_became(
        self, id: str, reader: str, now: Literal["unread", "read", "dropped"], seq: int, error: str = ""
    ) -> None:
        """One that is not known here changes nothing."""
        if (at := self._mail.get(id)) is None:
            return
        mail = self.now.mail[at]
        receipts = []
        for each in mail.receipts:
            if each.agent == reader and each.now not in ("failed", now):
                if not mail.by_user:
                    self._count_unread(reader, (now == "unread") - (each.now == "unread"))
                each = replace(each, now=now, seq=seq, error=error)
            receipts.append(each)
        self.now.mail[at] = replace(mail, receipts=tuple(receipts))

    def _on_tool_use(self, event: ToolUse) -> TranscriptCall:
        call = self._call(event, event.name)
        call.name, call.native_name, call.arg, call.args = event.name, event.native_name, event.arg, event.args
        call.began, call.source = event.time, event.source
        call.is_job = event.job or event.arg == f"job {event.id}"  # as journals had it before there was a field
        call.written = ""
        for id, request in self.now.requests.items():
            if _call_in(request.get("details")) == event.id:  # the request came before the call's own event
                self._wait(call, id, event.time)
        return call

    def _on_tool_args(self, event: ToolArgs) -> TranscriptCall:
        call = self._call(event, event.name)
        call.native_name = call.native_name or event.native_name
        call.written += event.delta
        return call

    def _on_tool_output(self, event: ToolOutput) -> TranscriptCall:
        call = self._call(event)
        call.updates += 1
        if event.stream == "status":
            call.status, call.silent = event.content, event.silent
            return call
        call.status, call.heard = "", event.time
        call.received = max(call.received, event.offset + event.size)
        _add_piece(call.pieces, event)
        held = self._held.get(event.id)
        held = _length(call) if held is None else held + len(event.content)
        if held > OUTPUT_TAIL:
            held = _trim_tail(call, held, OUTPUT_TAIL)
        self._held[event.id] = held
        return call

    def _on_tool_update(self, event: ToolUpdate) -> TranscriptCall:
        call = self._call(event)
        call.details = event.details
        call.updates += 1
        return call

    def _on_tool_connection(self, event: ToolConnection) -> TranscriptCall | Remark | None:
        host = f"[{event.host}]" if ":" in event.host else event.host
        name = f"{host}:{event.port}"
        if not event.id:
            if event.duration is None:
                return None
            words = f"a command of several that ran connected to {name}: {event.verdict}"
            return self._add(Remark(event.agent, "info", words, event.reason, event.seq))
        call = self._call(event)
        call.updates += 1
        call.network_more += event.more
        known = call.network.get(name)
        if known is None and len(call.network) >= HOSTS:
            call.network_more += event.duration is not None
            return call
        known = known or Reached(event.verdict)
        call.network[name] = Reached(
            event.verdict,
            known.count + (event.duration is not None),
            known.sent + (event.sent if event.duration is not None else 0),
            known.received + (event.received if event.duration is not None else 0),
            known.reason if event.duration is None else event.reason,
        )
        return call

    def _on_tool_result(self, event: ToolResult) -> TranscriptCall:
        call = self._call(event)
        call.content, call.is_error = event.content, event.is_error
        self._answered(call.request, event.time)
        call.exit_code, call.duration = event.exit_code, _own_time(call, event)
        if event.details is not None:
            call.details = event.details
        call.status = ""
        call.updates += 1
        self._held.pop(event.id, None)
        _trim_tail(call, _length(call), ENDED_TAIL)
        if call.is_job:
            self._move_to_end(call, event.seq)
        return call

    def _move_to_end(self, call: TranscriptCall, seq: int) -> None:
        """Move a job that ended to the end of the conversation: that is its place there."""
        entries = self.now.entries
        at = next(number for number in range(len(entries) - 1, -1, -1) if entries[number] is call)
        entries.append(entries.pop(at))
        call.seq = seq

    def _total(self, agent: str) -> Total:
        return self.now.totals.setdefault(agent, Total())

    def _on_turn_ended(self, event: TurnEnded) -> None:
        self._total(event.agent).turn(event.usage, event.cost)

    def _on_run_started(self, event: RunStarted) -> None:
        self._total(event.agent).began()
        if event.agent:
            self._begin_agent_run(event)
            return
        now = self.now
        now.running, now.stop_reason, now.began = True, "", event.time
        now.session, now.model = event.session or now.session, event.model or now.model

    def _begin_agent_run(self, event: RunStarted) -> None:
        agent = self.now.agents.get(event.agent)
        if agent is None:
            return
        agent.runs.append(TranscriptRun(event.seq, event.time))
        if agent.fact is not None:
            agent.is_error = False
            agent.work()

    def _on_run_ended(self, event: RunEnded) -> Remark | None:
        self._total(event.agent).ended(event.usage, event.cost)
        if event.agent:
            self._end_agent_run(event)
            return None
        now = self.now
        now.running, now.stop_reason = False, event.stop_reason
        now.usage, now.cost = event.usage, event.cost
        # That the answer was cut off there cannot be seen from its text alone.
        return self._add(Remark("", "info", "stopped", "", event.seq)) if event.stop_reason == "cancelled" else None

    def _end_agent_run(self, event: RunEnded) -> None:
        agent = self.now.agents.get(event.agent)
        if agent is None:
            return
        agent.end_run(event.seq, event.time, is_error=event.is_error)
        if agent.fact is not None:
            agent.is_error = event.is_error
            agent.rest(event.time)

    def _on_agent_started(self, event: AgentStarted) -> None:
        agent = self.now.agents.get(event.path)
        if agent is not None and agent.fact is not None:  # it is revived: what is known of it stays
            agent.name, agent.task = event.name or agent.name, event.task or agent.task
            agent.call = event.call or agent.call
        else:
            path, parent = event.path, event.agent
            agent = TranscriptAgent(path, parent, event.name, event.task, call=event.call, started=event.time)
            agent.aside = event.aside
            self.now.agents[path] = agent
        if event.model:
            agent.state[ModelState.KEY] = event.model
        self._total(event.path).began()

    def _on_agent_ended(self, event: AgentEnded) -> None:
        agent = self.now.agents.get(event.path)
        if agent is not None:
            agent.end_run(event.seq, event.time, is_error=event.is_error, then="ended")
            agent.running, agent.is_error = False, event.is_error
            agent.ended, agent.usage = event.time, event.usage
        self._total(event.path).ended(event.usage, None)

    def _on_request(self, event: Request) -> None:
        self.now.requests[event.id] = msgspec.to_builtins(event)
        call = self._asking(event)
        if call is not None:
            self._wait(call, event.id, event.time)

    def _on_request_resolved(self, event: RequestResolved) -> None:
        self.now.requests.pop(event.id, None)
        self._answered(event.id, event.time)

    def _asking(self, event: Request) -> TranscriptCall | None:
        """The call that waits for the answer: the one that is named, else the only one it can be."""
        if named := _call_in(event.details):
            return self._calls.get(named)
        calls = [
            e for e in self.now.entries[-_LOOKED_BACK:] if isinstance(e, TranscriptCall) and e.agent == event.agent
        ]
        able = [call for call in calls if call.content is None and not (call.by_user or call.is_job)]
        return able[0] if len(able) == 1 else None

    def _wait(self, call: TranscriptCall, request: str, since: float) -> None:
        if not call.request and call.content is None:
            call.request, call.request_at = request, since
            self._waiting[request] = call

    def _answered(self, request: str, at: float) -> None:
        call = self._waiting.pop(request, None)
        if call is not None:
            call.waited += max(at - max(call.request_at, call.began), 0.0)
            call.request, call.request_at = "", 0.0

    def _on_state(self, event: State) -> None:
        if event.agent:
            self._on_agent_state(event)
            return
        self.now.state[event.key] = event.value
        if event.key == BranchState.KEY:
            branch = BranchState.of(event.value)
            if branch is not None:  # a value that does not fit changes nothing
                self.now.ranges, self.now.branched = sorted(branch.ranges), event.seq

    def _on_agent_state(self, event: State) -> None:
        agent = self.now.agents.get(event.agent)
        if agent is None:
            return
        fact = AgentState.of(event.value) if event.key == AgentState.KEY else None
        if fact is not None:
            agent.stand(fact, event.seq, event.time)
        elif event.key != AgentState.KEY:  # a value of that key that does not fit changes nothing
            agent.state[event.key] = event.value

    def _on_notice(self, event: Notice | Error) -> Remark:
        return self._add(Remark(event.agent, event.level, event.text, event.hint, event.seq))

    _on_error = _on_notice

    def _on_unknown(self, event: Unknown) -> Remark:
        return self._add(Remark(event.agent, "unknown", event.raw, event.reason, event.seq))


_HANDLERS = handlers_of(Transcript, "_on_")


def _add_piece(pieces: list[TranscriptPiece], event: ToolOutput) -> None:
    """Small pieces that follow each other are joined: a call that prints dot by dot must not cost a struct each."""
    if pieces and not event.dropped:
        last = pieces[-1]
        follows = last.stream == event.stream and last.offset + last.size == event.offset
        if follows and len(last.text) < _JOINED_TO:
            text, size = last.text + event.content, last.size + event.size
            pieces[-1] = TranscriptPiece(last.stream, text, last.offset, size, last.dropped)
            return
    pieces.append(TranscriptPiece(event.stream, event.content, event.offset, event.size, event.dropped))


def _call_in(details: object) -> str:
    named = details.get("call") if isinstance(details, dict) else ""
    return named if isinstance(named, str) else ""


def _own_time(call: TranscriptCall, event: ToolResult) -> float | None:
    """How long a call took, without the time the user took to answer: as its source reports it, else by our clock."""
    if not call.began or not event.time:
        return event.duration
    span = max(event.time - call.began - call.waited, 0.0)
    if event.duration is not None:
        return min(event.duration, span) if call.waited else event.duration
    return None if call_ending(event.details).ended in _NOT_TIMED else round(span, 4)


def _key(entry: Entry) -> tuple[object, ...]:
    """What makes an entry the one it is, however it has changed since."""
    match entry:
        case TranscriptCall():
            return "call", entry.id
        case TranscriptText():
            return "words", entry.agent, entry.block, entry.reasoning
        case _:
            return type(entry).__name__, entry.seq


def _updated(old: Entry | None, new: Entry) -> tuple[Entry, bool]:
    """The entry blocks know, as it is now; whether it is another than it was."""
    if old is None or old == new:
        return old or new, old is None
    for name in new.__struct_fields__:
        setattr(old, name, getattr(new, name))
    return old, True


def copied(known: C) -> C:
    """A copy that later events do not change."""
    twin = copy(known)
    if isinstance(twin, TranscriptCall):
        twin.pieces, twin.network = list(twin.pieces), dict(twin.network)
    elif isinstance(twin, TranscriptAgent):
        twin.state, twin.runs = dict(twin.state), list(twin.runs)
    return twin


def _length(call: TranscriptCall) -> int:
    return sum([len(piece.text) for piece in call.pieces])


def _trim_tail(call: TranscriptCall, held: int, most: int) -> int:
    """Drop the oldest pieces, and the beginning of the one that is then the oldest. Returns what is held.

    What was filtered out of a piece is counted as its end, so the bytes a cut piece stands for are nearly right and
    the place where it ends exactly.
    """
    gone = 0
    while held > most:
        piece = call.pieces[gone]
        over = held - most
        if piece.dropped:
            call.skipped_lines = -1
        elif call.skipped_lines >= 0:
            call.skipped_lines += piece.text.count("\n", 0, over)
        cut = len(piece.text[:over].encode())
        if len(piece.text) > over:
            size = min(cut, piece.size)
            call.pieces[gone] = TranscriptPiece(piece.stream, piece.text[over:], piece.offset + size, piece.size - size)
            held = most
        else:
            cut = max(cut, piece.size)
            held -= len(piece.text)
            gone += 1
        call.skipped += piece.dropped + cut
    del call.pieces[:gone]
    return held


def fold(events: Iterable[Event], snapshot: Snapshot | None = None) -> Snapshot:
    transcript = Transcript(snapshot)
    for event in events:
        transcript.apply(event)
    return transcript.now
