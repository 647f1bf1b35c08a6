"""What is said on stderr when a run of our own agent is over: why it ended early, how to go on, what it took."""

from collections.abc import Iterable

from sightline.events import Event, RunEnded, RunStarted, Usage
from sightline.views.plain._palette import PLAIN, Palette

_TIMEOUT, _CANCELLED = 124, 130


class Farewell:
    """Sees the events of a run, then has its last words. With `sums`, they say what the run took."""

    def __init__(self, *, timeout: float | None = None, sums: bool = False, palette: Palette = PLAIN) -> None:
        self._timeout = timeout
        self._sums = sums
        self._palette = palette
        self._session = ""
        self._tokens = 0
        self._cost: float | None = None

    def see(self, events: Iterable[Event]) -> None:
        for event in events:
            if isinstance(event, RunStarted) and not event.agent:
                self._session = event.session
            elif isinstance(event, RunEnded) and not event.agent:
                self._tokens += _tokens(event.usage)
                if event.cost is not None:
                    self._cost = (self._cost or 0.0) + event.cost

    def words(self, exit_code: int) -> str:
        said = ""
        if exit_code == _TIMEOUT:
            said = "error: timed out" + (f" after {self._timeout:g} s" if self._timeout is not None else "") + "\n"
        elif exit_code == _CANCELLED:
            said = "cancelled\n"
        if said and self._session:
            said += f"Resume with: sightline --resume {self._session}\n"
        return said + self._sum()

    def _sum(self) -> str:
        if not self._sums or not self._session:
            return ""
        parts = [f"session {self._session}"]
        if self._tokens:
            parts.append(f"{self._tokens} token{'s' * (self._tokens != 1)}")
        if self._cost is not None:
            parts.append(f"${self._cost:.4f}")
        return f"{self._palette.dim}{' · '.join(parts)}{self._palette.reset}\n"


def _tokens(usage: Usage | None) -> int:
    if usage is None:
        return 0
    return usage.total_tokens or (usage.input_tokens or 0) + (usage.output_tokens or 0)
