"""A real server on a loopback port, in a process and a folder of its own, and readers of what it says."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

DEADLINE = 90.0


from_strangers = pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": ""}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Origin": "http://evil.invalid"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "evil.invalid"}, 403),
    ],
)
"""A program without the token, a page from elsewhere, a name that was made to point here."""


class Served:
    """A running server and a client that knows its token. It loads no certificates: there is only loopback."""

    def __init__(self, url: str, home: Path, process: "subprocess.Popen[str]") -> None:
        self.base, _, self.token = url.partition("/#token=")
        self.home = home
        self.process = process
        self.headers = {"Authorization": f"Bearer {self.token}"}
        self.client = httpx2.Client(base_url=self.base, headers=self.headers, timeout=DEADLINE, verify=False)

    def get(self, path: str, **others: Any) -> httpx2.Response:
        return self.client.get(path, **others)

    def post(self, path: str, body: Any = None) -> httpx2.Response:
        return self.client.post(path, json={} if body is None else body)

    def start(self, *argv: str, **others: Any) -> str:
        """Run a command in a new session; its job's id."""
        answer = self.post("/api/sessions", {"argv": list(argv), **others})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["job"])

    def ended(self, job: str) -> dict[str, Any]:
        """The job once it is over."""
        return wait_for(lambda: (found := self.get(f"/api/jobs/{job}").json())["state"] != "running" and found)

    def run(self, *argv: str, **others: Any) -> str:
        job = self.start(*argv, **others)
        self.ended(job)
        return job

    def artifact(self, job: str) -> Path:
        return self.home / "sessions" / job.rpartition("-")[0] / "artifacts" / f"{job}.out"

    @asynccontextmanager
    async def stream(self, path: str, **headers: str) -> AsyncIterator["Said"]:
        """What an event stream says, one event at a time."""
        async with (
            asyncio.timeout(DEADLINE),
            httpx2.AsyncClient(
                base_url=self.base, headers={**self.headers, **headers}, timeout=None, verify=False
            ) as client,
            client.stream("GET", path) as response,
        ):
            assert response.status_code == 200, await response.aread()
            yield Said(response)


class Said:
    """Events of one stream: (kind, data, id)."""

    def __init__(self, response: httpx2.Response) -> None:
        self._lines = response.aiter_lines()

    def __aiter__(self) -> "Said":
        return self

    async def __anext__(self) -> tuple[str, Any, int | None]:
        fields: dict[str, str] = {}
        async for line in self._lines:
            if not line:
                if "event" in fields:
                    number = fields.get("id")
                    return fields["event"], json.loads(fields["data"]), None if number is None else int(number)
                fields = {}
            elif not line.startswith(":"):
                name, _, value = line.partition(": ")
                fields[name] = value
        raise StopAsyncIteration

    async def until(self, kind: str, fits: Callable[[Any], Any] = lambda data: True) -> Any:
        """The data of the first event of a kind that fits."""
        async for said, data, _ in self:
            if said == kind and fits(data):
                return data
        raise AssertionError(f"the stream ended before {kind}")


def wait_for(fits: Callable[[], Any]) -> Any:
    """What a condition gives as soon as it holds."""
    deadline = time.monotonic() + DEADLINE
    while not (found := fits()):
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.02)
    return found


@contextmanager
def serving(
    home: Path,
    *arguments: str,
    stop_hosts: bool = True,
    program: Sequence[str] = ("-m", "sightline", "serve"),
    errors: Path | None = None,
) -> Iterator[Served]:
    """A server that is ended afterwards, and with it the hosts it started. `errors`: where its stderr goes."""
    environment = {**os.environ, "SIGHTLINE_HOME": str(home)}
    command = [sys.executable, *program, *arguments]
    with (
        open(errors or os.devnull, "wb") as stderr,
        subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=stderr if errors else None, text=True
        ) as process,
    ):
        assert process.stdout is not None
        served = Served(process.stdout.readline().strip(), home, process)
        try:
            yield served
        finally:
            served.client.close()
            process.terminate()
            process.wait(DEADLINE)
            for session in home.glob("run/*.sock") if stop_hosts else ():
                stop = [sys.executable, "-m", "sightline", "stop", session.stem]
                subprocess.run(stop, env=environment, stdout=subprocess.DEVNULL, check=False)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server for the tests of a module; each uses sessions of its own."""
    recording = Path(__file__).parents[2] / "captures" / "claude" / "bash_tool.jsonl"
    with serving(tmp_path_factory.mktemp("home"), str(recording)) as server:
        yield server
