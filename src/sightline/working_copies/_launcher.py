"""A process goes into an overlay over the workspace, and becomes the command.

This file is a program, started with nothing of the package (`python -I -S _launcher.py …`), because it must start fast.

    _launcher.py privileged|user WORKSPACE COPY COMMAND…

COPY is the folder of the copy: `upper` and `work` are the kernel's, `namespace` names the mount namespace in use.

Rules:

- The mount is in a namespace of its own, so no one else sees it, and it ends with the last process in it, however that
  ends. There is nothing to unmount.
- Two mounts of one upper folder would not see each other's changes (the kernel calls it undefined). A second process
  therefore joins the namespace of the first, as long as any process is in it.
- Folders are named to the kernel by descriptors: a comma or colon in a path means nothing then.
- `privileged` is for who may mount. `user` makes a user namespace in which nothing but the own user and group exist, so
  no rights are gained, and what the overlay has to note is in `user.overlay.…` attributes.
- A folder of the workspace cannot be renamed in one step (EXDEV, as between two disks; `mv` copies it then), and a file
  is copied whole when it is first changed: so the upper folder alone is all that changed.
"""

import ctypes
import fcntl
import os
import sys

_NEW_NAMESPACE, _NEW_USER = 0x00020000, 0x10000000
_PRIVATE, _RECURSIVE = 1 << 18, 1 << 14
_OPTIONS = {"privileged": "index=off,redirect_dir=off,metacopy=off", "user": "index=off,userxattr"}
_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def enter(mode: str, workspace: str, copy: str) -> None:
    """From now on this process and its children have the overlay at the path of the workspace."""
    state = os.open(f"{copy}/namespace", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(state, fcntl.LOCK_EX)
        if not _joined(mode, workspace, copy):
            _mount(mode, workspace, copy)
            os.ftruncate(state, 0)
            os.pwrite(state, b"%d %d\n" % (os.stat("/proc/self/ns/mnt").st_ino, os.stat(workspace).st_dev), 0)
    finally:
        os.close(state)


def process_inside(mode: str, workspace: str, copy: str) -> "int | None":
    """Of the processes in the overlay one, by a descriptor of its folder in `/proc`; None where there is none."""
    try:
        with open(f"{copy}/namespace", "rb") as file:
            words = file.read(100).split()
    except FileNotFoundError:
        return None
    if len(words) < 2:
        return None
    namespace, device = int(words[0]), int(words[1])
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            process = os.open(f"/proc/{pid}", _FOLDER)
        except OSError:
            continue
        if _is_inside(process, mode, workspace, namespace, device):
            return process
        os.close(process)
    return None


def _is_inside(process: int, mode: str, workspace: str, namespace: int, device: int) -> bool:
    """The numbers are used again: another user must not get us into a namespace made to have the same ones."""
    try:
        if os.stat("ns/mnt", dir_fd=process).st_ino != namespace:
            return False
        if os.stat(".", dir_fd=process).st_uid != os.geteuid():
            return False
        if mode == "privileged" and not os.path.samestat(
            os.stat("ns/user", dir_fd=process), os.stat("/proc/self/ns/user")
        ):
            return False
        return os.stat(f"root{workspace}", dir_fd=process).st_dev == device
    except OSError:  # it ended, or is not ours
        return False


def _joined(mode: str, workspace: str, copy: str) -> bool:
    """Whether there is a process in the overlay, and this one is with it now."""
    process = process_inside(mode, workspace, copy)
    if process is None:
        return False
    try:
        if os.path.samestat(os.stat("ns/mnt", dir_fd=process), os.stat("/proc/self/ns/mnt")):
            return True  # started by a process that is in it
        kinds = ("mnt",) if mode == "privileged" else ("user", "mnt")
        descriptors = [os.open(f"ns/{kind}", os.O_RDONLY | os.O_CLOEXEC, dir_fd=process) for kind in kinds]
    except OSError:  # it ended meanwhile
        return False
    finally:
        os.close(process)
    for descriptor in descriptors:
        _checked(_libc().setns(descriptor, 0))
        os.close(descriptor)
    return True


def _mount(mode: str, workspace: str, copy: str) -> None:
    if mode == "privileged":
        _checked(_libc().unshare(_NEW_NAMESPACE))
    else:
        user, group = os.geteuid(), os.getegid()
        _checked(_libc().unshare(_NEW_NAMESPACE | _NEW_USER))
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            _write(f"/proc/self/{name}", text)
    _checked(_libc().mount(b"none", b"/", None, _PRIVATE | _RECURSIVE, None))
    # Opened here and not before: what is mounted on has to be in the new namespace.
    lower, upper, work = (os.open(path, _FOLDER) for path in (workspace, f"{copy}/upper", f"{copy}/work"))
    options = f"lowerdir=/proc/self/fd/{lower},upperdir=/proc/self/fd/{upper},workdir=/proc/self/fd/{work}"
    options += f",{_OPTIONS[mode]}"  # a user's has neither of the other two, and does not take them
    _checked(_libc().mount(b"sightline", os.fsencode(workspace), b"overlay", 0, options.encode()))
    for descriptor in (lower, upper, work):
        os.close(descriptor)


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _own_environment() -> "dict[bytes, bytes]":
    """What this process was started with: Python may have added a locale to its own."""
    with open("/proc/self/environ", "rb") as file:
        entries = file.read().split(b"\0")
    return dict(entry.split(b"=", 1) for entry in entries if b"=" in entry[1:])


def _undo_what_python_did() -> None:
    """It ignores two signals, and what is started would inherit that."""
    import signal

    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)


def _main(arguments: "list[str]") -> int:
    mode, workspace, copy, *command = arguments
    try:
        environment, folder = _own_environment(), os.getcwd()
        enter(mode, workspace, copy)
        os.chdir(folder)  # by its path: until now this process is in the folder below the overlay
        _undo_what_python_did()
    except OSError as error:  # never run without it: the command would work on the workspace itself
        return _refuse(126, f"the working copy could not be entered: {error}")
    try:
        os.execvpe(command[0], command, environment)
    except FileNotFoundError as error:
        return _refuse(127, f"{command[0]}: {error.strerror}")
    except OSError as error:
        return _refuse(126, f"{command[0]}: {error.strerror}")


def _refuse(code: int, why: str) -> int:
    os.write(2, f"sightline: {why}\n".encode(errors="surrogateescape"))
    return code


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
