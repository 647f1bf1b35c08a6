"""`sightline -p` over another agent's CLI, seen from elsewhere while it works: listed, watched, stopped, killed."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from sightline.events import Event, RunEnded, RunStarted, Text, ToolResult, User
from sightline.host import (
    Abort,
    AnswerRequest,
    AskAside,
    Attach,
    CancelCall,
    Command,
    CommandReply,
    Compact,
    Prompt,
    SetApproval,
    SetModel,
    Shell,
    connect,
)
from sightline.journal import SessionReader, Store
from tests.cli.fake_claude import DONE, INIT, FakeClaude, called, returned, said
from tests.cli.support import is_alive, running_sessions, sightline, until

pytestmark = pytest.mark.usefixtures("hosts")

WAITS = (
    INIT,
    said("Words first."),
    called("t1", "make"),
    "CHILD",
    "WAIT go",
    returned("t1", "made"),
    said("Done."),
    DONE,
)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeClaude]:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    claude = FakeClaude(tmp_path, monkeypatch)
    yield claude
    claude.close()


def read_until(process: "subprocess.Popen[bytes]", text: bytes) -> bytes:
    assert process.stdout is not None
    read = b""
    while text not in read:
        more = os.read(process.stdout.fileno(), 65536)
        assert more, read
        read += more
    return read


def session() -> str:
    """The one that runs."""
    (host,) = until(running_sessions, "the host")
    return str(host["id"])


def stored() -> list[Event]:
    store = Store(Path(os.environ["SIGHTLINE_HOME"]))
    (only,) = store.sessions()
    return list(SessionReader(store.folder(only)).events())


def of(kind: type[Any], events: list[Event]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def no_host_is_left() -> bool:
    return not list((Path(os.environ["SIGHTLINE_HOME"]) / "run").glob("*.sock"))


def submitted(id: str, command: Command) -> CommandReply:
    """As a console or the page does."""

    async def submit() -> CommandReply:
        client = await connect(id)
        try:
            return await asyncio.wait_for(client.submit(command), 60)
        finally:
            client.close()

    return asyncio.run(submit())


# Seen


def test_it_is_listed_while_it_works(program: FakeClaude) -> None:
    """With its title, its folder and this process; and no longer once it is over."""
    program.plays(*WAITS)
    process = program.started()
    read_until(process, b"Words first.")
    (host,) = running_sessions()
    assert (host["state"], host["title"], host["pid"]) == ("working", "one", process.pid)
    assert host["cwd"] == os.getcwd()
    program.go()
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, b"\nDone.\n", b"")
    assert running_sessions() == []
    assert no_host_is_left()


@pytest.mark.parametrize("form", ["text", "events", "json"])
def test_who_attaches_sees_every_word_once(program: FakeClaude, form: str) -> None:
    """What was there before and what comes, whatever the run itself prints; afterwards the same."""
    program.plays(*WAITS)
    process = program.started("--output-format", form)
    before = read_until(process, b"make" if form != "text" else b"Words first.")
    watcher = program.sightline("attach", session())
    seen = read_until(watcher, b"make")
    program.go()
    seen += watcher.communicate(timeout=60)[0]
    printed = before + process.communicate(timeout=60)[0]
    assert seen == b"> one\nWords first.\n\xe2\x97\x8f Bash make\nDone.\n"
    assert watcher.returncode == 0
    assert process.returncode == 0
    if form == "json":
        assert printed == (program.folder / "says.jsonl").read_bytes().replace(b"CHILD\nWAIT go\n", b"")
    elif form == "text":
        assert printed == b"Words first.\nDone.\n"
    assert sightline("attach", of(RunStarted, stored())[0].session).stdout == seen


def test_the_page_shows_and_stops_it(program: FakeClaude) -> None:
    """It is among the sessions, its words are there, a prompt is refused, and a stop is a stop."""
    program.plays(*WAITS)
    process = program.started()
    read_until(process, b"Words first.")
    id = session()
    address = read_until(program.sightline("serve"), b"\n").decode().split()[0]
    page, token = address.split("/#token=")

    def api(path: str, body: dict[str, str] | None = None) -> tuple[int, Any]:
        data = None if body is None else json.dumps(body).encode()
        request = Request(f"{page}/api/{path}", data, {"Authorization": f"Bearer {token}"})
        try:
            with urlopen(request, timeout=60) as answer:
                return answer.status, json.loads(answer.read())
        except HTTPError as refused:
            return refused.code, json.loads(refused.read())

    (listed,) = api("sessions")[1]["sessions"]
    assert (listed["id"], listed["state"], listed["busy"], listed["title"]) == (id, "running", True, "one")

    def texts() -> list[str]:
        entries = api(f"sessions/{id}")[1]["entries"]
        return [entry["text"] for entry in entries if entry["type"] in ("message", "words")]

    until(lambda: texts() == ["one", "Words first."], "its words")
    code, refused = api(f"sessions/{id}/prompt", {"text": "And this."})
    assert (code, refused["error"]) == (409, "this run was started with -p and takes no other prompt")
    assert api(f"sessions/{id}/abort", {})[0] == 202
    cancelled(process, program, id)


def test_what_it_prints_as_events_is_the_session(program: FakeClaude) -> None:
    """The same numbers and ids as are stored and as every view has them; the id that resumes it is in the first."""
    program.plays(INIT, said("Words."), called("t1", "make"), returned("t1", "made"), DONE)
    process = program.started("--output-format", "events")
    written = [json.loads(line) for line in process.communicate(timeout=60)[0].splitlines()]
    events = stored()
    assert [line["seq"] for line in written] == [event.seq for event in events] == list(range(1, len(events) + 1))
    (begun,) = [line for line in written if line["kind"] == "run_started"]
    (id,) = Store(Path(os.environ["SIGHTLINE_HOME"])).sessions()
    assert begun["session"] == id
    assert [line["id"] for line in written if line["kind"] in ("tool_use", "tool_result")] == [f"{id}-c1"] * 2
    assert [line["value"] for line in written if line.get("key") == "native_session"] == ["", "their-id-1"]
    again = program.started("--output-format", "events", "--continue")
    more = [json.loads(line) for line in again.communicate(timeout=60)[0].splitlines()]
    assert more[0]["seq"] == len(events) + 1
    assert {line["id"] for line in more if line["kind"] == "tool_use"}.isdisjoint({f"{id}-c1"})
    assert [line["value"] for line in more if line.get("key") == "native_session"] == ["their-id-1"]


def test_no_view_sees_a_secret(program: FakeClaude, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that came later neither: what it gets is what was stored."""
    key = "k3y-that-stays-here"
    monkeypatch.setenv("SOME_API_KEY", key)
    steps = (said(f"It is {key}."), called(key, f"echo {key}"), returned(key, key), "WAIT go", said(f"Again {key}."))
    program.plays(INIT, *steps, DONE)
    process = program.started("-v")
    out = read_until(process, b"Bash")
    monkeypatch.delenv("SOME_API_KEY")  # those who watch do not know it
    watcher = program.sightline("attach", session())
    seen = read_until(watcher, b"Bash")
    program.go()
    seen += watcher.communicate(timeout=60)[0]
    out += process.communicate(timeout=60)[0]
    for text in (out, seen):
        assert key.encode() not in text
        assert b"It is [secret SOME_API_KEY]." in text
        assert b"Again [secret SOME_API_KEY]." in text


