"""Fuzzing with a budget: what reads input of others is given input that is nearly right, and nothing may come of it.

    python -m sightline.testing.fuzz [--seconds 10] [--target NAME …] [--seed N]
    python -m sightline.testing.fuzz --target NAME --seed N --at INDEX      one input again

Rules:

- An input is made from (seed, target, index) alone, so those three replay it. Valid samples are mutated, or pieces put
  together by a grammar: noise alone is refused at the first byte.
- A target says what must hold of each input: which exceptions may come, what the answer must never contain, what must
  not have changed. Whatever else is raised is a failure.
- A target runs in a process of its own, with a bound on memory. An input that takes more than a second of processor
  time fails; one that makes no progress at all is found by the parent, which ends the process.
- A failing input is made shorter while it still fails, and printed as a Python literal.
"""

from sightline.testing.fuzz._run import Failure, Result, fuzz
from sightline.testing.fuzz._target import Target, Unsound
from sightline.testing.fuzz.targets import TARGETS

__all__ = ["TARGETS", "Failure", "Result", "Target", "Unsound", "fuzz"]
