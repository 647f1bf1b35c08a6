"""`sightline -p` that is held to something: so many turns, so many dollars, an answer that fits a schema."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sightline.events import Error, Event, RunEnded, Text, TurnEnded, TurnStarted, User
from sightline.journal import SessionReader, Store
from tests.cli.support import sightline
from tests.providers.support import lines

pytestmark = pytest.mark.usefixtures("hosts")

FREE = ("--set", "permissions.sandbox=false", "--allow", "exec")
LOOK: dict[str, Any] = {"tool": "bash", "args": {"command": "echo looked"}}
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    return folder


def native(folder: Path, turns: list[Any], *words: str) -> "subprocess.CompletedProcess[bytes]":
    path = folder.parent / "script.json"
    path.write_text(json.dumps(turns))
    return sightline("-p", "go", "--model", f"scripted:{path}", *FREE, *words)


def stored() -> tuple[str, list[Event]]:
    store = Store(Path(os.environ["SIGHTLINE_HOME"]))
    (session,) = store.sessions()
    return session, list(SessionReader(store.folder(session)).events())


def of_kind(kind: type[Event], events: list[Event]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def test_a_run_is_stopped_before_one_turn_too_many(work: Path) -> None:
    """The calls of the last turn were made; the next request is not. The error says how to continue, and is stored."""
    done = native(work, [[{"text": "One."}, LOOK], [{"text": "Two."}, LOOK], [{"text": "Three."}]], "--max-turns", "2")
    session, events = stored()
    assert (done.returncode, done.stdout) == (1, b"One.\nTwo.\n")
    assert done.stderr.decode() == (
        f"error: stopped after 2 turns (--max-turns)\nhint: continue with: sightline --resume {session}\n"
    )
    assert len(of_kind(TurnStarted, events)) == len(of_kind(TurnEnded, events)) == 2
    assert [event.text for event in of_kind(Error, events)] == ["stopped after 2 turns (--max-turns)"]
    (ended,) = of_kind(RunEnded, events)
    assert (ended.stop_reason, ended.is_error, ended.exit_code) == ("limit", True, 1)


def test_a_run_that_ends_with_its_last_turn_is_not_stopped(work: Path) -> None:
    """It has done what it may."""
    done = native(work, [[LOOK], [{"text": "Done."}]], "--max-turns", "2")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"Done.\n", b"")


def test_the_turns_of_a_resumed_run_are_counted_anew(work: Path) -> None:
    """The limit is one of this command line."""
    assert native(work, [[LOOK]], "--max-turns", "1").returncode == 1
    done = native(work, [[LOOK], [{"text": "Done."}]], "--max-turns", "1", "--continue")
    assert (done.returncode, done.stdout) == (0, b"Done.\n")


def priced(dollars: float | None, *blocks: dict[str, Any]) -> dict[str, Any]:
    usage = {"input_tokens": 10, "output_tokens": 5}
    return {"blocks": list(blocks), "usage": usage, **({} if dollars is None else {"cost": dollars})}


@pytest.mark.parametrize(("limit", "code"), [("0.03", 1), ("0.05", 0)])
def test_a_run_is_stopped_when_it_has_spent_so_much(work: Path, limit: str, code: int) -> None:
    """The sum of its turns counts; one that stays below it is none of the limit's business."""
    turns = [priced(0.02, LOOK), priced(0.02, LOOK), priced(0.001, {"text": "Done."})]
    done = native(work, turns, "--max-cost", limit)
    session, events = stored()
    assert done.returncode == code, done.stderr
    errors = [(event.text, event.hint) for event in of_kind(Error, events)]
    hint = f"continue with: sightline --resume {session}"
    assert errors == ([("stopped after $0.0400 (--max-cost 0.03)", hint)] if code else [])
    assert len(of_kind(TurnStarted, events)) == (2 if code else 3)


def test_what_an_agent_spends_counts(work: Path) -> None:
    """It is stopped with the agent that started it, and the one run has one error."""
    task = {
        "tool": "task",
        "args": {"agent": "task", "assignment": "Count.", "id": "Counter"},
        "agents": {"Counter": [priced(0.5, LOOK), priced(0.5, LOOK), priced(0.5, LOOK)]},
    }
    done = native(work, [priced(0.1, task), [{"text": "Done."}]], "--max-cost", "1")
    _, events = stored()
    assert done.returncode == 1
    assert [event.text for event in of_kind(Error, events)] == ["stopped after $1.1000 (--max-cost 1)"]
    assert [event.agent for event in of_kind(TurnEnded, events)] == ["", "Counter", "Counter"]
    assert b"Done." not in done.stdout


