"""Which session is on the screen: how it is found, gone to, left, and what happens when its host dies.

Rules:

- Leaving a session in which nothing goes on ends its host; one that works is asked about, and goes on if so wished.
- A console that is killed, or whose terminal is closed, leaves everything as it is.
- When the host is gone the person is told at once, the draft stays, and one key resumes.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from sightline import __version__
from sightline.events import ToolUse, User
from sightline.exceptions import SightlineError
from sightline.host import Command, CommandReply, Hello, Stop, Unqueue, connect, launch_agent, started
from sightline.host import running as running_hosts
from sightline.settings import StartOptions
from sightline.text import clean_line, clean_text
from sightline.transcript import Remark, Snapshot
from sightline.tty import Overlay
from sightline.views._names import title_of
from sightline.views.console.session._link import Link
from sightline.views.console.status import Facts

if TYPE_CHECKING:
    from sightline.host import Frame
    from sightline.views.console._desk import Desk
    from sightline.views.console._screen import ConsoleScreen
    from sightline.views.console.dialogs import Dialog
    from sightline.views.console.input import PromptEditor
    from sightline.views.console.session._input import Entered
    from sightline.views.console.session._stopping import Stopping
    from sightline.views.console.status import StatusLine

_SECONDS_TO_STOP = 5.0


class SessionStage(Protocol):
    """What a session is shown on, and what becomes of it."""

    def frame(self, frame: "Frame") -> None:
        """The host sent this."""
        ...

    def show(self, snapshot: Snapshot) -> None:
        """This is the session now, whatever was shown before."""
        ...

    def began(self, session: str) -> None:
        """It has a host, or will have one in a moment."""
        ...

    def work_in(self, folder: str) -> None: ...

    def lost(self) -> None:
        """Its host is gone."""
        ...

    def exit(self, code: int) -> None: ...

    def run_command(self, name: str, args: str = "") -> Coroutine[Any, Any, None]: ...


class SessionSwitch:
    """The one that is shown, and the way to others."""

    def __init__(
        self,
        desk: "Desk",
        stage: SessionStage,
        options: StartOptions,
        *,
        screen: "ConsoleScreen",
        status: "StatusLine",
        prompt: "PromptEditor",
        entered: "Entered",
        stopping: "Stopping",
        greeted: Callable[[int], object],
        lasting: bool,
    ) -> None:
        """`greeted` is called with the process of a host that was connected to; `lasting`: one can return to what is
        left running."""
        self._desk = desk
        self._stage = stage
        self._options = options
        self._screen = screen
        self._status = status
        self._prompt = prompt
        self._typed = entered
        self._stopping = stopping
        self._greeted_by = greeted
        self.lasting = lasting
        self.link = self._new_link()
        self._reported_version = False
        self._gone = self._leaving = False
        self._going = asyncio.Lock()
        self._going_to = ""
        """The session that is to be shown; empty: a new one."""
        self._offered: Dialog | None = None
        self._whether_to_leave: Dialog | None = None
        self._entered = False
        """The person has entered something."""
        self._which: Dialog | None = None
        """The question which session to show, while it is asked."""
        self.farewell = ""
        """What there is to say once the terminal is given back."""

    @property
    def session(self) -> str:
        return self.link.session

    # ---- beginning

    async def begin(self, host: int | None) -> None:
        """Show what was asked for: a session that runs, one that is kept, or a new one whose host boots at `host`."""
        booting = asyncio.ensure_future(started(host)) if host is not None else None
        options = self._options
        named = options.resume or options.provider or options.model  # somebody, not just anybody
        others = [] if named else await self._running_here(booting)
        if others and not self._entered:
            async with self._holding(booting):
                what, chosen = await self._choose(others)
            if what == "leave":
                await self._dismiss(booting)
                self._stage.exit(0)
                return
            if what == "attach":
                self._desk.spawn(self._dismiss(booting))
                await self._attach(self.link, chosen, options)
                return
            if what == "pick":
                self._desk.spawn(self._stage.run_command("resume"))
        await self._boot(self.link, self._options, booting)

    @asynccontextmanager
    async def _holding(self, booting: "asyncio.Future[str] | None") -> AsyncIterator[None]:
        """Be connected to the host that has booted for us while the user chooses, however long that takes: one that no
        view comes to ends by itself, and a new session would begin with one that has stopped."""
        client = None
        if booting is not None:
            with suppress(SightlineError, OSError):
                client = await connect(await booting)
        try:
            yield
        finally:
            if client is not None:
                client.close()

    async def _boot(self, link: Link, options: StartOptions, booting: "asyncio.Future[str] | None" = None) -> None:
        """Show a session whose host boots, or is to be started; one that runs already is attached to."""
        if options.resume and booting is None and self._desk.store.is_running(options.resume):
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
        """Unless the person has gone elsewhere since it was asked for: then nobody needs its host."""
        if link is not self.link:
            if session not in (self.session, self._going_to):
                await self._end_unseen(session)
            return
        self._gone = False
        self._stage.began(session)
        await link.follow(session, after)

    def _new_link(self) -> Link:
        link = Link(self._desk.store)
        link.on_frame, link.on_hello = self._stage.frame, self._greeted
        link.on_gone, link.on_over = self._lost, lambda: self._lost("the session was ended elsewhere")
        return link

    async def _failed(self, link: Link, error: SightlineError | OSError | UnicodeError, options: StartOptions) -> None:
        """It did not start: what is wrong may be mended, and tried again."""
        if link is not self.link:
            return
        self._desk.report(clean_text(str(error)), "error", getattr(error, "hint", ""))
        self._status.note = "no session"
        answer = await self._offer("The session could not start", "", "Try again")
        if link is not self.link:
            return
        if answer == "again":
            self._status.note = "starting…"
            await self._boot(link, options)
        else:
            self._stage.exit(1)

    async def _offer(self, title: str, why: str, again: str) -> str | None:
        """To try it again, or to leave; until the person goes elsewhere."""
        from sightline.views.console.dialogs import GoneDialog

        dialog = self._offered = GoneDialog(title, why, again, self._desk.drawing, self._screen.room)
        answer: str | None = await self._desk.ask(dialog, above=True)
        return answer

    async def _running_here(self, booting: "asyncio.Future[str] | None") -> list[Hello]:
        """Sessions with an agent that run in this folder, but for the one that boots for us."""
        here = clean_line(self._desk.cwd)
        found = [hello for hello in await running_hosts(self._desk.store) if hello.cwd == here and hello.agent]
        if found and booting is not None:
            await asyncio.wait([booting])
            own = "" if booting.exception() else booting.result()
            found = [hello for hello in found if hello.session != own]
        return [hello for hello in found if not _is_idle(hello) or await asyncio.to_thread(self._used, hello.session)]

    def _used(self, session: str) -> bool:
        """Whether there is anything in it to go on with: something that was said or run, or is written and not sent."""
        from sightline.paths import data_folder
        from sightline.views.console.input import Drafts

        draft = Drafts(data_folder()).load(session)
        if draft.text or draft.attachments:
            return True
        try:
            return any(isinstance(event, User | ToolUse) for event in self._desk.store.read(session).events())
        except (SightlineError, OSError):
            return False  # it has ended meanwhile

    async def _choose(self, others: list[Hello]) -> tuple[str, str]:
        from sightline.views.console.dialogs import RunningDialog, RunningSession
        from sightline.views.plain._standing import signed_standing

        records = await asyncio.to_thread(self._desk.store.conversations, self._desk.cwd)
        titles = {record.id: title_of(record) for record in records}
        others = sorted(others, key=_is_idle)
        sessions = [
            RunningSession(hello.session, titles.get(hello.session, ""), signed_standing(hello)) for hello in others
        ]
        idle = all(_is_idle(hello) for hello in others)
        if self._entered:  # while this was looked up
            return "new", ""
        dialog = RunningDialog(sessions, self._desk.drawing, self._screen.room, new_first=idle)
        self._which = dialog
        answer = await self._desk.ask(dialog, above=True)
        self._which = None
        return answer if isinstance(answer, tuple) else ("leave", "")

    def entered(self) -> None:
        """Something was entered: whoever types ahead means a new session."""
        self._entered = True
        if self._which is not None:
            self._which.finish(("new", ""))

    async def _dismiss(self, booting: "asyncio.Future[str] | None") -> None:
        """A host that was started and is not needed."""
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

    # ---- while it is shown

    def _greeted(self, hello: Hello) -> None:
        self._greeted_by(hello.pid)
        self._stage.work_in(hello.cwd)
        self._status.note = ""
        if hello.version != __version__ and not self._reported_version:
            self._reported_version = True
            text = f"this session runs version {hello.version}, this console is version {__version__}"
            hint = "what only one of them knows is not shown; /quit and start again to use one version"
            self._desk.report(text, "warning", hint)
        self._desk.redraw()

    def _lost(self, why: str) -> None:
        """The host died, or somebody else stopped the session: whoever stops it here leaves."""
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
        """Something was asked of a host that is gone."""
        if self._gone and self._screen.asking is None:
            self._desk.spawn(self._offer_resume(""))

    async def go(self, session: str, *, draft: str = "") -> None:
        """Show another session; empty: a new one. What is written goes along, behind `draft`."""
        async with self._going:
            await self._go(session, draft)

    async def use_provider(self, provider: str) -> None:
        """A new session in which another agent works."""
        self._options = msgspec.structs.replace(self._options, provider=provider, model="", option={})
        self._status.provider = provider
        await self.go("")

    async def submit(self, command: Command) -> CommandReply:
        """Ask the host of the session that is shown; of the one the person is going to, once it is that."""
        async with self._going:
            link = self.link
        return await link.submit(command)

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
        self._status.note = "starting…"
        self._stage.show(Snapshot())
        if still_runs:
            self._desk.report(f"session {left.session} keeps running", hint=f"sightline attach {left.session}")
        if draft:
            self._prompt.give_back(draft)
        if session and self._desk.store.is_running(session):
            self._desk.spawn(self._follow(link, session))
            return
        self._desk.spawn(self._boot(link, options))

    def _next_options(self, session: str) -> StartOptions:
        """As the console was started; a new conversation goes on with whoever is in the one that is left."""
        # What allows more was given for the session the console began with, which has it stored: another keeps a lower
        # level, and so does that one.
        allow, flags = self._options.allow, self._options.flags
        if session:
            allow, flags = [], {name: value for name, value in flags.items() if name != "permissions.allow"}
        options = msgspec.structs.replace(
            self._options, resume=session, title="", approval_named=not session, allow=allow, flags=flags
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
        """What nobody needs ends; what works goes on. Whether it does."""
        there = bool(link.session) and not self._gone
        still_runs = there and self._works()
        link.hush()
        if there and not still_runs:
            still_runs = not await _stop(link)
        link.close()
        return still_runs

    # ---- the end

    def _works(self) -> bool:
        state, facts = self._desk.state, Facts(self._desk.state)
        typed = facts.typed is not None or self._typed.running or self._typed.unsent
        return bool(state.running or facts.jobs or facts.going_on or state.requests or typed)

    def _what_works(self) -> str:
        facts = Facts(self._desk.state)
        parts = [f"the agent is {facts.going_on}"] if facts.going_on else []
        if facts.typed is not None or self._typed.running:
            parts.append("your command is running")
        if facts.jobs:
            parts.append(f"{len(facts.jobs)} jobs are running" if len(facts.jobs) > 1 else "1 job is running")
        return ", ".join(parts)

    @property
    def drops_keys(self) -> bool:
        """Leaving was asked for. What is typed after that means nothing: not until it is decided, and not in a question
        about it that was not on the screen yet."""
        screen = self._screen
        is_asked = self._whether_to_leave is not None and screen.asking is self._whether_to_leave
        return self._leaving and not (is_asked and screen.is_answered)

    def detach(self) -> None:
        """Leave; the session goes on."""
        self._leaving = True
        if self.session and not self._gone:
            self.farewell = f"Detached. Attach with: sightline attach {self.session}"
        self.link.close()
        self._stage.exit(0)

    def leave(self) -> None:
        """Leave for good, if nothing goes on; ask otherwise, once. From now on, not from when the loop comes to it."""
        if not self._leaving:
            self._leaving = True
            self._desk.spawn(self._left())

    async def _left(self) -> None:
        answer = await self._confirm_leaving() if self._works() and not self._gone and self.session else "stop"
        if answer == "stop":
            await self._end()
        elif answer == "keep":
            self.detach()
        else:
            self._leaving = False

    async def _confirm_leaving(self) -> str | None:
        from sightline.views.console.dialogs import LeavingDialog

        dialog = LeavingDialog(self._what_works(), self._desk.drawing, self._screen.room, lasting=self.lasting)
        self._whether_to_leave = dialog
        try:
            # Below an overlay it would have neither the keys nor the eyes.
            answer: str | None = await self._desk.ask(dialog, Overlay() if self._screen.has_overlay else None)
        finally:
            self._whether_to_leave = None
        return answer

    async def _take_back_queue(self, link: Link) -> None:
        """What waits to be sent is kept as a draft of this session."""
        if Facts(self._desk.state).queue:
            reply = await link.submit(Unqueue())
            self._stopping.take_back(reply.data)

    async def _end(self) -> None:
        link = self.link
        if self.session and not self._gone:
            link.hush()
            await self._take_back_queue(link)
            if not await _stop(link):
                self.farewell = f"Still open in another console. Attach with: sightline attach {self.session}"
            elif any(not isinstance(entry, Remark) for entry in self._desk.state.entries):
                self.farewell = f"Resume with: sightline --resume {self.session}"
        link.close()
        self._stage.exit(0)


def _is_idle(hello: Hello) -> bool:
    return not (hello.busy or hello.running or hello.waiting)


async def _stop(link: Link) -> bool:
    """End its session, unless another viewer is in it. A host that does not answer, or is gone, is not waited for."""
    try:
        async with asyncio.timeout(_SECONDS_TO_STOP):
            reply = await link.submit(Stop(unless_watched=True))
            return reply.ok or not (isinstance(reply.data, dict) and reply.data.get("watched"))
    except TimeoutError:
        return True
