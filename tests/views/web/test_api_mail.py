"""The messages between agents over HTTP: read page by page, whole, live, and written."""

import asyncio
import json
from pathlib import Path
from typing import Any

import msgspec

from sightline.views.web.api._bodies import MailBody, MailList

from .test_api import fits

_LONG = "x" * 5000


def _irc(**args: Any) -> dict[str, Any]:
    return {"tool": "irc", "args": {"op": "send", **args}}


def _script(folder: Path, agent: list[Any], *after: Any) -> str:
    task = {"agent": "task", "assignment": "Do.", "id": "Scout"}
    turns = [[{"tool": "task", "args": task, "agents": {"Scout": agent}}], [{"text": "So."}], *after]
    script = folder.parent / f"{folder.name}.json"
    script.write_text(json.dumps(turns))
    return f"scripted:{script}"


def standings(data: Any) -> list[tuple[str, str]]:
    return [(each["id"], each["standing"]) for each in data["messages"]]


async def _post(served: Any, path: str, body: Any) -> Any:
    return await asyncio.to_thread(served.post, path, body)


async def test_messages_are_read_and_written(served, tmp_path):
    """As the document says; a long one comes cut, and whole when it is asked for."""
    folder = tmp_path / "work"
    folder.mkdir()
    done = [{"tool": "yield", "args": {"result": "seen"}}]
    agent = [[_irc(to="Main", message=_LONG)], done, [{"text": "I read that."}]]
    started = await _post(
        served, "/api/agents", {"cwd": str(folder), "model": _script(folder, agent, [{"text": "Yes?"}])}
    )
    session = started.json()["session"]
    path = f"/api/sessions/{session}/mail"
    async with served.stream(f"/api/page?session={session}") as said:
        await _post(served, f"/api/sessions/{session}/prompt", {"text": "go"})
        facts = await said.until("facts", lambda data: any(agent["state"] == "idle" for agent in data["agents"]))
        assert facts["mail"]["messages"] == 1
        (first,) = served.get(path).json()["messages"]
        assert (first["id"], first["from"], first["to"], first["whole"]) == ("m1", "Scout", ["Main"], False)
        assert len(first["text"]) <= 1000
        reply = await _post(served, path, {"text": "Look again.", "agent": "Scout", "reply_to": "m1"})
        assert reply.status_code == 202, reply.text
        assert reply.json()["id"] == "m2"
        assert reply.json()["data"] == {"receipts": [{"to": "Scout", "outcome": "woken", "error": ""}]}
        await said.until("mail", lambda data: ("m2", "woken · read") in standings(data))
        document = served.get("/api/openapi.json").json()
        both = served.get(path)
        assert [each.id for each in msgspec.json.decode(both.content, type=MailList).messages] == ["m1", "m2"]
        assert [each["id"] for each in served.get(path, params={"before": 1}).json()["messages"]] == ["m1"]
        whole = served.get(f"{path}/m1")
        assert msgspec.json.decode(whole.content, type=MailBody).text == _LONG
        for answer, name in ((both, "mail"), (whole, "mail/{mail}")):
            described = document["paths"][f"/api/sessions/{{id}}/{name}"]["get"]["responses"]["200"]
            assert fits(answer.json(), described["content"]["application/json"]["schema"], document)
        assert served.get(f"{path}/m9").status_code == 404
        assert served.get(path, params={"before": "x"}).status_code == 400
        for body, status in [
            ({"text": " "}, 400),
            ({"text": "x", "agent": "Nobody"}, 409),
            ({"text": "x", "to": 1}, 400),
        ]:
            assert (await _post(served, path, body)).status_code == status


async def test_a_tab_that_comes_late_gets_the_last_messages(served, tmp_path):
    """However many there are."""
    folder = tmp_path / "work"
    folder.mkdir()
    many = [_irc(to="Main", message=f"text {number}") for number in range(130)]
    agent = [many, [{"tool": "yield", "args": {"result": "seen"}}]]
    started = await _post(served, "/api/agents", {"cwd": str(folder), "model": _script(folder, agent)})
    session = started.json()["session"]
    async with served.stream(f"/api/page?session={session}") as said:
        await _post(served, f"/api/sessions/{session}/prompt", {"text": "go"})
        await said.until("facts", lambda data: data.get("mail", {}).get("messages") == 130)
        async with served.stream(f"/api/page?session={session}") as late:
            mail = await late.until("mail")
    assert (mail["reset"], mail["total"]) == (True, 130)
    assert [each["n"] for each in mail["messages"]] == list(range(30, 130))
