"""Agents that are only compared with, installed from npm into the project's cache: pi and oh-my-pi.

`python -m sightline.testing.peers install` brings the cache up to date. One that cannot be installed is left out and
said why: a comparison with the others is still worth having.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from sightline.testing import clis


class Peer(msgspec.Struct, frozen=True):
    """What to install, first the agent itself; `setup` names packages whose own script has to run."""

    binary: str
    packages: tuple[str, ...]
    setup: tuple[str, ...] = ()


PEERS = {
    "pi": Peer("pi", ("@mariozechner/pi-coding-agent@0.73.1",)),
    "oh-my-pi": Peer("omp", ("@oh-my-pi/pi-coding-agent@18.1.21", "bun@1.4.4"), ("bun",)),
}


def cache_folder(name: str) -> Path:
    """One for each, so that one that fails does not spoil the other."""
    return clis.cache_folder().with_name("peers") / name


def binary_folder(name: str) -> Path:
    return cache_folder(name) / "node_modules" / ".bin"


def missing(name: str) -> str:
    """Why it cannot be run; empty when it can."""
    ready, failed = _ready(name), cache_folder(name) / "failed.txt"
    if ready.exists() and ready.read_text().split() == [*PEERS[name].packages]:
        return ""
    return failed.read_text() if failed.exists() else "`python -m sightline.testing.peers install` has not been run"


def install(name: str, report: Callable[[str], None]) -> None:
    """Install it if it is missing, saying what is done. Raises `CliError` when that cannot be."""
    if not missing(name):
        report(f"{name}: installed")
        return
    peer, folder = PEERS[name], cache_folder(name)
    clis.check_node()
    report(f"{name}: installing {', '.join(peer.packages)}")
    clis.npm_install(folder, [*peer.packages])
    for package in peer.setup:
        clis.set_up(folder, package)
    _ready(name).write_text("\n".join(peer.packages) + "\n")
    report(f"{name}: ready")


def _ready(name: str) -> Path:
    """What was installed to the end; an installation that was interrupted is not in it."""
    return cache_folder(name) / "ready.txt"


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m sightline.testing.peers", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("command", choices=["install"], help="install what is missing or has another version")
    parser.parse_args()
    for name in PEERS:
        try:
            install(name, lambda line: print(line, flush=True))
        except clis.CliError as error:
            cache_folder(name).mkdir(parents=True, exist_ok=True)
            (cache_folder(name) / "failed.txt").write_text(str(error).split("\n")[0])
            print(f"{name}: not installed: {error}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
