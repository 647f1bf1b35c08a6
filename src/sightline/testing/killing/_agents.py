"""Agents at work: the host of a session is killed while they are, and the session is resumed.

Each round starts a host as the console does, has its agent send out so many others, one of which starts another below
it, and reads the events through the socket. The host is killed with SIGKILL after a random event; then another host
resumes the session. Checked each time:

- every event that was received is in the journal, as it was received, and what the resumed session shows of each agent
  has every word and every call of it once;
- nothing that ran is left; at the end there is no process, no mount and no temporary file of the session;
- an agent that was running says that it was cut off, one that rested does not, and each can be revived;
- one of them is: it answers a prompt, its journal has every entry it had and all that was shown of it, and the
  session's own agent answers, too;
- a file that an agent wrote is one of the versions it had, whole;
- after the end every call and every run of every agent has exactly one end.
"""

import asyncio
import json
import os
import random
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
import psutil

from sightline.conversation import AssistantMessage, TextPart, ToolMessage, UserMessage
from sightline.events import AgentStarted, AgentState, Event, State, Text, ToolResult, ToolUse, User, state_fact
from sightline.host import Client, HostGone, Prompt, Stop, connect, launch_agent
from sightline.journal import Entry, SessionReader
from sightline.settings import StartOptions
from sightline.testing.killing._stored import Failed, check_ends, check_received, events_in, store_of
from sightline.transcript import LOST, Snapshot, TranscriptCall, TranscriptText

_SECONDS = 60.0
_QUIET = 1.5  # seconds: nothing more comes by itself
_VERSIONS = 3
_LINES = 60
_EVENTS_OF_ONE = 80  # so many events an agent publishes, about
_EARLY = 0.25  # share of the rounds that are killed while the agents are being started
_BELOW = "Below"
_AGAIN = "Here I am again."
_ENDLESS = "echo still running; sleep 600"


