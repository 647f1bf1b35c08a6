"""`/agents`: the agents of this session: what each is doing, its transcript, stopping it, and the messages between all
of them. `/agents PATH` opens the view of one, `/agents new NAME` writes the definition of another kind.

Of each are shown, as far as they are known: its state, how many messages it has not read, the time it worked, the
model, tokens and cost (of an agent with others below it also of all of them), and the last line of what it did. A row
seldom has room for that: what is known of the highlighted one stands below the list.
"""

import asyncio
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from sightline.delegation import new_project_definition
from sightline.events import STOPPED_BY_USER
from sightline.exceptions import SightlineError
from sightline.host import Abort, CancelCall, Command, CommandReply
from sightline.text import clean_line, clean_text
from sightline.transcript import (
    Entry,
    Remark,
    Snapshot,
    Total,
    TranscriptAgent,
    TranscriptCall,
    TranscriptMessage,
    TranscriptText,
)
from sightline.tty import Rows
from sightline.tty.components import Item, TextComponent
from sightline.views._mail import MAIN, mail_from
from sightline.views._working_copies import copy_words
from sightline.views.console._agent_names import agent_model, agent_name, agent_role
from sightline.views.console._desk import Desk, reply_data, report_error, session_begun
from sightline.views.console.selectors import _mail
from sightline.views.console.selectors._agent_viewer import SEARCH, AgentViewer, is_stopped_by_path, works
from sightline.views.console.selectors._pager import WHOLE, PagerDocument, show
from sightline.views.console.selectors._pages import ChangingText
from sightline.views.console.selectors._panel import LivePanel
from sightline.views.console.shapes._shape import seconds_words, short
from sightline.views.console.status._facts import Facts, count

_STOP, _LIST_MAIL = "list_remove", "list_mail"
_LOOKED_AT = 2000  # entries, from the end, for the last line of each agent
_LINE = 120
_LISTED = 20  # agents that a hint names
_TALL, _WIDE = 20, 60  # rows and columns from which there is room below the list
_ROOT = "\0"  # no path of an agent, and not the empty value of a list
_MAIL = "\0mail"


async def open(desk: Desk, args: str) -> None:
    word, _, name = args.partition(" ")
    if word == "new" and args not in desk.state.agents:
        await _write_definition(desk, name.strip())
        return
    if args:
        await _open_one(desk, args)
        return
    at = ""
    while True:
        panel = AgentsPanel(desk, at)
        desk.spawn(panel.poll())
        at = await desk.ask(panel)
        if at is None:
            return
        if at == _MAIL:
            await _mail.open(desk, "")
            at = ""
        else:
            await _show(desk, _path(at))


async def _write_definition(desk: Desk, name: str) -> None:
    """A file to fill in, in the project's folder of agents."""
    if not name:
        desk.report("what is the agent called?", "error", "write /agents new NAME")
        return
    try:
        made = await asyncio.to_thread(new_project_definition, name, Path(desk.cwd))
    except SightlineError as error:
        report_error(desk, error)
        return
    next_step = f"edit it: who the agent is, and what it is for; {name} can be started at once"
    if not made.trusted:
        next_step = "edit it; its agents can be started when the folder is trusted: sightline config trust"
    desk.report(f"written: {clean_line(str(made.path))}", hint=next_step)


async def _open_one(desk: Desk, path: str) -> None:
    """The view of one agent."""
    await session_begun(desk)
    if path in desk.state.agents:
        await _show(desk, path)
    else:
        there = ", ".join([clean_line(each) for each in desk.state.agents][:_LISTED])
        hint = f"agents here: {there}" if there else "this session has no agents"
        desk.report(f"there is no agent {clean_line(path)}", "error", hint)


async def _show(desk: Desk, path: str) -> None:
    """What an agent did, as the transcript shows it; as text, where it is searched or read aloud. What the root did is
    in the transcript."""
    as_text = not path or desk.drawing.linear
    if not as_text:
        viewer = AgentViewer(desk, path, lambda: _title(desk, path))
        desk.spawn(viewer.poll())
        as_text = await desk.ask(viewer, WHOLE) == SEARCH
    if as_text:
        await show(desk, [partial(_document, desk, path)])


class AgentsPanel(LivePanel):
    """Answers with the agent whose transcript is to be shown, or that messages are."""

    def __init__(self, desk: Desk, at: str) -> None:
        self._offered: bool | None = None
        self._stopping: str | None = None  # the path of the agent that is being stopped
        mail = {_LIST_MAIL: lambda item: self.finish(_MAIL)}
        super().__init__(desk, "Agents", at, keys={_STOP: self._remove, **mail})
        self._about = TextComponent("", "muted", padding_x=2, theme=self.theme)
        self.body.children = [self.list, self._about]

    def current_items(self) -> list[Item]:
        return items_of(self.desk.state, self.desk.drawing.clock())

    def render(self, width: int) -> Rows:
        if self._stopping is not None and not works(self.desk.state, self._stopping):
            self._stopping = None
            self.heading.set_note("")
        if (offered := self._can_stop()) != self._offered:
            self._offered = offered
            self.offer((*([(_STOP, "stop")] if offered else []), (_LIST_MAIL, "messages")))
        marked, has_room = self.list.highlighted, self.desk.height >= _TALL and width >= _WIDE
        self._about.set_text(marked.description if marked is not None and has_room else "")
        return super().render(width)

    def _can_stop(self) -> bool:
        """Whether the highlighted agent works, and can be stopped: some programs cannot stop one of their agents
        alone."""
        marked = self.list.highlighted
        if not works(self.desk.state, "" if marked is None else _path(marked.value)):
            return False
        is_root = marked is None or marked.value == _ROOT
        agent = None if marked is None else self.desk.state.agents.get(_path(marked.value))
        return is_root or is_stopped_by_path(agent) or Facts(self.desk.state).stops_agents

    def _remove(self, item: Item) -> None:
        agent = self.desk.state.agents.get(_path(item.value))
        if agent is None:
            self._stop(Abort(), "", self.desk.state.running)
        else:
            ours = is_stopped_by_path(agent)
            command = Abort(agent=agent.path) if ours else CancelCall(agent.call)
            self._stop(command, agent.path, works(self.desk.state, agent.path) and (ours or bool(agent.call)))

    def _stop(self, command: Command, path: str, possible: bool) -> None:
        if possible:
            self.desk.spawn(self._stopped(command, path))
        else:
            self.heading.set_note("it is not running")
            self.redraw()

    async def _stopped(self, command: Command, path: str) -> None:
        reply = await self.desk.submit(command)
        self._stopping = path if reply.ok else None
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
    """The root, then each below the one that started it."""
    last = _last_lines(state)
    root = Item(_ROOT, MAIN, _facts(state, None, now, last))
    return [root, *_below(state, "", 1, now, last)]


