"""How much one run without a screen may do: so many turns of its own agent, so many dollars of all its agents.

Rules:

- A run that ends by itself with its last turn has done what it may: only the next turn is one too many.
- What is spent is what was reported. A provider that reports tokens alone is priced with the vendor's list prices; a
  run's own sum counts where it is more than its turns and those of the agents below it.
- Tokens without a price could be any amount: the limit cannot be enforced, so the run is stopped (it fails closed).
"""

from collections.abc import Callable

import msgspec

from sightline.events import (
    AgentStarted,
    Error,
    Event,
    ModelState,
    RunEnded,
    RunStarted,
    State,
    TurnEnded,
    TurnStarted,
    Usage,
)

# Whose list prices hold for the models of another program, by the source of its events.
_VENDORS = {"claude": "anthropic", "codex": "openai", "gemini": "google"}
_AGENTS_AT_MOST = 4096


class RunLimits(msgspec.Struct, frozen=True, kw_only=True):
    """None: there is no such limit."""

    turns: int | None = None
    cost: float | None = None  # US dollars


class TurnLimit:
    """Counts the turns of a run's own agent."""

    def __init__(self, limit: int | None) -> None:
        self._limit = limit
        self._begun = self._ended = 0

    def begin(self) -> Error | None:
        """A turn is about to begin, or has begun. The error: it is one too many."""
        self._begun += 1
        return self._checked()

    def end(self) -> Error | None:
        """A turn has ended, whether its begin was reported or not."""
        self._ended += 1
        self._begun = max(self._begun, self._ended)
        return self._checked()

    def _checked(self) -> Error | None:
        if self._limit is None or self._begun <= self._limit:
            return None
        return Error(f"stopped after {self._limit} turn{'s' * (self._limit != 1)} (--max-turns)")


class CostLimit:
    """Adds up what a run and all its agents spend."""

    def __init__(self, limit: float | None) -> None:
        self._limit = limit
        self._models: dict[str, str] = {}  # by the path of an agent
        self._turns: dict[str, float] = {}  # of each agent since its run began
        self._counted: set[str] = set()  # agents whose turns reported tokens in this run
        self._spent = 0.0

    def see(self, event: Event) -> Error | None:
        """An event of any agent. The error: the limit is reached, or cannot be enforced."""
        if self._limit is None:
            return None
        problem = None
        match event:
            case AgentStarted():
                self._note_model(event.path, event.model)
            case RunStarted():
                self._note_model(event.agent, event.model)
                self._begin(event.agent)
            case State() if event.key == ModelState.KEY and (chosen := ModelState.of(event.value)) is not None:
                self._note_model(event.agent, chosen.name)
            case TurnEnded():
                problem = self._turn(event)
            case RunEnded():
                problem = self._run(event)
        if problem is None and self._spent >= self._limit:
            problem = Error(f"stopped after ${self._spent:.4f} (--max-cost {self._limit:g})")
        return problem

    def _note_model(self, path: str, model: str) -> None:
        if model and (path in self._models or len(self._models) < _AGENTS_AT_MOST):
            self._models[path] = model

    def _begin(self, path: str) -> None:
        for each in [each for each in self._turns if _is_below(each, path)]:
            del self._turns[each]
        self._counted.discard(path)

    def _turn(self, event: TurnEnded) -> Error | None:
        if event.usage is not None and len(self._counted) < _AGENTS_AT_MOST:
            self._counted.add(event.agent)
        dollars = event.cost if event.cost is not None else self._priced(event, event.usage)
        if dollars is not None:
            self._add(event.agent, dollars)
        elif _has_tokens(event.usage):
            return self._unknown(event.agent)
        return None

    def _run(self, event: RunEnded) -> Error | None:
        """Counts where its turns, and those of the agents below it, did not report as much."""
        dollars = event.cost
        if dollars is None and event.agent not in self._counted:
            dollars = self._priced(event, event.usage)
            if dollars is None and _has_tokens(event.usage):
                return self._unknown(event.agent)
        known = sum([spent for path, spent in self._turns.items() if _is_below(path, event.agent)])
        if dollars is not None and dollars > known:
            self._add(event.agent, dollars - known)
        return None

    def _add(self, path: str, dollars: float) -> None:
        self._spent += dollars
        if path in self._turns or len(self._turns) < _AGENTS_AT_MOST:
            self._turns[path] = self._turns.get(path, 0.0) + dollars

    def _priced(self, event: TurnEnded | RunEnded, usage: Usage | None) -> float | None:
        vendor = _VENDORS.get(event.source, "")
        if not vendor:
            return None
        from sightline.models._prices import cost  # few runs have a limit

        return cost(self._model(event.agent), vendor, usage)

    def _model(self, path: str) -> str:
        """Of the agent; where that is unknown, the model of the agent it works for."""
        while path and path not in self._models:
            path = path.rpartition("/")[0]
        return self._models.get(path, "")

    def _unknown(self, path: str) -> Error:
        name = self._model(path) or "the model"
        return Error(
            f"stopped: the price of {name} is unknown, so --max-cost cannot be enforced",
            "leave out --max-cost, or use a model that has a price: `sightline models` lists them",
        )


class LimitWatch:
    """Both limits of one run. `session`: the id it can be resumed with; empty: it is not stored."""

    def __init__(self, limits: RunLimits, session: Callable[[], str]) -> None:
        self._turns = TurnLimit(limits.turns)
        self._cost = CostLimit(limits.cost)
        self._session = session
        self.reached: Error | None = None  # the first, which is published

    def before_turn(self) -> Error | None:
        """The run's own agent is about to ask its model. The error, of this and of the others: publish it and stop."""
        return self._first(self._turns.begin())

    def see(self, event: Event) -> Error | None:
        """What any agent of the run does: for the cost alone."""
        return self._first(self._cost.see(event))

    def see_turn(self, event: Event) -> Error | None:
        """The same, of a program whose turns are known by their events alone."""
        if not event.agent and isinstance(event, TurnStarted):
            return self._first(self._turns.begin())
        if not event.agent and isinstance(event, TurnEnded):
            return self._first(self._turns.end())
        return None

    def _first(self, problem: Error | None) -> Error | None:
        if problem is None or self.reached is not None:
            return None
        if not problem.hint and (session := self._session()):
            problem = Error(problem.text, f"continue with: sightline --resume {session}")
        self.reached = problem
        return problem


def _is_below(path: str, other: str) -> bool:
    """Whether an agent is the other, or below it."""
    return not other or path == other or path.startswith(f"{other}/")


def _has_tokens(usage: Usage | None) -> bool:
    return usage is not None and any(msgspec.structs.astuple(usage))
