"""Saying that a command is still running when it says nothing: after 1, 10 and 30 seconds, then every minute."""

_FIRST = (1, 10, 30, 60)
_AGAIN = 60


class Silence:
    """Counts from the start, and anew from each output."""

    def __init__(self, now: float) -> None:
        self._since = now
        self._said = 0
        self._anything = False

    def broken(self, now: float) -> None:
        self._since = now
        self._said = 0
        self._anything = True

    def due(self) -> float:
        return self._since + self._seconds()

    def say(self) -> str:
        """What there is to say when it is due."""
        seconds = self._seconds()
        self._said += 1
        return f"no output for {seconds} s" if self._anything else f"running for {seconds} s, no output yet"

    def _seconds(self) -> int:
        if self._said < len(_FIRST):
            return _FIRST[self._said]
        return _FIRST[-1] + _AGAIN * (self._said - len(_FIRST) + 1)
