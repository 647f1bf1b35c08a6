"""`python -m sightline.testing.emulators install`: bring the pinned emulators into the project's cache."""

import argparse
import sys

from sightline.testing.emulators import EmulatorError, ensure


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m sightline.testing.emulators", description=__doc__)
    parser.add_argument("command", choices=["install"], help="install what is missing or has another version")
    parser.parse_args()
    try:
        ensure(lambda line: print(line, flush=True))
    except EmulatorError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
