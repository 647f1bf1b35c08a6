"""The console: one screen that shows what every agent and tool does, and from which the user controls it.

It holds the parts together and is the `Desk` that dialogs, selectors and commands work on. The parts read one state
(`ConsoleState`) and emit intents: an `Action`, a `Submission`, or a command for the host, whose events change what is
shown. It owns nothing that would be lost with it.
"""

import asyncio
import errno
import os
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sightline.conversation import SKILL
from sightline.events import Event, RunEnded
from sightline.paths import data_folder
from sightline.secrets import secrets_here
from sightline.transcript import Remark, Snapshot
from sightline.tty import Application, Bindings, Component, Display, LinearDisplay, Overlay
from sightline.tty.components import backfill
from sightline.views.console._actions import COMMANDS
from sightline.views.console._beat import Beat
from sightline.views.console._desk import HINTED, Answerable, Level
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console._keys import Keys
from sightline.views.console._screen import ConsoleScreen, Enters
from sightline.views.console._state import ConsoleState
from sightline.views.console.extensions._screen import ExtensionScreen
from sightline.views.console.input import Drafts, PromptEditor, PromptHistory, QueuePanel, Submission
from sightline.views.console.session._input import PromptSubmission
from sightline.views.console.session._requests import RequestDialogs
from sightline.views.console.session._sessions import SessionSwitch
from sightline.views.console.session._stopping import Stopping
from sightline.views.console.status import Attention, Facts, JobsPanel, Pulse, StatusLine, TodoPanel, WorkingRow
from sightline.views.console.transcript._pictures import picture_bytes
from sightline.views.console.transcript._transcript_view import TranscriptView

if TYPE_CHECKING:
    from sightline.host import Command, CommandReply, Frame
    from sightline.journal import Store
    from sightline.settings import Settings, StartOptions
    from sightline.views.console.blocks import TranscriptBlock


