"""What must not happen to a session, whoever asks for it and however its host ended."""

import asyncio
import os
import signal
import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import psutil
import pytest

from sightline.agent import AgentSpec, take_settings
from sightline.conversation import UserMessage, text_of
from sightline.events import Notice, Request, RequestResolved, RunEnded, ToolOutput, ToolResult, ToolUse, User
from sightline.exceptions import SightlineError, UserMistake
from sightline.host import (
    Abort,
    AnswerRequest,
    Attach,
    Cell,
    Client,
    Prompt,
    Shell,
    Stop,
    Unqueue,
    connect,
    launch_agent,
)
from sightline.host.native._working import working
from sightline.host.process import _console_host as console_host
from sightline.host.process._console_launch import start_host
from sightline.host.process._console_options import started
from sightline.host.session._session import HostSession
from sightline.host.socket._client import HostGone
from sightline.host.socket._runtime import connected
from sightline.host.socket._wire import REQUEST_CAP
from sightline.journal import Store
from sightline.paths import data_folder
from sightline.settings import Policy, StartOptions, load
from sightline.tools import Need
from sightline.transcript import Snapshot, TranscriptCall
from tests.agent.support import lab, store_in, write_script
from tests.host.support import DEADLINE, alive, until
from tests.providers.fake_app_server import install, path_with
from tests.providers.support import lines


def bash(command: str) -> dict[str, object]:
    return {"tool": "bash", "args": {"command": command}}


def nested(depth: int) -> Any:
    value: Any = "yes"
    for _ in range(depth):
        value = [value]
    return value


# What comes over the socket


async def test_a_command_of_another_version_is_answered(tmp_path: Path) -> None:
    """A view that knows more commands than its host hears at once that this is none, and is not left waiting."""
    async with lab(tmp_path, []) as here:
        reader, writer = await asyncio.open_unix_connection(sock=connected(here.session.id, 1))
        await reader.readline()
        for ref, command in enumerate(({"kind": "teleport"}, {"kind": "prompt", "text": 3}, 7), 1):
            writer.write(msgspec.json.encode({"kind": "submit", "command": command, "ref": ref}) + b"\n")
            reply = msgspec.json.decode(await asyncio.wait_for(reader.readline(), DEADLINE))
            assert (reply["ok"], reply["ref"]) == (False, ref)
            assert reply["error"]
        writer.write(b'{"kind":"submit","command":{"kind":"answer","id":"r","answer":' + b"[" * 50_000 + b"\n")
        reply = msgspec.json.decode(await asyncio.wait_for(reader.readline(), DEADLINE))
        assert not reply["ok"]
        writer.close()


async def test_a_request_that_is_too_long_is_refused_here(tmp_path: Path) -> None:
    """The host would hang up on it, which is not the host's end."""
    async with lab(tmp_path, []) as here:
        client = await connect(here.session.id)
        with pytest.raises(UserMistake, match="too long"):
            await client.submit(Attach("big", b"x" * REQUEST_CAP))
        assert (await client.submit(Shell("true"))).ok
        client.close()


async def test_who_waits_for_an_answer_hears_that_the_host_cannot_be_understood() -> None:
    """An unreadable line ends the connection for everybody who waits on it."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    reader, writer = await asyncio.open_unix_connection(sock=ours)
    hello = SimpleNamespace(session="s", version="0")
    client = Client(hello, reader, writer, b"")  # type: ignore[arg-type]
    asking = asyncio.ensure_future(client.submit(Stop()))
    await asyncio.sleep(0)
    theirs.sendall(b'{"kind":"from the future"}\n')
    with pytest.raises(HostGone):
        await asyncio.wait_for(asking, DEADLINE)
    with pytest.raises(HostGone):
        await client.submit(Stop())
    client.close()
    theirs.close()


ASKS_FIRST = """
def setup(extension):
    @extension.on("prompt")
    async def look(text):
        return "changed" if await extension.ui.confirm("Send it?") else text
