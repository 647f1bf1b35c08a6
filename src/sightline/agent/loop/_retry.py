"""An answer that was cut off and is given again: what was shown of it is not shown twice.

While the new answer repeats the old one literally, nothing is published; what follows continues the block that was cut.
Where it differs, it is another answer, and all of it is published.
"""


class ShownAnswer:
    """What was shown of an answer, over all the attempts to get it."""

    def __init__(self) -> None:
        self.block = 0  # the number of the block that was cut; 0: words begin a block of their own
        self._shown = ""
        self._heard = ""
        self._comparing = False

    def begin(self) -> None:
        """A request begins, the first or a retry."""
        self._heard = ""
        self._comparing = bool(self._shown)

    def interrupted(self) -> None:
        """Something else was shown in between: a block is never reopened after that."""
        self.block = 0

    def new(self, text: str) -> str:
        """The part of this text that was not shown yet."""
        if not self._comparing:
            self._shown += text
            return text
        self._heard += text
        if self._shown.startswith(self._heard):
            return ""
        self._comparing = False
        if self._heard.startswith(self._shown):
            more = self._heard[len(self._shown) :]
            self._shown = self._heard
            return more
        self._shown, self.block = self._heard, 0
        return self._heard
