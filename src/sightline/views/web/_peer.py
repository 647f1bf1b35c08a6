"""Which user of this machine opened a loopback connection, as the kernel says.

Rules:

- Linux only (netlink, `sock_diag`): one query about exactly one socket, whose cost does not grow with how many there
  are, as reading `/proc/net/tcp` does. Where it fails, the user is unknown and the token alone decides.
- Through `ssh -L` the other end is the sshd of the user who signed in, which runs as that user, or root.
"""

import os
import socket
import struct
import sys

_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_NLM_F_REQUEST = 1
_ALL_STATES = 0xFFFFFFFF
_NO_COOKIE = b"\xff" * 8

_HEADER = struct.Struct("=IHHII")  # struct nlmsghdr
_REQUEST = struct.Struct("=BBBBI")  # struct inet_diag_req_v2 up to its socket
_SOCKET = struct.Struct("!HH4s12x4s12x")  # struct inet_diag_sockid up to its interface
_UID_AT = _HEADER.size + 4 + _SOCKET.size + 4 + 8 + 4 * 3  # in struct inet_diag_msg

Address = tuple[str, int]


def may_connect(uid: int | None) -> bool:
    """Whether a connection of this user is accepted: the user's own, root's, and one of an unknown user."""
    behind_sudo = os.environ.get("SUDO_UID", "") if os.geteuid() == 0 else ""
    return uid is None or uid in (os.geteuid(), 0) or str(uid) == behind_sudo


def owner_of(peer: Address, here: Address) -> int | None:
    """The user whose socket is connected from `peer` to `here`, both IPv4; None where that cannot be found out."""
    if sys.platform != "linux":
        return None
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG) as netlink:
            netlink.setblocking(False)  # the kernel answers within the call
            netlink.send(_question(peer, here))
            answer = netlink.recv(4096)
    except OSError:
        return None
    kind = _HEADER.unpack_from(answer)[1] if len(answer) >= _HEADER.size else 0
    if kind != _SOCK_DIAG_BY_FAMILY or len(answer) < _UID_AT + 4:
        return None  # the other end is closed already, or the kernel has no such answers
    return int.from_bytes(answer[_UID_AT : _UID_AT + 4], sys.byteorder)


def _question(peer: Address, here: Address) -> bytes:
    which = _SOCKET.pack(peer[1], here[1], socket.inet_aton(peer[0]), socket.inet_aton(here[0]))
    about = _REQUEST.pack(socket.AF_INET, socket.IPPROTO_TCP, 0, 0, _ALL_STATES)
    body = about + which + bytes(4) + _NO_COOKIE  # on any interface
    size = _HEADER.size + len(body)
    return _HEADER.pack(size, _SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST, 1, 0) + body
