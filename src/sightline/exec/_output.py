"""The output of a command: written to the sink first, then published in pieces, at a pace a reader can follow.

Rules:

- A piece is what the sink has from `offset` on, `size` bytes of it, decoded and cleaned: it can be made again from what
  is stored. Pieces and the bytes dropped between them are exactly the bytes of the sink, in order.
- Output is binary when there is a NUL byte in the first 8 KB of a stream, or more than 30 % of what came of them is not
  UTF-8. A few bytes are not judged by the second rule: half of a short word in another encoding may be undecodable.
- A command without output is reported as running after 1, 10 and 30 seconds, then every minute.
"""

import os
import shlex
from collections.abc import Callable

from sightline.events import Event, Notice, ToolOutput, ToolUse
from sightline.exec._batches import Batches, OutputPiece
from sightline.exec._spec import CommandSpec, Sink
from sightline.text import clean_line, clean_output, clean_text, clean_value, cut_graphemes, first_line

_ARG_AT_MOST = 40
_COMMAND_AT_MOST = 64 * 1024  # characters
_SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh"))
_SILENCES = (1, 10, 30, 60)  # seconds
_BEGINNING = 8 * 1024
_FEW = 64
_TOO_MANY = 0.3


class OutputPublisher:
    """The output of one call."""

    def __init__(self, id: str, sink: Sink, emit: Callable[[Event], None], now: float) -> None:
        self.is_binary = False
        self._id = id
        self._sink = sink
        self._emit = emit
        self._detectors = {"stdout": _BinaryDetector(), "stderr": _BinaryDetector()}
        self._batches = Batches()
        self._silence = _Silence(now)
        self._has_reported_problem = False

    def take(self, stream: str, data: bytes, now: float) -> None:
        """Store it, and publish what is due because of it."""
        if not data:
            return
        offset = self._sink.size
        self._sink.write(stream, data)
        self._silence.broken(now)
        if self._sink.problem and not self._has_reported_problem:
            self._report_problem()
        if self.is_binary:
            return
        if self._detectors[stream].is_binary(data):
            self._end_of_text(stream, offset, _text_before(data), now)
            return
        for piece in self._batches.add(stream, offset, data, now):
            self._publish(piece)

    def due(self) -> float | None:
        """When pending output has to be published; None while there is none."""
        return self._batches.due()

    def publish_due(self, now: float) -> None:
        for piece in self._batches.take(now):
            self._publish(piece)

    def silent_until(self) -> float:
        """When its silence has to be reported, if it lasts."""
        return self._silence.due()

    def publish_silence(self, *, visible: bool) -> None:
        text = self._silence.next_text()
        if visible and not self.is_binary:
            self._publish_status(text, silent=True)

    def finish(self) -> None:
        """Publish what is pending, and account for what was never published."""
        for piece in self._batches.finish():
            self._publish(piece)
        total = self._sink.size
        if left := total - self._batches.accounted:
            self._emit(ToolOutput(self._id, "", offset=total, dropped=left))
        self._sink.close()

    def _end_of_text(self, stream: str, offset: int, text: bytes, now: float) -> None:
        """Publish what came before the first byte that is no text; the rest is not shown."""
        self.is_binary = True
        pieces = self._batches.add(stream, offset, text, now) if text else []
        for piece in [*pieces, *self._batches.finish()]:
            self._publish(piece)
        self._publish_status("binary output: stored, not shown")

    def _publish(self, piece: OutputPiece) -> None:
        content = clean_output(piece.data.decode("utf-8", "replace"))
        self._emit(
            ToolOutput(
                self._id,
                content,
                "stderr" if piece.stream == "stderr" else "stdout",
                piece.offset,
                piece.dropped,
                len(piece.data),
            )
        )

    def _publish_status(self, text: str, *, silent: bool = False) -> None:
        self._emit(ToolOutput(self._id, text, "status", self._batches.accounted, silent=silent))

    def _report_problem(self) -> None:
        self._has_reported_problem = True
        text = f"the output of {self._id} is no longer stored: {clean_line(self._sink.problem)}"
        self._emit(Notice(text, "warning", "free some disk space; further output is only counted"))


class _Silence:
    """When to report that a command is silent: counted from its start, and anew from each output."""

    def __init__(self, now: float) -> None:
        self._since = now
        self._reports = 0
        self._anything = False

    def broken(self, now: float) -> None:
        self._since = now
        self._reports = 0
        self._anything = True

    def due(self) -> float:
        return self._since + self._seconds()

    def next_text(self) -> str:
        """The report that is due."""
        seconds = self._seconds()
        self._reports += 1
        return f"no output for {seconds} s" if self._anything else f"running for {seconds} s, no output yet"

    def _seconds(self) -> int:
        if self._reports < len(_SILENCES):
            return _SILENCES[self._reports]
        return _SILENCES[-1] + 60 * (self._reports - len(_SILENCES) + 1)


class _BinaryDetector:
    """Judges the beginning of one stream, given in parts that end with a whole character."""

    def __init__(self) -> None:
        self._seen = self._undecodable = 0

    def is_binary(self, data: bytes) -> bool:
        if self._seen >= _BEGINNING:
            return False
        data = data[: _BEGINNING - self._seen]
        self._seen += len(data)
        if b"\0" in data:
            return True
        if not data.isascii():
            self._undecodable += len(data) - len(data.decode("utf-8", "ignore").encode())
        return self._seen >= _FEW and self._undecodable > self._seen * _TOO_MANY


def _text_before(data: bytes) -> bytes:
    """The whole lines before the first byte that is no text."""
    text = data.partition(b"\0")[0]
    try:
        text.decode()
    except UnicodeDecodeError as problem:
        text = text[: problem.start]
    return text[: text.rfind(b"\n") + 1]


def tool_use(id: str, spec: CommandSpec) -> ToolUse:
    """The call. When a shell is given a script, its first line is the preview. Of a very long command line only
    the beginning is published, as one text: an event must fit a record of the journal."""
    words = list(spec.argv)
    is_script = len(words) == 3 and os.path.basename(words[0]) in _SHELLS and words[1] in ("-c", "-lc")
    shown = first_line(clean_text(words[2] if is_script else shlex.join(words))).replace("\t", " ")
    command = shlex.join(words)
    args = {
        "command": clean_text(command[:_COMMAND_AT_MOST]),
        "argv": clean_value(words) if len(command) <= _COMMAND_AT_MOST else [],
        "cwd": clean_line(os.path.abspath(spec.cwd)),
        "pty": spec.pty,
    }
    return ToolUse(id, "Bash", native_name="exec", arg=cut_graphemes(shown, _ARG_AT_MOST), args=args)
