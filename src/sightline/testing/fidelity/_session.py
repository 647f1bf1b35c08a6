"""One case, run: operations on a real display, its bytes on a real terminal, every step held against the shadow."""

import random
import re
from collections.abc import Callable
from contextlib import suppress

from msgspec.structs import replace

from sightline.testing.emulators import Cell, Emulator, EmulatorError, Tape, TmuxEmulator, XtermEmulator, open_emulator
from sightline.testing.fidelity._bytes import Position, check_frame
from sightline.testing.fidelity._divergence import Divergence, require, same_rows
from sightline.testing.fidelity._grid import without_marks
from sightline.testing.fidelity._operations import ON_SCENE, Operation
from sightline.testing.fidelity._scene import Scene
from sightline.testing.fidelity._shadow import Shadow, State
from sightline.testing.fidelity._world import Case, World
from sightline.tty._images import ImageStore
from sightline.tty.frame._display import Display
from sightline.tty.terminal._capabilities import Capabilities

_SAMPLED = 5
"""Cells and modes are looked at after one in so many checks."""


class _Surface:
    busy = False

    def __init__(self, size: tuple[int, int]) -> None:
        self.size = size
        self.written: list[str] = []

    def write(self, text: str) -> None:
        self.written.append(text)

    def take(self) -> str:
        text = "".join(self.written)
        self.written.clear()
        return text


