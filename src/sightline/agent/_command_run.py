"""A command of an extension's, run in the place of a prompt: as a run like any other, in which no model is asked.

Rules:

- A prompt is a command when it begins with `/NAME` of one, alone or followed by a space or a new line. What follows is
  the command's. Any other prompt that begins with a slash is the model's.
- What the command returns is shown as words. The model does not hear of it.
- A command that raises fails its run and nothing else; a `UserMistake` is exit code 2.
"""

import asyncio
from typing import TYPE_CHECKING, Any

from sightline.agent._bounds import bounded_text, pieces
from sightline.agent._bugs import log_bug
from sightline.agent._run import STOPPED, RunOutcome
from sightline.events import Error, RunEnded, RunStarted, Text, User
from sightline.exceptions import SightlineError, UserMistake
from sightline.text import clean_line, clean_text

if TYPE_CHECKING:
    from sightline.agent._agent import Agent


_MISTAKE = 2


def named(text: str) -> tuple[str, str]:
    """The name a prompt would have as a command, and what would be the command's; an empty name for none."""
    if not text.startswith("/"):
        return "", ""
    words = text[1:].split(maxsplit=1)
    if not words or not text[1:].startswith(words[0]):
        return "", ""
    return words[0], words[1].strip() if len(words) > 1 else ""


class CommandRun:
    """A command under way."""

    def __init__(self, agent: "Agent", text: str) -> None:
        self._agent = agent
        self._text = text
        self._stopped = ""
        self._task: asyncio.Task[Any] | None = None

    def stop(self, reason: str = "cancelled") -> None:
        self._stopped = self._stopped or reason
        if self._task is not None:
            self._task.cancel()

    async def run(self) -> RunOutcome:
        agent, stage = self._agent, self._agent.stage
        stage.publish(RunStarted(stage.session, "", clean_line(str(agent.workplace.cwd)), source="agent"))
        stage.publish(User(bounded_text(agent.secrets.masked(self._text)), source="person"))
        outcome = await self._outcome()
        block = stage.seq + 1
        for piece in pieces(outcome.text) if outcome.text else ():
            stage.publish(Text(piece, block, source=named(self._text)[0]))
        failed = outcome.exit_code in (1, _MISTAKE)
        stage.publish(RunEnded(None, None, outcome.stop_reason, failed, outcome.exit_code, source="agent"))
        return outcome

    async def _outcome(self) -> RunOutcome:
        name, args = named(self._text)
        self._task = asyncio.get_running_loop().create_task(self._agent.invoke(name, args))
        await asyncio.wait([self._task])
        if self._stopped:
            return RunOutcome(exit_code=STOPPED[self._stopped], stop_reason=self._stopped)
        error = asyncio.CancelledError() if self._task.cancelled() else self._task.exception()
        if error is not None:
            told = _told(name, error)
            self._agent.stage.publish(told)
            code = _MISTAKE if isinstance(error, UserMistake) else 1
            return RunOutcome(exit_code=code, stop_reason="error", error=told.text)
        said = self._task.result()
        text = clean_text(self._agent.secrets.masked("" if said is None else str(said)))
        return RunOutcome(exit_code=0, stop_reason="stop", text=text)


def _told(name: str, error: BaseException) -> Error:
    if isinstance(error, SightlineError):
        return Error(clean_text(error.message), clean_text(error.hint), source=name)
    log_bug("a command of an extension failed", error)
    return Error(clean_text(f"/{name} failed: {type(error).__name__}: {error}"), source=name)
