"""Landlock: a process gives up rights, for itself and all it will start, and becomes the command.

This file is also a program, started with nothing of the package (`python -I -S _landlock.py …`), because giving up
rights between fork and exec would mean running Python there, and because it must start fast.

    _landlock.py ENVIRONMENT network|no-network FILTER WRITABLE… -- COMMAND…

ENVIRONMENT is the descriptor the command's environment is read from (`_launching.Handover`): its libraries and modules
must not be loaded here. FILTER is a file of `_seccomp`, or empty where there is none for this machine.

Rules of the kernel's:

- Only the rights a ruleset names are refused, except below the paths it allows. We name every right to change
  something, and the right to read files, which is allowed for all but the devices.
- Which rights exist depends on the kernel's ABI; naming one it does not know is an error. 2: moving between folders.
  3: truncating. 4: TCP. 5: ioctl on devices. 6: abstract sockets and signals to processes outside.
- What is allowed for a folder is allowed for all below it: no part of a writable workspace can be read-only.
- A rule on what is not a folder may only allow rights that make sense for a file.
- Never restricted: changing mode, owner or times of a file, UDP, and connecting to a socket that has a path.

Rules of ours:

- Of devices a command has those that hold nothing, and the terminal it was started on. It cannot open another
  terminal, not even a new one: what allows one allows all of the user's.
- Root keeps its rights over other people's files and no other, as under bubblewrap. A program it starts cannot get
  them back (no_new_privs).
"""

import ctypes
import os
import sys

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_FOR_THE_ABI = 1
_PATH_BENEATH = 1
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _PR_CAP_AMBIENT = 38, 22, 47
_SECCOMP_FILTER, _AMBIENT_CLEAR = 2, 4
_CAPABILITY_VERSION = 0x20080522
_OVER_FILES = 1 << 0 | 1 << 1 | 1 << 3  # CHOWN, DAC_OVERRIDE, FOWNER
_INSTRUCTION = 8

_WRITE_FILE, _READ_FILE, _TRUNCATE, _IOCTL_DEV = 1 << 1, 1 << 2, 1 << 14, 1 << 15
_ON_FILES = _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
# Removing folders and files, and making folders, files, sockets, pipes, links.
_IN_FOLDERS = sum(1 << bit for bit in (4, 5, 7, 8, 9, 10, 12))
_MAKE_DEVICES = 1 << 6 | 1 << 11
_MOVE = 1 << 13
_TCP_BIND_AND_CONNECT = 1 << 0 | 1 << 1
_SCOPES = 1 << 0 | 1 << 1

# What any program may expect to use. `tty` is the terminal a command was started on, if any.
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")


class _Ruleset(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def abi() -> int:
    """Which version of Landlock the kernel has; 0 when it has none or it is switched off."""
    if sys.platform != "linux":
        return 0
    try:
        return _call(_CREATE_RULESET, None, 0, _ASK_FOR_THE_ABI)
    except OSError:
        return 0


def restrict(writable: list[str], *, network: bool, version: int) -> None:
    """From now on this process and its children change only what is below these paths."""
    changes = _changes(version)
    ruleset = _Ruleset(changes | _MAKE_DEVICES | _READ_FILE, 0, _SCOPES)
    if not network:
        ruleset.net = _TCP_BIND_AND_CONNECT
    size = 8 if version < 4 else 16 if version < 6 else 24
    rules = _call(_CREATE_RULESET, ctypes.byref(ruleset), size, 0)
    for path in writable:
        _allow(rules, path, changes | _READ_FILE)
    for name in os.listdir("/"):
        if name != "dev" and os.path.exists(f"/{name}"):
            _allow(rules, f"/{name}", _READ_FILE)
    for path in (*(f"/dev/{name}" for name in _DEVICES), *_own_terminal()):
        if os.path.exists(path):
            _allow(rules, path, (changes | _READ_FILE) & _ON_FILES)
    _checked(_libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    _call(_RESTRICT_SELF, rules, 0)
    os.close(rules)


def give_up_capabilities() -> None:
    """All but root's over files."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; then the same of the upper half
    _checked(_libc().capget(header, sets))
    allowed = _OVER_FILES if os.geteuid() == 0 else 0
    both = sets[1] & allowed
    _checked(_libc().prctl(_PR_CAP_AMBIENT, _AMBIENT_CLEAR, 0, 0, 0))
    _checked(_libc().capset(header, (ctypes.c_uint32 * 6)(both, both, 0, 0, 0, 0)))


def filter_calls(file: str) -> None:
    """Without the system calls that this filter refuses. Needs no_new_privs."""
    with open(file, "rb") as opened:
        code = opened.read()
    program = _Filter(len(code) // _INSTRUCTION, code)
    _checked(_libc().prctl(_PR_SET_SECCOMP, _SECCOMP_FILTER, ctypes.byref(program), 0, 0))


def _own_terminal() -> list[str]:
    return [f"/proc/self/fd/{number}" for number in range(3) if os.isatty(number)]


def _changes(version: int) -> int:
    changes = _WRITE_FILE | _IN_FOLDERS
    for since, right in ((2, _MOVE), (3, _TRUNCATE), (5, _IOCTL_DEV)):
        changes |= right if version >= since else 0
    return changes


def _allow(rules: int, path: str, rights: int) -> None:
    fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not os.path.isdir(path):
            rights &= _ON_FILES
        _call(_ADD_RULE, rules, _PATH_BENEATH, ctypes.byref(_PathBeneath(rights, fd)), 0)
    finally:
        os.close(fd)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _call(number: int, *arguments: object) -> int:
    # The C function takes any number of arguments, each a whole register: a plain int would fill half of one.
    full = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    return _checked(_libc().syscall(ctypes.c_long(number), *full))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def _main(arguments: list[str]) -> int:
    split = arguments.index("--")
    (given, network, filter, *writable), command = arguments[:split], arguments[split + 1 :]
    try:
        environment = _environment(int(given))
        _undo_what_python_did()
        give_up_capabilities()
        restrict(writable, network=network == "network", version=abi())
        if filter:
            filter_calls(filter)
    except (OSError, ValueError) as error:  # never run without it
        return _refuse(126, f"the sandbox could not be set up: {error}")
    try:
        os.execvpe(command[0], command, environment)
    except FileNotFoundError as error:
        return _refuse(127, f"{command[0]}: {error.strerror}")
    except OSError as error:
        return _refuse(126, f"{command[0]}: {error.strerror}")


def _environment(descriptor: int) -> dict[bytes, bytes]:
    """`--setenv`, a name and a value, each ended by a zero byte."""
    with open(descriptor, "rb") as file:
        words = file.read().split(b"\0")
    return dict(zip(words[1::3], words[2::3], strict=False))  # the last ends the last word


def _undo_what_python_did() -> None:
    """It ignores two signals, and what is started would inherit that."""
    import signal

    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)


def _refuse(code: int, why: str) -> int:
    os.write(2, f"sightline: {why}\n".encode(errors="surrogateescape"))
    return code


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
