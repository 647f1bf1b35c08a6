"""A session with our own agent in it, hosted by this process. Viewers may attach to it meanwhile."""

import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext

import msgspec

from sightline.agent import (
    Agent,
    AgentSpec,
    add_extensions,
    add_file_commands,
    begin_with_rules,
    build,
    missing_messages,
    publish_skills,
    with_stored_rules,
)
from sightline.delegation import Driver, Member, ProgramStart, Team
from sightline.events import Notice
from sightline.host.native._worker import AgentWorker
from sightline.host.provider._memory import take_over
from sightline.host.recovery._history import SessionHistory
from sightline.host.session._attachments import SessionShelf
from sightline.host.session._life import Journal, open_journal, opened, served
from sightline.host.session._session import HostSession
from sightline.host.socket._server import SocketServer
from sightline.journal import Store, events_since_message
from sightline.secrets import Secrets, secrets_in
from sightline.settings import keys_notice
from sightline.text import without_credentials


class NativeSession(msgspec.Struct, frozen=True):
    """A running session and its parts."""

    session: HostSession
    agent: Agent
    worker: AgentWorker
    first: int  # the number of the last event before this start
    place: int  # the size of the journal then
    server: SocketServer | None  # None: it is not listed


@asynccontextmanager
async def working(
    store: Store,
    spec: AgentSpec,
    *,
    attended: bool = False,
    remove_unused: bool = False,
    listed: bool = True,
    opening: tuple[Journal, socket.socket] | None = None,
) -> AsyncIterator[NativeSession]:
    """A new session, or a stored one that is resumed; on the way out its work is ended, and every viewer receives that.

    `attended`: a user answers sooner or later. `remove_unused`: see `opened`. `listed`: views can find it; one that is
    part of another session is seen there. `opening`: the journal and the socket of a new one, where another process had
    to know them first."""
    secrets = Secrets(spec.environ, secrets_in(spec.settings, spec.environ))
    resume, title = spec.options.resume, without_credentials(secrets.masked(spec.options.title))
    journal, listener = opening or (open_journal(store, cwd=str(spec.cwd), resume=resume, title=title), None)
    async with opened(store, journal, remove_unused=remove_unused) as session:
        tree = journal[1]
        spec = with_stored_rules(spec, tree)
        session.expects_user = attended
        shelf = SessionShelf(store, session.id)
        local = store.folder(session.id) / "local"
        actor, history = session.actor("agent", secrets), SessionHistory(store, session.id)
        agent = build(spec, actor, tree, shelf, local, history)
        team = Team(agent, spec, session.folder, _open_other)
        worker = session.worker = AgentWorker(session, agent, team, dict(spec.environ) or dict(os.environ))
        agent.when_idle(session.report_if_idle)
        session.on_left_alone = lambda: _end_requests(session, agent, team)
        if resume:
            for message in missing_messages(agent.memory.messages, events_since_message(session.folder, tree)):
                agent.memory.add(message)
        first, place = session.seq, (session.folder / "journal.jsonl").stat().st_size
        if resume:
            take_over(session, tree)
        agent.permissions.begin(spec.named_level)
        begin_with_rules(agent.memory, agent.actor, spec)
        if resume:
            agent.permissions.publish_level()  # before a view can connect: the journal has the old level
        if (unread := keys_notice()) is not None:
            agent.actor.observed_by("settings").publish(unread)
        for text in spec.notices:
            agent.actor.observed_by("settings").publish(Notice(text, "warning"))
        for text in agent.notices:
            agent.actor.publish(Notice(text, "warning"))
        if listed:
            publish_skills(agent)
        async with served(session, cwd=str(spec.cwd), listener=listener) if listed else nullcontext() as server:
            add_extensions(agent, spec.environ)
            if listed:  # else another agent writes its prompts
                add_file_commands(agent, spec.environ)
            await agent.hooks.notify("session_start")
            yield NativeSession(session, agent, worker, first, place, server)


def _open_other(member: Member, start: ProgramStart) -> Driver:
    from sightline.host.provider._driver import open_other  # few sessions have such an agent

    return open_other(member, start)


def _end_requests(session: HostSession, agent: Agent, team: Team) -> None:
    """The last user has left a session that expects none: open requests are not waited for."""
    if session.has_answers or not any([agent.requests.give_up(), team.directory.give_up_requests()]):
        return
    agent.actor.publish(Notice("the last user has left: open questions were answered with no", "warning"))