def test_a_reader_that_does_not_read_stops_nobody(program: FakeClaude) -> None:
    """The run goes on, others see it to its end, and all of it is there for the reader afterwards."""
    many = [said(f"Block {number}: {'x' * 200}") for number in range(3000)]
    program.plays(INIT, *many, called("t1", "make"), "WAIT go", returned("t1", "made"), said("Done."), DONE)
    process = program.started()
    watcher = program.sightline("attach", session())
    read_until(watcher, b"make")
    program.go()
    read_until(watcher, b"Done.")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")
    blocks = [line.partition(b":")[0] for line in out.splitlines()]
    assert blocks == [*(b"Block %d" % number for number in range(3000)), b"Done."]
    watcher.communicate(timeout=60)
    assert watcher.returncode == 0


# Stopped


def cancelled(process: "subprocess.Popen[bytes]", program: FakeClaude, id: str) -> None:
    """It has ended as by Ctrl+C: its whole tree is gone, the exit code is 130, and it can be resumed."""
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == f"cancelled\nResume with: sightline --resume {id}\n".encode()
    until(lambda: not is_alive(program.pid()) and not is_alive(program.pid("child")), "the end of its processes")
    events = stored()
    assert [event.stop_reason for event in of(RunEnded, events)] == ["cancelled"]
    assert len(of(ToolResult, events)) == 1
    assert isinstance(events[-1], RunEnded)
    assert no_host_is_left()


def stop_it(id: str) -> None:
    done = sightline("stop", id)
    assert (done.returncode, done.stdout) == (0, f"stopped {id}\n".encode())


def abort_it(id: str) -> None:
    assert submitted(id, Abort()).ok


