"""The terminal engine: what a frame costs, whatever the transcript weighs. CPU time; bytes as the terminal gets them.

- *streaming*: 200 KB of markdown in 2,000 chunks, a frame for each, a spinner and a prompt below it.
- *one long block*: a fence, a list, a table of 30 KB in 300 chunks.
- *scale*: a spinner's tick and a key on a million rows of history, against the same on none.
- *a stored session*: 600 KB in 300 messages; its last screenful, then all of it above, while the loop is free for keys.
- *typing*: keys while text streams, on 100,000 rows of history, through a real pseudo-terminal.
"""

import asyncio
import gc
import time
import tracemalloc
from collections.abc import Callable, Iterator

from bench.row import Row
from sightline.testing.documents import long_code, long_list, long_table, mixed_markdown
from sightline.tty import Capabilities, Component, Display, Key, theme_for
from sightline.tty.components import BlockColumn, Editor, Loader, Markdown, TextComponent, backfill, show_end

STREAMED_CHUNKS = 2000
BLOCK_CHUNKS = 300
STORED_BLOCKS = 300
WIDTH, HEIGHT = 100, 40


class Counted:
    """A terminal that takes everything at once."""

    busy = False

    def __init__(self, columns: int = WIDTH, rows: int = HEIGHT) -> None:
        self.size = (columns, rows)
        self.bytes = 0

    def write(self, text: str) -> None:
        self.bytes += len(text.encode())


class _Never:
    def cancel(self) -> None:
        pass


class Screen:
    """A transcript with a spinner and a prompt below it, as a person would have it."""

    def __init__(self, surface: Counted | None = None) -> None:
        self.theme = theme_for(dark=True, depth="true")
        self.now = 0.0
        self.surface = surface or Counted()
        self.display = Display(self.surface, Capabilities(synchronized_output=True))
        self.transcript = BlockColumn()
        self.loader = Loader(
            "working",
            call_later=lambda delay, callback: _Never(),
            request_render=self.display.request_render,
            clock=lambda: self.now,
            theme=self.theme,
        )
        self.loader.start()
        self.editor = Editor(theme=self.theme)
        for child in (self.transcript, self.loader, self.editor):
            self.display.add(child)
        self.display.set_focus(self.editor)
        self.display.render_now()

    def tick(self) -> None:
        self.now += 0.08
        self.display.request_render(self.loader)
        self.display.render_now()

    def key(self) -> None:
        self.display.handle_input(Key("a", text="a"))
        self.display.render_now()
        self.display.handle_input(Key("backspace"))
        self.display.render_now()


def rows() -> Iterator[Row]:
    yield from _streaming()
    for name, text in (("fence", long_code()), ("list", long_list()), ("table", long_table())):
        yield from _long_block(name, text)
    yield from _scale()
    yield _full_window()
    yield from _stored_session()


