"""The console's own keys. What a key does depends on what is running.

Escape does the first of these that fits: leave a mode of the editor; stop the shell line or cell entered last; stop the
agent, and return queued messages to the editor; twice on an empty editor, open the tree (or what settings name).

In the dialog of a request escape is a no. A second one right after it, whether the next request is shown by then or
not, stops the agent.
"""

from collections.abc import Callable, Coroutine
from typing import Any

from sightline.tty import Input, Key
from sightline.views.console._actions import OWN, Action
from sightline.views.console._desk import Answerable, Desk
from sightline.views.console._screen import ConsoleScreen
from sightline.views.console.input import PromptEditor
from sightline.views.console.session._requests import RequestDialogs
from sightline.views.console.session._sessions import SessionSwitch
from sightline.views.console.session._stopping import Stopping
from sightline.views.console.status import Facts

TWICE = 0.5
"""Seconds within which a second press belongs to the first."""
LEAVES_WITHIN = 2.0
"""Seconds for which `ctrl+c again to leave` is shown and valid."""
STOPS_WITHIN = 1.5
"""Seconds after a no in which a second one stops the agent. The next dialog is at least half a second away."""


class Keys:
    """Handles keys before the editor does, while no dialog is open."""

    def __init__(
        self,
        desk: Desk,
        screen: ConsoleScreen,
        prompt: PromptEditor,
        stopping: Stopping,
        sessions: SessionSwitch,
        requests: RequestDialogs,
        *,
        press: Callable[[Action], None],
        run_command: Callable[[str], Coroutine[Any, Any, object]],
        clock: Callable[[], float],
    ) -> None:
        self._desk = desk
        self._screen = screen
        self._prompt = prompt
        self._stopping = stopping
        self._sessions = sessions
        self._requests = requests
        self._press = press
        self._run_command = run_command
        self._clock = clock
        self._escaped = self._interrupted = self._leaves_until = float("-inf")
        self._refused: tuple[Answerable | None, float] = (None, float("-inf"))

    def hear(self, event: Input) -> Input | None:
        """Handle an event; None: it was used up."""
        if self._sessions.drops_keys:
            return None
        if not isinstance(event, Key) or event.kind != "release":
            self._screen.heard()
        if self._screen.is_answered:
            return self._hear_beside(event)
        for action in OWN.values():
            if self._desk.bindings.matches(event, action.name) and not self._is_for_the_editor(action):
                self._press(action)
                return None
        if isinstance(event, Key) and event.kind != "release" and event.name != "escape":
            if self._desk.bindings.matches(event, "interrupt"):
                if self._screen.shows_question:  # it was drawn this moment, and can be left at once
                    return self._hear_beside(event)
                self._interrupt()
                return None
            if self._desk.bindings.matches(event, "exit"):
                if self._prompt.empty:
                    self._sessions.leave()
                    return None
                if not self._prompt.deletes:
                    self._desk.hint("ctrl+d leaves when nothing is written; ctrl+c clears")
        return event

    def _is_for_the_editor(self, action: Action) -> bool:
        """Whether a key of the console is left to the editor: it needs the key, or the action has nothing to do."""
        if action.name == "approval":
            return self._prompt.completing
        return action.name == "paste_image" or (action.name == "unqueue" and not Facts(self._desk.state).queue)

    def _hear_beside(self, event: Input) -> Input | None:
        """While a dialog is open the keys are its own, except those that leave."""
        if not isinstance(event, Key) or event.kind == "release":
            return event
        if event.name == "escape":
            return None if self._refuse_all() else event
        if self._requests.dialog is not None and self._desk.bindings.matches(event, "approval"):
            self._press(OWN["approval"])
            return None
        is_request = self._requests.dialog is not None and self._screen.asking is self._requests.dialog
        if is_request and self._desk.bindings.matches(event, "agents"):  # to see what one is asked about
            self._press(OWN["agents"])
            return None
        if self._desk.bindings.matches(event, "interrupt"):
            now = self._clock()
            twice, self._interrupted = now - self._interrupted <= TWICE, now
            if twice:
                self._sessions.leave()
                return None
        return event

    def _refuse_all(self) -> bool:
        """Escape in the dialog of a request. Whether it was the second, and the agent is stopped."""
        now = self._clock()
        (refused, at), dialog = self._refused, self._requests.dialog
        again = refused is not None and (dialog is not refused or refused.finished)
        self._refused = (dialog, now)
        if again and dialog is not None and now - at <= STOPS_WITHIN:
            self._desk.spawn(self._stopping.stop_agent())
            return True
        return False

    def escape(self) -> bool:
        """The editor has no use for escape. Whether it did something; if not, the editor leaves its mode."""
        now = self._clock()
        if self._stopping.can_stop:
            self._escaped = float("-inf")
            self._desk.spawn(self._stopping.stop())
        elif not self._prompt.empty:
            self._escaped = float("-inf")
            return False
        elif now - self._escaped <= TWICE:
            self._escaped = float("-inf")
            self._desk.spawn(self._double_escape())
        else:
            self._escaped = now
        return True

    async def _double_escape(self) -> None:
        command = self._desk.settings.console.double_escape
        if command != "none":
            await self._run_command(command)

    def _interrupt(self) -> None:
        now, linear = self._clock(), self._desk.drawing.linear
        if now <= self._leaves_until and (self._prompt.empty or linear):
            self._leaves_until = float("-inf")
            self._sessions.leave()
        elif not self._prompt.empty and not linear:
            self._leaves_until = now + TWICE  # no hint is shown: only a second press at once counts
            self._prompt.clear()
            self._desk.hint("")  # what was flashed, such as how to leave, was about that text
        else:
            self._leaves_until = now + LEAVES_WITHIN
            self._desk.hint("ctrl+c again to leave" + (", /stop stops the agent" if linear else ""), LEAVES_WITHIN)