@pytest.mark.parametrize("ends", [stop_it, abort_it], ids=["stop", "abort"])
def test_it_is_stopped_from_elsewhere(program: FakeClaude, ends: Callable[[str], None]) -> None:
    """By `sightline stop`, and by Escape in a console or the page: as if by Ctrl+C."""
    program.plays(*WAITS)
    process = program.started()
    read_until(process, b"Words first.")
    program.pid("child")
    id = session()
    ends(id)
    cancelled(process, program, id)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_and_all_it_started(program: FakeClaude, number: signal.Signals) -> None:
    program.plays(*WAITS)
    process = program.started()
    read_until(process, b"Words first.")
    program.pid("child")
    id = session()
    process.send_signal(number)
    cancelled(process, program, id)


def test_a_second_ctrl_c_does_not_leave_anything(program: FakeClaude) -> None:
    """One that does not end when it is asked to is killed after its time, however often Ctrl+C is pressed."""
    program.plays(INIT, "STUBBORN", *WAITS[1:])
    process = program.started()
    read_until(process, b"Words first.")
    program.pid("child")
    id = session()
    process.send_signal(signal.SIGINT)
    until(lambda: not is_alive(program.pid("child")), "the first to be at work")
    process.send_signal(signal.SIGINT)
    cancelled(process, program, id)


def test_lines_that_nobody_reads_are_no_reason_not_to_stop(program: FakeClaude) -> None:
    """As JSON the provider is held up by its reader. It is ended all the same, and others are told of its end."""
    many = [said(f"Block {number}: {'x' * 2000}") for number in range(2000)]
    program.plays(INIT, "CHILD", *many, "WAIT go", DONE)
    process = program.started("--output-format", "json")
    id = session()
    watcher = program.sightline("attach", id)
    read_until(watcher, b"Block 0:")
    stop_it(id)
    watcher.communicate(timeout=60)
    assert watcher.returncode == 130
    process.communicate(timeout=60)
    assert process.returncode == 130
    until(lambda: not is_alive(program.pid("child")), "the end of its processes")
    assert isinstance(stored()[-1], RunEnded)


# Other commands


@pytest.mark.parametrize(
    ("command", "what"),
    [
        (Prompt("And this."), "prompt"),
        (Prompt("And this.", how="steer"), "prompt"),
        (Prompt("And this.", how="follow_up"), "prompt"),
        (Attach("a.txt", b"a"), "prompt"),
        (AskAside("What is this?"), "prompt"),
        (SetModel("other"), "model"),
        (SetApproval("full"), "approval level"),
    ],
)
def test_another_prompt_is_refused(program: FakeClaude, command: Command, what: str) -> None:
    """What it prints is the answer to its own prompt. Who wants more is told how to continue."""
    program.plays(*WAITS)
    process = program.started()
    read_until(process, b"Words first.")
    id = session()
    reply = submitted(id, command)
    assert (reply.ok, reply.error) == (False, f"this run was started with -p and takes no other {what}")
    assert reply.hint == f"stop it, or wait for its end, then resume it: sightline --resume {id}"
    program.go()
    assert process.communicate(timeout=60)[0] == b"\nDone.\n"
    assert process.returncode == 0
    assert [event.text for event in of(User, stored())] == ["one"]
    assert len(program.starts) == 1


@pytest.mark.parametrize(
    ("command", "error"),
    [
        (Abort(agent="Explore-1"), "Claude Code has subagents of its own"),
        (CancelCall("c1"), "Claude Code cannot stop one call alone"),
        (AnswerRequest("request-1", "once"), "this question is no longer open"),
        (Compact(), "Claude Code has no compact"),
    ],
)
def test_what_it_does_not_have_is_named(program: FakeClaude, command: Command, error: str) -> None:
    """And nothing happens to the run."""
    program.plays(*WAITS)
    process = program.started()
    read_until(process, b"Words first.")
    reply = submitted(session(), command)
    assert (reply.ok, reply.error) == (False, error)
    program.go()
    assert process.communicate(timeout=60)[0] == b"\nDone.\n"
    assert process.returncode == 0


def test_a_user_runs_commands_beside_it(program: FakeClaude) -> None:
    """As in any session; what still runs when the agent is done ends with it."""
    program.plays(*WAITS)
    process = program.started("-v")
    read_until(process, b"make")
    id = session()
    assert submitted(id, Shell("echo mine; sleep 600")).ok
    read_until(process, b"echo mine")
    program.go()
    assert process.communicate(timeout=60)[0] == b"Done.\n"
    assert process.returncode == 0
    mine = [event for event in of(ToolResult, stored()) if event.source == "person"]
    assert [event.details["ended"] for event in mine] == ["cancelled"]


