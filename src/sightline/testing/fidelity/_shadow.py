"""The shadow ledger: what the terminal must show, worked out a second time from the contract alone.

It imports nothing of the engine. It gets what is observed from outside: the rows each root component gave, with its
seam (`live_from`, `safe_to`) and the rows it released or took back; the size of the screen; the user's gestures;
what the shell wrote. From that it computes the tape (everything above the window, row by row) and the window.

For a frame of L rows on a screen of H: W = max(C, L - H), C' = max(C, min(B, W)), and rows C to C' join the tape.

- Rows of the tape that a component changed: one that differs among the last was edited in place and stays as it was;
  more mean that rows moved, and from the first that differs everything is written again. Doubled, never lost.
- A frame that shrank into what is tape (L <= C) is shown from W = max(0, L - H), C = min(B, W); the old copy stays.
- While an overlay is visible nothing joins the tape.
- A gesture erases the tape and writes it from the first row.
- A multiplexer that changed its size has moved rows to its history by itself. How many cannot be known from outside;
  every number that agrees with what is then seen is one possible ledger, and all of them are followed. Rows that may
  still change join the tape in this way too; the first of them that does is written again, with all that follows it.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate, takewhile

import msgspec

from sightline.testing.fidelity._divergence import Divergence, same_rows
from sightline.testing.fidelity._grid import letters, readable, shown_text, take_cursor
from sightline.testing.fidelity._window import Covering, Size, Window

_LOOKED_AT, _SAMPLES, _TOLERATED = 24, 8, 1


Answer = tuple[list[str], int | None]


class Child:
    """A root component, as observed."""

    def __init__(self) -> None:
        self.rows: list[str] = []
        """All its rows, also those it does not give any more."""
        self.boundary: int | None = None
        self.released = 0
        self.taken_back: int | None = None
        """The first row that was tape and is given again, because something changed there."""
        self.first: Answer = [], None
        self.retired = False
        """Its rows will not be requested for long: all of them are tape."""
        self.answers = 0
        """How often it was asked for this frame: a second time when the frame turned out to reach into what left it."""

    def begin(self) -> None:
        self.first, self.answers, self.taken_back = (self.rows, self.boundary), 0, None

    def rendered(self, rows: Sequence[str], boundary: int | None) -> None:
        if self.answers:
            self.first = self.rows, self.boundary
        self.answers += 1
        self.retired = False
        self.rows = take_cursor_away(self.rows[: self.released]) + list(rows)
        self.boundary = None if boundary is None else self.released + boundary

    def reclaimed(self, rows: int) -> None:
        self.released -= rows
        self.taken_back = self.released

    def restored(self) -> None:
        self.released = 0


def take_cursor_away(rows: Sequence[str]) -> list[str]:
    return take_cursor(rows)[0]


class Frame(msgspec.Struct, frozen=True):
    """All rows, the boundary, where what is never final begins, and where the rows of each child begin."""

    rows: list[str]
    boundary: int
    chrome: int
    children: list[Child]
    starts: list[int]
    cursor: tuple[int, int] | None


class State(msgspec.Struct):
    """One ledger that agrees with all that was seen."""

    committed: int
    tape: list[str]
    """As it is read back from the terminal."""
    seen: list[str]
    """The rows that are tape, as the components gave them last."""
    firm: int = 0
    """Rows of the tape from here on may still change."""
    top: int = 0
    window: list[str] = []
    copies: str = ""
    """Letters a multiplexer may have put into its history besides the tape, before row `pushed_at` of it."""
    pushed_at: int = 0
    storm: bool = False


class Shadow:
    """Follows the frames."""

    def __init__(self, *, multiplexer: bool) -> None:
        self.multiplexer = multiplexer
        self.states = [State(0, [], [])]
        self.frame = Frame([], 0, 0, [], [], None)
        self.size: Size | None = None
        self.overlays: list[Covering] = []
        self._gone: list[Child] = []
        self._texts_before: dict[int, list[str]] = {}
        self.rewrapped = False
        """The tape can only be compared as text: a multiplexer wrapped it anew."""

    @property
    def state(self) -> State:
        return self.states[0]

    def shell(self, rows: list[str]) -> None:
        """Someone else wrote these rows while the window was given up."""
        for state in self.states:
            state.tape += rows

    def begin(self, children: list[Child]) -> None:
        """A frame is about to be drawn."""
        self._gone = _retired(self.frame.children)
        for child in {id(child): child for child in (*children, *self.frame.children)}.values():
            child.begin()

    def compose(self, children: list[Child], *, first: bool = False) -> Frame:
        """The frame, or what it was before everything was asked for again."""
        rows: list[str] = []
        starts, boundary, chrome = [], None, None
        for child in children:
            starts.append(len(rows))
            answer, live = child.first if first else (child.rows, child.boundary)
            if boundary is None and live is not None:
                boundary = len(rows) + live
                chrome = len(rows) + len(answer)
            rows += answer
        taken, cursor = take_cursor(rows)
        boundary = len(rows) if boundary is None else boundary
        return Frame(taken, boundary, len(rows) if chrome is None else chrome, children, starts, cursor)

    def draw(self, children: list[Child], size: Size, *, gesture: bool, resized: int, overlays: list[Covering]) -> None:
        """A frame was drawn; before it the terminal changed its size `resized` times."""
        before = self.frame
        resized = resized if self.size is not None else 0
        width_before = self.size[0] if self.size else size[0]
        if resized and self.multiplexer:
            self._texts_before = {id(state): self.window(state).texts() for state in self.states}
        self.size, covered = size, bool(overlays)
        if (gesture or resized) and not self.multiplexer:
            self.states = [State(0, [], [])]
            twice = False
        else:
            twice = self._rendered_twice(children)
        self.frame = self.compose(children, first=twice)
        if resized and self.multiplexer:
            self._pushed_by_multiplexer(before, rewrapped=width_before != size[0], storm=resized > 1)
        else:
            for state in self.states:
                self._audit(state)
        for state in self.states:
            self._step(state, size[1], covered=covered)
        if twice:
            self.frame = self.compose(children)
            for state in self.states:
                self._step(state, size[1], covered=covered)
        self.overlays = overlays

    def _rendered_twice(self, children: list[Child]) -> bool:
        """Whether everything was rendered again within the frame: also what had left it, which else is not rendered."""
        if any(child.answers > 1 for child in children):
            return True
        whole = self._gone
        return children[: len(whole)] == whole and any(child.answers for child in whole)

    def give_up(self, children: list[Child]) -> None:
        """The window is given up: what is final joins the tape, nothing else stays."""
        self.frame = self.compose(children)
        for state in self.states:
            self._audit(state)
            end = max(state.committed, min(self.frame.boundary, len(self.frame.rows)))
            self._commit(state, state.committed, end)
            state.top, state.window = end, []
        self.size = None

    def _audit(self, state: State) -> None:
        if self.frame.chrome < state.committed < len(self.frame.rows):
            state.committed = self.frame.chrome
            del state.seen[state.committed :]
        row = self._first_replaced()
        if row is None:
            row = self._first_taken_back()
        if row is None:
            row = self._first_moved(state)
        if row is None:
            row = self._first_changed(state)
        if row is not None and row < state.committed:
            state.committed, state.firm = row, min(state.firm, row)
            del state.seen[row:]

    def _first_replaced(self) -> int | None:
        """A child that was tape whole is gone, or another came before it."""
        for index, child in enumerate(self._gone):
            if index >= len(self.frame.children):
                return len(self.frame.rows)
            if self.frame.children[index] is not child:
                return self.frame.starts[index]
        return None

    def _first_taken_back(self) -> int | None:
        for child, start in zip(self.frame.children, self.frame.starts, strict=True):
            if child.taken_back is not None:
                return start + child.taken_back
        return None

    def _first_moved(self, state: State) -> int | None:
        if len(self.frame.rows) <= state.committed:
            return None
        old = [readable(row) for row in state.seen[: state.firm]]
        new = [readable(row) for row in self.frame.rows[: len(old)]]
        samples = [index for index in range(len(old) - 1, max(-1, len(old) - 1 - _LOOKED_AT), -1) if old[index].strip()]
        if sum(old[index] != new[index] for index in samples[:_SAMPLES]) <= _TOLERATED:
            return None
        return next(index for index in range(len(old)) if old[index] != new[index])

    def _first_changed(self, state: State) -> int | None:
        if len(self.frame.rows) <= state.committed:
            return None
        for index in range(state.firm, len(state.seen)):
            if readable(state.seen[index]) != readable(self.frame.rows[index]):
                return index
        return None

    def _step(self, state: State, height: int, *, covered: bool) -> None:
        length, boundary = len(self.frame.rows), self.frame.boundary
        if state.committed and length <= state.committed:
            state.top = max(0, length - height)
            state.committed = state.firm = min(boundary, state.top)
            state.seen = self.frame.rows[: state.committed]
        else:
            state.top = max(state.committed, length - height)
            end = state.committed if covered else max(state.committed, min(boundary, state.top))
            self._commit(state, state.committed, end)
        state.window = self.frame.rows[state.top :]

    def _commit(self, state: State, start: int, end: int) -> None:
        assert self.size is not None
        state.tape += [shown_text(row, self.size[0]) for row in self.frame.rows[start:end]]
        at_risk = state.firm < state.committed
        state.committed = end
        state.firm = min(end, max(state.firm, self.frame.boundary)) if at_risk else end
        state.seen = self.frame.rows[:end]

    def _pushed_by_multiplexer(self, before: Frame, *, rewrapped: bool, storm: bool) -> None:
        """Every row from the last that is tape to the end of the frame may be where the tape ends now.

        What was in the window is tape where the multiplexer put it, and at risk if it was not final. Of what is never
        final, and of a window that had rows hidden above it or something over it, it may have left a copy; and of
        anything in the window when it changed its size several times, of which only the last is known.
        """
        found: list[State] = []
        text = [letters([row]) for row in self.frame.rows]
        ends = [0, *accumulate(map(len, text))]
        whole = "".join(text)
        for state in self.states:
            done = len(letters(state.seen))
            hidden = state.top != state.committed or bool(self.overlays) or storm
            final = 0 if hidden else max(0, before.chrome - state.top)
            firm = max(before.boundary, state.firm)
            if rewrapped:
                firm = _rows_covered(before.rows[:firm], ends)
            copies = letters(self._texts_before[id(state)][final:])
            first = bisect_left(ends, done) if rewrapped else state.committed
            for end in range(min(first, len(text)), len(text) + 1):
                tape = [*state.tape, whole[done : ends[end]]]
                possible = State(end, tape, self.frame.rows[:end], min(end, firm), copies=copies)
                possible.pushed_at, possible.storm = len(tape), storm
                found.append(possible)
        self.states, self.rewrapped = found, True

    def window(self, state: State) -> Window:
        """The window of a ledger as it must be seen."""
        assert self.size is not None
        cursor = self.frame.cursor
        inside = None if cursor is None or cursor[0] < state.top else (cursor[0] - state.top, cursor[1])
        return Window(state.window, inside, self.overlays, self.size)

    def require_agreement(self, agrees: Callable[[State], None]) -> None:
        """Continue with the ledgers that agree with what is seen; when none does, raise the error of the one that came
        furthest."""
        furthest: Divergence | None = None
        agreeing: dict[tuple[int, int, int], State] = {}
        for state in self.states:
            try:
                agrees(state)
                agreeing[state.committed, state.top, len(state.tape)] = state
            except Divergence as divergence:
                furthest = divergence if furthest is None or divergence.agreed > furthest.agreed else furthest
        if not agreeing and furthest is not None:
            raise furthest
        self.states = list(agreeing.values())

    def compare_text(self, state: State, above: list[str]) -> None:
        """A multiplexer's tape after it changed its size: all letters above the window, once and in order.

        From then on the rows are what it made of them.
        """
        shown, expected = letters(above), letters(state.tape)
        if shown != expected and not self._with_copies(shown, state):
            same_rows(_pieces(shown), _pieces(expected), "letters of the tape")
        state.tape, state.copies = list(above), ""

    def _with_copies(self, shown: str, state: State) -> bool:
        """The copies stand before what joined the tape since the size changed, or after the first piece of it."""
        for at in (state.pushed_at - 1, state.pushed_at):
            before, after = letters(state.tape[:at]), letters(state.tape[at:])
            if shown.startswith(before) and shown[len(before) :].endswith(after):
                copied = shown[len(before) : len(shown) - len(after)]
                if state.copies.startswith(copied) or (state.storm and copied in state.copies):
                    return True
        return False


def _retired(children: Sequence[Child]) -> list[Child]:
    """The first children, as far as they are tape whole."""
    return list(takewhile(lambda child: child.retired, children))


def _rows_covered(rows: list[str], ends: list[int]) -> int:
    """How many rows that end after so many letters each are covered whole by the letters, and blanks, of others."""
    count = len(letters(rows))
    blank = len(list(takewhile(lambda row: not letters([row]), reversed(rows))))
    return min(bisect_left(ends, count) + blank, bisect_right(ends, count) - 1)


def _pieces(text: str) -> list[str]:
    return [text[at : at + 60] for at in range(0, len(text), 60)]
