"""The scripted model: what a script says is what happens, and a mistake in it is found before."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from sightline.conversation import SIDE_QUESTION, AssistantMessage, Message, ReasoningPart, TextPart, UserMessage
from sightline.events import Usage
from sightline.exceptions import UserMistake
from sightline.models import CallDelta, CallStarted, Done, ModelError, ModelRequest, Piece, Retrying, TextDelta
from sightline.models._scripted import LARGEST, OVER, AgentRecording, ScriptedModel, load_recording, load_script
from sightline.settings import RetrySettings
from tests.models.serving import Naps, collect, outcome

GO = UserMessage([TextPart("Go.")])


def request(*answers: str) -> ModelRequest:
    messages: list[Message] = [GO, *(AssistantMessage([TextPart(text)]) for text in answers)]
    return ModelRequest(system="", messages=messages)


async def done(model: ScriptedModel, *answers: str) -> AssistantMessage:
    _, last = await outcome(model, request(*answers))
    assert isinstance(last, Done), last
    return last.message


def texts(pieces: list[Piece]) -> list[str]:
    return [piece.text for piece in pieces if isinstance(piece, TextDelta)]


async def test_a_turn_is_played_block_by_block() -> None:
    """Thinking, words and calls in their order."""
    model = ScriptedModel([[{"reasoning": "Hm."}, {"text": "Look."}, {"tool": "read", "args": {"path": "a"}}]])
    message = await done(model)
    assert message.parts[:2] == [ReasoningPart("Hm.", "scripted"), TextPart("Look.")]
    assert [(call.name, call.args) for call in message.calls] == [("read", {"path": "a"})]
    assert (message.stop_reason, message.usage, message.cost) == ("tool_use", None, None)


async def test_chunks_and_delays_are_as_told() -> None:
    """So many characters at a time, so long before each."""
    naps = Naps()
    model = ScriptedModel([[{"text": "abcdefg", "chunk": 3, "delay_ms": 20}, {"text": "hi"}]], sleep=naps)
    pieces = await collect(model, request())
    assert texts(pieces) == ["abc", "def", "g", "hi"]
    assert naps.slept == [0.02] * 3


async def test_a_call_streams_its_arguments() -> None:
    """Its beginning first, then pieces of the JSON."""
    pieces = await collect(ScriptedModel([[{"tool": "read", "args": {"path": "a"}, "chunk": 6}]]), request())
    assert isinstance(pieces[0], CallStarted)
    assert "".join(piece.delta for piece in pieces if isinstance(piece, CallDelta)) == '{"path":"a"}'
    assert len(pieces) == 4


async def test_a_turn_may_be_an_object() -> None:
    """With usage, and why it stopped."""
    model = ScriptedModel(
        [{"blocks": [{"text": "a"}], "usage": {"input_tokens": 7, "output_tokens": 1}, "stop": "length"}]
    )
    message = await done(model)
    assert (message.usage, message.stop_reason) == (Usage(7, 1), "length")


async def test_each_request_plays_the_next_turn_and_then_the_script_is_over() -> None:
    """Whatever became of the conversation; a script that is over is no failure."""
    model = ScriptedModel([[{"text": "one"}], [{"text": "two"}]])
    assert [(await done(model)).text for _ in range(4)] == ["one", "two", OVER, OVER]
    assert len(model.requests) == 4


async def test_a_resumed_conversation_goes_on_where_it_was() -> None:
    """By the answers that are in it; a turn that only fails gave none."""
    script: list[Any] = [[{"text": "one"}], [{"error": "busy"}], [{"text": "two"}], [{"text": "three"}]]
    assert (await done(ScriptedModel(script), "one", "two")).text == "three"
    assert (await done(ScriptedModel(script), "one", "two", "three")).text == OVER
    model = ScriptedModel([[{"text": "one"}], [{"text": "two"}], [{"text": "three"}]])
    assert (await done(model, "one")).text == "two"
    assert (await done(model)).text == "three"  # after a compaction there may be fewer answers than were given


async def test_an_error_that_passes_is_asked_again() -> None:
    """The wait is told, and is as long as the script says."""
    naps = Naps()
    failing = {"error": {"kind": "rate_limit", "message": "slow down", "retry_after": 2}}
    model = ScriptedModel([[failing], [{"text": "ok"}]], sleep=naps)
    pieces = await collect(model, request())
    assert pieces[0] == Retrying(1, 5, 2.0, "slow down")
    assert texts(pieces) == ["ok"]
    assert naps.slept == [2.0]


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        ("it broke", "overloaded", "it broke"),
        ({"kind": "overflow", "message": "too long"}, "overflow", "too long"),
        ({"kind": "auth"}, "auth", "the script says so"),
    ],
)
async def test_an_error_fails_the_request(error: Any, kind: str, words: str) -> None:
    """As a text, or with its kind."""
    model = ScriptedModel([[{"error": error}]], retry=RetrySettings(attempts=0))
    _, failed = await outcome(model, request())
    assert isinstance(failed, ModelError)
    assert (failed.kind, failed.message, failed.partial) == (kind, words, None)


@pytest.mark.parametrize(("kind", "hint"), [("rate_limit", "wait"), ("quota", "credit"), ("auth", "API key")])
async def test_an_error_after_words_says_what_to_do(kind: str, hint: str) -> None:
    """As that of a server does."""
    model = ScriptedModel(
        [[{"text": "So far"}, {"error": {"kind": kind, "message": "no"}}]], retry=RetrySettings(attempts=0)
    )
    _, failed = await outcome(model, request())
    assert isinstance(failed, ModelError)
    assert hint in failed.hint


async def test_an_error_after_words_is_a_cut_answer() -> None:
    """What came before it is the part that came; it is not asked again."""
    model = ScriptedModel([[{"text": "So far"}, {"error": {"kind": "cut", "message": "gone"}}]])
    pieces, failed = await outcome(model, request())
    assert isinstance(failed, ModelError)
    assert texts(pieces) == ["So far"]
    assert failed.partial is not None
    assert failed.partial.parts == [TextPart("So far")]
    assert len(model.requests) == 1


async def test_a_script_comes_from_a_file(tmp_path: Path) -> None:
    """And is named in what is known of the model."""
    path = tmp_path / "script.json"
    path.write_text(json.dumps([[{"text": "ä 👍"}]]), encoding="utf-8")
    model = ScriptedModel(path)
    assert (await done(model)).text == "ä 👍"
    assert model.facts.id == f"scripted:{path}"
    assert model.api == "scripted"
    await model.close()


@pytest.mark.parametrize(
    ("script", "where", "what"),
    [
        ('[[{"text": "a"}],\n [{"text": }]]', ":2:12: ", "not JSON"),
        ("", ":1:1: ", "not JSON"),
        ("{}", ": ", "list of turns"),
        ("[3]", "turn 1: ", "list of blocks"),
        ('[[], {"blocks": []}, {"block": []}]', "turn 3: ", "'block'"),
        ('[{"usage": {}}]', "turn 1: ", "list of blocks"),
        ('[[], [{"text": "a"}, {"words": "b"}]]', "turn 2, block 2: ", "exactly one of text, reasoning, tool, error"),
        ('[[{"text": "a", "tool": "b"}]]', "turn 1, block 1: ", "exactly one of"),
        ('[["a"]]', "turn 1, block 1: ", "exactly one of"),
        ('[[{"text": 3}]]', "turn 1, block 1: ", "`str`"),
        ('[[{"text": "a", "chunks": 3}]]', "turn 1, block 1: ", "chunks"),
        ('[[{"text": "a", "chunk": 0}]]', "turn 1, block 1: ", "chunk"),
        ('[[{"text": "a", "delay_ms": -1}]]', "turn 1, block 1: ", "delay_ms"),
        ('[[{"tool": "a", "args": []}]]', "turn 1, block 1: ", "args"),
        ('[[{"error": {"kind": "odd"}}]]', "turn 1, block 1: ", "kind"),
        ('[{"blocks": [], "stop": "odd"}]', "turn 1: ", "stop"),
        ('[{"blocks": [], "usage": {"input_tokens": "a"}}]', "turn 1: ", "input_tokens"),
    ],
)
def test_a_mistake_says_where_it_is(tmp_path: Path, script: str, where: str, what: str) -> None:
    """Line and column of what is no JSON, turn and block of what is no script."""
    path = tmp_path / "script.json"
    path.write_text(script, encoding="utf-8")
    with pytest.raises(UserMistake) as caught:
        load_script(path)
    assert str(path) in caught.value.message
    assert where in caught.value.message
    assert what in caught.value.message
    assert caught.value.hint


def test_a_script_that_is_not_there() -> None:
    """It is named."""
    with pytest.raises(UserMistake, match=r"nowhere\.json"):
        load_script("nowhere.json")


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "link to a device"])
def test_only_a_regular_file_is_a_script(tmp_path: Path, kind: str) -> None:
    """A named pipe or a terminal would be waited for, past every timeout and signal: it is not opened at all."""
    path = {"device": Path("/dev/zero"), "folder": tmp_path}.get(kind, tmp_path / "script.json")
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "link to a device":
        path.symlink_to("/dev/zero")
    with pytest.raises(UserMistake, match=r"cannot read the script .*: not a regular file"):
        load_script(path)


def test_a_script_that_is_too_large_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    with path.open("wb") as file:
        file.truncate(LARGEST + 1)
    with pytest.raises(UserMistake, match="larger than 64 MiB"):
        load_script(path)


async def test_a_script_has_those_of_agents_that_the_user_starts(tmp_path: Path) -> None:
    """In place of a turn, which it does not count as; beside blocks, too."""
    first = {"agents": {"Review": [[{"text": "I review."}]]}}
    second = {"blocks": [{"text": "Two."}], "agents": {"Review-2": [[{"text": "So do I."}]]}}
    path = tmp_path / "script.json"
    path.write_text(json.dumps([first, [{"text": "One."}], second]))
    own = ScriptedModel(str(path))
    assert [(await done(own)).text for _ in range(3)] == ["One.", "Two.", OVER]
    for id, words in (("Review", "I review."), ("Review-2", "So do I."), ("Review-3", OVER)):
        assert (await done(ScriptedModel(f"{path}#{id}"))).text == words


@pytest.mark.parametrize("turn", [{"agents": {}}, {"agents": []}, {"agents": {"A": "x"}}, {}])
def test_agents_that_are_none_are_a_mistake(tmp_path: Path, turn: Any) -> None:
    path = tmp_path / "script.json"
    path.write_text(json.dumps([turn]))
    with pytest.raises(UserMistake, match=r"script\.json: turn 1"):
        ScriptedModel(str(path))


async def test_a_script_has_those_of_its_agents(tmp_path: Path) -> None:
    """`FILE#ID` plays one, `FILE#PARENT.CHILD` one below another; without one the script is over."""
    inner = {"tool": "task", "args": {}, "agents": {"Inner": [[{"text": "I am below."}]]}}
    outer = {"tool": "task", "args": {}, "agents": {"Outer": [[{"text": "I am above."}, inner]]}}
    path = tmp_path / "team.json"
    path.write_text(json.dumps([[{"text": "Go."}], [outer]]))
    for name, words in (("Outer", "I am above."), ("Outer.Inner", "I am below."), ("Other", OVER), ("Outer.X", OVER)):
        message = await done(ScriptedModel(f"{path}#{name}"))
        assert message.parts[0] == TextPart(words)


def test_a_mistake_in_the_script_of_an_agent_has_its_place(tmp_path: Path) -> None:
    path = tmp_path / "team.json"
    path.write_text(json.dumps([[{"tool": "task", "agents": {"One": [[{"words": "?"}]]}}]]))
    with pytest.raises(UserMistake, match="agent One: turn 1"):
        load_script(f"{path}#One")


async def test_side_questions_have_turns_of_their_own() -> None:
    """In their order, whenever they come; the conversation's own turns are as without them."""
    model = ScriptedModel([{"blocks": [{"text": "side one"}], "aside": True}, [{"text": "one"}], [{"text": "two"}]])
    side = ModelRequest(system="", messages=[GO, UserMessage([TextPart("?")], SIDE_QUESTION)])
    played = []
    for asked in (side, request(), side, request("one")):
        _, last = await outcome(model, asked)
        assert isinstance(last, Done), last
        played.append(last.message.text)
    assert played == ["side one", "one", OVER, "two"]


