"""Running flows of real commands: exit codes and the exact delegation events."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.flows.conftest import hosted

from sightline.events import (
    AgentEnded,
    AgentStarted,
    Error,
    Event,
    Notice,
    RunStarted,
    ToolOutput,
    ToolResult,
    ToolUpdate,
    ToolUse,
    delegation_from_args,
    delegation_from_details,
)
from sightline.exceptions import UserMistake
from sightline.flows import load

Run = Callable[..., Any]

CHAIN = """
    name: chain
    steps:
      - id: a
        run: echo one
      - id: b
        needs: [a]
        run: echo {{ steps.a.output }} two
      - id: c
        needs: [b]
        run: echo {{ steps.b.output }} three
"""

DIAMOND = """
    name: diamond
    steps:
      - id: top
        run: echo top
      - id: left
        needs: top
        run: echo left
      - id: right
        needs: top
        run: while [ ! -e go ]; do sleep 0.01; done; echo right
      - id: bottom
        needs: [left, right]
        run: [echo, "{{ steps.left.output }}+{{ steps.right.output }}"]
"""


def test_a_single_step_is_shown_as_a_single_delegation(run: Run) -> None:
    """One step: mode single, and the plan is {agent, task}, the task with the step's name before it."""
    ran = run("name: one\nsteps:\n  - id: only\n    run: echo hi\n")

    assert ran.exit_code == 0
    assert ran.plan() == {"agent": "run", "task": "only: echo hi"}
    assert ran.progress() == ["only=running", "only=ok"]
    assert delegation_from_details(ran.result().details).mode == "single"


def test_a_chain_runs_in_order_and_each_step_sees_the_output_before_it(run: Run) -> None:
    """Exit code 0; statuses move down the list one by one; mode chain."""
    ran = run(CHAIN)

    assert ran.exit_code == 0
    assert ran.progress() == [
        "a=running b=pending c=pending",
        "a=ok b=pending c=pending",
        "a=ok b=running c=pending",
        "a=ok b=ok c=pending",
        "a=ok b=ok c=running",
        "a=ok b=ok c=ok",
    ]
    assert ran.final() == {"a": ("ok", "one"), "b": ("ok", "one two"), "c": ("ok", "one two three")}
    assert ran.outcome.steps["c"].output == "one two three"


def test_the_plan_is_readable_from_the_calls_arguments_before_the_first_update(run: Run) -> None:
    """The args guard of the contract reads it, and the live step list has the same mode."""
    ran = run(CHAIN)

    plan = delegation_from_args(ran.plan())
    assert plan.mode == "chain"
    assert [(item.agent, item.task) for item in plan.items] == [
        ("run", "a: echo one"),
        ("run", "b: echo {{ steps.a.output }} two"),
        ("run", "c: echo {{ steps.b.output }} three"),
    ]
    assert delegation_from_details(ran.of(ToolUpdate)[0].details).mode == "chain"


def test_a_flow_is_one_run_and_one_call_from_beginning_to_end(run: Run) -> None:
    """run_started, tool_use Flow, …, tool_result, run_ended: nothing before, nothing after."""
    ran = run(CHAIN)

    first, second = ran.events[:2]
    assert (type(first), first.source, first.agent) == (RunStarted, "flow", "")
    assert (second.name, second.native_name, second.arg) == ("Flow", "flow", "chain")
    assert ran.events[-2] is ran.result()
    assert (ran.result().content, ran.result().is_error) == ("3 ok", False)
    assert (ran.ended().exit_code, ran.ended().is_error, ran.ended().source) == (0, False, "flow")


