"""What goes on by itself: a session's events for programs, and the one stream a tab holds."""

import asyncio
import os
import signal
from pathlib import Path

import msgspec

from sightline.events import ToolOutput, ToolUse, decode_event
from sightline.events.stamping import stamp
from sightline.journal import Store
from sightline.transcript import Snapshot, Transcript
from sightline.views.web.api._feed import Feed
from sightline.views.web.page._watch import Watches
from tests.views.web.conftest import Served, serving, wait_for

COUNTING = "for i in 1 2 3 4 5 6 7 8; do echo line $i; sleep 0.05; done"


def counting_after(file) -> str:
    """Counts once there is this file: a test that watches from the beginning makes it when it does."""
    return f"until [ -e '{file}' ]; do sleep 0.02; done; {COUNTING}"


def session_of(job: str) -> str:
    return job.rpartition("-")[0]


def host_of(served: Served, session: str) -> int:
    """The process that runs a session: whoever has its journal open."""
    journal = served.home / "sessions" / session / "journal.jsonl"
    for folder in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if folder.resolve() == journal.resolve():
                return int(folder.parts[2])
        except OSError:
            continue
    raise AssertionError(f"nobody runs {session}")


async def in_thread(call, *arguments):
    return await asyncio.to_thread(call, *arguments)


async def fold_of(said, until) -> tuple[Transcript, int]:
    """Fold what a stream says until the state fits."""
    transcript, last = Transcript(), 0
    async for kind, data, number in said:
        if kind == "end":
            break
        if kind == "snapshot":
            transcript = Transcript(msgspec.convert(data, Snapshot))
        else:
            event = decode_event(msgspec.json.encode(data))
            assert event.seq == number == last + 1 or not last
            transcript.apply(event)
        last = number
        if until(transcript.now):
            break
    return transcript, last


def is_over(now: Snapshot) -> bool:
    return bool(now.entries) and now.entries[0].content is not None


async def test_events_come_as_they_happen_and_fold_to_the_state(served):
    """What a stream said, folded, is what the server says the state is."""
    job = await in_thread(served.start, "sh", "-c", COUNTING)
    async with served.stream(f"/api/sessions/{session_of(job)}/events?after=0") as said:
        transcript, _ = await fold_of(said, is_over)
    state = (await in_thread(served.get, f"/api/sessions/{session_of(job)}")).content
    assert msgspec.json.decode(state, type=Snapshot) == transcript.now
    assert transcript.now.entries[0].output.endswith("line 8\n")


async def test_a_reader_that_lost_its_connection_goes_on_where_it_was(served):
    """Last-Event-ID: nothing twice and nothing missing, at any point it was cut."""
    job = await in_thread(served.start, "sh", "-c", COUNTING)
    path = f"/api/sessions/{session_of(job)}/events"
    seen, last = [], "0"
    while True:
        async with served.stream(path, **{"Last-Event-ID": last}) as said:
            kind, _, number = await anext(said)
        if kind == "snapshot":
            assert not seen, "there was no need for a snapshot"
        seen.append(number)
        last = str(number)
        if kind == "tool_result":
            break
    assert seen == list(range(seen[0], seen[0] + len(seen)))
    assert len(seen) >= 3


async def test_the_events_of_a_session_that_is_over_end(served):
    """A snapshot, then `end`, then nothing."""
    job = await in_thread(served.run, "echo", "done")
    await in_thread(wait_for, lambda: not list(served.home.glob(f"run/{session_of(job)}.sock")))
    async with served.stream(f"/api/sessions/{session_of(job)}/events") as said:
        kinds = [kind async for kind, _, _ in said]
    assert kinds == ["snapshot", "end"]


