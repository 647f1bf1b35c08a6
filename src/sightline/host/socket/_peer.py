"""Who may connect to a host: its user, from outside every sandbox and every command of a session.

A process that is connected may answer requests. A command that could connect would approve itself.

Rules:

- Decided on what the kernel reports of the process that called `connect`, never on what it says of itself. It is held
  by a descriptor (Linux 6.5) while its facts are read and must still live afterwards: they are not another's, who was
  given the same id. A process that cannot be looked at is refused.
- Compared with the host: a host in a container serves views in that container. Another namespace, privileges given up
  that the host has not given up, and more system call filters than the host has, are a sandbox.
- What a command started is refused outside a sandbox, too, the user's own command included: it may run what a model
  wrote.
- Only Linux has a sandbox of ours, and only there is more than the folder's mode looked at.
"""

import os
import select
import socket
import struct
import sys
from typing import Literal

import msgspec

from sightline.exec import descends_from_command

_SO_PEERPIDFD = 77
_CREDENTIALS = struct.Struct("iII")
_NAMESPACES = ("mnt", "pid", "net", "user")

Why = Literal["", "user", "sandbox", "command", "unknown"]


class _Confinement(msgspec.Struct, frozen=True):
    namespaces: tuple[str, ...]
    no_new_privileges: int
    filters: int

    def exceeds(self, other: "_Confinement") -> bool:
        return (
            self.namespaces != other.namespaces
            or self.no_new_privileges > other.no_new_privileges
            or self.filters > other.filters
        )


def why_refused(connection: socket.socket) -> Why:
    """Why the process at the other end may not connect; nothing when it may."""
    if sys.platform != "linux":
        return ""
    try:
        pid, uid, _ = _CREDENTIALS.unpack(
            connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        )
        if uid != os.geteuid():
            return "user"
        if pid == os.getpid():
            return ""
        holding = _hold(connection, pid)
    except OSError:
        return "unknown"
    try:
        why = _judged(pid)
        return "unknown" if not why and _has_ended(holding) else why
    finally:
        os.close(holding)


def _judged(pid: int) -> Why:
    try:
        if _confinement(pid).exceeds(_confinement(os.getpid())):
            return "sandbox"
        return "command" if descends_from_command(pid) else ""
    except (OSError, ValueError):
        return "unknown"


def _hold(connection: socket.socket, pid: int) -> int:
    """A descriptor of the process: with the connection, or by id from a kernel that does not hand it out."""
    try:
        return connection.getsockopt(socket.SOL_SOCKET, _SO_PEERPIDFD)
    except OSError:
        return os.pidfd_open(pid)


def _has_ended(holding: int) -> bool:
    poll = select.poll()
    poll.register(holding, select.POLLIN)
    return bool(poll.poll(0))


def _confinement(pid: int) -> _Confinement:
    namespaces = tuple(os.readlink(f"/proc/{pid}/ns/{name}") for name in _NAMESPACES)
    with open(f"/proc/{pid}/status", "rb") as file:
        fields = dict(line.split(b":", 1) for line in file.read().splitlines() if b":" in line)
    # Older kernels report only whether there are filters.
    filters = int(fields.get(b"Seccomp_filters", fields.get(b"Seccomp", b"0")))
    return _Confinement(namespaces, int(fields.get(b"NoNewPrivs", b"0")), filters)
