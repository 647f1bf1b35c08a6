"""The program installed where every user of the machine can run it, from a wheel of this source."""

import os
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).parents[4]
_LOWEST = (3, 11)


class CannotInstall(Exception):
    """With the reason."""


def install(folder: Path) -> Path:
    """The program, installed below `folder`; the path of its command."""
    tools = Path(sys.executable).parent
    wheels, env = folder / "wheels", folder / "env"
    _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(wheels), cwd=_ROOT)
    wheel = next(wheels.glob("*.whl"))
    uv, python = str(tools / "uv"), str(env / "bin" / "python")
    _run(uv, "venv", "-q", "--python", _interpreter(), str(env))
    locked = str(_ROOT / "requirements" / "run.txt")
    _run(uv, "pip", "install", "-q", "--compile-bytecode", "--python", python, "--require-hashes", "-r", locked)
    _run(uv, "pip", "install", "-q", "--compile-bytecode", "--python", python, "--no-deps", str(wheel))
    return env / "bin" / "sightline"


def readable_by_all(path: Path) -> bool:
    """Whether every user may come as far as this."""
    real = path.resolve()
    return all(folder.stat().st_mode & 0o001 for folder in real.parents) and bool(real.stat().st_mode & 0o004)


def _interpreter() -> str:
    """One that another user can run, too: a user's own is often in the home folder."""
    for name in (os.path.realpath(sys.executable), "/usr/bin/python3", "/usr/local/bin/python3"):
        if Path(name).exists() and readable_by_all(Path(name)) and _is_new_enough(name):
            return name
    raise CannotInstall("there is no Python of the system's that every user can run: install python3 (3.11 or newer)")


def _is_new_enough(python: str) -> bool:
    code = f"import sys, venv; sys.exit(sys.version_info < {_LOWEST})"
    return subprocess.run([python, "-c", code], capture_output=True, check=False).returncode == 0


def _run(*argv: str, cwd: Path | None = None) -> None:
    done = subprocess.run(argv, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotInstall(f"{' '.join(argv[:4])} failed: {done.stderr.strip()[-500:]}")
