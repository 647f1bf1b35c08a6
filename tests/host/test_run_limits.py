"""What a run spends, added up from what its agents report."""

import pytest

from sightline.events import AgentStarted, Event, ModelState, RunEnded, RunStarted, TurnEnded, Usage
from sightline.events.stamping import of_agent, of_source
from sightline.host.session._run_limits import CostLimit, LimitWatch, RunLimits
from sightline.models._prices import cost

TOKENS = Usage(1000, 1000)
SONNET = "claude-sonnet-4-5"


def of(agent: str, event: Event, source: str = "agent") -> Event:
    return of_source(source, of_agent(agent, [event]))[0]


def first_error(limit: float, *events: Event) -> str:
    watch = CostLimit(limit)
    problems = [problem.text for event in events if (problem := watch.see(event)) is not None]
    return problems[0] if problems else ""


@pytest.mark.parametrize("limit", [1.5, 1.6])
def test_a_runs_own_sum_is_not_counted_on_top_of_its_turns(limit: float) -> None:
    """What our own agents report at the end is what their turns were, each for itself."""
    events = [
        RunStarted("s", "m"),
        TurnEnded(TOKENS, 0.5),
        of("Counter", RunStarted("s", "m")),
        of("Counter", TurnEnded(TOKENS, 1.0)),
        of("Counter", RunEnded(TOKENS, 1.0)),
        RunEnded(TOKENS, 0.5),
    ]
    assert bool(first_error(limit, *events)) == (limit == 1.5)


def test_a_sum_that_has_more_than_the_turns_counts_for_the_rest() -> None:
    """Another program's subagents are only in its sum; a second run of it has a sum of its own."""
    run = [of("", RunStarted("s", SONNET), "claude"), of("", RunEnded(None, 1.0), "claude")]
    assert first_error(2.0, *run) == ""
    assert first_error(2.0, *run, *run) == "stopped after $2.0000 (--max-cost 2)"


def test_tokens_of_another_program_are_priced_as_its_vendor_does() -> None:
    """The model is the agent's own, or that of the agent it works for."""
    known = cost(SONNET, "anthropic", TOKENS)
    assert known is not None
    began, turn = of("", RunStarted("s", SONNET), "claude"), of("", TurnEnded(TOKENS), "claude")
    below = of("Explore-1", TurnEnded(TOKENS), "claude")
    assert first_error(known * 1.5, began, turn) == ""
    assert first_error(known * 1.5, began, turn, below).startswith("stopped after $")


def test_tokens_at_the_end_alone_are_priced_too() -> None:
    """An agent of a program that reports nothing before its run is over."""
    began = of("Fixer", AgentStarted("Fixer", model="gpt-5"))
    end = of("Fixer", RunEnded(Usage(1_000_000, 1_000_000)), "codex")
    assert first_error(1.0, began, end).startswith("stopped after $")
    unknown = of("Fixer", AgentStarted("Fixer", model="nobody-knows-it"))
    assert "the price of nobody-knows-it is unknown" in first_error(1.0, unknown, end)


def test_no_tokens_need_no_price() -> None:
    """A turn that was stopped before it began, and a run that counted its turns already."""
    assert first_error(1.0, RunStarted("s", "m"), TurnEnded(None), TurnEnded(Usage()), RunEnded(None)) == ""
    assert first_error(1.0, RunStarted("s", "m"), TurnEnded(TOKENS, 0.1), RunEnded(TOKENS)) == ""


def test_the_model_of_the_moment_is_named() -> None:
    """It may have changed since the run began."""
    changed = ModelState("other/one").as_state()
    assert "the price of other/one is unknown" in first_error(1.0, RunStarted("s", "m"), changed, TurnEnded(TOKENS))


def test_a_limit_is_reached_once() -> None:
    """There is one error, whatever follows; without a session it names none to continue."""
    watch = LimitWatch(RunLimits(turns=1, cost=0.1), lambda: "")
    assert watch.before_turn() is None
    reached = watch.see(TurnEnded(TOKENS, 0.2))
    assert reached is not None
    assert reached.hint == ""
    assert watch.before_turn() is None
    assert watch.reached is reached
