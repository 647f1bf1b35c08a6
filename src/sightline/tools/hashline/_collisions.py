"""A file that another agent changed since this agent saw it: what this agent would write is refused.

Rules:

- Another agent is any other of this session, and every agent of another session. What the agent saw of a file is the
  state that it was shown last; a file that it never saw counts as it was when the agent began to work.
- A file that is as it was shown is no collision, also when others wrote it meanwhile.
- A write of another agent counts that came after this agent saw the file, also when something else changed the file
  since. So does one that left what is there now: the clock cannot order what is read and written at one moment.
- A change that no agent recorded (a command, an editor, an agent in another program) is no collision. What becomes of
  an edit then: see `_patch`.
- The refusal has what changed. Where that is all of it, the new state counts as shown and the agent can go on at once;
  otherwise it has to read the file.
- The caller holds the file's lock, or compares the content again when it does.
"""

import time
from collections.abc import Sequence
from itertools import islice, pairwise
from pathlib import Path

from sightline.events import FileCollision
from sightline.text import changed_spans, clean_line, cut_graphemes
from sightline.tools._tool import Outcome, ToolError
from sightline.tools.files._write_ledger import CallWriter, RecordedWrite, content_digest, current_writer, writes_of
from sightline.tools.hashline._apply import LineChange
from sightline.tools.hashline._format import header
from sightline.tools.hashline._preview import COMPACT_ROWS, COMPACT_WIDTH, compact_rows
from sightline.tools.hashline._snapshots import Snapshots, Version, digest_of, split_lines

_MAIN = "Main"  # how agents address the session's own
_NAMED = 3  # writers in a message
_NAME = 80  # characters


class CollisionError(ToolError):
    """`rows`: what changed, as far as it is known and shown. `state`: the lines of the file, if that is all of it."""

    def __init__(self, message: str, path: Path, fact: FileCollision, rows: list[str], state: list[str] | None) -> None:
        super().__init__(message)
        self.path = path
        self.fact = fact
        self.rows = rows
        self.state = state

    @property
    def without_age(self) -> str:
        """The same in words that do not change while a user decides."""
        return f"{self.fact.path} was changed by {_name(self.fact.agent)}, and this agent has not seen that"


def refuse_collision(path: Path, shown: str, data: bytes | None, snapshots: Snapshots) -> None:
    """CollisionError if another agent changed the file. `data`: its content; None: there is too much to compare."""
    writer = current_writer()
    if writer is None:
        return
    writes = writes_of(path)
    if all(write.is_by(writer) for write in writes):
        return
    states, last = [] if data is None else _states(path, data), snapshots.last(path)
    if last is not None and any(digest_of(state) == last.digest for state in states):
        return
    at, read_at = None if last is None else last.at, snapshots.read_at(path)
    seen = max((moment for moment in (at, read_at) if moment is not None), default=None)
    is_known = last is not None and last.part is None and last.at == seen
    now = "" if data is None else content_digest(data)
    since = writer.began if seen is None else seen
    found = [write for write in writes if write.at > since or (is_known and write.after == now)]
    theirs = [write for write in found if not write.is_by(writer)]
    if theirs:
        is_all = not now or (found[-1].after == now and all(one.after == two.before for one, two in pairwise(found)))
        base = last if is_known and len(states) == 1 else None
        raise _collision(path, shown, theirs, writer, base, states, is_all=is_all, is_new=seen is None)


def collision_outcome(collision: CollisionError, snapshots: Snapshots, *, tagged: bool) -> Outcome:
    """The refusal as a result. What it shows of the file counts as shown from now on."""
    advice = "Nothing was written. Read the file, then make your change again, with theirs in it."
    if collision.state is not None:
        tag = snapshots.record_whole(collision.path, collision.state)
        now = f"The file is now {header(collision.fact.path, tag)}: make" if tagged else "Make"
        advice = f"Nothing was written. {now} your change again, with theirs in it."
    rows = "\n".join(collision.rows)
    text = "\n\n".join(part for part in (collision.message, rows, advice) if part)
    return Outcome(text=text, details=collision.fact.as_details(), is_error=True)


def _states(path: Path, data: bytes) -> list[list[str]]:
    """The file as it can have been shown: its lines, and of a notebook its cells too. None of what is no text."""
    try:
        states = [split_lines(data.decode())]
    except UnicodeDecodeError:
        return []
    if path.suffix.lower() == ".ipynb":
        from sightline.tools.files import _notebook as notebook

        try:
            states.append(split_lines(notebook.to_text(data)))
        except ToolError:
            pass  # shown as its plain text then
    return states


def _collision(
    path: Path,
    shown: str,
    theirs: Sequence[RecordedWrite],
    writer: CallWriter,
    base: Version | None,
    states: Sequence[list[str]],
    *,
    is_all: bool,
    is_new: bool,
) -> CollisionError:
    now, latest = time.time(), theirs[-1]
    names = _names(theirs, writer, now)
    if not is_all:
        names += ", and by something other than an agent's edit,"
    message = f"{shown} was changed by {names} since you read it" if not is_new else ""
    message = message or f"{shown} was written by {names} and you have not read it"
    fact = FileCollision(
        path=shown,
        session=_cut(latest.session),
        agent=_cut(latest.agent),
        call=_cut(latest.call),
        seconds=_seconds(latest, now),
    )
    before = None if base is None else base.lines
    if before is None:
        return CollisionError(f"{message}.", path, fact, [], None)
    rows, is_whole = _changed_rows(before, states[0])
    return CollisionError(f"{message}:", path, fact, rows, states[0] if is_whole else None)


def _changed_rows(before: list[str], after: list[str]) -> tuple[list[str], bool]:
    """What differs, with the new line numbers, and whether that is all of it."""
    spans = changed_spans(before, after)
    changes = [LineChange(a, tuple(before[a:b]), c, tuple(after[c:d])) for a, b, c, d in spans]
    rows = list(islice(compact_rows(before, changes, len(before) + len(after)), COMPACT_ROWS + 1))
    if len(rows) > COMPACT_ROWS:
        return [*rows[:COMPACT_ROWS], "[more has changed than is shown]"], False
    return rows, all(len(line) <= COMPACT_WIDTH for change in changes for line in change.after)


def _names(theirs: Sequence[RecordedWrite], writer: CallWriter, now: float) -> str:
    """Those who wrote last, each once."""
    latest = {(write.session, write.agent): write for write in theirs}
    named = sorted(latest.values(), key=lambda write: write.at)[-_NAMED:]
    words = []
    for write in named:
        of = "" if write.session == writer.session else f"session {_cut(write.session)}, "
        words.append(f"{_name(write.agent)} ({of}{_ago(_seconds(write, now))})")
    return " and ".join(words)


def _name(agent: str) -> str:
    return _cut(agent) or _MAIN


def _cut(text: str) -> str:
    return cut_graphemes(clean_line(text), _NAME)


def _seconds(write: RecordedWrite, now: float) -> int:
    return max(0, round(now - write.at))


def _ago(seconds: int) -> str:
    if seconds < 120:
        return f"{seconds} s ago"
    return f"{seconds // 60} min ago" if seconds < 7200 else f"{seconds // 3600} h ago"
