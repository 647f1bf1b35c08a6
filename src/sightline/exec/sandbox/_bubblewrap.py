"""Bubblewrap: the command sees the same files, mounted so that it cannot write to them, in namespaces of its own.

Rules:

- Mounts are made in order, a later one on top: everything read-only, private devices and processes, then what may be
  written, then what may not be after all.
- What must not be replaced must not be moved away either: every folder between the workspace and a protected one in it
  becomes a mount of its own, and a mount cannot be renamed.
- A closed folder is read-only itself, with mounts of what can be written in it: nothing new can be made there.
- No `--new-session`. It keeps a command from typing into the terminal it was started from; ours have a session of
  their own already, and a second one would cost a command on a PTY its Ctrl+C and its window size.
- The command has its own process namespace and ends whole with bwrap, which ends with us. From outside all of it is
  visible under bwrap's own process, so a tree can be ended as always. One catch: who ends a tree asks every process in
  it, and bwrap asked with SIGTERM would end at once and the command with it, its grace unused. So bwrap is started with
  SIGTERM ignored and the command with it back to normal.
- Root keeps the rights over other people's files, none over the system: with more it could undo the mounts, and /proc
  would let it write to the kernel's settings (they are guarded by ownership alone).
- Read-only is not unreachable: a process that may open a service's socket may have it write. What is done about that is
  in `_seclusion`; the sockets of our own hosts are hidden with their folders.
- What comes before the barrier (`sh`, `nsenter`, `bwrap`) has an environment of its own; the command's is read by bwrap
  from a descriptor, after all its libraries are loaded.
- What looks empty is made read-only last: bubblewrap makes in it the folders that other mounts need.
- What is gone by the time it is mounted over: bubblewrap gives up, or makes it where it may write. Both are dealt with
  in `_setup`. A socket is never the source of a mount: a command that runs could exchange it for a link to any file.
"""

import os
import subprocess
import time
from collections.abc import Sequence
from typing import Literal

import msgspec

from sightline.exec.sandbox._launching import LEFT_BY_SHELLS, bare_environment
from sightline.exec.sandbox._programs import UntrustedProgram, find_program, program
from sightline.exec.sandbox._seccomp import filter_file
from sightline.exec.sandbox._seclusion import Seclusion, is_within, seclusion

_SECONDS_FOR_A_PROBE = 30.0  # on a busy machine, too: what seems not to work is not used by this process again
_PROBES = 3  # a machine that is short of processes or memory for a moment must not cost the process its sandbox
_SECONDS_BETWEEN_PROBES = 0.05

# Becomes bwrap, with SIGTERM ignored and the filter open.
_START = 'trap \'\' TERM; exec "$@" 9<"$0"'
_OVER_FILES = ("CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_CHOWN")


class Mounts(msgspec.Struct, frozen=True, kw_only=True):
    """By their real paths: folders that may be written, closed ones in them with what is open there, what may not be
    written, folders that look empty, what of them can be read, and sockets of services that are reached
    nevertheless."""

    writable: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    opened: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()
    sockets: tuple[str, ...] = ()


class SandboxProblem(msgspec.Struct, frozen=True):
    """Why bubblewrap cannot be used here: `text` for people, `kind` to decide by."""

    text: str
    kind: Literal["missing", "untrusted", "silent", "failing"]


def problem(entering: tuple[str, ...] = ()) -> SandboxProblem | None:
    """None when it can be used. Tried for real; ask once and remember the answer. `entering`: as with `wrapped`."""
    try:
        binary = find_program("bwrap")
    except UntrustedProgram as refused:
        return SandboxProblem(refused.message, "untrusted")
    if binary is None:
        return SandboxProblem("bubblewrap is not installed", "missing")
    found, tried = _probe(binary, entering), 1
    while found is not None and found.kind == "failing" and tried < _PROBES:
        time.sleep(_SECONDS_BETWEEN_PROBES)
        found, tried = _probe(binary, entering), tried + 1
    if found is None or found.kind == "silent":  # which was waited for long enough
        return found
    return msgspec.structs.replace(found, text=f"{found.text} (tried {_PROBES} times)")


def _probe(binary: str, entering: tuple[str, ...]) -> SandboxProblem | None:
    words = _argv(binary, Mounts(), seclusion("/", ()), cwd="/", network=False, entering=entering)
    argv = [*words, *_becoming([program("true")])]
    try:
        # In a session of its own: a child it leaves to us is collected like any other orphan.
        done = subprocess.run(
            argv,
            env=bare_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS_FOR_A_PROBE,
            start_new_session=True,
        )
    except subprocess.TimeoutExpired:
        return SandboxProblem("bubblewrap does not answer", "silent")
    except OSError as error:
        return SandboxProblem(f"bubblewrap cannot be started: {error.strerror}", "failing")
    if done.returncode == 0:
        return None
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    why = lines[-1] if lines else f"exit code {done.returncode}"
    return SandboxProblem(f"bubblewrap does not work here: {why}", "failing")


