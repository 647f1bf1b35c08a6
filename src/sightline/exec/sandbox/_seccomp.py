"""The system calls that a sandboxed command does not have: the ways out that neither mounts nor Landlock can close.

    python -m sightline.exec.sandbox._seccomp       writes the files in `filters/` anew

A filter is a program for the kernel, the same for every command, and is read from a file by what starts one:
bubblewrap, and the little program in `_landlock`, which loads nothing else.

Rules:

- Sockets: only of the families that programs use. Virtual machines, Bluetooth and raw packets have no namespaces that
  would hold them. Without network only what stays on the machine: Landlock knows no UDP, and of TCP not all.
- io_uring makes sockets without a call that is seen here, so there is none.
- The kernel's keyrings hold tickets and keys of the whole login.
- What types into a terminal (TIOCSTI, TIOCLINUX).
- Limits of other processes: a limit of CPU time is a signal by the kernel's hand, and neither Landlock nor a missing
  permission stops a command from setting it for any program of the same user.
- Namespaces of control groups. In one, a process with a user namespace mounts the groups anew and may write to all that
  belong to the same user, also to stop or end programs outside. The call that hides its flags (clone3) is said not to
  exist, so that programs use the older one. User namespaces stay: browsers need them for their own sandbox.
- Changing the limit that carries a command's mark (see `_marks`): by it all its processes are found in the end.
- All others are allowed. Programs for another machine that the kernel runs as well are held by the same rules or have
  no system calls at all, because a process may switch between the two.
"""

import os
import struct
import sys
from pathlib import Path

import msgspec

_FOLDER = Path(__file__).with_name("filters")

_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000
_EPERM, _EACCES, _ENOSYS = 1, 13, 38
_NUMBER, _MACHINE, _ARGUMENTS = 0, 4, 16

_LOCAL = (1, 16)  # Unix, netlink
_NETWORK = (*_LOCAL, 2, 10)  # IPv4, IPv6
_TYPING = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX
_MARK_LIMIT = 10  # RLIMIT_LOCKS
_IO_URING = (425, 426, 427)  # everywhere
_CLONE3 = 435  # everywhere
_NEW_CONTROL_GROUPS = 0x02000000

Code = list[tuple[int, int, int, int]]


class _Machine(msgspec.Struct, frozen=True, kw_only=True):
    """How the kernel names it, and the numbers of its system calls."""

    audit: int
    socket: int
    ioctl: int
    keys: tuple[int, ...]
    set_limit: int
    set_any_limit: int
    namespaces: tuple[int, ...]  # calls whose first argument has flags for new ones
    other_sockets: tuple[int, ...] = ()  # calls whose arguments cannot be looked at
    unknown_from: int = 0  # numbers of another kind of program


_X86_64 = _Machine(
    audit=0xC000003E,
    socket=41,
    ioctl=16,
    keys=(248, 249, 250),
    set_limit=160,
    set_any_limit=302,
    namespaces=(56, 272),
    unknown_from=0x40000000,
)
_I386 = _Machine(
    audit=0x40000003,
    socket=359,
    ioctl=54,
    keys=(286, 287, 288),
    set_limit=75,
    set_any_limit=340,
    namespaces=(120, 310),
    other_sockets=(102,),
)
_AARCH64 = _Machine(
    audit=0xC00000B7,
    socket=198,
    ioctl=29,
    keys=(217, 218, 219),
    set_limit=164,
    set_any_limit=261,
    namespaces=(220, 97),
)
_MACHINES = {
    "x86_64": (_X86_64, _I386),
    "aarch64": (_AARCH64,),
}


def filter_file(*, network: bool) -> str:
    """The file to hand to what starts a command; nothing on a machine whose calls we do not know."""
    machine = os.uname().machine
    return str(_FOLDER / f"{machine}-{'network' if network else 'local'}.bpf") if machine in _MACHINES else ""


def program(machine: str, *, network: bool) -> bytes:
    """A filter as the kernel reads it."""
    code: Code = [(_LOAD, 0, 0, _MACHINE)]
    for each in _MACHINES[machine]:
        rules = _rules(each, _NETWORK if network else _LOCAL)
        # A jump reaches 255 instructions; these are fewer.
        code += [(_IF_EQUAL, 0, len(rules), each.audit), *rules]
    code += _fail(_ENOSYS)
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in code)


def _rules(machine: _Machine, families: tuple[int, ...]) -> Code:
    code: Code = [(_LOAD, 0, 0, _NUMBER)]
    if machine.unknown_from:
        code += [(_IF_AT_LEAST, 0, 1, machine.unknown_from), *_fail(_ENOSYS)]
    code += _call(machine.socket, _only(families, _EACCES))
    code += _call(machine.ioctl, _none_of(1, _TYPING))
    code += _call(machine.set_limit, _none_of(0, (_MARK_LIMIT,)))
    code += _call(machine.set_any_limit, _unless_reading())
    for number in machine.namespaces:
        code += _call(number, _without(_NEW_CONTROL_GROUPS))
    for number in machine.other_sockets:
        code += _call(number, _fail(_EACCES))
    for number in machine.keys:
        code += _call(number, _fail(_EPERM))
    for number in (*_IO_URING, _CLONE3):
        code += _call(number, _fail(_ENOSYS))
    return [*code, (_RETURN, 0, 0, _ALLOW)]


def _call(number: int, then: Code) -> Code:
    """`then` decides about this call; it always returns."""
    return [(_IF_EQUAL, 0, len(then), number), *then]


def _fail(error: int) -> Code:
    return [(_RETURN, 0, 0, _FAIL | error)]


def _only(values: tuple[int, ...], error: int) -> Code:
    """The first argument is one of these. The kernel, too, looks only at its lower half."""
    tests: Code = [(_IF_EQUAL, len(values) - at, 0, value) for at, value in enumerate(values)]
    return [_argument(0), *tests, *_fail(error), (_RETURN, 0, 0, _ALLOW)]


def _none_of(argument: int, values: tuple[int, ...]) -> Code:
    tests: Code = [(_IF_EQUAL, len(values) - at, 0, value) for at, value in enumerate(values)]
    return [_argument(argument), *tests, (_RETURN, 0, 0, _ALLOW), *_fail(_EPERM)]


def _without(flag: int) -> Code:
    return [_argument(0), (_IF_ANY_BIT, 1, 0, flag), (_RETURN, 0, 0, _ALLOW), *_fail(_EPERM)]


def _unless_reading() -> Code:
    """A limit of the caller's (process 0) that is not the mark's, or no new value: both halves of the pointer are zero.
    A caller that names itself by its number is refused, too: a filter does not know who calls."""
    return [
        _argument(0),
        (_IF_EQUAL, 0, 2, 0),
        _argument(1),
        (_IF_EQUAL, 0, 4, _MARK_LIMIT),
        _argument(2),
        (_IF_EQUAL, 0, 3, 0),
        _argument(2, upper=True),
        (_IF_EQUAL, 0, 1, 0),
        (_RETURN, 0, 0, _ALLOW),
        *_fail(_EPERM),
    ]


def _argument(number: int, *, upper: bool = False) -> tuple[int, int, int, int]:
    return (_LOAD, 0, 0, _ARGUMENTS + 8 * number + (4 if upper else 0))


def write_filters(folder: Path) -> None:
    """All of them, one for each machine with and without network."""
    folder.mkdir(exist_ok=True)
    for machine in _MACHINES:
        for name, network in (("network", True), ("local", False)):
            (folder / f"{machine}-{name}.bpf").write_bytes(program(machine, network=network))


if __name__ == "__main__":
    write_filters(_FOLDER)
    sys.exit(0)
