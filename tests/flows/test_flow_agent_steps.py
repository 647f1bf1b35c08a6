"""Agent steps, run by a provider that exists only here: its CLI is a real process, its source a few lines."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.events import (
    AgentEnded,
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
from sightline.flows.running._channel import EventChannel
from sightline.flows.running._nested import Nested

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
        assert [event.session for event in ran.of(RunStarted, step)] == ["s-1"]
        assert [(use.id, use.name, use.arg) for use in ran.of(ToolUse, step)] == [
            (f"{step}/call-1", "Read", "notes.md")
        ]
        assert len(ran.of(RunEnded, step)) == 1
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
    """The second attempt's text is another block, its calls have other ids, its output is its own."""
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
    assert ran.of(Notice)[0].text == "a: attempt 1 of 2 failed: the model is overloaded; again"
    blocks = {event.block: "" for event in ran.of(Text, "a")}
    for event in ran.of(Text, "a"):
        blocks[event.block] += event.text
    assert list(blocks.values()) == ["half an ans ", "FAIL ONCE "]
    assert [use.id for use in ran.of(ToolUse, "a")] == ["a#2/call-1"]
    assert ran.outcome.steps["a"].output == "FAIL ONCE "


def test_an_agent_that_fails_fails_the_flow_and_says_why(run: Run) -> None:
    """Exit code 1; its error is told once, and is the step's preview."""
    ran = run("name: f\nsteps:\n  - {id: a, provider: made_up, prompt: fail once}\n")

    assert ran.exit_code == 1
    assert ran.final() == {"a": ("error", "the model is overloaded")}
    assert [error.text for error in ran.of(Error)] == ["a: the model is overloaded"]


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
        assert error.text == "a: Claude Code is not installed: no `claude` on the PATH"
        assert error.hint


async def test_a_subagents_path_follows_the_steps() -> None:
    """Every path and id of a nested event is placed; nothing else of it changes. What the step does is the flow's."""
    channel = EventChannel()
    nested = Nested("review", channel)
    nested.publish(Notice("again"))
    await nested.relay(
        [
            AgentStarted("Explore-1", name="Explore", call="call-2", source="claude"),
            Text("hi", block=3, agent="Explore-1", source="claude"),
            AgentEnded("Explore-1"),
        ]
    )
    channel.close()
    own, started, text, ended = [event async for batch in channel.batches() for event in batch]
    assert (own.agent, own.source) == ("review", "flow")
    assert (started.agent, started.path, started.call) == ("review", "review/Explore-1", "review/call-2")
    assert (text.agent, text.text, text.block, text.source) == ("review/Explore-1", "hi", 3, "claude")
    assert ended.path == "review/Explore-1"


def test_words_before_and_after_a_call_do_not_run_together(
    run: Run, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each block of an agent's words begins on a line of its own in the step's output."""
    recording = Path(__file__).parents[1] / "captures" / "claude" / "single_tool.jsonl"
    program = tmp_path_factory.mktemp("bin") / "claude"  # no program of the workspace is run
    program.write_text(f"#!/bin/sh\ncat {recording}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    ran = run("name: w\nsteps:\n  - {id: a, provider: claude, prompt: hi}\n")

    words: dict[int, str] = {}
    for event in ran.of(Text, "a"):
        words[event.block] = words.get(event.block, "") + event.text
    assert len(words) > 1
    assert ran.outcome.steps["a"].output == "\n".join(words.values())
