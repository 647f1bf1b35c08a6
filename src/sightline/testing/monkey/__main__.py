"""`python -m sightline.testing.monkey --count 100000 [--seed S]`: so many keys at the console, whatever they do."""

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

from sightline.testing.monkey._play import Monkey, Trouble

_TURN = 2000
"""Keys after which everything begins anew, in another folder."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m sightline.testing.monkey", description=__doc__)
    parser.add_argument("--count", type=int, default=10_000, help="keys to press (default 10000)")
    parser.add_argument("--seed", type=int, help="to have the same keys again (default: new ones)")
    arguments = parser.parse_args()
    seed = arguments.seed if arguments.seed is not None else random.randrange(1_000_000_000)
    began = time.monotonic()
    pressed = rests = restarts = 0
    while pressed < arguments.count:
        with tempfile.TemporaryDirectory(prefix="sightline-monkey-") as name:
            monkey = Monkey(Path(name), seed)
            try:
                monkey.play(min(_TURN, arguments.count - pressed))
            except Trouble as trouble:
                print(f"seed {seed}, after {monkey.keys} keys: {trouble}")
                return 1
        pressed, rests, restarts, seed = (
            pressed + monkey.keys,
            rests + monkey.rests,
            restarts + monkey.restarts,
            seed + 1,
        )
        print(f"{pressed:,} of {arguments.count:,} keys, {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    print(f"{pressed:,} keys: {rests} times at rest and usable, left and opened again {restarts} times")
    return 0


if __name__ == "__main__":
    sys.exit(main())
