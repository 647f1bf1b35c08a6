"""Facts for a view that attaches which no event of the conversation has: the model, the jobs, the commands."""

import time
from typing import Any

from sightline.agent import Agent
from sightline.events import (
    CommandsState,
    ExtensionCommand,
    JobsState,
    ModelState,
    Notice,
    SessionJob,
    StateFact,
    ThinkingState,
)
from sightline.exec import Jobs
from sightline.host.session._session import HostSession
from sightline.models._open import NoModel
from sightline.text import clean_line, cut_graphemes

_NO_MODEL = "/setup in the console adds one; `sightline models` says what is looked for"
_LABEL_AT_MOST = 200  # of a command that may be a whole script: all of it is in the call


class SessionFacts:
    """Publishes them once, and the jobs whenever they change."""

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
        self._publish(CommandsState([ExtensionCommand(name, _about(run)) for name, run in agent.commands.items()]))
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


def _about(run: Any) -> str:
    return next(iter((run.__doc__ or "").strip().splitlines()), "")
