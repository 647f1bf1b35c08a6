"""Vim's keys: a normal, an insert and a visual mode over the same buffer.

Normal mode collects keys until they are a whole command, `[count] [operator [count]] motion`, and a key that makes
them none drops them all. What `.` repeats is the keys of the last change, played again.
"""

import re
from collections.abc import Callable
from typing import Literal

from sightline.tty._component import Input
from sightline.tty.components.editor._buffer import Buffer
from sightline.tty.components.editor._layout import EditorLayout
from sightline.tty.components.editor._undo import Position
from sightline.tty.components.editor.vim._changes import VimChanges
from sightline.tty.components.editor.vim._motions import Find, MotionTarget, find, motion, text_object, word_end
from sightline.tty.input._keys import Key

Mode = Literal["insert", "normal", "visual", "visual line"]

_MOTION = r"gg|[hjklwbeWBE0^$G;,]|[fFtT]."
_OBJECT = r"[ia][wW\"'`()b\[\]{}B<>]"
_whole = re.compile(
    rf"(?P<count>[1-9]\d*)?(?:(?P<operator>[dcy])(?P<again>[1-9]\d*)?(?:(?P<object>{_OBJECT})|(?P<target>{_MOTION}|[dcy]))"
    rf"|(?P<motion>{_MOTION})|(?P<command>r.|[iaIAoOxXDCYsS~JpPu.vV\x12]))",
    re.DOTALL,
).fullmatch
_begun = re.compile(r"[1-9]\d*|(?:[1-9]\d*)?(?:[dcy](?:[1-9]\d*)?(?:[iagfFtT])?|[gfFtTr])").fullmatch
_visual_whole = re.compile(
    rf"(?P<count>[1-9]\d*)?(?:(?P<object>{_OBJECT})|(?P<motion>{_MOTION})|(?P<command>r.|[dxcsyvVo~J]))", re.DOTALL
).fullmatch
_visual_begun = re.compile(r"[1-9]\d*|(?:[1-9]\d*)?[iagfFtTr]").fullmatch
_MOST, _PLAYED_AT_MOST = 10_000, 100


