"""Running sessions: listed, their jobs cancelled, stopped."""

import asyncio
import time

import msgspec

from sightline.exceptions import OutsideFailure
from sightline.host import Cancel, Hello, Kept, Stop, attach, find, running
from sightline.journal import Store, session_of
from sightline.transcript import Call, Snapshot
from sightline.views.plain._ending import Ending, ending_in, ending_of
from sightline.views.plain._figures import duration_words
from sightline.views.plain._output import write_all
from sightline.views.plain._palette import Palette

# A command is given five seconds to end by itself; a host that takes much longer is stuck.
_SECONDS_TO_STOP = 15.0


def sessions_table(store: Store, palette: Palette) -> str:
    hosts = asyncio.run(running(store))
    if not hosts:
        return "no session is running\n"
    head = f"{palette.dim}{'ID':<10} {'PID':>8} {'JOBS':>5} {'TIME':>12}  FOLDER{palette.reset}"
    return "".join(f"{line}\n" for line in [head, *map(_row, hosts)])


def sessions_json(store: Store) -> bytes:
    facts = [_facts(hello) for hello in asyncio.run(running(store))]
    return msgspec.json.format(msgspec.json.encode(facts)) + b"\n"


def cancel_jobs(store: Store, id: str, palette: Palette, *, force: bool) -> int:
    """Cancel a job, or all of a session, and see it ended."""
    endings, was_over = asyncio.run(_cancelled(store, id, force))
    for ending in endings:
        write_all(1, f"{ending.line(palette)}\n".encode())
    if was_over:
        write_all(2, f"note: {id} had already ended\n".encode())
    return 0


def stop_sessions(store: Store, texts: list[str]) -> int:
    """Stop these sessions, or all of them; 1 when one does not."""
    named = [session_of(found) or found for found in (find(store, text) for text in texts)]
    return asyncio.run(_stopped(store, named))


async def _cancelled(store: Store, id: str, force: bool) -> tuple[list[Ending], bool]:
    client = await attach(store, session_of(id) or id)
    if isinstance(client, Kept):
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
    orders = [asyncio.ensure_future(client.submit(Cancel(job, force))) for job in sorted(waiting)]
    endings: dict[str, Ending] = {}
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


def _calls(snapshot: Snapshot, id: str) -> list[Call]:
    return [entry for entry in snapshot.entries if isinstance(entry, Call) and id in (entry.id, session_of(entry.id))]


async def _stopped(store: Store, named: list[str]) -> int:
    sessions = named or [hello.session for hello in await running(store)]
    if not sessions:
        write_all(1, b"no session is running\n")
    worked = await asyncio.gather(*(_stop(store, session) for session in sessions))
    return 0 if all(worked) else 1


async def _stop(store: Store, session: str) -> bool:
    client = await attach(store, session)
    if isinstance(client, Kept):
        write_all(2, f"note: session {session} is not running\n".encode())
        return True
    try:
        async with asyncio.timeout(_SECONDS_TO_STOP):
            order = asyncio.ensure_future(client.submit(Stop()))
            async for _ in client.subscribe(0):
                pass
            await order
    except TimeoutError:
        pid = client.hello.pid
        write_all(2, f"error: session {session} does not stop\nhint: end its host: kill -9 {pid}\n".encode())
        return False
    except OutsideFailure:  # it went without a goodbye: stopped all the same
        pass
    finally:
        client.close()
    write_all(1, f"stopped {session}\n".encode())
    return True


def _row(hello: Hello) -> str:
    elapsed = duration_words(max(time.time() - hello.started, 0.0))
    waits = "  (waits for an answer)" if hello.waiting else ""
    return f"{hello.session:<10} {hello.pid:>8} {hello.running:>5} {elapsed:>12}  {hello.cwd}{waits}"


def _facts(hello: Hello) -> dict[str, object]:
    return {
        "id": hello.session,
        "pid": hello.pid,
        "jobs": hello.running,
        "waiting": hello.waiting,
        "started": hello.started,
        "cwd": hello.cwd,
        "version": hello.version,
    }