def wrapped(
    command: Sequence[str],
    mounts: Mounts,
    secluded: Seclusion,
    *,
    cwd: str,
    network: bool,
    environment: int,
    setup: int,
    entering: tuple[str, ...] = (),
) -> list[str]:
    """The command line that runs `command` with these mounts. `environment`: the descriptor of a `Handover`. `setup`:
    that of a `Setup`. `entering`: words that start it in a network namespace there is, in place of a new and empty
    one."""
    words = _argv(program("bwrap"), mounts, secluded, cwd=cwd, network=network, entering=entering)
    words += [word for name in LEFT_BY_SHELLS for word in ("--unsetenv", name)]
    words += ["--args", str(environment), "--block-fd", str(setup)]
    return [*words, *_becoming(command)]


def _argv(
    binary: str, mounts: Mounts, secluded: Seclusion, *, cwd: str, network: bool, entering: tuple[str, ...]
) -> list[str]:
    calls = filter_file(network=True)  # what network there is, is decided by the namespace
    argv = [program("sh"), "-c", _START, calls or "/dev/null", *entering, binary, "--die-with-parent"]
    argv += ["--seccomp", "9"] if calls else []
    argv += ["--unshare-pid", "--unshare-ipc", *([] if network or entering else ["--unshare-net"])]
    argv += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    if os.geteuid() == 0:
        argv += ["--remount-ro", "/proc", "--cap-drop", "ALL"]
        argv += [word for right in _OVER_FILES for word in ("--cap-add", right)]
    argv += _empty(secluded, mounts.writable)
    argv += [word for path in mounts.writable for word in ("--bind", path, path)]
    argv += [word for path in mounts.closed for word in ("--ro-bind", path, path)]
    argv += [word for path in mounts.opened for word in ("--bind-try", path, path)]
    argv += _unmovable(mounts)
    argv += [word for path in mounts.protected for word in ("--ro-bind", path, path)]
    argv += [word for path in mounts.hidden for word in ("--tmpfs", path)]
    argv += [word for path in mounts.readable for word in ("--ro-bind-try", path, path)]
    argv += _covered(secluded, mounts.hidden)
    argv += [word for path in mounts.sockets for word in ("--ro-bind-try", path, path)]
    argv += [word for path in secluded.private for word in ("--remount-ro", path)]
    if cwd:  # a link in a folder that looks empty is not there; what it leads to is
        linked = any(is_within(os.path.abspath(cwd), folder) for folder in secluded.private)
        argv += ["--chdir", os.path.realpath(cwd) if linked else cwd]
    return argv


def _becoming(command: Sequence[str]) -> list[str]:
    return ["--", program("env"), "--default-signal=TERM", "--", *_startable(command)]


def _empty(secluded: Seclusion, writable: Sequence[str]) -> list[str]:
    """What is writable is mounted afterwards, where it is seen."""
    argv = [word for path in secluded.private for word in ("--tmpfs", path)]
    for path in secluded.public:
        if path in writable:
            continue
        argv += ["--symlink", os.readlink(path), path] if os.path.islink(path) else ["--ro-bind", path, path]
    return argv


def _covered(secluded: Seclusion, hidden: Sequence[str]) -> list[str]:
    seen = [path for path in secluded.sockets if not any(is_within(path, folder) for folder in hidden)]
    return [word for path in seen for word in ("--ro-bind", "/dev/null", path)]


def _unmovable(mounts: Mounts) -> list[str]:
    """Each folder once, outer ones first and all before what is protected: a mount hides those made below it before."""
    between: set[str] = set()
    for path in mounts.protected:
        for top in mounts.writable:
            folder = os.path.dirname(path)
            while folder != top and is_within(folder, top):
                between.add(folder)
                folder = os.path.dirname(folder)
    return [word for folder in sorted(between.difference(mounts.closed)) for word in ("--bind", folder, folder)]


def _startable(command: Sequence[str]) -> list[str]:
    """`env` takes a first word with `=` in it for a variable; a shell takes it for a command when told so."""
    return [program("sh"), "-c", 'exec "$0" "$@"', *command] if "=" in command[0] else list(command)
