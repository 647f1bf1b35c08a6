"""Sessions ended, renamed, archived and deleted over HTTP: who may, and what is refused; and a host that was killed."""

import asyncio
import json
import os
import signal

import pytest

from sightline.transcript import Snapshot
from sightline.views._levels import LEVELS, LEVELS_OF_OTHERS
from sightline.views.web.page._facts import facts_of

from .conftest import from_strangers, wait_for
from .test_api_agents import _ended, _folder, _session, _started
from .test_api_events import host_of

_BODIES = {"stop": {}, "rename": {"title": "x"}, "archive": {}, "delete": {}}


@pytest.fixture(scope="module")
def talked(served, tmp_path_factory) -> str:
    """A session with a conversation that has ended."""
    folder = tmp_path_factory.mktemp("talked")
    session = _started(served, folder, [{"text": "Hello."}])
    assert served.post(f"/api/sessions/{session}/prompt", {"text": "the first words"}).status_code == 202
    wait_for(lambda: "Hello." in served.get(f"/api/sessions/{session}").text)
    _ended(served, session)
    return session


@pytest.mark.parametrize("path", list(_BODIES))
@from_strangers
def test_nobody_else_may_change_the_list(served, talked, path, headers, status):
    """A page from elsewhere, or a program without the token, changes nothing."""
    before = _session(served, talked)
    answer = served.client.post(f"/api/sessions/{talked}/{path}", json=_BODIES[path], headers=headers)
    assert answer.status_code == status
    assert _session(served, talked) == before


@pytest.mark.parametrize("path", list(_BODIES))
@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_only_a_post_changes_anything(served, talked, path, method):
    """A link, an image or a form of another method does not."""
    before = _session(served, talked)
    answer = served.client.request(method, f"/api/sessions/{talked}/{path}", headers=served.headers)
    assert answer.status_code == 405
    assert _session(served, talked) == before


@pytest.mark.parametrize("path", list(_BODIES))
@pytest.mark.parametrize("id", ["zzzzzz", "..", "r1", "%2e%2e", "a"])
def test_what_is_no_session_is_not_found(served, path, id):
    """A whole id and nothing else names one: no beginning of it, no recording, no folder above."""
    assert served.post(f"/api/sessions/{id}/{path}", _BODIES[path]).status_code == 404


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("rename", {}),
        ("rename", {"title": " \n\x1b[2J"}),
        ("rename", {"title": "x" * 501}),
        ("rename", {"title": 3}),
        ("archive", {"archived": "yes"}),
        ("delete", {"force": True}),
        ("stop", {"unless_watched": True}),
    ],
)
def test_a_body_that_is_not_as_described_changes_nothing(served, talked, path, body):
    """With what is wrong about it."""
    before = _session(served, talked)
    answer = served.post(f"/api/sessions/{talked}/{path}", body)
    assert (answer.status_code, bool(answer.json()["error"])) == (400, True)
    assert _session(served, talked) == before


@pytest.mark.parametrize("path", ["rename", "archive", "delete"])
def test_a_session_of_commands_is_refused_as_on_the_command_line(served, path):
    """It has no conversation; its output stays."""
    job = served.run("echo", "kept")
    answer = served.post(f"/api/sessions/{job.rpartition('-')[0]}/{path}", _BODIES[path])
    assert answer.status_code == 409
    assert "has no conversation" in answer.json()["error"]
    assert served.artifact(job).read_text() == "kept\n"


def test_a_session_is_renamed_archived_ended_and_deleted(served, tmp_path):
    """Deleting waits until it has ended; then its folder is gone."""
    session = _started(served, _folder(tmp_path), [{"text": "Hello."}])
    served.post(f"/api/sessions/{session}/prompt", {"text": "the first words"})
    wait_for(lambda: _session(served, session)["title"] == "the first words")
    assert served.post(f"/api/sessions/{session}/rename", {"title": "A \x1b[31mtitle"}).status_code == 202
    assert _session(served, session)["title"] == "A title"
    assert served.post(f"/api/sessions/{session}/archive").status_code == 202
    assert _session(served, session)["archived"]
    assert served.post(f"/api/sessions/{session}/archive", {"archived": False}).status_code == 202
    assert not _session(served, session)["archived"]
    refused = served.post(f"/api/sessions/{session}/delete")
    assert (refused.status_code, refused.json()) == (
        409,
        {"error": f"session {session} is running", "hint": "end it first"},
    )
    assert served.post(f"/api/sessions/{session}/stop").status_code == 202
    wait_for(lambda: _session(served, session)["state"] == "ended")
    assert served.post(f"/api/sessions/{session}/stop").status_code == 409
    assert served.post(f"/api/sessions/{session}/delete").status_code == 202
    assert session not in {one["id"] for one in served.get("/api/sessions").json()["sessions"]}
    assert not (served.home / "sessions" / session).exists()


