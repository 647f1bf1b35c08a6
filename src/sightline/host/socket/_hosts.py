"""The hosts of this user: which run, and a connection to one session whether it runs or not."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable

from sightline.exceptions import OutsideFailure, UserMistake
from sightline.host.recovery._stored_session import StoredSession, recover
from sightline.host.session._subscription import Frame
from sightline.host.socket._client import Client, HostGone, HostRefused, connect
from sightline.host.socket._runtime import forget_socket, sessions_with_sockets, socket_path
from sightline.host.socket._wire import Hello
from sightline.journal import Store, is_job_id, is_session_id, session_of
from sightline.transcript import Snapshot

_SECONDS_TO_ANSWER = 5.0
_SECONDS_BETWEEN_TRIES = 0.02
_SECONDS_BETWEEN_LOOKS = 0.5  # at a journal that grows


async def running(store: Store) -> list[Hello]:
    """Every host that answers, those started last first. The socket a killed host left behind is cleared away."""
    found = await asyncio.gather(*(_greeted(store, session) for session in sessions_with_sockets()))
    return sorted((hello for hello in found if hello is not None), key=lambda hello: hello.started, reverse=True)


def hosted(store: Store) -> list[str]:
    """Every session that has a host, also one that is too busy to answer."""
    return [session for session in sessions_with_sockets() if store.is_running(session)]


def is_lost(store: Store, session: str) -> bool:
    """Whether its host was killed: one that ends removes its socket before it releases the session."""
    return socket_path(session).exists() and not store.is_running(session)


async def attach(store: Store, session: str) -> Client | StoredSession:
    """The running session, or what is stored of it. A host that is just starting or ending is waited for."""
    deadline = time.monotonic() + _SECONDS_TO_ANSWER
    while store.is_running(session) or not await asyncio.to_thread(recover, store, session):
        try:
            return await connect(session)
        except OSError as error:  # it is ending, or another process is just recovering it
            if time.monotonic() > deadline:
                hint = "it is suspended or very busy: try again, or end that process"
                raise OutsideFailure(f"session {session} is running but does not answer", hint) from error
            await asyncio.sleep(_SECONDS_BETWEEN_TRIES)
    return StoredSession(store, session)


async def follow(
    store: Store,
    session: str,
    after: int | None = None,
    *,
    attends: bool = False,
    attached: Client | StoredSession | None = None,
    on_attached: Callable[[Client | StoredSession], None] = lambda attached: None,
) -> AsyncGenerator[Frame, None]:
    """Everything after event `after`, in order and once, until the session is over, whether it runs or not.

    When its host is killed the rest comes from the journal, or from a host that has resumed it. A session that runs
    without a socket is read from the journal as it grows. `attached`: a connection there is already."""
    while True:
        polls = attached is None and store.is_running(session) and not socket_path(session).exists()
        attached = attached or (StoredSession(store, session) if polls else await attach(store, session))
        on_attached(attached)
        try:
            async for frame in attached.subscribe(after, attends=attends):
                after = frame.seq if isinstance(frame, Snapshot) else frame[-1].seq
                yield frame
            if not polls:
                return
            await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)
        except HostGone:
            pass
        finally:
            attached.close()
        attached = None


def find(store: Store, text: str) -> str:
    """The session or job for what the user typed: its id, or a unique prefix of it."""
    if is_session_id(text) or is_job_id(text):
        session = session_of(text) or text
        known = store.folder(session).is_dir()
        if known and (text == session or not store.artifact(text).missing or text in _job_ids(store)):
            return text
        raise UserMistake(f"no job {text}" if text != session else f"no session {text}", _WHERE)
    fitting = sorted(i for i in {*store.sessions(), *_job_ids(store)} if i.startswith(text)) if text else []
    sessions = {session_of(found) or found for found in fitting}
    if not fitting:
        raise UserMistake(f"no session or job {text}", _WHERE)
    meant = sorted(sessions) if len(sessions) > 1 else fitting
    if len(sessions) > 1 or (len(fitting) > 1 and session_of(fitting[0])):
        raise UserMistake(f"{text} could be any of: {', '.join(meant[:5])}", "give more of the id")
    return fitting[0]


_WHERE = "see `sightline jobs` and `sightline ps`"


def _job_ids(store: Store) -> set[str]:
    return {job.id for job in store.jobs()}


async def _greeted(store: Store, session: str) -> Hello | None:
    try:
        client = await connect(session)
    except ConnectionRefusedError:
        if not store.is_running(session):
            forget_socket(session)
        return None
    except (OSError, HostRefused):
        return None
    client.close()
    return client.hello
