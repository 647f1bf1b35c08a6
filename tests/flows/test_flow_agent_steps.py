"""Agent steps, run by a provider that exists only here: its CLI is a real process, its source a few lines."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.events import (
    AgentStarted,
    Error,
    Notice,
    RunEnded,
    RunStarted,
    Text,
    ToolOutput,
    ToolResult,
    ToolUse,
)

Run = Callable[..., Any]

pytestmark = pytest.mark.usefixtures("made_up")


def test_an_agent_step_gets_its_prompt_and_gives_its_words(run: Run) -> None:
    """Inputs and outputs are filled into the prompt; what the agent says is the step's output."""
    ran = run(
        """
        name: agents
        inputs: {who: {}}
        steps:
          - id: facts
            run: echo "$(printf '%s' 'two facts')"
          - id: ask
            needs: facts
            provider: made_up
            prompt: tell {{ inputs.who }} {{ steps.facts.output }}
        """,
        {"who": "ada"},
    )

    assert ran.exit_code == 0
    assert ran.plan() == {
        "chain": [
            {"agent": "run", "task": "facts: echo \"$(printf '%s' 'two facts')\""},
            {"agent": "made_up", "task": "ask: tell ada {{ steps.facts.output }}"},
        ]
    }
    assert ran.outcome.steps["ask"].output == "TELL ADA TWO FACTS "
    assert "".join(event.text for event in ran.of(Text, "ask")) == "TELL ADA TWO FACTS "


def test_every_event_of_an_agent_step_is_under_its_id(run: Run) -> None:
    """Its run, its words and its calls; call ids are unique in the flow."""
    ran = run("""
        name: two
        steps:
          - {id: one, provider: made_up, prompt: hello}
          - {id: two, provider: made_up, prompt: hello}
    """)

    for step in ("one", "two"):
        assert len(ran.of(RunStarted, step)) == 1
        assert [(use.name, use.arg) for use in ran.of(ToolUse, step)] == [("Read", "notes.md")]
        assert len(ran.of(RunEnded, step)) == 1
        assert [(started.path, started.call) for started in ran.of(AgentStarted) if started.path == step] == [
            (step, ran.use().id)
        ]
    assert len({use.id for use in ran.of(ToolUse)}) == 3
    assert ran.of(Text, "") == []


def test_a_prompt_may_live_in_a_file_beside_the_flow(run: Run, tmp_path: Path) -> None:
    """Its text is a template like any other."""
    (tmp_path / "ask.md").write_text("say {{ inputs.word }}")
    ran = run("name: f\ninputs: {word: {default: hi}}\nsteps:\n  - {id: a, provider: made_up, prompt_file: ask.md}\n")

    assert ran.outcome.steps["a"].output == "SAY HI "


def test_model_and_options_reach_the_provider_filled_in(run: Run) -> None:
    """Every text in the options is a template, other values stay what they are."""
    ran = run("""
        name: o
        inputs: {size: {default: big}}
        steps:
          - id: a
            provider: made_up
            prompt: hi
            model: "{{ inputs.size }}-1"
            options: {mode: "very {{ inputs.size }}", level: 3}
            output_format: json
    """)

    first = json.loads(ran.outcome.steps["a"].output.split("\n")[0])
    assert first["argv"] == ["big-1", "very big", "3"]


def test_with_json_the_providers_own_lines_pass_through_unread(run: Run) -> None:
    """FR-006: no event of the source; the lines are what a call wrote, and the step's output."""
    ran = run("""
        name: j
        steps:
          - {id: a, provider: made_up, prompt: hi, output_format: json}
          - {id: b, needs: a, run: "echo {{ steps.a.json.0.session }} {{ steps.a.json.-1.text }}"}
    """)

    assert ran.exit_code == 0
    assert ran.of(Text) == []
    assert ran.of(RunStarted, "a") == []
    lines = ran.outcome.steps["a"].output.split("\n")
    assert [json.loads(line)["kind"] for line in lines] == ["begin", "call", "word"]
    assert "".join(output.content for output in ran.of(ToolOutput, "a")) == "\n".join(lines) + "\n"
    assert [(use.name, use.arg) for use in ran.of(ToolUse, "a")] == [("made_up", "hi")]
    assert [result.exit_code for result in ran.of(ToolResult, "a")] == [0]
    assert ran.outcome.steps["b"].output == "s-1 HI"


