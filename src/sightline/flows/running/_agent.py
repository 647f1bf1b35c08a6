"""One attempt at an agent step: a provider works on the prompt, and its events are shown as the step's.

With `output_format: json`, or a provider without a source, its own lines pass through unread: they are shown as what a
call wrote, and they are the step's output.
"""

from sightline.events import ToolResult, ToolUse
from sightline.exceptions import SightlineError
from sightline.flows.running._nested import Nested
from sightline.flows.running._outcome import OUTPUT_CAP, AttemptEnd, brief
from sightline.flows.running._written import ChildOutput
from sightline.providers import REFUSED_EXIT_CODE, Provider, ProviderOutcome, ProviderPrompt, Run, preview, start_run

_REFUSED = "a permission was refused"


class AgentAttempt:
    """`run` it to its end; `stop` it and the processes it started."""

    def __init__(self, provider: Provider, ask: ProviderPrompt, nested: Nested) -> None:
        self._provider = provider
        self._ask = ask
        self._nested = nested
        self._run: Run | None = None
        self._lines: ChildOutput | None = None  # where its own lines pass

    async def run(self) -> AttemptEnd:
        try:
            self._run = start_run(self._provider, self._ask)
            if self._ask.raw:
                await self._pass_lines(self._run)
            else:
                await self._pass_events(self._run)
        except SightlineError as error:
            return AttemptEnd(exit_code=1, problem=error.message, hint=error.hint)
        return self._ended(self._run.outcome)

    async def stop(self) -> None:
        if self._run is not None:
            await self._run.cancel()

    async def _pass_events(self, run: Run) -> None:
        async for batch in run.events():
            await self._nested.relay(batch)

    async def _pass_lines(self, run: Run) -> None:
        call, name = self._nested.id("lines"), self._provider.name
        arg = preview({"prompt": self._ask.prompt})
        self._nested.publish(ToolUse(call, name, native_name=name, arg=arg))
        written = self._lines = ChildOutput(call, "stdout")
        offset = 0
        async for chunk in run.raw():
            await self._nested.put(written.feed(chunk, offset))
            offset += len(chunk)
        code = run.outcome.exit_code
        self._nested.publish(*written.end(offset), ToolResult(call, is_error=code != 0, exit_code=code))

    def _ended(self, outcome: ProviderOutcome) -> AttemptEnd:
        lines, words = self._lines, outcome.text
        output = words[:OUTPUT_CAP].rstrip("\n") if lines is None else lines.text
        cut = len(words) > OUTPUT_CAP if lines is None else lines.cut
        if outcome.exit_code == 0:
            return AttemptEnd(exit_code=0, output=output, cut=cut)
        error, code = outcome.error, outcome.exit_code
        # Where its events pass, the error was one of them; where only lines pass, it is still to be shown.
        hint = error.hint if error is not None and lines is not None else ""
        problem = brief(error.text) if error is not None else _REFUSED if code == REFUSED_EXIT_CODE else ""
        return AttemptEnd(exit_code=code, output=output, problem=problem or f"exit code {code}", hint=hint, cut=cut)
