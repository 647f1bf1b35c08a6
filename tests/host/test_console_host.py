"""The host of a console: a process of its own that starts at once, without a key too, and outlives whoever watches."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from sightline.events import Event, RunEnded
from sightline.exceptions import UserMistake
from sightline.host import (
    AnswerRequest,
    Client,
    HostGone,
    Prompt,
    Reload,
    SetApproval,
    SetModel,
    Shell,
    Stop,
    connect,
    launch_agent,
)
from sightline.host.socket._runtime import socket_path
from sightline.journal import SessionTree, Store
from sightline.paths import data_folder
from sightline.settings import StartOptions
from sightline.transcript import Remark, Snapshot, Transcript, TranscriptCall, TranscriptMessage
from sightline.views.plain._palette import PLAIN
from sightline.views.plain.commands.sessions import sessions_table
from tests.agent.support import write_script
from tests.host.support import DEADLINE, alive, until

Launch = Callable[..., Awaitable[str]]


@pytest.fixture
async def launch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Launch]:
    """Hosts of consoles in `tmp_path/work`, without keys; ended with the test."""
    for name in list(os.environ):
        if name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("SIGHTLINE_MODELS_DISCOVER", "false")
    work = tmp_path / "work"
    work.mkdir()
    pids: list[int] = []

    async def started(**more: Any) -> str:
        session = await launch_agent(StartOptions(**{"cwd": str(work), **more}))
        client = await connect(session)
        pids.append(client.hello.pid)
        client.close()
        return session

    yield started
    for pid in pids:
        if alive(pid):
            os.kill(pid, signal.SIGKILL)
        with suppress(ChildProcessError):  # a program that runs commands is given its orphans, this one too
            os.waitpid(pid, 0)  # noqa: ASYNC222


class View:
    """A view of a session: what it knows."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self._transcript = Transcript()
        self.seen: list[Event] = []
        self.is_attached = False
        self._changed = asyncio.Event()
        self._task = asyncio.ensure_future(self._watch())

    @property
    def now(self) -> Snapshot:
        return self._transcript.now

    async def until(self, condition: Callable[[], Any]) -> None:
        async with asyncio.timeout(DEADLINE):
            while not condition():
                assert not self._task.done(), self._task.exception()
                self._changed.clear()
                await self._changed.wait()

    def leave(self) -> None:
        self._task.cancel()
        self.client.close()

    async def _watch(self) -> None:
        async for frame in self.client.subscribe(None, attends=True):
            if isinstance(frame, Snapshot):
                self._transcript = Transcript(frame)
            else:
                self.seen += frame
                for event in frame:
                    self._transcript.apply(event)
            self.is_attached = True
            self._changed.set()


async def view_of(session: str) -> View:
    """It sees every event from now on: a run that ends before that is in its first frame."""
    view = View(await connect(session))
    await view.until(lambda: view.is_attached)
    return view


async def stopped(session: str) -> None:
    client = await connect(session)
    await client.submit(Stop())
    await until(lambda: not socket_path(session).exists())
    client.close()


async def test_it_starts_without_a_key_and_says_what_is_missing(launch: Launch, tmp_path: Path) -> None:
    """There is no model: that is told at once, a prompt is answered with the same, and a model can be chosen."""
    session = await launch()
    view = await view_of(session)
    await view.until(lambda: "model" in view.now.state)
    assert view.now.state["model"] == ""
    (remark,) = [entry for entry in view.now.entries if isinstance(entry, Remark)]
    assert "no model" in remark.text
    assert "/setup" in remark.hint
    assert (await view.client.submit(Prompt("hi"))).ok
    await view.until(lambda: any(entry.level == "error" for entry in view.now.entries if isinstance(entry, Remark)))
    script = write_script(tmp_path, [[{"text": "hello"}]])
    assert (await view.client.submit(SetModel(script))).ok
    await view.until(lambda: view.now.state["model"] == script)
    assert (await view.client.submit(Prompt("hi again"))).ok
    await view.until(lambda: any(getattr(entry, "text", "") == "hello" for entry in view.now.entries))
    view.leave()
    await stopped(session)


