"""A session with an agent in it, hosted by the program that asked for it. Others may attach to it meanwhile."""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from sightline.agent import (
    Agent,
    Secrets,
    Wanted,
    add_extensions,
    begin_with_level,
    build,
    mended,
    secrets_in,
    tell_approval,
)
from sightline.conversation import AssistantMessage, ToolMessage, UserMessage
from sightline.events import Notice
from sightline.exceptions import UserMistake
from sightline.host._kept import recover
from sightline.host._process import prune_now_and_then
from sightline.host._provider_memory import take_over
from sightline.host._runtime import forget_socket, listen
from sightline.host._server import SocketServer
from sightline.host._session import Session
from sightline.host._stage import SessionShelf, SessionStage
from sightline.host._told import KeptHistory
from sightline.host._worker import AgentWorker
from sightline.journal import Busy, JournalWriter, KeptSession, Store, Tree
from sightline.text import clean_text, without_credentials


class Working(msgspec.Struct, frozen=True):
    """What is running."""

    session: Session
    server: SocketServer
    agent: Agent
    stage: SessionStage
    worker: AgentWorker
    first: int  # the number of the last event before this start: what was told meanwhile comes after it
    place: int  # how long the journal was then


@asynccontextmanager
async def working(
    store: Store,
    wanted: Wanted,
    *,
    resume: str = "",
    title: str = "",
    attended: bool = False,
    keep_unused: bool = True,
) -> AsyncIterator[Working]:
    """A new session, or a kept one that is gone on with; on the way out its work is ended and everybody told.

    `attended`: somebody answers sooner or later. `keep_unused`: also a session in which nothing was said or run."""
    secrets = Secrets(wanted.environ, secrets_in(wanted.settings, wanted.environ))
    title = without_credentials(secrets.masked(title))
    writer, tree = opened_journal(store, str(wanted.cwd), resume, title)
    unused = not resume
    try:
        session = Session(writer, store.index, last_seq=tree.last_seq)
        stage = SessionStage(session, tree, secrets, attended=attended)
        shelf = SessionShelf(store, session.id)
        local = store.folder(session.id) / "local"
        agent = build(wanted, stage, tree, shelf, local, KeptHistory(store, session.id), secrets)
        worker = session.worker = AgentWorker(session, agent, dict(wanted.environ) or dict(os.environ))
        agent.on_idle = session.tell_if_idle
        session.on_left_alone = lambda: _nobody_answers(stage, agent)
        if resume:
            _mend(session, agent, writer, tree)
        first, place = session.seq, (writer.folder / "journal.jsonl").stat().st_size
        if resume:
            take_over(session, tree)
        begin_with_level(agent, wanted.approval)
        if resume:
            tell_approval(agent)  # before anybody can connect: the journal says which level it was left with
        for text in wanted.notices:
            session.publish(Notice(clean_text(text), "warning", source="settings"))
        for text in agent.notices:
            session.publish(Notice(clean_text(text), "warning", source="agent"))
        server = SocketServer(session, listen(session.id), cwd=str(wanted.cwd), started=time.time())
        try:
            await server.open()
            add_extensions(agent, wanted.environ)
            await agent.hooks.tell("session_start")
            unused = unused and not keep_unused
            yield Working(session, server, agent, stage, worker, first, place)
        finally:
            unused = unused and is_unused(session, tree)  # now already: what fails on the way out must not cost it
            await session.stop()
            await server.close()
            forget_socket(session.id)
            await session.sync()
            unused = unused and is_unused(session, tree)
    finally:
        writer.close()
        if unused:
            store.remove(writer.folder.name)  # nobody was ever in it
    if not unused:
        await asyncio.to_thread(store.catalogue.note, writer.folder.name)
    prune_now_and_then(store)


def is_unused(session: Session, tree: Tree) -> bool:
    """Nothing was said and nothing was run."""
    talked = any(node.type in ("message", "custom_message") for node in tree.nodes.values())
    return not talked and not session.calls_made


def _nobody_answers(stage: SessionStage, agent: Agent) -> None:
    """Whoever could answer has left a session that is nobody's: what was asked is not waited for."""
    if stage.attended or not agent.requests.give_up():
        return
    text = "the last user has left: open questions were answered with no"
    stage.publish(Notice(text, "warning", source="agent"))


def _mend(session: Session, agent: Agent, writer: JournalWriter, tree: Tree) -> None:
    """Bring to an end what a host that was killed left open."""
    places = [node.offset + node.size + 1 for node in tree.nodes.values() if node.type == "message" and node.size]
    tail = list(KeptSession(writer.folder).events(max(places, default=0)))
    for missing in mended(agent.memory.messages, tail):
        if isinstance(missing, UserMessage | AssistantMessage | ToolMessage):
            agent.memory.add(missing)
        else:
            session.publish(missing)
    session.flush()


def opened_journal(store: Store, cwd: str, resume: str, title: str, provider: str = "") -> tuple[JournalWriter, Tree]:
    """The journal of a new session, or of one that is gone on with."""
    if not resume:
        writer = store.create(cwd=cwd, title=title, provider=provider)
        return writer, Tree.load(writer.folder)
    if any(job.session == resume and job.state == "running" for job in store.index.jobs().values()):
        recover(store, resume)
    try:
        return store.reopen(resume)
    except Busy:
        hint = f"watch it with `sightline attach {resume}`, or fork it with `sightline fork {resume}`"
        raise UserMistake(f"session {resume} is running", hint) from None
