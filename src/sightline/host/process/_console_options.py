"""Starting a host with an agent in it, and reading its answer."""

import asyncio
import os

import msgspec

from sightline.exceptions import OutsideFailure, UserMistake
from sightline.host.process._console_launch import start_host, starting
from sightline.settings import StartOptions

_SECONDS_TO_START = 30.0


class HostAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """The one line a starting host writes: it can be connected to, or why not."""

    session: str = ""
    pid: int = 0
    error: str = ""
    hint: str = ""
    mistake: bool = False  # a mistake of the user


async def launch_agent(options: StartOptions) -> str:
    """Start a host with an agent in it. The session's id, once it can be connected to; else a SightlineError."""
    return await started(start_host(msgspec.json.encode(options).decode(), options.cwd))


async def started(answer: int) -> str:
    """The session of a host that was started with `start_host`; as `launch_agent`."""
    try:
        reply = await _read(answer)
    finally:
        await asyncio.to_thread(_reap, starting.pop(answer, 0))
    if reply.error:
        raise (UserMistake if reply.mistake else OutsideFailure)(reply.error, reply.hint)
    return reply.session


async def _read(answer: int) -> HostAnswer:
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    pipe = os.fdopen(answer, "rb", buffering=0)
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    try:
        async with asyncio.timeout(_SECONDS_TO_START):
            line = await reader.readline()
        return msgspec.json.decode(line, type=HostAnswer)
    except TimeoutError:
        what = f"the session did not start within {_SECONDS_TO_START:.0f} seconds"
        raise OutsideFailure(what, "the machine is very busy: try again") from None
    except msgspec.MsgspecError:
        raise OutsideFailure("the session ended while it was starting", "try again") from None
    finally:
        transport.close()


def _reap(pid: int) -> None:
    """What the host was forked from is gone at once; a process that is not waited for would stay as a zombie."""
    try:
        if pid:
            os.waitpid(pid, 0)
    except ChildProcessError:
        pass
