"""The recorder: what it writes, and when it refuses to."""

from pathlib import Path

import msgspec
import pytest

from sightline.testing.captures._box import BoxError, open_box
from sightline.testing.captures._record import write_recording
from sightline.testing.captures._scenarios import SCENARIOS
from sightline.testing.captures._witness import look
from sightline.testing.captures.chat import record_chat

needs_git = pytest.mark.needs("git")


def test_every_scenario_is_a_script_that_can_be_played() -> None:
    """A mistake in a scenario is found here, not after minutes of recording."""
    for name, scenario in SCENARIOS.items():
        assert scenario.script.turns, name


@needs_git
def test_a_chat_is_recorded_whole_and_streamed(tmp_path: Path) -> None:
    """One file per response, the calls run for real in between, and a meta that lists them."""
    written = record_chat("bash_tool", SCENARIOS["bash_tool"], tmp_path, tmp_path / "projects")
    names = [f"bash_tool.turn{number}.{ending}" for ending in ("json", "sse") for number in (1, 2, 3)]
    assert [path.name for path in written] == [*names, "bash_tool.meta.json"]
    meta = msgspec.json.decode(written[-1].read_bytes())
    assert [file["file"] for file in meta["files"]] == names
    assert all(file["complete"] for file in meta["files"])
    assert [block["type"] for block in meta["expected"]] == ["tool_call", "tool_call", "text"]


@needs_git
def test_a_broken_response_is_recorded_as_such(tmp_path: Path) -> None:
    """What arrived before the connection broke is kept, and the meta says it is not whole."""
    written = record_chat("stream_cut", SCENARIOS["stream_cut"], tmp_path, tmp_path / "projects")
    meta = msgspec.json.decode(written[-1].read_bytes())
    assert [file["complete"] for file in meta["files"]] == [True, False, True, False]
    assert b"Here comes" in (tmp_path / "openai_compatible/stream_cut.turn2.sse").read_bytes()


def test_a_recording_that_names_the_machine_is_not_written(tmp_path: Path) -> None:
    """Neither it nor its meta: better none than one that has to be cleaned by hand."""
    body = f'{{"cwd": "{Path.home()}/project"}}\n'.encode()
    with pytest.raises(BoxError, match="would name this machine"):
        write_recording(tmp_path / "claude", "leak", {".jsonl": body}, {})
    assert not (tmp_path / "claude").exists()


def test_without_a_box_nothing_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where bubblewrap is missing the recorder says so."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BoxError, match="bubblewrap is not installed"), open_box():
        pass


def test_the_witness_finds_words_and_calls_in_raw_output() -> None:
    """It reads each CLI's lines without our sources: deltas are joined, a call's result is found by its id."""
    lines = (
        b'{"type":"message","role":"assistant","content":"Hel"}\n'
        b'{"type":"message","role":"assistant","content":"lo"}\n'
        b'{"type":"tool_use","tool_id":"a","tool_name":"run_shell_command","parameters":{"command":"ls"}}\n'
        b'{"type":"tool_result","tool_id":"a","status":"success","output":"README.md"}\n'
    )
    seen = look("gemini", lines)
    call = seen.take('run_shell_command{"command":"ls"}')
    assert seen.words == "Hello"
    assert call is not None
    assert (call.status, call.output) == ("success", "README.md")
    assert seen.take('run_shell_command{"command":"ls"}') is None