def _below(state: Snapshot, parent: str, depth: int, now: float, last: dict[str, str]) -> Iterator[Item]:
    for agent in state.agents.values():
        lost = depth == 1 and agent.parent not in state.agents
        if agent.path != parent and (agent.parent == parent or lost):
            task = clean_line(agent.task)
            label = f"{'  ' * depth}{agent_name(agent.path, agent)}" + (f": {task}" if task else "")
            yield Item(agent.path, label, _facts(state, agent, now, last), role=agent_role(agent.path))
            yield from _below(state, agent.path, depth + 1, now, last)


def _facts(state: Snapshot, agent: TranscriptAgent | None, now: float, last: dict[str, str]) -> str:
    path = "" if agent is None else agent.path
    fact = None if agent is None else agent.fact
    unread = fact.unread if fact is not None else state.unread.get("", 0) if agent is None else 0
    facts = [_standing(state, agent), *([f"{unread} unread"] if unread else [])]
    if fact is not None and fact.extension:
        facts.append(f"from {short(fact.extension.rpartition('/')[2], _LINE)}")
    if agent is not None and (worked := agent.worked(now)):
        facts.append(seconds_words(worked))
    if agent is not None and (model := agent_model(agent)):
        facts.append(model)
    if fact is not None and fact.workplace:
        facts.append(copy_words(fact))
    total = state.totals.get(path)
    facts += _spent([total]) if total is not None else []
    inside = f"{path}/" if path else ""
    below = [each for other, each in state.totals.items() if other != path and other.startswith(inside)]
    if _spent(below):
        facts.append(f"with its agents {', '.join(_spent([*below, total or Total()]))}")
    facts += [last[path]] if path in last else []
    return " · ".join(facts)


def _standing(state: Snapshot, agent: TranscriptAgent | None) -> str:
    """Its state in a word or two, with the reason where there is one."""
    path = "" if agent is None else agent.path
    if any((request.get("agent") or "") == path for request in state.requests.values()):
        return "waits for you"
    if agent is None:
        return "running" if state.running else "idle"
    reason = agent.fact.reason if agent.fact is not None else ""
    if agent.fact is not None and agent.fact.stopped:
        return STOPPED_BY_USER if agent.fact.is_over else f"{agent.standing}: {STOPPED_BY_USER}"
    if agent.fact is not None and agent.fact.failed and not agent.fact.is_over:
        reason = reason or "its last task failed"
    return f"{agent.standing}: {short(reason, _LINE)}" if reason else agent.standing


def _spent(totals: Iterable[Total]) -> list[str]:
    tokens, cost = 0, 0.0
    for total in totals:
        tokens += (total.input_tokens or 0) + (total.output_tokens or 0)
        cost += total.cost or 0.0
    return [*([f"{count(tokens)} tokens"] if tokens else []), *([f"${cost:.2f}"] if cost else [])]


def _last_lines(state: Snapshot) -> dict[str, str]:
    """By path, the last line of what each agent wrote or did."""
    last: dict[str, str] = {}
    for entry in reversed(state.entries[-_LOOKED_AT:]):
        if entry.agent not in last and (line := _last_line(entry)):
            last[entry.agent] = line
    return last


def _last_line(entry: Entry) -> str:
    match entry:
        case TranscriptText() if not entry.reasoning:
            return short(entry.text.rstrip().rpartition("\n")[2], _LINE)
        case TranscriptCall():
            return short(f"{entry.name} {entry.arg}".strip(), _LINE)
        case Remark():
            return short(entry.text, _LINE)
    return ""


def _path(value: str) -> str:
    return "" if value == _ROOT else value


def _title(desk: Desk, path: str) -> str:
    agent = desk.state.agents.get(path)
    if agent is None:
        return MAIN
    facts = [_standing(desk.state, agent), *([model] if (model := agent_model(agent)) else [])]
    return f"{agent_name(path, agent)}: {clean_line(agent.task)} · {' · '.join(facts)}"


def _document(desk: Desk, path: str) -> PagerDocument:
    title = _title(desk, path)

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
            by_user = not entry.source
            head = [mail_from(entry.mail, entry.sender, entry.reply_to, by_user=by_user)] if entry.mail else []
            return "\n".join(f"> {line}" for line in (*head, *clean_text(entry.text).splitlines()))
        case TranscriptText():
            return "" if entry.reasoning else clean_text(entry.text).strip()
        case TranscriptCall():
            text = entry.content if entry.content is not None else entry.output
            return f"$ {clean_line(entry.name)} {clean_line(entry.arg)}\n{text}".rstrip()
        case Remark():
            return f"{entry.level}: {clean_text(entry.text)}"
