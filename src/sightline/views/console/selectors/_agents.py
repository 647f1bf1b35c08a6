"""`/agents`: the agents of this session: task, time, tokens and cost of each, its transcript, and stopping it."""

from collections.abc import Iterator
from functools import partial

from sightline.host import Abort, CancelCall, Command, CommandReply
from sightline.text import clean_line, clean_text
from sightline.transcript import (
    Entry,
    Remark,
    Snapshot,
    TranscriptAgent,
    TranscriptCall,
    TranscriptMessage,
    TranscriptText,
)
from sightline.tty import Rows
from sightline.tty.components import Item
from sightline.views.console._desk import Desk, reply_data
from sightline.views.console.selectors._pager import PagerDocument, show
from sightline.views.console.selectors._pages import ChangingText
from sightline.views.console.selectors._panel import LivePanel
from sightline.views.console.shapes._shape import seconds_words
from sightline.views.console.status._facts import Facts, count

_STOP = "list_remove"
_ROOT = "\0"  # no path of an agent, and not the empty value of a list


async def open(desk: Desk, args: str) -> None:
    at = ""
    while True:
        panel = AgentsPanel(desk, at)
        desk.spawn(panel.poll())
        at = await desk.ask(panel)
        if at is None:
            return
        await show(desk, [partial(_document, desk, _path(at))])


class AgentsPanel(LivePanel):
    """Answers with the agent whose transcript is to be shown."""

    def __init__(self, desk: Desk, at: str) -> None:
        self._offered: bool | None = None
        super().__init__(desk, "Agents", at, keys={_STOP: self._remove})

    def current_items(self) -> list[Item]:
        return items_of(self.desk.state, self.desk.drawing.clock())

    def render(self, width: int) -> Rows:
        if (offered := self._can_stop()) != self._offered:
            self._offered = offered
            self.offer(((_STOP, "stop"),) if offered else ())
        return super().render(width)

    def _can_stop(self) -> bool:
        """Whether the highlighted agent can be stopped: some programs cannot stop one of their agents alone."""
        marked = self.list.highlighted
        is_root = marked is None or marked.value == _ROOT
        return is_root or Facts(self.desk.state).stops_agents

    def _remove(self, item: Item) -> None:
        agent = self.desk.state.agents.get(_path(item.value))
        if agent is None:
            self._stop(Abort(), self.desk.state.running)
        else:
            self._stop(CancelCall(agent.call), agent.running and bool(agent.call))

    def _stop(self, command: Command, possible: bool) -> None:
        if possible:
            self.desk.spawn(self._stopped(command))
        else:
            self.heading.set_note("it is not running")
            self.redraw()

    async def _stopped(self, command: Command) -> None:
        reply = await self.desk.submit(command)
        self.heading.set_note("stopping" if reply.ok else reply.error)
        if reply.ok and isinstance(command, Abort):
            self._restore_queued(reply)
        self.redraw()

    def _restore_queued(self, reply: CommandReply) -> None:
        """Put the queued messages into the editor, as when escape stops the agent."""
        queued = reply_data(reply).get("queued")
        texts = [str(row.get("text", "")) if isinstance(row, dict) else str(row) for row in queued or ()]
        if texts:
            self.desk.set_draft("\n\n".join([*texts, *([self.desk.draft] if self.desk.draft else [])]))


def items_of(state: Snapshot, now: float) -> list[Item]:
    """The agent of the session, then each below the one that started it."""
    root = Item(_ROOT, "the agent of this session", _facts(state, None, now))
    return [root, *_below(state, "", 1, now)]


def _below(state: Snapshot, parent: str, depth: int, now: float) -> Iterator[Item]:
    for agent in state.agents.values():
        lost = depth == 1 and agent.parent not in state.agents
        if agent.path != parent and (agent.parent == parent or lost):
            label = f"{'  ' * depth}{clean_line(agent.name or agent.path)}: {clean_line(agent.task)}"
            yield Item(agent.path, label, _facts(state, agent, now))
            yield from _below(state, agent.path, depth + 1, now)


def _facts(state: Snapshot, agent: TranscriptAgent | None, now: float) -> str:
    """Its state, then time, tokens and cost."""
    running = state.running if agent is None else agent.running
    facts = ["running" if running else "failed" if agent is not None and agent.is_error else "done"]
    if agent is None and not running:
        facts = ["waits for you" if state.requests else "idle"]
    if agent is not None and agent.started:
        facts.append(seconds_words((now if running else agent.ended or agent.started) - agent.started))
    total = state.totals.get("" if agent is None else agent.path)
    if total is not None:
        tokens = (total.input_tokens or 0) + (total.output_tokens or 0)
        facts += [f"{count(tokens)} tokens"] if tokens else []
        facts += [f"${total.cost:.2f}"] if total.cost else []
    return " · ".join(facts)


def _path(value: str) -> str:
    return "" if value == _ROOT else value


def _document(desk: Desk, path: str) -> PagerDocument:
    agent = desk.state.agents.get(path)
    title = "the agent of this session" if agent is None else f"{agent.name or path}: {agent.task}"

    def runs() -> bool:
        one = desk.state.agents.get(path)
        return desk.state.running if one is None else one.running

    return PagerDocument(title, ChangingText(lambda: transcript_of(desk.state, path), lambda: desk.state.seq), runs)


def transcript_of(state: Snapshot, path: str) -> str:
    """The messages, answers and calls of one agent."""
    parts = [text for entry in list(state.shown) if entry.agent == path and (text := _entry_text(entry))]
    return "\n\n".join(parts) + "\n" if parts else "nothing yet\n"


def _entry_text(entry: Entry) -> str:
    match entry:
        case TranscriptMessage():
            return "\n".join(f"> {line}" for line in clean_text(entry.text).splitlines())
        case TranscriptText():
            return "" if entry.reasoning else clean_text(entry.text).strip()
        case TranscriptCall():
            text = entry.content if entry.content is not None else entry.output
            return f"$ {clean_line(entry.name)} {clean_line(entry.arg)}\n{text}".rstrip()
        case Remark():
            return f"{entry.level}: {clean_text(entry.text)}"
