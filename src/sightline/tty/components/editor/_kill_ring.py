"""Text that was killed and can be yanked: kills in a row join, and a yank can be exchanged for an older kill."""

from collections import deque

_KILLS = 60


class KillRing:
    """The last kills, newest last."""

    def __init__(self) -> None:
        self._kills: deque[str] = deque(maxlen=_KILLS)
        self._joining = False

    def kill(self, text: str, *, backwards: bool) -> None:
        """Keep a text that was removed; right after another kill it joins it, on the side it was removed from."""
        if not text:
            return
        if self._joining and self._kills:
            last = self._kills[-1]
            self._kills[-1] = text + last if backwards else last + text
        else:
            self._kills.append(text)
        self._joining = True

    def interrupt(self) -> None:
        """Something else was done: the next kill stands for itself."""
        self._joining = False

    def newest(self) -> str:
        return self._kills[-1] if self._kills else ""

    def older(self) -> str:
        """Turn the ring: the kill before becomes the newest."""
        self._kills.rotate(1)
        return self.newest()

    def texts(self) -> tuple[str, ...]:
        return tuple(self._kills)
