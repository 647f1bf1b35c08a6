"""The state of a session as a view draws it: entries in the order they began, and a few facts about the whole."""

from bisect import bisect_right
from typing import Any, Literal, Union

import msgspec
from msgspec import structs

from sightline.events import AgentState, MailOutcome, MailReader, ModelState, Usage

OUTPUT_TAIL = 50 * 1024  # characters of a running call's output for drawing; all of it is in the artifact
ENDED_TAIL = 2 * 1024  # of a call that ended: enough for the rows a folded block shows; a session may have thousands
HOSTS = 20  # hosts a call connected to that are listed; connections to others are counted


class Total(msgspec.Struct):
    """What one agent spent, without those below it; what was not reported is None. Each token is counted once.

    A turn reports what it used; where the turns of a run, or of a subagent, did not, its end counts. Tokens and money
    are counted apart: a source may report the ones of each turn and the other of the run alone.
    """

    turns: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    cost: float | None = None  # US dollars
    counted: bool = False  # the turns of the current run reported their tokens
    priced: bool = False  # and their cost

    def began(self) -> None:
        self.counted = self.priced = False

    def turn(self, usage: Usage | None, cost: float | None) -> None:
        self.turns += 1
        self.counted = self.counted or usage is not None
        self.priced = self.priced or cost is not None
        self._add(usage, cost)

    def ended(self, usage: Usage | None, cost: float | None) -> None:
        """The end of a run: count what its turns did not report."""
        self._add(None if self.counted else usage, None if self.priced else cost)
        self.counted, self.priced = self.counted or usage is not None, self.priced or cost is not None

    def _add(self, usage: Usage | None, cost: float | None) -> None:
        if usage is not None:
            self.input_tokens = _sum(self.input_tokens, usage.input_tokens)
            self.output_tokens = _sum(self.output_tokens, usage.output_tokens)
            self.cache_read_tokens = _sum(self.cache_read_tokens, usage.cache_read_tokens)
            self.cache_write_tokens = _sum(self.cache_write_tokens, usage.cache_write_tokens)
        if cost is not None:
            self.cost = cost + (self.cost or 0.0)


def _sum(total: int | None, more: int | None) -> int | None:
    return total if more is None else more + (total or 0)


class TranscriptMessage(msgspec.Struct, tag="message"):
    """A message to an agent."""

    agent: str
    text: str
    how: str = "prompt"
    seq: int = 0  # of the event it began with, as with every entry
    attachments: list[str] = []  # artifact URLs
    source: str = ""  # where it comes from, if not from the user: a job that ended, an extension
    left_out_lines: int = 0  # as `user` has it
    job: str = ""  # whose end it reports
    mail: str = ""  # the id of the message of an agent, or of the user, that was read here; then the text is that one's
    sender: str = ""  # of that message: the path of the agent that sent it; empty: the root, or the user
    reply_to: str = ""  # the id of the message it answers


class TranscriptText(msgspec.Struct, tag="words"):
    """One text, or one thought, of an agent."""

    agent: str
    block: int
    text: str
    reasoning: bool = False
    seq: int = 0


