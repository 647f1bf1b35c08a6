"""Telling a resent response from a new one, after its stream broke.

Words arrive in pieces here, cut differently each time, so what was shown is compared as one text: as long as the new
pieces agree with it they are passed over, the first that goes beyond adds only the rest, and one that differs brings
back all that was passed over. Nothing is compared while the stream is healthy: a model may write the same thing twice.
"""

# Past this a response is not compared: sent again, it is shown again.
_REMEMBERED_AT_MOST = 256 * 1024
_CALLS_AT_MOST = 256


class RepeatedResponse:
    """What was shown of the response under way, and how far its repetition agrees with that."""

    def __init__(self) -> None:
        self.settle()

    def settle(self) -> None:
        """The response arrived whole: nothing of it will come again."""
        self._shown: list[str] = []
        self._size = 0
        self._calls: list[tuple[str, object]] = []
        self._expected = ""
        self._agreed = 0  # characters of the expected words that came again
        self.expects_words = False
        self._expected_calls: list[tuple[str, object]] = []

    def broke(self) -> None:
        """The stream of the response broke; the next response may be its repetition."""
        if not self.expects_words:
            self._expected = "".join(self._shown) if self._size <= _REMEMBERED_AT_MOST else ""
        self._agreed = 0
        self.expects_words = bool(self._expected)
        self._expected_calls = list(self._calls)

    def showed(self, words: str) -> None:
        if self._size <= _REMEMBERED_AT_MOST:
            self._size += len(words)
            self._shown.append(words)

    def rest(self, words: str) -> tuple[str, bool]:
        """What of these words is to be shown, and whether they contradict what was shown."""
        expected = self._expected[self._agreed :]
        if expected.startswith(words):
            self._agreed += len(words)
            self.expects_words = self._agreed < len(self._expected)
            return "", False
        self.expects_words = False
        if words.startswith(expected):
            return words[len(expected) :], False
        self._shown, self._size = [], 0
        return self._expected[: self._agreed] + words, True

    @property
    def expects_calls(self) -> bool:
        return bool(self._expected_calls)

    def is_known(self, name: str, args: object) -> bool:
        """Whether this call was shown before the break; if not, it is remembered as shown."""
        call = (name, args)
        if self._expected_calls:
            if self._expected_calls[0] == call:
                del self._expected_calls[0]
                return True
            self._expected_calls, self._calls = [], []
        if len(self._calls) < _CALLS_AT_MOST:
            self._calls.append(call)
        return False
