"""Events to plain text, append-only: what is written is never taken back.

- Words are written exactly as they came. A block that follows another begins on a new line; nothing else is added.
- Markers (a call), labels (who speaks) and steps (of a delegation) are lines of their own, written only on request.
- The report of a review that the user requested is words, too.
- What a command prints is set off from words by an indent, and its marker has the whole command; on a terminal one row.
- A message between agents is one line where its reader reads it, with the calls; where it was sent it is a call.
- Everything else a stream may carry leaves this output unchanged. Notices and errors go to the other channel.
"""

import re
from collections.abc import Iterable
from typing import TypeVar

import msgspec

from sightline.events import (
    ApprovalState,
    Delegation,
    DelegationItem,
    Error,
    Event,
    MailChanged,
    MailSent,
    Notice,
    RetryState,
    ReviewFact,
    State,
    Text,
    ToolConnection,
    ToolOutput,
    ToolResult,
    ToolUpdate,
    ToolUse,
    Unknown,
    User,
    call_ending,
    delegation_from_args,
    delegation_from_details,
    state_fact,
)
from sightline.text import clean_line, clean_text, cut_graphemes, first_line
from sightline.views._mail import mail_from
from sightline.views.plain._figures import size_words, wait_words
from sightline.views.plain._palette import AGENT, CALL, MAIL, NEVER, PLAIN, STEP, Palette

T = TypeVar("T")
_AGENT_CAP, _TASK_CAP, _PREVIEW_CAP, _FAILURE_CAP, _MAIL_CAP = 24, 80, 120, 2000, 400
_STEPS_AT_MOST = 50
_LISTS_AT_MOST = 256
_HOSTS_AT_MOST = 20  # of a call
_MAIL_AT_MOST = 64  # messages that are remembered until they are read
_OUTPUT = -1  # the block of what commands print; texts count from 1
_INDENT = "  "
_NEVER_RAN = ("skipped", "not run")

_line_starts = re.compile(r"^(?=.)", re.MULTILINE)


class Detail(msgspec.Struct, frozen=True, kw_only=True):
    """How much is shown. Nothing set: the words of the root agent."""

    calls: bool = False  # a marker for each call
    agents: bool = False  # words and calls of subagents, each under its own label
    steps: bool = False  # the steps of a delegation as they change
    output: bool = False  # commands whole, and what they print
    failures: bool = False  # why a call failed, below its marker


WORDS = Detail()
VERBOSE = Detail(calls=True, agents=True, steps=True)
EVERYTHING = Detail(calls=True, agents=True, steps=True, output=True, failures=True)  # of our own agent


class _KnownMail:
    """A message that was sent, and who has it in the transcript already."""

    def __init__(self, sent: MailSent) -> None:
        self.head = mail_from(sent.id, sent.agent, sent.reply_to, by_user=sent.source == "person")
        self.text = sent.text
        self.readers: set[str] = set()