async def test_a_view_that_attaches_knows_what_there_is(launch: Launch, tmp_path: Path) -> None:
    """Model, thinking, context, commands, jobs and the todo list are in its first snapshot."""
    session = await launch(model=write_script(tmp_path, []), thinking="high")
    view = await view_of(session)
    await view.until(lambda: view.now.seq)
    state = view.now.state
    assert state["thinking"] == "high"
    assert state["model"].startswith("scripted:")
    assert (state["commands"], state["jobs"], state["todo"]) == ([], [], [])
    assert set(state["context"]) == {"used", "of"}
    view.leave()
    await stopped(session)


async def test_a_session_in_which_nothing_was_said_is_not_kept(launch: Launch) -> None:
    """It is gone with its host; one in which something was run is kept."""
    store = Store(data_folder())
    session = await launch()
    assert session in store.sessions()
    await stopped(session)
    await until(lambda: session not in store.sessions())
    session = await launch()
    client = await connect(session)
    await client.submit(Shell("true", private=True))
    client.close()
    await stopped(session)
    await until(lambda: not store.is_running(session))
    assert session in store.sessions()


async def test_what_cannot_start_says_why(launch: Launch, tmp_path: Path) -> None:
    """A folder that is not there, a session nobody knows, a level there is not."""
    for wanted in ({"cwd": str(tmp_path / "gone")}, {"resume": "zzzzzz"}, {"approval": "always"}, {"provider": "bob"}):
        with pytest.raises(UserMistake) as mistake:
            await launch(**wanted)
        assert mistake.value.hint


STARTER = """
import asyncio, sys
import psutil
from sightline.host import connect, launch_agent
from sightline.settings import StartOptions
async def main():
    session = await launch_agent(StartOptions(cwd=sys.argv[1]))
    client = await connect(session)
    print(session, client.hello.pid, len(psutil.Process().children()))
asyncio.run(main())
"""


async def test_it_is_nobodys_child_and_has_no_terminal(tmp_path: Path) -> None:
    """A session of its own, nothing of ours open, and nothing left to be waited for."""
    command = [sys.executable, "-c", STARTER, str(tmp_path)]
    done = await asyncio.to_thread(
        subprocess.run, command, capture_output=True, text=True, check=True, timeout=DEADLINE
    )
    session, pid, children = done.stdout.split()
    process = psutil.Process(int(pid))
    assert children == "0"
    assert process.terminal() is None
    assert os.getsid(process.pid) != os.getsid(0)
    await stopped(session)
    await until(lambda: not alive(process.pid))


def test_starting_it_loads_nothing() -> None:
    """The console starts its host before anything else: no package of ours but the door, nothing heavy."""
    code = "import sys; import sightline.host.process._console_launch; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    bare = subprocess.run([sys.executable, "-c", "import sys; print(*sys.modules)"], capture_output=True, text=True)
    more = set(loaded) - set(bare.stdout.split())
    ours = {"sightline", "sightline._later", "sightline._working_folder"}
    assert more == {*ours, "sightline.host", "sightline.host.process", "sightline.host.process._console_launch"}


async def test_a_request_made_while_nobody_watches_waits(launch: Launch, tmp_path: Path) -> None:
    """Whoever detached is still this session's person: it stays open, the list of sessions says so, and whoever comes
    back answers it."""
    turns = [[{"tool": "bash", "args": {"command": "echo allowed"}}], [{"text": "ok"}]]
    session = await launch(model=write_script(tmp_path, turns), approval="auto", flags={"permissions.sandbox": "false"})
    client = await connect(session)
    assert (await client.submit(Prompt("go"))).ok
    client.close()

    async def waiting() -> int:
        probe = await connect(session)
        probe.close()
        return probe.hello.waiting

    async with asyncio.timeout(DEADLINE):
        while not await waiting():  # noqa: ASYNC110, another process tells nobody
            await asyncio.sleep(0.01)
    table = await asyncio.to_thread(sessions_table, Store(data_folder()), PLAIN)
    assert "waits for you" in table
    view = await view_of(session)
    await view.until(lambda: view.now.requests)
    (request,) = view.now.requests
    assert (await view.client.submit(AnswerRequest(request, "once"))).ok
    await view.until(lambda: not view.now.requests and not view.now.running)
    assert any(isinstance(entry, TranscriptCall) and entry.output == "allowed\n" for entry in view.now.entries)
    view.leave()
    await stopped(session)


