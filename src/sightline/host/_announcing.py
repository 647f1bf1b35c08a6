"""What a view that attaches has to know and no event of the conversation says: the model, the jobs, the commands."""

import time
from typing import Any

from sightline.agent import Agent, tell_approval
from sightline.events import Notice, State
from sightline.exec import Jobs
from sightline.host._session import Session
from sightline.text import clean_line, cut_graphemes

_LABEL_AT_MOST = 200  # of a command that may be a whole script: all of it is in the call


class Announcing:
    """Tells it once, and of jobs whenever that changes."""

    def __init__(self, session: Session, agent: Agent) -> None:
        self._session = session
        self._agent = agent
        self._began: dict[str, float] = {}
        self._told: list[dict[str, Any]] = []
        for jobs in self._tables():
            jobs.on_change = self._tell_jobs

    def tell(self) -> None:
        agent = self._agent
        self._say("model", agent.model_name)
        self._say("thinking", agent.thinking)
        tell_approval(agent)
        agent.tell_context()
        self._say("commands", [{"name": name, "about": _about(run)} for name, run in agent.commands.items()])
        self._say("jobs", [])
        agent.todo.tell()
        if agent.why_no_model is not None:
            why = agent.why_no_model
            agent.stage.publish(Notice(why.message, "warning", why.hint, source="agent"))

    def _tables(self) -> list[Jobs]:
        own = self._agent.workplace.jobs
        return [self._session.jobs, *([own] if own is not None else [])]

    def _tell_jobs(self) -> None:
        rows = [self._row(job.id, job.label, job.status) for table in self._tables() for job in table.snapshots()]
        if rows != self._told:
            self._told = rows
            self._say("jobs", rows)

    def _row(self, id: str, label: str, status: str) -> dict[str, Any]:
        label = cut_graphemes(clean_line(label), _LABEL_AT_MOST)
        return {"id": id, "label": label, "status": status, "started": self._began.setdefault(id, time.time())}

    def _say(self, key: str, value: Any) -> None:
        self._agent.stage.publish(State(key, value, source="agent"))


def _about(run: Any) -> str:
    return next(iter((run.__doc__ or "").strip().splitlines()), "")