class PlainRenderer:
    """Turns batches of events into text for stdout (`render`) and for stderr (`messages`)."""

    def __init__(self, detail: Detail = WORDS, palette: Palette = PLAIN, columns: int | None = None) -> None:
        """`columns`: of the terminal it is for, if it is for one."""
        self._detail = detail
        self._palette = palette
        self._columns = columns
        self._tail = ""  # the last piece of text written; empty after a line of ours
        self._block: int | None = None  # the text it belongs to, and whose that is
        self._block_agent = ""
        self._speaker = ""
        self._marker = f"{palette.dim}{CALL}{palette.reset} {palette.bold}"
        self._steps: dict[str, dict[str, str | None]] = {}  # call → step → status written last
        self._calls: dict[str, str] = {}  # running calls whose end is shown
        self._marked = ""  # the call whose marker was written last
        self._mail: dict[str, _KnownMail] = {}  # by id, the last ones
        self._connected: dict[str, set[str]] = {}  # by call, the connections that were shown
        self._messages: list[str] = []
        self.unreadable = 0

    @property
    def mid_line(self) -> bool:
        """Whether the last thing written lacks its newline."""
        return self._tail[-1:] not in ("", "\n")

    def render(self, events: Iterable[Event]) -> str:
        parts: list[str] = []
        for event in events:
            kind = type(event)
            if kind is Text:
                text: str = event.text  # type: ignore[union-attr]
                if event.block == self._block and event.agent == self._block_agent and text:  # type: ignore[union-attr]
                    parts.append(text)  # one more piece of the same text: most events of most streams
                    self._tail = text
                else:
                    self._words(event, parts)  # type: ignore[arg-type]
            elif kind is ToolUse:
                if self._detail.calls or self._detail.steps:
                    self._call(event, parts)  # type: ignore[arg-type]
            elif kind in _RARE:
                self._rare(event, parts)
        return "".join(parts)

    def end(self) -> str:
        """What closes the output: a newline, if the last words had none."""
        return self._line_start()

    def report_unreadable(self) -> None:
        """At the end of a stream: add a message with the number of its lines that could not be read."""
        if self.unreadable:
            lines = "line" if self.unreadable == 1 else "lines"
            hint = "--output-format events (or `sightline events`) shows their content"
            self._report("note", f"{self.unreadable} {lines} could not be read", hint)

    def messages(self, *, interleaved: bool = False) -> str:
        """The messages for stderr since the last time. `interleaved`: stdout goes there too."""
        text, self._messages = "".join(self._messages), []
        return f"\n{text}" if text and interleaved and self.mid_line else text

    def _words(self, event: Text, parts: list[str]) -> None:
        agent, text = event.agent, event.text
        if (agent and not self._detail.agents) or not text:
            return
        if event.block != self._block or agent != self._block_agent:
            parts.append(self._line_start())
            if agent != self._speaker:
                self._label(agent, parts)
            self._block, self._block_agent = event.block, agent
        parts.append(text)
        self._tail = text

    def _label(self, agent: str, parts: list[str]) -> None:
        """A line with the name of the agent whose words follow."""
        self._speaker = agent
        palette = self._palette
        self._line(f"{palette.dim}{AGENT} {agent or 'Main'}{palette.reset}", parts)

    def _call(self, event: ToolUse, parts: list[str]) -> None:
        if event.agent and not self._detail.agents:
            return
        plan = delegation_from_args(event.args) if self._detail.steps else None
        if self._detail.calls or plan is not None:
            if event.agent != self._speaker:
                self._label(event.agent, parts)
            self._line(f"{self._marker}{event.name}{self._palette.reset} {self._argument(event)}".rstrip(" "), parts)
            if self._detail.failures or self._detail.output:
                self._calls[event.id] = f"{event.name} {event.arg}".rstrip()
                self._marked = event.id
        if plan is not None:
            self._plan(event.id, plan, parts)

    def _argument(self, event: ToolUse) -> str:
        """All of a command, where what it prints is shown; of anything else a preview."""
        command = _command(event) if self._detail.output else ""
        if not command:
            return event.arg
        if self._columns is None:
            return command.replace("\n", f"\n{_INDENT * 2}")
        first, more, _ = command.partition("\n")
        return cut_graphemes(f"{first} …" if more else first, max(self._columns - len(event.name) - 3, 10))

    def _plan(self, call: str, plan: Delegation, parts: list[str]) -> None:
        self._known_steps(call).update((item.id, None) for item in plan.items)
        for item in plan.items[:_STEPS_AT_MOST]:
            self._line(self._step(item), parts)
        self._more(plan, parts)

    def _rare(self, event: Event, parts: list[str]) -> None:
        match event:
            case ToolResult() if not event.agent and ReviewFact.of(event.details) is not None:
                self._calls.pop(event.id, None)
                if self._detail.agents and self._speaker:
                    self._label("", parts)
                self._line(clean_text(event.content), parts)
            case ToolUpdate() | ToolResult():
                if isinstance(event, ToolResult):
                    self._connected.pop(event.id, None)
                if self._detail.steps and event.details is not None:
                    self._progress(event, parts)
                if isinstance(event, ToolResult) and (self._detail.failures or self._detail.output):
                    self._ended(event, parts)
            case ToolConnection():
                if self._detail.calls and event.duration is not None:
                    self._connection(event, parts)
            case ToolOutput():
                if self._detail.output and event.content and event.stream != "status":
                    self._output(event, parts)
            case Notice():
                self._report(event.level if event.level == "warning" else "note", _named(event), event.hint)
            case Error():
                self._report("error", _named(event), event.hint)
            case State() if not event.agent:
                # The retry of another provider comes with a notice.
                if event.key == ApprovalState.KEY or (event.key == RetryState.KEY and event.source == "agent"):
                    self._fact(event)
            case MailSent() if self._detail.agents:
                _bound(self._mail, _MAIL_AT_MOST)
                sent = self._mail[event.id] = _KnownMail(event)
                for each in event.readers:
                    if each.outcome == "delivered" and not each.unread:  # a call waited for it
                        self._read(sent, each.agent, parts)
            case User() if event.mail and self._detail.agents:
                known = self._mail.get(event.mail)
                if known is None:  # it was sent before this was watched
                    self._mail_line(event.mail, event.text, event.agent, parts)
                elif event.agent not in known.readers:
                    self._read(known, event.agent, parts)
            case MailChanged(now="read"):
                for known in [self._mail[id] for id in event.ids if id in self._mail]:
                    if event.agent not in known.readers:
                        self._read(known, event.agent, parts)
            case Unknown():
                self.unreadable += 1

    def _read(self, known: _KnownMail, reader: str, parts: list[str]) -> None:
        """A message is read by one of its readers; by a call it may be before it is in its conversation."""
        known.readers.add(reader)
        self._mail_line(known.head, known.text, reader, parts)

    def _mail_line(self, head: str, text: str, reader: str, parts: list[str]) -> None:
        """All of it where output is shown, too; else its beginning in one line."""
        if reader != self._speaker:
            self._label(reader, parts)
        whole = clean_text(text).strip() if self._detail.output else ""
        shown = whole.replace("\n", f"\n{_INDENT}") or cut_graphemes(clean_line(text[: 4 * _MAIL_CAP]), _MAIL_CAP)
        self._line(f"{self._palette.dim}{MAIL}{self._palette.reset} {head}: {shown}", parts)

    def _fact(self, event: State) -> None:
        """Report an approval level that is not the provider's own default, and that our own agent waits for a retry."""
        match state_fact(event):
            case RetryState(seconds=float(wait)) as retry:
                again = f"retrying in {wait_words(wait)} ({retry.attempt} of {retry.attempts})"
                self._report("warning", f"{retry.reason}; {again}", "")
            case ApprovalState(level=level, flags=flags) if level != "auto":
                self._report("note", f"approval {level}" + (f": {' '.join(flags)}" if flags else ""), "")

    def _progress(self, event: ToolUpdate | ToolResult, parts: list[str]) -> None:
        """The steps whose status is not the one written last."""
        delegation = delegation_from_details(event.details)
        if delegation is None:
            return
        known = self._known_steps(event.id)
        changed = [item for item in delegation.items[:_STEPS_AT_MOST] if known.get(item.id, "") != _standing(item)]
        known.update((item.id, _standing(item)) for item in changed)
        shown = [item for item in changed if _standing(item) != "pending"]
        if shown and event.agent != self._speaker:
            self._label(event.agent, parts)
        for item in shown:
            self._line(self._step(item), parts)
        if isinstance(event, ToolResult):
            self._more(delegation, parts)
            self._line(f"{self._palette.dim}{_summary(delegation)}{self._palette.reset}", parts)
            self._steps.pop(event.id, None)

    def _ended(self, event: ToolResult, parts: list[str]) -> None:
        """Show that the output is left out, and why the call failed; its name, where it is not the one marked last."""
        call = self._calls.pop(event.id, "")
        if event.agent and not self._detail.agents:
            return
        which = f"{call}: " if call and event.id != self._marked else ""
        palette, rows = self._palette, []
        if self._detail.output and (what := _not_shown(event)):
            rows.append(f"{_INDENT}{palette.dim}{which}{what}{palette.reset}")
        if self._detail.failures and event.is_error:
            rows.append(f"{_INDENT}{palette.bad}{STEP['error']} {which}{_failure(event)}{palette.reset}")
        if rows and event.agent != self._speaker:
            self._label(event.agent, parts)
        for row in rows:
            self._line(row, parts)

    def _known_steps(self, call: str) -> dict[str, str | None]:
        if call not in self._steps:
            _bound(self._steps, _LISTS_AT_MOST)
        return self._steps.setdefault(call, {})

    def _step(self, item: DelegationItem) -> str:
        palette = self._palette
        agent = cut_graphemes(first_line(item.agent), _AGENT_CAP)
        task = cut_graphemes(first_line(item.task), _TASK_CAP)
        sign = NEVER if _never_ran(item) else STEP[item.status]
        named = "" if agent.startswith(item.id) else f"{item.id}: "  # an agent of ours is named by its id
        row = f"  {palette.step(item.status)}{sign}{palette.reset} {named}{agent} {task}".rstrip()
        preview = cut_graphemes(first_line(item.preview or ""), _PREVIEW_CAP)
        return f"{row}\n    {palette.dim}{preview}{palette.reset}" if preview else row

    def _more(self, delegation: Delegation, parts: list[str]) -> None:
        hidden = len(delegation.items) - _STEPS_AT_MOST
        if hidden > 0:
            self._line(f"  {self._palette.dim}… {hidden} more …{self._palette.reset}", parts)

    def _output(self, event: ToolOutput, parts: list[str]) -> None:
        if self._block != _OUTPUT or event.agent != self._block_agent:
            parts.append(self._line_start())
            if event.agent != self._speaker:
                self._label(event.agent, parts)
            self._block, self._block_agent = _OUTPUT, event.agent
        if event.dropped:
            passed_over = f"… {size_words(event.dropped)} not shown …"
            self._line(f"{_INDENT}{self._palette.dim}{passed_over}{self._palette.reset}", parts)
            self._block = _OUTPUT
        text = clean_text(event.content)
        here, newline, below = text.partition("\n") if self.mid_line else ("", "", text)
        parts.append(f"{here}{newline}{_line_starts.sub(_INDENT, below)}")
        self._tail = text or self._tail

    def _connection(self, event: ToolConnection, parts: list[str]) -> None:
        """A connection that ended. Several to one host are shown once; the events have all of them."""
        host = f"[{event.host}]" if ":" in event.host else event.host
        words = f"network: {host}:{event.port} {event.verdict}" + (f": {event.reason}" if event.reason else "")
        known = self._connected.setdefault(event.id, set())
        if words in known or len(known) >= _HOSTS_AT_MOST or (event.agent and not self._detail.agents):
            return
        known.add(words)
        call = self._calls.get(event.id, "")
        which = f"{call}: " if call and event.id != self._marked else ""
        self._line(f"{_INDENT}{self._palette.dim}{which}{clean_line(words)}{self._palette.reset}", parts)

    def _report(self, level: str, text: str, hint: str) -> None:
        self._messages.append(clean_text(f"{level}: {text}\n" + (f"hint: {hint}\n" if hint else "")))

    def _line(self, text: str, parts: list[str]) -> None:
        parts.append(f"{self._line_start()}{text}\n")
        self._block = None

    def _line_start(self) -> str:
        start = "\n" if self.mid_line else ""
        self._tail = ""
        return start


