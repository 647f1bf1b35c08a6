"""Telling resent text from new text, after the stream of a provider broke.

A provider that loses its connection asks the model again. What it had already passed on is on the screen and cannot be
taken back, so a text that begins with what was shown adds only the rest; a text that does not is shown whole, after a
notice that some of it may be a repetition. Nothing is compared while the stream is healthy: a model may write the
same thing twice.
"""

from sightline.events import Notice

# More than a model ever writes between two breaks; past it the oldest are forgotten, and would be shown again.
_REMEMBERED_AT_MOST = 64


class Resend:
    """The texts of the response under way. `settle` when it is known to have arrived whole, `broke` when it did not.

    While `expecting`, each text must be put to `rest` before it is shown.
    """

    expecting = False
    continues = 0  # the block of the text that the last `rest` was found to continue
    _expected: tuple[tuple[str, int], ...] = ()
    _earlier: tuple[str, ...] = ()  # may come again before the expected ones, each once, in this order
    _repeated = 0  # texts at the beginning of `shown` that had been shown before the break

    def __init__(self) -> None:
        self.shown: list[tuple[str, int]] = []  # with the block each text was shown as

    def show(self, text: str, block: int = 0) -> None:
        """This text was passed on as part of the response under way."""
        shown = self.shown
        shown.append((text, block))
        if len(shown) > _REMEMBERED_AT_MOST:
            del shown[0]

    def settle(self) -> None:
        """What was shown is final and will not be sent again."""
        self.shown.clear()
        self._repeated = 0
        if self.expecting:
            self._forget()

    def broke(self, settled: int = -1, *, once_more: bool = True) -> None:
        """The response will be sent again from its beginning.

        Blocks up to `settled` came before a call that was carried out, so they are probably of an earlier response. If
        not, this one began with them and will do so again, in the same words. Unless this response broke `once_more`,
        those that came again already have done so for good.
        """
        shown = self.shown
        if not shown and not self.expecting:
            return
        earlier = [text for text, block in (shown if once_more else shown[self._repeated :]) if block <= settled]
        if once_more:
            earlier += self._earlier
        self._earlier = tuple(earlier[-_REMEMBERED_AT_MOST:])
        expected = (*(text for text in shown if text[1] > settled), *self._expected)
        self._expected = expected[:_REMEMBERED_AT_MOST]
        shown.clear()
        self._repeated = 0
        self.expecting = bool(self._expected or self._earlier)

    def rest(self, text: str) -> tuple[str, bool]:
        """What of this text is new, and whether a notice should announce that it may repeat something."""
        self.continues = matched = 0
        for known, block in self._expected:
            if not text or not text.startswith(known):
                break
            text = text[len(known) :]
            self.continues = block
            matched += 1
        if matched:
            self._expected, self._earlier = self._expected[matched:], ()
        elif text in self._earlier:
            self._earlier = self._earlier[self._earlier.index(text) + 1 :]
            text = ""
        else:
            repeats = bool(self._expected)
            self._forget()
            return text, repeats
        self._repeated += 1
        self.expecting = bool(self._expected or self._earlier)
        return text, False

    def _forget(self) -> None:
        self._expected = ()
        self._earlier = ()
        self.expecting = False


def may_repeat() -> Notice:
    """The notice before a text that was sent again and differs from what was shown."""
    text = "the stream broke and the answer was sent again; what follows may repeat what was shown"
    return Notice(text, "warning")
