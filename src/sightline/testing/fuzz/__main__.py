"""`python -m sightline.testing.fuzz`: every target for its share of the time; exit code 1 when an input failed."""

import argparse
import random
import sys

from sightline.testing.fuzz import TARGETS, fuzz


def main() -> int:
    names = [target.name for target in TARGETS]
    parser = argparse.ArgumentParser(prog="python -m sightline.testing.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="for each target (10)")
    parser.add_argument("--target", action="append", choices=names, help="only this one; may be given again")
    parser.add_argument("--seed", type=int, default=None, help="to replay; a new one each time")
    parser.add_argument("--at", type=int, default=None, help="only this input, by its number")
    arguments = parser.parse_args()
    seed = random.SystemRandom().randrange(10**9) if arguments.seed is None else arguments.seed
    print(f"seed {seed}", flush=True)
    failed = False
    for target in TARGETS:
        if arguments.target and target.name not in arguments.target:
            continue
        result = fuzz(target, seconds=arguments.seconds, seed=seed, at=arguments.at)
        rate = result.executions / max(result.seconds, 0.001)
        print(
            f"{result.name:<10} {result.executions:>9} inputs  {rate:>8.0f}/s  {len(result.failures)} failed",
            flush=True,
        )
        for failure in result.failures:
            failed = True
            print(f"  --target {result.name} --seed {seed} --at {failure.index}")
            print(f"  input: {failure.given}\n  {failure.what}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
