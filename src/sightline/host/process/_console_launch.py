"""Starting the host of a console, before anything else of the console is loaded: nothing may be imported here.

The new process belongs to no terminal. Its answer (which session it hosts, or why it does not) comes through a pipe,
which `host.started` reads.
"""

import os

from sightline._working_folder import environment_for_python, python_words

starting: dict[int, int] = {}  # by the pipe it answers through, the process that has to be waited for


def start_host(options: str, folder: str = "") -> int:
    """Start a host with these options (`StartOptions` as JSON) in `folder` (default: ours); returns the answer pipe."""
    answer, its_end = os.pipe()
    null = os.devnull
    argv = [*python_words("sightline.host.process._console_host"), options]
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, null, os.O_RDWR, 0),
        (os.POSIX_SPAWN_DUP2, its_end, 1),
        (os.POSIX_SPAWN_DUP2, 0, 2),
    ]
    try:
        pid = os.posix_spawn(argv[0], argv, environment_for_python(folder), file_actions=actions, setsid=True)
    except OSError:
        os.close(answer)
        raise
    finally:
        os.close(its_end)
    starting[answer] = pid
    return answer
