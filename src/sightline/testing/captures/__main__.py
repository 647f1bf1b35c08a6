"""`python -m sightline.testing.captures`: record every scenario with every provider, or those that are named."""

import argparse
import sys
import tempfile
from pathlib import Path

from sightline.testing import clis
from sightline.testing.captures._box import BoxError
from sightline.testing.captures._record import record
from sightline.testing.captures._scenarios import SCENARIOS
from sightline.testing.captures.chat import record_chat

_CHAT = "openai_compatible"
# A plain chat client has no subagents.
_NOT_FOR_CHAT = frozenset(("delegation",))


def _record_all(providers: list[str], scenarios: list[str], folder: Path) -> None:
    for provider in providers:
        for name in scenarios:
            if provider == _CHAT and name in _NOT_FOR_CHAT:
                continue
            for path in _record_one(provider, name, folder):
                print(path.relative_to(folder), flush=True)


def _record_one(provider: str, name: str, folder: Path) -> list[Path]:
    if provider != _CHAT:
        return record(provider, name, SCENARIOS[name], folder)
    with tempfile.TemporaryDirectory(prefix="box-") as project:
        return record_chat(name, SCENARIOS[name], folder, Path(project))


def main() -> int:
    providers = [*clis.pinned(), _CHAT]
    parser = argparse.ArgumentParser(
        prog="python -m sightline.testing.captures",
        description="Record fixtures from the real CLIs against the stand-in, in a box that names no machine.",
    )
    parser.add_argument("--provider", choices=providers, action="append", help="only this one; repeatable")
    parser.add_argument("--scenario", choices=list(SCENARIOS), action="append", help="only this one; repeatable")
    parser.add_argument("--folder", type=Path, default=Path("tests/captures/recorded"), help="default: %(default)s")
    options = parser.parse_args()
    try:
        clis.install(print)
        _record_all(options.provider or providers, options.scenario or list(SCENARIOS), options.folder)
    except (BoxError, clis.CliError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