async def test_a_page_is_told_the_list_the_entries_and_the_rows(served, tmp_path):
    """First what there is, then what changes, until the job is seen to end."""
    job = await in_thread(served.start, "sh", "-c", counting_after(tmp_path / "go") + "; exit 4")
    async with served.stream(f"/api/page?session={session_of(job)}") as said:
        kind, data, _ = await anext(said)
        assert kind == "list"
        assert session_of(job) in [session["id"] for session in data["sessions"]]
        first = await said.until("entries")
        assert first["reset"]
        (tmp_path / "go").touch()
        rows = await said.until("rows", lambda data: data["total"] == 8)
        assert rows["id"] == job
        assert [row[0][0] for row in rows["rows"]] == [f"line {n}" for n in range(1, 9)]
        ended = await said.until("entries", lambda data: not data["entries"][0]["running"])
        assert (ended["entries"][0]["state"], ended["entries"][0]["exit_code"]) == ("failed", 4)
        assert (await said.until("list", lambda data: _job(data, job)["state"] == "failed"))["sessions"]


def _job(listed, job):
    return next(found for session in listed["sessions"] for found in session["jobs"] if found["id"] == job)


async def test_a_page_hears_of_a_session_that_begins_elsewhere(served):
    """The list changes by itself, whoever started what."""
    async with served.stream("/api/page") as said:
        await anext(said)
        job = await in_thread(served.start, "true")
        await said.until("list", lambda data: any(s["id"] == session_of(job) for s in data["sessions"]))


async def test_two_tabs_see_the_same(served, tmp_path):
    """They share one connection to the host and are told the same rows and entries."""
    job = await in_thread(served.start, "sh", "-c", counting_after(tmp_path / "go"))
    both_watch = asyncio.Barrier(2)

    async def last_rows():
        async with served.stream(f"/api/page?session={session_of(job)}") as said:
            await said.until("entries")
            await both_watch.wait()
            (tmp_path / "go").touch()
            rows = await said.until("rows", lambda data: data["total"] == 8)
            entry = await said.until("entries", lambda data: data["entries"][0]["total"] == 8)
            return rows, entry["entries"][0]["state"]

    one, other = await asyncio.gather(last_rows(), last_rows())
    assert one == other


async def test_a_page_opened_late_is_told_everything(served):
    """After the end: the entries with the number of their rows, which are then asked for."""
    job = await in_thread(served.run, "seq", "1", "1000")
    async with served.stream(f"/api/page?session={session_of(job)}") as said:
        entry = (await said.until("entries", lambda data: data["entries"][0]["total"] == 1000))["entries"][0]
    assert (entry["id"], entry["state"], entry["bytes"], entry["note"]) == (job, "ok", 3893, "")


async def test_a_page_says_that_output_was_deleted(served):
    """The call is shown, with a note in place of its rows."""
    job = await in_thread(served.run, "echo", "x")
    served.artifact(job).unlink()
    async with served.stream(f"/api/page?session={session_of(job)}") as said:
        entry = (await said.until("entries"))["entries"][0]
    assert (entry["note"], entry["total"]) == ("output was deleted", 0)


async def test_a_page_of_no_session_is_told_that_it_is_gone(served):
    """An address from yesterday does not look like an empty session."""
    async with served.stream("/api/page?session=zzzzzz") as said:
        await said.until("gone")


async def test_a_page_shows_a_recording(served):
    """Entries once; their calls have ids that rows can be asked for with."""
    async with served.stream("/api/page?session=r1") as said:
        entries = (await said.until("entries"))["entries"]
    call = next(entry for entry in entries if entry["kind"] == "call")
    assert call["id"] == f"r1-{call['n']}"
    rows = (await in_thread(served.get, f"/api/jobs/{call['id']}/rows")).json()
    assert rows["total"] == call["total"] > 0


async def test_a_killed_host_is_shown_as_lost_with_its_output(served):
    """Kill -9: the page says that the job ended with its host, and keeps what it had printed."""
    job = await in_thread(served.start, "sh", "-c", "echo before; exec sleep 60")
    async with served.stream(f"/api/page?session={session_of(job)}") as said:
        await said.until("rows", lambda data: data["total"] == 1)
        os.kill(host_of(served, session_of(job)), signal.SIGKILL)
        entries = await said.until("entries", lambda data: data["entries"][0].get("state") == "lost")
        assert "lost: the session ended" in entries["entries"][0]["said"]
        await said.until("list", lambda data: _job(data, job)["state"] == "lost")
    rows = (await in_thread(served.get, f"/api/jobs/{job}/rows")).json()
    assert rows["rows"] == [[["before"]]]
    assert (await in_thread(served.post, f"/api/jobs/{job}/cancel")).status_code == 409


