"""The program, started again and again without importing it anew: for tests that start it hundreds of times.

A process that has imported the program forks one that runs it, in a folder, an environment and with files of its own.
`Warm` is the test's end of it; `python -m tests.cli.warm FD` the other.
"""

import contextlib
import importlib
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

_ROOMS = ("agent", "cli", "flows", "host", "journal", "models", "providers", "settings", "tools", "views.plain")


class Warm:
    """Use it as a context; `run` is what `subprocess.run` is for the program."""

    def __enter__(self) -> "Warm":
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.cli.warm", str(theirs.fileno())], pass_fds=[theirs.fileno()]
            )
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()
        self._process.wait()

    def run(self, arguments: Sequence[str], cwd: str, environ: dict[str, str], stdin: bytes, seconds: int) -> bytes:
        """What it printed on both channels."""
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            given.write(stdin)
            given.seek(0)
            asked = {"arguments": list(arguments), "cwd": cwd, "environ": environ, "seconds": seconds}
            data = json.dumps(asked).encode()
            files = [given.fileno(), out.fileno(), err.fileno()]
            socket.send_fds(self._socket, [len(data).to_bytes(4, "big")], files)
            self._socket.sendall(data)
            status = int.from_bytes(self._socket.recv(4), "big", signed=True)
            assert status != -signal.SIGALRM, f"{arguments} did not end within {seconds} s"
            out.seek(0)
            err.seek(0)
            return out.read() + err.read()


def _serve(server: socket.socket) -> None:
    while True:
        head, files, _, _ = socket.recv_fds(server, 4, 3)
        if not head:
            return
        size, data = int.from_bytes(head, "big"), b""
        while len(data) < size:
            data += server.recv(size - len(data))
        child = os.fork()
        if child == 0:
            server.close()
            _become(json.loads(data), files)
        for file in files:
            os.close(file)
        _, status = os.waitpid(child, 0)
        server.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, "big", signed=True))


def _become(asked: dict[str, Any], files: list[int]) -> None:
    """The program, to its end."""
    code = 1
    try:
        for number, file in enumerate(files):
            os.dup2(file, number)
        sys.stdin, sys.stdout, sys.stderr = (
            open(number, mode, encoding=old.encoding, errors=old.errors, closefd=False)  # noqa: SIM115
            for number, mode, old in ((0, "r", sys.stdin), (1, "w", sys.stdout), (2, "w", sys.stderr))
        )
        os.closerange(3, 256)
        os.chdir(asked["cwd"])
        os.environ.clear()
        os.environ.update(asked["environ"])
        sys.argv = ["sightline", *asked["arguments"]]
        signal.alarm(asked["seconds"])
        from sightline.cli import main

        code = main()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _import_all() -> None:
    for room in _ROOMS:
        package = importlib.import_module(f"sightline.{room}")
        for module in pkgutil.iter_modules(package.__path__):
            with contextlib.suppress(ImportError):  # of an extra that is not installed
                importlib.import_module(f"sightline.{room}.{module.name}")


if __name__ == "__main__":
    _import_all()
    _serve(socket.socket(fileno=int(sys.argv[1])))
