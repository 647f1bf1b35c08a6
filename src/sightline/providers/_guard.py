"""Ending what we started when we can no longer do it ourselves.

A program that is killed outright gets no chance to end its children, and asking the kernel to do it (a parent-death
signal) needs code between fork and exec. So a shell that waits on a pipe only we hold open stands beside each run: the
pipe closes when we are gone, however we went, and the shell then ends the run's session, and on Linux also the
processes that left it, which it knows by the mark in their environment.
"""

import subprocess

# Holds the marks of all the runs a process descends from.
MARK_VARIABLE = "SIGHTLINE_RUN"

# $1 is the session, $2 the mark, $3 the seconds between asking and forcing.
_SCRIPT = """
read -r _
strays() { grep -als -e "$2" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3; }
kill -s TERM -- "-$1" $(strays "$@") 2>/dev/null
for _ in $(seq "$3"); do
    kill -0 -- "-$1" 2>/dev/null || [ -n "$(strays "$@")" ] || exit 0
    sleep 1
done
kill -s KILL -- "-$1" $(strays "$@") 2>/dev/null
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

    def dismiss(self) -> None:
        """The session is over, or we ended it. The shell goes first: it must not see our end of the pipe close."""
        self._shell.kill()
        self._shell.wait()
        if self._shell.stdin is not None:
            self._shell.stdin.close()
