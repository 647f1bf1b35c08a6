"""An extension's command given as a prompt: a run like any other, without a model request.

Rules:

- A prompt is a command when it begins with `/NAME` of one, alone or followed by a space or a new line. What follows is
  the command's. Any other prompt that begins with a slash is the model's.
- What the command returns is shown as text. The model does not read it.
- A command that raises fails its run and nothing else; a `UserMistake` is exit code 2.
"""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path

from sightline.actors import Actor
from sightline.agent._bugs import log_bug
from sightline.agent.loop._run import STOPPED, RunOutcome
from sightline.events import Error, RunEnded, RunStarted, Text, User
from sightline.exceptions import SightlineError, UserMistake
from sightline.text import clean_line, clean_text

_MISTAKE = 2


def named(text: str) -> tuple[str, str]:
    """A prompt as a command: its name and its arguments; an empty name when it is none."""
    if not text.startswith("/"):
        return "", ""
    words = text[1:].split(maxsplit=1)
    if not words or not text[1:].startswith(words[0]):
        return "", ""
    return words[0], words[1].strip() if len(words) > 1 else ""


class StreamedText(str):
    """What a command returns when views have that already: it was published while it was written, or as a result."""


class CommandRun:
    """A command under way."""

    def __init__(
        self, actor: Actor, cwd: Path, text: str, invoke: Callable[[str, str], Coroutine[object, object, object]]
    ) -> None:
        """`invoke` runs a command by its name, with what follows it."""
        self._actor = actor
        self._cwd = cwd
        self._text = text
        self._invoke = invoke
        self._stopped = ""
        self._task: asyncio.Task[object] | None = None
        self._is_published = False  # what it returned

    def stop(self, reason: str = "cancelled") -> None:
        self._stopped = self._stopped or reason
        if self._task is not None:
            self._task.cancel()

    async def run(self) -> RunOutcome:
        actor = self._actor
        actor.publish(RunStarted(actor.log.id, "", clean_line(str(self._cwd)), named(self._text)[0]))
        actor.observed_by("person").publish(User(self._text))
        outcome = await self._outcome()
        if outcome.text and not self._is_published:
            actor.observed_by(named(self._text)[0]).publish(Text(outcome.text, actor.new_block()))
        failed = outcome.exit_code in (1, _MISTAKE)
        actor.publish(RunEnded(None, None, outcome.stop_reason, failed, outcome.exit_code))
        return outcome

    async def _outcome(self) -> RunOutcome:
        name, args = named(self._text)
        self._task = asyncio.get_running_loop().create_task(self._invoke(name, args))
        await asyncio.wait([self._task])
        if self._stopped:
            return RunOutcome(exit_code=STOPPED[self._stopped], stop_reason=self._stopped)
        error = asyncio.CancelledError() if self._task.cancelled() else self._task.exception()
        if error is not None:
            failure = _failure(name, error)
            self._actor.observed_by(name).publish(failure)
            code = _MISTAKE if isinstance(error, UserMistake) else 1
            return RunOutcome(exit_code=code, stop_reason="error", error=failure.text)
        value = self._task.result()
        self._is_published = isinstance(value, StreamedText)
        text = clean_text(self._actor.secrets.masked("" if value is None else str(value)))
        return RunOutcome(exit_code=0, stop_reason="stop", text=text)


def _failure(name: str, error: BaseException) -> Error:
    if isinstance(error, SightlineError):
        return Error(clean_text(error.message), clean_text(error.hint))
    log_bug("a command of an extension failed", error)
    return Error(clean_text(f"/{name} failed: {type(error).__name__}: {error}"))
