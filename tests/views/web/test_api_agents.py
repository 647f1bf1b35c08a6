"""Sessions with an agent over HTTP: what can be chosen, starting one, resuming one, and what is refused."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import httpx2
import msgspec
import pytest

from sightline.settings import Settings
from sightline.views.web.api._agents import _why_no_model, folder_of
from sightline.views.web.api._reading import RequestRefused

from .conftest import DEADLINE, Served, wait_for


def _script(folder: Path, *turns: list[dict[str, object]]) -> str:
    script = folder.parent / f"{folder.name}.json"
    script.write_text(json.dumps(turns))
    return f"scripted:{script}"


def _folder(tmp_path: Path, name: str = "work") -> Path:
    folder = tmp_path / name
    folder.mkdir()
    return folder


def _session(served: Served, id: str) -> dict[str, object]:
    return next(one for one in served.get("/api/sessions").json()["sessions"] if one["id"] == id)


def _started(served: Served, folder: Path, *turns: list[dict[str, object]], level: str = "") -> str:
    asked = {"cwd": str(folder), "model": _script(folder, *turns), "level": level}
    answer = served.post("/api/agents", asked)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["session"])


def _journal(served: Served, session: str) -> list[str]:
    return (served.home / "sessions" / session / "journal.jsonl").read_text().splitlines()


def _ended(served: Served, session: str) -> None:
    environment = {**os.environ, "SIGHTLINE_HOME": str(served.home)}
    subprocess.run([sys.executable, "-m", "sightline", "stop", session], env=environment, check=True)
    wait_for(lambda: _session(served, session)["state"] == "ended")


async def test_a_session_is_started_with_what_was_chosen(served, tmp_path):
    """Folder, model and level are those of the request; the session takes a prompt, as one of the console does."""
    folder = _folder(tmp_path)
    session = await asyncio.to_thread(_started, served, folder, [{"text": "Here I am."}], level="plan")
    async with served.stream(f"/api/page?session={session}") as said:
        facts = await said.until("facts", lambda facts: facts.get("approval"))
        assert facts["approval"]["level"] == "plan"
        assert facts["model"].startswith("scripted:")
        answer = await asyncio.to_thread(served.post, f"/api/sessions/{session}/prompt", {"text": "hello"})
        assert answer.status_code == 202, answer.text
        await said.until("entries", lambda data: any(one.get("text") == "Here I am." for one in data["entries"]))
    assert _session(served, session)["cwd"] == str(folder)


async def test_a_session_that_ended_is_resumed_and_an_open_page_goes_on(served, tmp_path):
    """The page that showed it as ended is told that it lives again, and gets what comes."""
    folder = _folder(tmp_path)
    session = await asyncio.to_thread(_started, served, folder, [{"text": "One."}], [{"text": "Two."}])
    async with served.stream(f"/api/page?session={session}") as said:
        await asyncio.to_thread(served.post, f"/api/sessions/{session}/prompt", {"text": "first"})
        await said.until("entries", lambda data: any(one.get("text") == "One." for one in data["entries"]))
        await asyncio.to_thread(_ended, served, session)
        facts = await said.until("facts", lambda facts: not facts["live"])
        assert facts["resumable"]
        answer = await asyncio.to_thread(served.post, f"/api/sessions/{session}/resume")
        assert (answer.status_code, answer.json()) == (201, {"session": session})
        await said.until("facts", lambda facts: facts["live"])
        again = await asyncio.to_thread(served.post, f"/api/sessions/{session}/resume")
        assert again.status_code == 201  # it runs: nothing is started twice
        answer = await asyncio.to_thread(served.post, f"/api/sessions/{session}/prompt", {"text": "second"})
        assert answer.status_code == 202, answer.text
        await said.until("entries", lambda data: any(one.get("text") == "second" for one in data["entries"]))


async def test_a_session_is_resumed_with_no_more_than_it_had(served, tmp_path):
    """Started with a level below that of the settings, or changed to one above: the page names none when it resumes."""
    for name, level, chosen, comes_back in (("a", "plan", "", "plan"), ("b", "edit", "full", "auto")):
        session = await asyncio.to_thread(_started, served, _folder(tmp_path, name), [{"text": "One."}], level=level)
        async with served.stream(f"/api/page?session={session}") as said:
            await asyncio.to_thread(served.post, f"/api/sessions/{session}/prompt", {"text": "first"})
            await said.until("entries", lambda data: any(one.get("text") == "One." for one in data["entries"]))
            if chosen:
                path = f"/api/sessions/{session}/approval"
                assert (await asyncio.to_thread(served.post, path, {"level": chosen})).status_code < 300
            await asyncio.to_thread(_ended, served, session)
            await said.until("facts", lambda facts: not facts["live"])
            answer = await asyncio.to_thread(served.post, f"/api/sessions/{session}/resume")
            assert answer.status_code == 201, answer.text
            told = [json.loads(line) for line in _journal(served, session) if '"key":"approval"' in line]
            assert told[-1]["value"]["level"] == comes_back  # said before anybody can connect


def test_what_can_be_chosen(served, tmp_path):
    """The folder that is asked about and those of sessions, the level of its settings; no folder that is not there."""
    folder = _folder(tmp_path)
    _started(served, folder, [{"text": "hi"}])
    choices = served.get("/api/agents", params={"cwd": str(folder)}).json()
    assert choices["cwd"] == str(folder)
    assert choices["folders"][0] == str(folder)
    assert choices["level"] == "auto"
    assert all(os.path.isdir(one) for one in choices["folders"])
    assert {one["name"] for one in choices["agents"]} <= {"claude", "codex", "gemini", "opencode"}


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"cwd": "work"}, "not an absolute path: work"),
        ({"cwd": "/no/such/folder"}, "no folder /no/such/folder"),
        ({"cwd": "/etc/hostname"}, "no folder /etc/hostname"),
        ({"cwd": "/tmp\u0000"}, "not an absolute path"),
        ({"provider": "nobody"}, "no agent nobody"),
        ({"level": "everything"}, "invalid request"),
        ({"flags": {"permissions.approval": "full"}}, "invalid request"),
    ],
)
def test_what_cannot_be_started_is_refused(served, asked, why):
    """With a reason, and nothing runs."""
    before = len(served.get("/api/sessions").json()["sessions"])
    answer = served.post("/api/agents", asked)
    assert answer.status_code == 400
    assert why in answer.json()["error"]
    assert len(served.get("/api/sessions").json()["sessions"]) == before


def test_a_folder_that_is_closed_to_the_user_is_refused():
    """What the user's own process may not enter, the page may not either."""
    with tempfile.TemporaryDirectory() as closed:
        os.chmod(closed, 0)
        user = os.geteuid()
        try:
            if user == 0:  # root may enter every folder
                os.seteuid(65534)
            with pytest.raises(RequestRefused, match="no permission to work in"):
                folder_of(closed)
        finally:
            os.seteuid(user)


def test_a_recording_is_not_resumed(served):
    """There is no session behind it."""
    assert served.post("/api/sessions/r1/resume").status_code == 404


def test_what_can_be_chosen_says_that_there_is_no_model(served, tmp_path):
    """And not where the settings name one."""
    folder = _folder(tmp_path)
    assert served.get(f"/api/agents?cwd={folder}").json()["no_model"] == "there is no model to work with"
    models = msgspec.structs.replace(Settings().models, default="scripted:x.json")
    named = msgspec.structs.replace(Settings(), models=models)
    assert _why_no_model(named) == ""


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/api/agents"), ("POST", "/api/agents"), ("POST", "/api/sessions/abcdef/resume")]
)
def test_nobody_starts_anything_without_the_token_or_from_elsewhere(served, method, path):
    """As everything else that is asked: the token, and this very origin."""
    with httpx2.Client(base_url=served.base, timeout=DEADLINE) as stranger:
        assert stranger.request(method, path, json={}).status_code == 401
        elsewhere = {**served.headers, "Origin": "http://elsewhere.invalid"}
        assert stranger.request(method, path, json={}, headers=elsewhere).status_code == 403
