"""The journal: what was kept comes back, one writer, torn ends, a full disk, the index and what prune lets go."""

import os
import time

import pytest

from sightline.conversation import TextPart, UserMessage
from sightline.events import Error, Notice, Text, ToolOutput, ToolResult, ToolUse, Unknown
from sightline.events.stamping import stamp
from sightline.journal import (
    Busy,
    Entry,
    JobRecord,
    JournalWriter,
    Store,
    is_job_id,
    is_session_id,
    prune,
    session_of,
)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def numbered(*events, first=1):
    return [stamp(event, seq, float(seq)) for seq, event in enumerate(events, first)]


def a_job(writer, number=1, output=b"hello\n", code=0):
    """The events of one command, kept as a host keeps them."""
    job = f"{writer.folder.name}-{number}"
    artifact = writer.artifact(job)
    artifact.write("stdout", output)
    artifact.close()
    details = {"ended": "exit", "bytes": len(output)}
    events = numbered(
        ToolUse(job, "Bash", "exec", "echo", {"command": "echo hello", "cwd": "/x"}),
        ToolOutput(job, output.decode(), size=len(output)),
        ToolResult(job, details=details, exit_code=code, duration=1.5),
    )
    writer.append(events)
    return job, events


def test_events_come_back_as_they_were(store):
    """Output is read back from the artifact: the same events, though the journal does not repeat it."""
    writer = store.create(cwd="/x", title="t")
    _, events = a_job(writer, output="hé\x1b[31mllo\n".encode())
    assert list(store.read(writer.folder.name).events()) == events
    assert b"llo" not in (writer.folder / "journal.jsonl").read_bytes().replace(b"echo hello", b"")
    header = store.read(writer.folder.name).header
    assert (header.id, header.cwd, header.title) == (writer.folder.name, "/x", "t")


def test_there_is_one_writer(store):
    """A second one is refused while the first is there, and welcome afterwards."""
    writer = store.create()
    session = writer.folder.name
    assert store.is_running(session)
    with pytest.raises(Busy):
        store.writer(session)
    writer.close()
    assert not store.is_running(session)
    store.writer(session).close()


def test_a_torn_last_line_is_left_out_and_known(store):
    """A writer that was killed may leave half a line."""
    writer = store.create()
    _, events = a_job(writer)
    path = writer.folder / "journal.jsonl"
    whole = path.stat().st_size
    with path.open("ab") as file:
        file.write(b'{"kind":"text","te')
    kept = store.read(writer.folder.name)
    assert list(kept.events()) == events
    assert kept.torn_at == whole


def test_a_line_that_cannot_be_read_is_shown_as_such(store):
    """Damage in the middle costs that line and no other."""
    writer = store.create()
    writer.append(numbered(Text("a")))
    with (writer.folder / "journal.jsonl").open("ab") as file:
        file.write(b"\x1bgarbage\n" + b'{"kind":"text","text":"\xff"}\n')
    writer.append(numbered(Text("b"), first=2))
    kinds = [type(event) for event in store.read(writer.folder.name).events()]
    assert kinds == [Text, Unknown, Unknown, Text]


def test_a_record_has_a_cap(store):
    """Every record is bounded: what is too long is kept by its beginning and its length."""
    writer = store.create()
    writer.append(numbered(Text("x" * 2_000_000)))
    (event,) = store.read(writer.folder.name).events()
    assert isinstance(event, Unknown)
    assert (event.seq, len(event.raw), event.length > 2_000_000) == (1, 65536, True)


def test_what_could_not_be_kept_leaves_a_gap_that_is_said(store, monkeypatch):
    """Bad weather, full disk: nothing half written stays, and afterwards the journal says what is missing."""
    writer = store.create()
    assert writer.append(numbered(Text("a")))
    real = os.write

    def full(fd, data):
        if fd == writer.fileno():
            real(fd, bytes(data[:7]))  # some of it fits
            raise OSError(28, "No space left on device")
        return real(fd, data)

    monkeypatch.setattr(os, "write", full)
    assert not writer.append(numbered(Text("b"), first=2))
    assert not writer.append(numbered(Text("c"), first=3))
    assert writer.problem == "No space left on device"
    monkeypatch.setattr(os, "write", real)
    assert writer.append(numbered(Notice("d"), first=4))
    first, gap, last = store.read(writer.folder.name).events()
    assert (first.text, last.text) == ("a", "d")
    assert isinstance(gap, Error)
    assert "events 2 to 3" in gap.text


