"""Sessions killed again and again: `python -m sightline.testing.killing --count 500 [--agents 8] [--seed N]`."""

import argparse
import random
import sys
import time
from collections import Counter

from sightline.testing.killing import _agents, _alone
from sightline.testing.killing._stored import Failed


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m sightline.testing.killing", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--count", type=int, default=500, help="how many times (default: 500)")
    parser.add_argument("--agents", type=int, default=0, help="so many agents at work; none: the session's own alone")
    parser.add_argument("--seed", type=int, default=None, help="to have the same again")
    options = parser.parse_args()
    seed = random.randrange(10**6) if options.seed is None else options.seed
    began = time.monotonic()
    where: Counter[str] = Counter()
    for number in range(options.count):
        try:
            where[_agents.play(seed + number, options.agents) if options.agents else _alone.play(seed + number)] += 1
        except Failed as failure:
            print(f"seed {seed + number}: {failure}")
            return 1
        except BaseException:
            print(f"seed {seed + number}:", flush=True)
            raise
        if (number + 1) % 50 == 0:
            print(f"{number + 1} of {options.count}", flush=True)
    places = ", ".join(f"{count} after {name}" for name, count in where.most_common())
    print(f"killed {options.count} times, seeds {seed} to {seed + options.count - 1}: {places}")
    also = "every agent found and one revived, no process left" if options.agents else "no file damaged"
    print(f"every time: resumed, nothing received was lost, {also} ({time.monotonic() - began:.0f} s)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
