"""The block of a subagent: what it and the agents below it do.

The header always has its name, its task, and how many calls and how much time it took so far, with those of earlier
blocks. Below are the last lines of its activity: a few folded, more unfolded; the end of the output of a call that runs
is among them. While many agents work each has fewer rows (`room`), at least one, which shows what it does now.

An agent that publishes its state takes one prompt after the other. From a prompt until it rests it has one block, which
ends with what the agent was then (`idle`, `parked`, `aborted`), or with that the user stopped it. What it became later
is in `/agents`: history does not change.
"""

from collections.abc import Callable, Mapping

from sightline.events import STOPPED_BY_USER
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
from sightline.tty import CachedComponent, Rows, Scrollback, measure, truncate
from sightline.views.console._agent_names import agent_name, agent_role
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.blocks._block import TranscriptBlock
from sightline.views.console.blocks._call import state_of
from sightline.views.console.blocks._header import INDENT, beside, header_rows, sign_of
from sightline.views.console.blocks._message import automatic_lines, is_from_user
from sightline.views.console.blocks._remark import mark_of
from sightline.views.console.shapes import shape_of
from sightline.views.console.shapes._shape import FAILED_ROWS, plural, seconds_words, short
from sightline.views.console.shapes._tail import Tail, styled_row

FOLDED, UNFOLDED = 3, 50
ROOM = 1 + FOLDED
_OUTPUT = 10  # rows of one call, unfolded
_WROTE = "→"
_NAME, _TASK = 24, 200
_STANDING = {"idle": "idle", "parked": "parked", "aborted": "aborted", "stopped": STOPPED_BY_USER}
_CUT_OFF = ("parked", "aborted", "stopped")
_LOOKED_BACK = 4  # entries for each line: not every entry has one


