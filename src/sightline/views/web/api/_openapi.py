"""The OpenAPI document: every request and the shape of every response, taken from the structs they are made of."""

import re
from functools import cache

import msgspec

from sightline import __version__
from sightline.events import Event
from sightline.transcript import Snapshot
from sightline.views.web.api import _bodies as bodies
from sightline.working_copies import ChangeChoices

_path_parameters = re.compile(r"\{([a-z]+)\}").findall

_BYTES = "application/octet-stream"
_EVENTS = "text/event-stream"
_JSON = "application/json"
_TEXT = "text/plain; charset=utf-8"

_Json = dict[str, object]


class _Operation(msgspec.Struct, frozen=True):
    path: str
    summary: str
    response: object = None
    query: dict[str, tuple[str, str]] = {}  # name: type, meaning
    also: dict[int, str] = {}  # other statuses and what they mean
    media: str = _JSON
    method: str = "get"
    request: object = None
    status: int = 200


def _post(
    path: str, summary: str, request: object, response: object, also: dict[int, str], status: int = 201
) -> _Operation:
    return _Operation(path, summary, response, also=also, method="post", request=request, status=status)


_UNKNOWN = {404: "there is no such session or job"}
_BAD = {400: "a parameter or the body is not what it should be"}
_REFUSED = {409: "the session or the job has ended, or the session refused"}
_TOO_LONG = {413: "the body is too long"}
_LATE = {503: "it did not start in time"}
_START = {**_BAD, 409: "it could not be started", **_TOO_LONG, **_LATE}
_SUBMIT = {**_BAD, **_UNKNOWN, **_REFUSED, **_TOO_LONG}
_REQUIRED = (
    bodies.StartBody,
    bodies.PromptBody,
    bodies.SendMailBody,
    bodies.QuestionBody,
    bodies.DismissBody,
    bodies.ShellBody,
    bodies.ApprovalBody,
    bodies.RenameBody,
)
_ROW = {"first": ("integer", "number of the first row; rows are counted from 0")}

_COMMANDS: list[tuple[str, object, str]] = [
    ("prompt", bodies.PromptBody, "Send a prompt to the agent of a running session."),
    (
        "mail",
        bodies.SendMailBody,
        "Write a message to an agent, or to all. `id` is that of the message; `data` has a receipt for each reader.",
    ),
    (
        "btw",
        bodies.QuestionBody,
        "Ask a side question, outside the conversation. `id` is the path of the agent that answers.",
    ),
    ("findings", bodies.DismissBody, "Dismiss a finding of a review, or take that back."),
    ("shell", bodies.ShellBody, "Run a command line as the user; the agent reads the output unless it is private."),
    ("abort", bodies.AbortBody, "Stop the agent, or one subagent. Queued prompts are returned in `data`."),
    ("unqueue", bodies.EmptyBody, "Take back queued prompts; the agent keeps working."),
    ("approval", bodies.ApprovalBody, "Set the approval level."),
    ("compact", bodies.CompactBody, "Summarise the older part of the conversation. `data` says whether there was any."),
    ("model", bodies.ModelBody, "Use another model or thinking level from the next request on."),
    ("requests/{request}", bodies.AnswerBody, "Answer a request. The first answer counts."),
    ("stop", bodies.EmptyBody, "End a session: its jobs are cancelled, then its process ends."),
    ("rename", bodies.RenameBody, "Give a session another title in lists."),
    ("archive", bodies.ArchiveBody, "Hide a session from lists, or list it again."),
    (
        "delete",
        bodies.EmptyBody,
        "Delete a session for good, with its jobs and their output. Refused while it is running.",
    ),
]

