"""The log of frames (§9, SIGHTLINE_DEBUG_REDRAW)."""

from pathlib import Path

from sightline.tty.frame._redraw_log import RedrawLog
from tests.tty.paper import Paper
from tests.tty.support import Lines, a_display


def test_s9_every_frame_is_noted_with_its_intent_and_the_ledger(tmp_path: Path) -> None:
    """In a file of the person's own, and nowhere on the terminal."""
    path = tmp_path / "frames.log"
    paper = Paper(rows=3)
    display, lines = a_display(paper), Lines("a")
    display.log = RedrawLog(str(path))
    display.add(lines)
    display.render_now()
    lines.set("abcde")
    display.render_now()
    display.reset()
    paper.expect_gesture()
    display.render_now()
    display.log.close()
    first, second, third = path.read_text().splitlines()
    assert first.startswith("update C=0 W=0 B=1 L=1 ")
    assert second.startswith("update C=2 W=2 B=5 L=5 ")
    assert third.startswith("replay C=2 W=2 B=5 L=5 ")
    assert path.stat().st_mode & 0o777 == 0o600
    assert "C=2" not in "".join(paper.written)
