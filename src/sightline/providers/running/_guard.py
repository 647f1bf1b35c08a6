"""Ending what we started when we can no longer do it ourselves.

A program that is killed outright gets no chance to end its children, and asking the kernel to do it (a parent-death
signal) needs code between fork and exec. So a shell that waits on a pipe only we hold open stands beside each run: the
pipe closes when we are gone, however we went. The shell then ends the run's first process, its descendants, what is in
its session (where there is no /proc: in its process group), and on Linux also what has the run's mark in its
environment. Out of its reach is only what has left all four: its parent dead, a session and an environment of its own.
"""

import subprocess

from sightline.providers.running import _orphans

# Holds the marks of all the runs a process descends from.
MARK_VARIABLE = "SIGHTLINE_RUN"

# $1 is the first process, whose id is also that of its session, $2 the mark, $3 the seconds between asking and forcing.
# Whoever was found once is remembered: the death of its parent would hide it from the next look. Nobody is asked twice,
# because some programs take the second request for impatience and leave their work undone.
_SCRIPT = r"""
read -r _
session=$1 mark=$2 known=$1
marked() { grep -als -e "$mark" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3; }
everybody() {
    if [ -r /proc/self/stat ]; then
        sed -n 's/^\([0-9]*\) (.*) [A-Za-z] \([0-9]*\) [0-9]* \([0-9]*\) .*/\1 \2 \3/p' /proc/[0-9]*/stat
    else
        ps -A -o pid= -o ppid= -o pgid=
    fi 2>/dev/null
}
living() { for pid in $known; do kill -0 "$pid" 2>/dev/null && echo "$pid"; done; }
look() {
    table=$(everybody)
    new=$(echo $(printf '%s\n' $known $(marked) | sort -u)) known=
    while [ -n "$new" ]; do
        known="$known $new" next=
        while read -r pid parent group; do
            case " $known " in *" $pid "*) continue ;; esac
            case " $new " in *" $parent "*) next="$next $pid"; continue ;; esac
            [ "$group" = "$session" ] && next="$next $pid"
        done <<END
$table
END
        new=$next
    done
}
look
[ -z "$known" ] || kill -s TERM $known 2>/dev/null
for _ in $(seq "$3"); do
    known=$(living)
    look
    [ -n "$known" ] || exit 0
    sleep 1
done
look
kill -s KILL $known 2>/dev/null
"""


class Guard:
    """Watches over one session until it is dismissed."""

    def __init__(self, session: int, mark: str, grace: float) -> None:
        # In a session of its own, so that what ends us (a closed terminal, Ctrl+C) does not end the guard as well.
        self._shell = subprocess.Popen(
            ["/bin/sh", "-c", _SCRIPT, "sightline-guard", str(session), mark, str(max(1, round(grace)))],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        _orphans.helper_started(self._shell.pid)

    def dismiss(self) -> None:
        """The session is over, or we ended it. The shell goes first: it must not see our end of the pipe close."""
        self._shell.kill()
        self._shell.wait()
        _orphans.forget(self._shell.pid)
        if self._shell.stdin is not None:
            self._shell.stdin.close()