def play(seed: int, agents: int) -> str:
    """One round. Returns the kind of the last event that was received before the kill."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="sightline-kill-") as name, _living_in(Path(name)) as folder:
        try:
            return asyncio.run(Round(folder, chance, agents).play())
        finally:
            for process in _processes_of(folder):  # after a failure: the next round begins with none
                with suppress(psutil.Error):
                    process.kill()


@contextmanager
def _living_in(folder: Path) -> Iterator[Path]:
    """All that is started here has its home and its temporary files there."""
    new = {
        "SIGHTLINE_HOME": str(folder / "home"),
        "XDG_RUNTIME_DIR": str(folder / "run"),
        "TMPDIR": str(folder / "tmp"),
    }
    old = {name: os.environ.get(name) for name in new}
    for name in ("work", "run", "tmp"):
        (folder / name).mkdir(mode=0o700)
    os.environ.update(new)
    try:
        yield folder
    finally:
        for name, value in old.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


class Round:
    """One session, killed once."""

    def __init__(self, folder: Path, chance: random.Random, agents: int) -> None:
        self._folder = folder
        self._chance = chance
        names = [f"A{number}" for number in range(agents)]
        (folder / "script.json").write_text(json.dumps(_script(names)))
        (folder / "again.json").write_text(json.dumps(_script_afterwards(names)))
        early = chance.random() < _EARLY
        self._kill_after = chance.randrange(1, 12 * agents if early else _EVENTS_OF_ONE * agents)
        # In a sandbox where there is one: what a killed host leaves is another matter then.
        sandbox = shutil.which("bwrap") is not None and chance.random() < 0.5
        self._options = StartOptions(
            cwd=str(folder / "work"),
            allow=["exec"],
            flags={"permissions.sandbox": str(sandbox).lower(), "task.max_concurrency": str(agents + 1)},
        )
        self._received: list[Event] = []

    async def play(self) -> str:
        session = await self._killed()
        last = type(self._received[-1]).__name__ if self._received else "nothing"
        await self._until(lambda: not _processes_of(self._folder), "what it started has not ended")
        check_received(self._folder, session, self._received)
        self._check_files()
        stored = events_in(self._folder, session)
        await self._resumed(session, stored)
        if events_in(self._folder, session)[: len(stored)] != stored:
            raise Failed("what was stored was changed afterwards")
        check_ends(self._folder, session)
        await self._until(lambda: not _processes_of(self._folder), "something is left of the resumed session")
        self._check_nothing_left()
        return last

    async def _killed(self) -> str:
        """The session, whose host was killed while its agents worked."""
        session, client = await self._host("script.json")
        changed = asyncio.Event()
        reading = asyncio.ensure_future(self._read(client, changed))
        await self._submit(client, Prompt("Send them out."))
        with suppress(TimeoutError):  # then nothing more comes: all but one have ended
            while len(self._received) < self._kill_after:
                changed.clear()
                async with asyncio.timeout(_QUIET if self._received else _SECONDS):
                    await changed.wait()
        await asyncio.sleep(self._chance.random() * 0.003)
        os.kill(client.hello.pid, signal.SIGKILL)
        await reading
        client.close()
        return session

    async def _host(self, script: str, resume: str = "") -> tuple[str, Client]:
        model = f"scripted:{self._folder / script}"
        session = await launch_agent(msgspec.structs.replace(self._options, model=model, resume=resume))
        return session, await connect(session)

    async def _read(self, client: Client, changed: asyncio.Event) -> None:
        """Until the host is gone. A snapshot would stand for events that were not received, so it adds none."""
        with suppress(HostGone):
            async for frame in client.subscribe(0, attends=True):
                self._received += frame if isinstance(frame, list) else []
                changed.set()

    async def _submit(self, client: Client, command: Prompt | Stop) -> None:
        reply = await client.submit(command)
        if not reply.ok:
            raise Failed(f"{command} was refused: {reply.error}")

    async def _resumed(self, session: str, stored: list[Event]) -> None:
        """Another host shows all of it, and one agent works again."""
        _, client = await self._host("again.json", resume=session)
        frames = client.subscribe(attends=True)
        snapshot = await anext(frames)
        if not isinstance(snapshot, Snapshot):
            raise Failed("the resumed session did not begin with a snapshot")
        self._check_shown(snapshot)
        self._check_standing(session, snapshot, stored)
        began = len(self._received)
        reading = asyncio.ensure_future(self._collect(frames))
        try:
            parked = sorted(path for path, agent in snapshot.agents.items() if agent.standing == "parked")
            if parked:
                await self._revive(client, session, self._chance.choice(parked), began)
            await self._submit(client, Prompt("Are you there?"))
            await self._until(lambda: _AGAIN in _words(self._received[began:], ""), "the session's agent is silent")
            await self._submit(client, Stop())
            await asyncio.wait_for(reading, _SECONDS)
        finally:
            reading.cancel()
            client.close()

    async def _collect(self, frames: Any) -> None:
        async for frame in frames:
            self._received += frame if isinstance(frame, list) else []

    async def _revive(self, client: Client, session: str, path: str, began: int) -> None:
        before = self._entries(session, path)
        await self._submit(client, Prompt("Are you there?", agent=path))
        await self._until(lambda: _AGAIN in _words(self._received[began:], path), f"{path} does not answer")
        await self._until(lambda: _last_state(self._received[began:], path) == "idle", f"{path} does not rest")
        after = self._entries(session, path)
        if after[: len(before)] != before:
            raise Failed(f"the journal of {path} lost an entry")
        self._check_remembered(path, after, self._received[:began])

    def _entries(self, session: str, path: str) -> list[Entry]:
        folder = store_of(self._folder).folder(session) / "agents" / path.replace("/", ".")
        return list(SessionReader(folder).entries())

    def _check_shown(self, snapshot: Snapshot) -> None:
        """What was received of each agent, once; no more may be missing than what was never shown."""
        texts: dict[tuple[str, int], str] = {}
        for entry in snapshot.entries:
            if isinstance(entry, TranscriptText) and not entry.reasoning:
                if (entry.agent, entry.block) in texts:
                    raise Failed(f"a text of {entry.agent or 'the session'} is shown twice: {entry.text!r}")
                texts[entry.agent, entry.block] = entry.text
        for (path, block), text in _texts(self._received).items():
            if not texts.get((path, block), "").startswith(text):
                raise Failed(f"{path or 'the session'} had written {text!r}; shown is {texts.get((path, block))!r}")
        calls = [entry for entry in snapshot.entries if isinstance(entry, TranscriptCall)]
        for use in (event for event in self._received if isinstance(event, ToolUse)):
            shown = [call for call in calls if call.id == use.id]
            if len(shown) != 1 or shown[0].content is None or shown[0].agent != use.agent:
                raise Failed(f"call {use.id} of {use.agent or 'the session'} is shown as {shown}")

    def _check_standing(self, session: str, snapshot: Snapshot, stored: list[Event]) -> None:
        """Cut off, or at rest; and whatever is shown as parked can be revived."""
        begun = {event.path for event in stored if isinstance(event, AgentStarted)}
        if begun != set(snapshot.agents):
            raise Failed(f"agents {sorted(begun)} were started, and {sorted(snapshot.agents)} are shown")
        for path, agent in snapshot.agents.items():
            fact, last = agent.fact, _last_state(stored, path)
            if fact is None or fact.state not in ("parked", "aborted"):
                raise Failed(f"{path} is shown as {agent.standing}")
            if (last == "running") != bool(fact.reason):
                raise Failed(f"{path} was {last}, and is {fact.state} now: {fact.reason!r}")
            record = store_of(self._folder).folder(session) / "agents" / path.replace("/", ".") / "record.json"
            if fact.state == "parked" and not record.is_file():
                raise Failed(f"{path} is shown as parked, and nothing is stored to revive it from")

    def _check_remembered(self, path: str, entries: list[Entry], shown: list[Event]) -> None:
        """What was shown of an agent it knows: its prompts, its words, and how its calls ended."""
        own = [event for event in shown if event.agent == path]
        messages = [entry.message for entry in entries]
        asked = [_text_of(message) for message in messages if isinstance(message, UserMessage)]
        for event in own:
            if isinstance(event, User) and asked.count(event.text) != 1:
                raise Failed(f"{path} was asked once, and knows of {asked.count(event.text)} times: {event.text!r}")
        said = [_text_of(message) for message in messages if isinstance(message, AssistantMessage)]
        for (_, block), text in _texts(own).items():
            if not any(text in words for words in said):
                raise Failed(f"{path} does not know that it wrote, in block {block}: {text!r}")
        results = {message.call: _text_of(message) for message in messages if isinstance(message, ToolMessage)}
        for event in own:
            if isinstance(event, ToolResult) and results.get(event.id, LOST).startswith(LOST):
                raise Failed(f"{path} does not know how its call {event.id} ended: {event.content!r}")

    def _check_files(self) -> None:
        versions = {_content(version) for version in range(_VERSIONS)}
        for file in (self._folder / "work").iterdir():
            if file.read_text() not in versions:
                raise Failed(f"{file.name} is damaged")

    def _check_nothing_left(self) -> None:
        mounts = [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if str(self._folder) in line]
        if mounts:
            raise Failed(f"mounts are left: {'; '.join(mounts)}")
        left = [str(file.relative_to(self._folder)) for name in ("tmp", "run") for file in _files(self._folder / name)]
        if left:
            raise Failed(f"files are left: {', '.join(left)}")

    async def _until(self, condition: Callable[[], object], problem: str) -> None:
        try:
            async with asyncio.timeout(_SECONDS):
                while not condition():  # noqa: ASYNC110, processes of others tell nothing
                    await asyncio.sleep(0.01)
        except TimeoutError:
            left = "; ".join(_left_of(self._folder))
            raise Failed(f"{problem} after {_SECONDS:.0f} s; running: {left or 'nothing'}") from None


def _script(names: list[str]) -> list[Any]:
    """The session's own agent sends them all out in one call."""
    tasks = [{"id": name, "description": f"part {name}", "assignment": f"Do part {name}."} for name in names]
    scripts = {name: _agent_script(name, number) for number, name in enumerate(names)}
    args = {"agent": "task", "context": "A try.", "tasks": tasks}
    sends: dict[str, Any] = {"tool": "task", "args": args, "agents": scripts, "chunk": 500}
    return [[{"text": "I send them out.", "chunk": 4, "delay_ms": 1}, sends], [{"text": "All are back."}]]


