"""Recorded bodies of real servers and proxies: streamed and whole they say the same, and errors are what they were."""

import json
from pathlib import Path
from typing import Any

import pytest

from sightline.conversation import AssistantMessage, CallPart, ReasoningPart
from sightline.models import Done, ModelError, Piece
from sightline.models._assembly import Assembly
from sightline.models._chat._answer import ChatAnswer
from sightline.models.http._openai_failure import classify
from sightline.models.http._sse import ServerEvent, Splitter

CAPTURES = Path(__file__).parents[2] / "captures" / "openai_compatible"
FILES = {
    entry["file"]: entry
    for meta in sorted(CAPTURES.glob("*.meta.json"))
    for entry in json.loads(meta.read_text(encoding="utf-8"))["files"]
}
WHOLE = [name for name, entry in FILES.items() if entry["status"] == 200 and entry["complete"]]
TWICE = [name.removesuffix(".sse") for name in WHOLE if name.endswith(".sse") and name[:-3] + "json" in WHOLE]


def played(name: str) -> AssistantMessage:
    answer, data = ChatAnswer(Assembly("chat", "m"), lambda _: None, ("read_file", "run_command")), CAPTURES / name
    pieces: list[Piece] = []
    for event in _events(data):
        pieces += answer.read(event.data)
    pieces += answer.end()
    assert isinstance(pieces[-1], Done)
    return pieces[-1].message


def _events(path: Path) -> list[ServerEvent]:
    if path.suffix == ".json":
        return [ServerEvent("", path.read_bytes())]
    splitter = Splitter()
    events = [*splitter.feed(path.read_bytes()), splitter.end()]
    return [event for event in events if event is not None]


def content(message: AssistantMessage) -> dict[str, Any]:
    thoughts = [part.text for part in message.parts if isinstance(part, ReasoningPart)]
    calls = [(part.name, part.args, part.broken) for part in message.parts if isinstance(part, CallPart)]
    return {
        "text": message.text,
        "thoughts": "".join(thoughts),
        "calls": calls,
        "usage": message.usage,
        "stop": message.stop_reason,
    }


@pytest.mark.parametrize("name", TWICE)
def test_streamed_and_whole_are_the_same_answer(name: str) -> None:
    """Words, thinking, calls, usage and why it stopped."""
    streamed, whole = content(played(f"{name}.sse")), content(played(f"{name}.json"))
    if whole["usage"] and streamed["usage"]:
        streamed["usage"] = whole["usage"] = (whole["usage"].input_tokens, whole["usage"].output_tokens)
    assert streamed == whole


@pytest.mark.parametrize("name", [name for name, entry in FILES.items() if not entry["complete"]])
def test_a_recorded_cut_is_a_cut(name: str) -> None:
    """And not an answer."""
    with pytest.raises(ModelError) as caught:
        played(name)
    assert caught.value.kind == "cut"


@pytest.mark.parametrize("name", [name for name, entry in FILES.items() if entry["status"] != 200])
def test_a_recorded_error_is_understood(name: str) -> None:
    """By its status, with the words of the server."""
    status = FILES[name]["status"]
    error = classify(status, {}, (CAPTURES / name).read_bytes())
    assert error.kind == {400: "bad_request", 429: "rate_limit"}.get(status, "overloaded")
    assert error.retryable == (status != 400)
    assert len(error.message) > len("HTTP 400: ")
