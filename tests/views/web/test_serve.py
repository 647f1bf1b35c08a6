"""The server as a program: what it prints, how it ends, what it serves besides the API."""

import signal
import socket
import subprocess
import sys

import httpx2
import pytest

from tests.views.web.conftest import DEADLINE, serving


def run_serve(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "sightline", "serve", *arguments], capture_output=True, text=True, timeout=DEADLINE
    )


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_a_signal_ends_it_cleanly_while_somebody_watches(tmp_path, number, code):
    """An open page does not hold it up, and there is no traceback."""
    with (
        serving(tmp_path) as server,
        httpx2.stream("GET", server.base + "/api/page", headers=server.headers, timeout=DEADLINE) as page,
    ):
        assert next(page.iter_lines()) == "event: list"
        server.process.send_signal(number)
        assert server.process.wait(DEADLINE) == code


def test_it_says_how_to_reach_it_from_elsewhere(tmp_path):
    """The URL first, then the tunnel for another machine, with the right port."""
    with serving(tmp_path) as server:
        port = server.base.rpartition(":")[2]
        assert server.base == f"http://127.0.0.1:{port}"
        assert f"ssh -L {port}:127.0.0.1:{port}" in server.process.stdout.readline()


def test_it_listens_on_loopback_only(tmp_path):
    """Another address of this machine does not answer."""
    with serving(tmp_path) as server, socket.socket() as other:
        other.settimeout(DEADLINE)
        assert other.connect_ex(("127.0.0.2", int(server.base.rpartition(":")[2]))) != 0


def test_a_port_in_use_is_said(tmp_path):
    """What is wrong and what to do, not a traceback."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = run_serve("--port", str(taken.getsockname()[1]))
    assert done.returncode == 1
    assert "cannot listen on port" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("content", "said"), [(None, "cannot read"), ("just words\n", "cannot tell whose stream")])
def test_a_file_that_is_no_recording_is_refused_before_anything_is_served(tmp_path, content, said):
    """A mistake in the arguments is told at once."""
    file = tmp_path / "file"
    if content is not None:
        file.write_text(content)
    done = run_serve(str(file))
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == ""


def test_the_server_is_loaded_only_when_it_is_served():
    """Importing the view costs nothing of starlette or uvicorn."""
    code = "import sys, sightline.views.web; print([m for m in ('starlette', 'uvicorn', 'anyio') if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


@pytest.mark.parametrize(
    ("name", "kind"), [("app.js", "text/javascript"), ("page.css", "text/css"), ("icon.svg", "image/svg+xml")]
)
def test_files_of_the_page_have_their_types(served, name, kind):
    """Types are not guessed from what the system thinks."""
    answer = served.get(f"/static/{name}")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith(kind)
    again = served.get(f"/static/{name}", headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    "name", ["none.js", "..%2f__init__.py", "%2e%2e%2f_serve.py", ".hidden.js", "app.js%00", "_api.py"]
)
def test_no_other_file_can_be_had(served, name):
    """Only what is in the folder of the page, by its plain name."""
    assert served.get(f"/static/{name}").status_code == 404


def test_the_environment_decides_where_it_looks(tmp_path):
    """Each folder has its own sessions."""
    with serving(tmp_path / "one") as server:
        server.run("true")
        assert len(server.get("/api/jobs").json()["jobs"]) == 1
    with serving(tmp_path / "two") as server:
        assert server.get("/api/jobs").json()["jobs"] == []
