"""Where running hosts are found: one socket each, in a folder only the user can enter.

A socket's path may be no longer than about a hundred bytes, and a folder of the user's choice may be longer. It is then
reached through the folder's descriptor, which has a short name on Linux.
"""

import os
import socket
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sightline.exceptions import OutsideFailure
from sightline.journal import is_session_id
from sightline.paths import data_folder, is_own_folder, private_folder

_PATH_CAP = 100
_BACKLOG = 64


def runtime_folder() -> Path:
    """Beside everything else when `SIGHTLINE_HOME` is set, else where the system keeps a user's sockets, if that is
    the user's own (it is not always after `sudo` or `su`)."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and not os.environ.get("SIGHTLINE_HOME") and is_own_folder(runtime):
        return Path(runtime) / "sightline"
    return data_folder() / "run"


def socket_path(session: str) -> Path:
    return runtime_folder() / f"{session}.sock"


def listen(session: str) -> socket.socket:
    """The socket of a session that begins, ready to be connected to. The caller holds the session's lock: a socket
    that is already there was left by a host that was killed."""
    path = socket_path(session)
    forget_socket(session)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    old = os.umask(0o177)
    try:
        private_folder(path.parent, path.parent)
        with _address(path) as address:
            listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        hint = "set SIGHTLINE_HOME to a folder on a local disk"
        raise OutsideFailure(f"cannot make a socket at {path}: {error}", hint) from error
    finally:
        os.umask(old)
    listener.setblocking(False)
    return listener


def connected(session: str, seconds: float) -> socket.socket:
    """A connection to a session's host; OSError when there is none."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(seconds)
        with _address(socket_path(session)) as address:
            connection.connect(address)
        _check_owner(connection)
        connection.setblocking(False)
    except OSError:
        connection.close()
        raise
    return connection


def _check_owner(connection: socket.socket) -> None:
    """Another user's host is none of ours, whatever its socket is called: what we send it is the user's."""
    if sys.platform == "linux":
        _, uid, _ = struct.unpack("iII", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        if uid != os.geteuid():
            raise PermissionError("the session belongs to another user")


def sessions_with_sockets() -> list[str]:
    """Sessions that have, or had, a host: a host that was killed leaves its socket behind."""
    try:
        names = [entry.name.removesuffix(".sock") for entry in os.scandir(runtime_folder())]
    except OSError:
        return []
    return sorted(name for name in names if is_session_id(name))


def forget_socket(session: str) -> None:
    try:
        socket_path(session).unlink()
    except OSError:
        pass


@contextmanager
def _address(path: Path) -> Iterator[str]:
    if len(os.fsencode(path)) <= _PATH_CAP:
        yield str(path)
        return
    fd = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{fd}/{path.name}"
    finally:
        os.close(fd)
