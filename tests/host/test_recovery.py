"""Coming to a session whose host is gone, is going, or does not answer: the truth is told, whoever looks first."""

import asyncio
import os
import signal

import pytest

from sightline.events import Error, Text, ToolOutput, ToolResult, ToolUse
from sightline.events.stamping import stamp
from sightline.exceptions import OutsideFailure, UserMistake
from sightline.host import StoredSession, attach, connect, find, follow, stored_jobs
from sightline.host.socket import _client, _hosts
from sightline.journal import JobRecord, Store
from sightline.paths import data_folder
from tests.host.support import DEADLINE, detached, until


@pytest.fixture
def store():
    return Store(data_folder())


def abandoned(store, number=1):
    """A session whose host was killed while a job of it ran; the job's id."""
    writer = store.create(cwd="/")
    job = f"{writer.folder.name}-{number}"
    writer.append([stamp(ToolUse(job, "Bash", "exec", "make", {"command": "make"}), 1, 1.0)])
    writer.close()
    return job


async def test_a_host_that_does_not_answer_is_not_taken_for_one_that_ended(store, monkeypatch):
    """A suspended host still has its commands: nobody may be told that they are over."""
    monkeypatch.setattr(_client, "_SECONDS_TO_CONNECT", 0.2)
    monkeypatch.setattr(_hosts, "_SECONDS_TO_ANSWER", 0.2)
    job = detached(data_folder(), "exec sleep 60")
    client = await connect(job[:6])
    client.close()
    os.kill(client.hello.pid, signal.SIGSTOP)
    try:
        with pytest.raises(OutsideFailure, match="does not answer"):
            await attach(store, job[:6])
    finally:
        os.kill(client.hello.pid, signal.SIGCONT)
        os.kill(client.hello.pid, signal.SIGTERM)
    await until(lambda: not store.is_running(job[:6]))


async def test_two_that_find_a_dead_host_tell_the_same(store):
    """Who comes while another is writing down how it ended waits for that."""
    job = abandoned(store)
    other = store.writer(job[:6])
    coming = asyncio.ensure_future(attach(store, job[:6]))
    await asyncio.sleep(0.1)  # it must still be waiting after a while
    assert not coming.done()
    other.close()
    kept = await asyncio.wait_for(coming, DEADLINE)
    assert isinstance(kept, StoredSession)
    assert "lost: the session ended" in kept.snapshot().entries[0].content


async def test_who_follows_a_session_gets_everything_once_though_its_host_is_killed(store):
    """The rest comes from the journal, repaired, and then it is over."""
    job = detached(data_folder(), "echo begun; exec sleep 60")
    events, hosts = [], []
    async with asyncio.timeout(DEADLINE):
        async for frame in follow(store, job[:6], 0, on_attached=hosts.append):
            assert isinstance(frame, list)
            events += frame
            if len(hosts) == 1 and any(isinstance(event, ToolOutput) for event in events):
                os.kill(hosts[0].hello.pid, signal.SIGKILL)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert [event.details["ended"] for event in events if isinstance(event, ToolResult)] == ["host"]
    assert isinstance(hosts[-1], StoredSession)


async def test_a_session_without_a_socket_is_followed_in_its_journal(store, monkeypatch):
    """Another program's run that is only recorded: what is stored is shown as it is stored."""
    monkeypatch.setattr(_hosts, "_SECONDS_BETWEEN_LOOKS", 0.01)
    writer = store.create(cwd="/")
    writer.append([stamp(Text("one"), 1, 1.0)])
    frames = follow(store, writer.folder.name, 0)
    async with asyncio.timeout(DEADLINE):
        assert [event.text for event in await anext(frames)] == ["one"]
        writer.append([stamp(Text("two"), 2, 2.0)])
        assert [event.text for event in await anext(frames)] == ["two"]
        writer.close()
        assert [frame async for frame in frames] == []


def test_an_end_the_index_missed_is_taken_from_the_journal(store):
    """A host killed between the two: the job is not shown as running for ever."""
    job = abandoned(store)
    writer = store.writer(job[:6])
    writer.append([stamp(ToolResult(job, details={"ended": "exit"}, exit_code=3, duration=2.0), 2, 2.0)])
    writer.close()
    store.index.add(JobRecord(id=job, session=job[:6], started=1.0))
    assert [(record.state, record.exit_code) for record in stored_jobs(store)] == [("failed", 3)]


def test_a_job_only_the_index_knows_is_lost(store):
    """Its journal had no room even for its beginning."""
    writer = store.create()
    session = writer.folder.name
    writer.close()
    store.index.add(JobRecord(id=f"{session}-1", session=session, started=1.0))
    assert [record.state for record in stored_jobs(store)] == ["lost"]


async def test_an_end_the_journal_missed_is_taken_from_the_index(store):
    """The disk was full when it ended: what the list of jobs knows is not made unknown by looking."""
    job = abandoned(store)
    store.index.add(JobRecord(id=job, session=job[:6], state="ok", exit_code=0, duration=2.0, bytes=7))
    kept = await attach(store, job[:6])
    call = kept.snapshot().entries[0]
    assert (call.exit_code, call.details["ended"], call.details["bytes"], call.details["kept"]) == (0, "exit", 7, 0)
    assert not [event for event in store.read(job[:6]).events() if isinstance(event, Error)]
    assert [record.state for record in stored_jobs(store)] == ["ok"]


def test_a_beginning_that_fits_several_jobs_is_refused(store):
    """Nothing is cancelled that was not named."""
    writer = store.create()
    session = writer.folder.name
    writer.close()
    store.index.add(*(JobRecord(id=f"{session}-{n}", session=session, state="ok") for n in (1, 2)))
    with pytest.raises(UserMistake, match=f"{session}-1, {session}-2"):
        find(store, f"{session}-")
    assert find(store, session[:4]) == session
