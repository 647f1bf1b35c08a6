"""The stream of a session drawn on a plain terminal: each byte once, wherever it comes from."""

from pathlib import Path

from sightline.events import ToolOutput
from sightline.journal import Artifact, Store
from sightline.transcript import Snapshot, TranscriptCall
from sightline.views.plain._drawing import JobDrawing
from sightline.views.plain._palette import PLAIN
from sightline.views.plain.terminal_block import TerminalBlock

JOB = "abcdef-1"


def test_an_event_that_begins_before_what_was_drawn_adds_only_the_rest(tmp_path: Path) -> None:
    """The past was read from the artifact up to the middle of what comes next in one piece."""
    store = Store(tmp_path)
    path = store.artifact_path(JOB)
    path.parent.mkdir(parents=True)
    artifact = Artifact(path)
    artifact.write("stdout", b"one\ntwo\n")
    drawing = JobDrawing(store, TerminalBlock(80, 24, PLAIN), PLAIN, job=JOB, headings=False, secrets=None)
    call = TranscriptCall("", JOB, "exec", received=4)
    drawn = "".join(drawing.draw(Snapshot(1, entries=[call])))
    drawn += "".join(drawing.draw([ToolOutput(JOB, "one\ntwo\n", "stdout", 0, 0, 8)]))
    artifact.write("stdout", b"three\n")
    drawn += "".join(drawing.draw([ToolOutput(JOB, "three\n", "stdout", 8, 0, 6)]))
    artifact.close()
    assert drawn.split() == ["one", "two", "three"]
