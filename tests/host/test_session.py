"""The session host in one process: numbering, keeping, fan-out, resync, commands."""

import asyncio

import pytest

from sightline.events import Error, ToolOutput, ToolResult, ToolUse
from sightline.host import CancelJob, HostSession, Start
from sightline.journal import Store, jobs_of
from sightline.transcript import Snapshot, fold
from tests.host.support import a_session, events_in, frames_until_result, shell, state_after, until

FULL = "No space left on device"


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


async def test_a_command_is_seen_from_its_start_to_its_end(store):
    """tool_use, output, tool_result: numbered from 1, in order, the same as what is kept."""
    async with a_session(store) as (session, _):
        frames = session.subscribe(0)
        reply = await session.submit(Start(shell("echo one; echo two >&2")))
        assert reply.id == f"{session.id}-1"
        events = events_in(await frames_until_result(frames, reply.id))
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        assert isinstance(events[0], ToolUse)
        assert {(e.stream, e.content) for e in events if isinstance(e, ToolOutput)} == {
            ("stdout", "one\n"),
            ("stderr", "two\n"),
        }
        assert events[-1].exit_code == 0
        assert list(store.read(session.id).events()) == events
        assert [job.state for job in store.jobs()] == ["ok"]


async def test_what_a_view_received_is_already_kept(store):
    """At the moment a frame arrives, the journal has every event of it."""
    async with a_session(store) as (session, _):
        frames = session.subscribe(0)
        reply = session.start(shell("for i in 1 2 3 4 5; do echo $i; sleep 0.02; done"))
        async with asyncio.timeout(20):
            async for frame in frames:
                kept = [event.seq for event in store.read(session.id).events()]
                assert kept[-1] >= frame[-1].seq
                if isinstance(frame[-1], ToolResult):
                    break
        assert reply.ok


async def test_a_late_view_gets_a_snapshot_and_then_the_rest(store):
    """Snapshot + tail equals the uninterrupted fold."""
    async with a_session(store) as (session, _):
        first = session.subscribe(0)
        reply = session.start(shell("echo a; sleep 0.1; echo b; sleep 0.1; echo c"))
        whole = asyncio.ensure_future(frames_until_result(first, reply.id))
        await until(lambda: session.snapshot().seq >= 2)
        late = await frames_until_result(session.subscribe(), reply.id)
        assert isinstance(late[0], Snapshot)
        assert state_after(late) == state_after(await whole)


async def test_attaching_at_zero_twice_and_from_the_middle_is_the_same(store):
    """`after` any number it still remembers: exactly the events after it."""
    async with a_session(store) as (session, _):
        reply = session.start(shell("for i in 1 2 3; do echo $i; sleep 0.06; done"))
        whole = events_in(await frames_until_result(session.subscribe(0), reply.id))
        for after in range(len(whole)):
            assert events_in(await frames_until_result(session.subscribe(after), reply.id)) == whole[after:]
        future = await frames_until_result(session.subscribe(10_000), reply.id)
        assert state_after(future) == fold(whole)


async def test_a_slow_view_is_brought_up_to_date_by_a_snapshot(store):
    """Its queue is bounded; nothing is lost and nobody else waits."""
    async with a_session(store) as (session, _):
        slow, quick = session.subscribe(0), session.subscribe(0)
        for number in range(5000):
            session.append(ToolOutput("x", f"{number}\n", offset=number, size=1))
            if number % 100 == 0:
                await asyncio.sleep(0)
        seen = []
        session.append(ToolResult("x"))
        await asyncio.sleep(0)
        frame = await anext(slow)
        assert isinstance(frame, Snapshot)
        assert frame == session.snapshot()
        session.append(Error("more"))
        assert [event.text for event in await anext(slow)] == ["more"]
        while not seen or seen[-1].seq < 5002:
            frame = await anext(quick)
            seen = frame if not isinstance(frame, Snapshot) else [frame]


async def test_events_of_one_turn_are_one_batch(store):
    """One write to the journal, one frame to a view."""
    async with a_session(store) as (session, _):
        frames = session.subscribe(0)
        for number in range(3):
            session.append(Error(str(number)))
        assert [event.text for event in await anext(frames)] == ["0", "1", "2"]


async def test_cancel_keeps_what_was_said(store):
    """And says that it was cancelled; a second cancel is told so."""
    async with a_session(store) as (session, _):
        frames = session.subscribe(0)
        reply = session.start(shell("echo partial; sleep 100"))
        await until(lambda: session.snapshot().entries and session.snapshot().entries[0].output)
        assert (await session.submit(CancelJob(reply.id))).ok
        events = events_in(await frames_until_result(frames, reply.id))
        assert "".join(e.content for e in events if isinstance(e, ToolOutput) and e.stream == "stdout") == "partial\n"
        assert (events[-1].details["ended"], events[-1].exit_code) == ("cancelled", 130)
        await session.wait()
        again = await session.submit(CancelJob(reply.id))
        assert (again.ok, again.error) == (False, "it has already ended")
        assert not (await session.submit(CancelJob("k3m9qz-9"))).ok


