"""Commands and Python cells the user runs without the agent. They are shown as calls.

Rules:

- It runs as in the user's terminal: their shell, their environment, no sandbox, no approval.
- It is a call whose `source` is `person`: one `tool_use`, its output live, one `tool_result`.
- The model reads what was run and the end of its output with the next request, unless it was private.
"""

import os
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Protocol

import msgspec

from sightline.conversation import user_run_text
from sightline.events import Event, ToolOutput, ToolResult, ToolUse
from sightline.exceptions import UserMistake
from sightline.exec import CommandSpec
from sightline.host.session._call_command import masked_tail
from sightline.host.session._session import HostSession
from sightline.secrets import Secrets
from sightline.text import clean_line, first_line

if TYPE_CHECKING:
    from sightline.exec import Cells

_OUTPUT_AT_MOST = 20_000  # bytes of the output that the model reads
_TYPED_AT_MOST = 64 * 1024  # characters


class RunningShellLine(Protocol):
    def cancel(self, *, force: bool = False) -> None: ...


class UserRuns:
    """Those of one session."""

    def __init__(
        self,
        session: HostSession,
        *,
        cwd: str,
        environ: Mapping[str, str],
        secrets: Secrets,
        send_to_model: Callable[[str, str], None],
    ) -> None:
        self._session = session
        self._actor = session.actor("person", secrets)
        self._cwd = cwd
        self._environ = environ
        self._send_to_model = send_to_model
        self._cells: Cells | None = None
        self._running: dict[str, RunningShellLine] = {}
        self._cancelled: set[str] = set()

    def shell(self, text: str, *, private: bool = False) -> str:
        """Run a command line; the id of the call."""
        self._refuse_when_ending()
        call = self._begin("Bash", text, "command", private=private)
        argv = (_shell(self._environ), "-c", text)
        spec = CommandSpec(argv=argv, cwd=self._cwd, env=dict(self._environ))
        command = self._session.start_command(self._actor, call, spec)
        self._running[call] = command
        self._session.track(self._ended(call, command.wait(), text, "shell", private=private))
        return call

    def cell(self, code: str, *, private: bool = False) -> str:
        """Run Python; the id of the call."""
        self._refuse_when_ending()
        call = self._begin("Python", code, "code", private=private)
        if self._cells is None:
            from sightline.exec import Cells

            self._cells = Cells(self._cwd, self._environ)
        self._running[call] = _CellCall(self._cells, call)
        self._session.track(self._ended(call, self._run_cell(self._cells, call, code), code, "cell", private=private))
        return call

    def cancel(self, call: str) -> bool:
        """Once: it is asked to end. Again: it is killed. False when it has ended."""
        running = self._running.get(call)
        if running is None:
            return False
        running.cancel(force=call in self._cancelled)
        self._cancelled.add(call)
        return True

    async def close(self) -> None:
        for running in self._running.values():
            running.cancel()
        if self._cells is not None:
            await self._cells.close()

    def _refuse_when_ending(self) -> None:
        if self._session.stopping:
            raise UserMistake("the session is ending", "resume it when it has ended")

    def _begin(self, name: str, typed: str, field: str, *, private: bool) -> str:
        call = self._session.new_call()
        args: dict[str, object] = {field: self._actor.secrets.masked(typed)[:_TYPED_AT_MOST]}
        if private:
            args["private"] = True
        self._actor.publish(ToolUse(call, name, name, first_line(typed), args))
        return call

    async def _run_cell(self, cells: "Cells", call: str, code: str) -> ToolResult:
        session = self._session
        artifact = session.artifact_for(call)
        actor = self._actor.observed_by("exec")
        output = actor.masked_output(call)

        def emit(event: Event) -> None:
            if isinstance(event, ToolOutput):
                output.publish(event)
            else:
                actor.publish(event)

        try:
            result = await cells.run(call, code, artifact, emit)
        finally:
            output.end()
            self._session.flush()
            artifact.close()
            self._session.forget_artifact(call)
        return msgspec.structs.replace(result, details={**result.details, "artifact": self._url(call)})

    async def _ended(self, call: str, ending: Awaitable[ToolResult], typed: str, kind: str, *, private: bool) -> None:
        try:
            result = await ending
        except OSError as problem:  # its output cannot be stored
            result = ToolResult(call, clean_line(f"it could not be run: {problem}"), {}, True, exit_code=1)
        self._running.pop(call, None)
        self._cancelled.discard(call)
        self._actor.publish(result)
        if not private:
            self._send_to_model(self._words(call, result, typed, kind), kind)

    def _words(self, call: str, result: ToolResult, typed: str, kind: str) -> str:
        output, size = masked_tail(self._session.read_artifact(call), _OUTPUT_AT_MOST, self._actor.secrets)
        cut = f"[only the end is here; all {size} bytes: {self._url(call)}]\n" if size > _OUTPUT_AT_MOST else ""
        typed = typed[:_TYPED_AT_MOST]
        how = f"[{result.content or 'ended'}; exit code {result.exit_code}]"
        shown = f"{cut}{output}".rstrip() or "(no output)"
        return user_run_text(kind, typed, f"{shown}\n{how}")

    def _url(self, call: str) -> str:
        return f"artifact://{self._session.id}/{call}"


class _CellCall:
    def __init__(self, cells: "Cells", call: str) -> None:
        self._cells = cells
        self._call = call

    def cancel(self, *, force: bool = False) -> None:
        self._cells.cancel(self._call, force=force)


def _shell(environ: Mapping[str, str]) -> str:
    chosen = environ.get("SHELL", "")
    return chosen if os.access(chosen, os.X_OK) else "/bin/sh"
