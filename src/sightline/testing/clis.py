"""The real agent CLIs at the versions the providers were tested with, installed from npm into the project's cache.

`python -m sightline.testing.clis install` brings the cache up to date; it does nothing when it already is.
"""

import argparse
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from sightline.providers import CommandLine, get_provider, provider_names

_OLDEST_NODE = 20  # gemini's bundle does not start on older ones

# Both packages hold a launcher that their own script replaces with the real program. npm 11 runs no package's scripts
# unless told to, earlier ones run everybody's; so npm is told to run none, and these are run here.
_SETUP_SCRIPT = "postinstall"


class CliError(Exception):
    """The CLIs cannot be installed; the message says what is missing and what to do."""


def pinned() -> dict[str, CommandLine]:
    """Provider name → its CLI, for the providers that have one."""
    commands = {name: get_provider(name).command for name in provider_names()}
    return {name: command for name, command in commands.items() if command is not None}


def cache_folder() -> Path:
    """`.cache/clis` of the repository this file belongs to, or of the current folder when it belongs to none."""
    for parent in Path(__file__).resolve().parents:
        if (parent / "pyproject.toml").exists():
            return parent / ".cache" / "clis"
    return Path.cwd() / ".cache" / "clis"


def binary_folder() -> Path:
    return cache_folder() / "node_modules" / ".bin"


def missing() -> dict[str, CommandLine]:
    """The CLIs that are not installed at their pinned version."""
    ready = _ready_list().read_text().split() if _ready_list().exists() else []
    return {name: cli for name, cli in pinned().items() if _pin(cli) not in ready}


def install(report: Callable[[str], None]) -> None:
    """Install what is missing, saying what is done."""
    absent = missing()
    if not absent:
        report(f"agent CLIs: all {len(pinned())} installed in {_shown(cache_folder())}")
        return
    check_node()
    folder = cache_folder()
    packages = [_pin(cli) for cli in pinned().values()]
    report(f"agent CLIs: installing {', '.join(packages)} into {_shown(folder)} (about 1.1 GB)")
    npm_install(folder, packages)
    for cli in pinned().values():
        set_up(folder, cli.package)
        report(f"agent CLIs: {cli.binary} {cli.tested} is ready")
    _ready_list().write_text("\n".join(packages) + "\n")


def npm_install(folder: Path, packages: list[str]) -> None:
    """Packages with their exact versions, into a folder of their own; no script of theirs is run."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text('{"private": true}\n')
    npm = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--save-exact"]
    _run([*npm, "--prefix", str(folder), *packages], folder)


def _pin(cli: CommandLine) -> str:
    return f"{cli.package}@{cli.tested}"


def _ready_list() -> Path:
    """What was installed to the end; an installation that was interrupted is not in it."""
    return cache_folder() / "ready.txt"


class _Manifest(msgspec.Struct):
    scripts: dict[str, str] = {}


def set_up(folder: Path, package: str) -> None:
    """Run the script a package that was installed there needs before it works, if it has one."""
    inside = folder / "node_modules" / package
    manifest = msgspec.json.decode((inside / "package.json").read_bytes(), type=_Manifest)
    script = manifest.scripts.get(_SETUP_SCRIPT)
    if script:
        _run(shlex.split(script), inside)


def check_node() -> None:
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            raise CliError(f"{program} is not installed; the agent CLIs need node {_OLDEST_NODE} or newer, and npm")
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    if int(version.lstrip("v").split(".")[0]) < _OLDEST_NODE:
        raise CliError(f"node {version} is too old; the agent CLIs need node {_OLDEST_NODE} or newer")


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise CliError(f"`{shlex.join(command)}` failed with exit code {done.returncode}:\n{done.stdout[-2000:]}")


def _shown(folder: Path) -> str:
    return str(folder.relative_to(Path.cwd())) if folder.is_relative_to(Path.cwd()) else str(folder)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m sightline.testing.clis", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("command", choices=["install"], help="install what is missing or has another version")
    parser.parse_args()
    try:
        install(lambda line: print(line, flush=True))
    except CliError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