def test_a_diamond_runs_its_middle_side_by_side(run: Run, tmp_path: Path) -> None:
    """`right` ends only after `left` was seen to: they must have been running at the same time; mode parallel."""

    def let_right_go(event: Event) -> None:
        if type(event) is ToolUpdate:
            left = delegation_from_details(event.details).items[1]
            if left.status == "ok":
                (tmp_path / "go").touch()

    ran = run(DIAMOND, on_event=let_right_go)

    assert ran.exit_code == 0
    assert "tasks" in ran.plan()
    assert ran.progress() == [
        "top=running left=pending right=pending bottom=pending",
        "top=ok left=pending right=pending bottom=pending",
        "top=ok left=running right=pending bottom=pending",
        "top=ok left=running right=running bottom=pending",
        "top=ok left=ok right=running bottom=pending",
        "top=ok left=ok right=ok bottom=pending",
        "top=ok left=ok right=ok bottom=running",
        "top=ok left=ok right=ok bottom=ok",
    ]
    assert ran.outcome.steps["bottom"].output == "left+right"


def test_the_active_step_is_the_first_that_runs(run: Run) -> None:
    """activeId follows the work and is gone when nothing runs."""
    ran = run(CHAIN)

    active = [delegation_from_details(event.details).active_id for event in ran.of(ToolUpdate)]
    assert active == ["a", None, "b", None, "c", None]


def test_a_failing_step_is_tried_again_and_that_is_visible(run: Run) -> None:
    """Two failures, then success: exit code 0, a notice and a preview for each failure, never a status error."""
    ran = run("""
        name: retry
        steps:
          - id: flaky
            run: 'echo x >> tries; echo "only $(grep -c x tries)" >&2; test "$(grep -c x tries)" = 3'
            retry: {attempts: 3}
    """)

    assert ran.exit_code == 0
    assert ran.progress() == ["flaky=running", "flaky=running", "flaky=running", "flaky=ok"]
    assert [notice.text for notice in ran.of(Notice, "flaky")] == [
        "attempt 1 of 3 failed: exit code 1: only 1; again",
        "attempt 2 of 3 failed: exit code 1: only 2; again",
    ]
    assert ran.outcome.steps["flaky"].attempts == 3
    assert len({use.id for use in ran.of(ToolUse, "flaky")}) == 3, "each attempt is a call of its own"


def test_a_step_that_fails_every_time_fails_the_flow(run: Run) -> None:
    """Exit code 1 after the last attempt, with what went wrong as its preview."""
    ran = run("name: r\nsteps:\n  - id: bad\n    run: echo no >&2; exit 7\n    retry: {attempts: 2, delay: 0.01}\n")

    assert ran.exit_code == 1
    assert ran.progress() == ["bad=running", "bad=running", "bad=error"]
    assert ran.final() == {"bad": ("error", "exit code 7: no")}
    assert ran.outcome.steps["bad"].exit_code == 7
    assert "again in 0.01 s" in ran.of(Notice)[0].text


def test_a_step_over_its_time_is_ended_and_the_flow_says_124(run: Run) -> None:
    """Exit code 124; the step is an error that says so; what it wrote before is kept."""
    ran = run("name: t\nsteps:\n  - id: slow\n    run: echo begun; sleep 600\n    timeout: 0.3\n")

    assert ran.exit_code == 124
    assert ran.progress() == ["slow=running", "slow=error"]
    assert ran.final() == {"slow": ("error", "timed out after 0.3 s")}
    assert ran.outcome.steps["slow"].output == "begun"
    assert (ran.ended().exit_code, ran.ended().stop_reason) == (124, "timeout")


def test_a_timeout_beside_another_failure_is_not_the_cause(run: Run) -> None:
    """Exit code 1 when something else went wrong as well."""
    ran = run("""
        name: t
        steps:
          - id: slow
            run: sleep 600
            timeout: 0.2
          - id: bad
            run: exit 3
    """)

    assert ran.exit_code == 1


