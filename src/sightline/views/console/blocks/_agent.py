"""The block of a subagent: what it and the agents below it do.

The header always has its name, its task, the elapsed time and the number of calls. Below are the last lines of its
activity: a few folded, more unfolded.
"""

from collections.abc import Mapping

from sightline.text import clean_line
from sightline.transcript import Entry, Remark, TranscriptAgent, TranscriptCall, TranscriptMessage, TranscriptText
from sightline.tty import CachedComponent, Rows, Scrollback, truncate
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.blocks._block import TranscriptBlock
from sightline.views.console.blocks._call import state_of
from sightline.views.console.blocks._header import INDENT, beside, header_rows, sign_of
from sightline.views.console.blocks._message import automatic_lines, is_from_user
from sightline.views.console.blocks._remark import mark_of
from sightline.views.console.shapes import shape_of
from sightline.views.console.shapes._shape import FAILED_ROWS, plural, seconds_words, short

FOLDED, UNFOLDED = 3, 50
_NAME, _TASK = 24, 200
_LOOKED_BACK = 4  # entries for each line: not every entry has one


class AgentBlock(CachedComponent, TranscriptBlock, Scrollback):
    """One subagent, with the agents it starts."""

    def __init__(self, path: str, drawing: DrawingOptions, agents: Mapping[str, TranscriptAgent]) -> None:
        self.path = path
        self.entries: list[Entry] = []
        self._drawing = drawing
        self._agents = agents
        self._changes = 0
        self._closed = False
        self._complete = False  # it was drawn after its end

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
        texts = [entry.text for entry in self.entries if isinstance(entry, TranscriptText) and not entry.reasoning]
        return "\n\n".join(texts)

    def live_from(self) -> int | None:
        return 0

    def render(self, width: int) -> Rows:
        rows = super().render(width)
        self._complete = self.done
        return rows

    def _key(self) -> tuple[object, ...]:
        drawing = self._drawing
        shown = (drawing.theme.name, drawing.unfolded, drawing.reasoning)
        return *shown, self._changes, self.done, self._elapsed()

    def _draw(self, width: int) -> Rows:
        width = max(width, 4)
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
        """Whole seconds; 0 where the start is unknown, or nothing is to move."""
        agent, drawing = self._agents.get(self.path), self._drawing
        if agent is None or not agent.started:
            return 0
        if not agent.running:
            return max(int(agent.ended - agent.started), 0)
        return 0 if drawing.linear or self._closed else max(int(drawing.clock() - agent.started), 0)

    def _activity(self, width: int) -> list[str]:
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
        return [truncate(who + line, width) for line in self.summary(entry)]

    def summary(self, entry: Entry) -> list[str]:
        """An entry in one line, or none."""
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
            if not is_from_user(entry):
                return [theme.style("dim", short(automatic_lines(entry)[0], 200))]
            pointer = "asked:" if self._drawing.linear else "›"
            return [f"{theme.style('muted', pointer)} {short(entry.text, 200)}"]
        return [self._remark(entry)]

    def _remark(self, entry: Remark) -> str:
        mark, role = mark_of(entry, spoken=self._drawing.linear)
        return self._drawing.theme.style(role, f"{mark}{short(entry.text, 200)}")
