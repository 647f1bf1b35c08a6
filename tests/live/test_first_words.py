"""The first prompt of a session does not wait for its CLI to start: it is started while the prompt is written."""

from pathlib import Path

import pytest
from consoles import desk, said

from sightline.events import State, Text

pytestmark = pytest.mark.live


async def test_a_cli_is_ready_before_the_prompt_and_asks_nobody(
    tmp_path: Path, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is started when somebody can write a prompt; no server hears of it before there is one."""
    async with desk(tmp_path, provider, [[{"text": "Hello."}]], monkeypatch) as it:
        watching = it.session.subscribe(attends=True)
        await it.until(lambda: it.worker._connection.is_open, "the CLI to be ready")
        assert it.server.requests == []
        await it.turn("Go.")
        assert said(it.events) == "Hello."
        assert not [event for event in it.of(State) if event.key == "starting"]
        assert it.of(Text)
        watching.close()
