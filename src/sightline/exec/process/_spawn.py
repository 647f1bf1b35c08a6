"""Starting a command: on pipes or on a terminal of its own, in a session of its own, with nothing to read.

- On pipes its input is /dev/null, and stdout and stderr are told apart.
- On a terminal everything it writes is stdout. It does not echo, and every read from it gets an end of input, up to
  thousands of times, so that nothing waits for a user who is not there.
"""

import errno
import fcntl
import os
import shlex
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import msgspec

from sightline.exec.process import _guard, _marks, _orphans
from sightline.exec.sandbox._launching import Handover
from sightline.text import clean_line

_END_OF_INPUT = b"\x04" * 2000  # each is taken by one read; a terminal buffers about 4,000 until then
_LOCAL_MODES = 3


class Spawned(msgspec.Struct):
    """A process that runs, and the descriptors its output comes from, by stream."""

    process: "subprocess.Popen[bytes]"
    outputs: dict[str, int]
    mark: str
    born: int


class CannotStart(Exception):
    """With the exit code a shell would give, what is wrong, and what to try."""

    def __init__(self, exit_code: int, problem: str, hint: str = "") -> None:
        self.exit_code, self.problem, self.hint = exit_code, problem, hint
        self.text = f"{problem}; {hint}" if hint else problem
        super().__init__(self.text)


def spawn(
    argv: Sequence[str],
    *,
    cwd: str,
    exact_cwd: bool = False,
    env: Mapping[str, str],
    terminal: tuple[int, int] | None = None,
    pass_fds: Sequence[int] = (),
    handover: Handover | None = None,
) -> Spawned:
    """Start it. `terminal` is the size of one, in columns and rows. `pass_fds`: what it has open besides. `handover`:
    how a sandboxed command gets its environment; it is closed. `exact_cwd`: `cwd` is a real path, and may not have
    become another since."""
    mark = _marks.new_mark()
    environment = _marks.marked_environment(env, cwd, mark)
    if terminal is not None:
        _adapt_to_terminal(environment)
    _orphans.adopt()  # before it starts: a shell can have made its first orphan within a millisecond
    try:
        if not argv:
            raise ValueError("there is no command")
        if handover is not None:
            environment, pass_fds = handover.fill(environment), (*pass_fds, handover.descriptor)
        with _guard.starting(mark), _marks.limit(mark), _opened(cwd if exact_cwd else "") as place:
            if terminal is None:
                process, outputs = _on_pipes(argv, place or cwd, environment, pass_fds)
            else:
                process, outputs = _on_terminal(argv, place or cwd, environment, pass_fds, *terminal)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise _explained(error, argv, cwd) from error
    finally:
        if handover is not None:
            handover.close()
    _guard.watch(mark, process.pid)
    born = _orphans.run_started(process.pid)
    for fd in outputs.values():
        os.set_blocking(fd, False)
    return Spawned(process, outputs, mark, born)


@contextmanager
def _opened(folder: str) -> Iterator[str]:
    """A path to a folder that is open, whatever its name comes to mean. The child changes to it before it closes other
    descriptors. Nothing where none was named, or where no path leads to what is open."""
    if not folder or sys.platform != "linux":
        yield ""
        return
    from sightline.handles import folder_exactly

    descriptor = folder_exactly(folder)
    try:
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)


def _on_pipes(
    argv: Sequence[str], cwd: str, env: dict[str, str], pass_fds: Sequence[int]
) -> tuple["subprocess.Popen[bytes]", dict[str, int]]:
    ends: list[int] = []
    try:
        ends += os.pipe()
        ends += os.pipe()
        process = subprocess.Popen(
            list(argv),
            cwd=cwd or None,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=ends[1],
            stderr=ends[3],
            start_new_session=True,
            pass_fds=pass_fds,
        )
    except BaseException:
        _close(ends[::2])
        raise
    finally:
        _close(ends[1::2])
    return process, {"stdout": ends[0], "stderr": ends[2]}