"""


async def test_what_is_asked_about_a_prompt_can_be_answered_where_it_came_from(tmp_path: Path) -> None:
    """A hook that waits for the person does not keep the host from hearing the answer."""
    own = tmp_path / "home" / "extensions"
    own.mkdir(parents=True)
    (own / "asks.py").write_text(ASKS_FIRST)
    environ = {"SIGHTLINE_HOME": str(tmp_path / "home")}
    async with lab(tmp_path, [[{"text": "ok"}]], environ=environ) as here:
        person = here.session.subscribe(attends=True)
        client = await connect(here.session.id)
        asking = asyncio.ensure_future(client.submit(Prompt("go")))
        request = await here.first(Request)
        reply = await asyncio.wait_for(client.submit(AnswerRequest(request.id, True)), DEADLINE)
        assert reply.ok
        assert (await asking).ok
        await here.ended()
        assert [event.text for event in here.of(User)] == ["changed"]
        client.close()
        person.close()


async def test_commands_are_taken_in_the_order_they_were_given(tmp_path: Path) -> None:
    """Prompts, and what takes them back."""
    async with lab(tmp_path, [[{"text": "x" * 5000, "chunk": 1, "delay_ms": 5}]]) as here:
        client = await connect(here.session.id)
        prompts = [Prompt("go"), *(Prompt(f"{n}", how="follow_up") for n in range(20))]
        replies = await asyncio.gather(*(client.submit(command) for command in [*prompts, Unqueue(), Abort()]))
        given_back = [text for reply in replies if reply.data for text in reply.data["queued"]]
        assert given_back[-20:] == [f"{n}" for n in range(20)]
        await here.ended()
        client.close()


async def test_a_prompt_that_is_taken_back_at_once_asks_nothing(tmp_path: Path) -> None:
    """The model is not asked to answer its own last words."""
    async with lab(tmp_path, [[{"text": "one"}], [{"text": "two"}]]) as here:
        await here.run("first")
        await here.session.submit(Prompt("second"))
        assert (await here.session.submit(Unqueue())).data["queued"] == ["second"]
        assert (await here.ended()).exit_code == 0
        assert len(here.requests) == 1
        assert [event.text for event in here.of(User)] == ["first"]
        assert (await here.run("third")).text == "two"


async def test_a_session_is_not_idle_while_somebody_is_asked(tmp_path: Path) -> None:
    """A host does not leave while a question is open, and looks again when it is closed."""
    async with lab(tmp_path, []) as here:
        here.close()
        idle: list[bool] = []
        here.session.on_idle = lambda: idle.append(True)
        assert here.session.idle
        asking = asyncio.ensure_future(here.agent.requests.ask("dialog", "?", [], {}, id="r"))
        await asyncio.sleep(0)
        here.session.flush()
        assert not here.session.idle
        assert (await here.session.submit(AnswerRequest("r", "yes"))).ok
        assert await asking == "yes"
        await until(lambda: idle)
        assert here.session.idle


# Answers


@pytest.mark.parametrize("answer", [nested(700), {"choice": nested(5)}, {"choice": None}, 7, [], {"rule": "exec"}])
async def test_an_answer_of_no_shape_is_a_no(tmp_path: Path, answer: Any) -> None:
    """The call is refused, the request closed, and the run goes on."""
    environ = {**os.environ, "SOME_API_KEY": "k3y-that-nobody-sees"}
    turns = [[bash("touch made")], [{"text": "ok"}]]
    async with lab(tmp_path, turns, approval="ask", attended=True, environ=environ) as here:
        await here.agent.prompt("go")
        request = await here.first(Request)
        client = await connect(here.session.id)
        assert (await client.submit(AnswerRequest(request.id, answer))).ok
        assert (await here.ended()).text == "ok"
        assert [event.id for event in here.of(RequestResolved)] == [request.id]
        assert not (tmp_path / "work" / "made").exists()
        client.close()


@pytest.mark.parametrize("choice", ["this session", "always here"])
async def test_a_rule_that_is_none_allows_this_once_only(tmp_path: Path, choice: str) -> None:
    """It is told, nothing is remembered, and the rules can be read again afterwards."""
    async with lab(tmp_path, [[bash("echo a")], [{"text": "ok"}]], approval="ask", attended=True) as here:
        await here.agent.prompt("go")
        request = await here.first(Request)
        here.agent.requests.answer(request.id, {"choice": choice, "rule": "perhaps(("})
        outcome = await here.ended()
        assert (outcome.exit_code, outcome.text) == (0, "ok")
        assert any("perhaps((" in event.text for event in here.of(Notice))
        before = here.agent.permissions.policy.allow
        here.agent.permissions.approvals.renew(here.agent.permissions.policy)
        assert here.agent.permissions.policy.allow == before == ()


async def test_nobody_is_asked_who_left_while_the_change_was_worked_out(tmp_path: Path) -> None:
    """In a session that is nobody's: what would be asked of an empty room is refused."""
    target = tmp_path / "elsewhere.txt"
    call = {"tool": "write", "args": {"path": str(target), "content": "new\n"}}
    async with lab(tmp_path, [[call], [{"text": "ok"}]], approval="edit") as here:
        view = here.session.subscribe(None, attends=True)
        tool = here.agent.tools.get("write")
        work_out = tool.changes

        async def leave_meanwhile(params: Any, context: Any) -> str:
            view.close()
            return await work_out(params, context)

        tool.changes = leave_meanwhile  # type: ignore[method-assign]
        await here.session.submit(Prompt("go"))
        assert (await here.ended()).exit_code == 3
        assert not target.exists()


