"""What the console's own keys do. The same key may mean several things; which, depends on what is going on.

Escape, the first of these that fits: leave a mode of the editor; stop the shell line or cell entered last; stop the
agent, and have back what was queued; twice on an empty editor, open the tree (or what settings say).

In what somebody asks it is a no. Again right after it, whether the next question is there by then or not, it stops who
asks.
"""

from typing import TYPE_CHECKING, Any

from sightline.host import Abort, CancelCall, Unqueue
from sightline.tty import Input, Key
from sightline.views.console._actions import COMMAND_OF
from sightline.views.console.status import AGENT, Facts

if TYPE_CHECKING:
    from sightline.views.console._console import Console
    from sightline.views.console._desk import Ask

TWICE = 0.5
"""Seconds within which a second press belongs to the first."""
STOPS_WITHIN = 1.5
"""Seconds after a no in which a second one means all of it. The next question is half a second away at least."""


class Keys:
    """Hears keys before the editor does, while nothing is asked."""

    def __init__(self, console: "Console") -> None:
        self._console = console
        self._escaped = self._interrupted = float("-inf")
        self._stopping = False
        self._refused: tuple[Ask | None, float] = (None, float("-inf"))
        console.working.entered = lambda: console.entering.running
        console.screen.is_working = lambda: console.state.running
        console.screen.takes_steering = lambda: Facts(console.state).takes_steering

    def hear(self, event: Input) -> Input | None:
        """None: it is done."""
        console = self._console
        if console.sessions.drops_keys:
            return None
        if not isinstance(event, Key) or event.kind != "release":
            console.screen.heard()
        if console.screen.is_answered:
            return self._hear_beside(event)
        for action, command in COMMAND_OF.items():
            if action in console.bindings.actions() and console.bindings.matches(event, action):
                if action == "paste_image":
                    return event  # the editor's own
                if _ACTIONS[action](self) if action in _ACTIONS else self._command(command):
                    return None
        if isinstance(event, Key) and event.kind != "release" and event.name != "escape":
            if console.bindings.matches(event, "interrupt"):
                self._interrupt()
                return None
            if console.bindings.matches(event, "exit") and console.prompt.empty:
                console.sessions.leave()
                return None
        return event

    def _hear_beside(self, event: Input) -> Input | None:
        """While something is asked the keys are its own, but for the ways out."""
        console = self._console
        if not isinstance(event, Key) or event.kind == "release":
            return event
        if event.name == "escape":
            return None if self._refuse_all() else event
        if console.requests.dialog is not None and console.bindings.matches(event, "approval"):
            self._approval()
            return None
        if console.bindings.matches(event, "interrupt"):
            now = console.loop.time()
            twice, self._interrupted = now - self._interrupted <= TWICE, now
            if twice:
                console.sessions.leave()
                return None
        return event

    def _refuse_all(self) -> bool:
        """Escape in what somebody asks; whether it was the second."""
        console, now = self._console, self._console.loop.time()
        (refused, at), asked = self._refused, console.requests.dialog
        again = refused is not None and (asked is not refused or getattr(refused, "is_over", False))
        self._refused = (asked, now)
        if again and asked is not None and now - at <= STOPS_WITHIN:
            console.spawn(self._stop_agent())
            return True
        return False

    # ---- escape and ctrl+c

    def escape(self) -> bool:
        """The editor had no use for it. Whether it meant something; if not, the editor leaves its mode."""
        console = self._console
        now = console.loop.time()
        if self.busy:
            self._escaped = float("-inf")
            console.spawn(self.stop())
        elif not console.prompt.empty:
            self._escaped = float("-inf")
            return False
        elif now - self._escaped <= TWICE:
            self._escaped = float("-inf")
            console.spawn(self._double_escape())
        else:
            self._escaped = now
        return True

    @property
    def busy(self) -> bool:
        """Whether there is something Escape would stop."""
        console = self._console
        return bool(console.entering.running or Facts(console.state).going_on)

    async def stop(self) -> bool:
        """Stop what was begun last, and only that. False when nothing is going on."""
        console = self._console
        if console.entering.running:
            call = console.working.stopping = console.entering.running[-1]
            console.redraw()
            if not (await console.submit(CancelCall(call))).ok:
                console.working.stopping = ""
            return True
        if not self.busy:
            return False
        await self._stop_agent()
        return True

    async def _stop_agent(self) -> None:
        console = self._console
        if not self._stopping:
            self._stopping, console.working.stopping = True, AGENT
            console.redraw()
            try:
                reply = await console.submit(Abort())
                if reply.ok:
                    self.take_back(reply.data)
                else:
                    console.working.stopping = ""
                    console.tell(reply.error, "error", reply.hint)
            finally:
                self._stopping = False

    async def unqueue(self) -> bool:
        reply = await self._console.submit(Unqueue())
        if not reply.ok:
            self._console.tell(reply.error, "error", reply.hint)
            return True
        return self.take_back(reply.data)

    def take_back(self, data: Any) -> bool:
        """What waited to be sent is in the editor again, before what is written there."""
        queued = data.get("queued") if isinstance(data, dict) else None
        texts = [str(text) for text in queued] if isinstance(queued, list) else []
        if texts:
            self._console.prompt.give_back(*texts)
        return bool(texts)

    async def _double_escape(self) -> None:
        wanted = self._console.settings.console.double_escape
        if wanted != "none":
            await self._console.run_command(wanted)

    def _interrupt(self) -> None:
        console = self._console
        now = console.loop.time()
        if now - self._interrupted <= TWICE:
            self._interrupted = float("-inf")
            console.sessions.leave()
            return
        self._interrupted = now
        if not console.prompt.empty and not console.drawing.linear:
            console.prompt.clear()
        else:
            more = ", /stop stops the agent" if console.drawing.linear else ""
            console.hint(f"ctrl+c again to leave{more}", TWICE)

    # ---- actions

    def _follow_up(self) -> bool:
        submission = self._console.prompt.take()
        if submission is not None:
            self._console.entering.enter(submission, "follow_up" if self._console.state.running else "")
        return True

    def _unqueue(self) -> bool:
        if not Facts(self._console.state).queue:
            return False
        self._console.spawn(self.unqueue())
        return True

    def _thinking(self) -> bool:
        self._console.spawn(self._console.cycle_thinking())
        return True

    def _approval(self) -> bool:
        if self._console.prompt.completing:
            return False
        self._console.spawn(self._next_level())
        return True

    async def _next_level(self) -> None:
        from sightline.views.console.selectors._approvals import next_level, set_level

        level = next_level(Facts(self._console.state).approval)
        if words := await set_level(self._console, level):
            self._console.hint(words)

    def _copy(self) -> bool:
        self._console.spawn(self._console.run_command("copy"))
        return True

    def _view_output(self) -> bool:
        self._console.spawn(self._console.view_output())
        return True

    def _unfold(self) -> bool:
        self._console.unfold(not self._console.drawing.unfolded)
        return True

    def _reasoning(self) -> bool:
        self._console.show_reasoning(not self._console.drawing.reasoning)
        return True

    def _todo(self) -> bool:
        self._console.show_todo(not self._console.todo.shown)
        return True

    def _command(self, name: str) -> bool:
        self._console.spawn(self._console.run_command(name))
        return True


_ACTIONS: dict[str, Any] = {
    "follow_up": Keys._follow_up,
    "unqueue": Keys._unqueue,
    "view_output": Keys._view_output,
    "unfold": Keys._unfold,
    "reasoning": Keys._reasoning,
    "copy_block": Keys._copy,
    "thinking": Keys._thinking,
    "approval": Keys._approval,
    "todo": Keys._todo,
}
