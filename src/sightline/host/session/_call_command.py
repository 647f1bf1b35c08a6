"""A command that a call of the agent runs: its output is the call's, until it continues as a job of its own.

When it does, the call's block closes and a new one begins under the job's id: the same bytes, in the same artifact,
from where the call left off.
"""

import asyncio
from typing import TYPE_CHECKING

import msgspec

from sightline.events import Event, Notice, ToolOutput, ToolResult, ToolUse
from sightline.exec import Command, CommandSpec
from sightline.journal import Artifact, ArtifactReader
from sightline.text import complete_prefix

if TYPE_CHECKING:
    from sightline.actors import Actor
    from sightline.host.session._session import HostSession
    from sightline.secrets import Secrets


class CallCommand:
    """One such command. Made running."""

    def __init__(self, session: "HostSession", actor: "Actor", call: str, spec: CommandSpec) -> None:
        self._session = session
        self._call = call
        self._job = ""
        self._actor = actor.observed_by("exec")
        self._output = actor.masked_output(call, self._publish)
        self._use: ToolUse | None = None
        self._sink: Artifact = session.artifact_for(call)
        self._command = Command(call, spec, self._sink, self._emit, artifact=self.artifact)
        self._published = 0  # bytes
        self._heard = True
        self._task = asyncio.get_running_loop().create_task(self._run())

    @property
    def artifact(self) -> str:
        return f"artifact://{self._session.id}/{self._call}"

    @property
    def task(self) -> "asyncio.Task[ToolResult]":
        return self._task

    async def wait(self) -> ToolResult:
        return await asyncio.shield(self._task)

    def cancel(self, *, force: bool = False) -> None:
        self._command.cancel(force=force)

    def call_ended(self) -> None:
        """The call is over. A command that is no job by now ends with it, and its output is ignored."""
        if not self._job and not self._task.done():
            self._output.end()
            self._heard = False
            self._command.cancel()

    def tail(self, most: int) -> tuple[str, int]:
        text, _ = masked_tail(self._session.read_artifact(self._call), most, self._actor.secrets)
        return text, self._sink.size

    def become_job(self) -> str:
        if not self._job:
            self._output.flush()
            self._job = self._session.adopt(self._call, self)
            if self._use is not None:
                self._actor.publish(self._as_jobs(self._use))
            if self._published:
                self._actor.relay(ToolOutput(self._job, "", offset=self._published, dropped=self._published))
        return self._job

    async def _run(self) -> ToolResult:
        try:
            return await self._command.run()
        finally:
            self._session.command_ended(self._call, self._job)

    def _emit(self, event: Event) -> None:
        if not self._heard:
            return
        if isinstance(event, ToolOutput):
            self._output.publish(event)
            return
        if isinstance(event, ToolUse):
            self._use = event
        elif isinstance(event, ToolResult):
            self._output.end()
        if isinstance(event, Notice):  # about the sandbox, the same for each command
            if event.text in self._session.shown_notices:
                return
            self._session.shown_notices.add(event.text)
        if self._job or not isinstance(event, ToolUse | ToolResult):
            self._publish(event)

    def _publish(self, event: Event) -> None:
        if isinstance(event, ToolOutput):
            self._published = max(self._published, event.offset + event.size)
        event = self._as_jobs(event) if self._job else event
        if isinstance(event, ToolOutput):
            self._actor.relay(event)
        else:
            self._actor.publish(event)

    def _as_jobs(self, event: Event) -> Event:
        """The same event for the job. The call has the command line: the job has its own id."""
        if isinstance(event, ToolUse):
            return msgspec.structs.replace(event, id=self._job, arg=f"job {self._job}", job=True)
        if isinstance(event, ToolResult | ToolOutput):
            return msgspec.structs.replace(event, id=self._job)
        return event


def masked_tail(reader: ArtifactReader, most: int, secrets: "Secrets") -> tuple[str, int]:
    """Like `tail_of`, without secrets: nor the end of one that begins before the last `most` bytes."""
    text, size = tail_of(reader, most + secrets.longest)
    last = text.encode()[-most:].decode("utf-8", "ignore") if size > most else text
    return secrets.masked_from(text, len(text) - len(last)), size


def tail_of(reader: ArtifactReader, most: int) -> tuple[str, int]:
    """The last `most` bytes of an artifact, as text, and how many there are."""
    size = reader.size
    data = reader.read(max(0, size - most), most)
    reader.close()
    if size > most:  # not in the middle of a character
        while data and data[0] & 0xC0 == 0x80:
            data = data[1:]
    return data[: complete_prefix(data)].decode("utf-8", "replace"), size
