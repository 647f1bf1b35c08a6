"""The sandbox for commands a model chose.

Rules, whoever enforces them: everything can be read that could be read before; written is only below the workspace and
in a temporary folder of the command's own, which is gone afterwards; the network is there when asked for. This
program's own files cannot be written even when they are in the workspace: no command may rewrite what it did. What a
spec names as read-only in the workspace stays as it is, if it is there when the command starts.

Bubblewrap does it where it works, because it restricts most. Landlock does it where the kernel has that. Otherwise
the command runs unprotected and says so.

What does the work is imported when it is used: the spec alone travels with every command.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from sightline import paths
from sightline.exceptions import OutsideFailure, UserMistake

Kind = Literal["bubblewrap", "landlock", "none"]


class SandboxSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What a sandboxed command may do: write below `workspace` except at `read_only`, and use the network or not."""

    workspace: str
    network: bool = False
    read_only: tuple[str, ...] = ()  # absolute paths; what is not there or not in the workspace is passed over


class SandboxStatus(msgspec.Struct, frozen=True, kw_only=True):
    """What enforces the rules here, why nothing better does, and what to do about that."""

    kind: Kind
    why: str = ""
    hint: str = ""


class Sandboxed(msgspec.Struct, frozen=True, kw_only=True):
    """A command line to start in place of another, with `env` added. `message` says what is not protected, if anything.

    Start it from a thread that lives as long as the command does: bubblewrap ends with the thread that started it.
    """

    argv: tuple[str, ...]
    env: dict[str, str] = {}
    message: str = ""
    temp: str = ""
    leaves_children: bool = False  # its end does not end all it started

    def cleanup(self) -> None:
        """Remove the temporary folder. May take a while; call it when the command has ended."""
        if self.temp:
            _remove(self.temp)


def sandbox_status() -> SandboxStatus:
    """The best there is on this machine. The first call tries it, which takes some ten milliseconds."""
    from sightline.exec import _bubblewrap, _landlock

    why = _bubblewrap.problem()
    if not why:
        return SandboxStatus(kind="bubblewrap")
    if sys.platform != "linux":
        return SandboxStatus(kind="none", why="only Linux has one that is supported")
    hint = f"install bubblewrap ({_how_to_install()})" if why.endswith("not installed") else ""
    if _landlock.abi() and sys.executable:
        return SandboxStatus(kind="landlock", why=why, hint=hint)
    return SandboxStatus(kind="none", why=f"{why} and the kernel has no Landlock", hint=hint)


def sandboxed(argv: Sequence[str], cwd: str, spec: SandboxSpec, *, _kind: Kind | None = None) -> Sandboxed:
    """`argv`, wrapped so that it keeps to `spec`, to be started in the folder `cwd` (empty: this one)."""
    from sightline.exec import _bubblewrap, _landlock
    from sightline.exec._seccomp import filter_file

    workspace = _checked_workspace(spec.workspace)
    status = sandbox_status()
    kind = _kind or status.kind
    own_files = _own_files(workspace, kind)
    kept = _kept(workspace, spec.read_only)
    if kind == "none":
        return Sandboxed(argv=tuple(argv), message=f"no sandbox here: {status.why}; the command runs unprotected")
    temp = _temporary_folder()
    env = {"TMPDIR": temp, "TMPPREFIX": f"{temp}/zsh"}  # zsh has its own idea of where
    if kind == "bubblewrap":
        protected = (*own_files, *kept)
        mounts = _bubblewrap.Mounts(writable=(workspace, temp), protected=protected, hidden=_own_sockets())
        words = _bubblewrap.wrapped(argv, mounts, cwd=cwd, network=spec.network)
        return Sandboxed(argv=tuple(words), env=env, temp=temp)
    words = [sys.executable, "-I", "-S", _landlock.__file__, "network" if spec.network else "no-network"]
    words += [filter_file(network=spec.network), workspace, temp, "--", *argv]
    message = _gaps(_landlock.abi(), network=spec.network, kept=[os.path.relpath(path, workspace) for path in kept])
    return Sandboxed(argv=tuple(words), env=env, message=message, temp=temp, leaves_children=True)


