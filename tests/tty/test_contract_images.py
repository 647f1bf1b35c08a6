"""Images on a display: tui-core-renderer.md §8, where the parts alone cannot say it."""

import re

from sightline.tty._images import ImageStore
from sightline.tty.components._image import ImageComponent
from sightline.tty.components._transcript import BlockColumn
from sightline.tty.frame._display import Display
from sightline.tty.terminal._capabilities import Capabilities
from tests.tty.contract_support import Sink
from tests.tty.support import Lines
from tests.tty.test_images import commands, png


def shown(rows: int, *, limit: int = 1) -> tuple[Sink, Display, BlockColumn, ImageStore]:
    sink = Sink(40, rows)
    images = ImageStore("kitty", cell=(10, 20), first_number=0x20001, limit=limit, placeholders=True)
    display = Display(sink, Capabilities(synchronized_output=True, images="kitty"), images=images)
    transcript = BlockColumn(gap=0)
    display.add(transcript)
    return sink, display, transcript, images


def draw(display: Display) -> None:
    """Until nothing more is asked for: a picture that gives way is drawn in the frame after."""
    for _ in range(2):
        display.request_render()
        display.render_now()


def test_s8_a_demoted_image_becomes_words_by_an_ordinary_update() -> None:
    """§8: pixels deleted by id, its visible rows redrawn in place as text; no clear, no home, no replay."""
    sink, display, transcript, images = shown(12)
    transcript.append(ImageComponent(png(100, 60), "first", images=images))
    draw(display)
    before = len(sink.written)
    transcript.append(ImageComponent(png(100, 60), "second", images=images))
    draw(display)
    written = "".join(sink.written[before:])
    assert ("d", "I") in [(part["a"], part.get("d")) for part in commands([written])]
    assert "[image: first · PNG 100×60]" in written
    assert not re.search(r"\x1b\[[23]J|\x1b\[\d*;?\d*H", written)


def test_s8_a_demoted_image_that_is_history_only_loses_its_pixels() -> None:
    """§8: committed rows are immutable: the image is deleted, and nothing is written for its rows."""
    sink, display, transcript, images = shown(4)
    transcript.append(ImageComponent(png(100, 60), "first", images=images))
    for index in range(8):
        transcript.append(Lines(f"row {index}"))
    draw(display)
    committed, before = display._ledger.committed, len(sink.written)
    transcript.append(ImageComponent(png(100, 60), "second", images=images))
    draw(display)
    written = "".join(sink.written[before:])
    assert ("d", "131073") in [(part["a"], part["i"]) for part in commands([written])]
    assert "first" not in written
    assert display._ledger.committed == committed + 3, "nothing below the demoted image shifted"


def test_s8_bytes_are_sent_once_over_many_frames() -> None:
    """§8: never re-emit full base64 per frame: rows come and go around it, the bytes do not."""
    sink, display, transcript, images = shown(12)
    transcript.append(ImageComponent(png(100, 60, b"x" * 5000), "only", images=images))
    for index in range(20):
        transcript.append(Lines(f"row {index}"))
        display.invalidate()
        draw(display)
    sent = [part for part in commands(sink.written) if part.get("a") == "t"]
    assert len(sent) == 1


def test_s8_a_gesture_sends_again_what_is_still_shown() -> None:
    """§8 with §2: the bytes go again only when a clear made the terminal forget them, and after that clear."""
    sink, display, transcript, images = shown(12)
    transcript.append(ImageComponent(png(100, 60), "only", images=images))
    draw(display)
    display.reset()
    display.render_now()
    frame = sink.written[-1]
    assert frame.index("\x1b[3J") < frame.index("a=t")
