"""Telling what a provider says again from what it says for the first time, after its stream broke.

A provider that loses its connection asks the model again. What it had already passed on is on the screen and cannot be
taken back, so a text that begins with what was shown adds only the rest; a text that does not is shown whole, after a
notice that some of it may be a repetition. Nothing is compared while the stream is healthy: a model may say the same
thing twice.
"""

from sightline.events import Notice

# More than a model ever says between two breaks; past it the oldest are forgotten, and would be shown again.
_REMEMBERED_AT_MOST = 64


class Resend:
    """The texts of the response under way. `settle` when it is known to have arrived whole, `broke` when it did not.

    While `expecting`, each text must be put to `rest` before it is shown.
    """

    expecting = False
    continues = 0  # the block of the text that the last `rest` was found to continue
    _expected: tuple[tuple[str, int], ...] = ()
    _earlier: tuple[str, ...] = ()

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
        if self.expecting:
            self._expected = ()
            self._earlier = ()
            self.expecting = False

    def broke(self, settled: int = -1) -> None:
        """The response will be sent again from its beginning.

        Blocks up to `settled` came before a call that was carried out, so they are probably of an earlier response. If
        not, this one began with them and will do so again, in the same words.
        """
        if not self.shown and not self.expecting:
            return
        earlier = (*self._earlier, *(text for text, block in self.shown if block <= settled))
        self._earlier = earlier[-_REMEMBERED_AT_MOST:]
        expected = (*(said for said in self.shown if said[1] > settled), *self._expected)
        self._expected = expected[:_REMEMBERED_AT_MOST]
        self.shown.clear()
        self.expecting = bool(self._expected or self._earlier)

    def rest(self, text: str) -> tuple[str, bool]:
        """What of this text is new, and whether a person should be told that it may repeat something."""
        self.continues = matched = 0
        for known, block in self._expected:
            if not text or not text.startswith(known):
                break
            text = text[len(known) :]
            self.continues = block
            matched += 1
        if matched:
            self._expected = self._expected[matched:]
            self.expecting = bool(self._expected or self._earlier)
            return text, False
        if text in self._earlier:
            return "", False
        repeats = bool(self._expected)
        self._expected = ()
        self._earlier = ()
        self.expecting = False
        return text, repeats


def may_repeat(source: str, agent: str = "") -> Notice:
    """What a person is told before a text that was sent again and differs from what was shown."""
    return Notice(
        "the stream broke and the answer was sent again; what follows may repeat what was shown",
        "warning",
        agent=agent,
        source=source,
    )
