"""The transcript for who listens: what happens is told when it happens, in words, and nothing that was told changes.

Rules:

- A call that takes its time is told when it begins, its output line by line as lines end, and its end with what came
  of it. One that ends at once is told by its end alone.
- Of an output that is long its first lines are told as they come, and its last ones at the end; `/output` says all.
- When several things go on at once, lines of output are introduced by whose they are.
- A subagent is told when it begins and when it ends, and in between each call it made and what it said, by its name.
- What the person entered here stands on the terminal already: it is not told again.
- Only words that stream are live. Everything else is final when it is told, so that nothing waits for it.
"""

from collections import deque
from collections.abc import Callable, Sequence

from sightline.events import delegation_from_details
from sightline.text import clean_line, row_text
from sightline.transcript import Entry, Snapshot, TranscriptAgent, TranscriptCall, TranscriptMessage, TranscriptText
from sightline.tty import Rows, wrap
from sightline.tty.components import BlockColumn
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.blocks._agent import AgentBlock
from sightline.views.console.blocks._block import TranscriptBlock
from sightline.views.console.blocks._call import CallBlock
from sightline.views.console.shapes import Shape, ShapeBody, shape_of
from sightline.views.console.shapes._shape import plural, short
from sightline.views.console.shapes._tail import Tail
from sightline.views.console.transcript._transcript_view import Fill, Size, TranscriptView

AT_ONCE = 0.2
"""Seconds a call may take without being told before it has ended."""
FIRST, LAST = 40, 10
"""Lines of output that are told as they come, and of those after them, at the end."""
_UNFOLDED = 2000
_WIDE = 4000
_TITLE, _NAME = 120, 40

Later = Callable[[float, Callable[[], None]], object]


class SpokenLines(TranscriptBlock):
    """Some lines."""

    def __init__(self, *lines: str, joins_previous: bool = False) -> None:
        self._lines = lines
        self.joins_previous = joins_previous
        self._rows: tuple[int, Rows] | None = None

    def render(self, width: int) -> Rows:
        if self._rows is None or self._rows[0] != width:
            self._rows = (width, [row for line in self._lines for row in wrap(clean_line(line), width) or [""]])
        return self._rows[1]

    def invalidate(self) -> None:
        self._rows = None

    @property
    def done(self) -> bool:
        return True


class SpokenEnd(CallBlock):
    """The end of a call whose output was told."""

    joins_previous = True

    def _body(self, shape: Shape, width: int) -> ShapeBody:
        return ShapeBody()


class SpokenCall:
    """A call that goes on, and how much of it was told."""

    def __init__(self, call: TranscriptCall, drawing: DrawingOptions) -> None:
        self.call = call
        self.begun = self.ended = False
        self.wrote = False
        self._drawing = drawing
        self._tail = Tail(call, _WIDE, _UNFOLDED, live=1)
        self._left = _UNFOLDED if drawing.unfolded else FIRST
        self._last: deque[str] = deque(maxlen=LAST)
        self._kept_back = 0
        self._steps: dict[str, str] = {}

    @property
    def title(self) -> str:
        shape = shape_of(self.call, self._drawing)
        return f"{shape.label} {short(shape.title, _TITLE)}".strip()

    def new_lines(self) -> list[str]:
        """Output that may be told now."""
        rows = [row_text(row).rstrip() for row in self._tail.take()] if self.call.pieces else []
        now, later = rows[: self._left], rows[self._left :]
        if later and not self._kept_back and self.wrote | bool(now):
            now.append(f"… more output; {self._drawing.way_to('view_output')} shows what there is so far")
        self._left -= min(len(rows), self._left)
        self._last.extend(later)
        self._kept_back += len(later)
        return now

    def last_lines(self) -> list[str]:
        """What was kept back, when it is over."""
        rest = [row_text(row).rstrip() for row in self._tail.take_rest()]
        self._last.extend(rest)
        self._kept_back += len(rest)
        left_out = self._kept_back - len(self._last)
        way = self._drawing.way_to("view_output")
        return [*([f"… {plural(left_out, 'line')} left out ({way})"] if left_out else []), *self._last]

    def new_steps(self) -> list[str]:
        """Steps of a delegation whose status is another."""
        steps = delegation_from_details(self.call.details)
        told = []
        for item in steps.items if steps is not None else ():
            before, self._steps[item.id] = self._steps.get(item.id), item.status or ""
            if item.status in ("running", "ok", "error") and item.status != before:
                word = "failed" if item.status == "error" else item.status
                told.append(f"{word}: {short(item.agent, _NAME)} {short(item.task, _TITLE)}")
        return told