class Session:
    """A display on a terminal, and its shadow."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.emulator: Emulator = open_emulator(world.emulator, world.columns, world.rows)
        self.surface = _Surface((world.columns, world.rows))
        capabilities = Capabilities(
            multiplexer="tmux" if world.multiplexer else "",
            synchronized_output=world.synchronized,
            hardware_cursor=world.hardware_cursor,
        )
        images = ImageStore("kitty" if world.pictures else "none", limit=2, first_number=1000)
        self.scene = Scene(Display(self.surface, capabilities, images=images), world.layout, rewraps=world.rewraps)
        self.shadow = Shadow(multiplexer=world.multiplexer)
        self.checks = 0
        self._since_gesture: list[str] = []
        self._cursor_mode = ""
        self.written: list[str] = []
        """The bytes of each frame."""
        self.split = False
        self._gesture = False
        self._size_changed = 0
        self._undrawn = False
        """Something changed since the last frame. Not while a multiplexer changes its size: where a text continues
        after the part of it that is history is not known when that part changes at the same time."""
        self._pending = ""
        self._cursor_row = 0
        self._scrollback = 0
        self._reader: tuple[int, list[str]] | None = None
        self._shell(world.shell_rows, "shell")
        self._frame()
        self._check()

    def close(self) -> None:
        with suppress(EmulatorError):
            self.emulator.close()

    def apply(self, operation: Operation) -> None:
        """Do it, draw the frames it requests, and look."""
        frames = operation.frames
        if operation.do in ON_SCENE:
            ON_SCENE[operation.do][1](self.scene, operation)
        else:
            if self.world.multiplexer and self._undrawn:
                self._frame()
            on_terminal: Callable[[Operation], None] = getattr(self, f"_{operation.do}")
            on_terminal(operation)
            frames = max(frames, self.world.multiplexer)
        for _ in range(frames):
            self._frame()
        self._undrawn = not frames
        if frames:
            self._check()

    # ---- the terminal and the user

    def _shell(self, count: int, label: str) -> None:
        rows = [f"{label} {index}" for index in range(count)]
        text = "".join(f"{row}\r\n" for row in rows)
        if self._since_gesture:
            self._since_gesture.append(text)
        self._feed(text)
        self.shadow.shell(rows)
        tape = self.shadow.state.tape
        self._scrollback = max(self._scrollback, len(tape) + 1 - self.surface.size[1])
        self._cursor_row = len(tape)

    def _resize(self, operation: Operation) -> None:
        rng = random.Random(operation.seed)
        columns, rows = self.surface.size
        what = operation.seed % 3
        columns = columns if what == 0 else rng.choice((20, 33, 40, 60, 80, 100, 120, columns - 1, columns + 1))
        rows = rows if what == 1 else rng.choice((3, 5, 8, 12, 24, 40, rows - 1, rows + 1))
        self._resize_to(max(20, columns), max(3, rows))

    def _resize_to(self, columns: int, rows: int) -> None:
        if not self.split:
            self._flush()
            try:
                self.emulator.resize(columns, rows)
            except EmulatorError:
                if self.world.emulator != "ghostty":
                    raise
                # The frame that follows clears everything anyway.
                self._open_another(columns, rows)
            self._resized()

    def _resized(self) -> None:
        self.surface.size = self.emulator.size
        self._reader = None
        self._size_changed += 1
        self.scene.display.resized()

    def _resize_storm(self, operation: Operation) -> None:
        for index in range(operation.size + 1):
            self._resize(Operation("resize", operation.seed + index * 7919))

    def _reset(self, operation: Operation) -> None:
        self._gesture = True
        self.scene.display.reset()

    def _replace_session(self, operation: Operation) -> None:
        self.scene.clear()
        ON_SCENE["append"][1](self.scene, operation)
        self._gesture = True
        self.scene.display.request_render(clear_scrollback=True)

    def _suspend(self, operation: Operation) -> None:
        """The window is given up, the shell writes something, the window comes back."""
        if self._size_changed:
            self._frame()
        self._flush()
        self.shadow.begin(self.scene.children())
        self.scene.display.pause()
        self.shadow.give_up(self.scene.children())
        self._take_bytes(gesture=False, position=None)
        self._feed(self._pending)
        self._pending = ""
        self._scrollback = max(self._scrollback, len(self.shadow.state.tape) + 1 - self.surface.size[1])
        self._shell(operation.size - 1, f"shell {operation.seed:x}")
        self._look(self._agrees_when_suspended)
        self.scene.display.resume()
        if not operation.frames:
            self._frame()

    def _scroll_reader(self, operation: Operation) -> None:
        if isinstance(self.emulator, XtermEmulator):
            self._flush()
            self.emulator.scroll_up(-100_000)
            self._reader = None
            if operation.seed % 3:
                self.emulator.scroll_up(operation.seed % 40 + 1)
                first, rows = self.emulator.viewport()
                history = len(self.shadow.state.tape) - first
                self._reader = (first, rows[: max(0, history)]) if first < self._scrollback else None

    def _split(self, operation: Operation) -> None:
        assert isinstance(self.emulator, TmuxEmulator)
        columns, rows = self.surface.size
        beside = bool(operation.seed % 2)
        if self.split:
            self._flush()
            self.emulator.kill_split()
        elif columns >= 42 if beside else rows >= 8:
            self._flush()
            self.emulator.split(beside=beside)
        else:
            return
        self.split = not self.split
        self._resized()

    def _zoom(self, operation: Operation) -> None:
        assert isinstance(self.emulator, TmuxEmulator)
        if self.split:
            self._flush()
            self.emulator.zoom()
            self._resized()

    def _attach(self, operation: Operation) -> None:
        assert isinstance(self.emulator, TmuxEmulator)
        if not self.split:
            self._flush()
            self.emulator.attach(40 + operation.seed % 60, 5 + operation.seed % 30)
            self.emulator.detach()
            self._resized()

    # ---- frames

    def _frame(self) -> None:
        size = self.surface.size
        resized, self._size_changed = self._size_changed if self.shadow.size is not None else 0, 0
        gesture = (self._gesture or resized > 0) and not self.world.multiplexer
        history, alone = len(self.shadow.state.tape), len(self.shadow.states) == 1
        self.shadow.begin(self.scene.children())
        self.scene.display.render_now()
        overlays = self.scene.coverings(size)
        for covering in overlays:
            require(covering.asked == covering.expected_width(size), "an overlay is asked for its own width")
        self.shadow.draw(self.scene.children(), size, gesture=self._gesture, resized=resized, overlays=overlays)
        if gesture:
            self._reader, self._scrollback = None, 0
        self._gesture = False
        self._take_bytes(gesture, Position(self._cursor_row, history) if alone and not resized else None)
        if self.shadow.rewrapped or len(self.shadow.states) > 1:
            self._check()
        else:
            self._cursor_row, self._scrollback = self._expected_places(self.shadow.state)

    def _expected_places(self, state: State) -> tuple[int, int]:
        """Where the cursor is on the tape, and how much of the tape is above the screen."""
        window = self.shadow.window(state)
        cursor = window.cursor if self.world.hardware_cursor else None
        row = len(state.tape) + (window.parking if cursor is None else cursor[0])
        rows = len(state.tape) + max(1, len(window))
        return row, max(self._scrollback, rows - self.surface.size[1])

    def _take_bytes(self, gesture: bool, position: Position | None) -> None:
        require(len(self.surface.written) <= 1, "a frame is one write", repr(self.surface.written))
        text = self.surface.take()
        columns = self.surface.size[0]
        check_frame(text, synchronized=self.world.synchronized, gesture=gesture, position=position, columns=columns)
        self.written.append(text)
        self._pending += text
        if gesture:
            self._since_gesture = [self._cursor_mode, text]
        elif self._since_gesture:
            self._since_gesture.append(text)
        self._cursor_mode = (re.findall(r"\x1b\[\?25[hl]", text) or [self._cursor_mode])[-1]

    def _feed(self, text: str) -> None:
        if not text:
            return
        try:
            self.emulator.write(text)
        except EmulatorError:
            if not self._second_terminal():
                raise

    def _flush(self) -> None:
        self._feed(self._pending)
        self._pending = ""

    # ---- what is seen

    def _look(self, agrees: Callable[[Tape], None]) -> None:
        """Hold the tape against the shadow."""
        try:
            agrees(self.emulator.tape())
        except (Divergence, EmulatorError):
            if not self._second_terminal():
                raise
            agrees(self.emulator.tape())

    def _second_terminal(self) -> bool:
        """Give everything since the last gesture to a new terminal, which then decides.

        Only for Ghostty's core as wasm: once a screen was cleared or changed its size, it shows what freed memory holds
        on rows that were never written, and now and then reads outside its memory or never comes to an end.
        """
        if self.world.emulator != "ghostty" or not self._since_gesture:
            return False
        self._open_another(*self.surface.size)
        self.emulator.write("".join(self._since_gesture))
        return True

    def _open_another(self, columns: int, rows: int) -> None:
        self.close()
        self.emulator = open_emulator("ghostty", columns, rows)

    def _agrees_when_suspended(self, tape: Tape) -> None:
        self.shadow.require_agreement(lambda state: self._same(tape.text, state.tape, "tape after suspending"))
        require(tape.cursor[0] == 0, "cursor in the first column after suspending", str(tape.cursor))
        require(tape.scrollback + tape.cursor[1] == len(self.shadow.state.tape), "cursor below what stays")

    def _check(self) -> None:
        self._flush()
        self.checks += 1
        self._look(self._agrees_with_all)

    def _agrees_with_all(self, tape: Tape) -> None:
        if self.shadow.rewrapped:
            self.shadow.require_agreement(lambda state: self._agrees_as_text(state, tape))
            self.shadow.rewrapped = False
            self._scrollback = tape.scrollback
        self.shadow.require_agreement(lambda state: self._agrees(state, tape))
        self._cursor_row, self._scrollback = self._expected_places(self.shadow.state)
        if self._reader is not None:
            self._check_reader()
        if self.checks % _SAMPLED == 0:
            self._check_cells(tape)

    def _agrees_as_text(self, state: State, tape: Tape) -> None:
        row, _ = self._expected_places(state)
        above = tape.scrollback + tape.cursor[1] - (row - len(state.tape))
        self.shadow.compare_text(state, tape.rows[: max(0, above)])

    def _agrees(self, state: State, tape: Tape) -> None:
        window = self.shadow.window(state)
        expected = state.tape + window.texts()
        self._same(tape.text, expected, "tape")
        row, scrollback = self._expected_places(state)
        require(
            tape.scrollback == scrollback, "history grows by what is committed", f"{tape.scrollback} for {scrollback}"
        )
        shown = tape.scrollback + tape.cursor[1]
        require(shown == row, "cursor row", f"{shown} for {row}, tape {len(state.tape)}, window {len(window)}")
        if window.cursor is not None and self.world.hardware_cursor:
            detail = f"{tape.cursor[0]} for {window.cursor[1]}"
            require(tape.cursor[0] == window.cursor[1], "cursor column", detail)

    def _same(self, shown: list[str], expected: list[str], rule: str) -> None:
        while expected and not expected[-1]:
            expected = expected[:-1]
        if shown != expected:
            same_rows([self._key(row) for row in shown], [self._key(row) for row in expected], rule)

    def _key(self, row: str) -> str:
        if row.isascii():
            return row
        if self.world.multiplexer:
            return "".join(character for character in row if character.isascii() and character != " ")
        return without_marks(row)

    def _check_reader(self) -> None:
        assert isinstance(self.emulator, XtermEmulator)
        assert self._reader is not None
        first, rows = self.emulator.viewport()
        require(first == self._reader[0], "a reader who scrolled up stays", f"at {first}, was {self._reader[0]}")
        same_rows(rows[: len(self._reader[1])], self._reader[1], "what a reader sees stays")

    def _check_cells(self, tape: Tape) -> None:
        modes = self.emulator.modes()
        state = self.shadow.state
        window = self.shadow.window(state)
        shown = window.cursor is not None and self.world.hardware_cursor
        require(modes.cursor_visible in (None, shown), "cursor is hidden unless asked for", f"{modes}")
        require(modes.autowrap is not False, "automatic wrapping is on")
        if not len(window):
            return
        index = self.checks % len(window)
        row = len(state.tape) + index - tape.scrollback
        expected = window.cells(index)
        if row < 0 or not all(cell.text.isascii() for cell in expected):
            return
        cells = self.emulator.cells(row)
        drawn = None if self.world.hardware_cursor else window.cursor
        for column, (cell, meant) in enumerate(zip(cells, expected, strict=True)):
            if drawn is not None and drawn[0] == index and min(drawn[1], len(cells) - 1) == column:
                meant = Cell(text=meant.text, width=meant.width, inverse=True)  # the cursor the engine draws itself
            if self.world.emulator == "xterm":  # which underlines every link by itself
                meant = replace(meant, underline=cell.underline)
            require(cell == meant, "style of a cell", f"row {index} column {column}: {cell} for {meant}")


def run(case: Case, applied: Callable[[int], None] = lambda index: None) -> None:
    """Raises Divergence when the terminal does not show what it must; `applied` hears how far it came."""
    session = Session(case.world)
    try:
        for index, operation in enumerate(case.operations):
            applied(index)
            session.apply(operation)
    finally:
        session.close()