_OPERATIONS = [
    _Operation("/api/openapi.json", "This document.", dict),
    _Operation(
        "/api/page",
        "What one tab shows, as events: list, facts, entries, mail, rows, status, gone.",
        query={"session": ("string", "id of the session that is shown"), "after": ("integer", "the last id seen")},
        also=_UNKNOWN,
        media=_EVENTS,
    ),
    _Operation(
        "/api/sessions",
        "Sessions with their jobs: recordings, what waits for an answer, what works, then what changed last.",
        bodies.SessionList,
        {"limit": ("integer", "how many jobs, at most 1000")},
        _BAD,
    ),
    _post("/api/sessions", "Run a command in a new session.", bodies.StartBody, bodies.Started, _START),
    _Operation(
        "/api/search",
        "Sessions with a message, a command or a title that has all these words, the best first.",
        bodies.SessionHits,
        {"text": ("string", "words, or how they begin; ignoring case"), "limit": ("integer", "how many, at most 200")},
        _BAD,
    ),
    _Operation(
        "/api/agents",
        "What a session can be started with in a folder: folders, agents, models and the approval level.",
        bodies.AgentChoices,
        {"cwd": ("string", "the folder; default: the server's")},
        _BAD,
    ),
    _post(
        "/api/agents",
        "Start a session with an agent in it. It ends by itself if nothing connects to it within 10 seconds.",
        bodies.AgentBody,
        bodies.AgentStartedBody,
        _START,
    ),
    _post(
        "/api/sessions/{id}/resume",
        "Resume a session that has ended.",
        bodies.EmptyBody,
        bodies.AgentStartedBody,
        {**_BAD, **_UNKNOWN, 409: "it could not be resumed", **_LATE},
    ),
    _Operation("/api/sessions/{id}", "The state of a session now.", Snapshot, also=_UNKNOWN),
    _Operation(
        "/api/sessions/{id}/events",
        "A session's events: a snapshot when one is needed, then each event once, and `end` when it is over.",
        Event,
        {"after": ("integer", "the last id seen; same as the header Last-Event-ID")},
        {**_UNKNOWN, 409: "a recording has no events"},
        _EVENTS,
    ),
    _post(
        "/api/sessions/{id}/jobs",
        "Run a command in a session that is running.",
        bodies.StartBody,
        bodies.Started,
        _SUBMIT,
    ),
    *[
        _post(f"/api/sessions/{{id}}/{name}", summary, request, bodies.Accepted, _SUBMIT, 202)
        for name, request, summary in _COMMANDS
    ],
    _Operation(
        "/api/sessions/{id}/review",
        "What there is to review in the folder of a running session.",
        ChangeChoices,
        also={**_UNKNOWN, 409: "the session has ended, or its folder has nothing that can be reviewed"},
    ),
    _post(
        "/api/sessions/{id}/review",
        "Have a change reviewed, beside the conversation.",
        bodies.ReviewBody,
        bodies.ReviewBegun,
        _SUBMIT,
        202,
    ),
    _Operation(
        "/api/sessions/{id}/mail",
        "Messages between the agents of a session: the last 100, or the 100 before one.",
        bodies.MailList,
        {"before": ("integer", "the place of a message, from 0")},
        {**_BAD, **_UNKNOWN},
    ),
    _Operation(
        "/api/sessions/{id}/mail/{mail}",
        "One message, with all of its text and readers.",
        bodies.MailBody,
        also=_UNKNOWN,
    ),
    _Operation(
        "/api/sessions/{id}/requests/{request}",
        "All the details of an open request whose event has `stored`: only their beginning.",
        dict,
        also=_UNKNOWN,
    ),
    _Operation(
        "/api/sessions/{id}/images/{name}",
        "An image stored with a session: PNG, JPEG, GIF or WebP.",
        also=_UNKNOWN,
        media=_BYTES,
    ),
    _Operation(
        "/api/jobs",
        "Jobs, the newest first.",
        bodies.JobList,
        {"limit": ("integer", "how many, at most 1000"), "before": ("string", "only those older than this job")},
        {**_BAD, **_UNKNOWN},
    ),
    _Operation("/api/jobs/{id}", "One job.", bodies.JobBody, also=_UNKNOWN),
    _post(
        "/api/jobs/{id}/cancel",
        "End a job and all it started, or a running call of an agent; the output stays. Answers at once.",
        bodies.CancelBody,
        bodies.CancelledBody,
        {**_BAD, **_UNKNOWN, **_REFUSED},
        202,
    ),
    _Operation(
        "/api/jobs/{id}/artifact",
        "The output, byte for byte; the header Range is honoured.",
        also={**_UNKNOWN, 206: "the range that was asked for", 416: "the range begins after the end"},
        media=_BYTES,
    ),
    _post(
        "/api/jobs/{id}/download",
        "A URL that serves the output once, within 30 seconds, without the token.",
        bodies.EmptyBody,
        bodies.DownloadBody,
        {**_BAD, **_UNKNOWN},
    ),
    _Operation(
        "/api/jobs/{id}/rows",
        "Rows of the output as a terminal would show them, style as data.",
        bodies.RowsBody,
        {**_ROW, "count": ("integer", "how many, at most 500; there may be fewer")},
        {**_BAD, **_UNKNOWN},
    ),
    _Operation(
        "/api/jobs/{id}/find",
        "Rows that contain a text, ignoring case. A response can be empty although more follow.",
        bodies.FoundBody,
        {"text": ("string", "what to look for"), **_ROW, "limit": ("integer", "how many, at most 5000")},
        {**_BAD, **_UNKNOWN},
    ),
    _Operation(
        "/api/jobs/{id}/text",
        "The text of the rows, the last 8 MB; the header X-Sightline-Cut says how many bytes are left out.",
        also=_UNKNOWN,
        media=_TEXT,
    ),
]