def test_an_agent_that_fails_is_tried_again_without_mixing_its_words(run: Run) -> None:
    """The second attempt is an agent of its own: its text is another block, its output its own."""
    ran = run("""
        name: r
        steps:
          - id: a
            provider: made_up
            prompt: fail once
            retry: {attempts: 2}
    """)

    assert ran.exit_code == 0
    assert ran.progress() == ["a=running", "a=running", "a=ok"]
    (notice,) = ran.of(Notice, "a")
    assert notice.text == "attempt 1 of 2 failed: the model is overloaded; again"
    blocks: dict[tuple[str, int], str] = {}
    for event in ran.of(Text):
        blocks[event.agent, event.block] = blocks.get((event.agent, event.block), "") + event.text
    assert [(agent, text) for (agent, _), text in blocks.items()] == [("a", "half an ans "), ("a-2", "FAIL ONCE ")]
    assert len({block for _, block in blocks}) == 2
    assert [use.agent for use in ran.of(ToolUse)] == ["", "a-2"]
    assert ran.outcome.steps["a"].output == "FAIL ONCE "


def test_an_agent_that_fails_fails_the_flow_and_says_why(run: Run) -> None:
    """Exit code 1; its error is told once, and is the step's preview."""
    ran = run("name: f\nsteps:\n  - {id: a, provider: made_up, prompt: fail once}\n")

    assert ran.exit_code == 1
    assert ran.final() == {"a": ("error", "the model is overloaded")}
    assert [error.text for error in ran.of(Error, "a")] == ["the model is overloaded"]


@pytest.mark.parametrize("output_format", ["text", "json"])
def test_an_agent_over_its_time_is_ended(run: Run, output_format: str) -> None:
    """Exit code 124, told with a hint."""
    ran = run(f"""
        name: t
        steps:
          - {{id: a, provider: made_up, prompt: say nothing for ever, timeout: 0.7, output_format: {output_format}}}
    """)

    assert ran.exit_code == 124
    assert ran.final() == {"a": ("error", "timed out after 0.7 s")}
    (error,) = ran.of(Error)
    assert error.hint


def test_a_cli_that_is_not_installed_fails_its_step_with_a_hint(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Also when only its lines were asked for, where no event of the provider's can say it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    for output_format in ("text", "json"):
        ran = run(f"name: n\nsteps:\n  - {{id: a, provider: claude, prompt: hi, output_format: {output_format}}}\n")

        assert ran.exit_code == 1
        assert ran.final()["a"] == ("error", "Claude Code is not installed: no `claude` on the PATH")
        (error,) = ran.of(Error)
        assert (error.agent, error.text) == ("a", "Claude Code is not installed: no `claude` on the PATH")
        assert error.hint


def test_words_before_and_after_a_call_do_not_run_together(
    run: Run, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each block of an agent's words begins on a line of its own in the step's output."""
    recording = Path(__file__).parents[1] / "captures" / "claude" / "single_tool.jsonl"
    program = tmp_path_factory.mktemp("bin") / "claude"  # no program of the workspace is run
    no_channel = 'case "$*" in *--input-format*) exit 1;; esac'
    program.write_text(f"#!/bin/sh\n{no_channel}\ncat {recording}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    ran = run("name: w\nsteps:\n  - {id: a, provider: claude, prompt: hi}\n")

    words: dict[int, str] = {}
    for event in ran.of(Text, "a"):
        words[event.block] = words.get(event.block, "") + event.text
    assert len(words) > 1
    assert ran.outcome.steps["a"].output == "\n".join(words.values())


def test_options_reach_the_agent_of_a_step_and_are_not_stored(run: Run, tmp_path: Path) -> None:
    """There may be a key in them; what is stored of the agent has its prompt and its folder."""
    ran = run("name: o\nsteps:\n  - {id: a, provider: made_up, prompt: hi, options: {mode: sesame}}\n")

    assert ran.exit_code == 0
    assert json.loads((tmp_path / "argv").read_text()) == ["", "sesame"]
    (record,) = (tmp_path / "sightline-home").glob("sessions/*/agents/a/record.json")
    assert json.loads(record.read_text())["assignment"] == "hi"
    journal = record.parents[2] / "journal.jsonl"
    assert "sesame" not in record.read_text() + journal.read_text()


def test_a_provider_that_the_user_named_runs_whatever_our_deny_rules(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are for agents that an agent starts. Here it is the user, as with `--provider`."""
    monkeypatch.setenv("SIGHTLINE_PERMISSIONS_DENY", "read(.env)")
    ran = run("name: d\nsteps:\n  - {id: a, provider: made_up, prompt: hi}\n")

    assert ran.exit_code == 0
    assert ran.final()["a"][0] == "ok"
