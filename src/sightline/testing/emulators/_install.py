"""The emulators at pinned versions, from npm into the project's cache."""

import hashlib
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from sightline import locks
from sightline.testing.emulators._types import EmulatorError, EmulatorMissing

_HERE = Path(__file__).parent
_PINS = ("package.json", "package-lock.json")
_OLDEST_NODE = 20
_TIME_LIMIT = 300


def cache_folder() -> Path:
    """`.cache/emulators` of the repository this file belongs to, or of the current folder when it belongs to none."""
    for parent in _HERE.resolve().parents:
        if (parent / "pyproject.toml").exists():
            return parent / ".cache" / "emulators"
    return Path.cwd() / ".cache" / "emulators"


def ensure(report: Callable[[str], None] = lambda line: None) -> Path:
    """The folder that holds `node_modules`; installs first what is missing. Safe to call from many processes."""
    folder = cache_folder()
    if _is_ready(folder):
        report(f"emulators: installed in {folder}")
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        if not locks.acquire(lock.fileno(), "exclusive", seconds=_TIME_LIMIT):
            raise EmulatorError(f"another process has been installing into {folder} for {_TIME_LIMIT} seconds")
        if not _is_ready(folder):
            report(f"emulators: installing into {folder}")
            _install(folder)
            report("emulators: ready")
    return folder


def _is_ready(folder: Path) -> bool:
    mark = folder / "ready.txt"
    return mark.exists() and mark.read_text() == _fingerprint()


def _fingerprint() -> str:
    return hashlib.sha256(b"".join((_HERE / name).read_bytes() for name in _PINS)).hexdigest()


def _install(folder: Path) -> None:
    _check_node()
    for name in _PINS:
        shutil.copyfile(_HERE / name, folder / name)
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", str(folder)]
    done = subprocess.run(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=_TIME_LIMIT
    )
    if done.returncode != 0:
        raise EmulatorError(
            f"`{shlex.join(command)}` failed with exit code {done.returncode}:\n{done.stdout[-2000:]}\n"
            "hint: the emulators come from npm; check that it can reach its registry"
        )
    (folder / "ready.txt").write_text(_fingerprint())


def require(program: str) -> None:
    """Say so, if a program is missing."""
    if shutil.which(program) is None:
        message = f"{program} is not installed; the emulators need node {_OLDEST_NODE} or newer, and npm"
        raise EmulatorMissing("node", message)


def _check_node() -> None:
    require("node")
    require("npm")
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    if int(version.lstrip("v").split(".")[0]) < _OLDEST_NODE:
        raise EmulatorMissing("node", f"node {version} is too old; the emulators need node {_OLDEST_NODE} or newer")
