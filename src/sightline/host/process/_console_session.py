"""A session for a console: with our own agent in it, or another provider's."""

import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from sightline.agent import Agent, agent_spec
from sightline.events import (
    JobsState,
    ModelState,
    Notice,
    SessionJob,
    StateFact,
    ThinkingState,
)
from sightline.exceptions import UserMistake
from sightline.exec import Jobs
from sightline.host.native._working import working
from sightline.host.provider._memory import conversation_in
from sightline.host.session._attachments import SessionShelf
from sightline.host.session._life import open_journal, opened, served
from sightline.host.session._session import HostSession
from sightline.host.session._worktree import placed
from sightline.host.socket._server import SocketServer
from sightline.journal import NATIVE, Store
from sightline.models._open import NoModel
from sightline.settings import StartOptions
from sightline.text import clean_line, cut_graphemes

_NO_MODEL = "/setup in the console adds one; `sightline models` lists what is looked for"
_LABEL_AT_MOST = 200  # of a command that may be a whole script: all of it is in the call


@asynccontextmanager
async def open_session(store: Store, options: StartOptions) -> AsyncIterator[tuple[HostSession, SocketServer]]:
    """A new session, or a stored one that is resumed, for users who may detach and come back."""
    options = placed(store, options)
    options = replace(options, cwd=str(_go_to(options)))
    provider = options.provider or (conversation_in(store, options.resume).provider if options.resume else "")
    if provider in ("", NATIVE):
        spec = partial(agent_spec, options, may_lack_model=True)
        async with working(store, spec(), attended=True, remove_unused=True) as it:
            it.worker.reload_settings = spec
            SessionFacts(it.session, it.agent).publish()
            await it.session.fold_stored()
            assert it.server is not None
            yield it.session, it.server
        return
    from sightline.host.provider._worker import open_provider

    options = replace(options, provider=provider)
    journal = open_journal(store, cwd=options.cwd, resume=options.resume, title=options.title, provider=provider)
    async with opened(store, journal, remove_unused=True) as session:
        session.worker = await open_provider(session, options, journal[1], SessionShelf(store, session.id))
        await session.fold_stored()
        async with served(session, cwd=options.cwd) as server:
            yield session, server


def _go_to(options: StartOptions) -> Path:
    """Change to the folder of the session."""
    folder = Path(options.cwd)
    try:
        folder = folder.absolute()
        os.chdir(folder)
    except OSError as error:
        hint = "start it in a folder that exists" if not options.resume else "create it again, or choose another"
        raise UserMistake(clean_line(f"cannot work in {folder}: {error.strerror}"), hint) from None
    if str(folder).encode("utf-8", "replace") != os.fsencode(folder):
        raise UserMistake(
            "the name of the current folder is not UTF-8", "rename it: the model could not name files in it"
        )
    return folder


class SessionFacts:
    """Publishes facts that no event of the conversation has, for views that attach: once, and jobs on each change."""

    def __init__(self, session: HostSession, agent: Agent) -> None:
        self._session = session
        self._agent = agent
        self._began: dict[str, float] = {}
        self._published: list[SessionJob] = []
        for jobs in self._tables():
            jobs.on_change = self._publish_jobs

    def publish(self) -> None:
        agent = self._agent
        self._publish(ModelState(agent.model.name))
        self._publish(ThinkingState(agent.model.thinking))
        agent.permissions.publish_level()
        agent.conversation.publish_context()
        if agent.file_commands is not None:
            self._publish(agent.file_commands.offered())
        self._publish(JobsState([]))
        agent.todo.publish()
        if agent.model.why_missing is not None:
            why = agent.model.why_missing
            hint = _NO_MODEL if isinstance(why, NoModel) else why.hint
            agent.actor.publish(Notice(why.message, "warning", hint))

    def _tables(self) -> list[Jobs]:
        own = self._agent.workplace.jobs
        return [self._session.jobs, *([own] if own is not None else [])]

    def _publish_jobs(self) -> None:
        rows = [self._row(job.id, job.label, job.status) for table in self._tables() for job in table.snapshots()]
        if rows != self._published:
            self._published = rows
            self._publish(JobsState(rows))

    def _row(self, id: str, label: str, status: str) -> SessionJob:
        label = cut_graphemes(clean_line(label), _LABEL_AT_MOST)
        return SessionJob(id, label, status, self._began.setdefault(id, time.time()))

    def _publish(self, fact: StateFact) -> None:
        self._agent.actor.publish(fact.as_state())
