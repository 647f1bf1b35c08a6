"""A long past, shown from its end: the last screenful at once, then all that was before it, above it.

- `show_end` appends the blocks that fill the screen and returns the others; `backfill` fills those in, from the oldest
  on, so that they become history in order while the screen stands still, and then releases the hold.
- It is done in slices: between two of them keys are heard and frames are drawn. A slice waits for its frame, for a slow
  terminal, and for an overlay to go away: under one nothing becomes history, and everything would pile up.
- Blocks may change and be appended meanwhile. Clearing the transcript ends it.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from sightline.tty._component import Component
from sightline.tty.components._transcript import BlockColumn
from sightline.tty.frame._display import Display

_SLICE = 0.004  # seconds

IsLive = Callable[[Component], bool]


def _never(block: Component) -> bool:
    return False


def show_end(
    transcript: BlockColumn, blocks: Sequence[Component], size: tuple[int, int], *, is_live: IsLive = _never
) -> Sequence[Component]:
    """Append the last blocks, as many as fill a screen of this size. Returns those before them, to be filled in."""
    columns, height = size
    first, rows = len(blocks), 0
    while first and rows < height:
        first -= 1
        rows += len(blocks[first].render(columns))
    if first:
        transcript.hold()
    for block in blocks[first:]:
        transcript.append(block, live=is_live(block))
    return blocks[:first]


async def backfill(
    display: Display, transcript: BlockColumn, blocks: Iterable[Component], *, is_live: IsLive = _never
) -> None:
    """Fill in what stands before the blocks that are held, oldest first."""
    waiting = iter(blocks)
    while some := _slice(waiting, display.surface.size[0]):
        while display.visible_overlays():
            await _frame(display)
        if transcript.held is None:
            return
        transcript.fill(some, is_live=is_live)
        display.request_render(urgent=True)
        await _frame(display)
    if transcript.held is not None:
        transcript.release_hold()
        display.request_render()


def _slice(blocks: Iterator[Component], columns: int) -> list[Component]:
    """What can be rendered in the time a slice has: a component caches its rows for the frame."""
    end = time.perf_counter() + _SLICE
    taken: list[Component] = []
    for block in blocks:
        block.render(columns)
        taken.append(block)
        if time.perf_counter() >= end:
            break
    return taken


async def _frame(display: Display) -> None:
    import asyncio

    drawn = asyncio.Event()
    display.after_frame(drawn.set)
    await drawn.wait()