def test_a_step_whose_when_is_false_is_skipped_and_so_is_what_needs_it(run: Run) -> None:
    """Exit code 0; a skipped step is not ok, says that it was skipped, and never runs."""
    ran = run("""
        name: w
        inputs:
          deep: {type: boolean, default: false}
        steps:
          - id: deep
            when: inputs.deep
            run: touch ran
          - id: after
            needs: deep
            run: touch ran
          - id: free
            run: ls
    """)

    assert ran.exit_code == 0
    assert ran.final() == {
        "deep": ("pending", "skipped: when is false"),
        "after": ("pending", "skipped: deep was skipped"),
        "free": ("ok", "flow.yaml"),
    }
    assert {name: step.status for name, step in ran.outcome.steps.items()} == {
        "deep": "skipped",
        "after": "skipped",
        "free": "ok",
    }
    assert not ran.of(ToolUse, "deep")
    assert ran.result().content == "1 ok, 2 skipped"


def test_a_failed_step_stops_what_needs_it_and_nothing_else(run: Run) -> None:
    """Exit code 1; dependents stay pending and say why; independent steps finish."""
    ran = run("""
        name: f
        steps:
          - id: bad
            run: exit 3
          - id: next
            needs: bad
            run: touch ran
          - id: last
            needs: next
            run: touch ran
          - id: other
            run: echo fine
    """)

    assert ran.exit_code == 1
    assert ran.final() == {
        "bad": ("error", "exit code 3"),
        "next": ("pending", "not run: bad failed"),
        "last": ("pending", "not run: next was not run"),
        "other": ("ok", "fine"),
    }
    assert ran.result().content == "1 ok, 1 failed, 2 not run"
    assert ran.result().is_error
    assert (ran.ended().exit_code, ran.ended().is_error) == (1, True)


def test_a_when_that_asks_how_a_step_ended_is_asked_even_if_that_was_badly(run: Run) -> None:
    """`steps.x.status` and `.exit_code` in `when` make a step run after a failure; the flow has failed all the same."""
    ran = run("""
        name: f
        steps:
          - id: bad
            run: echo partial; exit 3
          - id: rescue
            needs: bad
            when: steps.bad.exit_code == 3
            run: echo saw {{ steps.bad.output }} {{ steps.bad.status }}
          - id: party
            needs: bad
            when: steps.bad.status == "ok"
            run: touch ran
    """)

    assert ran.exit_code == 1
    assert ran.final()["rescue"] == ("ok", "saw partial error")
    assert ran.final()["party"] == ("pending", "skipped: when is false")


def test_a_missing_input_is_a_usage_error_before_anything_runs(run: Run, tmp_path: Path) -> None:
    """UserMistake, exit code 2, with the way to give it; no event, no process."""
    seen: list[Event] = []
    flow = "name: i\ninputs:\n  who: {required: true}\nsteps:\n  - id: a\n    run: touch ran\n"

    with pytest.raises(UserMistake, match="input who is missing") as caught:
        run(flow, on_event=seen.append)

    assert caught.value.exit_code == 2
    assert caught.value.hint == "give it with --input who=VALUE"
    assert seen == []
    assert not (tmp_path / "ran").exists()


def test_a_path_into_json_that_leads_nowhere_fails_the_step_before_it_starts(run: Run) -> None:
    """The error says what is there instead; the step is not tried again."""
    ran = run("""
        name: j
        steps:
          - id: data
            run: printf '%s' '{"kind":"bug"}'
          - id: use
            needs: data
            run: echo {{ steps.data.json.color }}
            retry: {attempts: 3}
    """)

    assert ran.exit_code == 1
    assert ran.final()["use"] == ("error", "{{ steps.data.json.color }}: there is no color in steps.data.json")
    (error,) = ran.of(Error)
    assert error.hint == "it has kind"
    assert not ran.of(ToolUse, "use")
    assert not ran.of(Notice)


def test_a_program_that_does_not_exist_fails_its_step_with_a_hint(run: Run) -> None:
    """The list form starts it directly, so we say what a shell would have said."""
    ran = run("name: n\nsteps:\n  - id: a\n    run: [no-such-program-anywhere, x]\n")

    assert ran.exit_code == 1
    assert ran.final()["a"] == ("error", "cannot start no-such-program-anywhere: no such program on the PATH")
    assert ran.outcome.steps["a"].exit_code == 127