def test_a_price_nobody_knows_stops_the_run(work: Path) -> None:
    """Nothing says that the limit holds, so it does not: the error names the model."""
    done = native(work, [priced(None, LOOK), [{"text": "Done."}]], "--max-cost", "100")
    assert done.returncode == 1
    path = work.parent / "script.json"
    assert f"the price of scripted:{path} is unknown, so --max-cost cannot be enforced".encode() in done.stderr
    assert b"hint: leave out --max-cost" in done.stderr
    assert len(of_kind(TurnStarted, stored()[1])) == 1


@pytest.mark.parametrize(
    "answer", ['{"n": 3}', '```json\n{"n": 3}\n```', '\n```\n{"n": 3}```\n'], ids=["bare", "fence", "unnamed"]
)
def test_an_answer_that_fits_is_all_of_stdout(work: Path, answer: str) -> None:
    """As it was written, without the fence; words before the last message are not on stdout."""
    turns = [[{"text": "I look."}, LOOK], [{"text": answer}]]
    done = native(work, turns, "--json-schema", "../schema.json")
    assert (done.returncode, done.stdout, done.stderr) == (0, b'{"n": 3}\n', b"")
    (asked,) = of_kind(User, stored()[1])
    assert asked.text.startswith("go\n\n")
    assert json.loads(asked.text.rpartition("\n")[2]) == SCHEMA


def test_with_v_the_steps_are_on_stderr(work: Path) -> None:
    """Everything is still visible, and stdout can be piped on."""
    done = native(work, [[{"text": "I look."}, LOOK], [{"text": '{"n": 3}'}]], "--json-schema", "../schema.json", "-v")
    assert (done.returncode, done.stdout) == (0, b'{"n": 3}\n')
    assert b"I look.\n\xe2\x97\x8f Bash echo looked\n  looked\n" in done.stderr


def test_an_answer_that_does_not_fit_is_sent_back_once(work: Path) -> None:
    """In the same session, where it can be seen; what is corrected then is the answer."""
    turns = [[{"text": 'Here: {"n": "three"}'}], [{"text": '{"n": 3}'}]]
    done = native(work, turns, "--json-schema", "../schema.json")
    assert (done.returncode, done.stdout, done.stderr) == (0, b'{"n": 3}\n', b"")
    _, back = of_kind(User, stored()[1])
    assert "it is not one JSON value" in back.text
    assert back.source == "schema"


def test_an_answer_that_still_does_not_fit_fails_the_run(work: Path) -> None:
    """The problems are on stderr, and nothing is on stdout; the events have all of it."""
    turns = [[{"text": '{"n": "three"}'}], [{"text": '{"m": 3}'}], [{"text": '{"n": 3}'}]]
    done = native(work, turns, "--json-schema", "../schema.json")
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"error: the answer does not fit the schema: n is missing; m is unknown\n" in done.stderr
    events = stored()[1]
    assert "- n: expected integer, got string" in of_kind(User, events)[1].text
    assert len(of_kind(TurnStarted, events)) == 2


def test_events_stay_as_they_are(work: Path) -> None:
    """A machine reads every event, the one that sends the answer back among them."""
    turns = [[{"text": "no"}], [{"text": "no"}]]
    done = native(work, turns, "--json-schema", "../schema.json", "--output-format", "events")
    assert done.returncode == 1
    events = stored()[1]
    written = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["seq"] for line in written] == [event.seq for event in events]
    assert [line["kind"] for line in written].count("error") == 1


def test_the_turn_that_corrects_is_a_turn(work: Path) -> None:
    """One limit holds for all of a run."""
    turns = [[{"text": "no"}], [{"text": '{"n": 3}'}]]
    done = native(work, turns, "--json-schema", "../schema.json", "--max-turns", "1")
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"stopped after 1 turn (--max-turns)" in done.stderr


def test_a_resumed_session_can_have_a_schema(work: Path) -> None:
    """The answer to this prompt has to fit, not those before."""
    assert native(work, [[{"text": "Hello."}]]).returncode == 0
    done = native(work, [[{"text": "Hello."}], [{"text": '{"n": 3}'}]], "--continue", "--json-schema", "../schema.json")
    assert (done.returncode, done.stdout) == (0, b'{"n": 3}\n')


