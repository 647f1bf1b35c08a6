"""The transcript for screen readers: lines of text, written when something happens, which never change.

Rules:

- A call that takes its time is announced at its start, then come lines of output as they end, then its result. A call
  that ends at once has only its result.
- Of long output the first lines are written as they come, the last at the end; `/output` shows all.
- When several calls run at once, a line names the call whose output follows.
- A subagent is announced at its start and end, and in between each of its calls and texts, with its name. One that
  takes another prompt is announced again; what it becomes while it does nothing is not.
- The answer to a question beside the conversation is written when it is complete: nothing else waits for it.
- What the user entered here is on the terminal already: it is not written again.
- Only words that stream are live. Everything else is final when it is written, so that nothing waits for it.
"""

from collections import deque
from collections.abc import Callable, Sequence

from sightline.events import delegation_from_details
from sightline.text import clean_line, row_text
from sightline.transcript import (
    Entry,
    Remark,
    Snapshot,
    TranscriptAgent,
    TranscriptCall,
    TranscriptMessage,
    TranscriptText,
)
from sightline.tty import wrap
from sightline.tty.components import BlockColumn
from sightline.views.console._agent_names import agent_name
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.blocks._agent import AgentBlock
from sightline.views.console.blocks._aside import AsideHeader, aside_block
from sightline.views.console.blocks._block import PageBlock, TranscriptBlock
from sightline.views.console.blocks._call import CallBlock
from sightline.views.console.shapes import Shape, ShapeBody, shape_of
from sightline.views.console.shapes._shape import plural, short
from sightline.views.console.shapes._tail import Tail
from sightline.views.console.transcript._transcript_view import Fill, Size, TranscriptView, is_running_job

_ANNOUNCED_AFTER = 0.2
"""Seconds after which the start of a call is written."""
FIRST, LAST = 40, 10
"""Lines of output that are written as they come, and at the end."""
_UNFOLDED = 2000
_WIDE = 4000
_TITLE, _NAME = 120, 40

Later = Callable[[float, Callable[[], None]], object]


class SpokenLines(PageBlock):
    """Lines that were written."""

    def __init__(self, *lines: str, joins_previous: bool = False) -> None:
        self._lines = lines
        self.joins_previous = joins_previous

    def _draw(self, width: int) -> list[str]:
        return [row for line in self._lines for row in wrap(clean_line(line), width) or [""]]


class SpokenEnd(CallBlock):
    """The end of a call whose output was written."""

    joins_previous = True

    def _body(self, shape: Shape, width: int) -> ShapeBody:
        return ShapeBody()


class SpokenCall:
    """A running call, and how much of it was written."""

    def __init__(self, call: TranscriptCall, drawing: DrawingOptions) -> None:
        self.call = call
        self.announced = self.ended = self.has_output = False
        self._drawing = drawing
        self._tail = Tail(call, _WIDE, _UNFOLDED, live=1)
        self._left = _UNFOLDED if drawing.unfolded else FIRST
        self._last: deque[str] = deque(maxlen=LAST)
        self._held_back = 0
        self._steps: dict[str, str] = {}

    @property
    def title(self) -> str:
        shape = shape_of(self.call, self._drawing)
        return f"{shape.label} {short(shape.title, _TITLE)}".strip()

    def new_lines(self) -> list[str]:
        """Lines of output to write now."""
        rows = [row_text(row).rstrip() for row in self._tail.take()] if self.call.pieces else []
        now, later = rows[: self._left], rows[self._left :]
        if later and not self._held_back and self.has_output | bool(now):
            now.append(f"… more output; {self._drawing.way_to('view_output')} shows what there is so far")
        self._left -= min(len(rows), self._left)
        self._last.extend(later)
        self._held_back += len(later)
        return now

    def last_lines(self) -> list[str]:
        """The last lines of an ended call, and how many before them were left out."""
        rest = [row_text(row).rstrip() for row in self._tail.take_rest()]
        self._last.extend(rest)
        self._held_back += len(rest)
        left_out = self._held_back - len(self._last)
        way = self._drawing.way_to("view_output")
        return [*([f"… {plural(left_out, 'line')} left out ({way})"] if left_out else []), *self._last]

    def new_steps(self) -> list[str]:
        """Lines for steps of a delegation whose status changed."""
        steps = delegation_from_details(self.call.details)
        lines = []
        for item in steps.items if steps is not None else ():
            before, self._steps[item.id] = self._steps.get(item.id), item.status or ""
            if item.status in ("running", "ok", "error") and item.status != before:
                word = "failed" if item.status == "error" else item.status
                lines.append(f"{word}: {short(item.agent, _NAME)} {short(item.task, _TITLE)}")
        return lines


