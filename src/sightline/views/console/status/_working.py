"""The row with a spinner: what runs, for how long, and the key that stops it.

It shows the agent while it works; else a command of the user, a question beside the conversation, or a review. It
names what Escape would stop: a command that was entered here comes first. From the key until the end it shows that it
is being stopped.
"""

from collections.abc import Callable
from math import ceil

from sightline.events import RetryState
from sightline.text import clean_line
from sightline.transcript import TranscriptCall
from sightline.tty import Component, Rows
from sightline.tty.components import Loader
from sightline.tty.frame._scheduler import CallLater
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console._state import ConsoleState
from sightline.views.console.shapes._shape import seconds_words
from sightline.views.console.status._facts import Facts

AGENT = "agent"


class WorkingRow(Component):
    """No rows while nothing runs."""

    def __init__(
        self,
        drawing: DrawingOptions,
        state: ConsoleState,
        *,
        call_later: CallLater,
        request_render: Callable[[Component], None],
    ) -> None:
        self._drawing = drawing
        self._state = state
        self._loader = Loader(call_later=call_later, request_render=lambda _: request_render(self), theme=drawing.theme)
        self._since: float | None = None
        self._about: object = None
        self._retry: tuple[object, float] = (None, 0.0)

    @property
    def since(self) -> float | None:
        """When the current work began."""
        return self._since

    def update(self) -> None:
        """Follow a change of the session's state."""
        state, facts = self._state.fold, Facts(self._state.fold)
        retry = state.state.get(RetryState.KEY)  # an equal one that came later is another retry
        if retry is not self._retry[0]:
            self._retry = (retry, self._drawing.clock())
        typed, aside, is_agent = facts.typed, facts.aside or facts.review, bool(facts.activity)
        about = (AGENT, state.running and state.began) if is_agent else typed.id if typed else aside and aside.path
        if about != self._about:
            self._about = about
            other = typed.began if typed else aside and aside.started
            began = (state.running and state.began) if is_agent else other
            self._since = (began or self._drawing.clock()) if about else None
            self._turn()

    def _turn(self) -> None:
        if self._since is None:
            self._loader.stop()
        elif not self._drawing.linear:
            self._loader.start()

    def render(self, width: int) -> Rows:
        if self._since is None:
            return ()
        facts = Facts(self._state.fold)
        elapsed = seconds_words(self._elapsed(facts))
        typed = facts.typed
        if facts.activity:
            text = f"{self._activity(facts)} · {elapsed}{self._stop_hint(facts, typed)}"
        elif typed is not None:
            stopping = self._state.stopping == typed.id
            text = f"{'stopping' if stopping else 'running'} {_typed(typed)} · {elapsed}"
            text += "" if stopping else self._stop_hint(facts, typed)
        elif facts.aside is not None:
            text = f"answering {clean_line(facts.aside.path)} · {elapsed}{self._stop_hint(facts, None)}"
        elif facts.review is not None:
            text = f"reviewing {clean_line(facts.review.task)} · {elapsed}{self._stop_hint(facts, None)}"
        else:
            text = f"working · {elapsed}"
        self._loader.set_quietly(text)
        return self._loader.render(width)

    def _elapsed(self, facts: Facts) -> float:
        """Seconds of what the row names: waiting for an answer, the running call, or all of the work."""
        now, call = self._drawing.clock(), facts.call if facts.activity else None
        if facts.waits and self._state.fold.waiting_since:
            return now - self._state.fold.waiting_since
        if call is not None and call.began:
            return call.elapsed(now)
        return now - (self._since or now)

    def _activity(self, facts: Facts) -> str:
        if self._state.stopping == AGENT:
            return "stopping…"
        if facts.retry is not None and facts.activity == facts.retry_text(None):
            return facts.retry_text(self._until_retry())
        return facts.activity

    def _until_retry(self) -> float | None:
        """Seconds until the next retry."""
        value, since = self._retry
        retry = RetryState.of(value)
        if retry is None or retry.seconds is None:
            return None
        return max(0, ceil(since + retry.seconds - self._drawing.clock()))

    def _stop_hint(self, facts: Facts, typed: TranscriptCall | None) -> str:
        key = next(iter(self._drawing.bindings.keys("interrupt")), "")
        if not key or self._state.stopping == AGENT:
            return ""
        if facts.waits:
            return f" · press {key} twice to stop the agent"
        first = next(reversed(self._state.running), "")
        if not facts.activity:
            is_next = typed.id == first if typed is not None else not first
            return f" · {key} stop" if is_next else ""
        if not first:
            return f" · {key} stop"
        what = _typed(typed) if typed is not None and typed.id == first else "your command"
        return f" · stopping {what}" if self._state.stopping == first else f" · {key} stop {what}"

    def invalidate(self) -> None:
        self._loader.invalidate()

    def dispose(self) -> None:
        self._loader.dispose()


def _typed(call: TranscriptCall) -> str:
    """The command as it was entered."""
    return clean_line(f"{'$' if call.name == 'Python' else '!'}{call.arg}")