def _stored_session() -> Iterator[Row]:
    text = mixed_markdown(lines=600, size=600_000)
    size = -(-len(text) // STORED_BLOCKS)
    blocks = [Markdown(text[at : at + size], theme=Screen().theme) for at in range(0, len(text), size)]
    for block in blocks:
        block.finish()
    shown, whole, longest = asyncio.run(_shown_again(blocks))
    yield Row("600 KB stored, the last screenful: CPU", 50, shown * 1000, "ms")
    yield Row("600 KB stored, all of it in the scrollback: CPU", 1000, whole * 1000, "ms")
    yield Row("600 KB stored, the longest a key had to wait: CPU", 16, longest * 1000, "ms")


async def _shown_again(blocks: list[Markdown]) -> tuple[float, float, float]:
    """Seconds of CPU to the first frame, to the last, and of the longest turn of the loop between them."""
    loop = asyncio.get_running_loop()
    began = before = time.process_time()
    display, transcript = Display(Counted(), Capabilities(synchronized_output=True), loop), BlockColumn()
    display.add(transcript)
    older = show_end(transcript, blocks, (WIDTH, HEIGHT))
    display.render_now()
    shown = time.process_time() - began
    filling = loop.create_task(backfill(display, transcript, older))
    longest, before = 0.0, time.process_time()
    while not filling.done():
        await asyncio.sleep(0)
        now = time.process_time()
        longest, before = max(longest, now - before), now
    return shown, time.process_time() - began, longest


def _streaming() -> Iterator[Row]:
    text = mixed_markdown()
    shapes = (("nothing below, a frame per chunk", 1, True), ("30 frames/s", 7, False), ("a frame per chunk", 1, False))
    for frames, every, alone in shapes:
        screen = Screen()
        if alone:
            del screen.display.children[1:]
            screen.display.render_now()
        began = screen.surface.bytes
        cpu, _ = _streamed(screen, text, STREAMED_CHUNKS, every)
        final = Markdown(text, theme=screen.theme)
        final.finish()
        weight = sum(len(row.encode()) + 2 for row in final.render(WIDTH))
        ratio = (screen.surface.bytes - began) / weight
        yield Row(f"200 KB of markdown, {frames}: CPU", 1200, cpu * 1000, " ms")
        yield Row(f"200 KB of markdown, {frames}: bytes / rows", 1.25, ratio)


def _long_block(name: str, text: str) -> Iterator[Row]:
    cpu, longest = _streamed(Screen(), text, BLOCK_CHUNKS, 1)
    yield Row(f"30 KB {name} in 300 chunks: CPU", 1000, cpu * 1000, " ms")
    yield Row(f"30 KB {name}: longest frame", 5, longest * 1000, " ms")


def _streamed(screen: Screen, text: str, chunks: int, every: int) -> tuple[float, float]:
    """Seconds of CPU in all, and of the longest chunk with its frame."""
    block = Markdown(theme=screen.theme)
    screen.transcript.append(block, live=True)
    size = -(-len(text) // chunks)
    gc.collect()
    longest = 0.0
    began = before = time.process_time()
    for index, start in enumerate(range(0, len(text), size)):
        block.append(text[start : start + size])
        if index % every == 0:
            screen.display.request_render()
            screen.display.render_now()
        now = time.process_time()
        longest, before = max(longest, now - before), now
    block.finish()
    screen.transcript.finish(block)
    screen.display.request_render()
    screen.display.render_now()
    return time.process_time() - began, longest


def _scale() -> Iterator[Row]:
    empty, full = Screen(), Screen()
    _fill(full, 1_000_000)
    yield Row("spinner tick, a million rows / none, CPU", 1.1, _ratio(full.tick, empty.tick))
    yield Row("key, a million rows / none, CPU", 1.1, _ratio(full.key, empty.key))
    yield Row("memory per row of history", 16, _bytes_per_row(), " B")


class _Source(Component):
    """A block that holds nothing but its number."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number

    def render(self, width: int) -> list[str]:
        return [f"block {self.number} row {row}" for row in range(9)]


def _fill(screen: Screen, rows: int) -> None:
    for number in range(rows // 10):
        screen.transcript.append(_Source(number))
        if number % 50 == 0:
            screen.display.request_render()
            screen.display.render_now()
    screen.display.request_render()
    screen.display.render_now()


def _bytes_per_row() -> float:
    """What 500,000 rows of history leave behind, without the blocks."""
    screen, rows = Screen(), 500_000
    blocks = [_Source(number) for number in range(rows // 10)]
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for number, block in enumerate(blocks):
        screen.transcript.append(block)
        if number % 50 == 0:
            screen.display.request_render()
            screen.display.render_now()
    gc.collect()
    held = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    return held / rows


def _ratio(loaded: Callable[[], None], reference: Callable[[], None], runs: int = 2000, rounds: int = 9) -> float:
    """CPU of one against the other, in turns; the best of each."""
    times: dict[Callable[[], None], float] = {}
    for _ in range(rounds):
        for action in (loaded, reference):
            began = time.process_time()
            for _ in range(runs):
                action()
            times[action] = min(times.get(action, 1e9), time.process_time() - began)
    return times[loaded] / times[reference]


def _full_window() -> Row:
    """Every row of a window of 200 × 50 changes."""
    screen = Screen(Counted(200, 50))
    bodies = [[f"{side} " + "word " * 38 + str(row) for row in range(46)] for side in ("left", "right")]
    blocks = [TextComponent("\n".join(body)) for body in bodies]
    screen.transcript.append(blocks[0], live=True)
    screen.display.render_now()
    worst = 0.0
    for turn in range(20):
        blocks[0].set_text("\n".join(bodies[(turn + 1) % 2]))
        began = time.process_time()
        screen.display.request_render()
        screen.display.render_now()
        worst = max(worst, time.process_time() - began)
    return Row("a full window of 200 × 50, every row changed", 5, worst * 1000, " ms")
