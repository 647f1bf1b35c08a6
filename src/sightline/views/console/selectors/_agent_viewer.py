"""What one subagent does, over the whole window: the blocks of the transcript, live.

It shows the session as that agent sees it (`seen_from`): the agent is the root, with the agents below it. The state is
read again while it is open. From its end on it follows what is new (`view_last`); a move up ends that. There is no
search in blocks: it answers `SEARCH`, and the same is shown as text, which can be searched.

An agent of ours takes a message here: it steers one that works, and wakes one that rests. It can be stopped, too.
"""

import asyncio
from collections.abc import Callable, Iterable

from sightline.host import Abort, Command, Prompt
from sightline.text import clean_line
from sightline.transcript import Snapshot, TranscriptAgent, seen_from
from sightline.tty import Component, ImageStore, Input, Key, Rows, pad, truncate
from sightline.tty.components import Input as LineInput
from sightline.views.console._agent_names import agent_role
from sightline.views.console._desk import Answerable, Desk
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.selectors._pager import bottom_row
from sightline.views.console.transcript._transcript_view import TranscriptView

SEARCH = "search"
_STOPPING = "stopping"
_LOOKS_APART = 0.25  # seconds
_WRITE, _STOP = "select_confirm", "list_remove"
_HINTS = (
    ("view_close", "leave"),
    (_WRITE, "write to it"),
    (_STOP, "stop"),
    ("view_search", "as text, to search"),
    ("view_page_up", "up"),
    ("view_last", "bottom"),
)


