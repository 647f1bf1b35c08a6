"""The system calls that a sandboxed command does not have, tried with the filter that it gets."""

import ctypes
import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sightline.exec.sandbox import _landlock, _seccomp

FILTERS = Path(_seccomp.__file__).with_name("filters")

pytestmark = pytest.mark.skipif(not _seccomp.filter_file(network=True), reason="no filter for this machine")


def test_the_files_are_what_the_rules_say(tmp_path):
    """They are written by `python -m sightline.exec.sandbox._seccomp`."""
    _seccomp.write_filters(tmp_path)
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert made == {path.name: path.read_bytes() for path in FILTERS.iterdir()}
    assert all(len(code) % 8 == 0 for code in made.values())


def filtered(code: str, *, network: bool) -> str:
    """What Python code prints behind the filter."""
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); import _landlock as it\n"
        "it._checked(it._libc().prctl(38, 1, 0, 0, 0)); it.filter_calls(sys.argv[2])\n"
        "import ctypes, errno, os, socket, struct\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "def call(*numbers):\n"
        "    done = libc.syscall(*map(ctypes.c_long, numbers))\n"
        "    return errno.errorcode.get(ctypes.get_errno(), '?') if done < 0 else 'done'\n"
    )
    file = _seccomp.filter_file(network=network)
    argv = [sys.executable, "-c", program + code, os.path.dirname(_landlock.__file__), file]
    return subprocess.run(argv, capture_output=True, text=True, check=True, timeout=90).stdout.strip()


@pytest.mark.parametrize(
    ("family", "network", "local"),
    [(1, True, True), (16, True, True), (2, True, False), (10, True, False), (17, False, False), (40, False, False)],
)
def test_families_of_sockets(family, network, local):
    """Unix and netlink always, the internet with network, no other. Higher bits of the number change nothing."""
    socket = _seccomp._MACHINES[os.uname().machine][0].socket
    kind = {1: 1, 16: 3}.get(family, 2)
    for number in (family, family | 7 << 32):
        code = f"print(call({socket}, {number}, {kind}, 0))"
        assert (filtered(code, network=True) == "done") == network
        assert (filtered(code, network=False) == "done") == local


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="numbers of this machine")
@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("425, 8, 0", "ENOSYS"),  # io_uring_setup
        ("250, 0, -3, 0", "EPERM"),  # keyctl(KEYCTL_GET_KEYRING_ID, session)
        ("248, 0, 0, 0, 0, -3", "EPERM"),  # add_key
        ("249, 0, 0, 0, -3", "EPERM"),  # request_key
        ("16, 0, 0x5412, 0", "EPERM"),  # ioctl(TIOCSTI)
        ("16, 0, 0x541C, 0", "EPERM"),  # ioctl(TIOCLINUX)
        ("16, 0, 0x5412 | 5 << 32, 0", "EPERM"),  # the kernel looks at the lower half, so does the filter
        ("160, 10, 0", "EPERM"),  # setrlimit(RLIMIT_LOCKS)
        ("302, 0, 10, 4096, 0", "EPERM"),  # prlimit64(RLIMIT_LOCKS), a new value
        ("302, 0, 10, 1 << 40, 0", "EPERM"),
        ("302, 0, 10, 0, 0", "done"),  # and none
        ("302, 0, 7, 0, 0", "done"),
        ("302, 0, 7, 4096, 0", "EFAULT"),  # prlimit64(RLIMIT_NOFILE) of the caller is the kernel's to judge
        ("302, 1, 0, 4096, 0", "EPERM"),  # of another process: a new limit of CPU time would end it
        ("302, 1, 0, 1 << 40, 0", "EPERM"),
        ("302, os.getppid(), 0, 0, 0", "done"),  # and none
        ("435, 0, 0", "ENOSYS"),  # clone3: its flags cannot be looked at
        ("272, 0x02000000", "EPERM"),  # unshare(CLONE_NEWCGROUP)
        ("272, 0x12020000", "EPERM"),  # with a user and a mount namespace
        ("272, 0", "done"),
        ("56, 0x02000011, 0, 0, 0, 0", "EPERM"),  # clone
        ("39", "done"),  # getpid
        ("0x40000000 + 39", "ENOSYS"),  # the same for programs with short pointers
        ("0x40000000 + 41, 2, 1, 0", "ENOSYS"),
    ],
)
def test_calls_that_are_refused(call, said):
    """And others, or with other arguments, that are not."""
    assert filtered(f"print(call({call}))", network=True) == said


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="only there programs may switch")
def test_calls_of_32_bit_programs_are_refused_as_well():
    """Made by a 64-bit program with the old instruction: socket, socketcall and keyctl of i386."""
    code = (
        "import mmap\n"
        "# push rbx; mov eax, edi; mov ebx, esi; mov ecx, edx; xor edx, edx; int 0x80; pop rbx; ret\n"
        "machine = bytes.fromhex('53' '89f8' '89f3' '89d1' '31d2' 'cd80' '5b' 'c3')\n"
        "page = mmap.mmap(-1, 4096, prot=7); page.write(machine)\n"
        "old = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int)(\n"
        "    ctypes.addressof(ctypes.c_char.from_buffer(page)))\n"
        "print(old(20, 0, 0) > 0, old(359, 2, 1), old(102, 1, 0), old(288, 0, 0), old(425, 8, 0))\n"
    )
    expected = f"True {-errno.EACCES} {-errno.EACCES} {-errno.EPERM} {-errno.ENOSYS}"
    assert filtered(code, network=False) == expected


def test_threads_and_programs_start_without_the_call_that_is_missing():
    """Whoever knows clone3 knows what to do without."""
    code = (
        "import threading, subprocess; thread = threading.Thread(target=print, args=('thread',), daemon=True)\n"
        "thread.start(); thread.join(); sys.stdout.flush(); subprocess.run(['echo', 'program'])\n"
        "os.waitpid(os.posix_spawn('/bin/echo', ['echo', 'spawned'], {}), 0)"
    )
    assert filtered(code, network=True).split() == ["thread", "program", "spawned"]


def test_a_filter_stays_for_what_is_started():
    """No program can take it off again."""
    code = "os.execv('/usr/bin/env', ['env', 'grep', 'Seccomp:', '/proc/self/status'])"
    assert filtered(code, network=True).split() == ["Seccomp:", "2"]


def test_the_size_of_a_pointer_is_what_the_structure_says():
    """Its layout is the kernel's."""
    assert ctypes.sizeof(_landlock._Filter) == 2 * ctypes.sizeof(ctypes.c_void_p)
