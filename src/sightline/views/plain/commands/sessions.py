"""Running sessions: listed, their jobs cancelled, stopped."""

import asyncio
import time

from sightline.exceptions import OutsideFailure
from sightline.host import CancelJob, Hello, Stop, StoredSession, attach, find, hosted
from sightline.journal import Store, session_of
from sightline.text import cut_graphemes
from sightline.transcript import Snapshot, TranscriptCall
from sightline.views._names import folder_name
from sightline.views.plain._ending import JobEnd, ending_in, ending_of
from sightline.views.plain._figures import duration_words
from sightline.views.plain._output import pretty_json, write_message, write_text
from sightline.views.plain._palette import Palette
from sightline.views.plain._standing import hosts_by_session, standing, standing_word, titles_of
from sightline.views.plain._table import NARROW, WIDE, Cell, Column, Tinted, draw_table

_TITLE_SHOWN = 80

# A command is given five seconds to end by itself; a host that takes much longer is stuck.
_SECONDS_TO_STOP = 15.0


def sessions_table(store: Store, palette: Palette, columns: int | None = None) -> str:
    """One row each. `columns`: of the terminal; a narrow one has no room for process ids."""
    hosts = hosts_by_session(store)
    if not hosts:
        return "no session is running\n"
    titles = titles_of(store, set(hosts))
    shown = [column for column in _COLUMNS if columns is None or columns >= _FROM.get(column.name, 0)]
    rows = [_cells(hello, titles.get(session, ""), palette) for session, hello in hosts.items()]
    lines = draw_table(shown, [[row[column.name] for column in shown] for row in rows], palette, columns)
    return "".join(f"{line}\n" for line in lines)


_FROM = {"PID": WIDE, "FOLDER": NARROW}
_COLUMNS = (
    Column("ID"),
    Column("STATE"),
    Column("TIME", right=True),
    Column("PID", right=True),
    Column("JOBS", right=True),
    Column("FOLDER", gives_way=True),
    Column("TITLE"),
)


def _cells(hello: Hello, title: str, palette: Palette) -> dict[str, Cell]:
    return {
        "ID": hello.session,
        "STATE": Tinted(*standing(hello, palette)),
        "TIME": _age(hello),
        "PID": str(hello.pid),
        "JOBS": str(hello.running),
        "FOLDER": folder_name(hello.cwd),
        "TITLE": title,
    }


def sessions_json(store: Store) -> bytes:
    hosts = hosts_by_session(store)
    titles = titles_of(store, set(hosts))
    facts = [_facts(hello, titles.get(session, "")) for session, hello in hosts.items()]
    return pretty_json(facts)


def sessions_to_choose_from(store: Store, hosts: list[Hello]) -> str:
    """A row for each, with what distinguishes it."""
    titles = titles_of(store, {hello.session for hello in hosts})
    rows = []
    for hello in hosts:
        title = cut_graphemes(titles.get(hello.session, ""), _TITLE_SHOWN)
        rows.append(f"  {hello.session}  {standing_word(hello):<13}  {_age(hello):>12}  {title}".rstrip())
    return "\n".join(rows)


def cancel_jobs(store: Store, id: str, palette: Palette, *, force: bool) -> int:
    """Cancel a job, or all of a session, and see it ended."""
    endings, was_over = asyncio.run(_cancelled(store, id, force))
    for ending in endings:
        write_text(1, f"{ending.line(palette)}\n")
    if was_over:
        write_message(2, "note", f"{id} had already ended")
    return 0


def stop_sessions(store: Store, texts: list[str]) -> int:
    """Stop these sessions, or all of them; 1 when one does not."""
    named = [session_of(found) or found for found in (find(store, text) for text in texts)]
    return asyncio.run(_stopped(store, named))


async def _cancelled(store: Store, id: str, force: bool) -> tuple[list[JobEnd], bool]:
    client = await attach(store, session_of(id) or id)
    if isinstance(client, StoredSession):
        return [ending_of(call) for call in _calls(client.snapshot(), id)], True
    frames = client.subscribe(None)
    async for frame in frames:
        assert isinstance(frame, Snapshot)
        calls = _calls(frame, id)
        waiting = {call.id for call in calls if call.content is None}
        if not waiting:
            client.close()
            return [ending_of(call) for call in calls], True
        break
    orders = [asyncio.ensure_future(client.submit(CancelJob(job, force))) for job in sorted(waiting)]
    endings: dict[str, JobEnd] = {}
    async for frame in frames:
        for job in waiting - set(endings):
            ending = ending_in(frame, job)
            if ending is not None:
                endings[job] = ending
        if len(endings) == len(waiting):
            break
    await asyncio.gather(*orders, return_exceptions=True)
    client.close()
    return list(endings.values()), False


def _calls(snapshot: Snapshot, id: str) -> list[TranscriptCall]:
    return [
        entry
        for entry in snapshot.entries
        if isinstance(entry, TranscriptCall) and id in (entry.id, session_of(entry.id))
    ]


async def _stopped(store: Store, named: list[str]) -> int:
    sessions = named or hosted(store)
    if not sessions:
        write_text(1, "no session is running\n")
    worked = await asyncio.gather(*(_stop(store, session) for session in sessions))
    return 0 if all(worked) else 1


async def _stop(store: Store, session: str) -> bool:
    try:
        client = await attach(store, session)
    except OutsideFailure as problem:
        write_message(2, "error", problem.message, problem.hint)
        return False
    if isinstance(client, StoredSession):
        write_message(2, "note", f"session {session} is not running")
        return True
    try:
        async with asyncio.timeout(_SECONDS_TO_STOP):
            order = asyncio.ensure_future(client.submit(Stop()))
            async for _ in client.subscribe(0):
                pass
            await order
    except TimeoutError:
        pid = client.hello.pid
        write_message(2, "error", f"session {session} does not stop", f"end its process: kill -9 {pid}")
        return False
    except OutsideFailure:  # it ended before it could reply
        pass
    finally:
        client.close()
    write_text(1, f"stopped {session}\n")
    return True


def _age(hello: Hello) -> str:
    return duration_words(max(time.time() - hello.started, 0.0))


def _facts(hello: Hello, title: str) -> dict[str, object]:
    return {
        "id": hello.session,
        "pid": hello.pid,
        "jobs": hello.running,
        "state": standing_word(hello),
        "waiting": hello.waiting,
        "title": title,
        "started": hello.started,
        "cwd": hello.cwd,
        "version": hello.version,
    }