_MAIL = (User, MailSent, MailChanged)
_RARE = frozenset((ToolUpdate, ToolConnection, ToolResult, ToolOutput, State, Notice, Error, Unknown, *_MAIL))


def _bound(known: dict[str, T], most: int) -> None:
    """Make room for one more."""
    if len(known) >= most:
        del known[next(iter(known))]


def _named(event: Notice | Error) -> str:
    """A message is read apart from everything else: that of a subagent names it."""
    return f"{event.agent}: {event.text}" if event.agent else event.text


def _standing(item: DelegationItem) -> str | None:
    """A step's status; a pending one with a reason in its preview was not run."""
    return "not run" if item.status == "pending" and item.preview else item.status


def _never_ran(item: DelegationItem) -> str:
    """The first word of the preview of a step that will not run; empty for any other step."""
    word = (item.preview or "").partition(":")[0]
    return word if item.status == "pending" and word in _NEVER_RAN else ""


def _command(event: ToolUse) -> str:
    given = event.args.get("command") if isinstance(event.args, dict) else None
    if not isinstance(given, str):
        return ""
    from sightline.views._script import script_in

    return clean_text(script_in(given.strip())).strip()


def _not_shown(event: ToolResult) -> str:
    found = call_ending(event.details)
    if not found.binary:
        return ""
    what = "binary output" if found.bytes is None else f"binary output, {size_words(found.bytes)}"
    return f"{what}: stored, not shown; sightline logs {event.id} has it"


def _failure(event: ToolResult) -> str:
    ended = call_ending(event.details).ended
    if event.exit_code and ended in ("", "exit"):
        return f"exit code {event.exit_code}"
    if event.exit_code is not None and ended:
        return {"timeout": "timed out"}.get(ended, ended)  # the output of a command is not the reason
    return cut_graphemes(clean_line(first_line(event.content)), _FAILURE_CAP) or "failed"


def _summary(delegation: Delegation) -> str:
    good = sum(item.status == "ok" for item in delegation.items)
    bad = sum(item.status == "error" for item in delegation.items)
    counts = [f"{good} ok", *([f"{bad} err"] if bad else [])]
    for word in _NEVER_RAN:
        if count := sum(_never_ran(item) == word for item in delegation.items):
            counts.append(f"{count} {word}")
    return f"{' · '.join(counts)} / {len(delegation.items)}"