class TranscriptPiece(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """Some of a call's output: one stream's, with its place in the whole."""

    stream: str
    text: str
    offset: int = 0
    size: int = 0  # bytes of the whole that the text stands for
    dropped: int = 0  # bytes passed over right before it


class Reached(msgspec.Struct, frozen=True, gc=False):
    """A host and port that commands of a call connected to, or tried to; the last verdict is the one that holds."""

    verdict: str
    count: int = 0  # connections that are over
    sent: int = 0  # bytes
    received: int = 0
    reason: str = ""  # why the last one was refused, or came to nothing


class TranscriptCall(msgspec.Struct, tag="call"):
    """A tool call from its first argument to its result."""

    agent: str
    id: str
    name: str
    native_name: str = ""
    arg: str = ""
    args: Any = None
    written: str = ""  # JSON text of the arguments while the model writes them
    began: float = 0.0  # seconds since the epoch
    pieces: list[TranscriptPiece] = []  # the tail of the output
    received: int = 0  # bytes of output accounted for: shown, or passed over
    skipped: int = 0  # bytes of output before the tail
    skipped_lines: int = 0  # how many lines ended in those; -1: not known
    status: str = ""  # about a call that writes nothing
    silent: bool = False  # the status reports only that
    heard: float = 0.0  # when it wrote something last
    network: dict[str, Reached] = {}  # by `host:port`; of the first so many
    network_more: int = 0  # connections to others
    details: Any = None
    updates: int = 0  # grows with every update, so that a view sees a change in details alone
    content: str | None = None  # None until it ended
    is_error: bool = False
    exit_code: int | None = None
    duration: float | None = None
    seq: int = 0
    source: str = ""  # who observed it; `person`: the user typed it
    is_job: bool = False  # it continues in the background: it was a call's before
    request: str = ""  # the id of the request it waits for
    request_at: float = msgspec.field(default=0.0, name="asked")  # when that was published
    waited: float = 0.0  # seconds that answers took so far; they are not in its duration

    @property
    def by_user(self) -> bool:
        """The user typed it: no agent chose it."""
        return self.source == "person"

    @property
    def is_private(self) -> bool:
        """Typed by the user and not reported to the agent."""
        return self.by_user and isinstance(self.args, dict) and self.args.get("private") is True

    def elapsed(self, now: float) -> float:
        """Seconds it has been running, without those the user took, or takes, to answer."""
        return max((self.request_at or now) - self.began - self.waited, 0.0) if self.began else 0.0

    @property
    def output(self) -> str:
        return "".join([piece.text for piece in self.pieces])


class Remark(msgspec.Struct, tag="remark"):
    """A notice, an error, or a line that could not be read."""

    agent: str
    level: str
    text: str
    hint: str = ""
    seq: int = 0


Entry = Union[TranscriptMessage, TranscriptText, TranscriptCall, Remark]


class MailReceipt(msgspec.Struct, frozen=True, gc=False):
    """What has become of a message, for one of its readers."""

    agent: str  # its path, empty for the root; of one that there is not, what the sender called it
    outcome: MailOutcome
    now: Literal["unread", "read", "dropped", "failed"]
    error: str = ""  # why it failed, or was dropped
    seq: int = 0  # of the event since which it is so

    @classmethod
    def of(cls, reader: MailReader, seq: int) -> "MailReceipt":
        failed = reader.outcome == "failed"
        now: Literal["unread", "read", "failed"] = "failed" if failed else "unread" if reader.unread else "read"
        return cls(reader.agent, reader.outcome, now, reader.error, seq)


class TranscriptMail(msgspec.Struct, frozen=True, gc=False):
    """A message between agents, or of the user to agents. One that changes is replaced."""

    id: str
    seq: int
    time: float  # when it was sent, in seconds since the epoch
    sender: str  # its path, empty for the root, and for the user
    by_user: bool
    text: str
    receipts: tuple[MailReceipt, ...]
    to_all: bool = False
    reply_to: str = ""  # the id of the message it answers


class TranscriptRun(msgspec.Struct, frozen=True, gc=False):
    """One run of a subagent."""

    first: int  # number of the event it began with
    started: float  # seconds since the epoch
    last: int | None = None  # number of the event it ended with; None: it has not ended
    ended: float = 0.0
    is_error: bool = False
    then: str = ""  # what the agent was after it: idle, parked, aborted; or `stopped`, `ended` (done for good)


class TranscriptAgent(msgspec.Struct):
    """A subagent and its state."""

    path: str
    parent: str
    name: str = ""
    task: str = ""
    running: bool = True
    is_error: bool = False
    call: str = ""  # that started it
    aside: bool = False  # it answers a question of the user beside the conversation
    started: float = 0.0  # seconds since the epoch
    ended: float = 0.0  # 0: not yet
    usage: Usage | None = None  # as its end reported it
    state: dict[str, Any] = {}  # by key, as `Snapshot.state` has it for the root
    runs: list[TranscriptRun] = []

    @property
    def fact(self) -> AgentState | None:
        """What it published about itself. None: it is of a provider whose agents do not; `agent_ended` is its end."""
        return AgentState.among(self.state)

    @property
    def standing(self) -> str:
        """`running`, `idle`, `parked`, `aborted`; without a fact of its own, or where it takes no prompt any more,
        `running`, `done`, `failed`, `stopped`."""
        fact = self.fact
        if fact is not None and self.running == (fact.state == "running") and not fact.is_over:
            return fact.state
        if fact is not None and fact.stopped and not self.running:
            return "stopped"
        return "running" if self.running else "failed" if self.is_error else "done"

    @property
    def model(self) -> str:
        fact, model = self.fact, ModelState.among(self.state)
        return (fact.model if fact is not None else "") or (model.name if model is not None else "")

    def worked(self, now: float, until: int | None = None) -> float:
        """Seconds it has been working, without those in which it was idle: in all runs, or in those that had begun at
        the event of this number."""
        if not self.runs or self.fact is None:
            return max((now if self.running else self.ended) - self.started, 0.0) if self.started else 0.0
        runs = [run for run in self.runs if until is None or run.first <= until]
        return sum([max((now if run.last is None else run.ended) - run.started, 0.0) for run in runs])

    def stand(self, fact: AgentState, seq: int, time: float) -> None:
        """It published this about itself."""
        self.state[AgentState.KEY] = fact.value
        if fact.state == "running":
            self.work()
        else:
            self.rest(time)
            self.is_error = fact.failed or (self.is_error and not fact.stopped)
            then = "stopped" if fact.stopped else "ended" if fact.is_over else fact.state
            self.end_run(seq, time, is_error=fact.failed, then=then)

    def work(self) -> None:
        self.running, self.ended = True, 0.0

    def rest(self, time: float) -> None:
        if self.running:
            self.running, self.ended = False, max(time, self.started)

    def end_run(self, seq: int, time: float, *, is_error: bool = False, then: str = "") -> None:
        """Its last run is over. What is known of that run's end stays."""
        if not self.runs:
            return
        run = self.runs[-1]
        if run.last is None:
            run = structs.replace(run, last=seq, ended=max(time, run.started))
        self.runs[-1] = structs.replace(run, is_error=run.is_error or is_error, then=run.then or then)


class Snapshot(msgspec.Struct):
    """Everything the fold knows after event `seq`: it can resume from here as if it had seen all events before."""

    seq: int = 0
    session: str = ""
    model: str = ""
    running: bool = False
    began: float = 0.0  # when the current run began, or the last one
    usage: Usage | None = None
    cost: float | None = None
    stop_reason: str = ""
    entries: list[Entry] = []
    agents: dict[str, TranscriptAgent] = {}
    totals: dict[str, Total] = {}  # by agent; the empty path is the root
    requests: dict[str, Any] = {}
    state: dict[str, Any] = {}  # of the root, by key
    ranges: list[tuple[int, int]] = []  # first and last events of the branch up to here; empty: everything
    branched: int = 0  # the event that set them; what came after it is of the branch, too
    mail: list[TranscriptMail] = []  # messages between agents, and of the user to agents, in order
    unread: dict[str, int] = {}  # by path, how many messages of others an agent has not read; none without any

    @property
    def waiting_since(self) -> float:
        """When the oldest open request was published; 0: there is none."""
        return min([request.get("time") or 0.0 for request in self.requests.values()], default=0.0)

    @property
    def shown(self) -> list[Entry]:
        """The entries of the branch the conversation is on. Those of others are still there, to come back to."""
        if not self.branched:
            return self.entries
        return [entry for entry in self.entries if entry.seq > self.branched or _within(self.ranges, entry.seq)]


def _within(ranges: list[tuple[int, int]], seq: int) -> bool:
    at = bisect_right(ranges, seq, key=lambda stretch: stretch[0]) - 1
    return at >= 0 and seq <= ranges[at][1]