def test_a_command_is_shown_as_a_call_of_its_step(run: Run) -> None:
    """tool_use Bash, its output by stream, tool_result with exit code, all under the step's path."""
    ran = run("name: c\nsteps:\n  - id: both\n    run: echo out; echo err >&2; exit 4\n")

    use, outputs, result = ran.of(ToolUse, "both")[0], ran.of(ToolOutput, "both"), ran.of(ToolResult, "both")[0]
    assert (use.name, use.native_name, use.arg) == ("Bash", "run", "echo out; echo err >&2; exit 4")
    assert {(output.stream, output.content) for output in outputs} == {("stdout", "out\n"), ("stderr", "err\n")}
    assert {event.id for event in (use, *outputs, result)} == {use.id}
    assert (result.exit_code, result.is_error, result.content) == (4, True, "exit code 4: err")
    assert ran.outcome.steps["both"].output == "out", "later steps get stdout only"


def test_a_command_is_recognised_by_its_first_line_that_is_no_comment(run: Run) -> None:
    """In the plan, in the list and at its call; the call's arguments keep the whole text."""
    ran = run("""
        name: c
        steps:
          - id: a
            run: |
              # say it

              # loudly
              echo HI
    """)

    assert ran.plan()["task"] == "a: echo HI"
    assert delegation_from_details(ran.result().details).items[0].task == "echo HI"
    (use,) = ran.of(ToolUse, "a")
    assert use.arg == "echo HI"
    assert use.args["command"].startswith("# say it\n")


def test_a_step_is_an_agent_of_the_flow(run: Run) -> None:
    """agent_started and agent_ended frame its events and name the call that started it."""
    ran = run("name: c\nsteps:\n  - id: a\n    run: echo hi\n")

    kinds = [type(event) for event in ran.events if event.agent == "a" or type(event) in (AgentStarted, AgentEnded)]
    assert kinds == [AgentStarted, ToolUse, ToolOutput, ToolResult, AgentEnded]
    started = ran.of(AgentStarted)[0]
    assert (started.path, started.name, started.task, started.call) == ("a", "run", "echo hi", ran.use().id)


def test_output_is_shown_while_the_command_runs(run: Run, tmp_path: Path) -> None:
    """The command waits for a file that appears only once its first line was seen."""

    def let_go(event: Event) -> None:
        if type(event) is ToolOutput and "first" in event.content:
            (tmp_path / "go").touch()

    ran = run(
        "name: l\nsteps:\n  - id: a\n    run: echo first; while [ ! -e go ]; do sleep 0.01; done; echo second\n",
        on_event=let_go,
    )

    assert ran.exit_code == 0
    assert ran.outcome.steps["a"].output == "first\nsecond"


def test_output_that_could_drive_a_terminal_is_filtered(run: Run) -> None:
    """Of escape sequences only colours reach events, as in every session; later steps get none, nor broken UTF-8."""
    ran = run(r"""
        name: f
        steps:
          - id: a
            run: printf '\033[31mred\033[0m \033]0;title\007done \377'
          - id: b
            needs: a
            run: [echo, "{{ steps.a.output }}"]
    """)

    assert ran.outcome.steps["a"].output == "red done �"
    assert "".join(output.content for output in ran.of(ToolOutput, "a")) == "\x1b[31mred\x1b[0m done �"
    assert ran.outcome.steps["b"].output == "red done �"


def test_of_a_long_output_later_steps_see_the_beginning_and_that_is_said(run: Run) -> None:
    """1 MB is kept; everything is shown; a notice tells."""
    ran = run("name: big\nsteps:\n  - id: a\n    run: head -c 3000000 /dev/zero | tr '\\0' x\n")

    assert ran.exit_code == 0
    assert len(ran.outcome.steps["a"].output) == 1024 * 1024
    assert sum(len(output.content) + output.dropped for output in ran.of(ToolOutput, "a")) == 3_000_000
    (notice,) = ran.of(Notice)
    assert notice.text == "the output is over 1 MB: later steps see the first 1 MB of it"


