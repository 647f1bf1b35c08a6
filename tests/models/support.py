"""Settings for tests of models, and a server on this machine that lists its models."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec

from sightline.settings import Settings


def settings(**models: Any) -> Settings:
    """Servers on this machine are not looked for unless a test says so."""
    return msgspec.convert({"models": {"discover": False, **models}}, Settings)


class ListServer:
    """`asked` are the requests that came: path and headers."""

    def __init__(self, reply: bytes, status: int, seconds: float) -> None:
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.release = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
                outer.release.wait(seconds)
                with suppress(ConnectionError):  # who did not wait is gone
                    self.send_response(status)
                    self.send_header("Content-Type", "application/json")
                    self.end_headers()
                    self.wfile.write(reply)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def serve(self) -> None:
        self._server.serve_forever(poll_interval=0.01)

    def close(self) -> None:
        self.release.set()
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def listing(*models: Any, reply: bytes | None = None, status: int = 200, seconds: float = 0) -> Iterator[ListServer]:
    """A server that has these models, or says `reply`."""
    listed = [model if isinstance(model, dict) else {"id": model} for model in models]
    server = ListServer(reply if reply is not None else json.dumps({"data": listed}).encode(), status, seconds)
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join()
