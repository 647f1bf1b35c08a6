"""A session's stream, drawn: the output its jobs have printed so far, then what they print, each byte once.

- Earlier output is read from the artifact, up to the place the snapshot accounts for; events continue from there. The
  same happens when we were too slow and get a new snapshot in the middle.
- What is not drawn (a flood, a long past, binary output) is one row with its size and where to find it.
- With headings, a row names the job whose output follows, whenever that changes.

Nothing here writes or waits: `draw` returns what is to be written, in parts small enough to be interrupted between.
"""

from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

import msgspec

from sightline.events import Error, Event, Notice, ToolOutput, ToolResult, ToolUse, call_ending
from sightline.host import Frame
from sightline.journal import ArtifactReader, Store, session_of
from sightline.secrets import MaskedArtifact
from sightline.text import clean_output, complete_prefix
from sightline.transcript import Remark, Snapshot, TranscriptCall
from sightline.views.plain._ending import JobEnd, ending_of
from sightline.views.plain._figures import size_words
from sightline.views.plain._palette import CALL, Palette
from sightline.views.plain.terminal_block import TerminalBlock

if TYPE_CHECKING:
    from sightline.secrets import Secrets

_PART = 64 * 1024
_LINE_NEAR = 4 * 1024


class MissedOutput(msgspec.Struct, frozen=True):
    """How much of what was missed is drawn: all of it up to `whole` bytes, else the last `tail` of it."""

    whole: int
    tail: int


WHOLE_PAST = MissedOutput(8 * 1024 * 1024, 1024 * 1024)
MISSED = MissedOutput(256 * 1024, 50 * 1024)