def test_no_secret_is_in_the_answer(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is printed is what was published."""
    monkeypatch.setenv("SOME_API_KEY", "k3y-that-stays-here")
    (work.parent / "any.json").write_text("{}")
    done = native(work, [[{"text": '{"key": "k3y-that-stays-here"}'}]], "--json-schema", "../any.json")
    assert (done.returncode, done.stdout) == (0, b'{"key": "[secret SOME_API_KEY]"}\n')


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, b"cannot read the schema ../it.json: No such file or directory"),
        (b"{", b"the schema ../it.json is not JSON"),
        (b"[1]", b"the schema ../it.json is not a JSON object"),
        (b'{"a": "' + b"x" * 1024 * 1024 + b'"}', b"the schema ../it.json is larger than 1 MiB"),
        (b"[" * 100_000, b"the schema ../it.json is not JSON"),
        (b"\xff", b"the schema ../it.json is not JSON"),
    ],
    ids=["missing", "not JSON", "not an object", "large", "deep", "not UTF-8"],
)
def test_a_schema_that_is_none_is_a_mistake(work: Path, content: bytes | None, said: bytes) -> None:
    """Found before anything is started."""
    if content is not None:
        (work.parent / "it.json").write_bytes(content)
    done = native(work, [[{"text": "Hello."}]], "--json-schema", "../it.json")
    assert (done.returncode, done.stdout) == (2, b"")
    assert said in done.stderr
    assert Store(Path(os.environ["SIGHTLINE_HOME"])).sessions() == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-p", "go", "--max-turns", "0"), b"not a number of turns above 0: 0"),
        (("-p", "go", "--max-cost", "nan"), b"not a number of dollars above 0: nan"),
        (("-p", "go", "--max-cost", "-1"), b"not a number of dollars above 0: -1"),
        (("--max-turns", "3"), b"--max-turns needs a prompt"),
        (("--max-cost", "3"), b"--max-cost needs a prompt"),
        (("--json-schema", "x"), b"--json-schema needs a prompt"),
        (("-p", "go", "--provider", "codex", "--max-turns", "3"), b"--max-turns cannot be enforced: Codex"),
        (("-p", "go", "--provider", "gemini", "--max-cost", "3"), b"--max-cost cannot be enforced: Gemini"),
        (
            ("-p", "go", "--provider", "claude", "--output-format", "json", "--max-cost", "3"),
            b"--max-cost cannot be used with --output-format json and Claude Code",
        ),
    ],
)
def test_what_cannot_be_held_is_a_mistake(work: Path, words: tuple[str, ...], said: bytes) -> None:
    done = sightline(*words)
    assert done.returncode == 2
    assert said in done.stderr


# Stands for Claude Code: it plays the file of its first start, then that of its second, and waits if that says so.
_CLAUDE = """#!{python}
import os, sys, time
HERE = os.path.dirname(os.path.abspath(__file__))
with open(HERE + "/starts.txt", "a") as log:
    log.write(" ".join(sys.argv[1:]) + "\\n")
with open(HERE + "/starts.txt") as log:
    start = len(log.readlines())
with open(HERE + "/prompts.txt", "a") as log:
    log.write(sys.stdin.read() + "\\0")
for line in open(HERE + f"/says-{{start}}.jsonl"):
    if line.startswith("WAIT"):
        time.sleep(600)
    sys.stdout.write(line)
    sys.stdout.flush()
"""
INIT = {"type": "system", "subtype": "init", "session_id": "their-id-1", "model": "claude-sonnet-4-5", "cwd": "/"}
REQUEST = {"type": "system", "subtype": "status", "status": "requesting"}


def said(text: str, tokens: int = 0) -> list[dict[str, Any]]:
    """One turn of it: a request, words, and its tokens."""
    usage = {"input_tokens": tokens, "output_tokens": tokens}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"usage": {"input_tokens": tokens}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage},
        {"type": "message_stop"},
    ]
    return [REQUEST, *({"type": "stream_event", "event": event} for event in events)]


def result(dollars: float | None = None) -> dict[str, Any]:
    cost = {} if dollars is None else {"total_cost_usd": dollars}
    return {"type": "result", "subtype": "success", "is_error": False, "result": "", **cost}


@pytest.fixture
def program(work: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = work.parent / "bin"
    folder.mkdir()
    (folder / "claude").write_text(_CLAUDE.format(python=sys.executable))
    (folder / "claude").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


def claude(program: Path, starts: list[list[dict[str, Any]]], *words: str) -> "subprocess.CompletedProcess[bytes]":
    for number, says in enumerate(starts, 1):
        (program / f"says-{number}.jsonl").write_bytes(lines(*says))
    with open(program / f"says-{len(starts)}.jsonl", "ab") as last:
        last.write(b"WAIT\n" if "result" not in starts[-1][-1]["type"] else b"")
    return sightline("-p", "one", "--provider", "claude", *words)


def test_another_program_is_stopped_before_one_turn_too_many(program: Path) -> None:
    """It has begun the turn when that is known: it is ended, with what it started, and the session has the error."""
    done = claude(program, [[INIT, *said("One."), *said("Two."), REQUEST]], "--max-turns", "2")
    session, events = stored()
    assert (done.returncode, done.stdout) == (1, b"One.\nTwo.\n")
    assert done.stderr.decode() == (
        f"error: stopped after 2 turns (--max-turns)\nhint: continue with: sightline --resume {session}\n"
    )
    assert [event.text for event in of_kind(Error, events)] == ["stopped after 2 turns (--max-turns)"]
    assert [event.stop_reason for event in of_kind(RunEnded, events)] == ["cancelled"]


def test_another_program_that_ends_with_its_last_turn_is_not_stopped(program: Path) -> None:
    done = claude(program, [[INIT, *said("One."), *said("Two."), result()]], "--max-turns", "2")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"One.\nTwo.\n", b"")


def test_another_program_is_priced_by_its_tokens(program: Path) -> None:
    """It reports none while it works: a million tokens in and out are more than a dollar."""
    done = claude(program, [[INIT, *said("One.", 1_000_000), REQUEST]], "--max-cost", "1")
    assert done.returncode == 1
    assert b"error: stopped after $" in done.stderr
    assert b"(--max-cost 1)\nhint: continue with: sightline --resume " in done.stderr


def test_what_another_program_says_it_spent_counts(program: Path) -> None:
    """Its subagents are in its sum alone: a run that went over the limit has failed, though it is over."""
    done = claude(program, [[INIT, *said("One.", 10), result(2.5)]], "--max-cost", "1")
    assert done.returncode == 1
    assert b"error: stopped after $2.5000 (--max-cost 1)" in done.stderr
    assert claude_of_new_session(program, result(0.5)).returncode == 0


def claude_of_new_session(program: Path, end: dict[str, Any]) -> "subprocess.CompletedProcess[bytes]":
    (program / "starts.txt").unlink()
    return claude(program, [[INIT, *said("One.", 10), end]], "--max-cost", "1")


def test_another_program_with_a_model_without_a_price_is_stopped(program: Path) -> None:
    init = {**INIT, "model": "nobody-knows-it"}
    done = claude(program, [[init, *said("One.", 10), REQUEST]], "--max-cost", "100")
    assert done.returncode == 1
    assert b"the price of nobody-knows-it is unknown, so --max-cost cannot be enforced" in done.stderr


def test_the_answer_of_another_program_is_sent_back_once(program: Path) -> None:
    """In its own conversation and in our session."""
    starts = [[INIT, *said("three"), result()], [INIT, *said('```json\n{"n": 3}\n```'), result()]]
    done = claude(program, starts, "--json-schema", "../schema.json")
    assert (done.returncode, done.stdout, done.stderr) == (0, b'{"n": 3}\n', b"")
    assert "--resume=their-id-1" in (program / "starts.txt").read_text().splitlines()[1]
    first, second, _ = (program / "prompts.txt").read_text().split("\0")
    assert json.loads(first.rpartition("\n")[2]) == SCHEMA
    assert "it is not one JSON value" in second
    _, events = stored()
    assert [event.text for event in of_kind(User, events)] == [first, second]
    assert "".join(event.text for event in of_kind(Text, events)) == 'three```json\n{"n": 3}\n```'
    assert len(of_kind(RunEnded, events)) == 2


@pytest.mark.parametrize("form", ["text", "events"])
def test_an_answer_of_another_program_that_never_fits_fails_the_run(program: Path, form: str) -> None:
    starts = [[INIT, *said("three"), result()], [INIT, *said('{"m": 3}'), result()]]
    done = claude(program, starts, "--json-schema", "../schema.json", "--output-format", form)
    _, events = stored()
    problem = "the answer does not fit the schema: n is missing; m is unknown"
    assert done.returncode == 1
    assert [event.text for event in of_kind(Error, events)] == [problem]
    if form == "text":
        assert done.stdout == b""
        assert f"error: {problem}\n".encode() in done.stderr
    else:
        written = [json.loads(line) for line in done.stdout.splitlines()]
        assert [line["text"] for line in written if line["kind"] == "error"] == [problem]
        assert [line["source"] for line in written if line["kind"] == "user"] == ["person", "schema"]
