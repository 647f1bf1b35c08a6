"""What a session says of its jobs and of a host that died: numbers from 1, real times, one error."""

import asyncio
from pathlib import Path

from sightline.events import Text, ToolUse
from sightline.events.stamping import stamp
from sightline.exec import CommandSpec
from sightline.host import HostSession
from sightline.host.recovery._stored_session import StoredSession, recover
from sightline.journal import Store, session_of
from sightline.transcript import Remark, TranscriptCall


def timed(*moments):
    return [stamp(event, number, time) for number, (time, event) in enumerate(moments, 1)]


async def test_jobs_are_counted_from_one_also_after_a_resume(tmp_path: Path) -> None:
    """Whatever calls there were before and between."""
    store = Store(tmp_path)
    writer = store.create(cwd=str(tmp_path))
    session = HostSession(writer, store.index)
    spec = CommandSpec(argv=("true",), cwd=str(tmp_path))
    calls = [session.new_call() for _ in range(3)]
    ids = [session.start(spec).id]
    calls.append(session.new_call())
    ids.append(session.start(spec).id)
    assert ids == [f"{session.id}-1", f"{session.id}-2"]
    assert len({*calls, *ids}) == 6
    assert calls[:3] == [f"{session.id}-c1", f"{session.id}-c2", f"{session.id}-c3"]
    assert {session_of(call) for call in calls} == {session.id}
    await asyncio.wait_for(session.stop(), 20)
    last = session.seq
    writer.close()
    again = HostSession(store.writer(session.id), store.index, last_seq=last)
    assert again.start(spec).id == f"{session.id}-3"
    assert again.new_call() not in calls
    await asyncio.wait_for(again.stop(), 20)


def test_a_lost_job_has_the_time_until_its_host_was_last_heard_of(tmp_path: Path) -> None:
    """Not none, and not until it was found dead."""
    store = Store(tmp_path)
    writer = store.create()
    session = writer.folder.name
    job = f"{session}-1"
    writer.append(timed((100.0, ToolUse(job, "Bash", "exec", "make", {"command": "make"})), (142.0, Text("still", 0))))
    writer.close()
    assert recover(store, session)
    state = StoredSession(store, session).snapshot()
    [call] = [entry for entry in state.entries if isinstance(entry, TranscriptCall)]
    assert call.duration == 42.0
    assert store.jobs()[0].duration == 42.0
    assert [entry.level for entry in state.entries if isinstance(entry, Remark)] == ["error"]
