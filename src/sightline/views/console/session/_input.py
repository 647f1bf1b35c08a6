"""Submitting what the user enters: a command, a shell line, Python, or a prompt for the agent."""

import asyncio
import difflib
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING

import msgspec

from sightline.conversation import SKILL
from sightline.events import Event, QueuedMessage, ToolResult
from sightline.host import Attach, Cell, CommandReply, Prompt, Shell
from sightline.text import clean_line
from sightline.transcript import TranscriptCall
from sightline.views.console._actions import COMMANDS
from sightline.views.console.status import Facts

if TYPE_CHECKING:
    from sightline.views.console._desk import Desk
    from sightline.views.console._state import ConsoleState
    from sightline.views.console.input import Attachment, PromptEditor, Submission
    from sightline.views.console.session._sessions import SessionSwitch

_WAITS = {
    "steer": "steering: the agent reads it with its next request",
    "follow_up": "queued until the agent is done",
}


class PromptSubmission:
    """Receives what the editor submits."""

    def __init__(
        self,
        desk: "Desk",
        prompt: "PromptEditor",
        current: "ConsoleState",
        sessions: "SessionSwitch",
        *,
        run_command: Callable[[str, str], Awaitable[object]],
        ask_for_model: Callable[[], bool],
        announce: Callable[[str], None],
    ) -> None:
        """`ask_for_model`: show the setup screen where there is no model, and whether it is shown; `announce`: called
        with a prompt that is sent."""
        self._desk = desk
        self._prompt = prompt
        self._current = current
        self._sessions = sessions
        self._run_command = run_command
        self._ask_for_model = ask_for_model
        self._announce = announce
        self._ended: set[str] = set()
        """Ids of calls that ended while something was unsent: the reply with the id may come later than the end."""
        self._in_order = asyncio.Lock()
        self._checks: list[Callable[[], Awaitable[bool]]] = []

    def check_prompts(self, check: Callable[[], Awaitable[bool]]) -> None:
        """Call this before a prompt is sent; False: it is not sent, and the reason was reported."""
        self._checks.append(check)

    def restore_unsent(self) -> None:
        """Return it to the editor: it will not be sent any more."""
        for submission in reversed(self._current.unsent):
            self._restore(submission)
        self._current.unsent.clear()

    def host_gone(self, queued: Iterable[QueuedMessage]) -> None:
        """Nothing runs any more, and queued messages return to the editor."""
        self._current.running.clear()
        self._prompt.restore(*(one.text for one in queued))

    def enter(self, submission: "Submission", how: str = "") -> None:
        if self._sessions.drops_keys:
            return
        self._sessions.entered()
        self._desk.spawn(self._enter(submission, how))

    async def _enter(self, submission: "Submission", how: str) -> None:
        text = submission.text
        if not text.strip() and not submission.attachments:
            return
        if submission.mode == "prompt" and await self._is_command(submission):
            return
        if submission.mode == "python" and (problem := _why_no_python(text)):
            self._desk.report(problem, "error", "begin with a space to send it to the agent")
            self._restore(submission)
            return
        submission = await self._with_mentioned(submission)
        self._current.unsent.append(submission)
        try:
            await (self._run(submission) if submission.mode != "prompt" else self._send_prompt(submission, how))
        finally:
            if submission in self._current.unsent:
                self._current.unsent.remove(submission)
            if not self._current.unsent:
                self._ended.clear()

    async def _with_mentioned(self, submission: "Submission") -> "Submission":
        """With the images that are named in it. Other agents read them themselves."""
        if submission.mode != "prompt" or "@" not in submission.text or Facts(self._desk.state).provider:
            return submission
        from sightline.views.console.input._images import MOST, mentioned_images

        known = {attachment.path for attachment in submission.attachments}
        found = await asyncio.to_thread(mentioned_images, submission.text, self._desk.cwd)
        more = [image for image in found if image.path not in known]
        if not more:
            return submission
        return msgspec.structs.replace(submission, attachments=(*submission.attachments, *more)[:MOST])

    async def _is_command(self, submission: "Submission") -> bool:
        """Run what begins with a slash and a known name. An unknown name is more likely a mistake than a prompt."""
        written = submission.written or submission.text
        if written.strip() == "/":
            written = "/help"
        name, _, args = written[1:].partition(" ") if written.startswith("/") else ("", "", "")
        if not name or "/" in name or "\n" in name:
            return False
        if name == SKILL and args.strip() and not Facts(self._desk.state).provider:
            return False  # a prompt, to which the host adds the skill
        if name in COMMANDS:
            if submission.attachments:  # they wait for the next prompt
                self._prompt.attach(submission.attachments)
            # Awaited: what is entered next is meant for its result, another session perhaps.
            await self._run_command(name, args.strip())
            return True
        if submission.attachments:
            return False
        theirs = self._commands_of_host()
        if name not in theirs:
            await self._sessions.first_frame()
            theirs = self._commands_of_host()
        if name in theirs:
            return False  # the host runs it
        near = difflib.get_close_matches(name, [*COMMANDS, *theirs], 1)
        hint = f"did you mean /{near[0]}?" if near else "/help lists them; begin with a space to send it to the agent"
        self._desk.report(f"no command /{name}", "error", hint)
        self._restore(submission)
        return True

    def _commands_of_host(self) -> set[str]:
        return {command.name for command in Facts(self._desk.state).commands}

    async def _run(self, submission: "Submission") -> None:
        kind = Shell if submission.mode == "shell" else Cell
        reply = await self._sent(kind(submission.text, submission.private))
        if not reply.ok:
            self._refused(reply, submission)
        elif reply.id not in self._ended:
            self._current.running.append(reply.id)

    async def _send_prompt(self, submission: "Submission", how: str) -> None:
        if self._ask_for_model():
            self._restore(submission)
            return
        for check in self._checks:
            if not await check():
                self._restore(submission)
                return
        urls = []
        async with self._in_order:  # a prompt entered after an image is not sent before it
            for attachment in submission.attachments:
                reply = await self._attached(attachment)
                if not reply.ok:
                    self._refused(reply, submission)
                    return
                urls.append(reply.id)
        busy = self._desk.state.running
        kind = how or ("steer" if busy else "prompt")
        if not urls:
            self._announce(submission.text)
        reply = await self._sent(Prompt(submission.text, kind, urls))  # type: ignore[arg-type]
        if not reply.ok:
            self._refused(reply, submission)
        elif kind != "prompt" and self._desk.drawing.linear:
            steered = kind == "steer" and Facts(self._desk.state).takes_steering
            self._desk.report(_WAITS["steer" if steered else "follow_up"], hint="/unqueue to edit")

    async def _attached(self, attachment: "Attachment") -> CommandReply:
        from sightline.handles import read_at_most
        from sightline.views.console.input._images import LARGEST

        try:  # the file may have been replaced since it was checked, by a pipe even
            data = await asyncio.to_thread(read_at_most, attachment.path, LARGEST + 1)
        except OSError as error:
            return CommandReply(False, error=f"{attachment.name} cannot be read: {error.strerror or error}")
        return await self._sent(Attach(attachment.name, data))

    async def _sent(self, command: "Attach | Prompt | Shell | Cell") -> CommandReply:
        self._desk.redraw()
        return await self._desk.submit(command)

    def _refused(self, reply: CommandReply, submission: "Submission") -> None:
        """A submission that was refused returns to the editor."""
        self._desk.report(reply.error or "it was not sent", "error", reply.hint)
        self._restore(submission)
        self._sessions.offer_again()

    def _restore(self, submission: "Submission") -> None:
        written = submission.written or submission.text
        self._prompt.restore(written, attachments=submission.attachments)

    def forget_ended(self, events: Iterable[Event]) -> None:
        """Calls that have ended can no longer be stopped."""
        ended = {event.id for event in events if isinstance(event, ToolResult)}
        if ended and self._current.unsent:
            self._ended |= ended
        if ended and self._current.running:
            self._current.running = [id for id in self._current.running if id not in ended]

    def shown(self) -> None:
        """A new snapshot is shown: only calls that run in it can be stopped."""
        if self._current.running:
            calls = (entry for entry in self._desk.state.entries if isinstance(entry, TranscriptCall))
            going = {call.id for call in calls if call.content is None}
            self._current.running = [id for id in self._current.running if id in going]


def _why_no_python(code: str) -> str:
    """Why a text is not Python, with the line; empty when it is. `$HOME is wrong` is more likely a prompt."""
    import ast
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they would be written over the screen
            compile(code, "<cell>", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except SyntaxError as error:
        line = clean_line(error.text or "").strip()
        return f"not Python: {error.msg}" + (f", line {error.lineno}: {line}" if line else "")
    except (ValueError, RecursionError, MemoryError):
        pass  # the cell reports it
    return ""
