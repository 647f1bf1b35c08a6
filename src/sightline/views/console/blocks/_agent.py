"""A subagent: everything it and those below it do, in one block that is as large as what is worth a look.

Folded, the last few lines of what happens; unfolded, more of them. Whatever it does, its name, its task, how long it
has been at it and how many calls it made stay in the header.
"""

from collections.abc import Mapping

from sightline.text import clean_line
from sightline.transcript import Entry, Remark, TranscriptAgent, TranscriptCall, TranscriptMessage, TranscriptText
from sightline.tty import Rows, Scrollback, truncate
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.blocks._block import TranscriptBlock
from sightline.views.console.blocks._call import state_of
from sightline.views.console.blocks._header import INDENT, beside, header_rows, sign_of
from sightline.views.console.blocks._message import is_persons, said_in_place
from sightline.views.console.blocks._remark import mark_of
from sightline.views.console.shapes import shape_of
from sightline.views.console.shapes._shape import FAILED_ROWS, plural, seconds_words, short

FOLDED, UNFOLDED = 3, 50
_NAME, _TASK = 24, 200
_LOOKED_BACK = 4  # entries for each line wanted: not every entry has one


class AgentBlock(TranscriptBlock, Scrollback):
    """One subagent, with those it starts itself."""

    def __init__(self, path: str, drawing: DrawingOptions, agents: Mapping[str, TranscriptAgent]) -> None:
        self.path = path
        self.entries: list[Entry] = []
        self._drawing = drawing
        self._agents = agents
        self._changes = 0
        self._closed = False
        self._complete = False  # it was drawn as it is for good
        self._made_of: tuple[object, ...] | None = None
        self._rows: Rows = ()

    def changed(self) -> None:
        self._changes += 1

    def take(self, entry: Entry) -> bool:
        is_ours = entry.agent == self.path or entry.agent.startswith(self.path + "/")
        if not is_ours or self._complete:
            return False
        self.entries.append(entry)
        self._changes += 1
        return True

    @property
    def done(self) -> bool:
        agent = self._agents.get(self.path)
        return self._closed or (agent is not None and not agent.running)

    def close(self) -> None:
        self._closed = True

    @property
    def ticks(self) -> bool:
        return not self.done and not self._drawing.linear

    @property
    def source(self) -> str:
        """What it said."""
        said = [entry.text for entry in self.entries if isinstance(entry, TranscriptText) and not entry.reasoning]
        return "\n\n".join(said)

    def live_from(self) -> int | None:
        return 0

    def invalidate(self) -> None:
        self._made_of, self._rows = None, ()

    def render(self, width: int) -> Rows:
        drawing = self._drawing
        made_of = (
            width,
            drawing.theme.name,
            drawing.unfolded,
            drawing.reasoning,
            self._changes,
            self.done,
            self._elapsed(),
        )
        if made_of != self._made_of:
            self._made_of, self._rows = made_of, self._draw(max(width, 4))
        self._complete = self.done
        return self._rows

    def _draw(self, width: int) -> Rows:
        agent = self._agents.get(self.path)
        name = clean_line(agent.name if agent is not None and agent.name else self.path)
        header = header_rows(
            self._drawing.theme,
            width,
            state=self._state(agent),
            label=short(name, _NAME),
            title=short(agent.task, _TASK) if agent is not None else "",
            suffix=self._suffix(),
            most=1,
            spoken=self._drawing.linear,
        )
        return (*header, *beside(self._activity(width - len(INDENT)), self._drawing))

    def _state(self, agent: TranscriptAgent | None) -> str:
        if agent is None or agent.running:
            return "stopped" if self._closed else "running"
        return "error" if agent.is_error else "ok"

    def _suffix(self) -> str:
        calls = [entry for entry in self.entries if isinstance(entry, TranscriptCall)]
        failed = sum(call.is_error for call in calls)
        parts = [plural(len(calls), "call") if calls else "", f"{failed} failed" if failed else ""]
        elapsed = self._elapsed()
        parts.append(seconds_words(elapsed) if elapsed else "")
        return " · ".join([part for part in parts if part])

    def _elapsed(self) -> int:
        """Whole seconds; 0 where nothing is known, or nothing is to move."""
        agent, drawing = self._agents.get(self.path), self._drawing
        if agent is None or not agent.started:
            return 0
        if not agent.running:
            return max(int(agent.ended - agent.started), 0)
        return 0 if drawing.linear or self._closed else max(int(drawing.clock() - agent.started), 0)

    def _activity(self, width: int) -> list[str]:
        """The last lines."""
        agent = self._agents.get(self.path)
        most = UNFOLDED if self._drawing.unfolded else FOLDED
        if agent is not None and agent.is_error:
            most = max(most, FAILED_ROWS)
        lines: list[str] = []
        for entry in reversed(self.entries[-most * _LOOKED_BACK :]):
            lines = [*self._lines(entry, width), *lines]
            if len(lines) >= most:
                break
        return lines[-most:]

    def _lines(self, entry: Entry, width: int) -> list[str]:
        below = entry.agent[len(self.path) + 1 :]
        who = self._drawing.theme.style("dim", f"{clean_line(below)}: ") if below else ""
        return [truncate(who + line, width) for line in self.told(entry)]

    def told(self, entry: Entry) -> list[str]:
        """What there is to say of one thing it did."""
        theme = self._drawing.theme
        if isinstance(entry, TranscriptCall):
            sign, role = sign_of(state_of(entry), spoken=self._drawing.linear)
            shape = shape_of(entry, self._drawing)
            about = short(shape.title, 200)
            return [f"{theme.style(role, sign)} {shape.label} {about} {theme.style('muted', shape.suffix)}".rstrip()]
        if isinstance(entry, TranscriptText):
            if entry.reasoning and not self._drawing.reasoning:
                return []
            last = clean_line(entry.text.rstrip().rpartition("\n")[2])
            return [theme.style("dim", last) if entry.reasoning else last] if last.strip() else []
        if isinstance(entry, TranscriptMessage):
            if not is_persons(entry):
                return [theme.style("dim", short(said_in_place(entry)[0], 200))]
            pointer = "asked:" if self._drawing.linear else "›"
            return [f"{theme.style('muted', pointer)} {short(entry.text, 200)}"]
        return [self._remark(entry)]

    def _remark(self, entry: Remark) -> str:
        mark, role = mark_of(entry, spoken=self._drawing.linear)
        return self._drawing.theme.style(role, f"{mark}{short(entry.text, 200)}")
