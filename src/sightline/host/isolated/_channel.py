"""The channel of an isolated agent of ours: its process, started in the working copy, and its events.

It is read like that of another program: what it does is published anew, under the path of the agent.
"""

from functools import partial

import msgspec
from msgspec.structs import replace

from sightline._working_folder import python_words
from sightline.delegation import OwnProgram
from sightline.events import Error, Event, Notice, Request, RequestResolved, RunEnded, RunStarted, ToolResult
from sightline.host.isolated._wire import IsolatedStart, NumberedCommand, NumberedReply, decode_answer
from sightline.host.session._commands import Abort, AnswerRequest, CommandReply, Prompt
from sightline.providers import ChannelRun, OpenRequest, ProgramChannel, Provider, ProviderPrompt, Unreachable
from sightline.text import clean_line

NAME = "agent"  # as our own agent is called as a source
_MODULE = "sightline.host.isolated._process"
_SECONDS_TO_ANSWER = 60.0


def isolated_provider(own: OwnProgram) -> Provider:
    """Our own program as one that is started like any other."""
    skills = None if own.skills is None else list(own.skills)
    start = IsolatedStart(folder=str(own.folder), options=own.options, only=list(own.only), skills=skills)
    return Provider(
        name=NAME,
        title="Sightline",
        source=None,
        steers=True,
        channel=lambda ask: IsolatedChannel(ask, start),
        every_level=True,
    )


def _without_artifact(result: ToolResult) -> ToolResult:
    """Its output is stored anew, in the session it is shown in."""
    if not isinstance(result.details, dict) or "artifact" not in result.details:
        return result
    return replace(result, details={name: value for name, value in result.details.items() if name != "artifact"})


class IsolatedChannel(ProgramChannel):
    """`ask`: what all prompts have in common: the folder, the level, and how to enter the working copy."""

    def __init__(self, ask: ProviderPrompt, start: IsolatedStart) -> None:
        super().__init__("the isolated agent", seconds=_SECONDS_TO_ANSWER, hint="start the agent again")
        self._ask = ask
        self._start = start
        self._session = ""

    async def open(self, ask: ProviderPrompt) -> None:
        if self.is_running:
            return
        options = replace(
            self._start.options,
            cwd=self._ask.cwd,
            resume=ask.resume or self._session,
            approval=self._ask.approval,
            approval_named=True,
        )
        argv = python_words(_MODULE)
        self._start_program(argv, self._ask, self._ask.env)
        self._write(msgspec.json.encode(replace(self._start, options=options)) + b"\n")

    async def run(self, ask: ProviderPrompt) -> ChannelRun:
        await self.open(ask)
        run = self._run = ChannelRun(NAME, ask.resume, self._stop, self._end_program)
        reply = await self._command(Prompt(ask.prompt))
        if not reply.ok:
            await run.fail(Error(reply.error, reply.hint))
        return run

    async def steer(self, text: str) -> bool:
        if self._run is None or self._run.over:
            return False
        try:
            return (await self._command(Prompt(text, "steer"))).ok
        except Unreachable:
            return False

    def parse_events(self, line: bytes) -> list[Event]:
        try:
            answer = decode_answer(line)
        except msgspec.MsgspecError as problem:
            return [Notice(clean_line(f"an isolated agent wrote what cannot be read: {problem}"), "warning")]
        if isinstance(answer, NumberedReply):
            self._resolve(answer.ref, answer.reply)
            return []
        self._note(answer)
        return [_without_artifact(answer) if isinstance(answer, ToolResult) else answer]

    def _note(self, event: Event) -> None:
        if isinstance(event, Request):
            self._requests[event.id] = OpenRequest(event, partial(self._send_answer, event.id))
        elif isinstance(event, RequestResolved):
            self._requests.pop(event.id, None)
        elif isinstance(event, RunStarted):
            self._session = event.session or self._session
        elif isinstance(event, RunEnded):
            self._requests.clear()

    def _send_answer(self, request: str, answer: object) -> None:
        self._write(self._encoded(AnswerRequest(request, answer), self._next_id()))

    async def _stop(self) -> None:
        self._write(self._encoded(Abort(), self._next_id()))

    async def _command(self, command: Prompt) -> CommandReply:
        id = self._next_id()
        reply = await self._request(id, self._encoded(command, id), "a prompt")
        assert isinstance(reply, CommandReply)
        return reply

    def _encoded(self, command: Prompt | Abort | AnswerRequest, ref: int) -> bytes:
        return msgspec.json.encode(NumberedCommand(command, ref)) + b"\n"

    def _exit_error(self, exit_code: int | None, stderr: str) -> Unreachable:
        last = clean_line(stderr.strip().rpartition("\n")[2])
        return Unreachable(f"the isolated agent ended: {last or f'exit code {exit_code}'}", "start the agent again")
