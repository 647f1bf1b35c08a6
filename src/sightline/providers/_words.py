"""The words of a run's root agent as one text: each block of them begins on a line of its own."""

from sightline.events import Text


class ProviderWords:
    def __init__(self) -> None:
        self._parts: list[str] = []
        self._block = 0

    def add(self, event: Text) -> None:
        if event.agent or not event.text:
            return
        if self._parts and event.block != self._block and not self._parts[-1].endswith("\n"):
            self._parts.append("\n")
        self._parts.append(event.text)
        self._block = event.block

    @property
    def text(self) -> str:
        return "".join(self._parts)