class SpokenTranscript(TranscriptView):
    """`TranscriptView` on lines."""

    def __init__(
        self, drawing: DrawingOptions, redraw: Callable[[], None], *, size: Size, fill: Fill, call_later: Later
    ) -> None:
        super().__init__(drawing, redraw, size=size, fill=fill)
        self._call_later = call_later
        self._echoed: list[str] = []
        """What was entered here and the terminal has shown."""
        self._anew = False
        self._heard: dict[int, SpokenCall] = {}
        self._subject: object = None
        """Whose lines were told last."""
        self._silent: dict[str, AgentBlock] = {}
        """Subagents that are at work, told of when they have ended."""
        self._words: dict[str, TranscriptText] = {}

    def entered(self, text: str) -> None:
        """The terminal has shown it already."""
        self._echoed.append(text)

    def replace(self, snapshot: Snapshot, above: TranscriptBlock | None = None) -> None:
        self._anew = True
        super().replace(snapshot, above)

    def restart(self) -> None:
        """Another conversation is told from its beginning. Of one that went back, only where it goes on is: what was
        told was told."""
        self._heard, self._silent, self._words, self._subject = {}, {}, {}, None
        if self._anew:
            self._anew = False
            super().restart()
            return
        told, self.component = self.component, BlockColumn()
        super().restart()
        self.component = told
        self._add(SpokenLines(f"the conversation continues {_place(self.state.shown)}"))

    # ---- entries

    def _touched(self, entry: Entry) -> None:
        if entry.agent:
            self._touched_in_agent(entry)
        elif isinstance(entry, TranscriptCall) and not self._is_job_that_runs(entry):
            self._hear(entry)
        elif not isinstance(entry, TranscriptCall):
            super()._touched(entry)

    def _begin(self, entry: Entry) -> None:
        if isinstance(entry, TranscriptCall) and not entry.agent and entry.content is None:
            self._hear(entry)
            self._tell_beginning(self._heard[id(entry)])
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

    @staticmethod
    def _is_job_that_runs(call: TranscriptCall) -> bool:
        return call.is_job and call.content is None

    # ---- calls

    def _hear(self, call: TranscriptCall) -> None:
        heard = self._heard.get(id(call))
        if heard is None:
            heard = self._heard[id(call)] = SpokenCall(call, self._drawing)
        if call.content is not None:
            self._tell_end(heard)
        elif call.args is not None:
            if not heard.begun:
                self._call_later(AT_ONCE, lambda: self._told_late(heard))
            lines = heard.new_lines() + heard.new_steps()
            if lines:
                self._tell_beginning(heard)
                heard.wrote = True
                self._tell_of(heard, lines)

    def _told_late(self, heard: SpokenCall) -> None:
        waits = bool(self.state.requests)  # whether it may run is asked first
        if not (heard.begun or heard.ended or waits) and heard is self._heard.get(id(heard.call)):
            self._tell_beginning(heard)
            self._finish()
            self._redraw()

    def _tell_beginning(self, heard: SpokenCall) -> None:
        if not heard.begun:
            heard.begun = True
            self._hush()
            self._add(SpokenLines(f"running: {heard.title}"))
            self._subject = heard

    def _tell_of(self, heard: SpokenCall, lines: list[str]) -> None:
        if self._subject is not heard:
            self._add(SpokenLines(f"output of {heard.title}:"))
            self._subject = heard
        self._add(SpokenLines(*lines, joins_previous=True))

    def _tell_end(self, heard: SpokenCall) -> None:
        if heard.ended:
            return
        heard.ended = True
        self._hush()
        if heard.wrote and (lines := heard.last_lines()):
            self._tell_of(heard, lines)
        kind = SpokenEnd if heard.wrote and heard.call.pieces else CallBlock
        block = self._by_entry[id(heard.call)] = kind(heard.call, self._drawing)
        block.joins_previous = self._subject is heard
        self._add(block)
        block.close()
        self._subject = None

    # ---- subagents

    def _begin_in_agent(self, entry: Entry) -> None:
        root = entry.agent.partition("/")[0]
        if self._runs(root):
            self._silently(root).take(entry)
        else:
            super()._begin_in_agent(entry)

    def _touched_in_agent(self, entry: Entry) -> None:
        root = entry.agent.partition("/")[0]
        block = self._silently(root)
        if all(known is not entry for known in block.entries[-50:]):
            block.take(entry)
            self._tell_words(entry.agent)
        block.changed()
        if isinstance(entry, TranscriptText):
            self._words[entry.agent] = entry
        elif not isinstance(entry, TranscriptCall) or (entry.content is not None and id(entry) not in self._heard):
            if isinstance(entry, TranscriptCall):
                self._heard[id(entry)] = SpokenCall(entry, self._drawing)
            self._tell_by(entry.agent, block.told(entry))

    def _tell_words(self, path: str) -> None:
        """What an agent said, now that it is complete."""
        words = self._words.pop(path, None)
        if words is not None:
            self._tell_by(path, self._silently(path.partition("/")[0]).told(words))

    def _tell_by(self, path: str, lines: list[str]) -> None:
        if lines:
            joins_previous = self._subject is self._silent
            self._add(SpokenLines(*(f"{self._name(path)}: {line}" for line in lines), joins_previous=joins_previous))
            self._subject = self._silent

    def _agent_changed(self, path: str) -> None:
        agent = self.state.agents.get(path)
        if agent is None:
            return
        if agent.running:
            task = short(agent.task, _TITLE)
            self._add(SpokenLines(f"agent {self._name(path)} started" + (f": {task}" if task else "")))
        else:
            self._tell_words(path)
            self._tell_agents_end(agent)
        self._subject = None

    def _tell_agents_end(self, agent: TranscriptAgent) -> None:
        block = self._silent.pop(agent.path, None)
        if block is not None:
            self._add(block)
        else:
            self._add(SpokenLines(f"agent {self._name(agent.path)} {'failed' if agent.is_error else 'ended'}"))

    def _runs(self, path: str) -> bool:
        agent = self.state.agents.get(path)
        return agent is None or agent.running

    def _silently(self, root: str) -> AgentBlock:
        if root not in self._silent:
            self._silent[root] = AgentBlock(root, self._drawing, self.state.agents)
        return self._silent[root]

    def _name(self, path: str) -> str:
        agent = self.state.agents.get(path)
        return short(agent.name if agent is not None and agent.name else path, _NAME)


def _place(shown: Sequence[Entry]) -> str:
    """Where the last entry is."""
    if not shown:
        return "from its beginning"
    last = shown[-1]
    text = last.name if isinstance(last, TranscriptCall) else last.text
    return f"after: {short(text, _TITLE)}"
