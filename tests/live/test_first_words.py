"""The first prompt of a session does not wait for its CLI to start: it is started while the prompt is written."""

import json
from pathlib import Path
from typing import Any

import pytest
from consoles import desk, said

from sightline.events import State, Text
from sightline.providers.opencode._server import OpenCodeServer

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


@pytest.mark.parametrize("complete", [True, False])
async def test_opencode_loads_the_project_early_where_it_needs_no_registry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, complete: bool
) -> None:
    """Nobody hears of it before there is a prompt, either way; a package that is missing is asked for afterwards."""
    loaded: list[str] = []
    request = OpenCodeServer._request

    async def recorded(channel: OpenCodeServer, method: str, path: str, body: Any = None) -> Any:
        loaded.append(path)
        return await request(channel, method, path, body)

    monkeypatch.setattr(OpenCodeServer, "_request", recorded)
    async with desk(tmp_path, "opencode", [[{"text": "Hello."}]], monkeypatch) as it:
        if complete:
            folder = tmp_path / "lab" / "home" / ".config" / "opencode"
            (folder / "node_modules").mkdir()
            lock = {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}
            (folder / "package-lock.json").write_text(json.dumps(lock))
        watching = it.session.subscribe(attends=True)
        await it.until(lambda: it.worker._connection.is_open, "the CLI to be ready")
        assert ("/config/providers" in loaded) == complete
        assert it.server.requests == []
        await it.turn("Go.")
        assert said(it.events) == "Hello."
        assert bool(it.server.strays) != complete
        watching.close()
