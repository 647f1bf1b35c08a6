"""A network namespace that no process lives in: loopback, a listening socket of ours, nothing else.

This file is also a program, started with nothing of the package (`python -I -S _namespace.py DESCRIPTOR`): a process
that has threads cannot enter a user namespace, and ours has some.

Rules of the kernel's:

- A socket stays in the namespace it was made in, whatever process holds it. So the helper makes the listener, sends it
  to us and ends; we accept on it where we are, and no process has to relay anything.
- A namespace lives as long as something refers to it: our descriptors do.
- Entering a network namespace needs rights over the user namespace that owns it. Root has them. Anyone else gets them
  by entering that user namespace first, and loses them again with the next program that is started.
- The listener is on every loopback address (127.0.0.0/8): which one a client used identifies the command.
"""

import os
import socket
import sys

_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 1
_BACKLOG = 128
_SECONDS = 10.0
_LONGEST_MESSAGE = 500


class NoNamespace(Exception):
    """There is none to be had here; the message has the reason."""


class Namespace:
    """Descriptors that keep one alive. `user` is -1 where entering needs no user namespace."""

    def __init__(self, listener: socket.socket, network: int, user: int) -> None:
        self.listener = listener
        self._network = network
        self._user = user

    @property
    def port(self) -> int:
        port: int = self.listener.getsockname()[1]
        return port

    def entering(self, nsenter: str) -> tuple[str, ...]:
        """What to put before a command line. The namespaces are named by our own descriptors, which the command does
        not inherit: `nsenter` opens them and closes them again."""
        ours = f"/proc/{os.getpid()}/fd"
        user = ("--preserve-credentials", f"--user={ours}/{self._user}") if self._user >= 0 else ()
        return (nsenter, *user, f"--net={ours}/{self._network}", "--")

    def close(self) -> None:
        self.listener.close()
        for descriptor in (self._network, self._user):
            if descriptor >= 0:
                os.close(descriptor)
        self._network = self._user = -1


def create() -> Namespace:
    """Takes as long as Python takes to start. NoNamespace when the system does not let us."""
    import subprocess

    from sightline.exec.sandbox._launching import bare_environment

    ours, its = socket.socketpair()
    with ours, its:
        ours.settimeout(_SECONDS)
        argv = [sys.executable, "-I", "-S", __file__, str(its.fileno())]
        try:
            helper = subprocess.Popen(
                argv,
                env=bare_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[its.fileno()],
                start_new_session=True,
            )
        except OSError as error:
            raise NoNamespace(f"its helper cannot be started: {error.strerror}") from error
        its.close()
        try:
            message, descriptors, _, _ = socket.recv_fds(ours, _LONGEST_MESSAGE, 3, socket.MSG_CMSG_CLOEXEC)
        except OSError as error:
            helper.kill()
            raise NoNamespace(f"its helper does not answer: {error}") from error
        finally:
            helper.wait()
    if len(descriptors) < 2:
        for descriptor in descriptors:
            os.close(descriptor)
        raise NoNamespace(message.decode(errors="replace") or "its helper ended early")
    listener, network, *user = descriptors
    return Namespace(socket.socket(fileno=listener), network, user[0] if user else -1)


def _main(descriptor: int) -> int:
    with socket.socket(fileno=descriptor) as channel:
        try:
            found = _made()
        except OSError as error:
            channel.sendall(str(error).encode()[:_LONGEST_MESSAGE])
            return 1
        socket.send_fds(channel, [b"\0"], found)
    return 0


def _made() -> list[int]:
    owned = _leave()
    _raise_loopback()
    listener = socket.create_server(("0.0.0.0", 0), backlog=_BACKLOG)
    network = os.open("/proc/self/ns/net", os.O_RDONLY)
    user = [os.open("/proc/self/ns/user", os.O_RDONLY)] if owned else []
    return [listener.detach(), network, *user]


def _leave() -> bool:
    """Into namespaces of our own; whether a user namespace is among them."""
    if os.geteuid() == 0:
        try:
            _unshare(_NEW_NETWORK)
        except PermissionError:  # a root without rights over the system, as in a container
            pass
        else:
            return False
    user, group = os.geteuid(), os.getegid()
    _unshare(_NEW_USER | _NEW_NETWORK)
    for name, line in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(line)
    return True


def _unshare(what: int) -> None:
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(what) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _raise_loopback() -> None:
    import fcntl
    import struct

    form = "16sh22x"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        flags = struct.unpack(form, fcntl.ioctl(control, _GET_FLAGS, struct.pack(form, b"lo", 0)))[1]
        fcntl.ioctl(control, _SET_FLAGS, struct.pack(form, b"lo", flags | _UP))


if __name__ == "__main__":
    sys.exit(_main(int(sys.argv[1])))