async def test_no_request_has_a_name_another_had(tmp_path: Path) -> None:
    """A late answer to a question of the host before must not answer another one."""
    async with lab(tmp_path, [[bash("echo a")], [{"text": "ok"}]], approval="ask", attended=True) as here:
        await here.agent.prompt("go")
        first = await here.first(Request)
        here.agent.requests.answer(first.id, "no")
        await here.ended()
    turns = [[], [], [bash("echo b")], [{"text": "ok"}]]
    async with lab(tmp_path, turns, approval="ask", attended=True, resume=here.session.id) as again:
        await again.agent.prompt("go")
        second = await again.first(Request)
        assert second.id != first.id
        again.agent.requests.answer(second.id, "no")
        await again.ended()


# Ends


@pytest.mark.parametrize("command", [Shell("sleep 60"), Cell("import time; time.sleep(60)")])
async def test_nothing_begins_while_the_session_ends(tmp_path: Path, command: Any) -> None:
    """It would keep the session from ending for as long as it takes."""
    async with lab(tmp_path, []) as here:
        await here.session.submit(Shell("trap '' TERM; sleep 0.3"))
        await here.session.submit(Stop())
        await asyncio.sleep(0)
        reply = await here.session.submit(command)
        assert not reply.ok
        assert reply.hint


