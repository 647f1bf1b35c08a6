"""An answer that arrives in pieces: its words, and the calls written among them."""

import re
from collections.abc import Collection

from sightline.models._textual._candidate import MARKS, CallCandidate
from sightline.models._textual._json import WrittenCall

_HALF_MARKS = tuple(sorted({mark[:size] for mark in MARKS for size in range(1, len(mark))}, key=len, reverse=True))
_ANY_MARK = "|".join(map(re.escape, MARKS))

_opening = re.compile(_ANY_MARK + r"|(?<=\n)[ \t]{0,8}(?:```|\{|\[(?=\s{0,32}\{))")
_opening_in_fence = re.compile(_ANY_MARK + "|(?<=\n)[ \t]{0,8}```")
_line_opening = re.compile(r"(?<=\n)[ \t]{0,8}(?:`{0,2}|\[\s{0,32})\Z")
_special = re.compile(r"[\n<\[]").search


class WrittenCalls:
    """One answer that arrives in pieces. `names` are those of the tools that were offered."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = names
        self._held = ""  # may be the beginning of an opening
        self._before = "\n"  # the last character passed on
        self._candidate: CallCandidate | None = None
        self._calls: list[WrittenCall] = []
        self._after_call = False
        self._in_fence = False  # of something else, where a line of JSON is an example
        self._given_up = not names

    def feed(self, text: str) -> str:
        """What is certain to be words."""
        if self._given_up:
            return text
        words: list[str] = []
        while text:
            text = self._words(text, words) if self._candidate is None else self._in_candidate(text, words)
        return "".join(words)

    def end(self) -> tuple[str, list[WrittenCall]]:
        """The answer is over: the last words, and the calls."""
        words: list[str] = []
        candidate, self._candidate = self._candidate, None
        if candidate is not None:
            calls = candidate.end()
            self._calls += calls
            words += [] if calls else [candidate.text()]
        words.append(self._held)
        self._held, self._given_up = "", True
        calls, self._calls = self._calls, []
        return "".join(words), calls

    def give_up(self) -> str:
        """The answer has calls of its own, so there are none among its words: what was held back is words too."""
        words, calls = self.end()
        return "".join([call.text for call in calls]) + words

    def _words(self, text: str, words: list[str]) -> str:
        """Pass words on up to where a call could begin; the text after that is returned."""
        if self._after_call:
            text = text.lstrip()
            if not text:
                return ""
            self._after_call, self._before = False, "\n"
        if self._before != "\n" and not self._held and _is_plain(text):
            words.append(text)
            self._before = text[-1]
            return ""
        text = self._before + self._held + text
        self._held = ""
        found = (_opening_in_fence if self._in_fence else _opening).search(text, 1)
        end = _undecided_from(text) if found is None else found.start()
        if end > 1:
            words.append(text[1:end])
            self._before = text[end - 1]
        if found is None:
            self._held = text[end:]
            return ""
        if self._in_fence and found.group().endswith("```"):
            words.append(found.group())
            self._in_fence, self._before = False, "`"
        else:
            self._candidate = CallCandidate(found.group(), self._names)
        return text[found.end() :]

    def _in_candidate(self, text: str, words: list[str]) -> str:
        candidate = self._candidate
        assert candidate is not None
        rest = candidate.feed(text)
        if not candidate.decided:
            return ""
        self._candidate = None
        if candidate.calls:
            self._calls += candidate.calls
            self._after_call = True
            return rest
        released, again = candidate.released()
        words.append(released)
        self._before = released[-1]
        self._in_fence = self._in_fence or released.endswith("```")
        return again + rest


def split_calls(text: str, names: Collection[str]) -> tuple[str, list[WrittenCall]]:
    """The words of a whole answer, and the calls written among them."""
    reader = WrittenCalls(names)
    words = reader.feed(text)
    rest, calls = reader.end()
    return words + rest, calls


def _is_plain(text: str) -> bool:
    """Whether no call begins in it, for sure: most words are quickly passed on by this."""
    return _special(text) is None and "functools[" not in text and not text.endswith(_HALF_MARKS)


def _undecided_from(text: str) -> int:
    """Where the end of a text begins that could be the beginning of an opening; its length when nothing could."""
    line = _line_opening.search(text, 1)
    if line is not None:
        return line.start()
    if text.endswith(_HALF_MARKS, 1):
        return len(text) - next(len(half) for half in _HALF_MARKS if text.endswith(half, 1))
    return len(text)
