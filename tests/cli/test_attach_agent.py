"""`sightline attach ID --agent PATH` into a pipe: what one agent does, as it does it, until it works no more."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sightline.journal import Store
from tests.cli.support import SIGHTLINE, sightline, until

pytestmark = pytest.mark.usefixtures("hosts")

FREE = ("--set", "permissions.sandbox=false", "--allow", "exec")
WAITING = "echo waits; until test -e ../go; do sleep 0.05; done; echo went"


def bash(command: str) -> dict[str, Any]:
    return {"tool": "bash", "args": {"command": command}}


def task(id: str, *turns: list[Any]) -> dict[str, Any]:
    arguments = {"agent": "task", "assignment": "Count.", "id": id}
    return {"tool": "task", "args": arguments, "agents": {id: list(turns)}}


def done(result: str) -> dict[str, Any]:
    return {"tool": "yield", "args": {"result": result}}


PROCESSES: "list[subprocess.Popen[bytes]]" = []


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    yield
    while PROCESSES:
        process = PROCESSES.pop()
        process.kill()
        process.wait()


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def started(folder: Path, turns: list[Any]) -> "subprocess.Popen[bytes]":
    path = folder.parent / "script.json"
    path.write_text(json.dumps(turns))
    words = [SIGHTLINE, "-p", "go", "--model", f"scripted:{path}", *FREE]
    nowhere = subprocess.DEVNULL
    PROCESSES.append(subprocess.Popen(words, stdout=nowhere, stderr=nowhere, stdin=nowhere))
    return PROCESSES[-1]


def session() -> str:
    return until(lambda: Store(Path(os.environ["SIGHTLINE_HOME"])).sessions(), "the session")[0]


def read_until(process: "subprocess.Popen[bytes]", text: bytes) -> bytes:
    assert process.stdout is not None
    read = b""
    while text not in read:
        more = process.stdout.read1(4096)  # type: ignore[attr-defined]
        assert more, read
        read += more
    return read


def watching(path: str) -> "subprocess.Popen[bytes]":
    """Attached to the agent, once there is one."""

    def begun() -> "subprocess.Popen[bytes] | None":
        words = [SIGHTLINE, "attach", session(), "--agent", path]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        PROCESSES.append(process)
        if process.stdout is not None and process.stdout.peek(1):  # type: ignore[attr-defined]
            return process
        process.communicate()
        return None

    found: subprocess.Popen[bytes] = until(begun, "the agent")
    return found


def test_it_is_shown_as_it_grows_and_ends_with_the_agent(work: Path) -> None:
    """Its words, calls and output under its label, and nothing of the others; the run that started it goes on."""
    other = task("Other", [{"text": "Other words."}, done("other")])
    counter = task("Counter", [{"text": "Counter begins."}, bash(WAITING)], [{"text": "Counted."}, done("12")])
    end = "until test -e ../end; do sleep 0.05; done"
    run = started(work, [[{"text": "Root words."}, other], [counter], [{"text": "Root ends."}, bash(end)]])
    watched = watching("Counter")
    before = read_until(watched, b"waits\n")
    assert b"Counter begins.\n" in before
    (work.parent / "go").touch()
    rest, errors = watched.communicate(timeout=60)
    assert (watched.returncode, errors) == (0, b"")
    text = (before + rest).decode()
    assert text.count("Counter begins.") == text.count("  went\n") == text.count("Counted.") == 1
    assert "◆ Counter\n" in text
    assert "Root" not in text
    assert "Other" not in text
    assert run.poll() is None
    (work.parent / "end").touch()
    assert run.wait(60) == 0

    stored = sightline("attach", session(), "--agent", "Counter")
    assert stored.returncode == 0
    assert stored.stdout.decode().count("Counted.") == 1
    assert b"Root" not in stored.stdout


def test_messages_are_in_it_once_live_and_stored(work: Path) -> None:
    """Whether one is read by a call that waits for it or in the conversation; those of others are not in it."""

    def irc(**args: Any) -> dict[str, Any]:
        return {"tool": "irc", "args": args}

    scripts = {
        "Asker": [
            [irc(op="send", to="Counter", message="How many?")],
            [irc(op="send", to="Main", message="I asked.")],
            [bash("until test -e ../late; do sleep 0.05; done")],
            [irc(op="send", to="Counter", message="And now?")],
            [done("asked")],
        ],
        "Counter": [[bash(WAITING)], [irc(op="wait", timeoutMs=60000)], [done("12")]],
    }
    tasks = [{"id": id, "description": "does", "assignment": "Do."} for id in scripts]
    both = {"tool": "task", "args": {"agent": "task", "context": "All.", "tasks": tasks}, "agents": scripts}
    run = started(work, [[both], [{"text": "Done."}]])
    watched = watching("Counter")
    before = read_until(watched, b"waits\n")
    journal = Store(Path(os.environ["SIGHTLINE_HOME"])).folder(session()) / "journal.jsonl"
    until(lambda: b'"mail_sent","id":"m2"' in journal.read_bytes(), "both messages")
    (work.parent / "go").touch()
    before += read_until(watched, b"irc wait\n")
    (work.parent / "late").touch()
    rest, _ = watched.communicate(timeout=60)
    assert run.wait(60) == 0
    stored = sightline("attach", session(), "--agent", "Counter")
    for text in ((before + rest).decode(), stored.stdout.decode()):
        assert text.count("← m1 from Asker: How many?\n") == text.count("← m3 from Asker: And now?\n") == 1
        assert "I asked." not in text
    whole = sightline("attach", session()).stdout.decode()
    for line in ("← m1 from Asker: How many?\n", "← m2 from Asker: I asked.\n", "← m3 from Asker: And now?\n"):
        assert whole.count(line) == 1


def test_leaving_it_ends_nothing(work: Path) -> None:
    """Ctrl+C detaches, and the line says how to come back."""
    run = started(work, [[task("Counter", [bash(WAITING)], [done("12")])], [{"text": "Done."}]])
    watched = watching("Counter")
    read_until(watched, b"waits\n")
    watched.send_signal(signal.SIGINT)
    _, errors = watched.communicate(timeout=60)
    assert watched.returncode == 130
    assert f"Attach with: sightline attach {session()} --agent Counter".encode() in errors
    assert run.poll() is None
    (work.parent / "go").touch()
    assert run.wait(60) == 0


def test_an_agent_that_is_not_there_is_a_mistake(work: Path) -> None:
    """The hint has those that are."""
    assert started(work, [[task("Counter", [done("12")])], [{"text": "Done."}]]).wait(60) == 0
    attached = sightline("attach", session(), "--agent", "Conter")
    assert attached.returncode == 2
    problem = f"error: there is no agent Conter in session {session()}\nhint: its agents: Counter\n"
    assert attached.stderr.decode() == problem


def test_a_job_has_no_agents(work: Path) -> None:
    job = sightline("exec", "-d", "--", "true").stdout.decode().strip()
    attached = sightline("attach", job, "--agent", "Counter")
    assert attached.returncode == 2
    assert b"has no agents" in attached.stderr