async def test_a_killed_host_is_lost_and_not_just_ended(served, tmp_path):
    """Of an agent's session: at once for who watches, later from what is stored, until it is resumed."""
    folder = _folder(tmp_path)
    session = await asyncio.to_thread(_started, served, folder, [{"text": "One."}], [{"text": "Two."}])
    async with served.stream(f"/api/page?session={session}") as said:
        await asyncio.to_thread(served.post, f"/api/sessions/{session}/prompt", {"text": "first"})
        await said.until("entries", lambda data: any(one.get("text") == "One." for one in data["entries"]))
        os.kill(host_of(served, session), signal.SIGKILL)
        facts = await said.until("facts", lambda facts: not facts["live"])
        assert facts["resumable"]
        assert facts["lost"] == _last_event(served, session)
    assert (await asyncio.to_thread(_session, served, session))["state"] == "lost"
    async with served.stream(f"/api/page?session={session}") as said:
        facts = await said.until("facts")
        assert facts["lost"] is not None
        await asyncio.to_thread(served.post, f"/api/sessions/{session}/resume")
        facts = await said.until("facts", lambda facts: facts["live"])
        assert facts["lost"] is None
        await asyncio.to_thread(_ended, served, session)
        facts = await said.until("facts", lambda facts: not facts["live"])
        assert facts["lost"] is None


def _last_event(served, session) -> float:
    """When the last event was that its journal has."""
    lines = (served.home / "sessions" / session / "journal.jsonl").read_text().splitlines()
    return max(json.loads(line).get("time", 0.0) for line in lines if '"seq"' in line)


@pytest.mark.parametrize(
    ("provider", "levels"),
    [("codex", ["plan", "edit", "auto", "full"]), ("openai_compatible", ["auto"]), ("of-tomorrow", list(LEVELS))],
)
def test_the_levels_of_another_agent_are_those_it_has(provider, levels):
    """And those that can be chosen on the page; of a program that is unknown here, all of them."""
    facts = facts_of(Snapshot(state={"provider": provider}), live=True)
    assert facts["levels"] == {level: LEVELS_OF_OTHERS[level] for level in levels}
    assert facts["level_choices"] == [level for level in levels if level != "full"]


async def test_a_page_is_told_the_levels_in_the_words_of_the_console(served, tmp_path):
    """One source: what the console shows is what is sent."""
    session = await asyncio.to_thread(_started, served, _folder(tmp_path), [{"text": "hi"}])
    async with served.stream(f"/api/page?session={session}") as said:
        facts = await said.until("facts")
        assert (facts["levels"], facts["level_choices"]) == (LEVELS, ["plan", "edit", "auto"])
    choices = (await asyncio.to_thread(served.get, "/api/agents", params={"cwd": str(tmp_path)})).json()
    assert choices["levels"] == {name: LEVELS[name] for name in ("plan", "edit", "auto")}


def test_sessions_are_searched_as_on_the_command_line(served, talked, tmp_path):
    """By what is in a conversation, or by its new title; an archived one is found, too. Every second part matches."""
    other = _started(served, _folder(tmp_path), [{"text": "Hello."}])
    served.post(f"/api/sessions/{other}/prompt", {"text": "all about okapis"})
    wait_for(lambda: _session(served, other)["title"] == "all about okapis")

    def found(text, **more):
        hits = served.get("/api/search", params={"text": text, **more}).json()["hits"]
        return [(hit["session"]["id"], hit["snippet"]) for hit in hits]

    assert wait_for(lambda: found("OKAP about")) == [(other, ["all ", "about", " ", "okapis", ""])]
    assert found("okapis first") == []  # each is in another session
    assert {id for id, _ in found("hello")} >= {other, talked}
    assert len(found("hello", limit=1)) == 1
    assert found("") == found('" OR *') == []
    served.post(f"/api/sessions/{other}/rename", {"title": "Zebras"})
    served.post(f"/api/sessions/{other}/archive")
    assert found("zebra")[0][0] == other
    assert served.get("/api/search", params={"text": "zebra"}).json()["hits"][0]["session"]["archived"]
    assert served.get("/api/search", params={"text": "x" * 501}).status_code == 400
    _ended(served, other)


@from_strangers
def test_nobody_else_may_search(served, talked, headers, status):
    """What was written in a session is for its user."""
    assert served.client.get("/api/search?text=first", headers=headers).status_code == status


def test_the_list_begins_with_what_works_then_with_what_changed_last(served, tmp_path):
    """A session that was resumed stands before one that began later."""
    first, second = (_started(served, _folder(tmp_path, name), [{"text": "One."}], [{"text": "Two."}]) for name in "ab")
    for session, text in ((second, "second"), (first, "first")):
        served.post(f"/api/sessions/{session}/prompt", {"text": text})
        wait_for(lambda session=session: not _session(served, session)["busy"] and _session(served, session)["title"])

    def order(*ids):
        return [one["id"] for one in served.get("/api/sessions").json()["sessions"] if one["id"] in ids]

    wait_for(lambda: order(first, second) == [first, second])
    job = served.start("sh", "-c", "until [ -e go ]; do sleep 0.02; done", cwd=str(tmp_path))
    commands = job.rpartition("-")[0]
    assert order(first, second, commands) == [commands, first, second]
    (tmp_path / "go").touch()
    served.ended(job)
    for session in (first, second):
        _ended(served, session)