def test_output_of_a_deleted_artifact_is_empty(store):
    """Bad weather, a deleted artifact: the events are all there, without content."""
    writer = store.create()
    job, _ = a_job(writer)
    (writer.folder / "artifacts" / f"{job}.out").unlink()
    use, output, result = store.read(writer.folder.name).events()
    assert (use.id, output.content, output.size, result.exit_code) == (job, "", 6, 0)


def test_ids_are_told_apart_by_form():
    """A job names its session; neither looks like the other."""
    assert is_session_id("k3m9qz")
    assert is_job_id("k3m9qz-12")
    assert not is_job_id("k3m9qz")
    assert not is_session_id("k3m9qz-1")
    assert session_of("k3m9qz-12") == "k3m9qz"
    assert session_of("../../etc-1") == ""


def test_the_index_can_be_made_again(store, tmp_path):
    """It is a cache: without it, the same list comes out of the journals."""
    for _ in range(3):
        writer = store.create()
        a_job(writer, code=3)
        writer.close()
    assert not store.index.exists
    jobs = store.jobs()
    assert [(job.state, job.exit_code, job.command, job.bytes) for job in jobs] == [("failed", 3, "echo hello", 6)] * 3
    with (tmp_path / "jobs.jsonl").open("ab") as file:
        file.write(b"garbage\n{}\n")
    assert store.jobs() == jobs


def test_the_last_line_of_a_job_counts(store):
    """Begun, then ended: one job."""
    store.index.add(JobRecord(id="k3m9qz-1", session="k3m9qz"))
    store.index.add(JobRecord(id="k3m9qz-1", session="k3m9qz", state="ok", exit_code=0))
    assert [job.state for job in store.jobs()] == ["ok"]


def test_many_writers_of_the_index_lose_no_line(tmp_path):
    """Hosts append while another rewrites it all."""
    children = []
    for number in range(4):
        child = os.fork()
        if child == 0:
            index = Store(tmp_path).index
            for job in range(50):
                index.add(JobRecord(id=f"k3m9q{'abcd'[number]}-{job + 1}", session="k3m9qa"))
                if job % 10 == 0:
                    index.rewrite(lambda jobs: jobs.values())
            os._exit(0)
        children.append(child)
    for child in children:
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(Store(tmp_path).jobs()) == 200


def old(writer: JournalWriter, days: float) -> None:
    moment = time.time() - days * 86400
    for parent, _, names in os.walk(writer.folder):
        for name in names:
            os.utime(os.path.join(parent, name), (moment, moment))


def test_prune_lets_go_of_the_old_and_never_of_the_running(store):
    """By age."""
    writers = [store.create() for _ in range(3)]
    for writer, days in zip(writers, (40, 40, 1), strict=True):
        job, _ = a_job(writer)
        store.index.add(JobRecord(id=job, session=writer.folder.name))
        old(writer, days)
    writers[0].close()
    writers[2].close()
    assert prune(store).sessions == 1
    left = {writers[1].folder.name, writers[2].folder.name}
    assert set(store.sessions()) == left
    assert {job.session for job in store.jobs()} == left


def test_prune_lets_go_of_the_oldest_until_it_is_little_enough(store):
    """By size."""
    for days in (3, 2, 1):
        writer = store.create(title=str(days))
        a_job(writer, output=b"x" * 100_000)
        old(writer, days)
        writer.close()
    pruned = prune(store, larger_than=250_000)
    assert pruned.sessions == 1
    assert pruned.bytes >= 100_000
    assert {store.read(session).header.title for session in store.sessions()} == {"2", "1"}


def a_conversation(store, days, size=0):
    """A session somebody talked in, so many days ago."""
    writer = store.create()
    writer.append([Entry(id="e1", message=UserMessage([TextPart("hello")]))])
    writer.artifact(f"{writer.folder.name}-1").write("stdout", b"x" * size)
    old(writer, days)
    writer.close()
    return writer.folder.name


def test_prune_never_lets_go_of_a_conversation_for_its_age(store):
    """A command's output is worth less with every day; a conversation is somebody's work."""
    kept = a_conversation(store, 400)
    writer = store.create()
    old(writer, 40)
    writer.close()
    assert prune(store).sessions == 1
    assert prune(store, older_than=0.0).sessions == 0
    assert store.sessions() == [kept]


def test_prune_lets_go_of_conversations_last_and_only_of_old_ones(store):
    """For want of room: commands first, whatever their age; then conversations that have not changed for a month."""
    old_one, recent = a_conversation(store, 50, 100_000), a_conversation(store, 3, 100_000)
    writer = store.create()
    a_job(writer, output=b"x" * 100_000)
    writer.close()
    assert prune(store, larger_than=250_000).sessions == 1
    assert set(store.sessions()) == {old_one, recent}
    assert prune(store, larger_than=0).sessions == 1
    assert store.sessions() == [recent]
