"""What the version before stored is read as that version read it. A field that is new has its default."""

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sightline.cli import main
from sightline.events import RetryState
from sightline.journal import SessionTree, Store
from sightline.transcript import fold

HERE = Path(__file__).parent
CAPTURES = HERE.parent / "captures"
STATES = [json.loads(line) for line in (HERE / "states.jsonl").read_text().split("\n") if line]
RECORDINGS: dict[str, list[str]] = json.loads((HERE / "recordings.json").read_text())
# Fields that events and agents have gained since, and what they are where nothing set them.
NEW_FIELDS: dict[str, Any] = {
    "job": ("", False), "is_job": (False,), "masked": (False,), "left_out_lines": (0,), "state": ({},), "runs": ([],),
    "aside": (False,), "command": ("",), "mail": ("", []), "sender": ("",), "reply_to": ("",), "unread": ({},),
}  # fmt: skip


def assert_reads_as(before: object, now: object, place: str = "") -> None:
    """The same value, apart from new fields. A job of then is known as one by what its call showed."""
    if isinstance(before, dict) and isinstance(now, dict):
        assert set(before) <= set(now), place
        for name in set(now) - set(before):
            job = name == "is_job" and now["arg"] == f"job {now['id']}"
            assert job or now[name] in NEW_FIELDS.get(name, ()), f"{place}/{name}"
        for name, value in before.items():
            assert_reads_as(value, now[name], f"{place}/{name}")
    elif isinstance(before, list) and isinstance(now, list):
        assert len(before) == len(now), place
        for number, value in enumerate(before):
            assert_reads_as(value, now[number], f"{place}/{number}")
    else:
        assert before == now, place


@pytest.mark.parametrize("stored", STATES, ids=[stored["session"] for stored in STATES])
def test_a_journal_folds_to_the_same(stored: dict[str, Any]) -> None:
    """The state that views draw, and the branch that the agent continues from."""
    folder = HERE / "sessions" / stored["session"]
    state = fold(Store(HERE).read(stored["session"]).events())
    assert_reads_as(stored["state"], as_json(state))
    tree = SessionTree.load(folder)
    assert_reads_as(stored["tree"], as_json(list(tree.read(tree.path()))))


def test_the_journals_have_every_kind_of_event() -> None:
    """So that the test above says something about each of them."""
    kinds = set()
    for journal in (HERE / "sessions").glob("*/journal.jsonl"):
        kinds |= {json.loads(line).get("kind", "") for line in journal.read_text().split("\n") if line.endswith("}")}
    assert kinds >= {
        "user", "text", "reasoning", "tool_use", "tool_args", "tool_output", "tool_update", "tool_result",
        "run_started", "turn_started", "turn_ended", "run_ended", "agent_started", "agent_ended",
        "request", "request_resolved", "state", "notice", "error", "unknown",
    }  # fmt: skip


def test_settings_are_read_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every value of the file, and every default of then."""
    (tmp_path / "settings.toml").write_text((HERE / "settings.toml").read_text())
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    now = {row["key"]: row["value"] for row in json.loads(printed(["config", "--json"], tmp_path, monkeypatch))}
    before = json.loads((HERE / "settings.json").read_text())
    assert {name: now[name] for name in before} == before


@pytest.mark.parametrize("provider", sorted({name.partition("/")[0] for name in RECORDINGS}))
def test_recordings_show_the_same(provider: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Events and text of every recorded stream. A retry has one shape now, which is compared as a fact."""
    changed = []
    for name, before in RECORDINGS.items():
        if name.partition("/")[0] == provider:
            path = str(CAPTURES / name)
            events = printed(["events", path], tmp_path, monkeypatch)
            shown = printed(["view", "-v", path], tmp_path, monkeypatch)
            if [digest(normal(events)), digest(shown)] != before:
                changed.append(name)
    assert changed == []


def printed(words: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """What a command prints, in this process: hundreds of them are run."""
    monkeypatch.setattr(sys, "argv", ["sightline", *words])
    with (folder / "printed").open("w+b") as file:
        stored = os.dup(1)
        sys.stdout.flush()
        os.dup2(file.fileno(), 1)
        try:
            main()
        except SystemExit:
            pass
        finally:
            sys.stdout.flush()
            os.dup2(stored, 1)
            os.close(stored)
        file.seek(0)
        return file.read().decode()


def normal(events: str) -> str:
    """As the version before wrote them: without times and new fields."""
    rows = []
    for line in events.split("\n"):
        if not line:
            continue
        event = json.loads(line)
        del event["time"]
        if event["kind"] == "state" and event["key"] == "retry":
            event["value"] = msgspec.to_builtins(RetryState.of(event["value"]))
        for name, defaults in NEW_FIELDS.items():
            if event.get(name) in defaults:
                event.pop(name, None)
        rows.append(json.dumps(event, sort_keys=True))
    return "\n".join(rows)


def as_json(value: object) -> object:
    return json.loads(msgspec.json.encode(value))


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
