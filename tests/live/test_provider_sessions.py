"""A session of ours over each provider's real CLI: prompt after prompt, stopped, gone on with."""

from pathlib import Path

import pytest
from consoles import asked, commands, desk, ends, kept, said
from lab import Script

from sightline.events import Text, ToolResult, ToolUse
from sightline.host import Abort, CancelCall

pytestmark = pytest.mark.live

ALL = ["claude", "codex", "gemini", "opencode", "openai_compatible"]
CLIS = ALL[:-1]
TALK: Script = [
    [{"text": "First answer."}],
    [{"text": "Second answer."}],
    [{"text": "Third answer."}],
]


@pytest.mark.parametrize("provider", ALL)
async def test_prompts_follow_each_other_in_one_conversation(
    tmp_path: Path, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second prompt goes on with the conversation of the first, and so does one after our session was resumed."""
    async with desk(tmp_path, provider, TALK, monkeypatch) as first:
        assert said(await first.turn("One.")) == "First answer."
        assert said(await first.turn("Two.")) == "Second answer."
        session = first.session.id
    async with desk(tmp_path, provider, TALK, monkeypatch, resume=session) as second:
        assert said(await second.turn("Three.")) == "Third answer."
    told = kept(tmp_path, session)
    assert asked(told) == ["One.", "Two.", "Three."]
    assert len({event.block for event in told if isinstance(event, Text)}) == 3
    assert [ended.is_error for ended in ends(told)] == [False, False, False]


@pytest.mark.parametrize("provider", CLIS)
async def test_stopping_keeps_what_was_said_and_gives_back_what_waits(
    tmp_path: Path, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that runs is ended, its call closed, queued prompts returned, and the next prompt goes on."""
    script: Script = [
        [{"tool": "Bash", "args": {"command": "test -e began || { touch began; sleep 300; }"}}],
        [{"text": "Later."}],
    ]
    async with desk(tmp_path, provider, script, monkeypatch) as it:
        await it.say("Go.")
        await it.until((it.project / "began").exists, "the command")
        assert (await it.say("And then this.", how="follow_up")).ok
        call = it.of(ToolUse)[-1].id if it.of(ToolUse) else ""
        assert not (await it.session.submit(CancelCall(call))).ok
        reply = await it.session.submit(Abort())
        assert reply.data["queued"] == ["And then this."]
        await it.done()
        assert ends(it.events)[-1].stop_reason == "cancelled"
        assert {use.id for use in it.of(ToolUse)} == {result.id for result in it.of(ToolResult)}
        assert asked(it.events) == ["Go."]
        await it.turn("Go on.")
        assert not ends(it.events)[-1].is_error


@pytest.mark.parametrize("provider", CLIS)
async def test_what_is_said_meanwhile_is_the_next_turn(
    tmp_path: Path, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A prompt that waits is sent when the run is over, and calls of both runs have ids of their own."""
    script: Script = [
        [{"tool": "Bash", "args": {"command": "until test -e go; do sleep 0.05; done"}}],
        [{"text": "One."}],
        [{"tool": "Bash", "args": {"command": "echo two"}}],
        [{"text": "Two."}],
    ]
    async with desk(tmp_path, provider, script, monkeypatch) as it:
        await it.say("First.")
        await it.say("Second.", how="follow_up")
        (it.project / "go").touch()
        await it.done()
        assert said(it.events) == "One.Two."
        assert asked(it.events) == ["First.", "Second."]
        assert len({use.id for use in it.of(ToolUse)}) == len(commands(it.events)) == 2
