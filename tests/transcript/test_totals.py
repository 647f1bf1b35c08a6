"""What was spent, agent by agent: each token and each cent counted once, whoever says it."""

import msgspec
import pytest

from sightline.events import AgentEnded, AgentStarted, Event, RunEnded, RunStarted, TurnEnded, Usage
from sightline.events.stamping import stamp
from sightline.transcript import Snapshot, Total, Transcript, fold


def told(*events: Event) -> Snapshot:
    return fold([stamp(event, number, 100.0 + number) for number, event in enumerate(events, 1)])


def usage(tokens: int, out: int = 1) -> Usage:
    return Usage(input_tokens=tokens, output_tokens=out, cache_read_tokens=7)


def spent(total: Total) -> tuple[int, int | None, int | None, float | None]:
    return total.turns, total.input_tokens, total.output_tokens, total.cost


def test_turns_add_up_over_runs() -> None:
    """The end of a run repeats what its turns said: it is not counted again."""
    one = [RunStarted(), TurnEnded(usage(10), 0.5), TurnEnded(usage(20), 0.25), RunEnded(usage(30), 0.75)]
    state = told(*one, RunStarted(), TurnEnded(usage(5), 1.0), RunEnded(usage(5), 1.0))
    assert spent(state.totals[""]) == (3, 35, 3, 1.75)
    assert state.totals[""].cache_read_tokens == 21


def test_a_run_says_what_its_turns_did_not() -> None:
    """Tokens of the turns, the cost of the run alone; or both of the run."""
    state = told(RunStarted(), TurnEnded(usage(10)), RunEnded(usage(10), 0.5))
    assert spent(state.totals[""]) == (1, 10, 1, 0.5)
    state = told(RunStarted(), TurnEnded(), RunEnded(usage(9), 0.5), RunStarted(), RunEnded(usage(1), 0.5))
    assert spent(state.totals[""]) == (1, 10, 2, 1.0)


def test_nothing_said_is_not_nothing_spent() -> None:
    """What nobody said stays unknown."""
    assert spent(told(RunStarted(), TurnEnded(), RunEnded()).totals[""]) == (1, None, None, None)


@pytest.mark.parametrize("turns", [True, False])
def test_a_subagent_has_its_own(turns: bool) -> None:
    """By its turns, else by its end; its parent's are its parent's."""
    its = [TurnEnded(usage(100), agent="Explore-1")] if turns else []
    state = told(
        RunStarted(),
        AgentStarted("Explore-1", "Explore", "look", call="c1"),
        *its,
        AgentEnded("Explore-1", usage=usage(100)),
        TurnEnded(usage(10)),
        RunEnded(),
    )
    assert state.totals["Explore-1"].input_tokens == 100
    assert state.totals[""].input_tokens == 10
    agent = state.agents["Explore-1"]
    assert (agent.call, agent.started, agent.usage) == ("c1", 102.0, usage(100))
    assert agent.ended > agent.started


def test_a_fold_that_goes_on_from_a_snapshot_counts_the_same() -> None:
    """Also from the middle of a run whose turns have said what they used."""
    events = [
        stamp(event, number, 1.0)
        for number, event in enumerate([RunStarted(), TurnEnded(usage(10), 0.5), RunEnded(usage(10), 0.5)], 1)
    ]
    whole = fold(events)
    for cut in range(len(events)):
        half = msgspec.json.decode(msgspec.json.encode(fold(events[:cut])), type=Snapshot)
        transcript = Transcript(half)
        for event in events[cut:]:
            transcript.apply(event)
        assert transcript.now == whole