class Console:
    """Made on an application; `sessions.begin` shows a session."""

    def __init__(
        self,
        application: Application,
        store: "Store",
        settings: "Settings",
        options: "StartOptions",
        *,
        greeted: Callable[[int], object] = lambda pid: None,
        lasting: bool = True,
    ) -> None:
        """`greeted` is called with the process id of every host that is connected to; `lasting`: a session that is left
        running can be attached to later."""
        self.application = application
        self.loop = application.loop
        self.store = store
        self.settings = settings
        self.cwd = options.cwd or os.getcwd()
        self.tries: Sequence[tuple[str, str]] = ()
        """Examples in the greeting; empty: those for any project."""
        self._drafts = Drafts(data_folder())
        self._filling: asyncio.Task[Any] | None = None
        self._hinting: asyncio.TimerHandle | None = None
        self._offered_setup = False
        self._when_run_ended: list[Callable[[], object]] = []
        self._show_parts(options)
        self._wire_parts(options, greeted, lasting)
        self.spawn(self.prompt.recall())

    def _show_parts(self, options: "StartOptions") -> None:
        """Make the parts that draw: each reads the state, and knows nothing of the others."""
        application, display, call_later = self.application, self.application.display, self.loop.call_later
        linear, images = application.linear, display.images
        self.drawing = DrawingOptions(
            application.theme, images, application.bindings, cwd=self.cwd, linear=linear, fetch=self._fetch
        )
        self.drawing.reasoning = self.settings.console.reasoning
        self.transcript = self._transcript_on(display)
        current = self.current = ConsoleState(lambda: self.transcript.state, options.provider)
        self.prompt = PromptEditor(
            self,
            self.drawing,
            history=PromptHistory(data_folder(), lambda text: secrets_here(self.settings).masked(text)),
            keymap=self.settings.console.keymap,
            call_later=call_later,
        )
        self.screen = ConsoleScreen(
            application,
            self.transcript.component,
            self.prompt.component,
            enters=self._enters,
            is_writing=lambda: not self.prompt.empty,
            on_exit=lambda: self.sessions.leave(),
            on_free=self._free,
        )
        self.queue = QueuePanel(self.drawing)
        self.working = WorkingRow(self.drawing, current, call_later=call_later, request_render=self.redraw)
        self.todo = TodoPanel(self.drawing, lambda: self.state, lambda: self.height)
        self.jobs = JobsPanel(self.drawing, lambda: self.state)
        self.status = StatusLine(self.drawing, current)
        self.beat = Beat(application, self.transcript, self.jobs)
        self.attention = self._attention()
        self.pulse = Pulse(lambda: self.state, self.report, clock=self.drawing.clock, call_later=call_later)
        self.screen.build((self.queue, self.working, self.todo, self.jobs), self.status)

    def _wire_parts(self, options: "StartOptions", greeted: Callable[[int], object], lasting: bool) -> None:
        """Make the parts that act: each is given what it uses, and no way back to the console as a whole."""
        screen, prompt, current = self.screen, self.prompt, self.current
        self.extensions = ExtensionScreen(self, current, screen)
        self.requests = RequestDialogs(self, self.extensions.dialog_for, is_asking=lambda: screen.asking is not None)
        self.stopping = Stopping(self, current, prompt)
        self.sessions = SessionSwitch(
            self,
            self,
            options,
            current=current,
            screen=screen,
            prompt=prompt,
            stopping=self.stopping,
            greeted=greeted,
            lasting=lasting,
        )
        self.entering = PromptSubmission(
            self,
            prompt,
            current,
            self.sessions,
            run_command=self.run_command,
            ask_for_model=self.ask_for_model,
            announce=self.transcript.entered,
        )
        self.keys = Keys(
            self,
            screen,
            prompt,
            self.stopping,
            self.sessions,
            self.requests,
            press=lambda action: action.press(self),
            run_command=self.run_command,
            clock=self.loop.time,
        )
        self.application.display.add_input_listener(self.keys.hear)
        self.application.on_end = self.sessions.leave

    def _enters(self) -> Enters:
        if taken := self.prompt.enter_takes:
            return taken
        if not self.state.running:
            return "send"
        return "steer" if Facts(self.state).takes_steering else "queue"

    def when_run_ended(self, callback: Callable[[], object]) -> None:
        """Call this whenever a run has ended."""
        self._when_run_ended.append(callback)

    def _transcript_on(self, display: Display) -> TranscriptView:
        redraw, size = display.request_render, lambda: display.surface.size
        if not isinstance(display, LinearDisplay):
            return TranscriptView(self.drawing, redraw, size=size, fill=self._fill_in)
        from sightline.views.console.transcript._spoken import SpokenTranscript

        display.is_busy = lambda: self.stopping.can_stop or bool(self.current.unsent)
        return SpokenTranscript(self.drawing, redraw, size=size, fill=self._fill_in, call_later=self.loop.call_later)

    def enter(self, submission: Submission) -> None:
        self.entering.enter(submission)

    def escape(self) -> bool:
        return self.keys.escape()

    def commands(self) -> list[tuple[str, str]]:
        ours = [(action.command, action.does) for action in COMMANDS.values()]
        facts = Facts(self.state)
        theirs = [(each.name, " · ".join(filter(None, (each.args, each.about)))) for each in facts.commands]
        skills = [] if facts.provider else [each for each in facts.skills if each.usable]
        return [*ours, *theirs, *((f"{SKILL} {skill.name}", skill.about) for skill in skills)]

    def _attention(self) -> Attention:
        options, application = self.settings.console, self.application
        return Attention(
            self.current,
            clock=self.drawing.clock,
            set_title=application.set_title if options.title else None,
            notify=(lambda text: application.notify("sightline", text)) if options.notify else None,
        )

    def _fill_in(self, older: Iterable[Component]) -> None:
        """Draw older blocks above what is on the screen already."""
        view = self.transcript
        if self.application.linear:
            view.component.fill(older, is_live=view.is_live)
            view.component.release_hold()
        else:
            if self._filling is not None:
                self._filling.cancel()  # another session is shown by now
            self._filling = self.application.spawn(self._filled_in(older))

    async def _filled_in(self, older: Iterable[Component]) -> None:
        view = self.transcript

        def paced() -> Iterator[Component]:
            for block in older:
                yield block
                self.beat.schedule()  # it may be one that is drawn in slices

        await backfill(self.application.display, view.component, paced(), is_live=view.is_live)
        self.beat.schedule()

    @property
    def state(self) -> Snapshot:
        return self.transcript.state

    @property
    def session(self) -> str:
        return self.sessions.session

    def frame(self, frame: "Frame") -> None:
        if not isinstance(frame, Snapshot):
            self.transcript.apply(frame)
            self._heard(frame)
        elif self.state.seq and self.transcript.catch_up(frame):
            self._heard([])
        else:
            self.show(frame)

    def show(self, snapshot: Snapshot) -> None:
        """Show this session, in place of what was shown before."""
        anew = bool(self.transcript.blocks)
        is_new = not anew and all(isinstance(entry, Remark) for entry in snapshot.entries)
        self.transcript.replace(snapshot, self._greeting() if is_new else None)
        self.attention.forget()
        self.extensions.shown()
        self.entering.shown()
        if anew:
            self.replay()
        self._heard([])

    def _greeting(self) -> "TranscriptBlock":
        from sightline.views.console.blocks._greeting import Greeting, tries_in

        greeting = Greeting(self.drawing, lambda: self.state, self.tries or tries_in(self.drawing.cwd))
        if self.application.linear:
            greeting.close()  # it is read out as it is
        return greeting

    def began(self, session: str) -> None:
        """The session that is shown has a host, or will have one in a moment."""
        self.spawn(self.prompt.open_draft(self._drafts, session))
        self.spawn(self.extensions.load())
        self.spawn(self._find_branch())

    def was_used(self, session: str) -> bool:
        others = session != self.session and self.store.is_running(session)
        return others or self.store.has_conversation(session)

    def work_in(self, folder: str) -> None:
        """The session's folder, which need not be where the console was started."""
        if folder and folder != self.cwd:
            self.cwd = self.drawing.cwd = folder
            self.spawn(self._find_branch())
            self.spawn(self.extensions.load())

    def _heard(self, events: list[Event]) -> None:
        self.entering.forget_ended(events)
        self.stopping.look()
        self.working.update()
        facts = Facts(self.state)
        self.queue.set(facts.queue, steers=facts.takes_steering)
        self._offer_setup()
        self.requests.look()
        self.extensions.heard()
        self.attention.look()
        if self.application.linear:
            self.pulse.look()
        if any(isinstance(event, RunEnded) and not event.agent for event in events):
            self.spawn(self._find_branch())
            for callback in self._when_run_ended:
                callback()
        self.beat.schedule()
        self.redraw()

    def _offer_setup(self) -> None:
        """Once, where our own agent has no model: it is a new user's first screen. Not over a draft."""
        if not self._offered_setup:
            self.ask_for_model(yields_to_draft=True)

    def ask_for_model(self, *, yields_to_draft: bool = False) -> bool:
        """Show the setup screen where there is no model. Whether it is shown, or will be."""
        if self.application.linear or not Facts(self.state).lacks_model:
            return False
        from sightline.views.console.selectors._setup import SetupPanel

        asking = self.screen.asking
        if asking is None:
            self._offered_setup = True
            self.spawn(self._ask_for_model(yields_to_draft))
        elif isinstance(asking, SetupPanel) and not yields_to_draft:
            asking.yields_to_draft = False
        return asking is None or isinstance(asking, SetupPanel)

    async def _ask_for_model(self, yields_to_draft: bool) -> None:
        from sightline.views.console.selectors._setup import offer

        self._offered_setup = await offer(self, above=True, yields_to_draft=yields_to_draft)

    def _free(self) -> None:
        """The last dialog was closed."""
        self.requests.look()
        self._offer_setup()

    def lost(self) -> None:
        """The session has stopped: nothing is running any more."""
        queued = Facts(self.state).queue
        self.transcript.stop()
        self.entering.host_gone(queued)
        self.queue.set([], steers=False)
        self.requests.look()
        self.current.note = "the session has stopped"
        self.stopping.look()
        self.working.update()
        self.beat.schedule()
        self.redraw()

    async def _find_branch(self) -> None:
        from sightline.views.console._git import branch_of

        branch = await asyncio.to_thread(branch_of, self.cwd)
        if branch != self.current.branch:
            self.current.branch = branch
            self.redraw(self.status)

    def _fetch(self, name: str, then: Callable[[bytes | None], None]) -> None:
        self.spawn(self._fetched(name, then))

    async def _fetched(self, name: str, then: Callable[[bytes | None], None]) -> None:
        then(await asyncio.to_thread(picture_bytes, self.store.folder(self.session), name))
        self.redraw()

    @property
    def bindings(self) -> Bindings:
        return self.application.bindings

    @property
    def height(self) -> int:
        return self.application.display.surface.size[1]

    @property
    def draft(self) -> str:
        return self.prompt.text

    def set_draft(self, text: str) -> None:
        self.prompt.offer(text)

    async def submit(self, command: "Command") -> "CommandReply":
        return await self.sessions.submit(command)

    async def ask(self, component: Answerable, overlay: Overlay | None = None, *, above: bool = False) -> Any:
        answered: asyncio.Future[Any] = self.loop.create_future()

        def done(answer: Any) -> None:
            if not answered.done():
                answered.set_result(answer)

        component.done = done
        mounted = self.screen.mount(component, overlay, above=above)
        try:
            return await answered
        finally:
            self.screen.unmount(mounted)
            component.dispose()

    def report(self, text: str, level: Level = "info", hint: str = "") -> None:
        self.transcript.add_remark(Remark("", level, text, hint))
        self.beat.schedule()

    def spawn(self, work: Coroutine[Any, Any, object]) -> asyncio.Task[Any]:
        return self.application.spawn(work)

    def redraw(self, component: Component | None = None) -> None:
        self.application.display.request_render(component)

    def replay(self) -> None:
        self.application.display.reset()

    async def switch(self, session: str, *, draft: str = "") -> None:
        await self.sessions.go(session, draft=draft)

    def copy(self, text: str) -> None:
        if not self.application.copy(text):
            self.spawn(self._copy_with_program(text))

    async def _copy_with_program(self, text: str) -> None:
        from sightline.views.console._clipboard import copy_with_program

        problem = await copy_with_program(text)
        if problem:
            self.report(problem, "warning")

    def run_program(self, argv: list[str]) -> int:
        from sightline.exec import UntrustedProgram, start_words

        try:
            return self.application.run_program([*start_words(argv[0]), *argv[1:]])
        except UntrustedProgram as refused:
            raise PermissionError(errno.EACCES, refused.message) from None

    def set_theme(self, name: str) -> None:
        self.application.choose_look(dark={"dark": True, "light": False}.get(name))

    def set_bindings(self, bindings: Bindings) -> None:
        self.application.bindings.become(bindings)
        self.redraw()

    def exit(self, code: int) -> None:
        self.entering.restore_unsent()
        self.prompt.close()
        self.application.exit(code)

    async def run_command(self, name: str, args: str = "") -> None:
        await COMMANDS[name].run(self, args)

    def hint(self, text: str, seconds: float = HINTED) -> None:
        """Show a message in place of the key hints, for a moment; in linear mode as any other message. An empty one
        removes the last."""
        if self.application.linear:
            if text:
                self.report(text)
            return

        def usual() -> None:
            self.screen.usual_hints()
            self.redraw()

        if self._hinting is not None:
            self._hinting.cancel()
            self._hinting = None
        if not text:
            usual()
            return
        self.screen.hints.set_hints([(text, "")])
        self.redraw()
        self._hinting = self.loop.call_later(seconds, usual)

    def unfold(self, unfolded: bool) -> None:
        self.drawing.unfolded = unfolded
        key = next(iter(self.bindings.keys("view_output")), "/output")
        self._draw_anew("more of every block is shown" if unfolded else "blocks are folded", f": {key} shows it whole")

    def show_reasoning(self, shown: bool) -> None:
        self.drawing.reasoning = shown
        self._draw_anew("thinking is shown" if shown else "thinking is not shown")

    def _draw_anew(self, now: str, otherwise: str = "") -> None:
        """Draw all blocks again; history too, where the terminal allows it."""
        display = self.application.display
        if display.capabilities.multiplexer or self.application.linear:
            self.transcript.component.refresh_rest()
            self.hint(f"{now}; what has scrolled away stays as it is{otherwise}")
        else:
            display.invalidate()
            self.transcript.show_again()
            self.replay()
            self.beat.schedule()
            self.hint(now)