class AgentBlock(CachedComponent, TranscriptBlock, Scrollback):
    """One subagent, with the agents it starts: what it does from one prompt until it rests.

    `room`: how many rows it may have while it works. `before`: its block above this one.
    """

    def __init__(
        self,
        path: str,
        drawing: DrawingOptions,
        agents: Mapping[str, TranscriptAgent],
        *,
        room: Callable[[], int] = lambda: ROOM,
        before: "AgentBlock | None" = None,
    ) -> None:
        self.path = path
        self.entries: list[Entry] = []
        self._drawing = drawing
        self._agents = agents
        self._room = room
        self._ended, self._failed = before.counts if before is not None else (0, 0)
        self._uncounted: list[TranscriptCall] = []  # calls that had not ended when they were counted last
        self._running: list[TranscriptCall] = []
        self._tails: dict[int, Tail] = {}  # of those, for `_tails_width`
        self._tails_width = 0
        self._floor = 0  # rows of its activity that were shown
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
        if isinstance(entry, TranscriptCall):
            self._uncounted.append(entry)
            if entry.content is None:
                self._running.append(entry)
        self._changes += 1
        return True

    def _begins_run(self, entry: Entry) -> bool:
        """Whether it begins another run after those that are shown, which are over."""
        if not isinstance(entry, TranscriptMessage) or not self.entries:
            return False
        known = self.entries[-1].seq
        shown = [[run for run in agent.runs if run.first <= known] for agent in self._all if agent.fact is not None]
        last = [runs[-1] for runs in shown if runs]
        return bool(last) and all(run.then and run.last is not None and run.last < entry.seq for run in last)

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
        """The last run that is shown; None: none has begun, or its agent publishes no state. It runs again, without
        having rested, when it is reminded of something."""
        agent = self._agent
        if agent is None or agent.fact is None or not agent.runs or not self.entries:
            return None
        first, known = self.entries[0], self.entries[-1].seq
        shown = [run for run in agent.runs if run.last is None or run.last >= first.seq]
        is_prompt = isinstance(first, TranscriptMessage) and first.agent == self.path
        if not shown:
            return None if is_prompt else agent.runs[-1]
        last = shown[0]
        for run in shown[1:]:
            if last.then and run.first > known:
                break
            last = run
        return last

    @property
    def _is_over(self) -> bool:
        """Whether nothing more comes of it. One that publishes its state is over once it has published what it is after
        the run, and with those it started."""
        agent, run = self._agent, self._run
        if agent is None or agent.fact is None:
            return agent is not None and not agent.running
        if self.is_review:
            return False
        ended = bool(run.then) if run is not None else not (agent.running or agent.runs)
        return ended and not any(each.running for each in self._all if each is not agent)

    @property
    def is_review(self) -> bool:
        """Whether it shows the work for a review of the user: not what the reviewer did when it was asked again. It
        is open until the review has a block of its own."""
        agent = self._agent
        if agent is None or agent.fact is None or not agent.fact.is_review or not self.entries:
            return False
        first = self.entries[0].seq
        return not any(run.then and run.last is not None and run.last < first for run in agent.runs)

    def end_review(self) -> None:
        """The review has its block: this one takes nothing more."""
        self._closed = self._complete = True

    @property
    def counts(self) -> tuple[int, int]:
        """How many calls it has made until the end of this block, and how many of them failed. One that still runs is
        of the block below, where there is one."""
        ended = [call for call in self._uncounted if call.content is not None]
        if ended:
            self._uncounted = [call for call in self._uncounted if call.content is None]
            self._ended += len(ended)
            self._failed += sum(state_of(call) == "error" for call in ended)
        return self._ended, self._failed

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
        return *shown, self._changes, self.done, self._elapsed(), self._rows_at_most()

    def _rows_at_most(self) -> int:
        """Of the header and the activity."""
        if self._drawing.unfolded:
            return 1 + UNFOLDED
        if self.done or self._drawing.linear:
            return 1 + (max(FOLDED, FAILED_ROWS) if self._state() == "error" else FOLDED)
        return max(min(self._room(), ROOM), 1)

    def _draw(self, width: int) -> Rows:
        width = max(width, 4)
        agent, most = self._agent, self._rows_at_most() - 1
        label, suffix = short(agent_name(self.path, agent), _NAME), self._suffix()
        if most:
            title = short(agent.task, _TASK) if agent is not None else ""
        else:  # there is no other place for what it does now
            title = self._now(max(width - measure(f"◌ {label}   {suffix}"), 1))
        header = header_rows(
            self._drawing.theme,
            width,
            state=self._state(),
            label=label,
            title=title,
            suffix=suffix,
            most=1,
            spoken=self._drawing.linear,
            role=agent_role(self.path, self._drawing.agent),
        )
        rows = beside(self._activity(width - len(INDENT), most), self._drawing) if most else []
        return (*header, *rows, *[""] * self._filled(len(rows), most))

    def _filled(self, count: int, most: int) -> int:
        """Empty rows that keep the height while it works: what is below it stays where it is."""
        if self.done or self._drawing.linear:
            self._floor = 0
            return 0
        self._floor = min(max(self._floor, count), most)
        return self._floor - count

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
        calls, failed = self.counts
        calls += len(self._uncounted)
        parts = [plural(calls, "call") if calls else "", f"{failed} failed" if failed else ""]
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
        return _STANDING.get(word, "")

    def _elapsed(self) -> int:
        """Whole seconds it has worked until the end of this block; 0 where the start is unknown, or nothing is to
        move."""
        agent, run = self._agent, self._run
        if agent is None or self.continues or (run is not None and not run.started):
            return 0
        moves = agent.running if run is None else run.last is None
        if moves and (self._drawing.linear or self._closed):
            return 0
        return int(agent.worked(self._drawing.clock(), None if run is None else run.first))

    def _activity(self, width: int, most: int) -> list[str]:
        """The last lines. Calls that write are below all others, each with the end of its output."""
        writing = [call for call in self._still_running() if call.pieces]
        output = min(most // len(writing) - 1, _OUTPUT) if writing else 0
        lines: list[str] = []
        for call in reversed(writing):
            lines = [*self._call_lines(call, width, output), *lines]
        for entry in reversed(self.entries[-most * _LOOKED_BACK :]):
            if len(lines) >= most:
                break
            if not any(entry is call for call in writing):
                lines = [*self._lines(entry, width), *lines]
        return lines[-most:]

    def _still_running(self) -> list[TranscriptCall]:
        """Without what moves, none."""
        if self.done or self._drawing.linear:
            self._running, self._tails = [], {}
        elif any(call.content is not None for call in self._running):
            self._running = [call for call in self._running if call.content is None]
            self._tails = {id(call): self._tails[id(call)] for call in self._running if id(call) in self._tails}
        return self._running

    def _now(self, width: int) -> str:
        """What it does, in one row."""
        if running := self._still_running():
            return self._call_lines(running[-1], width, 0)[0]
        last = (self._lines(entry, width) for entry in reversed(self.entries[-_LOOKED_BACK:]))
        return next((lines[-1] for lines in last if lines), "")

    def _call_lines(self, call: TranscriptCall, width: int, most: int) -> list[str]:
        """A call that runs, and below it the last rows of its output; without room for those, the last beside it."""
        line = self._lines(call, width)[0]
        if most > 0:
            return [line, *(INDENT + row for row in self._output(call, width - len(INDENT), most))]
        last = self._output(call, width // 2, 1)
        return [f"{truncate(line, max(width - measure(last[0]) - 3, 1))} {_WROTE} {last[0]}" if last else line]

    def _output(self, call: TranscriptCall, width: int, most: int) -> list[str]:
        """The end of what a call that runs has written."""
        if width != self._tails_width:
            self._tails, self._tails_width = {}, width
        tail = self._tails.setdefault(id(call), Tail(call, width, _OUTPUT))
        return [styled_row(row, self._drawing.theme, width) for row in tail.rows(most)]

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