async def test_rules_of_the_command_line_return_however_it_is_resumed(launch: Launch, tmp_path: Path) -> None:
    """As `attach` and the page resume it, with its id alone; and a fork of it, from before they were given too."""

    async def rules(session: str) -> set[tuple[str, str]]:
        client = await connect(session)
        reply = await client.submit(SetApproval())
        client.close()
        return {(row["verdict"], row["rule"]) for row in reply.data["rules"]}

    model = write_script(tmp_path, [[{"text": "one"}], [{"text": "two"}]])
    session = await launch(model=model)
    await prompted(session)
    given = {("allow", "exec(make)"), ("deny", "exec(git push)")}
    assert not await rules(session)
    await stopped(session)
    store = Store(data_folder())
    await until(lambda: not store.is_running(session))
    first = SessionTree.load(store.folder(session)).leaf
    await launch(resume=session, allow=["exec(make)"], deny=["exec(git push)"])
    assert await rules(session) == given
    await stopped(session)
    await until(lambda: not store.is_running(session))
    for again in (session, store.fork(session), store.fork(session, first)):
        assert await launch(cwd="", resume=again) == again
        assert await rules(again) == given
        await stopped(again)


async def prompted(session: str) -> None:
    view = await view_of(session)
    assert (await view.client.submit(Prompt("go"))).ok
    await view.until(lambda: any(isinstance(event, RunEnded) for event in view.seen))
    view.leave()


WATCHER = """
import asyncio, sys
from sightline.host import Prompt, connect
async def main():
    client = await connect(sys.argv[1])
    await client.submit(Prompt("go"))
    async for frame in client.subscribe(None, attends=True):
        if "line 3" in str(frame):
            print("seen", flush=True)
asyncio.run(main())
"""


async def test_a_console_that_is_killed_takes_nothing_with_it(launch: Launch, tmp_path: Path) -> None:
    """kill -9: the host and the command go on, and who attaches next sees all of it."""
    command = "i=0; while [ ! -e go ]; do i=$((i+1)); echo line $i; sleep 0.02; done; echo finished"
    turns = [[{"tool": "bash", "args": {"command": command}}], [{"text": "all done"}]]
    flags = {"permissions.sandbox": "false"}
    session = await launch(model=write_script(tmp_path, turns), approval="full", flags=flags)
    console = subprocess.Popen([sys.executable, "-c", WATCHER, session], stdout=subprocess.PIPE, text=True)  # noqa: ASYNC220
    assert console.stdout is not None
    assert await asyncio.to_thread(console.stdout.readline) == "seen\n"
    console.kill()
    console.wait()
    console.stdout.close()
    view = await view_of(session)
    await view.until(lambda: view.now.entries)
    (work,) = [entry for entry in view.now.entries if isinstance(entry, TranscriptCall)]
    assert work.output.startswith("line 1\nline 2\nline 3\n")
    (tmp_path / "work" / "go").touch()
    await view.until(lambda: any(isinstance(event, RunEnded) for event in view.seen))
    assert any(getattr(entry, "text", "") == "all done" for entry in view.now.entries)
    view.leave()
    await stopped(session)


async def test_a_host_that_is_killed_is_missed_at_once(launch: Launch) -> None:
    """Whoever watches hears of it within a second, whatever it was waiting for."""
    session = await launch()
    client = await connect(session)
    frames = client.subscribe(None, attends=True)
    await anext(frames)
    os.kill(client.hello.pid, signal.SIGKILL)
    with pytest.raises(HostGone):
        async for _ in frames:
            pass
    with pytest.raises(HostGone):
        await client.submit(Prompt("hello?"))


