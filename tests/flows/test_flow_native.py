"""Agent steps of our own agent: its model scripted, everything else real."""

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.cli.support import SIGHTLINE, sightline, until

from sightline.flows import check
from sightline.journal import Store
from sightline.settings._agent_files import user_agents_folder

EXAMPLE = Path(__file__).parents[2] / "examples" / "own-agent.yaml"

pytestmark = pytest.mark.usefixtures("own_home")


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "notes.txt").write_text("notes\n")
    monkeypatch.chdir(folder)
    return folder


def scripted(folder: Path, *turns: list[dict[str, Any]]) -> str:
    path = folder.parent / "script.json"
    path.write_text(json.dumps(turns))
    return f"scripted:{path}"


def bash(command: str) -> dict[str, Any]:
    return {"tool": "bash", "args": {"command": command}}


def write(folder: Path, *, approval: str, more: str = "") -> str:
    path = folder.parent / "flow.yaml"
    path.write_text(
        "name: f\ninputs: {model: {}}\nsteps:\n"
        f"  - {{id: a, provider: native, model: '{{{{ inputs.model }}}}', approval: {approval}, prompt: Go., {more}}}\n"
    )
    return str(path)


def test_the_example_runs(work: Path) -> None:
    """Its words are the output of the step, and its prompt, answer and session are stored."""
    model = scripted(
        work, [{"text": "Let me see."}, {"tool": "read", "args": {"path": "notes.txt"}}], [{"text": "Notes."}]
    )
    done = sightline("flow", "run", str(EXAMPLE), "-i", f"model={model}", "--output-format", "events")
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    of_step = [event for event in events if event.get("agent") == "describe"]
    assert "".join(event["text"] for event in of_step if event["kind"] == "text") == "Let me see.Notes."
    assert [event["name"] for event in of_step if event["kind"] == "tool_use"] == ["Read"]
    (record,) = Store(Path(os.environ["SIGHTLINE_HOME"])).conversations()
    assert "Say in one sentence what this folder is about." in record.first_prompt


@pytest.mark.parametrize("approval", ["plan", "edit", "full"])
def test_the_level_is_that_of_the_step(work: Path, approval: str) -> None:
    """What it does not allow is refused; with nobody there to ask the step has failed."""
    model = scripted(work, [{"tool": "bash", "args": {"command": "touch made", "sandbox": False}}], [{"text": "Done."}])
    done = sightline("flow", "run", write(work, approval=approval), "-i", f"model={model}")
    assert (work / "made").exists() == (approval == "full")
    if approval == "edit":
        assert done.returncode == 1
        assert b"a permission was refused" in done.stdout
    if approval == "full":
        assert done.returncode == 0


def test_a_model_that_does_not_exist_fails_the_step(work: Path) -> None:
    """With the hint that the command line would give."""
    done = sightline("flow", "run", write(work, approval="plan"), "-i", "model=nobody/nothing")
    assert done.returncode == 1
    assert b"no model nobody/nothing" in done.stderr


def test_a_timeout_is_a_timeout(work: Path) -> None:
    """Of the flow as well, when nothing else failed."""
    model = scripted(work, [{"text": "x", "delay_ms": 60000}])
    done = sightline("flow", "run", write(work, approval="plan", more="timeout: 0.5"), "-i", f"model={model}")
    assert done.returncode == 124


def test_cancelling_ends_what_it_runs(work: Path) -> None:
    """As with every other step."""
    model = scripted(work, [bash("echo $$ > pid; sleep 600")], [{"text": "Done."}])
    words = [SIGHTLINE, "flow", "run", write(work, approval="full"), "-i", f"model={model}"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    until(lambda: (work / "pid").exists() and (work / "pid").read_text().strip(), "the command")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=90)
    assert process.returncode == 130


def test_what_it_does_not_take_is_found_by_the_check(work: Path) -> None:
    """Options, and levels that a provider does not have."""
    path = Path(write(work, approval="ask", more="options: {mode: fast}"))
    assert [finding.message for finding in check(path)] == [
        "unknown approval: ask",
        "native takes no options: mode",
    ]
    path.write_text("name: f\nsteps:\n  - {id: a, provider: openai_compatible, approval: full, prompt: Go.}\n")
    assert [finding.message for finding in check(path)] == ["openai_compatible has no approval level full"]


REVIEWER = """---
name: reviewer
description: reviews
approval: plan
---
You review what you are given.
"""


def test_a_step_may_name_an_agent(work: Path) -> None:
    """It is started as `task` starts it: its instructions, its level, and what it hands back is the output."""
    agents = user_agents_folder(os.environ)
    agents.mkdir(parents=True)
    (agents / "reviewer.md").write_text(REVIEWER)
    model = scripted(
        work,
        [{"tool": "write", "args": {"path": "made", "content": "x"}}],
        [{"text": "So."}, {"tool": "yield", "args": {"result": "All good."}}],
    )
    path = work.parent / "flow.yaml"
    path.write_text(
        "name: f\ninputs: {model: {}}\nsteps:\n"
        "  - {id: look, agent: reviewer, approval: full, model: '{{ inputs.model }}', prompt: Look.}\n"
        "  - {id: show, needs: look, run: 'echo got {{ steps.look.output }}'}\n"
    )
    done = sightline("flow", "run", str(path), "-i", f"model={model}", "--output-format", "events")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    printed = [event["content"] for event in events if event["kind"] == "tool_output" and event["agent"] == "show"]
    assert printed == ["got All good.\n"], done.stderr
    states = [event["value"] for event in events if event["kind"] == "state" and event["agent"] == "look"]
    assert "reviewer" in {state.get("definition") for state in states if isinstance(state, dict)}
    assert not (work / "made").exists(), "its definition caps it at plan, whatever the step says"


def test_an_agent_that_there_is_not_is_found_before_anything_runs(work: Path) -> None:
    """A mistake of the user: exit code 2."""
    path = work.parent / "flow.yaml"
    path.write_text("name: f\nsteps:\n  - {id: a, run: touch ran}\n  - {id: b, agent: nobody, prompt: Go.}\n")
    done = sightline("flow", "run", str(path))
    assert done.returncode == 2
    assert b"nobody" in done.stderr
    assert not (work / "ran").exists()