def with_recording(folder: Path, name: str) -> Path:
    """A script with a recording for one agent, a script for another, and an agent below that with a recording."""
    below = {"tool": "task", "agents": {"Low": {"recording": name}}}
    agents = {"Other": {"recording": name, "delay_ms": 20}, "Ours": [[below]]}
    path = folder / "team.json"
    path.write_text(json.dumps([[{"text": "Go."}, {"tool": "task", "agents": agents}]]))
    return path


def test_an_agent_of_another_program_has_a_recording(tmp_path: Path) -> None:
    """A file beside the script, read as it is, at any depth. One with a script, or with nothing, has none."""
    path = with_recording(tmp_path, "codex.jsonl")
    (tmp_path / "codex.jsonl").write_bytes(b"\xff{}\n")
    assert load_recording(f"{path}#Other") == AgentRecording(b"\xff{}\n", 0.02)
    assert load_recording(f"{path}#Ours.Low") == AgentRecording(b"\xff{}\n")
    for agent in ("Ours", "Nobody", "Other.Low"):
        assert load_recording(f"{path}#{agent}") is None
    assert load_recording(str(path)) is None


@pytest.mark.parametrize(
    "name", ["../codex.jsonl", "/etc/passwd", "below/codex.jsonl", "..", ".", "", "a\0b", "\ud800"]
)
def test_a_recording_is_beside_its_script(tmp_path: Path, name: str) -> None:
    path = with_recording(tmp_path, name)
    with pytest.raises(UserMistake, match="not the name of a recording"):
        load_recording(f"{path}#Other")


@pytest.mark.parametrize("kind", ["missing", "link", "pipe", "folder", "too large"])
def test_only_a_regular_file_is_a_recording(tmp_path: Path, kind: str) -> None:
    """A link is none: it could lead to any file of the user."""
    path, recording = with_recording(tmp_path, "codex.jsonl"), tmp_path / "codex.jsonl"
    if kind == "link":
        (tmp_path / "secret").write_text("secret")
        recording.symlink_to(tmp_path / "secret")
    elif kind == "pipe":
        os.mkfifo(recording)
    elif kind == "folder":
        recording.mkdir()
    elif kind == "too large":
        with recording.open("wb") as file:
            file.truncate(LARGEST + 1)
    with pytest.raises(UserMistake, match=r"cannot read the recording codex\.jsonl"):
        load_recording(f"{path}#Other")


def test_an_agent_of_ours_plays_no_recording(tmp_path: Path) -> None:
    with pytest.raises(UserMistake, match="only an agent of another program plays a recording"):
        load_script(f"{with_recording(tmp_path, 'codex.jsonl')}#Other")
