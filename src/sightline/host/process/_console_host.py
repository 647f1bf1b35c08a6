"""The host of a console: a process of its own, with an agent in it, that starts beside the console and outlives it.

    python -m sightline.host.process._console_host '{"cwd": "…"}'

Rules:

- Its one argument is a `StartOptions`. Its standard output is for one line, a `HostAnswer`: when it can be connected
  to, or when that will not be.
- It forks once, before anything is loaded, and is then detached. It has no terminal and none of the descriptors it
  inherited.
- A request made while no view is attached stays open: the user who detached is still this session's (decision 10).
- A console that started it and is gone before connecting (it was closed while it opened) is not waited for long.
- With no view, no run, no job and no open request it stays for `LINGER` seconds. A session without a message is then
  removed.
"""

import os
import sys

from sightline._working_folder import import_nothing_from_it

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio

    from sightline.host.process._console_options import HostAnswer
    from sightline.host.session._session import HostSession
    from sightline.host.socket._server import SocketServer
    from sightline.settings import StartOptions

_COMES_WITHIN = 10.0


def main() -> None:
    if os.fork():
        os._exit(0)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    ready = os.dup(1)
    os.dup2(0, 1)
    import_nothing_from_it()
    try:
        _be_host(sys.argv[1], ready)
    except BaseException as error:
        _give_up(ready, error)
        os._exit(1)


def _be_host(text: str, ready: int) -> None:
    import asyncio

    import msgspec

    from sightline.settings import StartOptions

    asyncio.run(_host(msgspec.json.decode(text, type=StartOptions), ready))


async def _host(options: "StartOptions", ready: int) -> None:
    import asyncio

    from sightline.host.process._console_options import HostAnswer
    from sightline.host.process._console_session import open_session
    from sightline.host.process._process import remove_empty_log
    from sightline.journal import Store
    from sightline.paths import data_folder

    store = Store(data_folder())
    over = asyncio.Event()
    async with open_session(store, options) as (session, server):
        _stop_when(over, session, server, ready)
        log = os.open(store.folder(session.id) / "host.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        for fd in (1, 2):
            os.dup2(log, fd)
        if not _answer(ready, HostAnswer(session=session.id, pid=os.getpid())):
            over.set()
        await over.wait()
        remove_empty_log(store.folder(session.id))


def _stop_when(over: "asyncio.Event", session: "HostSession", server: "SocketServer", ready: int) -> None:
    """End this process on request, or when it has had nothing to do and no viewer for long enough. `ready` is the pipe
    to the console that started it."""
    import asyncio

    from sightline.host.process._process import LINGER, stop_on_signals, stop_when_idle

    stop_on_signals(over)
    waiting = stop_when_idle(over, session, server, LINGER)
    came: list[bool] = []  # the console that started it, or any view

    def changed() -> None:
        came.append(True)
        waiting.look_again()

    server.on_change = changed
    loop = asyncio.get_running_loop()

    def left() -> None:
        """The console has read the answer, or is gone and will never connect."""
        loop.remove_reader(ready)
        os.dup2(0, ready, inheritable=False)  # not closed: its number would be given to a file that `_answer` writes to
        loop.call_later(_COMES_WITHIN, lambda: None if came or server.connections else over.set())

    loop.add_reader(ready, left)


def _give_up(ready: int, error: BaseException) -> None:
    from sightline.exceptions import SightlineError, UserMistake
    from sightline.host.process._console_options import HostAnswer

    if isinstance(error, SightlineError):
        answer = HostAnswer(error=error.message, hint=error.hint, mistake=isinstance(error, UserMistake))
    else:
        import traceback

        traceback.print_exc()
        what = f"the session could not start: {type(error).__name__}: {str(error)[:500]}"
        answer = HostAnswer(error=what, hint="report it: this is a bug in sightline")
    _answer(ready, answer)


def _answer(ready: int, answer: "HostAnswer") -> bool:
    """False when the console is gone."""
    import msgspec

    try:
        os.write(ready, msgspec.json.encode(answer) + b"\n")
    except OSError:
        return False
    return True


if __name__ == "__main__":
    main()