async def test_output_is_never_attributed_to_another_call(store):
    """Integration 2 of the testing strategy: many at once, each id with its own lines, in order."""
    async with a_session(store) as (session, _):
        frames = session.subscribe(0)
        replies = [session.start(shell(f"for i in 1 2 3; do echo {n}-$i; sleep 0.03; done")) for n in range(20)]
        await session.wait()
        seen = []
        while len([event for event in seen if isinstance(event, ToolResult)]) < 20:
            seen += await anext(frames)
        for number, reply in enumerate(replies):
            said = "".join(e.content for e in seen if isinstance(e, ToolOutput) and e.id == reply.id)
            assert said == "".join(f"{number}-{i}\n" for i in (1, 2, 3))


async def test_there_is_a_limit_to_running_jobs(store, monkeypatch):
    """And the refusal says what to do."""
    monkeypatch.setattr("sightline.host.session._session.MOST_JOBS", 2)  # before the session is made
    async with a_session(store) as (session, _):
        assert session.start(shell("sleep 100")).ok
        assert session.start(shell("sleep 100")).ok
        refused = session.start(shell("sleep 100"))
        assert (refused.ok, "jobs are running" in refused.error, "cancel one" in refused.hint) == (False, True, True)


async def test_who_waits_for_jobs_is_told_when_the_first_settles(store):
    """The registry of the session knows its commands: wait for the first, cancel, and what each came to."""
    async with a_session(store) as (session, _):
        quick, slow = session.start(shell("exit 3")), session.start(shell("sleep 100"))
        one, other = await session.jobs.wait([quick.id, slow.id])
        assert (one.id, one.status, one.error_text) == (quick.id, "failed", "exit code 3")
        assert (other.id, other.status) == (slow.id, "running")
        await session.submit(CancelJob(slow.id))
        assert [job.status for job in session.jobs.snapshots()] == ["failed", "cancelled"]


async def test_a_job_cancelled_before_it_began_still_has_its_end(store):
    """Start and cancel in one breath: a beginning, an end, and nothing left running."""
    async with a_session(store) as (session, _):
        frames = session.subscribe(0)
        reply = session.start(shell("sleep 100"))
        await session.submit(CancelJob(reply.id))
        events = events_in(await frames_until_result(frames, reply.id))
        assert [type(event) for event in events] == [ToolUse, ToolResult]
        assert events[-1].details["ended"] == "cancelled"


async def test_a_full_disk_is_said_and_the_work_goes_on(store, monkeypatch):
    """Bad weather: events are still shown, and once there is room the journal says what it has missed."""
    async with a_session(store) as (session, writer):
        frames = session.subscribe(0)
        append = type(writer).write_lines

        def full(self, data):
            raise OSError(28, FULL)

        monkeypatch.setattr(type(writer), "write_lines", full)
        session.append(Error("a"))
        seen = []
        while len(seen) < 2:
            seen += await anext(frames)
        assert [event.text for event in seen] == ["a", f"events from 1 on are shown but not stored: {FULL}"]
        assert session.lost_some
        monkeypatch.setattr(type(writer), "write_lines", append)
        session.append(Error("b"))
        await anext(frames)
        texts = [event.text for event in store.read(session.id).events()]
        assert texts == [f"events 1 to 2 happened but are not stored: {FULL}", "b"]


async def test_a_clock_that_jumps_changes_no_order_and_no_duration(store):
    """Bad weather: numbers order, and durations are measured with a clock nobody sets."""
    writer = store.create()
    times = iter(range(10_000, 0, -100))
    session = HostSession(writer, store.index, clock=lambda: float(next(times)))
    frames = session.subscribe(0)
    reply = session.start(shell("echo a; sleep 0.1; echo b"))
    events = events_in(await frames_until_result(frames, reply.id))
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert events[-1].duration >= 0.1
    assert "".join(e.content for e in events if isinstance(e, ToolOutput)) == "a\nb\n"
    await session.stop()
    writer.close()


async def test_stopping_ends_every_job_and_every_view(store):
    """Each job has its end in the journal before the views hear goodbye."""
    async with a_session(store) as (session, _):
        frames = session.subscribe(0)
        for _ in range(3):
            session.start(shell("sleep 100"))
        await until(lambda: len(session.snapshot().entries) == 3)
        await session.stop()
        seen = [event async for frame in frames for event in frame]
        assert [e.details["ended"] for e in seen if isinstance(e, ToolResult)] == ["cancelled"] * 3
        assert {job.state for job in jobs_of(store.read(session.id).events()).values()} == {"cancelled"}
        assert not session.start(shell("true")).ok
