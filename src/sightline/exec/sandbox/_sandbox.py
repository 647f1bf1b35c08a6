"""The sandbox for commands a model chose.

Rules, whatever enforces them: everything can be read that could be read before; written is only below the workspace and
in a temporary folder of the command's own, which is gone afterwards; the network is there when requested. The protected
set (`settings.protected`) cannot be written even in the workspace. What a spec names as read-only in the workspace
stays as it is, if it is there when the command starts.

Bubblewrap does it where it works, because it restricts most. Landlock does it where the kernel has that, without the
protected set: `unprotected` reports that before the command runs. Otherwise it runs unprotected, and that is reported.

Which of them it is is decided once, on first use, and stays so for the process. A sandbox that stops working is a
refusal: continuing with less would be a way to get less.

What does the work is imported when it is used: the spec alone travels with every command.
"""

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec

from sightline import paths
from sightline.exceptions import OutsideFailure, UserMistake
from sightline.exec.gateway._entrance import Entrance
from sightline.exec.sandbox._known_workspaces import remember
from sightline.exec.sandbox._launching import Handover
from sightline.exec.sandbox._programs import program, work_in
from sightline.exec.sandbox._removal import remove_folder
from sightline.exec.sandbox._setup import Setup

Kind = Literal["bubblewrap", "landlock", "none"]

_WHY_EXPOSED = "a link, a hard-linked file, or one that is unreadable or was replaced while commands run"


class SandboxSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What a sandboxed command may do: write below `workspace` except at `read_only`, and use the network or not."""

    workspace: str
    network: bool = False
    sockets: tuple[str, ...] = ()  # real paths of services it may speak to, because the user named them
    read_only: tuple[str, ...] = ()  # absolute paths; what is not there or not in the workspace is passed over
    is_passing: bool = False  # the workspace is a folder of ours that is removed afterwards, unread
    entrance: Entrance | None = None  # into a network where a proxy decides; in place of none, with bubblewrap only


class SandboxStatus(msgspec.Struct, frozen=True, kw_only=True):
    """What enforces the rules here, why nothing better does, and what to do about that."""

    kind: Kind
    why: str = ""
    hint: str = ""


class SandboxedCommand(msgspec.Struct, frozen=True, kw_only=True):
    """A command line to start in place of another, with `env` added. `message`: what is not protected, if anything.
    The environment goes through `handover`, where there is one: what is started before the command must not have it.
    It inherits `descriptors` besides.

    Start it from a thread that lives as long as the command does: bubblewrap ends with the thread that started it.
    """

    argv: tuple[str, ...]
    env: dict[str, str] = {}
    message: str = ""
    temp: str = ""
    handover: Handover | None = None
    setup: Setup | None = None
    release: Callable[[], None] | None = None
    leaves_children: bool = False  # its end does not end all it started

    @property
    def descriptors(self) -> tuple[int, ...]:
        return () if self.setup is None else (self.setup.descriptor,)

    @property
    def is_set_up(self) -> bool:
        """Whether the command was started by now. Where it ended without, it can be tried again (see `_setup`)."""
        return self.setup is None or self.setup.is_done()

    def cleanup(self) -> None:
        """Remove the temporary folder and the placeholders. May take a while; call it when the command has ended."""
        if self.handover is not None:
            self.handover.close()
        if self.setup is not None:
            self.setup.close()
        if self.release is not None:
            self.release()
        if self.temp:
            remove_folder(self.temp)


_decided: SandboxStatus | None = None


def sandbox_status() -> SandboxStatus:
    """What this process uses: the best there was on first use, which takes some ten milliseconds."""
    global _decided
    if _decided is None:
        _decided = _best()
    return _decided


def unprotected(workspace: str) -> tuple[str, ...]:
    """What of the protected set a command in the sandbox could change here, by paths as seen from the workspace."""
    from sightline.settings import protected

    kind = sandbox_status().kind
    if kind == "none":
        return ()
    found = protected(workspace)
    root = os.path.realpath(workspace)
    return tuple(os.path.relpath(path, root) for path in (found.all if kind == "landlock" else found.exposed))


def _best() -> SandboxStatus:
    from sightline.exec.sandbox import _bubblewrap, _landlock

    problem = _bubblewrap.problem()
    if problem is None:
        return SandboxStatus(kind="bubblewrap")
    if sys.platform != "linux":
        return SandboxStatus(kind="none", why="it is supported only on Linux")
    hint = f"install bubblewrap ({_how_to_install()})" if problem.kind == "missing" else ""
    if _landlock.abi() and sys.executable:
        return SandboxStatus(kind="landlock", why=problem.text, hint=hint)
    return SandboxStatus(kind="none", why=f"{problem.text} and the kernel has no Landlock", hint=hint)


def sandboxed(argv: Sequence[str], cwd: str, spec: SandboxSpec, *, _kind: Kind | None = None) -> SandboxedCommand:
    """`argv`, wrapped so that it obeys `spec`, to be started in the folder `cwd` (empty: this one)."""
    workspace = _checked_workspace(spec.workspace)
    work_in(workspace)
    status = sandbox_status()
    kind = _kind or status.kind
    _refuse_own_files(workspace, kind)
    if kind == "none":
        return SandboxedCommand(
            argv=tuple(argv), message=f"no sandbox here: {status.why}; the command runs unprotected"
        )
    if not spec.is_passing:
        remember(workspace)
    return (_in_bubblewrap if kind == "bubblewrap" else _in_landlock)(argv, cwd, spec, workspace)


def _in_bubblewrap(argv: Sequence[str], cwd: str, spec: SandboxSpec, workspace: str) -> SandboxedCommand:
    from sightline.exec.sandbox import _bubblewrap
    from sightline.exec.sandbox._protection import Protection
    from sightline.exec.sandbox._seclusion import seclusion

    if not os.access(program("bwrap"), os.X_OK):
        raise OutsideFailure(
            f"the sandbox of this session no longer works: {program('bwrap')} cannot be run",
            "install bubblewrap again; without it the command is not run",
        )
    entrance = None if spec.network else spec.entrance
    entering = entrance.argv if entrance is not None else ()
    protection, handover, setup = Protection(workspace), Handover(), Setup()
    try:
        temp = _temporary_folder()
        hidden = _outermost((*_own_sockets(), *_own_data(workspace, cwd)))
        mounts = _bubblewrap.Mounts(
            writable=(workspace, temp),
            closed=protection.protected.closed,
            opened=protection.opened,
            protected=tuple(dict.fromkeys((*protection.read_only, *_read_only_paths(workspace, spec.read_only)))),
            hidden=hidden,
            readable=_user_skills(hidden),
            sockets=_others(spec.sockets),
        )
        secluded = seclusion(cwd, mounts.writable)
        setup.will_cover(path for path in secluded.sockets if _holds(workspace, path))
        words = _bubblewrap.wrapped(
            argv,
            mounts,
            secluded,
            cwd=cwd,
            network=spec.network,
            environment=handover.descriptor,
            setup=setup.descriptor,
            entering=entering,
        )
    except BaseException:
        handover.close()
        setup.close()
        protection.release()
        raise
    exposed = ", ".join(os.path.relpath(path, workspace) for path in protection.protected.exposed)
    message = f"the sandbox cannot protect {exposed}: {_WHY_EXPOSED}" if exposed else ""
    return SandboxedCommand(
        argv=tuple(words),
        env=_environment(temp) | (entrance.env if entrance is not None else {}),
        message=message,
        temp=temp,
        handover=handover,
        setup=setup,
        release=protection.release,
    )


def _in_landlock(argv: Sequence[str], cwd: str, spec: SandboxSpec, workspace: str) -> SandboxedCommand:
    from sightline.exec.sandbox import _landlock
    from sightline.exec.sandbox._seccomp import filter_file
    from sightline.settings import protected

    found = dict.fromkeys((*protected(workspace).all, *_read_only_paths(workspace, spec.read_only)))
    names = [os.path.relpath(path, workspace) for path in found if os.path.lexists(path)]
    message = _gaps(_landlock.abi(), network=spec.network, read_only=names)
    temp, handover = _temporary_folder(), Handover()
    words = [sys.executable, "-I", "-S", _landlock.__file__, str(handover.descriptor)]
    words += ["network" if spec.network else "no-network", filter_file(network=spec.network), workspace, temp]
    words += ["--", *argv]
    return SandboxedCommand(
        argv=tuple(words), env=_environment(temp), message=message, temp=temp, handover=handover, leaves_children=True
    )


def _environment(temp: str) -> dict[str, str]:
    """Places for what programs write by themselves: zsh has its own idea of where, and npm and go fail without a cache
    they can write. npm also asks a server for news of itself, which would be a question to the user each time."""
    caches = {"npm_config_cache": f"{temp}/npm", "GOCACHE": f"{temp}/go-build"}
    return {"TMPDIR": temp, "TMPPREFIX": f"{temp}/zsh", "npm_config_update_notifier": "false", **caches}


def _checked_workspace(named: str) -> str:
    """Where it really is: a mount and a rule go by the folder, not by the link that led there."""
    workspace = os.path.realpath(named) if named else ""
    if not workspace:
        raise UserMistake("the sandbox has no workspace", "name the folder the command may write in")
    if workspace == "/":
        raise UserMistake("the whole file system cannot be a sandbox's workspace", "name the project's folder")
    if not os.path.isdir(workspace):
        problem = "is not a folder" if os.path.exists(workspace) else "does not exist"
        raise UserMistake(
            f"the sandbox's workspace {problem}: {named}", "name a folder that exists, or create it first"
        )
    return workspace


def _refuse_own_files(workspace: str, kind: Kind) -> None:
    """A workspace in this program's folder; where only Landlock is, also one around it."""
    own = os.path.realpath(paths.data_folder())
    if _holds(own, workspace):
        raise UserMistake(
            f"the sandbox's workspace is where sightline stores its own files: {workspace}",
            "name another folder, or move those files with SIGHTLINE_HOME",
        )
    if kind == "landlock" and _holds(workspace, own):
        raise UserMistake(
            f"the sandbox's workspace holds sightline's own files ({own}), and Landlock cannot protect a part of it",
            "work in a subfolder, move those files with SIGHTLINE_HOME, or install bubblewrap",
        )