def test_a_value_too_long_for_a_command_line_fails_with_a_way_out(run: Run) -> None:
    """Linux takes no argument over 128 KiB; the step says so instead of the kernel."""
    ran = run("""
        name: big
        steps:
          - id: a
            run: head -c 200000 /dev/zero | tr '\\0' x
          - id: b
            needs: a
            run: wc -c {{ steps.a.output }}
    """)

    assert ran.exit_code == 1
    assert ran.final()["b"] == ("error", "{{ steps.a.output }} is 195 KB; a command takes at most 120 KB in one value")
    assert "write a file" in ran.of(Error)[0].hint


def test_a_command_gets_no_input(run: Run) -> None:
    """A command that reads stdin sees its end at once instead of waiting for ever."""
    ran = run("name: s\nsteps:\n  - id: a\n    run: cat; echo done\n")

    assert ran.outcome.steps["a"].output == "done"


def test_only_so_many_steps_run_at_once(write: Callable[..., Path], tmp_path: Path) -> None:
    """With room for one, two independent steps run one after the other, in the order of the file."""
    flow = load(write("name: p\nsteps:\n  - id: a\n    run: echo a\n  - id: b\n    run: echo b\n"))

    async def progress() -> list[list[str | None]]:
        run = hosted(flow, {}, tmp_path, steps_at_once=1)
        events = [event async for batch in run.events() for event in batch]
        lists = [delegation_from_details(event.details) for event in events if type(event) is ToolUpdate]
        return [[item.status for item in delegation.items] for delegation in lists]

    assert asyncio.run(asyncio.wait_for(progress(), 20)) == [
        ["running", "pending"],
        ["ok", "pending"],
        ["ok", "running"],
        ["ok", "ok"],
    ]


def test_a_slow_reader_loses_nothing_and_holds_nothing_up(write: Callable[..., Path], tmp_path: Path) -> None:
    """While nobody reads on the command ends all the same; read to the end, all 64 MB of its output were there."""
    flow = load(write("name: p\nsteps:\n  - id: a\n    run: head -c 67108864 /dev/zero | tr '\\0' x; touch written\n"))

    async def read_slowly() -> int:
        run = hosted(flow, {}, tmp_path)
        size = 0
        async for batch in run.events():
            while not (tmp_path / "written").exists():  # noqa: ASYNC110
                await asyncio.sleep(0.001)
            size += sum(len(event.content) + event.dropped for event in batch if type(event) is ToolOutput)
        return size

    assert asyncio.run(asyncio.wait_for(read_slowly(), 60)) == 67108864


def test_a_run_cancelled_before_it_began_runs_nothing(write: Callable[..., Path], tmp_path: Path) -> None:
    """Exit code 130, every step not run."""
    flow = load(write("name: p\nsteps:\n  - id: a\n    run: touch ran\n"))

    async def cancel_first() -> int:
        run = hosted(flow, {}, tmp_path)
        await run.cancel()
        async for _ in run.events():
            pass
        return run.exit_code

    assert asyncio.run(asyncio.wait_for(cancel_first(), 20)) == 130
    assert not (tmp_path / "ran").exists()


def test_an_empty_prompt_is_asked_of_nobody(run: Run) -> None:
    """What it is made of turned out to be empty: the step fails and says so."""
    ran = run("""
        name: e
        steps:
          - {id: a, run: "true"}
          - {id: b, needs: a, provider: claude, prompt: "{{ steps.a.output }}"}
    """)

    assert ran.exit_code == 1
    assert ran.final()["b"] == ("error", "the prompt is empty")


@pytest.mark.slow
def test_two_parallel_steps_of_one_second_take_less_than_one_and_a_half(run: Run) -> None:
    """What the graph allows to run together does."""
    began = time.monotonic()
    ran = run("name: p\nsteps:\n  - id: a\n    run: sleep 1\n  - id: b\n    run: sleep 1\n")
    took = time.monotonic() - began

    assert ran.exit_code == 0
    assert took < 1.5


