"""Which session is on the screen: finding it, switching to another, leaving, and what happens when its host dies.

Rules:

- Leaving an idle session ends its host. For a busy one there is a question, and it may be left running.
- A console that is killed, or whose terminal is closed, leaves everything as it is.
- A user who leaves for good decides what becomes of the worktree the session worked in (`_worktree`).
- When the host is gone it is reported at once, the draft stays, and one key resumes.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from sightline import __version__
from sightline.events import ToolUse, User
from sightline.exceptions import SightlineError
from sightline.host import Command, CommandReply, Hello, Stop, Unqueue, launch_agent, started
from sightline.host import running as running_hosts
from sightline.paths import in_copies_folder
from sightline.settings import StartOptions
from sightline.text import clean_line, clean_text
from sightline.transcript import Entry, Remark, Snapshot, TranscriptCall
from sightline.tty import Overlay
from sightline.views._names import listed_title
from sightline.views.console._desk import reply_data
from sightline.views.console.session._link import Link
from sightline.views.console.session._worktree import SessionWorktree
from sightline.views.console.status import Facts

if TYPE_CHECKING:
    from sightline.host import Frame
    from sightline.views._worktrees import WorktreeEnd
    from sightline.views.console._desk import Desk
    from sightline.views.console._screen import ConsoleScreen
    from sightline.views.console._state import ConsoleState
    from sightline.views.console.dialogs import Dialog
    from sightline.views.console.input import PromptEditor
    from sightline.views.console.session._stopping import Stopping
    from sightline.working_copies import UserWorktree

_SECONDS_TO_STOP = 5.0


class SessionStage(Protocol):
    """What shows the session, and hears what becomes of it."""

    def frame(self, frame: "Frame") -> None:
        """The host sent this."""

    def show(self, snapshot: Snapshot) -> None:
        """This is the session now, whatever was shown before."""

    def began(self, session: str) -> None:
        """It has a host, or will have one in a moment."""

    def work_in(self, folder: str) -> None: ...

    def lost(self) -> None:
        """Its host is gone."""

    def exit(self, code: int) -> None: ...

    def run_command(self, name: str, args: str = "") -> Coroutine[Any, Any, None]: ...


class SessionSwitch:
    """The session that is shown, and switching to others."""

    def __init__(
        self,
        desk: "Desk",
        stage: SessionStage,
        options: StartOptions,
        *,
        current: "ConsoleState",
        screen: "ConsoleScreen",
        prompt: "PromptEditor",
        stopping: "Stopping",
        greeted: Callable[[int], object],
        lasting: bool,
    ) -> None:
        """`greeted` is called with the process id of each host that is connected to; `lasting`: a session that is left
        running can be attached to later."""
        self._desk = desk
        self._stage = stage
        self._options = options
        self._screen = screen
        self._worktree = SessionWorktree(desk, screen)
        self._current = current
        self._prompt = prompt
        self._stopping = stopping
        self._greeted_by = greeted
        self.lasting = lasting
        self.link = self._new_link()
        self._began = False
        self._reported_version = False
        self._gone = self._leaving = False
        self._going = asyncio.Lock()
        self._going_to = ""
        """The session that is to be shown; empty: a new one."""
        self._offered: Dialog | None = None
        self._whether_to_leave: Dialog | None = None
        self._entered = False
        """The user has entered something."""
        self._which: Dialog | None = None
        """The question which session to show, while it is open."""
        self.farewell = ""
        """A line to print once the terminal is restored."""

    @property
    def session(self) -> str:
        return self.link.session

    async def begin(self, host: int | None, *, attach: bool = False, pick: bool = False) -> None:
        """Show what the options name: a session that runs, one that is stored, or a new one whose host boots at
        `host`. While the user chooses, that host is ended: an empty session would be listed everywhere. `attach`: one
        that runs is expected, so that the first of them is preselected. `pick`: the user chooses a stored one."""
        self._began = True
        booting = asyncio.ensure_future(started(host)) if host is not None else None
        if pick:
            self._desk.spawn(self._dismiss(booting))
            await self._pick()
            return
        options = self._options
        named = options.resume or options.provider or options.model
        others = [] if named else await self._running_here(booting, empty=attach)
        if others and not self._entered:
            dismissing = asyncio.ensure_future(self._dismiss(booting))
            booting = None
            what, chosen = await self._choose(others, attach=attach)
            if what == "leave":
                await dismissing
                self._stage.exit(0)
                return
            if what == "attach":
                await self._attach(self.link, chosen, options)
                return
            if what == "pick":
                await self._pick()
                return
        await self._boot(self.link, self._options, booting)

    async def _pick(self) -> None:
        """Show a stored session that the user chooses; a new one, where they choose none. It is begun then: what it
        lacks, such as a model, is nothing to the one that is chosen."""
        link, self._current.note = self.link, "no session"
        await self._stage.run_command("resume")
        if self.link is link and not self._leaving:
            self._current.note = "starting…"
            await self._boot(link, self._options)

    async def _boot(self, link: Link, options: StartOptions, booting: "asyncio.Future[str] | None" = None) -> None:
        """Show a session whose host boots, or is to be started; one that runs already is attached to."""
        if options.resume and booting is None and self._desk.store.is_running(options.resume):
            try:
                runs = await link.connect(options.resume)  # not when its host was just ending
            except (SightlineError, OSError, msgspec.MsgspecError) as error:
                await self._failed(link, error, options)
                return
            if runs:
                await self._attach(link, options.resume, options)
                return
        stored = asyncio.ensure_future(link.show_stored(options.resume)) if options.resume else None
        try:
            session = await (booting if booting is not None else launch_agent(options))
        except (SightlineError, OSError, UnicodeError) as error:
            if stored is not None:
                await stored
            if options.resume and self._desk.store.is_running(options.resume):
                await self._attach(link, options.resume, options)
            else:
                await self._failed(link, error, options)
            return
        await self._follow(link, session, await stored if stored is not None else None)

    async def _attach(self, link: Link, session: str, options: StartOptions) -> None:
        """Show a session that runs: it has its own options."""
        if options.given and options.approval_named:
            text = f"not used: {', '.join(options.given)}; this session is running already"
            self._desk.report(text, "warning", "/quit ends it; options take effect when it is resumed after that")
        await self._follow(link, session)

    async def _follow(self, link: Link, session: str, after: int | None = None) -> None:
        """Follow it, unless the user has switched to another meanwhile: then its host is not needed."""
        if link is not self.link:
            if session not in (self.session, self._going_to):
                await self._end_unseen(session)
            return
        self._gone = False
        self._stage.began(session)
        await link.follow(session, after)

    def _new_link(self) -> Link:
        return Link(self._desk.store, on_frame=self._stage.frame, on_hello=self._greeted, on_end=self._lost)

    async def _failed(self, link: Link, error: Exception, options: StartOptions) -> None:
        """It did not start: the user may fix what is wrong, and try again."""
        if link is not self.link:
            return
        self._desk.report(clean_text(str(error)), "error", getattr(error, "hint", ""))
        self._current.note = "no session"
        answer = await self._offer("The session could not start", "", "Try again")
        if link is not self.link:
            return
        if answer == "again":
            self._current.note = "starting…"
            await self._boot(link, options)
        else:
            self._stage.exit(1)

    async def _offer(self, title: str, why: str, again: str) -> str | None:
        """Offer to try again, or to leave; until the user switches to another session."""
        from sightline.views.console.dialogs import GoneDialog

        dialog = self._offered = GoneDialog(title, why, again, self._desk.drawing, self._screen.room)
        answer: str | None = await self._desk.ask(dialog, above=True)
        return answer

    async def _running_here(self, booting: "asyncio.Future[str] | None", *, empty: bool) -> list[Hello]:
        """Sessions with an agent that run in this folder, without the one that boots for this console. `empty`: also
        those in which nothing happened yet."""
        here = clean_line(self._desk.cwd)
        found = [hello for hello in await running_hosts(self._desk.store) if hello.cwd == here and hello.agent]
        if found and booting is not None:
            await asyncio.wait([booting])
            own = "" if booting.exception() else booting.result()
            found = [hello for hello in found if hello.session != own]
        return [
            hello
            for hello in found
            if empty or not _is_idle(hello) or await asyncio.to_thread(self._used, hello.session)
        ]

    def _used(self, session: str) -> bool:
        """Whether there is anything in it to resume: a message, a call, or a draft."""
        from sightline.paths import data_folder
        from sightline.views.console.input import Drafts

        draft = Drafts(data_folder()).load(session)
        if draft.text or draft.attachments:
            return True
        try:
            return any(isinstance(event, User | ToolUse) for event in self._desk.store.read(session).events())
        except (SightlineError, OSError):
            return False  # it has ended meanwhile

    async def _choose(self, others: list[Hello], *, attach: bool) -> tuple[str, str]:
        from sightline.views.console.dialogs import RunningDialog, RunningSession
        from sightline.views.plain._standing import signed_standing

        records = await asyncio.to_thread(self._desk.store.conversations, self._desk.cwd)
        titles = {record.id: listed_title(record) for record in records}
        changed = {record.id: record.changed for record in records}
        others = sorted(others, key=lambda hello: (_is_idle(hello), -changed.get(hello.session, hello.started)))
        sessions = [
            RunningSession(hello.session, titles.get(hello.session, ""), signed_standing(hello)) for hello in others
        ]
        idle = all(_is_idle(hello) for hello in others)
        attach = attach or in_copies_folder(self._desk.cwd)  # one comes back to a worktree for what is in it
        if self._entered:  # while this was looked up
            return "new", ""
        dialog = RunningDialog(sessions, self._desk.drawing, self._screen.room, new_first=idle and not attach)
        self._which = dialog
        answer = await self._desk.ask(dialog, above=True)
        self._which = None
        return answer if isinstance(answer, tuple) else ("leave", "")

    def entered(self) -> None:
        """Something was entered: a user who types ahead means a new session."""
        self._entered = True
        if self._which is not None:
            self._which.finish(("new", ""))

    async def _dismiss(self, booting: "asyncio.Future[str] | None") -> None:
        """End a host that was started and is not needed."""
        if booting is None:
            return
        try:
            session = await booting
        except (SightlineError, OSError):
            return
        await self._end_unseen(session)

    async def _end_unseen(self, session: str) -> None:
        link = Link(self._desk.store)
        following = asyncio.ensure_future(link.follow(session))
        await link.submit(Stop())
        await following

    def _greeted(self, hello: Hello) -> None:
        self._greeted_by(hello.pid)
        self._stage.work_in(hello.cwd)
        self._current.note = ""
        if hello.version != __version__ and not self._reported_version:
            self._reported_version = True
            text = f"this session runs version {hello.version}, this console is version {__version__}"
            hint = "what only one of them knows is not shown; /quit and start again to use one version"
            self._desk.report(text, "warning", hint)
        self._desk.redraw()

    def _lost(self, why: str) -> None:
        """The host died, or another viewer stopped the session."""
        self._gone = True
        self._stage.lost()
        self._desk.spawn(self._offer_resume(why))

    async def _offer_resume(self, why: str) -> None:
        answer = await self._offer("The session has stopped", why, "Resume")
        if answer == "again" and self._gone:
            await self.go(self.session)
        elif answer == "leave":
            self._stage.exit(1)

    def offer_again(self) -> None:
        """A command was sent to a host that is gone."""
        if self._gone and self._screen.asking is None:
            self._desk.spawn(self._offer_resume(""))

    async def go(self, session: str, *, draft: str = "") -> None:
        """Show another session; empty: a new one. The draft goes along, behind `draft`."""
        async with self._going:
            await self._go(session, draft)

    async def use_provider(self, provider: str) -> None:
        """A new session in which another agent works."""
        self._options = msgspec.structs.replace(self._options, provider=provider, model="", option={})
        self._current.provider = provider
        await self.go("")

    async def submit(self, command: Command) -> CommandReply:
        """Send a command to the host of the session that is shown; during a switch, to the new one."""
        async with self._going:
            link = self.link
        return await link.submit(command)

    async def first_frame(self) -> None:
        """Returns when the host of the session has reported what there is: what one types first, it has not."""
        if self._began:
            await self.link.first_frame()

    async def _go(self, session: str, draft: str) -> None:
        left = self.link
        if session and session == left.session and not self._gone:
            self._desk.report("this session is open already")
            return
        options = self._next_options(session)
        still_runs = await self._leave_behind(left)
        if self._offered is not None:
            self._offered.finish(None)
        link = self.link = self._new_link()
        self._going_to, self._gone = session, False
        self._current.note = "starting…"
        self._stage.show(Snapshot())
        if still_runs:
            self._desk.report(f"session {left.session} keeps running", hint=f"sightline attach {left.session}")
        if draft:
            self._prompt.restore(draft)
        self._desk.spawn(self._boot(link, options))

    def _next_options(self, session: str) -> StartOptions:
        """The options the console was started with; a new session uses the agent and model of the one that is left."""
        # Options that allow more were given for the session the console began with, which has them stored: another
        # session has its lower level still, and so has that one.
        allow, flags = self._options.allow, self._options.flags
        if session:
            allow, flags = [], {name: value for name, value in flags.items() if name != "permissions.allow"}
        cwd = self._desk.cwd if in_copies_folder(self._desk.cwd) else self._options.cwd
        if session and in_copies_folder(cwd):
            cwd = ""  # where it worked before, not in the worktree of another one
        options = msgspec.structs.replace(
            self._options, cwd=cwd, resume=session, title="", approval_named=not session, allow=allow, flags=flags
        )
        facts = Facts(self._desk.state)
        if session or not (facts.model or facts.provider):
            return options
        same = facts.provider == options.provider
        return msgspec.structs.replace(
            options,
            provider=facts.provider,
            model=facts.model or (options.model if same else ""),
            thinking=facts.thinking or options.thinking,
            option=options.option if same else {},
        )

    async def _leave_behind(self, link: Link) -> bool:
        """Stop the session where it is idle. Whether it keeps running."""
        there = bool(link.session) and not self._gone
        still_runs = there and self._works()
        link.mute()
        if there and not still_runs:
            still_runs = not await _stop(link)
        link.close()
        return still_runs

    def _works(self) -> bool:
        state, facts = self._desk.state, Facts(self._desk.state)
        typed = facts.typed is not None or self._current.running or self._current.unsent
        return bool(state.running or facts.jobs or facts.activity or state.requests or typed or facts.review)

    def _what_works(self) -> str:
        facts = Facts(self._desk.state)
        parts = [f"the agent is {facts.activity}"] if facts.activity else []
        if facts.typed is not None or self._current.running:
            parts.append("your command is running")
        if facts.jobs:
            parts.append(f"{len(facts.jobs)} jobs are running" if len(facts.jobs) > 1 else "1 job is running")
        if facts.review is not None:
            parts.append("a review is running")
        return ", ".join(parts)

    @property
    def drops_keys(self) -> bool:
        """The user is leaving. Keys typed after that are dropped until it is decided, and until the question about it
        is on the screen."""
        screen = self._screen
        is_asked = self._whether_to_leave is not None and screen.asking is self._whether_to_leave
        return self._leaving and not (is_asked and screen.is_answered)

    def detach(self) -> None:
        """Leave; the session keeps running."""
        self._leaving = True
        if self.session and not self._gone:
            self.farewell = f"Detached. Attach with: sightline attach {self.session}"
        self.link.close()
        self._stage.exit(0)

    def leave(self) -> None:
        """Leave, and end the session; ask first, once, where it is busy. Keys are dropped from this call on."""
        if not self._leaving:
            self._leaving = True
            self._desk.spawn(self._left())

    async def _left(self, end: "WorktreeEnd | None" = None) -> None:
        """`end`: what is to become of the worktree, where that is known."""
        answer = await self._confirm_leaving() if self._works() and not self._gone and self.session else "stop"
        if answer == "stop":
            worktree = await self._worktree.find()
            if worktree is not None and end is None:
                end = await self._what_of(worktree)
            if worktree is None or end is not None:
                await self._end(worktree, end)
                return
            answer = None
        if answer == "keep":
            self.detach()
        else:
            self._leaving = False

    async def show_worktree(self) -> None:
        """What changed in the worktree, and what can be done about it now."""
        worktree = await self._worktree.find()
        if worktree is None:
            self._desk.report("this session works in no worktree", hint="sightline --worktree NAME makes one")
            return
        dialog = await self._worktree.dialog(worktree, leaving=False)
        if isinstance(dialog, str):
            return
        answer = await self._desk.ask(dialog)
        if answer == "merge" and self._works():
            self._desk.report("something is still running here", "warning", "merge when it has ended")
        elif answer == "merge":
            await self._worktree.merge_now(worktree)
        elif answer == "remove" and not self._leaving:
            self._leaving = True
            await self._left("remove")

    async def _what_of(self, worktree: "UserWorktree") -> "WorktreeEnd | None":
        """What is to become of it; None: the user stays."""
        dialog = await self._worktree.dialog(worktree, leaving=True)
        return dialog if isinstance(dialog, str) else await self._ask_leaving(dialog)

    async def _confirm_leaving(self) -> str | None:
        from sightline.views.console.dialogs import LeavingDialog

        dialog = LeavingDialog(self._what_works(), self._desk.drawing, self._screen.room, lasting=self.lasting)
        answer: str | None = await self._ask_leaving(dialog)
        return answer

    async def _ask_leaving(self, dialog: "Dialog") -> Any:
        self._whether_to_leave = dialog
        try:
            # Below an overlay it would have no keys, and not be seen.
            return await self._desk.ask(dialog, Overlay() if self._screen.has_overlay else None)
        finally:
            self._whether_to_leave = None

    async def _take_back_queue(self, link: Link) -> None:
        """Store the queued messages as a draft of this session."""
        if Facts(self._desk.state).queue:
            reply = await link.submit(Unqueue())
            self._stopping.take_back(reply)

    async def _end(self, worktree: "UserWorktree | None", end: "WorktreeEnd | None") -> None:
        link, watched = self.link, False
        if self.session and not self._gone:
            link.mute()
            await self._take_back_queue(link)
            watched = not await _stop(link)
            if watched:
                self.farewell = f"Still open in another console. Attach with: sightline attach {self.session}"
            elif any(not isinstance(entry, Remark) and not _is_private(entry) for entry in self._desk.state.entries):
                self.farewell = f"Resume with: sightline --resume {self.session}"
        link.close()
        if worktree is not None and end is not None and not watched:
            report = await self._worktree.end(worktree, end)
            self.farewell = "\n".join(filter(None, (report.text, self.farewell)))
        self._stage.exit(0)


def _is_private(entry: Entry) -> bool:
    """Whether it is a run of the user's that the agent did not learn of: alone it is no conversation to resume."""
    if not isinstance(entry, TranscriptCall) or not entry.by_user or not isinstance(entry.args, dict):
        return False
    return bool(entry.args.get("private"))


def _is_idle(hello: Hello) -> bool:
    return not (hello.busy or hello.running or hello.waiting)


async def _stop(link: Link) -> bool:
    """End the session, unless another viewer is in it. A host that does not answer, or is gone, counts as stopped."""
    try:
        async with asyncio.timeout(_SECONDS_TO_STOP):
            reply = await link.submit(Stop(unless_watched=True))
            return reply.ok or not reply_data(reply).get("watched")
    except TimeoutError:
        return True