class JobDrawing:
    """Draws one job of a session, or all of them when `job` is empty."""

    def __init__(
        self,
        store: Store,
        block: TerminalBlock,
        palette: Palette,
        *,
        job: str,
        headings: bool,
        secrets: "Secrets | None",
    ) -> None:
        self.block = block
        self.endings: dict[str, JobEnd] = {}
        self.running: set[str] = set()
        self._store = store
        self._secrets = secrets  # masked in earlier output
        self._palette = palette
        self._job = job
        self._headings = headings
        self._past = WHOLE_PAST
        self._commands: dict[str, str] = {}
        self._shown: dict[str, int] = {}  # bytes of each job drawn, or reported as skipped
        self._current = ""
        self._remarks = 0

    def draw(self, frame: Frame) -> Iterator[str]:
        if isinstance(frame, Snapshot):
            yield from self._catch_up(frame)
        else:
            for event in frame:
                yield from self._event(event)
        self._past = MISSED

    def _catch_up(self, snapshot: Snapshot) -> Iterator[str]:
        remarks = 0
        for entry in snapshot.entries:
            if isinstance(entry, TranscriptCall) and self._is_drawn(entry.id):
                yield from self._call(entry)
            elif isinstance(entry, Remark):
                remarks += 1
                if remarks > self._remarks:
                    yield self._remark(entry.level, entry.text, entry.hint)
        self._remarks = max(remarks, self._remarks)

    def _call(self, call: TranscriptCall) -> Iterator[str]:
        self._begin(call.id, call.args, call.arg)
        shown = self._shown.get(call.id, 0)
        if call.received > shown:
            yield from self._missed(call, shown)
            self._shown[call.id] = call.received
        if call.content is not None:
            yield from self._end(ending_of(call))
        elif call.status:
            yield self._heading(call.id) + self.block.status(call.status)

    def _event(self, event: Event) -> Iterator[str]:
        match event:
            case ToolUse() if self._is_drawn(event.id):
                self._begin(event.id, event.args, event.arg)
                if self._headings:
                    yield self._heading(event.id)
            case ToolOutput() if self._is_drawn(event.id):
                yield from self._output(event)
            case ToolResult() if self._is_drawn(event.id):
                yield from self._end(ending_of(event))
            case Notice() | Error():
                self._remarks += 1
                yield self._remark(event.level, event.text, event.hint)

    def _output(self, event: ToolOutput) -> Iterator[str]:
        if event.stream == "status":
            yield self._heading(event.id) + self.block.status(event.content)
            return
        reached, shown = event.offset + event.size, self._shown.get(event.id, 0)
        if reached <= shown:
            return
        self._shown[event.id] = reached
        text = self._heading(event.id)
        if event.offset < shown:  # a part of it was drawn from the artifact
            yield text
            with closing(self._artifact(event.id)) as reader:
                for stream, rest in text_of(reader, shown, reached):
                    yield self.block.feed(rest, stream)
            return
        if event.dropped:
            text += self.block.remark(self._skipped(event.id, event.dropped))
        yield text + self.block.feed(event.content, event.stream)

    def _missed(self, call: TranscriptCall, shown: int) -> Iterator[str]:
        """What came between what we have drawn and what the snapshot accounts for."""
        yield self._heading(call.id)
        reader = self._artifact(call.id)
        try:
            if call_ending(call.details).binary:
                yield self.block.remark(f"… {self._where(call.id, call.received - shown, 'of binary output')} …")
                return
            stored = min(reader.size, call.received)
            start = self._start(reader, shown, stored)
            if start > shown:
                yield self.block.remark(self._skipped(call.id, start - shown))
            for stream, text in text_of(reader, start, stored):
                yield self.block.feed(text, stream)
            if stored < call.received:
                yield from self._not_stored(call, max(stored, shown), deleted=reader.missing)
        finally:
            reader.close()

    def _artifact(self, job: str) -> ArtifactReader:
        if self._secrets is None:
            return self._store.artifact(job)
        return MaskedArtifact(self._store.artifact_path(job), self._secrets)

    def _start(self, reader: ArtifactReader, shown: int, end: int) -> int:
        if end - shown <= self._past.whole:
            return shown
        start = end - self._past.tail
        newline = reader.read(start, _LINE_NEAR).find(b"\n")
        return start + newline + 1

    def _not_stored(self, call: TranscriptCall, start: int, *, deleted: bool) -> Iterator[str]:
        """The output was deleted, or the disk was full: there is only the tail the snapshot has."""
        pieces = [piece for piece in call.pieces if piece.offset >= start and piece.text]
        lost = call.received - start - sum(piece.size for piece in pieces)
        if lost > 0:
            gone = "was deleted" if deleted else "was not stored"
            yield self.block.remark(f"… {size_words(lost)} of output {gone} …")
        for piece in pieces:
            yield self.block.feed(piece.text, piece.stream)

    def _end(self, ending: JobEnd) -> Iterator[str]:
        if ending.job in self.endings:
            return
        self.endings[ending.job] = ending
        self.running.discard(ending.job)
        yield self.block.end()
        if not self._job:
            yield self._heading(ending.job) + ending.line(self._palette) + "\r\n"

    def _begin(self, job: str, args: object, arg: str) -> None:
        if job not in self._commands:
            self._commands[job] = str(args.get("command", arg)) if isinstance(args, dict) else arg
            self.running.add(job)

    def _is_drawn(self, id: str) -> bool:
        return id == self._job if self._job else bool(session_of(id))

    def _heading(self, job: str) -> str:
        if not self._headings or job == self._current:
            return ""
        self._current = job
        return self.block.heading(f"{CALL} {job}  {self._commands.get(job, '')}")

    def _remark(self, level: str, text: str, hint: str) -> str:
        drawn = self.block.remark(f"{level if level in ('warning', 'error') else 'note'}: {text}")
        return drawn + (self.block.remark(f"hint: {hint}") if hint else "")

    def _skipped(self, job: str, size: int) -> str:
        return f"… {self._where(job, size, 'skipped')} …"

    def _where(self, job: str, size: int, what: str) -> str:
        return f"{size_words(size)} {what}; sightline logs {job} has it"


def text_of(reader: ArtifactReader, start: int, end: int) -> Iterator[tuple[str, str]]:
    """Stream and clean text, part after part, each ending neither inside a character nor inside a sequence."""
    for run in reader.streams(start, end):
        offset, stop = run.offset, run.offset + run.size
        while offset < stop:
            data = reader.read(offset, min(_PART, stop - offset))
            if not data:
                return
            size = (complete_prefix(data) if offset + len(data) < stop else 0) or len(data)
            yield run.stream, clean_output(data[:size].decode("utf-8", "replace"))
            offset += size
