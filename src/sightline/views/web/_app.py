"""The application: routes, refusals, and the guard around all of it."""

import hashlib
import re
from collections.abc import Callable
from pathlib import Path

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sightline.exceptions import SightlineError
from sightline.views.web._guard import Guard
from sightline.views.web.api._api import Api
from sightline.views.web.api._bodies import ProblemBody
from sightline.views.web.api._download import Unsatisfiable
from sightline.views.web.api._openapi import document
from sightline.views.web.api._reading import RequestRefused, json_answer

_FOLDER = Path(__file__).parent / "static"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".webmanifest": "application/manifest+json",
}
_file_name = re.compile(r"[a-z0-9][a-z0-9_-]*\.[a-z]+").fullmatch


def routes_of(api: Api) -> list[Route]:
    """Every path there is."""

    async def openapi(request: Request) -> Response:
        return json_answer(document())

    async def static(request: Request) -> Response:
        return _static_file(request, request.path_params.get("name", "index.html"))

    return [
        Route("/", static),
        Route("/static/{name}", static),
        Route("/api/openapi.json", openapi),
        Route("/api/page", api.page),
        Route("/api/sessions", api.sessions, methods=["GET"]),
        Route("/api/sessions", api.start, methods=["POST"]),
        Route("/api/search", api.search),
        Route("/api/agents", api.agents.choices, methods=["GET"]),
        Route("/api/agents", api.agents.start, methods=["POST"]),
        Route("/api/sessions/{id}", api.session),
        Route("/api/sessions/{id}/events", api.events),
        Route("/api/sessions/{id}/jobs", api.start_in, methods=["POST"]),
        Route("/api/sessions/{id}/prompt", api.commands.prompt, methods=["POST"]),
        Route("/api/sessions/{id}/mail", api.mail, methods=["GET"]),
        Route("/api/sessions/{id}/mail", api.commands.send_mail, methods=["POST"]),
        Route("/api/sessions/{id}/mail/{mail}", api.one_mail),
        Route("/api/sessions/{id}/shell", api.commands.shell, methods=["POST"]),
        Route("/api/sessions/{id}/resume", api.agents.resume, methods=["POST"]),
        Route("/api/sessions/{id}/abort", api.commands.abort, methods=["POST"]),
        Route("/api/sessions/{id}/unqueue", api.commands.unqueue, methods=["POST"]),
        Route("/api/sessions/{id}/approval", api.commands.approval, methods=["POST"]),
        Route("/api/sessions/{id}/btw", api.commands.ask_aside, methods=["POST"]),
        Route("/api/sessions/{id}/review", api.commands.review_choices, methods=["GET"]),
        Route("/api/sessions/{id}/review", api.commands.review, methods=["POST"]),
        Route("/api/sessions/{id}/findings", api.commands.dismiss_finding, methods=["POST"]),
        Route("/api/sessions/{id}/compact", api.commands.compact, methods=["POST"]),
        Route("/api/sessions/{id}/model", api.commands.model, methods=["POST"]),
        Route("/api/sessions/{id}/stop", api.commands.stop, methods=["POST"]),
        Route("/api/sessions/{id}/rename", api.commands.rename, methods=["POST"]),
        Route("/api/sessions/{id}/archive", api.commands.archive, methods=["POST"]),
        Route("/api/sessions/{id}/delete", api.commands.delete, methods=["POST"]),
        Route("/api/sessions/{id}/requests/{request}", api.commands.details, methods=["GET"]),
        Route("/api/sessions/{id}/requests/{request}", api.commands.answer, methods=["POST"]),
        Route("/api/sessions/{id}/images/{name}", api.picture),
        Route("/api/jobs", api.jobs),
        Route("/api/jobs/{id}", api.job),
        Route("/api/jobs/{id}/cancel", api.cancel, methods=["POST"]),
        Route("/api/jobs/{id}/artifact", api.outputs.artifact),
        Route("/api/jobs/{id}/download", api.outputs.ticket, methods=["POST"]),
        Route("/api/jobs/{id}/rows", api.outputs.rows),
        Route("/api/jobs/{id}/find", api.outputs.find),
        Route("/api/jobs/{id}/text", api.outputs.text),
    ]


def application(api: Api, token: str, broken: Callable[[Exception], None]) -> Guard:
    """The routes behind the guard. `broken` is called with each unexpected exception, after the response 500."""
    handlers = {HTTPException: _refused_by_routing, SightlineError: _refused, Exception: _broken}
    app = Starlette(routes=routes_of(api), exception_handlers=handlers)
    return Guard(app, token, api.outputs.tickets, broken)


def _static_file(request: Request, name: str) -> Response:
    """A file of the page, with a type that is not guessed; none but those of the package's folder."""
    path = _FOLDER / name
    if _file_name(name) is None or path.suffix not in _TYPES or not path.is_file():
        raise HTTPException(404, f"no file {name}")
    data = path.read_bytes()
    etag = f'"{hashlib.sha256(data).hexdigest()[:16]}"'
    headers = {"etag": etag, "cache-control": "no-cache"}
    if etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(data, media_type=_TYPES[path.suffix], headers=headers)


async def _refused_by_routing(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    what = {404: f"not found: {request.url.path}", 405: f"{request.method} is not supported here"}
    return json_answer(
        ProblemBody(what.get(error.status_code, error.detail)), error.status_code, dict(error.headers or {})
    )


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, SightlineError)
    status = error.status if isinstance(error, RequestRefused) else 503
    headers = {"content-range": f"bytes */{error.size}"} if isinstance(error, Unsatisfiable) else None
    return json_answer(ProblemBody(error.message, error.hint), status, headers)


async def _broken(request: Request, error: Exception) -> Response:
    problem = ProblemBody("internal error in the server", "see the terminal that runs `sightline serve`")
    return Response(msgspec.json.encode(problem), 500, media_type="application/json")
