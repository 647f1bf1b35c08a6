"""The block of a subagent: what it and the agents below it do.

The header always has its name, its task, the elapsed time and the number of calls. Below are the last lines of its
activity: a few folded, more unfolded.

An agent that publishes its state takes one prompt after the other: each of its runs is a block, which ends with what
the agent was after it (`idle`, `parked`, `aborted`). What it became later is in `/agents`: history does not change.
"""

from collections.abc import Mapping

from sightline.text import clean_line
from sightline.transcript import (
    Entry,
    Remark,
    TranscriptAgent,
    TranscriptCall,
    TranscriptMessage,
    TranscriptRun,
    TranscriptText,
)
from sightline.tty import CachedComponent, Rows, Scrollback, truncate
from sightline.views.console._agent_names import agent_name, agent_role
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
_STANDING, _CUT_OFF = ("idle", "parked", "aborted"), ("parked", "aborted")
_LOOKED_BACK = 4  # entries for each line: not every entry has one


class AgentBlock(CachedComponent, TranscriptBlock, Scrollback):
    """One subagent, with the agents it starts: one run of it, where it may have several."""

    def __init__(self, path: str, drawing: DrawingOptions, agents: Mapping[str, TranscriptAgent]) -> None:
        self.path = path
        self.entries: list[Entry] = []
        self._drawing = drawing
        self._agents = agents
        self._changes = 0
        self._closed = False
        self.continues = False  # in another block
        self._complete = False  # it was drawn after its end

    def changed(self) -> None:
        self._changes += 1

    def take(self, entry: Entry) -> bool:
        is_ours = entry.agent == self.path or entry.agent.startswith(self.path + "/")
        if not is_ours or self._complete or self.continues or self._begins_run(entry):
            return False
        self.entries.append(entry)
        self._changes += 1
        return True

    def _begins_run(self, entry: Entry) -> bool:
        """Whether it begins another run after those that are shown, which are over."""
        if not isinstance(entry, TranscriptMessage) or not self.entries:
            return False
        known = self.entries[-1].seq
        shown = [run for agent in self._all if agent.fact is not None for run in agent.runs if run.first <= known]
        return bool(shown) and all(run.last is not None and run.last < entry.seq for run in shown)

    def leave_behind(self, seq: int) -> None:
        """The next prompt of the user is event `seq`. What an agent that is still working does from there on is shown
        below it: what is under a block that changes cannot become history."""
        if not self._closed and any(_worked_at(agent, seq) for agent in self._all):
            self.continues = self._closed = True
            self._changes += 1

    @property
    def done(self) -> bool:
        return self._closed or self._is_over

    @property
    def _agent(self) -> TranscriptAgent | None:
        return self._agents.get(self.path)

    @property
    def _all(self) -> list[TranscriptAgent]:
        """It and those below it."""
        return [agent for path, agent in self._agents.items() if f"{path}/".startswith(f"{self.path}/")]

    @property
    def _run(self) -> TranscriptRun | None:
        """The run that is shown; None: it has not begun, or its agent publishes no state."""
        agent = self._agent
        if agent is None or agent.fact is None or not agent.runs or not self.entries:
            return None
        first = self.entries[0]
        shown = (run for run in agent.runs if run.last is None or run.last >= first.seq)
        is_prompt = isinstance(first, TranscriptMessage) and first.agent == self.path
        return next(shown, None if is_prompt else agent.runs[-1])

    @property
    def _is_over(self) -> bool:
        """Whether nothing more comes of it. One that publishes its state is over once it has published what it is after
        the run, and with those it started."""
        agent, run = self._agent, self._run
        if agent is None or agent.fact is None:
            return agent is not None and not agent.running
        ended = bool(run.then) if run is not None else not (agent.running or agent.runs)
        return ended and not any(each.running for each in self._all if each is not agent)

    @property
    def outlives_run(self) -> bool:
        agent = self._agent
        return agent is not None and agent.fact is not None and not self._is_over

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
        agent = self._agent
        header = header_rows(
            self._drawing.theme,
            width,
            state=self._state(),
            label=short(agent_name(self.path, agent), _NAME),
            title=short(agent.task, _TASK) if agent is not None else "",
            suffix=self._suffix(),
            most=1,
            spoken=self._drawing.linear,
            role=agent_role(self.path, self._drawing.agent),
        )
        return (*header, *beside(self._activity(width - len(INDENT)), self._drawing))

    def _state(self) -> str:
        if self.continues:
            return "background"
        agent, run = self._agent, self._run
        if run is not None and run.last is not None and self.done:
            return "stopped" if run.then in _CUT_OFF else "error" if run.is_error else "ok"
        if agent is None or agent.running or not self.done:
            return "stopped" if self._closed else "running"
        return "stopped" if agent.standing in _CUT_OFF else "error" if agent.is_error else "ok"

    def _suffix(self) -> str:
        calls = [entry for entry in self.entries if isinstance(entry, TranscriptCall)]
        failed = sum(call.is_error for call in calls)
        parts = [plural(len(calls), "call") if calls else "", f"{failed} failed" if failed else ""]
        elapsed = self._elapsed()
        parts += [seconds_words(elapsed) if elapsed else "", self._standing()]
        return " · ".join([part for part in parts if part])

    def _standing(self) -> str:
        """What the agent was after the run, where it takes another prompt, or would have."""
        run, agent = self._run, self._agent
        if self.continues:
            return "still running"
        if not self.done or agent is None or agent.fact is None:
            return ""
        word = run.then if run is not None else agent.standing
        return word if word in _STANDING else ""

    def _elapsed(self) -> int:
        """Whole seconds; 0 where the start is unknown, or nothing is to move."""
        agent, run, now = self._agent, self._run, self._drawing.clock()
        started = run.started if run is not None else agent.started if agent is not None else 0.0
        if agent is None or not started or self.continues:
            return 0
        ended = run.ended if run is not None else 0.0 if agent.running else agent.ended
        if ended:
            return max(int(ended - started), 0)
        return 0 if self._drawing.linear or self._closed else max(int(now - started), 0)

    def _activity(self, width: int) -> list[str]:
        most = UNFOLDED if self._drawing.unfolded else FOLDED
        if self._state() == "error":
            most = max(most, FAILED_ROWS)
        lines: list[str] = []
        for entry in reversed(self.entries[-most * _LOOKED_BACK :]):
            lines = [*self._lines(entry, width), *lines]
            if len(lines) >= most:
                break
        return lines[-most:]

    def _lines(self, entry: Entry, width: int) -> list[str]:
        below = entry.agent[len(self.path) + 1 :]
        role = agent_role(entry.agent, self._drawing.agent)
        who = self._drawing.theme.style(role, f"{clean_line(below)}: ") if below else ""
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


def _worked_at(agent: TranscriptAgent, seq: int) -> bool:
    """Whether an agent that publishes its state was in a run when this event came."""
    if agent.fact is None:
        return False
    return any(run.first < seq and (run.last is None or run.last > seq) for run in agent.runs)
