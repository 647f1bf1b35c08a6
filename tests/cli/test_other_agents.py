"""`sightline -p` over another agent's CLI: its conversations are sessions like any other, and keep their agent."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sightline.events import Event, Notice, RunEnded, Text, ToolResult, User
from sightline.journal import SessionReader, Store
from tests.cli.support import sightline
from tests.providers.support import lines

pytestmark = pytest.mark.usefixtures("hosts")

_SCRIPT = """#!{python}
import os, sys
HERE = os.path.dirname(os.path.abspath(__file__))
with open(HERE + "/arguments.txt", "a") as log:
    log.write(" ".join(sys.argv[1:]) + "\\n")
prompt = sys.stdin.read()
with open(HERE + "/says.jsonl") as says:
    sys.stdout.write(says.read().replace("PROMPT", prompt))
"""
INIT = {"type": "system", "subtype": "init", "session_id": "their-id-1", "model": "their-model", "cwd": "/"}
SAYS = {"type": "assistant", "message": {"content": [{"type": "text", "text": "Claude heard PROMPT."}]}}
DONE = {"type": "result", "subtype": "success", "is_error": False, "result": ""}


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the PATH with a program that stands for `claude`, and the current folder beside it."""
    folder, work = tmp_path / "bin", tmp_path / "work"
    folder.mkdir()
    work.mkdir()
    (folder / "claude").write_text(_SCRIPT.format(python=sys.executable))
    (folder / "claude").chmod(0o755)
    (folder / "says.jsonl").write_bytes(lines(INIT, SAYS, DONE))
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.chdir(work)
    return folder


def arguments(program: Path) -> list[str]:
    return (program / "arguments.txt").read_text().splitlines()


def store() -> Store:
    return Store(Path(os.environ["SIGHTLINE_HOME"]))


def events() -> list[Event]:
    (session,) = store().sessions()
    return list(SessionReader(store().folder(session)).events())


def listed() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(sightline("sessions", "--json").stdout)
    return found


def claude(*words: str) -> "subprocess.CompletedProcess[bytes]":
    return sightline("-p", "one", "--provider", "claude", *words)


def test_rules_that_it_does_not_take_are_named(program: Path) -> None:
    """It has its own: one line says that these are not used, and the run goes on."""
    done = claude("--allow", "exec", "--deny", "network")
    assert (done.returncode, done.stdout) == (0, b"Claude heard one.\n")
    assert done.stderr == b"note: not used: --allow, --deny; Claude Code has its own rules\nhint: change them there\n"


@pytest.mark.parametrize("form", ["text", "events", "json"])
def test_a_headless_conversation_is_a_session(program: Path, form: str) -> None:
    """Listed, with its words, whatever it was printed as; what it printed is as it was."""
    done = claude("--output-format", form)
    assert (done.returncode, done.stderr) == (0, b"")
    if form == "text":
        assert done.stdout == b"Claude heard one.\n"
    (record,) = listed()
    assert (record["title"], record["first_prompt"], record["last_text"]) == ("one", "one", "Claude heard one.")
    told = events()
    assert [event.text for event in told if isinstance(event, User | Text)] == ["one", "Claude heard one."]
    assert sum(isinstance(event, RunEnded) for event in told) == 1


@pytest.mark.parametrize("form", [("--output-format", "text"), ("--output-format", "events"), ("-v",)])
def test_what_it_prints_has_no_secret(program: Path, monkeypatch: pytest.MonkeyPatch, form: tuple[str, ...]) -> None:
    """As what is stored has none: in words that come in pieces, in calls and their names, in results and ids."""
    key = "k3y-that-stays-here"
    monkeypatch.setenv("SOME_API_KEY", key)
    deltas = [
        {"type": "stream_event", "event": {"type": "message_start"}},
        {
            "type": "stream_event",
            "event": {"type": "content_block_start", "index": 0, "content_block": {"type": "text"}},
        },
        *(
            {
                "type": "stream_event",
                "event": {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}},
            }
            for piece in ("It is k3y-that", "-stays-here", ", yes. k3y")
        ),
    ]
    call = {"type": "tool_use", "id": key, "name": key, "input": {"command": f"echo {key}"}}
    result = {"type": "tool_result", "tool_use_id": key, "content": f"got {key}"}
    said = [{**INIT, "model": key}, *deltas]
    said += [{"type": "assistant", "message": {"content": [call]}}, {"type": "user", "message": {"content": [result]}}]
    (program / "says.jsonl").write_bytes(lines(*said, SAYS, DONE))
    done = claude(*form)
    assert done.returncode == 0
    assert key.encode() not in done.stdout + done.stderr
    assert b"It is [secret SOME_API_KEY], yes. k3y" in done.stdout or "events" in form
    stored = list(Path(os.environ["SIGHTLINE_HOME"]).rglob("*.jsonl"))
    assert [path.name for path in stored if key.encode() in path.read_bytes()] == []