def _read_only_paths(workspace: str, read_only: Sequence[str]) -> tuple[str, ...]:
    """By their real paths: what is there, and would be writable."""
    real = sorted({os.path.realpath(path) for path in read_only})
    return tuple(path for path in real if _holds(workspace, path) and os.path.exists(path))


def _own_sockets() -> tuple[str, ...]:
    """Where our hosts listen: a command that reaches one could have another run in its place, outside."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    folders = [os.path.realpath(paths.data_folder() / "run")]
    folders += [os.path.realpath(Path(runtime) / "sightline")] if runtime else []
    return tuple(folder for folder in folders if os.path.isdir(folder))


def _own_data(workspace: str, cwd: str) -> tuple[str, ...]:
    """All we store: keys, prompts, sessions with what a user ran in private (`!!`). A model is shown of it only what an
    address names and a rule permits. Also where it is by default, when it was moved (the demo does that). Made if
    need be: what is missing cannot be hidden, and a key may be stored while the command runs. What a command works in
    is not hidden from it, but for the keys."""
    keys = os.path.realpath(_made(paths.keys_folder()))
    folders = [os.path.realpath(folder) for folder in (paths.data_folder(), *paths.default_data_folders())]
    works_in = [os.path.realpath(each) for each in (workspace, cwd) if each]
    hidden = [folder for folder in folders if not any(_holds(folder, each) for each in works_in)]
    return tuple(folder for folder in dict.fromkeys((*hidden, keys)) if os.path.isdir(folder))


def _user_skills(hidden: Sequence[str]) -> tuple[str, ...]:
    """The user's skills, where they are in what we store: their scripts are run and their files are read."""
    from sightline.settings import user_skills_folder

    folder = str(user_skills_folder(os.environ))
    real = os.path.realpath(folder)
    is_itself = real == os.path.join(os.path.realpath(os.path.dirname(folder)), os.path.basename(folder))
    return (real,) if is_itself and os.path.isdir(real) and any(_holds(path, real) for path in hidden) else ()


def _outermost(folders: Sequence[str]) -> tuple[str, ...]:
    """Without those that are in another one."""
    return tuple(path for path in folders if not any(path != other and _holds(other, path) for other in folders))


def _made(folder: Path) -> Path:
    if not folder.is_dir():
        with suppress(OSError):  # where nothing can be stored, no key can
            paths.private_folder(folder)
    return folder


def _others(sockets: Sequence[str]) -> tuple[str, ...]:
    """Never those of our own hosts, whatever a variable says."""
    own = _own_sockets()
    return tuple(path for path in sockets if not any(_holds(folder, path) for folder in own))


def _holds(folder: str, path: str) -> bool:
    return os.path.commonpath([folder, path]) == folder


def _temporary_folder() -> str:
    import tempfile

    try:
        return os.path.realpath(tempfile.mkdtemp(prefix="sightline-"))
    except OSError as error:
        raise OutsideFailure(
            f"cannot create a temporary folder for the command: {error.strerror}", "free some disk space, or set TMPDIR"
        ) from error


def _gaps(abi: int, *, network: bool, read_only: Sequence[str]) -> str:
    """What this kernel's Landlock does not stop a command from doing."""
    from sightline.exec.sandbox._seccomp import filter_file

    gaps = ["connections to Unix sockets"]
    if not network and not filter_file(network=network):
        gaps.append("UDP" if abi >= 4 else "network access")
    if abi < 3:
        gaps.append("truncation of files outside the workspace")
    if read_only:  # it allows a folder whole
        gaps.append(f"changes to read-only files in the workspace ({', '.join(read_only)})")
    return f"sandboxed with Landlock, which does not prevent {', '.join(gaps)}"


def _how_to_install() -> str:
    import shutil

    managers = {"apt": "apt install", "dnf": "dnf install", "pacman": "pacman -S", "apk": "apk add"}
    for manager, command in managers.items():
        if shutil.which(manager):
            return f"{command} bubblewrap"
    return "the package is called bubblewrap"