# Killed, and bad weather


def test_a_run_that_was_killed_is_resumed(program: FakeClaude) -> None:
    """Its program goes with it. What had been said is there, once, and the provider's own conversation goes on."""
    program.plays(*WAITS)
    process = program.started()
    read_until(process, b"Words first.")
    program.pid("child")
    id = session()
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    until(lambda: not is_alive(program.pid()) and not is_alive(program.pid("child")), "the end of its processes")
    assert running_sessions() == []
    program.plays(INIT, said("Claude heard PROMPT."), DONE)
    done = sightline("-p", "two", "--resume", id)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"Claude heard two.\n", b"")
    assert "--resume=their-id-1" in program.starts[1]
    events = stored()
    assert [event.text for event in of(User, events)] == ["one", "two"]
    assert [event.text for event in of(Text, events)] == ["Words first.", "Claude heard two."]
    assert len(of(RunStarted, events)) == len(of(RunEnded, events)) == 2
    listed = json.loads(sightline("sessions", "--json").stdout)
    assert [(record["messages"], record["last_text"]) for record in listed] == [(4, "Claude heard two.")]


def test_a_socket_that_cannot_be_made_costs_the_views_only(program: FakeClaude) -> None:
    """It works and is stored; nobody else sees it meanwhile."""
    home = Path(os.environ["SIGHTLINE_HOME"])
    home.mkdir(mode=0o700)
    (home / "run").write_text("")
    process = program.started()
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, b"Claude heard one.\n")
    assert b"warning: no other view can watch this run: cannot make a socket at " in err
    assert [event.text for event in of(Text, stored())] == ["Claude heard one."]


@pytest.fixture
def unwritable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "home-is-a-file").write_text("")
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "home-is-a-file"))


@pytest.mark.parametrize("form", ["text", "events", "json"])
@pytest.mark.usefixtures("unwritable")
def test_without_a_session_it_prints_the_same(program: FakeClaude, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of it, without secrets, though nothing can be stored."""
    key = "k3y-that-stays-here"
    monkeypatch.setenv("SOME_API_KEY", key)
    program.plays(INIT, said(f"It is {key}."), called("t1", "make"), returned("t1", key), said("Done."), DONE)
    process = program.started("--output-format", form, "-v")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    if form == "json":
        assert out == (program.folder / "says.jsonl").read_bytes()
        return
    assert key.encode() not in out
    if form == "text":
        assert out == b"It is [secret SOME_API_KEY].\n\xe2\x97\x8f Bash make\nDone.\n"
        assert err.startswith(b"warning: this conversation is not stored: ")
        return
    written = [json.loads(line) for line in out.splitlines()]
    assert [line["seq"] for line in written] == list(range(1, len(written) + 1))
    calls = [line["id"] for line in written if line["kind"] in ("tool_use", "tool_result")]
    assert len(calls) == 2
    assert len(set(calls)) == 1
    assert [line["kind"] for line in written].count("run_started") == 1


@pytest.mark.usefixtures("unwritable")
def test_without_a_session_limits_and_schemas_hold(program: FakeClaude, tmp_path: Path) -> None:
    """The answer is sent back in the provider's own conversation."""
    (tmp_path / "schema.json").write_text('{"type": "integer"}')
    program.plays(INIT, said("PROMPT"), DONE)
    process = program.started("--json-schema", str(tmp_path / "schema.json"))
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (1, b"")
    assert b"error: the answer does not fit the schema" in err
    assert ["--resume=their-id-1" in line for line in program.starts] == [False, True]


@pytest.mark.needs("bubblewrap")
def test_a_disk_that_fills_up_costs_the_record_only(program: FakeClaude, tmp_path: Path) -> None:
    """All of it is printed, and the run went well; that not all is stored is an error, once."""
    program.plays(INIT, *[said(f"Block {number}: {'x' * 20_000}") for number in range(200)], DONE)
    small = ["bwrap", "--dev-bind", "/", "/", "--size", "2000000", "--tmpfs", os.environ["SIGHTLINE_HOME"]]
    Path(os.environ["SIGHTLINE_HOME"]).mkdir()
    command = [*small, sys.executable, "-m", "sightline", "-p", "one", "--provider", "claude"]
    done = subprocess.run(command, capture_output=True, timeout=60, start_new_session=True)
    blocks = [line.partition(b":")[0] for line in done.stdout.splitlines()]
    assert blocks == [b"Block %d" % number for number in range(200)]
    assert done.returncode == 0
    assert done.stderr.count(b"error: events from ") == 1
    assert b"No space left on device" in done.stderr
