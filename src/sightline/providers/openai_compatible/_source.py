"""Any server with the chat completions API: `POST {base_url}/chat/completions`.

There is no CLI behind this provider: a run is one HTTP request (`_run`). What it reads, and what `view` reads from
a recording, is a response in one of two forms, recognised line by line:

- a JSON body, on one line or printed over many; several bodies may follow each other. All of its events come in one
  burst, for nothing can be shown before the body is whole;
- an SSE stream: `data: {...}` lines, the last of them `data: [DONE]`; comments and other fields are passed over. The
  blank lines between events carry no meaning here, since no server spreads a chunk over several of them unless it is
  printed over many lines, which is put together like a body.

An error arrives in either form as `{"error": ...}`. The fields are in
`sightline.chat_completions`, the events in `_turns`.
"""

import re

import msgspec

from sightline.chat_completions import ChatBody
from sightline.events import Event
from sightline.providers._source import LINE_CAP, ProviderSource
from sightline.providers.openai_compatible._turns import ChatTurns
from sightline.providers.openai_compatible._wire import decode_bodies, decode_body, decode_strictly, is_chat

_BOM = b"\xef\xbb\xbf"
_OTHER_FIELDS = (b":", b"event:", b"id:", b"retry:")
# How often a body printed over many lines may be tried before only a doubled size is a reason to try again.
_TRIES_AT_MOST = 64
_BESIDE_ERROR = frozenset(("error", "user_id"))


class ChatSource(ProviderSource):
    provider = "openai_compatible"

    def __init__(self) -> None:
        super().__init__()
        self.turns = ChatTurns(self)
        self.is_done = False  # [DONE] was seen
        self._unfinished = _Lines()

    def parse_events(self, line: bytes) -> list[Event]:
        if line.startswith(b"data:"):
            payload = line[5:]
            if len(payload) < 32 and payload.strip() == b"[DONE]":
                self.is_done = True
                return self._give_up() + self.turns.done()
        elif line.startswith(_OTHER_FIELDS):
            return []
        elif line.startswith(_BOM):
            return self.parse_events(line[3:])
        else:
            payload = line
        if self._unfinished.parts or len(payload) > LINE_CAP:
            return self._continue(payload)
        try:
            body = decode_strictly(payload)
        except (ValueError, RecursionError):
            return self._reread(payload)
        return self._body(body, payload) if body.choices is None else self.turns.take(body, payload)

    def end_events(self) -> list[Event]:
        lines = self._unfinished
        body = lines.decoded() if lines.parts else None
        if body is None:
            return self._give_up() + self.turns.end()
        return self._body(body, lines.take()) + self.turns.end()

    def start_over(self) -> None:
        """The response under way broke before anything of it was shown, and will be requested again."""
        self._unfinished.clear()
        self.turns.start_over()

    def _body(self, body: ChatBody, payload: bytes) -> list[Event]:
        if not is_chat(body):
            return self.unreadable(payload.strip(), "not a chat completion")
        return self.turns.take(body, payload)

    def _reread(self, payload: bytes) -> list[Event]:
        """A line the strict decoder refused: it has half a character in it, holds several bodies, is the beginning of
        one that is printed over many lines, or is something else."""
        text = payload.strip()
        if not text.startswith(b"{"):
            return self.unreadable(text, "not a JSON object") if text else []
        if text.endswith(b"}"):
            try:
                bodies = decode_bodies(text)
            except msgspec.ValidationError:
                return self.unreadable(text, "not a chat completion")
            except (ValueError, RecursionError):
                pass
            else:
                return [event for body in bodies for event in self._body(body, text)]
        self._unfinished.add(payload)
        return []

    def _continue(self, payload: bytes) -> list[Event]:
        """The next line of a body that began on an earlier one, unless it is a whole body itself."""
        if payload.removeprefix(b" ").startswith(b"{") and payload.rstrip().endswith(b"}"):
            try:
                body = decode_body(payload)
            except (ValueError, RecursionError):
                body = ChatBody()
            if is_chat(body):
                return self._give_up() + self._body(body, payload)
        lines = self._unfinished
        lines.add(payload)
        if lines.size > LINE_CAP:
            return self._give_up()
        body_or_none = lines.decoded() if lines.may_be_whole(payload) else None
        if body_or_none is None:
            return []
        return self._body(body_or_none, lines.take())

    def _give_up(self) -> list[Event]:
        """What was collected is no body and never will be."""
        lines = self._unfinished
        if not lines.parts:
            return []
        return self.unreadable(lines.take().strip(), "incomplete JSON")


class _Lines:
    """A JSON text that is spread over several lines."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.parts: list[bytes] = []
        self.size = 0
        self._tries = 0
        self._tried_size = 0

    def take(self) -> bytes:
        text = b"\n".join(self.parts)
        self.clear()
        return text

    def add(self, line: bytes) -> None:
        self.parts.append(line)
        self.size += len(line) + 1

    def may_be_whole(self, last: bytes) -> bool:
        """Whether it is worth decoding now: its outermost brace seems closed, and it was not tried too often."""
        if not last.rstrip().endswith(b"}"):
            return False
        outermost = last.lstrip(b" ").startswith(b"}") and self._tries < _TRIES_AT_MOST
        return outermost or self.size >= 2 * self._tried_size

    def decoded(self) -> ChatBody | None:
        self._tries += 1
        self._tried_size = self.size
        try:
            body = decode_body(b"\n".join(self.parts))
        except (ValueError, RecursionError):
            return None
        return body if is_chat(body) else None


_ours = re.compile(rb'"object"\s*:\s*"chat\.completion|"choices"\s*:\s*\[')
# Possessive throughout: any line may be tried, and a hostile one must not take longer than it is long.
_begins = re.compile(
    rb'(?>(?:\xef\xbb\xbf)?)\s*+(?>(?:(?::|event:|id:|retry:)[^\n]*+\s*+)*)(?>(?:data:\s*+)?)(?=\{\s*+"(\w++)"\s*+:)'
)


def recognises(head: bytes) -> bool:
    """A stream or body that begins with an object which has choices, or is an error and nothing else."""
    begins = _begins.match(head)
    if begins is None or begins[1] == b"type":  # the agents' own streams begin with their type
        return False
    if begins[1] == b"error":
        return _is_error(head[begins.end() :])
    return _ours.search(head) is not None


def _is_error(text: bytes) -> bool:
    """Whether this begins with the error body of such a server. A log line of any program may hold an `error`."""
    import json  # reads a value with something after it

    try:
        value, _ = json.JSONDecoder().raw_decode(text.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return False
    error = value["error"]
    return value.keys() <= _BESIDE_ERROR and isinstance(error, dict) and isinstance(error.get("message"), str)
