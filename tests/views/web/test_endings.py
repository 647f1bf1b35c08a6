"""How the agent of a session that has ended did, and where it worked, as the list has it."""

import pytest

from sightline.events import CallEnding, ReviewFact, RunEnded, Text, ToolOutput, ToolResult, encode_event
from sightline.events.stamping import of_agent, stamp
from sightline.journal import Store
from sightline.views.web.page._endings import SessionEndings

_OK = RunEnded(stop_reason="stop", exit_code=0)
_REVIEW = {"ui": {"kind": ReviewFact.KIND, "target": "x"}}


def _journal(store, *events):
    folder = store.folder("abcdef")
    folder.mkdir(parents=True, exist_ok=True)
    lines = [encode_event(stamp(event, seq, float(seq))) for seq, event in enumerate(events, 1)]
    (folder / "journal.jsonl").write_bytes(
        b'{"kind":"session","id":"abcdef"}\n' + b"".join(line + b"\n" for line in lines)
    )


@pytest.mark.parametrize(
    ("events", "ending"),
    [
        ([], ""),
        ([_OK], ""),
        ([RunEnded(stop_reason="error", is_error=True, exit_code=1)], "failed"),
        ([RunEnded(is_error=True)], "failed"),
        ([RunEnded(stop_reason="refused", exit_code=3)], "refused"),
        ([RunEnded(stop_reason="timeout", is_error=True, exit_code=124)], "timed_out"),
        ([RunEnded(stop_reason="cancelled", exit_code=130)], "cancelled"),
        ([RunEnded(is_error=True), _OK], ""),
        ([_OK, *of_agent("Digger", [RunEnded(is_error=True)])], ""),
        ([_OK, ToolResult("c1", "no", {}, True)], ""),
        ([_OK, ToolResult("c1", "", {**_REVIEW, **CallEnding(ended="failed").as_details()}, True)], "failed"),
        ([RunEnded(is_error=True), ToolResult("c1", "", _REVIEW)], ""),
        ([_OK, ToolOutput("c1", "x", size=9), Text("x" * 100_000)], ""),
    ],
)
def test_a_list_knows_how_an_agent_ended(tmp_path, events, ending):
    """By its last run, or the review after it; a subagent's end and a command that failed are not its own."""
    store = Store(tmp_path)
    _journal(store, *events)
    assert SessionEndings(store).of("abcdef") == ending


def test_a_session_that_was_resumed_is_read_again(tmp_path):
    """And one without a journal has no ending."""
    store = Store(tmp_path)
    endings = SessionEndings(store)
    assert endings.of("abcdef") == ""
    _journal(store, RunEnded(is_error=True))
    assert endings.of("abcdef") == "failed"
    _journal(store, RunEnded(is_error=True), _OK)
    assert endings.of("abcdef") == ""