class SpokenTranscript(TranscriptView):
    """A `TranscriptView` that only appends lines."""

    def __init__(
        self, drawing: DrawingOptions, redraw: Callable[[], None], *, size: Size, fill: Fill, call_later: Later
    ) -> None:
        super().__init__(drawing, redraw, size=size, fill=fill)
        self._call_later = call_later
        self._echoed: list[str] = []
        """Texts that were entered here: the terminal has shown them."""
        self._anew = False
        self._calls: dict[int, SpokenCall] = {}
        self._subject: object = None
        """What the last lines were about."""
        self._working: dict[str, AgentBlock] = {}
        """Blocks of running subagents, added when they end."""
        self._written: dict[str, AgentBlock] = {}
        """The last block of each that was added."""
        self._announced: set[str] = set()
        """Paths of subagents that work, as the user knows."""
        self._words: dict[str, TranscriptText] = {}

    def entered(self, text: str) -> None:
        self._echoed.append(text)

    def replace(self, snapshot: Snapshot, above: TranscriptBlock | None = None) -> None:
        self._anew = True
        super().replace(snapshot, above)

    def restart(self) -> None:
        """Write another conversation from its beginning. When this one moved to another branch, only write from where
        it continues: earlier lines stay."""
        self._calls, self._working, self._written, self._words, self._subject = {}, {}, {}, {}, None
        self._announced = {path for path, agent in self.state.agents.items() if _works(agent)}
        if self._anew:
            self._anew = False
            super().restart()
            return
        written, self.component = self.component, BlockColumn()
        super().restart()
        self.component = written
        self._add(SpokenLines(f"the conversation continues {_place(self.state.shown)}"))

    # ---- entries

    def _touched(self, entry: Entry) -> None:
        if entry.agent:
            self._touched_in_agent(entry)
        elif not isinstance(entry, TranscriptCall):
            super()._touched(entry)
        elif not is_running_job(entry):
            self._follow(entry)

    def _begin(self, entry: Entry) -> None:
        if isinstance(entry, TranscriptCall) and not entry.agent and entry.content is None:
            self._announce(self._follow(entry))
        elif self._laying_out or not self._was_echoed(entry):
            super()._begin(entry)
            self._subject = None

    def _add(self, block: TranscriptBlock) -> TranscriptBlock:
        for earlier in self._open:
            if earlier.open_ended and not self._laying_out:
                earlier.close()
        return super()._add(block)

    def _was_echoed(self, entry: Entry) -> bool:
        if not isinstance(entry, TranscriptMessage) or entry.agent or entry.text not in self._echoed:
            return False
        self._echoed.remove(entry.text)
        return entry.how == "prompt" and not entry.attachments

    # ---- calls

    def _follow(self, call: TranscriptCall) -> SpokenCall:
        """Write what is new of a call."""
        spoken = self._calls.get(id(call))
        if spoken is None:
            spoken = self._calls[id(call)] = SpokenCall(call, self._drawing)
        if call.content is not None:
            self._add_end(spoken)
        elif call.args is not None:
            if not spoken.announced:
                self._call_later(_ANNOUNCED_AFTER, lambda: self._announce_late(spoken))
            lines = spoken.new_lines() + spoken.new_steps()
            if lines:
                self._announce(spoken)
                spoken.has_output = True
                self._add_output(spoken, lines)
        return spoken

    def _announce_late(self, spoken: SpokenCall) -> None:
        waits = bool(self.state.requests)  # an approval comes before the call
        if not (spoken.announced or spoken.ended or waits) and spoken is self._calls.get(id(spoken.call)):
            self._announce(spoken)
            self._finish()
            self._redraw()

    def _announce(self, spoken: SpokenCall) -> None:
        if not spoken.announced:
            spoken.announced = True
            self._close_streaming()
            self._add(SpokenLines(f"running: {spoken.title}"))
            self._subject = spoken

    def _add_output(self, spoken: SpokenCall, lines: list[str]) -> None:
        if self._subject is not spoken:
            self._add(SpokenLines(f"output of {spoken.title}:"))
            self._subject = spoken
        self._add(SpokenLines(*lines, joins_previous=True))

    def _add_end(self, spoken: SpokenCall) -> None:
        if spoken.ended:
            return
        spoken.ended = True
        self._close_streaming()
        if spoken.has_output and (lines := spoken.last_lines()):
            self._add_output(spoken, lines)
        kind = SpokenEnd if spoken.has_output and spoken.call.pieces else CallBlock
        block = self._by_entry[id(spoken.call)] = kind(spoken.call, self._drawing)
        block.joins_previous = self._subject is spoken
        self._add(block)
        block.close()
        self._subject = None

    # ---- subagents

    def _begin_in_agent(self, entry: Entry) -> None:
        root = entry.agent.partition("/")[0]
        agent = self.state.agents.get(root)
        if agent is not None and agent.aside:
            super()._begin_in_agent(entry)
        elif agent is None or _works(agent):
            self._taken(root, entry)
        else:
            super()._begin_in_agent(entry)

    def _taken(self, root: str, entry: Entry) -> AgentBlock:
        """The block of a working agent, with this entry in it. One of an earlier run is written before that."""
        block = self._agent_block(root)
        if not block.take(entry):
            self._add_block(root)
            block = self._agent_block(root)
            block.take(entry)
        return block

    def _add_block(self, root: str) -> None:
        block = self._written[root] = self._working.pop(root)
        block.close()
        self._add(block)

    def _touched_in_agent(self, entry: Entry) -> None:
        if self._is_aside(entry.agent):
            self._touched_in_aside(entry)
            return
        root = entry.agent.partition("/")[0]
        block = self._agent_block(root)
        if all(known is not entry for known in block.entries[-50:]):
            block = self._taken(root, entry)
            self._add_agent_words(entry.agent)
        block.changed()
        if isinstance(entry, TranscriptText):
            self._words[entry.agent] = entry
        elif not isinstance(entry, TranscriptCall) or (entry.content is not None and id(entry) not in self._calls):
            if isinstance(entry, TranscriptCall):
                self._calls[id(entry)] = SpokenCall(entry, self._drawing)
            self._add_agent_lines(entry.agent, block.summary(entry))

    def _touched_in_aside(self, entry: Entry) -> None:
        if self._words.get(entry.agent) is entry:
            return
        self._add_agent_words(entry.agent)
        if isinstance(entry, TranscriptText):
            self._words[entry.agent] = entry
        elif isinstance(entry, Remark) or (isinstance(entry, TranscriptCall) and entry.content is not None):
            self._add_agent_lines(entry.agent, AgentBlock(entry.agent, self._drawing, self.state.agents).summary(entry))

    def _add_agent_words(self, path: str) -> None:
        """Write the last text of an agent: it is complete now."""
        words = self._words.pop(path, None)
        if words is not None and self._is_aside(path):
            if not words.reasoning or self._drawing.reasoning:
                self._add(SpokenLines(f"{self._name(path)} answers:"))
                self._add(aside_block(words, self._drawing)).close()
                self._subject = None
        elif words is not None:
            self._add_agent_lines(path, self._agent_block(path.partition("/")[0]).summary(words))

    def _add_agent_lines(self, path: str, lines: list[str]) -> None:
        if lines:
            joins_previous = self._subject is self._working
            self._add(SpokenLines(*(f"{self._name(path)}: {line}" for line in lines), joins_previous=joins_previous))
            self._subject = self._working

    def _agent_changed(self, path: str) -> None:
        agent = self.state.agents.get(path)
        if agent is None or _works(agent) == (path in self._announced):
            return
        if _works(agent):
            self._announced.add(path)
            self._add_agent_start(agent)
        else:
            self._announced.discard(path)
            self._add_agent_words(path)
            self._add_agent_end(agent)
        self._subject = None

    def _add_agent_start(self, agent: TranscriptAgent) -> None:
        if agent.aside:
            self._add(AsideHeader(agent.path, self._drawing, self.state.agents)).close()
            return
        is_known = any(run.last is not None for run in agent.runs)
        task = "" if is_known else short(agent.task, _TITLE)
        words = f"agent {self._name(agent.path)} {'continues' if is_known else 'started'}"
        self._add(SpokenLines(f"{words}: {task}" if task else words))

    def _add_agent_end(self, agent: TranscriptAgent) -> None:
        if agent.path in self._working and self._working[agent.path].is_review:
            del self._working[agent.path]  # the review has a block of its own
        elif agent.path in self._working:
            self._add_block(agent.path)
        else:
            fact = agent.fact
            word = f"is {fact.state}" if fact is not None else "failed" if agent.is_error else "ended"
            self._add(SpokenLines(f"agent {self._name(agent.path)} {word}"))

    def _agent_block(self, root: str) -> AgentBlock:
        if root not in self._working:
            before = self._written.get(root) or self._by_agent.get(root)
            self._working[root] = AgentBlock(root, self._drawing, self.state.agents, before=before)
        return self._working[root]

    def _name(self, path: str) -> str:
        return short(agent_name(path, self.state.agents.get(path)), _NAME)


def _works(agent: TranscriptAgent) -> bool:
    """Whether it works, by its own word where it publishes that: it comes once with the end of a run."""
    fact = agent.fact
    return agent.running if fact is None else fact.state == "running"


def _place(shown: Sequence[Entry]) -> str:
    """Where the conversation continues, in words."""
    if not shown:
        return "from its beginning"
    last = shown[-1]
    text = last.name if isinstance(last, TranscriptCall) else last.text
    return f"after: {short(text, _TITLE)}"