@cache
def document() -> _Json:
    """The whole document, made once."""
    kinds = [kind for operation in _OPERATIONS for kind in (operation.request, operation.response) if kind is not None]
    kinds.append(bodies.ProblemBody)
    schemas, components = msgspec.json.schema_components(kinds, ref_template="#/components/schemas/{name}")
    by_kind: _Json = dict(zip(map(repr, kinds), schemas, strict=True))
    paths: dict[str, _Json] = {}
    for operation in _OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method] = _described(operation, by_kind)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Sightline", "version": __version__, "description": "Sessions and jobs of one user, live."},
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}}},
    }


def _described(operation: _Operation, schemas: _Json) -> _Json:
    described: _Json = {"summary": operation.summary, "parameters": _parameters(operation)}
    if operation.request is not None:
        content = {_JSON: {"schema": schemas[repr(operation.request)]}}
        described["requestBody"] = {"content": content, "required": operation.request in _REQUIRED}
    success = {operation.media: _content(operation, schemas)}
    problem = {_JSON: {"schema": schemas[repr(bodies.ProblemBody)]}}
    responses = {str(operation.status): {"description": "success", "content": success}}
    for status, meaning in (
        *operation.also.items(),
        (401, "no token, or not the right one"),
        (403, "not a request from this machine's page"),
    ):
        responses[str(status)] = {"description": meaning, "content": success if status == 206 else problem}
    return {**described, "responses": responses}


def _content(operation: _Operation, schemas: _Json) -> _Json:
    if operation.media == _JSON:
        return {"schema": schemas[repr(operation.response)]}
    text: _Json = {"schema": {"type": "string"}}
    if operation.response is not None:
        text["x-event-schema"] = schemas[repr(operation.response)]
    return text


def _parameters(operation: _Operation) -> list[_Json]:
    found: list[_Json] = []
    for name in _path_parameters(operation.path):
        found.append({"name": name, "in": "path", "required": True, "schema": {"type": "string"}})
    for name, (kind, meaning) in operation.query.items():
        found.append({"name": name, "in": "query", "description": meaning, "schema": {"type": kind}})
    return found
