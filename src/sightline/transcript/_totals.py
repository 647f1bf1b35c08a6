"""What was spent, agent by agent, each token counted once.

Rules:

- A turn reports what it used. Where the turns of a run did not, the end of the run counts, and where a subagent's did
  not, the end of the subagent.
- Tokens and money are counted apart: a source may report the ones of each turn and the other of the run alone.
"""

import msgspec

from sightline.events import Usage


class Total(msgspec.Struct):
    """Of one agent, without those below it. What was not reported stays None."""

    turns: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    cost: float | None = None  # US dollars
    counted: bool = False  # the turns of the current run reported their tokens
    priced: bool = False  # and their cost

    def began(self) -> None:
        self.counted = self.priced = False

    def turn(self, usage: Usage | None, cost: float | None) -> None:
        self.turns += 1
        self.counted = self.counted or usage is not None
        self.priced = self.priced or cost is not None
        self._add(usage, cost)

    def ended(self, usage: Usage | None, cost: float | None) -> None:
        """The end of a run: count what its turns did not report."""
        self._add(None if self.counted else usage, None if self.priced else cost)
        self.counted, self.priced = self.counted or usage is not None, self.priced or cost is not None

    def _add(self, usage: Usage | None, cost: float | None) -> None:
        if usage is not None:
            self.input_tokens = _sum(self.input_tokens, usage.input_tokens)
            self.output_tokens = _sum(self.output_tokens, usage.output_tokens)
            self.cache_read_tokens = _sum(self.cache_read_tokens, usage.cache_read_tokens)
            self.cache_write_tokens = _sum(self.cache_write_tokens, usage.cache_write_tokens)
        if cost is not None:
            self.cost = cost + (self.cost or 0.0)


def _sum(total: int | None, more: int | None) -> int | None:
    return total if more is None else more + (total or 0)
