"""Ending what we started when we can no longer do it ourselves.

A program that is killed outright gets no chance to end its children, and asking the kernel to do it (a parent-death
signal) needs code between fork and exec. So a shell that waits on a pipe only we hold open stands beside the program,
one for all its runs, while there are any: the pipe closes when we are gone, however we went. The shell reads from the
same pipe which runs there are: `+ mark limit` before a run is started, because we can be killed before we know its
first process; `+ mark limit pid` once we do; `- mark`. When it closes, the shell ends each run's first process, its
descendants, what is in its session (where there is no /proc: in its process group), and on Linux also what has the
run's mark in its environment or as its limit. Out of its reach is only what has left all five: its parent dead, a
session, an environment and a limit of its own.
"""

import contextlib
import os
import subprocess
from collections.abc import Iterator

from sightline.exec.process import _orphans
from sightline.exec.sandbox import _programs

# $1 is the seconds between SIGTERM and SIGKILL, $2 our process id: we have the limit of a run while that is started,
# and killed in that moment would look like one of its processes, and so would all our children, this shell with them.
# The id of a run's first process is also that of its session. A process found once is remembered: the death of its
# parent would hide it from the next look. None gets SIGTERM twice, because some programs take the second for impatience
# and leave their work undone. Whose line it is is known by the name of its file: a process chooses its own name, which
# may have a line break in it and the number of another after that.
_SCRIPT = r"""
program=$2 runs=
without() { for run in $runs; do [ "${run%%:*}" = "$1" ] || printf '%s ' "$run"; done; }
while read -r what mark limit pid; do
    case $what in
        +) runs="$runs $mark:$limit:$pid" ;;
        -) runs=$(without "$mark") ;;
    esac
done
sessions= marks= limits=
for run in $runs; do
    rest=${run#*:}
    marks="$marks -e ${run%%:*}" limits="$limits ${rest%%:*}" sessions="$sessions ${rest#*:}"
done
[ -n "$runs" ] || exit 0
known=$sessions
marked() {
    grep -als $marks /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3
    grep -s '^Max file locks' /proc/[0-9]*/limits | while read -r file _ _ limit _; do
        case " $limits " in *" $limit "*) file=${file#/proc/}; echo "${file%%/*}" ;; esac
    done
}
everybody() {
    if [ -r /proc/self/stat ]; then
        grep -asH '' /proc/[0-9]*/stat |
            sed -n 's,^/proc/\([0-9]*\)/stat:.*) [A-Za-z] \([0-9]*\) [0-9]* \([0-9]*\) .*,\1 \2 \3,p'
    else
        ps -A -o pid= -o ppid= -o pgid=
    fi 2>/dev/null
}
living() { for pid in $known; do kill -0 "$pid" 2>/dev/null && echo "$pid"; done; }
look() {
    table=$(everybody)
    new= listed=$known known=
    for pid in $listed $(marked); do
        case " $$ $program $new " in *" $pid "*) ;; *) new="$new $pid" ;; esac
    done
    while [ -n "$new" ]; do
        known="$known $new" next=
        while read -r pid parent group; do
            case " $$ $program $known " in *" $pid "*) continue ;; esac
            case " $new " in *" $parent "*) next="$next $pid"; continue ;; esac
            case " $sessions " in *" $group "*) next="$next $pid" ;; esac
        done <<END
$table
END
        new=$next
    done
}
look
[ -z "$known" ] || kill -s TERM $known 2>/dev/null
for _ in $(seq "$1"); do
    known=$(living)
    look
    [ -n "$known" ] || exit 0
    sleep 1
done
look
kill -s KILL $known 2>/dev/null
"""

_GRACE = 5

_watched: dict[str, str] = {}  # by their marks: the line that was sent for them
_shell: "subprocess.Popen[bytes] | None" = None
_owner = 0


@contextlib.contextmanager
def starting(mark: str) -> Iterator[None]:
    """What is started inside ends with us from its first moment, where there is room for a guard."""
    _watch(mark, f"+ {mark} {int(mark, 16)}\n")
    try:
        yield
    except BaseException:
        unwatch(mark)
        raise


def watch(mark: str, pid: int) -> None:
    """It has started, and this is its first process."""
    _watch(mark, f"+ {mark} {int(mark, 16)} {pid}\n")


def unwatch(mark: str) -> None:
    """The run is over, or we ended it."""
    _start_anew_after_fork()
    if _watched.pop(mark, None) is None:
        return
    if not _watched:
        _dismiss()
    elif not _send_line(f"- {mark}\n"):
        _start()


def _watch(mark: str, line: str) -> None:
    _start_anew_after_fork()
    _watched[mark] = line
    if _shell is None or not _send_line(line):
        _start()


def _send_line(line: str) -> bool:
    try:
        assert _shell is not None
        assert _shell.stdin is not None
        os.write(_shell.stdin.fileno(), line.encode())
    except (OSError, AssertionError):  # it was killed
        return False
    return True


def _start() -> None:
    global _shell
    _dismiss()
    with contextlib.suppress(OSError):
        # In a session of its own, so that what ends us (a closed terminal, Ctrl+C) does not end the guard as well.
        _shell = subprocess.Popen(
            ["/bin/sh", "-c", _SCRIPT, "sightline-guard", str(_GRACE), str(os.getpid())],
            env={"PATH": _programs.trusted_path()},  # it calls programs by name, outside the sandbox
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        _orphans.helper_started(_shell.pid)
        _send_line("".join(_watched.values()))


def _dismiss() -> None:
    """The shell goes first: it must not see our end of the pipe close."""
    global _shell
    shell, _shell = _shell, None
    if shell is None:
        return
    shell.kill()
    shell.wait()
    _orphans.forget(shell.pid)
    if shell.stdin is not None:
        shell.stdin.close()


def _start_anew_after_fork() -> None:
    """A program that was forked has runs and a guard of its own; those it was born with are its parent's."""
    global _shell, _owner
    if _owner != os.getpid():
        if _shell is not None and _shell.stdin is not None:
            _shell.stdin.close()
            _shell.returncode = 0  # not ours to wait for
        _shell, _owner = None, os.getpid()
        _watched.clear()