async def test_a_session_that_was_used_is_kept_when_its_end_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever goes wrong on the way out, what was said is not thrown away."""
    async with lab(tmp_path, []) as probe:
        options = StartOptions(model=probe.agent.model.name)
    work = tmp_path / "work"
    spec = AgentSpec(
        cwd=work, settings=load(work, environ={}).settings, policy=Policy("auto", [], [], work), options=options
    )
    store = store_in(tmp_path)

    async def broken(self: HostSession) -> None:
        raise OSError("no")

    monkeypatch.setattr(HostSession, "sync", broken)
    with pytest.raises(OSError, match="no"):  # noqa: PT012
        async with working(store, spec, remove_unused=True) as it:
            await it.session.submit(Shell("true", private=True))
            await it.session.wait()
    assert store.folder(it.session.id).is_dir()


async def test_what_the_host_answers_last_goes_nowhere_else(tmp_path: Path) -> None:
    """The pipe of whoever asked keeps its number when they are gone: it must not become that of a file."""
    asker, ready = os.pipe()
    over = asyncio.Event()
    session, server = SimpleNamespace(idle=True, waiting=0), SimpleNamespace(connections=0)
    console_host._stop_when(over, session, server, ready)  # type: ignore[arg-type]
    os.close(asker)
    await until(lambda: os.fstat(ready).st_rdev == os.stat(os.devnull).st_rdev)
    with open(tmp_path / "other", "wb") as other:  # noqa: ASYNC230
        assert other.fileno() != ready
        console_host._give_up(ready, UserMistake("too late"))
    assert (tmp_path / "other").read_bytes() == b""
    os.close(ready)


async def test_what_a_killed_host_left_open_is_ended_when_it_is_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command of the person's that ran beside an agent that had finished."""
    monkeypatch.setenv("SIGHTLINE_MODELS_DISCOVER", "false")
    model = write_script(tmp_path, [[{"text": "one"}]])
    session = await launch_agent(StartOptions(cwd=str(tmp_path), model=model))
    client = await connect(session)
    call = (await client.submit(Shell("echo begun; sleep 600"))).id
    assert (await client.submit(Prompt("go"))).ok
    seen: list[Any] = []
    async with asyncio.timeout(DEADLINE):
        async for frame in client.subscribe(0):
            assert isinstance(frame, list)
            seen += frame
            if any(isinstance(e, RunEnded) for e in seen) and any(isinstance(e, ToolOutput) for e in seen):
                break
    os.kill(client.hello.pid, signal.SIGKILL)
    client.close()
    await until(lambda: not Store(data_folder()).is_running(session))
    again = await launch_agent(StartOptions(cwd=str(tmp_path), resume=session))
    client = await connect(again)
    async for frame in client.subscribe(None):
        (left,) = [entry for entry in frame.entries if isinstance(entry, TranscriptCall) and entry.id == call]  # type: ignore[union-attr]
        break
    assert left.content is not None
    assert left.is_error
    assert left.output == "begun\n"
    await client.submit(Stop())
    await until(lambda: not alive(client.hello.pid))
    client.close()


async def test_a_provider_that_is_kept_open_ends_with_a_host_that_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No process of it is left, and the session can be gone on with: nothing in it is open."""
    folder, work = tmp_path / "bin", tmp_path / "work"
    work.mkdir()
    asking = {"method": "item/commandExecution/requestApproval", "id": 7}
    asking["params"] = {"threadId": "T1", "itemId": "c1", "command": "rm x", "cwd": "/"}
    install(folder, lines(asking))
    monkeypatch.setenv("PATH", path_with(folder))
    session = await launch_agent(StartOptions(cwd=str(work), provider="codex"))
    client = await connect(session)
    assert (await client.submit(Prompt("go"))).ok
    async with asyncio.timeout(DEADLINE):
        async for frame in client.subscribe(0, attends=True):
            if "Codex wants to run" in str(frame):
                break
    host = psutil.Process(client.hello.pid)
    others = host.children(recursive=True)
    assert any("app-server" in process.cmdline() for process in others)
    host.kill()
    client.close()
    await until(lambda: not any(alive(process.pid) for process in others))
    await until(lambda: not Store(data_folder()).is_running(session))
    assert await launch_agent(StartOptions(cwd=str(work), resume=session)) == session
    client = await connect(session)
    async for frame in client.subscribe(None):
        assert isinstance(frame, Snapshot)
        assert not frame.requests
        assert not frame.running
        break
    await client.submit(Stop())
    await until(lambda: not alive(client.hello.pid))
    client.close()


# Rules


async def test_a_deny_rule_that_comes_later_holds_for_what_walks_over_files(tmp_path: Path) -> None:
    """And for what a command in the sandbox may write; one that goes away holds until the session ends."""
    search = {"tool": "search", "args": {"pattern": "SECRET"}}
    async with lab(tmp_path, [[search], [search], [{"text": "ok"}]], deny=["write(kept/**)"]) as here:
        work = tmp_path / "work"
        (work / ".env").write_text("SECRET=1\n")
        policy = Policy("auto", ["exec"], ["read(**/.env)", "write(closed/**)"], work)
        take_settings(here.agent, AgentSpec(cwd=work, settings=here.agent.workplace.settings, policy=policy))
        await here.run()
        assert not any("SECRET=1" in str(result.content) for result in here.of(ToolResult))
        closed = {os.path.basename(path) for path in here.agent.workplace.limits().read_only}
        assert closed == {"closed", "kept"}
        assert here.agent.permissions.policy.decide(Need("write", str(work / "kept" / "x"))).verdict == "deny"


# Starts


async def answer_from(folder: bytes, **wanted: Any) -> str:
    """What a host says that is started in a folder."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        pipe = start_host(msgspec.json.encode(StartOptions(**wanted)).decode())
    finally:
        os.chdir(before)
    return await started(pipe)


