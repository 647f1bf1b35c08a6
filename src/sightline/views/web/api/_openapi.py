"""The OpenAPI document: what can be asked, and the shape of every answer, taken from the structs they are made of."""

import re
from functools import cache
from typing import Any

import msgspec

from sightline import __version__
from sightline.events import Event
from sightline.transcript import Snapshot
from sightline.views.web.api._bodies import (
    Accepted,
    AgentBody,
    AgentChoices,
    AgentStartedBody,
    AnswerBody,
    ApprovalBody,
    ArchiveBody,
    CancelBody,
    CancelledBody,
    CompactBody,
    DownloadBody,
    EmptyBody,
    FoundBody,
    JobBody,
    JobList,
    ModelBody,
    ProblemBody,
    PromptBody,
    RenameBody,
    RowsBody,
    SessionHits,
    SessionList,
    ShellBody,
    StartBody,
    Started,
)

_named = re.compile(r"\{([a-z]+)\}").findall

_BYTES = "application/octet-stream"
_EVENTS = "text/event-stream"
_JSON = "application/json"
_TEXT = "text/plain; charset=utf-8"


class _Operation(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    method: str = "get"
    summary: str
    query: dict[str, tuple[str, str]] = {}  # name: type, meaning
    asks: Any = None
    answers: Any = None
    status: int = 200
    media: str = _JSON
    also: dict[int, str] = {}  # other statuses and what they mean


_UNKNOWN = {404: "there is no such session or job"}
_BAD = {400: "a parameter or the body is not what it should be"}
_REFUSED = {409: "the session or the job has ended, or the session refused"}
_REQUIRED = (StartBody, PromptBody, ShellBody, ApprovalBody, RenameBody)
_ROW = {"first": ("integer", "number of the first row; rows are counted from 0")}

_TALK: list[tuple[str, Any, str]] = [
    ("prompt", PromptBody, "Send a prompt to the agent of a running session."),
    ("shell", ShellBody, "Run a command line as the user; the agent reads the output unless it is private."),
    ("abort", EmptyBody, "Stop the agent. Queued prompts are returned in `data`."),
    ("unqueue", EmptyBody, "Take back queued prompts; the agent keeps working."),
    ("approval", ApprovalBody, "Set the approval level."),
    ("compact", CompactBody, "Summarise the older part of the conversation. `data` says whether there was any."),
    ("model", ModelBody, "Use another model or thinking level from the next request on."),
    ("requests/{request}", AnswerBody, "Answer a request. The first answer counts."),
    ("stop", EmptyBody, "End a session: its jobs are cancelled, then its process ends."),
    ("rename", RenameBody, "Give a session another title in lists."),
    ("archive", ArchiveBody, "Hide a session from lists, or list it again."),
    ("delete", EmptyBody, "Delete a session for good, with its jobs and their output. Refused while it is running."),
]

_OPERATIONS = [
    _Operation(path="/api/openapi.json", summary="This document.", answers=dict[str, Any]),
    _Operation(
        path="/api/page",
        summary="What one tab shows, as events: list, facts, entries, rows, status, gone.",
        query={"session": ("string", "id of the session that is shown"), "after": ("integer", "the last id seen")},
        media=_EVENTS,
        also=_UNKNOWN,
    ),
    _Operation(
        path="/api/sessions",
        summary="Sessions with their jobs: recordings, what waits for an answer, what works, then what changed last.",
        query={"limit": ("integer", "how many jobs, at most 1000")},
        answers=SessionList,
        also=_BAD,
    ),
    _Operation(
        path="/api/sessions",
        method="post",
        summary="Run a command in a new session.",
        asks=StartBody,
        answers=Started,
        status=201,
        also={**_BAD, 409: "it could not be started", 413: "the body is too long", 503: "it did not start in time"},
    ),
    _Operation(
        path="/api/search",
        summary="Sessions with a message, a command or a title that has all these words, the best first.",
        query={
            "text": ("string", "words, or how they begin; ignoring case"),
            "limit": ("integer", "how many, at most 200"),
        },
        answers=SessionHits,
        also=_BAD,
    ),
    _Operation(
        path="/api/agents",
        summary="What a session can be started with in a folder: folders, agents, models and the approval level.",
        query={"cwd": ("string", "the folder; default: the server's")},
        answers=AgentChoices,
        also=_BAD,
    ),
    _Operation(
        path="/api/agents",
        method="post",
        summary="Start a session with an agent in it. It ends by itself if nothing connects to it within 10 seconds.",
        asks=AgentBody,
        answers=AgentStartedBody,
        status=201,
        also={**_BAD, 409: "it could not be started", 413: "the body is too long", 503: "it did not start in time"},
    ),
    _Operation(
        path="/api/sessions/{id}/resume",
        method="post",
        summary="Resume a session that has ended.",
        asks=EmptyBody,
        answers=AgentStartedBody,
        status=201,
        also={**_BAD, **_UNKNOWN, 409: "it could not be resumed", 503: "it did not start in time"},
    ),
    _Operation(path="/api/sessions/{id}", summary="The state of a session now.", answers=Snapshot, also=_UNKNOWN),
    _Operation(
        path="/api/sessions/{id}/events",
        summary="A session's events: a snapshot when one is needed, then each event once, and `end` when it is over.",
        query={"after": ("integer", "the last id seen; same as the header Last-Event-ID")},
        answers=Event,
        media=_EVENTS,
        also={**_UNKNOWN, 409: "a recording has no events"},
    ),
    _Operation(
        path="/api/sessions/{id}/jobs",
        method="post",
        summary="Run a command in a session that is running.",
        asks=StartBody,
        answers=Started,
        status=201,
        also={**_BAD, **_UNKNOWN, **_REFUSED, 413: "the body is too long"},
    ),
    *[
        _Operation(
            path=f"/api/sessions/{{id}}/{name}",
            method="post",
            summary=summary,
            asks=asks,
            answers=Accepted,
            status=202,
            also={**_BAD, **_UNKNOWN, **_REFUSED, 413: "the body is too long"},
        )
        for name, asks, summary in _TALK
    ],
    _Operation(
        path="/api/sessions/{id}/requests/{request}",
        summary="All the details of an open request whose event has `stored`: only their beginning.",
        answers=dict[str, Any],
        also=_UNKNOWN,
    ),
    _Operation(
        path="/api/sessions/{id}/images/{name}",
        summary="An image stored with a session: PNG, JPEG, GIF or WebP.",
        media=_BYTES,
        also=_UNKNOWN,
    ),
    _Operation(
        path="/api/jobs",
        summary="Jobs, the newest first.",
        query={"limit": ("integer", "how many, at most 1000"), "before": ("string", "only those older than this job")},
        answers=JobList,
        also={**_BAD, **_UNKNOWN},
    ),
    _Operation(path="/api/jobs/{id}", summary="One job.", answers=JobBody, also=_UNKNOWN),
    _Operation(
        path="/api/jobs/{id}/cancel",
        method="post",
        summary="End a job and all it started, or a running call of an agent; the output stays. Answers at once.",
        asks=CancelBody,
        answers=CancelledBody,
        status=202,
        also={**_BAD, **_UNKNOWN, **_REFUSED},
    ),
    _Operation(
        path="/api/jobs/{id}/artifact",
        summary="The output, byte for byte; the header Range is honoured.",
        media=_BYTES,
        also={**_UNKNOWN, 206: "the range that was asked for", 416: "the range begins after the end"},
    ),
    _Operation(
        path="/api/jobs/{id}/download",
        method="post",
        summary="A URL that serves the output once, within 30 seconds, without the token.",
        asks=EmptyBody,
        answers=DownloadBody,
        status=201,
        also={**_BAD, **_UNKNOWN},
    ),
    _Operation(
        path="/api/jobs/{id}/rows",
        summary="Rows of the output as a terminal would show them, style as data.",
        query={**_ROW, "count": ("integer", "how many, at most 500; there may be fewer")},
        answers=RowsBody,
        also={**_BAD, **_UNKNOWN},
    ),
    _Operation(
        path="/api/jobs/{id}/find",
        summary="Rows that contain a text, ignoring case. A response can be empty although more follow.",
        query={"text": ("string", "what to look for"), **_ROW, "limit": ("integer", "how many, at most 5000")},
        answers=FoundBody,
        also={**_BAD, **_UNKNOWN},
    ),
    _Operation(
        path="/api/jobs/{id}/text",
        summary="The text of the rows, the last 8 MB; the header X-Sightline-Cut says how many bytes are left out.",
        media=_TEXT,
        also=_UNKNOWN,
    ),
]


@cache
def document() -> dict[str, Any]:
    """The whole document, made once."""
    kinds = [kind for operation in _OPERATIONS for kind in (operation.asks, operation.answers) if kind is not None]
    schemas, components = msgspec.json.schema_components(
        [*kinds, ProblemBody], ref_template="#/components/schemas/{name}"
    )
    by_kind = dict(zip(map(repr, [*kinds, ProblemBody]), schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for operation in _OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method] = _described(operation, by_kind)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Sightline", "version": __version__, "description": "Sessions and jobs of one user, live."},
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def _described(operation: _Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    described: dict[str, Any] = {"summary": operation.summary, "parameters": _parameters(operation)}
    if operation.asks is not None:
        content = {_JSON: {"schema": schemas[repr(operation.asks)]}}
        described["requestBody"] = {"content": content, "required": operation.asks in _REQUIRED}
    answer: dict[str, Any] = {"description": "success", "content": {operation.media: _content(operation, schemas)}}
    problem = {_JSON: {"schema": schemas[repr(ProblemBody)]}}
    responses = {str(operation.status): answer}
    for status, meaning in (
        *operation.also.items(),
        (401, "no token, or not the right one"),
        (403, "not a request from this machine's page"),
    ):
        content = answer["content"] if status == 206 else problem
        responses[str(status)] = {"description": meaning, "content": content}
    return {**described, "responses": responses}


def _content(operation: _Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    if operation.media == _JSON:
        return {"schema": schemas[repr(operation.answers)]}
    text: dict[str, Any] = {"schema": {"type": "string"}}
    if operation.answers is not None:
        text["x-event-schema"] = schemas[repr(operation.answers)]
    return text


def _parameters(operation: _Operation) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for name in _named(operation.path):
        found.append({"name": name, "in": "path", "required": True, "schema": {"type": "string"}})
    for name, (kind, meaning) in operation.query.items():
        found.append({"name": name, "in": "query", "description": meaning, "schema": {"type": kind}})
    return found
