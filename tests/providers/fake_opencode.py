"""Stands in for `opencode serve`: says where it listens, writes down what it is asked, and answers each prompt with
nothing but that its session is busy and idle again."""

import json
import os
import queue
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_events: "queue.Queue[dict]" = queue.Queue()


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._note()
        if self.path != "/event":
            self._answer({})
            return
        self.send_response(200)
        self.end_headers()
        while True:
            self.wfile.write(b"data: " + json.dumps(_events.get()).encode() + b"\n\n")
            self.wfile.flush()

    def do_POST(self) -> None:
        self._note()
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._answer({"id": "ses_1"})
        if self.path.endswith("/prompt_async"):
            for kind, more in (("session.status", {"status": {"type": "busy"}}), ("session.idle", {})):
                _events.put({"type": kind, "properties": {"sessionID": "ses_1", **more}})

    def _note(self) -> None:
        with open(os.environ["FAKE_OPENCODE_LOG"], "a") as log:
            log.write(f"{self.path}\n")

    def _answer(self, body: dict) -> None:
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    assert sys.argv[1] == "serve"
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    print(f"opencode server listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