async def test_a_folder_that_is_no_text_is_a_mistake_that_says_so(tmp_path: Path) -> None:
    """Not a bug in us: no model could name a file in it."""
    odd = os.fsencode(tmp_path) + b"/\xff"
    os.mkdir(odd)
    with pytest.raises(UserMistake, match="not UTF-8"):
        await answer_from(odd)


async def test_a_folder_that_is_gone_is_a_mistake_that_says_so(tmp_path: Path) -> None:
    """The shell still stands in it."""
    gone = tmp_path / "gone"
    gone.mkdir()
    before = os.getcwd()
    os.chdir(gone)
    gone.rmdir()
    try:
        pipe = start_host("{}")
    finally:
        os.chdir(before)
    with pytest.raises(UserMistake) as mistake:
        await started(pipe)
    assert mistake.value.hint


@pytest.mark.parametrize("wanted", ["", "[]", "{", '{"cwd": 3}', '{"resume": "../../etc"}', '{"provider": "../x"}'])
async def test_a_host_that_is_asked_nonsense_says_so(wanted: str) -> None:
    """And does not stay."""
    with pytest.raises(SightlineError):
        await started(start_host(wanted))


async def test_a_session_is_gone_on_with_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second host for the same session does not start, and the first is not disturbed."""
    monkeypatch.setenv("SIGHTLINE_MODELS_DISCOVER", "false")
    session = await launch_agent(StartOptions(cwd=str(tmp_path)))
    client = await connect(session)
    with pytest.raises(UserMistake, match="is running"):
        await launch_agent(StartOptions(resume=session))
    reply = await client.submit(Shell("true"))
    assert reply.ok
    await client.submit(Stop())
    await until(lambda: not alive(client.hello.pid))
    client.close()


# What the model is told


async def test_what_the_person_typed_is_told_to_the_model_without_end_nor_secrets(tmp_path: Path) -> None:
    """A secret is its name, in what is shown and in what the model reads; a very long line is not read whole."""
    environ = {**os.environ, "SOME_API_KEY": "k3y-that-nobody-sees"}
    async with lab(tmp_path, [[{"text": "ok"}]], environ=environ) as here:
        typed = "echo k3y-that-nobody-sees $SOME_API_KEY # " + "x" * 100_000
        call = (await here.session.submit(Shell(typed))).id
        await here.first(ToolResult, lambda event: event.id == call)
        await here.run("go")
        (told,) = [text_of(m) for m in here.messages if isinstance(m, UserMessage) and "themselves" in text_of(m)]
        assert len(told) < 90_000
        shown = msgspec.json.encode(here.seen).decode()
        assert "k3y-that-nobody-sees" not in told + shown
        assert "[secret SOME_API_KEY]" in told
        assert "[secret SOME_API_KEY]" in shown
        assert here.of(ToolUse)[0].source == "person"
