"""The line that turns while something is worked on: what it is, for how long, and the key that stops it.

It is about the agent while it works; else about a command of the person's own. What Escape would stop is what it says:
a command that was entered here comes first. Once it was asked for, that it is being stopped is said until it is.
"""

from collections.abc import Callable
from math import ceil

from sightline.events import RetryState
from sightline.text import clean_line
from sightline.transcript import TranscriptCall
from sightline.tty import Component, Rows
from sightline.tty.components import Loader
from sightline.tty.components._loader import CallLater
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console._state import ConsoleState
from sightline.views.console.shapes._shape import seconds_words
from sightline.views.console.status._facts import Facts

AGENT = "agent"


class WorkingRow(Component):
    """No rows while nothing goes on."""

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
        """When the work that goes on began."""
        return self._since

    def update(self) -> None:
        """What goes on may have changed."""
        state, facts = self._state.fold, Facts(self._state.fold)
        said = state.state.get(RetryState.KEY)  # the same retry said again is another
        if said is not self._retry[0]:
            self._retry = (said, self._drawing.clock())
        typed = facts.typed
        about = (AGENT, state.running and state.began) if facts.going_on else typed and typed.id
        if about != self._about:
            self._about = about
            began = (state.running and state.began) if facts.going_on else typed and typed.began
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
        if facts.going_on:
            text = f"{self._at(facts)} · {elapsed}{self._way_out(facts, typed)}"
        elif typed is not None:
            stopping = self._state.stopping == typed.id
            text = f"{'stopping' if stopping else 'running'} {_typed(typed)} · {elapsed}"
            text += "" if stopping else self._way_out(facts, typed)
        else:
            text = f"working · {elapsed}"
        self._loader.set_quietly(text)
        return self._loader.render(width)

    def _elapsed(self, facts: Facts) -> float:
        """Of what the row names: an answer that is waited for, the call that runs, or all of the work."""
        now, call = self._drawing.clock(), facts.call if facts.going_on else None
        if facts.waits and self._state.fold.asked:
            return now - self._state.fold.asked
        if call is not None and call.began:
            return call.elapsed(now)
        return now - (self._since or now)

    def _at(self, facts: Facts) -> str:
        if self._state.stopping == AGENT:
            return "stopping…"
        if facts.retry is not None and facts.going_on == facts.asking_again(None):
            return facts.asking_again(self._left())
        return facts.going_on

    def _left(self) -> float | None:
        """Seconds until the server is asked again."""
        said, since = self._retry
        retry = RetryState.of(said)
        if retry is None or retry.seconds is None:
            return None
        return max(0, ceil(since + retry.seconds - self._drawing.clock()))

    def _way_out(self, facts: Facts, typed: TranscriptCall | None) -> str:
        key = next(iter(self._drawing.bindings.keys("interrupt")), "")
        if not key or self._state.stopping == AGENT:
            return ""
        if facts.waits:
            return f" · press {key} twice to stop the agent"
        first = next(reversed(self._state.running), "")
        if not facts.going_on:
            return f" · {key} stop" if typed is not None and typed.id == first else ""
        if not first:
            return f" · {key} stop"
        what = _typed(typed) if typed is not None and typed.id == first else "your command"
        return f" · stopping {what}" if self._state.stopping == first else f" · {key} stop {what}"

    def invalidate(self) -> None:
        self._loader.invalidate()

    def dispose(self) -> None:
        self._loader.dispose()


def _typed(call: TranscriptCall) -> str:
    """As it was entered."""
    return clean_line(f"{'$' if call.name == 'Python' else '!'}{call.arg}")
