"""What is written to stderr when a run is over: why it ended early, how to resume it, what it took."""

from collections.abc import Callable, Iterable

from sightline.events import Event, RunEnded, RunStarted, Usage
from sightline.views.plain._palette import PLAIN, Palette

_TIMEOUT, _CANCELLED = 124, 130


class Farewell:
    """Sees the events of a run, then has its last words. With `sums`, they say what the run took.

    `recorded`: of another provider's run, our id of the session it is recorded in. Its own reports a timeout itself."""

    def __init__(
        self,
        *,
        timeout: float | None = None,
        sums: bool = False,
        palette: Palette = PLAIN,
        recorded: Callable[[], str] | None = None,
    ) -> None:
        self._timeout = timeout
        self._recorded = recorded
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
        said, session = "", self._recorded() if self._recorded is not None else self._session
        if exit_code == _TIMEOUT and self._recorded is None:
            said = "error: timed out" + (f" after {self._timeout:g} s" if self._timeout is not None else "") + "\n"
        elif exit_code == _CANCELLED:
            said = "cancelled\n"
        if session and exit_code in (_TIMEOUT, _CANCELLED):
            said += f"Resume with: sightline --resume {session}\n"
        return said + self._sum(session)

    def _sum(self, session: str) -> str:
        if not self._sums or not session:
            return ""
        parts = [f"session {session}"]
        if self._recorded is not None and self._session:
            parts.append(f"the agent's own id {self._session}")
        if self._tokens:
            parts.append(f"{self._tokens} token{'s' * (self._tokens != 1)}")
        if self._cost is not None:
            parts.append(f"${self._cost:.4f}")
        return f"{self._palette.dim}{' · '.join(parts)}{self._palette.reset}\n"


def _tokens(usage: Usage | None) -> int:
    if usage is None:
        return 0
    return usage.total_tokens or (usage.input_tokens or 0) + (usage.output_tokens or 0)