class Vim:
    """Modes and pending keys. `feed` takes events that are played again."""

    def __init__(self, buffer: Buffer, layout: EditorLayout, feed: Callable[[Input], object]) -> None:
        self.mode: Mode = "insert"
        self.changes = VimChanges(buffer)
        self._buffer = buffer
        self._layout = layout
        self._feed = feed
        self._pending = ""
        self._anchor: Position = (0, 0)
        self._found: Find | None = None
        self._keys: list[Input] = []
        self._last_change: list[Input] = []
        self._playing = False

    @property
    def selection(self) -> tuple[Position, Position] | None:
        """What is selected, its end not included."""
        if self.mode not in ("visual", "visual line"):
            return None
        first, last = sorted((self._anchor, self._buffer.cursor))
        if self.mode == "visual line":
            return (first[0], 0), (last[0], len(self._buffer.lines[last[0]]))
        line = self._buffer.lines[last[0]]
        return first, self._buffer.right_of(last) if last[1] < len(line) else last

    def reset(self) -> None:
        """A new text: insert mode, nothing pending."""
        self.mode, self._pending = "insert", ""
        self._keys.clear()

    def escape(self) -> bool:
        """Back to normal mode. False when it was already, with nothing pending."""
        if self.mode == "normal" and not self._pending:
            return False
        if self.mode == "insert":
            self._buffer.release()
            line, column = self._buffer.cursor
            self._buffer.move(self._buffer.left_of((line, column)) if column else (line, 0))
            self._remember()
        self.mode, self._pending = "normal", ""
        self._stay_on_text()
        return True

    def handle(self, event: Input) -> bool:
        """React to an event outside of insert mode; in it only note it for `.`. False when it is for the editor."""
        if self.mode == "insert":
            if not self._playing and self._keys:
                self._keys.append(event)
            return False
        key = _letter(event)
        if not key:
            self._pending = ""
            return False
        if not self._pending:
            self._keys.clear()
        self._keys.append(event)
        self._pending += key
        self._read()
        self._stay_on_text()
        return True

    def _read(self) -> None:
        whole, begun = (_whole, _begun) if self.mode == "normal" else (_visual_whole, _visual_begun)
        command = whole(self._pending)
        if command is not None:
            self._pending = ""
            self._obey(command)
        elif not begun(self._pending):
            self._pending = ""

    def _obey(self, keys: "re.Match[str]") -> None:
        parts = keys.groupdict()
        counts = [int(part) for part in (parts["count"], parts.get("again")) if part]
        count = min(_MOST, counts[0] * counts[-1] if len(counts) == 2 else counts[0]) if counts else None
        version = self._buffer.version
        if self.mode != "normal" and (parts["object"] or parts["command"]):
            self._select_or_change(parts["object"], parts["command"])
        elif parts.get("operator"):
            self._operate(parts["operator"], parts["object"], parts["target"], count)
        elif parts["motion"]:
            self._go(parts["motion"], count)
        else:
            self._command(parts["command"], count or 1, given=count is not None)
        if self._buffer.version != version and self.mode == "normal" and parts.get("command") not in ("u", "\x12", "."):
            self._remember()

    def _operate(self, operator: str, covered: str | None, name: str, count: int | None) -> None:
        line = self._buffer.cursor[0]
        if covered:
            span = text_object(self._buffer, covered)
            if span is not None:
                self._apply(operator, *span)
        elif name == operator:
            last = min(len(self._buffer.lines) - 1, line + (count or 1) - 1)
            self._apply_lines(operator, line, last)
        elif name not in "dcy":
            self._operate_to(operator, name, count)

    def _operate_to(self, operator: str, name: str, count: int | None) -> None:
        buffer, here = self._buffer, self._buffer.cursor
        if operator == "c" and name in "wW" and not buffer.line[here[1] : here[1] + 1].isspace():
            target: MotionTarget | None = self._end_of_words(count or 1, big=name == "W")
        else:
            target = self._target(name, count)
        if target is None:
            return
        if target.reach == "linewise":
            first, last = sorted((here[0], target.position[0]))
            self._apply_lines(operator, first, last)
            return
        start, end = sorted((here, target.position))
        if target.reach == "inclusive" and end[1] < len(buffer.lines[end[0]]):
            end = buffer.right_of(end)
        if name in "wW" and end[0] > start[0] and not buffer.lines[end[0]][: end[1]].strip():
            end = (end[0] - 1, len(buffer.lines[end[0] - 1]))  # the last word of a line does not take the line break
        self._apply(operator, start, end)

    def _end_of_words(self, count: int, *, big: bool) -> MotionTarget | None:
        """What changing words takes: to the end of the last one, not the blanks after it."""
        span = text_object(self._buffer, "iW" if big else "iw")
        if span is None:
            return None
        at = self._buffer.left_of(span[1])
        for _ in range(count - 1):
            at = word_end(self._buffer, at, big=big)
        return MotionTarget(at, "inclusive")

    def _target(self, name: str, count: int | None) -> MotionTarget | None:
        if name[0] in "fFtT":
            self._found = (name[0], name[1])
        if name[0] in "fFtT;,":
            return self._find_again(count or 1, turned=name == ",")
        return motion(self._buffer, name, count)

    def _find_again(self, count: int, *, turned: bool) -> MotionTarget | None:
        if self._found is None:
            return None
        how, letter = self._found
        how = how.swapcase() if turned else how
        at = find(self._buffer, self._buffer.cursor, (how, letter), count)
        if at is None:
            return None
        return MotionTarget(at, "inclusive" if how in "ft" else "exclusive")

    def _go(self, name: str, count: int | None) -> None:
        if name in "jk":
            for _ in range(count or 1):
                at = self._layout.vertical(1 if name == "j" else -1)
                if at is None:
                    break
                self._buffer.move(at, keep_goal=True)
            return
        target = self._target(name, count)
        if target is not None:
            self._buffer.move(target.position)

    def _command(self, name: str, count: int, *, given: bool) -> None:
        if name == ".":
            self._play(count if given else 1)
        elif name in "vV":
            self._anchor = self._buffer.cursor
            self.mode = "visual" if name == "v" else "visual line"
        elif name in "xXDCYsS":
            meant = {"x": "dl", "X": "dh", "D": "d$", "C": "c$", "Y": "yy", "s": "cl", "S": "cc"}[name]
            self._operate(meant[0], None, meant[1], count)
        elif name in "iaIAoO":
            self._begin_insert()
            self.changes.enter(name)
        else:
            self.changes.do(name, count)

    def _select_or_change(self, covered: str | None, command: str | None) -> None:
        if covered:
            span = text_object(self._buffer, covered)
            if span is not None:
                self._anchor = span[0]
                self._buffer.move(self._buffer.left_of(span[1]))
        elif command == "o":
            anchor, self._anchor = self._anchor, self._buffer.cursor
            self._buffer.move(anchor)
        elif command in ("v", "V"):
            mode: Mode = "visual" if command == "v" else "visual line"
            self.mode = "normal" if self.mode == mode else mode
        elif command is not None:
            self._change_selection(command)

    def _change_selection(self, command: str) -> None:
        span, lines = self.selection, self.mode == "visual line"
        self.mode = "normal"
        if span is None:
            return
        operator = {"x": "d", "s": "c"}.get(command, command)
        if operator not in "dcy":
            self.changes.do_on(command, *span)
        elif lines:
            self._apply_lines(operator, span[0][0], span[1][0])
        else:
            self._apply(operator, *span)

    def _apply(self, operator: str, start: Position, end: Position) -> None:
        if operator == "c":
            self._begin_insert()
        self.changes.apply(operator, start, end)

    def _apply_lines(self, operator: str, first: int, last: int) -> None:
        if operator == "c":
            self._begin_insert()
        self.changes.apply_lines(operator, first, last)

    def _begin_insert(self) -> None:
        self._buffer.hold()
        self.mode = "insert"

    def _remember(self) -> None:
        if not self._playing and self._keys:
            self._last_change = list(self._keys)
        self._keys = []

    def _play(self, times: int) -> None:
        keys = list(self._last_change)
        if self._playing or not keys:
            return
        self._playing = True
        try:
            for _ in range(min(times, _PLAYED_AT_MOST)):
                for event in keys:
                    self._feed(event)
                if self.mode != "normal":
                    self.escape()
        finally:
            self._playing = False

    def _stay_on_text(self) -> None:
        """Outside of insert mode the cursor stands on a character, not behind the last one."""
        line, column = self._buffer.cursor
        if self.mode == "normal" and column and column == len(self._buffer.line):
            self._buffer.move(self._buffer.left_of((line, column)), keep_goal=True)


def _letter(event: Input) -> str:
    """The letter a command is spelled with; nothing for pasted text and keys that are no letters."""
    if not isinstance(event, Key) or event.alt or event.meta:
        return ""
    if event.ctrl:
        return "\x12" if event.name == "r" else ""
    return event.text if len(event.text) == 1 else ""