def _adapt_to_terminal(env: dict[str, str]) -> None:
    env["TERM"] = "xterm-256color"
    for name in ("COLUMNS", "LINES"):  # ours, which programs use before they query the terminal
        env.pop(name, None)


def _on_terminal(
    argv: Sequence[str], cwd: str, env: dict[str, str], pass_fds: Sequence[int], columns: int, rows: int
) -> tuple["subprocess.Popen[bytes]", dict[str, int]]:
    ours, its = os.openpty()
    try:
        _set_up(its, columns, rows)
        os.write(ours, _END_OF_INPUT)
        process = subprocess.Popen(
            list(argv),
            cwd=cwd or None,
            env=env,
            stdin=its,
            stdout=its,
            stderr=its,
            start_new_session=True,
            preexec_fn=_take_terminal,
            pass_fds=pass_fds,
        )
    except BaseException:
        _close([ours])
        raise
    finally:
        _close([its])
    return process, {"stdout": ours}


def _set_up(terminal: int, columns: int, rows: int) -> None:
    modes = termios.tcgetattr(terminal)
    modes[_LOCAL_MODES] &= ~termios.ECHO
    termios.tcsetattr(terminal, termios.TCSANOW, modes)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def _take_terminal() -> None:
    """Runs in the child, between fork and exec: one system call, nothing that could wait for another thread."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _close(descriptors: list[int]) -> None:
    for fd in descriptors:
        os.close(fd)


def check_program(argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> None:
    """Raises `CannotStart` when there is no such program."""
    name = argv[0] if argv else ""
    if "/" not in name:
        import shutil

        if name and shutil.which(name, path=env.get("PATH", os.defpath)) is None:
            raise _explained(FileNotFoundError(errno.ENOENT, ""), argv, cwd)
    elif not os.access(path := os.path.join(cwd, name), os.X_OK) or os.path.isdir(path):
        missing = not os.path.exists(path)
        raise _explained(OSError(errno.ENOENT if missing else errno.EACCES, ""), argv, cwd)


def _explained(error: Exception, argv: Sequence[str], cwd: str) -> CannotStart:
    name = clean_line(argv[0]) if argv else ""
    path = os.path.join(cwd, argv[0]) if isinstance(error, OSError) and "/" in name else ""
    number = error.errno if isinstance(error, OSError) else None
    if number is not None and cwd and not os.path.isdir(cwd):
        return CannotStart(126, f"cannot start in {clean_line(cwd)}: no such folder", "create it or name another")
    if number == errno.ENOENT:
        return CannotStart(127, *_missing(name, path))
    if number == errno.EACCES:
        if os.path.isdir(path):
            return CannotStart(126, f"cannot start {name}: it is a folder", "name the program in it")
        return CannotStart(126, f"cannot start {name}: it is not executable", f"try chmod +x {shlex.quote(name)}")
    if number == errno.ENOEXEC:
        hint = "start it with its interpreter, such as sh"
        return CannotStart(126, f"cannot start {name}: it has no `#!` line", hint)
    if number == errno.E2BIG:
        return CannotStart(126, f"cannot start {name}: its arguments are too long", "pass them in a file")
    reason = clean_line(getattr(error, "strerror", None) or str(error))
    return CannotStart(126, f"cannot start {name}: {reason}" if name else f"nothing to start: {reason}")


def _missing(name: str, path: str) -> tuple[str, str]:
    """What is missing, and what to do about it."""
    what, hint = "no such program on the PATH", "check its name or install it"
    if path and os.path.exists(path):
        what, hint = "the interpreter its first line names is missing", "install it or change the line"
    elif path:
        what, hint = "no such file", "check the path"
    elif " " in name:
        what, hint = "no such program", "pass its arguments as separate words, or start it with sh -c"
    return f"cannot start {name}: {what}", hint
