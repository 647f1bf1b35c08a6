"""The user's questions beside the conversation (`/btw`), each answered by a copy of the agent at a path of its own.

Rules:

- Such an agent begins, answers once and ends. It is in no directory: no agent can write to it, it takes no place of
  those that work, and nothing of it reaches the agent of the session.
- It is shown, stored and counted as any other agent is.
- At most so many are answered at once. Its end is waited for, also when the session ends.
"""

import asyncio
import re

from sightline.actors import Actor
from sightline.agent import Agent, SideQuestion
from sightline.agent._bugs import log_bug
from sightline.events import Error, Notice, RunEnded, RunStarted, User
from sightline.exceptions import OutsideFailure, SightlineError, UserMistake
from sightline.host.session._session import HostSession
from sightline.journal import agents_started
from sightline.text import clean_line

NAME = "btw"
_AT_MOST = 8
_is_path = re.compile(rf"{NAME}-(\d{{1,9}})").fullmatch


class SideQuestions:
    """Those of one session."""

    def __init__(self, session: HostSession, agent: Agent) -> None:
        self._session = session
        self._agent = agent
        self._open: dict[str, SideQuestion] = {}  # by path
        self._answering: set[asyncio.Task[None]] = set()
        self._counting = asyncio.Lock()
        self._counted = not session.seq  # in a new session there are none

    async def ask(self, text: str) -> str:
        """Begin to answer a question; returns the path of the agent that does."""
        agent = self._agent
        agent.side_question(text, agent.actor)  # what is refused fails before anything is shown
        await self._count_earlier()
        if self._session.stopping:
            raise UserMistake("the session is ending", "resume it when it has ended")
        if len(self._open) >= _AT_MOST:
            raise UserMistake(f"{_AT_MOST} side questions are being answered", "wait until one of them is")
        path = self._session.new_agent(NAME)
        actor = agent.actor.child(path, path=path, task=text, model=agent.model.name, aside=True)
        question = self._open[path] = agent.side_question(text, actor)
        actor.publish(RunStarted(self._session.id, agent.model.name, clean_line(str(agent.workplace.cwd))))
        actor.observed_by("person").publish(User(text))
        task = asyncio.get_running_loop().create_task(self._answered(question, actor))
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)
        self._session.track(_ended(task))
        return path

    def knows(self, path: str) -> bool:
        """Whether an agent of this path answers a question, or did."""
        found = _is_path(path)
        return found is not None and int(found[1]) <= self._session.agents.get(NAME, 0)

    def stop(self, path: str) -> bool:
        """False: it has answered."""
        question = self._open.get(path)
        if question is not None:
            question.stop()
        return question is not None

    def stop_all(self) -> None:
        for question in self._open.values():
            question.stop()

    async def close(self) -> None:
        self.stop_all()
        if self._answering:
            await asyncio.wait(self._answering)

    async def _answered(self, question: SideQuestion, actor: Actor) -> None:
        reason, code = "error", 1
        try:
            outcome = await question.answer()
            reason, code = outcome.stop_reason, outcome.exit_code
            if reason == "cancelled":
                actor.publish(Notice("stopped"))
        except SightlineError as error:
            actor.publish(Error(error.message, error.hint))
        except Exception as error:
            log_bug("a side question failed", error)
            what = f"unexpected {type(error).__name__}: {str(error)[:500]} (this is a bug in sightline)"
            actor.publish(Error(what, "run it again with --debug-log FILE, and report the bug with that file"))
        finally:
            self._open.pop(actor.path, None)
            actor.publish(RunEnded(question.usage, question.cost, reason, code == 1, code))
            actor.close()
            self._agent.actor.end_child(actor, is_error=code == 1, usage=question.usage)

    async def _count_earlier(self) -> None:
        """Those of earlier hosts: no path is used twice."""
        async with self._counting:
            if self._counted:
                return
            self._session.flush()
            try:
                paths = await asyncio.to_thread(agents_started, self._session.folder)
            except OSError as error:
                raise OutsideFailure(f"the session cannot be read: {error.strerror or error}") from error
            numbers = [int(found[1]) for path in paths if (found := _is_path(path)) is not None]
            self._session.agents[NAME] = max([self._session.agents.get(NAME, 0), *numbers])
            self._counted = True


async def _ended(task: "asyncio.Task[None]") -> None:
    await asyncio.wait([task])
