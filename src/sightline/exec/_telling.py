"""What a command writes, kept and told: into the sink first, then as pieces, at a pace a person can follow.

A piece is what the sink has from `offset` on, `size` bytes of it, decoded and cleaned: it can be made again from what
is kept. Pieces and what was passed over between them are exactly the bytes of the sink, in order.
"""

import os
import shlex
from collections.abc import Callable

from sightline.events import Event, Notice, ToolOutput, ToolUse
from sightline.exec._batches import Batches, OutputPiece
from sightline.exec._binary import BinaryDetector, text_before
from sightline.exec._silence import Silence
from sightline.exec._spec import CommandSpec, Sink
from sightline.text import clean_line, clean_output, clean_text, clean_value, cut_graphemes, first_line

_ARG_AT_MOST = 40
_COMMAND_AT_MOST = 64 * 1024  # characters
_SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh"))


class OutputPublisher:
    """The output of one call."""

    def __init__(self, id: str, sink: Sink, emit: Callable[[Event], None], now: float) -> None:
        self.is_binary = False
        self._id = id
        self._sink = sink
        self._emit = emit
        self._judges = {"stdout": BinaryDetector(), "stderr": BinaryDetector()}
        self._batches = Batches()
        self._silence = Silence(now)
        self._told_problem = False

    def take(self, stream: str, data: bytes, now: float) -> None:
        """Keep it, and tell what is due because of it."""
        if not data:
            return
        offset = self._sink.size
        self._sink.write(stream, data)
        self._silence.broken(now)
        if self._sink.problem and not self._told_problem:
            self._tell_problem()
        if self.is_binary:
            return
        if self._judges[stream].is_binary(data):
            self._end_of_text(stream, offset, text_before(data), now)
            return
        for piece in self._batches.add(stream, offset, data, now):
            self._tell(piece)

    def due(self) -> float | None:
        """When something that waits has to be told; None while nothing waits."""
        return self._batches.due()

    def tell_due(self, now: float) -> None:
        for piece in self._batches.take(now):
            self._tell(piece)

    def silent_until(self) -> float:
        """When there will be something to say about its silence, if it lasts."""
        return self._silence.due()

    def tell_silence(self, *, aloud: bool) -> None:
        text = self._silence.say()
        if aloud and not self.is_binary:
            self._say(text, silent=True)

    def finish(self) -> None:
        """Tell what waits, and account for what was never told."""
        for piece in self._batches.finish():
            self._tell(piece)
        total = self._sink.size
        if left := total - self._batches.accounted:
            self._emit(ToolOutput(self._id, "", offset=total, dropped=left))
        self._sink.close()

    def _end_of_text(self, stream: str, offset: int, text: bytes, now: float) -> None:
        """What came before the first byte that is no text is told, however it was cut into pieces; the rest is not."""
        self.is_binary = True
        pieces = self._batches.add(stream, offset, text, now) if text else []
        for piece in [*pieces, *self._batches.finish()]:
            self._tell(piece)
        self._say("binary output: stored, not shown")

    def _tell(self, piece: OutputPiece) -> None:
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

    def _say(self, text: str, *, silent: bool = False) -> None:
        self._emit(ToolOutput(self._id, text, "status", self._batches.accounted, silent=silent))

    def _tell_problem(self) -> None:
        self._told_problem = True
        text = f"the output of {self._id} is no longer stored: {clean_line(self._sink.problem)}"
        self._emit(Notice(text, "warning", "free some disk space; further output is only counted"))


def tool_use(id: str, spec: CommandSpec) -> ToolUse:
    """The call. When a shell is given a script, its first line is the preview. Of a very long command line the
    beginning is told, as one text: whatever is told must fit a record of the journal."""
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