def test_a_step_runs_once_for_each_item_and_its_result_is_the_list(run: Run) -> None:
    """Each is an agent of its own, named by its number; the next step reads the list, JSON as JSON."""
    ran = run("""
        name: each
        steps:
          - id: names
            run: printf 'ada\\n\\ngrace\\n'
          - id: greet
            needs: names
            foreach: "{{ steps.names.output }}"
            max_parallel: 1
            run: echo hello {{ item }}
          - id: pairs
            foreach: [{n: 1, deep: [x]}, {n: 2, deep: [y]}]
            run: |
              printf '{"n": %s, "deep": "%s"}' {{ item.n }} {{ item.deep.0 }}
          - id: last
            needs: [greet, pairs]
            run: [echo, "{{ steps.greet.json.1 }} {{ steps.pairs.json.1.deep }} {{ steps.greet.output }}"]
    """)

    assert ran.exit_code == 0, ran.final()
    assert ran.outcome.steps["last"].output == 'hello grace y ["hello ada", "hello grace"]'
    started = [(event.path, event.task) for event in ran.of(AgentStarted) if event.path.startswith("greet")]
    assert started == [("greet-1", "echo hello ada"), ("greet-2", "echo hello grace")]
    assert [event.agent for event in ran.of(ToolResult) if event.agent.startswith("greet")] == ["greet-1", "greet-2"]


def test_no_more_items_run_at_once_than_the_step_says(run: Run) -> None:
    """Two at a time: none of six ever saw a third beside it."""
    ran = run("""
        name: bound
        steps:
          - id: a
            foreach: [1, 2, 3, 4, 5, 6]
            max_parallel: 2
            run: touch running-{{ item }}; ls running-* | wc -l; sleep 0.1; rm running-{{ item }}
    """)

    assert ran.exit_code == 0
    assert max(int(event.content) for event in ran.of(ToolOutput)) <= 2


def test_an_item_that_fails_fails_the_step_and_stops_no_other(run: Run) -> None:
    """The others are in the list; the step says how many failed, and why the first did. Each is tried by itself."""
    ran = run("""
        name: bad
        steps:
          - id: a
            foreach: [0, 3, 0]
            retry: {attempts: 2}
            run: echo ran {{ item }}; exit {{ item }}
    """)

    assert ran.exit_code == 1
    assert ran.final()["a"] == ("error", "1 of 3 failed: exit code 3")
    assert ran.outcome.steps["a"].output == '["ran 0", "ran 3", "ran 0"]'
    assert len(ran.of(ToolUse, "a-2")) == 2
    assert [event.agent for event in ran.of(Notice)] == ["a-2"]


def test_no_item_is_no_work_and_what_is_no_list_is_a_failure(run: Run) -> None:
    """An empty list is ok; a value that is none fails its step before it starts."""
    ran = run("""
        name: none
        inputs: {n: {type: int, default: 3}}
        steps:
          - {id: a, run: "true"}
          - {id: b, needs: a, foreach: "{{ steps.a.output }}", run: touch ran}
          - {id: c, foreach: "{{ inputs.n }}", run: touch ran}
    """)

    assert ran.outcome.steps["b"].output == "[]"
    assert ran.final()["c"] == ("error", "{{ inputs.n }} is not a list")
    assert [event.agent for event in ran.of(ToolUse) if event.agent] == ["a"]


def test_a_step_works_in_its_own_folder(run: Run, tmp_path: Path) -> None:
    """Relative to where the flow was started; one that is not there fails the step before it starts."""
    (tmp_path / "deep").mkdir()
    ran = run("""
        name: folders
        steps:
          - {id: a, cwd: deep, run: pwd}
          - {id: b, cwd: nowhere, run: touch ran}
    """)

    assert ran.outcome.steps["a"].output == str(tmp_path / "deep")
    assert ran.final()["b"] == ("error", f"there is no folder {tmp_path / 'nowhere'}")