def _checked_workspace(named: str) -> str:
    """Where it really is: a mount and a rule go by the folder, not by the link that led there."""
    workspace = os.path.realpath(named) if named else ""
    if not workspace:
        raise UserMistake("the sandbox has no workspace", "name the folder the command may write in")
    if workspace == "/":
        raise UserMistake("the whole file system cannot be a sandbox's workspace", "name the project's folder")
    if not os.path.isdir(workspace):
        said = "is not a folder" if os.path.exists(workspace) else "does not exist"
        raise UserMistake(f"the sandbox's workspace {said}: {named}", "name a folder that exists, or create it first")
    return workspace


def _own_files(workspace: str, kind: Kind) -> tuple[str, ...]:
    """This program's folder when the workspace would make it writable; the folder must exist to be protected."""
    own = os.path.realpath(paths.data_folder())
    if _holds(own, workspace):
        raise UserMistake(
            f"the sandbox's workspace is where sightline keeps its own files: {workspace}",
            "name another folder, or move those files with SIGHTLINE_HOME",
        )
    if not _holds(workspace, own) or kind == "none":
        return ()
    if kind == "landlock":
        raise UserMistake(
            f"the sandbox's workspace holds sightline's own files ({own}), and Landlock cannot protect a part of it",
            "name a folder further in, move those files with SIGHTLINE_HOME, or install bubblewrap",
        )
    try:
        os.makedirs(own, 0o700, exist_ok=True)
    except OSError as error:
        raise OutsideFailure(
            f"cannot create {own}: {error.strerror}", "move it elsewhere with SIGHTLINE_HOME"
        ) from error
    return (own,)


def _kept(workspace: str, read_only: Sequence[str]) -> tuple[str, ...]:
    """By their real paths: what is there, and would be writable."""
    real = sorted({os.path.realpath(path) for path in read_only})
    return tuple(path for path in real if _holds(workspace, path) and os.path.exists(path))


def _own_sockets() -> tuple[str, ...]:
    """Where our hosts listen: a command that reaches one could have another run in its place, outside."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    folders = [os.path.realpath(paths.data_folder() / "run")]
    folders += [os.path.realpath(Path(runtime) / "sightline")] if runtime else []
    return tuple(folder for folder in folders if os.path.isdir(folder))


def _holds(folder: str, path: str) -> bool:
    return os.path.commonpath([folder, path]) == folder


def _temporary_folder() -> str:
    import tempfile

    try:
        return os.path.realpath(tempfile.mkdtemp(prefix="sightline-"))
    except OSError as error:
        raise OutsideFailure(
            f"cannot create a temporary folder for the command: {error.strerror}", "make room, or set TMPDIR"
        ) from error


def _gaps(abi: int, *, network: bool, kept: Sequence[str]) -> str:
    """What this kernel's Landlock does not keep a command from."""
    from sightline.exec._seccomp import filter_file

    gaps = ["asking a service that has a socket file"]
    if not network and not filter_file(network=network):
        gaps.append("using UDP" if abi >= 4 else "using the network")
    if abi < 3:
        gaps.append("emptying files outside the workspace")
    if kept:  # it allows a folder whole
        gaps.append(f"changing what is read-only in the workspace ({', '.join(kept)})")
    return f"sandboxed with Landlock, which does not prevent {', '.join(gaps)}"


def _how_to_install() -> str:
    import shutil

    managers = {"apt": "apt install", "dnf": "dnf install", "pacman": "pacman -S", "apk": "apk add"}
    for manager, command in managers.items():
        if shutil.which(manager):
            return f"{command} bubblewrap"
    return "the package is called bubblewrap"


def _remove(folder: str) -> None:
    """All of it, folders included that the command made read-only (a module cache does that)."""
    import shutil

    for place, folders, _ in os.walk(folder):
        for name in folders:
            path = Path(place, name)
            if not path.is_symlink():
                try:
                    path.chmod(0o700)
                except OSError:
                    continue
    shutil.rmtree(folder, ignore_errors=True)
