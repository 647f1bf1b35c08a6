"""Queries to the terminal, and its answers.

- Every query is followed at once by a request for device attributes (DA1), which every terminal answers and answers in
  order: when that answer comes first, the query has none. A queue of kinds, one for each DA1 sent, maps such an answer
  to its query, so the one that closes the keyboard query is never taken for the one that closes another.
- Nothing blocks: what is not answered within `DEADLINE_MS` counts as unsupported until it is answered after all. A late
  answer still counts, and is never input.
- A query is sent only where it cannot show: tmux takes an APC string for the title of its pane, and a terminal that
  does not know the shape of a sequence prints it (`Profile.questions`). What was not sent is not settled.
"""

import re
from collections import deque

import msgspec

from sightline.tty.input._sequences import TerminalReply
from sightline.tty.terminal._capabilities import Capabilities, ProbeAnswers
from sightline.tty.terminal._profiles import profile_named
from sightline.tty.theme._colour import RGB

DEADLINE_MS = 100

_SENTINEL = "\x1b[c"
_QUERIES = {
    "keyboard": "\x1b[?u",
    "background": "\x1b]11;?\x1b\\",
    "synchronized_output": "\x1b[?2026$p",
    "resize": "\x1b[?2048$p",
    "appearance": "\x1b[?2031$p",
    "notifications": "\x1b]99;i=sightline:p=?;\x1b\\",
    "graphics": "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\",
    "cell_size": "\x1b[16t",
}
_MODE_KINDS = {2026: "synchronized_output", 2048: "resize", 2031: "appearance"}
_HIDDEN_BY_MULTIPLEXERS = {"notifications", "graphics"}

_colour = re.compile(r"11;(?:rgba?:)?#?([0-9a-fA-F/]+)").fullmatch
_mode = re.compile(r"\?(\d{1,5});(\d)\$y").fullmatch
_attributes = re.compile(r"\?([\d;]*)c").fullmatch
_keyboard = re.compile(r"\?(\d{1,3})u").fullmatch
_appearance = re.compile(r"\?997;([12])n").fullmatch
_cell = re.compile(r"6;(\d{1,4});(\d{1,4})t").fullmatch
_resized = re.compile(r"48;(\d{1,5});(\d{1,5})(?:;(\d{1,6});(\d{1,6}))?t").fullmatch
_notifications = re.compile(r"99;(?:[^;]*:)?i=sightline(?::[^;]*)?;.*").fullmatch
_graphics = re.compile(r"Gi=31[^;]*;OK").fullmatch


class Probes:
    """The open queries and what is known. Pure: the caller sends what `start` and `ask` return."""

    def __init__(self) -> None:
        self.answers = ProbeAnswers()
        self.size: tuple[int, int] | None = None  # columns and rows, when the terminal reports its size (mode 2048)
        self._sentinels: deque[str] = deque()
        self._late: deque[str] = deque()  # past their deadline: they come before any that was sent later

    @property
    def outstanding(self) -> int:
        """How many questions were closed neither by their sentinel nor by the deadline."""
        return len(self._sentinels)

    def start(self, capabilities: Capabilities) -> str:
        return "".join(self.ask(kind) for kind in _QUERIES if _may_ask(kind, capabilities))

    def ask(self, kind: str) -> str:
        self._sentinels.append(kind)
        return _QUERIES[kind] + _SENTINEL

    def expire(self) -> None:
        self._settle(*self._sentinels)
        self._late += self._sentinels
        self._sentinels.clear()

    def take(self, reply: TerminalReply) -> bool:
        """Learn from a reply. Whether anything is new."""
        before = self.answers, self.size
        if reply.kind == "csi":
            self._take_csi(reply.body)
        elif reply.kind == "osc":
            self._take_osc(reply.body)
        elif reply.kind == "apc" and _graphics(reply.body):
            self._learn("graphics", graphics=True)
        return (self.answers, self.size) != before

    def _take_csi(self, body: str) -> None:
        if match := _attributes(body):
            attributes = tuple(int(number) for number in match[1].split(";") if number and len(number) < 6)
            closed = self._late or self._sentinels
            self._learn(closed.popleft() if closed else "", attributes=attributes)
        elif match := _keyboard(body):
            self._learn("keyboard", keyboard=int(match[1]))
        elif match := _mode(body):
            mode = int(match[1])
            self._learn(_MODE_KINDS.get(mode, ""), modes={**self.answers.modes, mode: int(match[2])})
        elif match := _appearance(body):
            self._learn("", dark=match[1] == "1")
        elif match := _cell(body):
            self._learn_cell(int(match[2]), int(match[1]))
        elif match := _resized(body):
            rows, columns, height, width = (int(number or 0) for number in match.groups())
            if rows and columns:
                self.size = columns, rows
                self._learn_cell(width // columns, height // rows)

    def _take_osc(self, body: str) -> None:
        if match := _colour(body):
            colour = _rgb(match[1])
            if colour is not None:
                self._learn("background", background=colour)
        elif _notifications(body):
            self._learn("notifications", notifications=True)

    def _learn_cell(self, width: int, height: int) -> None:
        if width and height:
            self._learn("cell_size", cell_size=(width, height))

    def _learn(self, kind: str, **known: object) -> None:
        self.answers = msgspec.structs.replace(self.answers, **known)
        self._settle(kind)

    def _settle(self, *kinds: str) -> None:
        settled = self.answers.settled | {kind for kind in kinds if kind}
        self.answers = msgspec.structs.replace(self.answers, settled=settled)


def _may_ask(kind: str, capabilities: Capabilities) -> bool:
    if capabilities.multiplexer:
        return kind not in _HIDDEN_BY_MULTIPLEXERS
    allowed = profile_named(capabilities.terminal).questions
    return allowed is None or kind in allowed


def _rgb(text: str) -> RGB | None:
    """`1e1e/1e1e/2e2e` (one to four digits a part, alpha ignored) or `1e1e2e`."""
    parts = text.split("/") if "/" in text else [text[:2], text[2:4], text[4:]]
    parts = parts[:3]
    if len(parts) != 3 or not all(1 <= len(part) <= 4 for part in parts):
        return None
    red, green, blue = (round(int(part, 16) * 255 / (16 ** len(part) - 1)) for part in parts)
    return red, green, blue
