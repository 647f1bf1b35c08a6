"""The line that turns while the agent works: what it is at, for how long, and the key that stops it."""

from collections.abc import Callable

from sightline.transcript import Snapshot
from sightline.tty import Component, Rows
from sightline.tty.components import Loader
from sightline.tty.components._loader import CallLater
from sightline.views.console._drawing import Drawing
from sightline.views.console.status._facts import Facts, duration


class Working(Component):
    """No rows while nothing goes on."""

    def __init__(
        self,
        drawing: Drawing,
        state: Callable[[], Snapshot],
        *,
        call_later: CallLater,
        request_render: Callable[[Component], None],
    ) -> None:
        self._drawing = drawing
        self._state = state
        self._loader = Loader(call_later=call_later, request_render=lambda _: request_render(self), theme=drawing.theme)
        self._since: float | None = None

    @property
    def since(self) -> float | None:
        """When the work that goes on began."""
        return self._since

    def update(self) -> None:
        """What goes on may have changed."""
        busy = bool(Facts(self._state()).going_on)
        if busy and self._since is None:
            state = self._state()
            self._since = state.began if state.running and state.began else self._drawing.clock()
            if not self._drawing.linear:
                self._loader.start()
        elif not busy and self._since is not None:
            self._since = None
            self._loader.stop()

    def render(self, width: int) -> Rows:
        if self._since is None:
            return ()
        facts = Facts(self._state())
        elapsed = duration(self._drawing.clock() - self._since)
        keys = self._drawing.bindings.keys("interrupt")
        stop = f" · {keys[0]} stops it" if keys and not facts.waits else ""
        self._loader.set_quietly(f"{facts.going_on or 'working'} · {elapsed}{stop}")
        return self._loader.render(width)

    def invalidate(self) -> None:
        self._loader.invalidate()

    def dispose(self) -> None:
        self._loader.dispose()
