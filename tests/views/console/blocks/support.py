"""Calls and drawings for tests of blocks."""

from typing import Any

from sightline.events import Event
from sightline.text import clean_text
from sightline.transcript import Transcript, TranscriptCall
from sightline.tty import PLAIN, Component, ImageStore, Theme, measure, theme_for
from sightline.views.console._actions import bindings_from
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.blocks import block_for
from sightline.views.console.blocks._block import TranscriptBlock

WIDTHS = (20, 40, 80, 200)
COLOURS = theme_for(dark=True, depth="true")
HOSTILE = (
    "plain",
    "\x1b]0;title\x07\x1b[2J\x1b[31mred\x1b[0m",
    "日本語のとても長いテキスト" * 8,
    "👩‍👩‍👧‍👦 family 🇩🇪 flags e\u0301" * 6,
    "tab\tand\nlines\r\nand\u202eoverride",
    "\x9b31m\x9dstring\x9c\x07",
    "a" * 5000,
    "",
)


class Clock:
    """Seconds that pass when told."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def drawing(
    theme: Theme = PLAIN, *, unfolded: bool = False, linear: bool = False, clock: Clock | None = None
) -> DrawingOptions:
    made = DrawingOptions(
        theme, ImageStore(), bindings_from({}), cwd="/home/me/project", clock=clock or Clock(), linear=linear
    )
    made.unfolded = unfolded
    return made


def call(**fields: Any) -> TranscriptCall:
    return TranscriptCall(**{"agent": "", "id": "call-1", "name": "Tool"} | fields)


def ui(kind: str, **details: Any) -> dict[str, Any]:
    return {"ui": {"kind": kind}, **details}


def drawn(entry: TranscriptCall, how: DrawingOptions | None = None, width: int = 80, frames: int = 40) -> list[str]:
    """The rows of a call, after so many frames that all of it is there."""
    block = block_for(entry, how or drawing(), {})
    for _ in range(frames):
        rows = block.render(width)
    return list(rows)


def told(*events: Event, how: DrawingOptions | None = None) -> tuple[Transcript, TranscriptBlock]:
    """The fold of these events, and the block of its first entry."""
    fold = Transcript()
    for event in events:
        fold.apply(event)
    return fold, block_for(fold.now.entries[0], how or drawing(), fold.now.agents)


def fits(component: Component, widths: tuple[int, ...] = WIDTHS, frames: int = 3) -> None:
    """Rows are no wider than there is room, and hold nothing that could drive a terminal."""
    for width in widths:
        for _ in range(frames):
            rows = component.render(width)
            for row in rows:
                assert measure(row) <= width, f"{measure(row)} > {width}: {row!r}"
                assert clean_text(row) == row or "\x1b[" in row, row
                assert not set("\n\t\r\x07\x9b\x9d") & set(row), row
                assert "\x1b]" not in row.replace("\x1b]8;;", ""), row