def _agent_script(name: str, number: int) -> list[Any]:
    """Words, calls that print and write; the first of them never ends, the second has one below it."""
    turns: list[Any] = []
    for version in range(1, _VERSIONS):
        command = "for i in 1 2 3; do echo line $i; sleep 0.01; done"
        turns.append(
            [
                {"reasoning": f"{name} thinks about it", "chunk": 6, "delay_ms": 2},
                {"text": f"{name} writes version {version}, step by step.", "chunk": 6, "delay_ms": 3},
                {"tool": "write", "args": {"path": f"{name}.txt", "content": _content(version)}, "chunk": 500},
                {"tool": "bash", "args": {"command": command}},
            ]
        )
    if number == 0:
        turns.append([{"tool": "bash", "args": {"command": _ENDLESS}}])
    if number == 1:
        turns.insert(1, [_below()])
    return [*turns, [{"tool": "yield", "args": {"result": f"{name} is done."}}]]


def _below() -> dict[str, Any]:
    turns = [
        [{"text": "I am below it.", "chunk": 4, "delay_ms": 3}, {"tool": "bash", "args": {"command": "echo below"}}],
        [{"tool": "yield", "args": {"result": "That was below."}}],
    ]
    args = {"agent": "quick_task", "assignment": "Look below.", "id": _BELOW}
    return {"tool": "task", "args": args, "agents": {_BELOW: turns}}