class AgentViewer(Answerable):
    """Shows the agent at `path`. `title`: what is written above."""

    def __init__(self, desk: Desk, path: str, title: Callable[[], str]) -> None:
        self._desk = desk
        self._path = path
        self._title = title
        self._drawing = _drawing_of(path, desk.drawing)
        self._width = 80
        self._view = TranscriptView(self._drawing, self._redraw, size=self._size, fill=self._fill)
        self._filling: asyncio.Task[object] | None = None
        self._seen = -1
        self._up = 0
        """Rows below the window."""
        self._count = 0
        """Rows there were when it was last drawn."""
        self._rows: Rows = ()
        self._message: LineInput | None = None
        self._refused = ""
        """A message that could not be sent: the next one begins with it."""
        self._note = ""

    async def poll(self) -> None:
        while not self.finished:
            self._look()
            await asyncio.sleep(0 if self._view.behind else _LOOKS_APART)

    def _look(self) -> None:
        """Show what is new."""
        state = self._desk.state
        if state.seq != self._seen:
            now = seen_from(state, self._path)
            if self._seen < 0 or not self._view.catch_up(now):
                self._view.replace(now)
            self._seen = state.seq
        self._view.advance()
        self._redraw()

    def _size(self) -> tuple[int, int]:
        return self._width, self._height

    @property
    def _height(self) -> int:
        return max(1, self._desk.height - 2)

    def _fill(self, older: Iterable[Component]) -> None:
        if self._filling is not None:
            self._filling.cancel()
        self._filling = self._desk.spawn(self._filled(older))

    async def _filled(self, older: Iterable[Component]) -> None:
        """Draw what is above the window, a block at a time: keys are read in between."""
        column = self._view.component
        for block in older:
            if self.finished or column.held is None:
                return
            block.render(self._width)
            column.fill([block], is_live=self._view.is_live)
            await asyncio.sleep(0)
        if column.held is not None:
            column.release_hold()

    def render(self, width: int) -> Rows:
        self._width = width
        rows = self._view.component.render(width)
        if self._up and self._view.component.held is None:
            self._up += len(rows) - self._count  # what is in the window stays there
        self._count = len(rows)
        self._up = min(max(self._up, 0), max(len(rows) - self._height, 0))
        end = len(rows) - self._up
        shown = [truncate(row, width) for row in rows[max(end - self._height, 0) : end]]
        drawn = (self._top(width), *shown, *[""] * (self._height - len(shown)), self._bottom(width))
        if drawn != self._rows:
            self._rows = drawn
        return self._rows

    def invalidate(self) -> None:
        self._view.component.invalidate()

    def dispose(self) -> None:
        self.finished = True
        if self._filling is not None:
            self._filling.cancel()

    def handle_input(self, event: Input) -> bool:
        if self.finished:
            return True
        if self._message is not None:
            return self._react_to_message(self._message, event)
        matches = self._desk.bindings.matches
        if matches(event, _WRITE) and self._takes_messages:
            self._write()
        elif matches(event, _STOP) and self._can_stop:
            self._send(Abort(agent=self._path), _STOPPING)
        elif any(matches(event, action) for action in ("view_close", "select_cancel", "interrupt")):
            self.finish(None)
        elif matches(event, "view_search"):
            self.finish(SEARCH)
        elif matches(event, "exit"):
            self.finish(None)  # it would cover a question before leaving
            return False
        else:
            step = next((step for action, step in self._steps().items() if matches(event, action)), None)
            if step is None:
                return False
            self._up = max(self._up + step, 0)
            self._redraw()
        return True

    @property
    def _takes_messages(self) -> bool:
        """The agents of another program are that program's, and of one whose working copy is gone nothing is left."""
        agent = self._desk.state.agents.get(self._path)
        return agent is not None and agent.fact is not None and agent.fact.takes_prompts

    @property
    def _can_stop(self) -> bool:
        return self._works and is_stopped_by_path(self._desk.state.agents.get(self._path))

    @property
    def _works(self) -> bool:
        return works(self._desk.state, self._path)

    def _write(self) -> None:
        self._note = ""
        self._message = LineInput(prompt="message › ", bindings=self._desk.bindings, theme=self._drawing.theme)
        self._message.set_text(self._refused)
        self._message.focused = True
        self._message.on_submit = self._submitted
        self._redraw()

    def _submitted(self, text: str) -> None:
        self._message = None
        self._refused = ""
        if text.strip():
            self._send(Prompt(text, agent=self._path), "sent")
        self._redraw()

    def _react_to_message(self, message: LineInput, event: Input) -> bool:
        matches = self._desk.bindings.matches
        if matches(event, "select_cancel") or matches(event, "interrupt"):
            self._message = None
            self._redraw()
            return True
        known = message.handle_input(event)
        self._redraw()
        return known or isinstance(event, Key)

    def _send(self, command: Command, done: str) -> None:
        async def send() -> None:
            reply = await self._desk.submit(command)
            self._note = done if reply.ok else f"{reply.error}; {reply.hint}" if reply.hint else reply.error
            if isinstance(command, Prompt) and not reply.ok:
                self._refused = command.text
            self._redraw()

        self._desk.spawn(send())

    def _steps(self) -> dict[str, int]:
        """How many rows up each of these keys moves."""
        page = self._height
        return {
            "view_up": 1,
            "view_down": -1,
            "view_page_up": page,
            "view_page_down": -page,
            "view_first": self._count,
            "view_last": -self._count,
        }

    def _redraw(self) -> None:
        if not self.finished:
            self._desk.redraw(self)

    def _top(self, width: int) -> str:
        return self._drawing.theme.style(agent_role(self._path), pad(clean_line(self._title()), width))

    def _bottom(self, width: int) -> str:
        if self._message is not None:
            return self._message.render(width)[0]
        place = f"{self._up} rows below" if self._up else "following"
        if self._note == _STOPPING and not self._works:
            self._note = ""
        without = {*([] if self._takes_messages else [_WRITE]), *([] if self._can_stop else [_STOP])}
        hints = [([action], meaning) for action, meaning in _HINTS if action not in without]
        return bottom_row(self._desk, place, hints, width, note=self._note)


def works(state: Snapshot, path: str) -> bool:
    """Whether an agent works, or one below it; the empty path is the session's own."""
    if not path:
        return state.running
    return any(agent.running for agent in state.agents.values() if f"{agent.path}/".startswith(f"{path}/"))


def is_stopped_by_path(agent: TranscriptAgent | None) -> bool:
    """Whether it is the session's own: those of another program are stopped by their call, if at all."""
    return agent is not None and (agent.fact is not None or (agent.aside and agent.running))


def _drawing_of(path: str, drawing: DrawingOptions) -> DrawingOptions:
    """The same look, but for pictures: over a window they are described."""
    images, bindings = ImageStore("none"), drawing.bindings
    made = DrawingOptions(drawing.theme, images, bindings, cwd=drawing.cwd, clock=drawing.clock)
    made.agent = path
    made.unfolded, made.reasoning, made.renderers = drawing.unfolded, drawing.reasoning, drawing.renderers
    return made
