"""Talking with an agent over HTTP: who may, what is refused, and what images are given out."""

import pytest

from .conftest import from_strangers

_PATHS = [
    "prompt",
    "btw",
    "review",
    "findings",
    "shell",
    "abort",
    "unqueue",
    "compact",
    "model",
    "approval",
    "requests/request-1",
]
_PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 32


@pytest.fixture(scope="module")
def session(served) -> str:
    """One that is running, without an agent in it."""
    return served.start("sleep", "60").rpartition("-")[0]


@pytest.mark.parametrize("path", _PATHS)
@from_strangers
def test_nobody_else_may_talk(served, session, path, headers, status):
    """The guards of every other path hold here: token, Origin and Host."""
    answer = served.client.post(f"/api/sessions/{session}/{path}", json={}, headers=headers)
    assert answer.status_code == status


@pytest.mark.parametrize("path", _PATHS)
def test_a_session_without_an_agent_says_so(served, session, path):
    """A session of commands has nobody to talk to."""
    bodies = {
        **{name: {"text": "hello"} for name in ("prompt", "btw", "shell")},
        "approval": {"level": "plan"},
        "findings": {"review": "abcdef-c1", "finding": 1},
    }
    body = bodies.get(path, {})
    answer = served.post(f"/api/sessions/{session}/{path}", body)
    assert answer.status_code == 409
    assert "has no agent" in answer.json()["error"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("prompt", {}),
        ("prompt", {"text": " \n"}),
        ("prompt", {"text": "x", "how": "shout"}),
        ("prompt", {"text": "x", "evil": 1}),
        ("btw", {"text": " "}),
        ("review", {"text": 3}),
        ("review", {"target": "main"}),
        ("findings", {"review": "abcdef-c1"}),
        ("findings", {"review": "abcdef-c1", "finding": "1"}),
        ("shell", {"text": ""}),
        ("abort", {"now": True}),
        ("compact", {"focus": 3}),
        ("model", {"model": "x", "evil": 1}),
        ("requests/request-1", {"answr": 1}),
    ],
)
def test_a_body_that_is_not_as_described_is_refused(served, session, path, body):
    """With what is wrong about it."""
    answer = served.post(f"/api/sessions/{session}/{path}", body)
    assert answer.status_code == 400
    assert answer.json()["error"]


def test_a_session_without_an_agent_has_nothing_to_review(served, session):
    answer = served.get(f"/api/sessions/{session}/review")
    assert answer.status_code == 409
    assert "has no agent" in answer.json()["error"]


@pytest.mark.parametrize("id", ["zzzzzz", "..", "r1"])
def test_a_session_nobody_knows_is_not_found(served, id):
    """Ids that are none as well."""
    assert served.post(f"/api/sessions/{id}/prompt", {"text": "x"}).status_code == 404


def test_an_image_is_known_by_its_bytes(served, session):
    """What is no image, or a file that is not an artifact, is not given out, whatever it is called."""
    folder = served.home / "sessions" / session / "artifacts"
    (folder / "a.png").write_bytes(_PNG)
    (folder / "b.png").write_bytes(b"<svg onload=alert(1)>")
    answer = served.get(f"/api/sessions/{session}/images/a.png")
    assert (answer.status_code, answer.headers["content-type"], answer.content) == (200, "image/png", _PNG)
    assert answer.headers["x-content-type-options"] == "nosniff"
    for name in ("b.png", "c.png", "..%2Fjournal.jsonl", ".hidden"):
        assert served.get(f"/api/sessions/{session}/images/{name}").status_code == 404
