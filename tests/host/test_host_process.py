"""A host as a process: it outlives whoever started it, and when it is ended nothing is lost and nothing is left."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import uuid

import psutil
import pytest

from sightline.events import ToolOutput, ToolResult
from sightline.host import Client, HostGone, Stop, StoredSession, attach, connect, recover, stored_jobs
from sightline.host.socket._runtime import socket_path
from sightline.journal import Store
from sightline.paths import data_folder
from sightline.transcript import Snapshot, fold
from tests.host.support import DEADLINE, alive, events_in, frames_until_result, until


@pytest.fixture
def store():
    return Store(data_folder())


@pytest.fixture
def start():
    """`start(script, …)` → the id of a new session with these jobs. Whatever host is left afterwards is ended."""
    launcher = subprocess.Popen(
        [sys.executable, "-m", "tests.host.launcher"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    started = []

    def one(*scripts: str) -> str:
        launcher.stdin.write(json.dumps([["sh", "-c", script] for script in scripts]) + "\n")
        launcher.stdin.flush()
        started.append(launcher.stdout.readline().strip())
        return started[-1]

    yield one
    launcher.stdin.close()
    launcher.wait(DEADLINE)
    launcher.stdout.close()
    for session in started:
        asyncio.run(_stop(session))


async def _stop(session: str) -> None:
    try:
        client = await connect(session)
    except OSError:
        return
    try:
        await client.submit(Stop())
    except HostGone:
        pass
    client.close()
    await until(lambda: not socket_path(session).exists())


def marked(mark: str) -> list[int]:
    """Every process with this word on its command line."""
    found = []
    for process in psutil.process_iter():
        try:
            if mark in " ".join(process.cmdline()) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except psutil.Error:
            continue
    return found


def stubborn(mark: str) -> str:
    """A tree with one that ignores TERM, one that left with setsid, and one that did both."""
    return (
        f"(trap '' TERM; while :; do sleep 0.1; done; : {mark}) & "
        f"setsid sh -c ': {mark}; while :; do sleep 0.1; done' & "
        f"setsid sh -c 'trap \"\" TERM; : {mark}; while :; do sleep 0.1; done' & "
        f": {mark}; echo ready; while :; do sleep 0.1; done"
    )


async def ready(store: Store, session: str) -> Client:
    """A client, once the session's first job has said something."""
    client = await attach(store, session)
    assert isinstance(client, Client)
    async with asyncio.timeout(DEADLINE):
        async for frame in client.subscribe(0):
            if any(isinstance(event, ToolOutput) and "ready" in event.content for event in frame):
                return client
    raise AssertionError("never ready")


async def test_a_host_ends_by_itself_when_its_command_is_over_and_nobody_watches(store, start):
    """Nothing is left behind: no process, no socket; the job is in the list."""
    session = start("echo done; exit 3")
    await until(lambda: not socket_path(session).exists())
    (job,) = store.jobs()
    assert (job.session, job.state, job.exit_code) == (session, "failed", 3)
    kept = await attach(store, session)
    assert isinstance(kept, StoredSession)
    assert kept.snapshot().entries[0].output == "done\n"


async def test_a_host_stays_while_somebody_watches(store, start):
    """A view may look at what ended for as long as it likes."""
    session = start("sleep 0.2")
    client = await connect(session)
    await frames_until_result(client.subscribe(0), f"{session}-1")
    await asyncio.sleep(1.5)  # longer than a host lingers
    assert socket_path(session).exists()
    client.close()
    await until(lambda: not socket_path(session).exists())


@pytest.mark.slow
@pytest.mark.parametrize("how", ["cancel", "stop", "SIGTERM", "SIGKILL"])
async def test_no_descendant_is_left(store, start, how):
    """However it ends: not one that ignores TERM, not one that called setsid, not one that did both."""
    mark = uuid.uuid4().hex
    session = start(stubborn(mark))
    client = await ready(store, session)
    await until(lambda: len(marked(mark)) >= 4)
    if how == "stop":
        asking = asyncio.ensure_future(client.submit(Stop()))
    elif how == "cancel":
        from sightline.host import CancelJob

        asking = asyncio.ensure_future(client.submit(CancelJob(f"{session}-1")))
    else:
        os.kill(client.hello.pid, getattr(signal, how))
        asking = None
    await until(lambda: not marked(mark))
    if asking is not None:
        await asyncio.wait([asking])
    client.close()


@pytest.mark.slow
async def test_what_was_received_survives_the_host(store, start):
    """300 hosts are killed with SIGKILL at random points while jobs print: every event a view had received is there
    afterwards, what is unknown is said, and no process is left."""
    dice = random.Random(3)
    mark = uuid.uuid4().hex
    script = f": {mark}; i=0; while :; do i=$((i+1)); echo line $i; echo oops $i >&2; sleep 0.00$((i%7+1)); done"
    for _ in range(300):
        session = start(script, script)
        client = await connect(session)
        received = await _watch_and_kill(client, dice)
        await until(lambda session=session: not store.is_running(session))
        recover(store, session)
        kept = list(store.read(session).events())
        by_seq = {event.seq: event for event in kept}
        assert all(by_seq[event.seq] == event for event in received)
        state = fold(kept)
        calls = [entry for entry in state.entries if hasattr(entry, "content")]
        assert calls
        for call in calls:
            assert call.details["ended"] == "host"
            assert "lost: the session ended while this was running" in call.content
            assert call.received == store.artifact(call.id).size == call.details["bytes"]
    assert {job.state for job in stored_jobs(store)} == {"lost"}
    await until(lambda: not marked(mark))


async def _watch_and_kill(client: Client, dice: random.Random) -> list:
    """What a view received before, at a random point, the host was killed."""
    received: list = []
    stop_after = dice.randrange(1, 40)
    killed = False
    try:
        async with asyncio.timeout(DEADLINE):
            async for frame in client.subscribe(0):
                assert not isinstance(frame, Snapshot)
                received += frame
                if len(received) >= stop_after and not killed:
                    os.kill(client.hello.pid, signal.SIGKILL)
                    killed = True
    except HostGone:
        pass
    client.close()
    await until(lambda: not alive(client.hello.pid))
    return received


async def test_a_torn_journal_is_mended_and_said(store, start):
    """Half a record at the end is left out, and the session can be read by everybody afterwards."""
    session = start("echo ready; sleep 100")
    client = await ready(store, session)
    os.kill(client.hello.pid, signal.SIGKILL)
    client.close()
    await until(lambda: not store.is_running(session))
    with (store.folder(session) / "journal.jsonl").open("ab") as file:
        file.write(b'{"kind":"tool_out')
    recover(store, session)
    recover(store, session)  # a second time changes nothing
    kept = store.read(session)
    events = list(kept.events())
    assert kept.torn_at is None
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert sum(isinstance(event, ToolResult) for event in events) == 1
    assert any("cut off" in getattr(event, "text", "") for event in events)


async def test_the_events_of_a_host_are_those_in_its_journal(store, start):
    """Watched over the socket by two clients, and read from the file: the same."""
    session = start("for i in 1 2 3 4 5; do echo $i; sleep 0.03; done")
    one, two = await connect(session), await connect(session)
    seen = await asyncio.gather(
        frames_until_result(one.subscribe(0), f"{session}-1"), frames_until_result(two.subscribe(0), f"{session}-1")
    )
    assert events_in(seen[0]) == events_in(seen[1]) == list(store.read(session).events())
    one.close()
    two.close()
