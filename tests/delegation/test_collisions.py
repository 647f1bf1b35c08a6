"""Agents of one session, and of two, that change the same file: the one that has not seen a change is refused."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from sightline.events import ToolResult, file_collision
from sightline.journal import SessionReader, Store
from sightline.tools.hashline import Snapshots
from tests.agent.support import lab
from tests.cli.support import SIGHTLINE
from tests.delegation.teamwork import call, handed_back, of_agent, started, text

KEY = "sk-live-0123456789abcdef"
BEFORE = f"K = '{KEY}'\nx = 1\ny = 2\n"
AFTER = BEFORE.replace("x = 1", "x = 'theirs'")


def tag(path: Path, content: str) -> str:
    """The same state of a file always has the same tag."""
    return Snapshots().record(path, content)


def edit(path: Path, content: str, operation: str) -> dict[str, Any]:
    return call("edit", input=f"¶{path.name}#{tag(path, content)}\n{operation}")


def wait_for(name: str, then: str = "true") -> dict[str, Any]:
    return call("bash", command=f"until test -e {name}; do sleep 0.02; done; {then}", timeout=80)


def reader(path: Path) -> list[Any]:
    """Reads, lets the other one write, and edits what it has read; then again what it was shown in the refusal."""
    return [
        [call("read", path=path.name)],
        [call("bash", command="touch was-read")],
        [wait_for("was-written")],
        [edit(path, BEFORE, "replace 3:\n+y = 'mine'")],
        [edit(path, AFTER, "replace 3:\n+y = 'mine'")],
    ]


def writer(path: Path) -> list[Any]:
    return [
        [wait_for("was-read")],
        [call("read", path=path.name)],
        [edit(path, BEFORE, "replace 2:\n+x = 'theirs'")],
        [call("bash", command="touch was-written")],
    ]


async def test_two_agents_of_a_session_see_each_others_writes(tmp_path: Path) -> None:
    """Who it was and what changed is in the result; a secret is not, for neither a view nor a model."""
    work = tmp_path / "work"
    work.mkdir()
    path = work / "conf.py"
    path.write_text(BEFORE)
    scripts = {"Reader": [*reader(path), handed_back()], "Writer": [*writer(path), handed_back()]}
    async with lab(tmp_path, [[started(scripts)], [text("So.")]], environ={"MY_API_KEY": KEY}) as here:
        await here.run()
        refused, made = [event for event in of_agent(here, "Reader", ToolResult) if event.content][-3:-1]
        fact = file_collision(refused.details)
        assert refused.is_error
        assert fact is not None
        assert (fact.path, fact.session, fact.agent) == ("conf.py", here.session.id, "Writer")
        assert refused.content.startswith("conf.py was changed by Writer (")
        assert (
            "since you read it:\n\n 1:K = '[secret MY_API_KEY]'\n-2:x = 1\n+2:x = 'theirs'\n 3:y = 2" in refused.content
        )
        assert not made.is_error
        assert KEY not in repr(here.seen)
        assert KEY.encode() not in (here.session.folder / "agents" / "Reader" / "journal.jsonl").read_bytes()
    assert path.read_text() == AFTER.replace("y = 2", "y = 'mine'")


async def test_the_agent_of_the_session_is_another_one_too(tmp_path: Path) -> None:
    """What an agent that it started wrote is not what it read before."""
    work = tmp_path / "work"
    work.mkdir()
    path = work / "conf.py"
    path.write_text(BEFORE)
    turns = [
        [call("read", path="conf.py")],
        [started({"Helper": [*writer(path)[1:3], handed_back()]})],
        [call("write", path="conf.py", content="mine\n")],
        [text("So.")],
    ]
    async with lab(tmp_path, turns) as here:
        await here.run()
        result = [event for event in here.of(ToolResult) if not event.agent][-1]
        fact = file_collision(result.details)
        assert fact is not None
        assert fact.agent == "Helper"
    assert path.read_text() == AFTER


def test_two_sessions_in_two_processes_see_each_others_writes(tmp_path: Path) -> None:
    """The refusal names the other session."""
    work = tmp_path / "work"
    work.mkdir()
    path = work / "conf.py"
    path.write_text(BEFORE)

    def opened(name: str, turns: list[Any]) -> "subprocess.Popen[bytes]":
        script = tmp_path / f"{name}.json"
        script.write_text(json.dumps([*turns, [text("Done.")]]))
        free = ("--set", "permissions.sandbox=false", "--allow", "exec")
        command = [SIGHTLINE, "-p", "go", "--model", f"scripted:{script}", *free]
        return subprocess.Popen(command, cwd=work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)

    sessions = [opened("one", reader(path)), opened("two", writer(path))]
    assert [(session.communicate(timeout=90), session.returncode)[1] for session in sessions] == [0, 0]
    store = Store(Path(os.environ["SIGHTLINE_HOME"]))
    events = {id: SessionReader(store.folder(id)).events() for id in store.sessions()}
    results = {id: [event for event in events[id] if isinstance(event, ToolResult)] for id in events}
    mine, theirs = sorted(results, key=lambda id: len(results[id]), reverse=True)
    refused, made = results[mine][-2:]
    fact = file_collision(refused.details)
    assert refused.is_error
    assert fact is not None
    assert (fact.session, fact.agent) == (theirs, "")
    assert fact.call in [result.id for result in results[theirs]]
    assert refused.content.startswith(f"conf.py was changed by Main (session {theirs}, ")
    assert not made.is_error
    assert path.read_text() == AFTER.replace("y = 2", "y = 'mine'")