async def test_a_server_that_is_restarted_finds_the_command_running(tmp_path):
    """What runs does not depend on who serves it."""
    with serving(tmp_path, stop_hosts=False) as server:
        job = await in_thread(server.start, "sh", "-c", "echo one; sleep 0.5; echo two; sleep 60")
    with serving(tmp_path) as server:
        async with server.stream(f"/api/page?session={session_of(job)}") as said:
            await said.until("rows", lambda data: data["total"] == 2)
        await in_thread(server.post, f"/api/jobs/{job}/cancel")
        await in_thread(server.ended, job)


async def test_a_flood_is_followed_to_its_last_row(served):
    """Rows are numbered right though most of them were never sent, and few events were needed."""
    job = await in_thread(served.start, "seq", "1", "2000000")
    events = 0
    async with served.stream(f"/api/page?session={session_of(job)}") as said:
        async for kind, data, _ in said:
            events += 1
            if kind == "rows":
                assert len(data["rows"]) <= 200
                numbers = [int(row[0][0]) for row in data["rows"]]
                whole = numbers[:-1]  # the last may be half written
                assert whole == list(range(data["first"] + 1, data["first"] + 1 + len(whole)))
            if kind == "entries" and data["entries"][0]["total"] == 2_000_000:
                break
    rows = (await in_thread(served.get, f"/api/jobs/{job}/rows?first=1999999")).json()
    assert rows["rows"] == [[["2000000"]]]
    assert events < 500


async def test_a_reader_that_does_not_read_is_brought_up_to_date_by_a_snapshot(tmp_path):
    """What waits for it is bounded; past that it gets the state instead, and then goes on."""
    store = Store(tmp_path)
    writer = store.create()
    writer.append([stamp(ToolUse("call", "Bash"), 1, 0.0)])
    writer.close()  # two more say that its host is gone
    watches = Watches(store)
    feed = Feed(watches, writer.folder.name, None)
    said = feed.events()
    assert (await anext(said)).startswith(b"id: 3\nevent: snapshot\n")
    feed.happened([stamp(ToolOutput("call", "x" * 1000), number, 0.0) for number in range(4, 1500)])
    assert (await anext(said)).startswith(b"id: 3\nevent: snapshot\n")
    feed.happened([stamp(ToolOutput("call", "y"), 1501, 0.0)])
    assert (await anext(said)).startswith(b"id: 1501\nevent: tool_output\n")
    await said.aclose()
    watches.close()


async def test_many_jobs_of_one_session_are_told_apart(served, tmp_path):
    """Each job's rows are its own, in order, whatever the others print."""
    first = await in_thread(served.start, "sleep", "60")
    session = session_of(first)
    jobs = {}
    go = tmp_path / "go"
    for number in range(20):
        script = (
            f"until [ -e {go} ]; do sleep 0.05; done; for i in 1 2 3 4 5; do echo job {number} line $i; sleep 0.1; done"
        )
        answer = await in_thread(served.post, f"/api/sessions/{session}/jobs", {"argv": ["sh", "-c", script]})
        jobs[answer.json()["job"]] = number
    newest: dict[str, list[str]] = {}
    async with served.stream(f"/api/page?session={session}") as said:
        go.touch()
        async for kind, data, _ in said:
            if kind == "rows":
                newest[data["id"]] = [row[0][0] for row in data["rows"]]
            if all(len(newest.get(job, [])) == 5 for job in jobs):
                break
    for job, number in jobs.items():
        assert newest[job] == [f"job {number} line {i}" for i in range(1, 6)]
    await in_thread(served.post, f"/api/jobs/{first}/cancel")
