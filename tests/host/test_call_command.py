"""A command of a call that goes on as a job: the same bytes under another name, each once, and one end each."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from sightline.conversation import ToolMessage, text_of
from sightline.events import Event, RunEnded, RunStarted, ToolOutput, ToolResult, ToolUse, User
from sightline.host import CancelJob, connect
from sightline.journal import SessionTree
from sightline.transcript import TranscriptCall, fold
from tests.agent.support import kept, lab, store_in
from tests.agent.test_weather import assert_sound
from tests.host.support import alive, until


def bash(command: str, **more: object) -> dict[str, object]:
    return {"tool": "bash", "args": {"command": command, **more}}


async def test_a_job_of_a_call_is_whole_under_its_own_name(tmp_path: Path) -> None:
    """Its bytes before and after are one output, once: live, replayed, and in the artifact of either name."""
    command = "echo one; echo two >&2; until [ -e go ]; do sleep 0.01; done; echo three; exit 3"
    settings = {"bash.auto_background": "true", "bash.auto_background_ms": "300"}
    turns = [[bash(command)], [{"text": "waiting"}], [{"text": "heard"}]]
    async with lab(tmp_path, turns, settings=settings) as here:
        await here.run()
        assert_calls_but_jobs(here.seen)
        (tmp_path / "work" / "go").touch()
        await here.first(ToolResult, lambda result: result.exit_code == 3)
        await here.until(lambda: any("has ended" in event.text for event in here.of(User)))
        while here.agent.busy:
            await here.ended()
        assert_sound(here.seen)
        live, session = fold(here.seen), here.session.id
        use = here.of(ToolUse)
        job = use[1].id
    replayed = fold(kept(tmp_path, session)[: len(here.seen)])
    assert replayed.entries == live.entries
    calls = {entry.id: entry for entry in replayed.entries if isinstance(entry, TranscriptCall)}
    assert sorted(calls[use[0].id].output.split()) == ["one", "two"]
    assert calls[job].output.split() == ["three"]
    assert calls[job].received == len("one\ntwo\nthree\n")
    artifact = store_in(tmp_path).artifact(job)
    assert artifact.read(0, 100) == b"one\ntwo\nthree\n"
    artifact.close()
    jobs = {record.id: record for record in store_in(tmp_path).jobs()}
    assert jobs[job].state == "failed"


def assert_calls_but_jobs(events: list[Event]) -> None:
    ended = {event.id for event in events if isinstance(event, ToolResult)}
    assert len(ended) == 1


async def test_a_job_that_is_cancelled_ends_once(tmp_path: Path) -> None:
    """By a command from outside: as cancelled, and the model reads of it with its next request."""
    turns = [[bash("echo $$ > pid; echo on; sleep 60", **{"async": True})], [{"text": "waiting"}], [{"text": "heard"}]]
    async with lab(tmp_path, turns) as here:
        await here.run()
        job = (await here.first(ToolOutput, lambda event: "on" in event.content)).id
        client = await connect(here.session.id)
        assert (await client.submit(CancelJob(job))).ok
        await here.first(ToolResult, lambda result: result.id == job)
        await until(lambda: "has ended: cancelled" in text_of(here.messages[-1]), "the job's end in the conversation")
        assert (await here.run("and now?")).text == "heard"
        assert not any("has ended" in event.text for event in here.of(User))
        assert_sound(here.seen)
        client.close()


async def test_a_job_left_running_is_ended_with_the_session(tmp_path: Path) -> None:
    """Its process is gone, its end is kept, and a resumed session goes on."""
    turns = [[bash("echo $$ > pid; echo on; sleep 60", **{"async": True})], [{"text": "waiting"}], [{"text": "more"}]]
    async with lab(tmp_path, turns) as here:
        await here.run()
        await here.first(ToolOutput)
        session = here.session.id
        pid = int((tmp_path / "work" / "pid").read_text())
    await until(lambda: not alive(pid), "the command to be gone")
    assert_sound(kept(tmp_path, session))
    async with lab(tmp_path, turns, resume=session) as here:
        assert (await here.run("on")).exit_code == 0
    assert_sound(kept(tmp_path, session))


def test_a_job_of_a_killed_host(tmp_path: Path) -> None:
    """Resuming says how it ended; every call has one end."""
    script = tmp_path / "s.json"
    script.write_text(json.dumps([[bash("echo on; sleep 60", **{"async": True})], [bash("touch here; sleep 60")]]))
    environment = {**os.environ, "SIGHTLINE_HOME": str(tmp_path / "home")}
    common = [sys.executable, "-m", "sightline", "-p", "go", "--set", "permissions.sandbox=false", "--allow", "exec"]
    (tmp_path / "work").mkdir()
    process = subprocess.Popen([*common, "--model", f"scripted:{script}"], cwd=tmp_path / "work", env=environment)
    deadline = time.monotonic() + 20
    while not (tmp_path / "work" / "here").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.kill()
    process.wait()
    session = store_in(tmp_path).sessions()[0]
    script.write_text(json.dumps([[{"text": "again"}]] * 9))
    words = [*common, "--model", f"scripted:{script}", "--resume", session]
    done = subprocess.run(words, cwd=tmp_path / "work", env=environment, capture_output=True, timeout=90)
    assert done.stdout == b"again\n", done.stderr
    assert done.returncode == 0
    assert_sound_but_turns(kept(tmp_path, session))
    tree = SessionTree.load(store_in(tmp_path).folder(session))
    asked = [entry.message for entry in tree.messages() if isinstance(entry.message, ToolMessage)]
    assert len(asked) == 2


def assert_sound_but_turns(events: list[Event]) -> None:
    """A turn that was killed has no end of its own; everything else has."""
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    begun = {event.id for event in events if isinstance(event, ToolUse)}
    ended = [event.id for event in events if isinstance(event, ToolResult)]
    assert sorted(begun) == sorted(ended)
    assert sum(isinstance(e, RunStarted) for e in events) == sum(isinstance(e, RunEnded) for e in events)


async def test_a_secret_that_a_job_prints_is_masked_in_what_is_kept_of_it(tmp_path: Path) -> None:
    """Live and replayed alike; the artifact, which only its owner may read, has it."""
    secret = "sk-very-secret-0123456789"
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "key").write_text(secret)
    turns = [[bash("cat key; echo", **{"async": True})], [{"text": "waiting"}], [{"text": "heard"}]]
    async with lab(tmp_path, turns, environ={"MY_API_KEY": secret}) as here:
        await here.run()
        await here.first(ToolOutput, lambda event: "secret" in event.content)
        await here.until(lambda: any("has ended" in event.text for event in here.of(User)))
        while here.agent.busy:
            await here.ended()
        assert secret not in repr(here.seen)
        assert_sound(here.seen)
        session = here.session.id
    assert kept(tmp_path, session)[: len(here.seen)] == here.seen
    assert secret not in (tmp_path / "home" / "sessions" / session / "journal.jsonl").read_text()
