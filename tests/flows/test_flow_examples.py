"""The examples and the documentation's flows are valid, and what can run anywhere is run."""

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from tests.flows.conftest import hosted

from sightline.flows import Flow, FlowOutcome, check, load
from sightline.flows.file import _steps
from sightline.providers import _registry

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.yaml"))
PAGES = [ROOT / "docs" / "guide" / "flows.md", ROOT / "docs" / "reference" / "flows.md"]


def finished(work: Coroutine[Any, Any, FlowOutcome]) -> FlowOutcome:
    return asyncio.run(asyncio.wait_for(work, 20))


async def outcome_of(flow: Flow, inputs: dict[str, Any], cwd: Path) -> FlowOutcome:
    run = hosted(flow, inputs, cwd)
    async for _ in run.events():
        pass
    return run.outcome


def documented() -> list[Any]:
    found = []
    for page in PAGES:
        for number, block in enumerate(
            re.findall(r"```yaml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL), 1
        ):
            if "steps:" in block:
                found.append(pytest.param(block, id=f"{page.parent.name}-{number}"))
    return found


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_example_passes_the_check(path: Path) -> None:
    """No finding in anything we show people."""
    assert check(path) == []


@pytest.mark.parametrize("block", documented())
def test_every_flow_in_the_documentation_passes_the_check(block: str, tmp_path: Path) -> None:
    """A flow that is copied from a page works."""
    (tmp_path / "flow.yaml").write_text(block, encoding="utf-8")
    (tmp_path / "review.md").write_text("Review it.")

    assert check(tmp_path / "flow.yaml") == []


def test_hello_runs_anywhere(tmp_path: Path) -> None:
    """Commands only: the first flow a person tries."""
    flow = load(ROOT / "examples" / "hello.yaml")
    outcome = finished(outcome_of(flow, {"name": "Ada", "shout": "true"}, tmp_path))

    assert outcome.exit_code == 0
    assert outcome.steps["shout"].output == "HELLO, ADA!"
    assert outcome.steps["goodbye"].output.startswith("Hello, Ada! Have a good ")


@pytest.fixture
def git_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """A git that answers with this, whatever it is asked: a machine that runs the tests need not have one."""

    def answer(text: str) -> None:
        program = tmp_path / "bin" / "git"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")

    return answer


@pytest.fixture
def review(made_up: Any, monkeypatch: pytest.MonkeyPatch) -> Flow:
    """The review example, with a made-up provider in the place of the real ones."""
    for name in ("claude", "codex"):
        monkeypatch.setitem(_registry._MODULES, name, "made_up_provider")
    return load(ROOT / "examples" / "review.yaml")


def test_review_runs_from_diff_to_summary(review: Flow, git_says: Callable[[str], None], tmp_path: Path) -> None:
    """The diff reaches both reviewers, and what both say reaches the summary."""
    git_says("+new words")

    outcome = finished(outcome_of(review, {}, tmp_path))

    assert {name: step.status for name, step in outcome.steps.items()} == dict.fromkeys(review.steps, "ok")
    assert "+NEW WORDS" in outcome.steps["reviewer"].output
    assert outcome.steps["summary"].output.count("+NEW WORDS") == 2
    assert outcome.exit_code == 0


def test_review_of_nothing_asks_nobody(review: Flow, git_says: Callable[[str], None], tmp_path: Path) -> None:
    """Without a difference both reviews are skipped, and so is the summary."""
    git_says("")

    outcome = finished(outcome_of(review, {}, tmp_path))

    assert [step.status for step in outcome.steps.values()] == ["ok", "skipped", "skipped", "skipped"]
    assert outcome.exit_code == 0


def test_the_public_names_of_the_package_are_these() -> None:
    """One door."""
    import sightline.flows

    assert sorted(sightline.flows.__all__) == [
        "AgentStep",
        "AttemptEnd",
        "CommandStep",
        "Finding",
        "Flow",
        "FlowInput",
        "FlowInvalid",
        "FlowOutcome",
        "FlowRun",
        "NATIVE",
        "OUTPUT_CAP",
        "STEPS_AT_ONCE",
        "StepResult",
        "StepTask",
        "brief",
        "check",
        "load",
        "parse_inputs",
        "require_inputs",
        "task_of",
    ]


def test_the_reference_names_every_field_of_a_step() -> None:
    """A field nobody can read about does not exist."""
    reference = PAGES[1].read_text(encoding="utf-8")

    for field in (*_steps._SHARED, *_steps._AGENT, *_steps._COMMAND, "attempts", "delay", "default", "required"):
        assert f"`{field}`" in reference


def test_checking_a_flow_runs_no_provider_code() -> None:
    """`flow check` needs the providers' names, not their modules."""
    script = (
        "import sys; from sightline.flows import check; "
        f"assert check({str(ROOT / 'examples' / 'review.yaml')!r}) == []; "
        "assert 'sightline.providers.claude' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