@pytest.mark.parametrize("who", [(), ("--provider", "claude")])
@pytest.mark.parametrize("way", ["--continue", "--resume", "their id"])
def test_a_session_keeps_its_agent(program: Path, who: tuple[str, ...], way: str) -> None:
    """Resumed without naming it, Claude Code answers, in its own conversation and in the same session."""
    claude()
    words = {"--continue": ["--continue"], "--resume": ["--resume", store().sessions()[0]]}
    if way == "their id" and not who:
        return  # without a provider, an id is one of ours
    done = sightline("-p", "two", *who, *words.get(way, ["--resume", "their-id-1"]))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"Claude heard two.\n", b"")
    assert "--resume=their-id-1" in arguments(program)[1]
    assert [event.text for event in events() if isinstance(event, User)] == ["one", "two"]


def test_a_session_is_resumed_with_no_more_than_it_had(program: Path) -> None:
    """It was `auto` again, whatever it had been begun with; a level that is named counts, and holds from then on."""
    claude("--approval", "plan")
    done = sightline("-p", "two", "--continue")
    assert (done.returncode, done.stdout) == (0, b"Claude heard two.\n")
    note = b"note: the approval level is plan, as this session was left\nhint: --approval names another one\n"
    assert done.stderr.startswith(note)
    named = sightline("-p", "three", "--continue", "--approval", "edit")
    assert note not in named.stderr
    assert ["plan" in line for line in arguments(program)] == [True, True, False]


def test_a_session_reports_that_its_agent_changes(program: Path, tmp_path: Path) -> None:
    """Asked for by name, our own agent takes over: that is printed and stored, and it answers from then on."""
    claude()
    script = tmp_path / "script.json"
    script.write_text(json.dumps([[{"text": "Ours."}]] * 4))
    ours = ("-p", "two", "--model", f"scripted:{script}")
    done = sightline(*ours, "--provider", "native", "--continue")
    assert (done.returncode, done.stdout) == (0, b"Ours.\n")
    said = b"The agent changes from Claude Code to sightline's own agent"
    assert said in done.stderr
    assert sightline(*ours, "--continue").stdout == b"Ours.\n"
    assert sum(isinstance(event, Notice) and said.decode() in event.text for event in events()) == 1
    back = sightline("-p", "three", "--provider", "claude", "--resume", store().sessions()[0])
    assert b"changes from sightline's own agent to Claude Code" in back.stderr
    assert back.stdout.endswith(b"Claude heard three.\n")
    assert "--resume=their-id-1" in arguments(program)[1]


def test_verbose_names_both_ids(program: Path) -> None:
    """Ours resumes it here, its own there."""
    done = claude("-v")
    (session,) = store().sessions()
    assert f"session {session} · the agent's own id their-id-1" in done.stderr.decode()


@pytest.mark.parametrize("form", [(), ("-v",), ("--output-format", "events"), ("--output-format", "json")])
def test_a_program_that_is_not_installed_leaves_no_session(
    program: Path, monkeypatch: pytest.MonkeyPatch, form: tuple[str, ...]
) -> None:
    """Nothing began that could be resumed. A session that is resumed stays as it was."""
    assert claude().returncode == 0
    (before,) = listed()
    journal = store().folder(before["id"]) / "journal.jsonl"
    content = journal.read_bytes()
    monkeypatch.setenv("PATH", str(program / "nothing"))
    for words in [(), ("--continue",)]:
        done = claude(*words, *form)
        assert done.returncode == 1
        assert b"Claude Code is not installed: no `claude` on the PATH" in done.stdout + done.stderr
        assert b"not stored" not in done.stdout + done.stderr
        if form != ("--output-format", "events"):
            assert b"hint: install it with" in done.stderr
    assert (store().sessions(), journal.read_bytes()) == ([before["id"]], content)


def test_a_folder_that_cannot_be_written_costs_the_record_only(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run is what was asked for."""
    home = program.parent / "home-is-a-file"
    home.write_text("")
    monkeypatch.setenv("SIGHTLINE_HOME", str(home))
    done = claude()
    assert (done.returncode, done.stdout) == (0, b"Claude heard one.\n")
    assert b"this conversation is not stored" in done.stderr


def test_a_recorded_run_is_masked(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is stored has no secret of the environment in it."""
    monkeypatch.setenv("MY_API_KEY", "sk-very-secret-0123456789")
    use = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "env"}}
    printed = {"type": "tool_result", "tool_use_id": "t", "content": "MY_API_KEY=sk-very-secret-0123456789"}
    call = {"type": "assistant", "message": {"content": [use]}}
    result = {"type": "user", "message": {"content": [printed]}}
    (program / "says.jsonl").write_bytes(lines(INIT, call, result, DONE))
    assert claude().returncode == 0
    (content,) = [event.content for event in events() if isinstance(event, ToolResult)]
    assert content.startswith("MY_API_KEY=")
    assert "very-secret" not in content


def test_keys_that_cannot_be_read_are_reported_once(program: Path) -> None:
    """They are not masked here either."""
    keys = Path(os.environ["SIGHTLINE_HOME"]) / "keys"
    keys.mkdir(parents=True, mode=0o700)
    (keys / "keys.json").write_text("[]")
    done = sightline("-p", "go", "--provider", "claude")
    assert done.returncode == 0
    assert done.stderr.count(b"stored keys are not used") == 1
    assert [notice.source for notice in events() if isinstance(notice, Notice)] == ["settings"]
