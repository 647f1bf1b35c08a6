"""Running the server: loopback only, behind a random token, until a signal ends it."""

import asyncio
import logging
import os
import secrets
import signal
import socket
import sys
from pathlib import Path
from types import FrameType
from typing import cast

import uvicorn

from sightline.exceptions import OutsideFailure
from sightline.journal import Store
from sightline.paths import data_folder
from sightline.secrets import secrets_here
from sightline.settings import load
from sightline.text import clean_line, cut_graphemes
from sightline.views.web._app import application
from sightline.views.web._connection import HEAD_CAP, Connections
from sightline.views.web.api._api import Api
from sightline.views.web.page._recordings import Recording

_HOST = "127.0.0.1"
_BACKLOG = 128
_SECONDS_FOR_GOODBYES = 1
# Threads that count or search must not hold up what is live; the default is 5 ms.
_SWITCH_INTERVAL = 0.001
_LONGEST_NOTICE = 300
_MOST_NOTICES = 50

_log = logging.getLogger("sightline.web")
_log.addHandler(logging.NullHandler())  # without a debug log a traceback goes nowhere


class _Server(uvicorn.Server):
    """Ends on the first signal, and remembers which it was."""

    ended_by = 0

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.ended_by = self.ended_by or sig
        self.should_exit = True


class _Notices:
    """Messages on the terminal while the server runs: each once, one line, filtered."""

    def __init__(self) -> None:
        self._written: set[str] = set()

    def refused(self, uid: int) -> None:
        self._write(f"note: a connection of another user of this machine (number {uid}) was refused")

    def broken(self, error: BaseException) -> None:
        _log.error("unexpected", exc_info=error)
        self._write(f"error: unexpected {type(error).__name__}: {error} (this is a bug in sightline)")

    def loop_broken(self, loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
        error = context.get("exception")
        if isinstance(error, ConnectionError):
            return  # a client left
        self.broken(error if isinstance(error, BaseException) else RuntimeError(context.get("message", "")))

    def _write(self, text: str) -> None:
        text = cut_graphemes(clean_line(text), _LONGEST_NOTICE)
        if text not in self._written and len(self._written) < _MOST_NOTICES:
            self._written.add(text)
            os.write(2, f"{text}\n".encode("utf-8", "replace"))


def run(port: int, files: list[str]) -> int:
    recordings = [Recording(position, path) for position, path in enumerate(files, 1)]
    token = secrets.token_urlsafe(32)
    listener = _listen(port)
    port = listener.getsockname()[1]
    sys.setswitchinterval(_SWITCH_INTERVAL)
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL + 1)  # a client could fill the log
    return asyncio.run(_serve(listener, port, token, recordings))


async def _serve(listener: socket.socket, port: int, token: str, recordings: list[Recording]) -> int:
    api = Api(Store(data_folder()), recordings, secrets_here(load(Path.cwd()).settings))
    notices = _Notices()
    asyncio.get_running_loop().set_exception_handler(notices.loop_broken)
    config = uvicorn.Config(
        application(api, token, notices.broken),
        http=cast("type[asyncio.Protocol]", Connections(notices.refused).protocol),
        h11_max_incomplete_event_size=HEAD_CAP,
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        backlog=_BACKLOG,
        timeout_graceful_shutdown=_SECONDS_FOR_GOODBYES,
    )
    server = _Server(config)
    _print_address(f"http://{_HOST}:{port}/#token={token}", port)
    try:
        await server.serve(sockets=[listener])
    finally:
        api.close()
    return 130 if server.ended_by == signal.SIGINT else 0


def _listen(port: int) -> socket.socket:
    """The protocol is named because asyncio sends small answers at once only where it is."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((_HOST, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        hint = "choose another with --port, or leave it out"
        raise OutsideFailure(f"cannot listen on port {port}: {error.strerror}", hint) from error
    return listener


def _print_address(url: str, port: int) -> None:
    """The socket already takes connections, so the URL works from the moment it is printed."""
    lines = [
        url,
        f"from another machine: ssh -L {port}:{_HOST}:{port} HOST, then open the same URL there",
        "Ctrl+C ends this server; your sessions keep running",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()