async def test_a_kept_session_is_gone_on_with(launch: Launch, tmp_path: Path) -> None:
    """In its own folder; the first snapshot has all there was, and what is said next comes after it."""
    session = await launch(model=write_script(tmp_path, [[{"text": "one"}]]))
    view = await view_of(session)
    await view.client.submit(Prompt("first"))
    await view.until(
        lambda: any(getattr(entry, "text", "") == "one" for entry in view.now.entries) and not view.now.running
    )
    view.leave()
    await stopped(session)
    await until(lambda: not Store(data_folder()).is_running(session))
    again = await launch(
        resume=session, cwd="", model=write_script(tmp_path, [[{"text": "one"}], [{"text": "two"}]], "more.json")
    )
    assert again == session
    view = await view_of(session)
    assert view.client.hello.cwd == str(tmp_path / "work")
    await view.until(lambda: view.now.seq)
    assert [entry.text for entry in view.now.entries if isinstance(entry, TranscriptMessage)] == ["first"]
    await view.client.submit(Prompt("second"))
    await view.until(lambda: any(isinstance(event, RunEnded) for event in view.seen))
    assert [getattr(entry, "text", "") for entry in view.now.entries if not isinstance(entry, Remark)] == [
        *("first", "one", "second", "two")
    ]
    view.leave()
    await stopped(session)


async def test_settings_are_read_again(launch: Launch, tmp_path: Path) -> None:
    """What holds at once does; what holds only in a new session is named."""
    session = await launch(model=write_script(tmp_path, []))
    client = await connect(session)
    assert (await client.submit(Reload())).data == {"later": []}
    home = tmp_path / "sightline-home"
    (home / "settings.toml").write_text('instructions = "Be brief."\n[read]\ndefault_limit = 7\n')
    assert (await client.submit(Reload())).data == {"later": ["instructions"]}
    (home / "settings.toml").write_text("read = 7\n")
    reply = await client.submit(Reload())
    assert not reply.ok
    assert "settings.toml" in reply.error
    client.close()
    await stopped(session)


async def test_the_answer_of_a_host_is_one_line(tmp_path: Path) -> None:
    """`python -m …_console_host`: its session and its process; what was started is gone at once."""
    wanted = json.dumps({"cwd": str(tmp_path)})
    command = [sys.executable, "-P", "-m", "sightline.host.process._console_host", wanted]
    started = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)  # noqa: ASYNC220
    assert started.stdout is not None
    said = json.loads(await asyncio.to_thread(started.stdout.readline))
    assert started.wait(DEADLINE) == 0
    assert set(said) == {"session", "pid"}
    os.kill(said["pid"], signal.SIGTERM)
    assert await asyncio.to_thread(started.stdout.read) == b""
    started.stdout.close()
    await until(lambda: not alive(said["pid"]))


async def test_who_attaches_without_a_terminal_reads_what_waits_for_an_answer(launch: Launch, tmp_path: Path) -> None:
    """It cannot be answered there: where it can is said, of one that waits already and of one that comes."""
    write = {"tool": "write", "args": {"path": str(tmp_path / "outside"), "content": "x"}}
    session = await launch(model=write_script(tmp_path, [[write], [write], [{"text": "Done."}]]))
    view = await view_of(session)
    await view.client.submit(Prompt("go"))
    await view.until(lambda: view.now.requests)
    command = [sys.executable, "-m", "sightline", "attach", session]
    watching = await asyncio.create_subprocess_exec(
        *command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert watching.stderr is not None
    for _ in range(2):
        (request,) = view.now.requests
        said = [(await asyncio.wait_for(watching.stderr.readline(), DEADLINE)).decode() for _ in range(2)]
        assert said[0].startswith("warning: the agent waits for your answer: ")
        assert said[1] == f"hint: answer it in a terminal: sightline attach {session}\n"
        await view.client.submit(AnswerRequest(request, "no"))
        await view.until(lambda request=request: request not in view.now.requests)
        await view.until(lambda: view.now.requests or not view.now.running)
    await view.client.submit(Stop())
    assert await asyncio.wait_for(watching.wait(), DEADLINE) == 0
    view.leave()