def _script_afterwards(names: list[str]) -> list[Any]:
    """Whoever is asked says that it is there. The call that has the scripts of the others is never made."""
    answers: list[Any] = [[{"text": _AGAIN, "chunk": 4}]] * 100
    below = {"tool": "task", "args": {}, "agents": {_BELOW: answers}}
    return [*answers, [{"tool": "task", "args": {}, "agents": {name: [*answers, [below]] for name in names}}]]


def _content(version: int) -> str:
    return "".join([f"line {number} of version {version}\n" for number in range(_LINES)])


def _texts(events: list[Event]) -> dict[tuple[str, int], str]:
    """By path and block."""
    found: dict[tuple[str, int], str] = {}
    for event in events:
        if isinstance(event, Text):
            found[event.agent, event.block] = found.get((event.agent, event.block), "") + event.text
    return found


def _words(events: list[Event], path: str) -> str:
    return "".join([event.text for event in events if isinstance(event, Text) and event.agent == path])


def _text_of(message: UserMessage | AssistantMessage | ToolMessage) -> str:
    return "".join([part.text for part in message.parts if isinstance(part, TextPart)])


def _last_state(events: list[Event], path: str) -> str:
    """What an agent published about itself last; empty: nothing."""
    facts = [state_fact(event) for event in events if isinstance(event, State) and event.agent == path]
    states = [fact.state for fact in facts if isinstance(fact, AgentState)]
    return states[-1] if states else ""


def _left_of(folder: Path) -> list[str]:
    """As a person knows them."""
    found = []
    for process in _processes_of(folder):
        with suppress(psutil.Error):
            found.append(" ".join(process.cmdline())[:200] or process.name())
    return found


def _processes_of(folder: Path) -> list[psutil.Process]:
    """Those that belong to this round: by what they were started with, and by where they are."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):  # it has ended, or is another user's
            about = [process.cwd(), *process.cmdline(), *process.environ().values()]
            if process.pid != os.getpid() and str(folder) in "\0".join(about):
                found.append(process)
    return found


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if not path.is_dir()]
