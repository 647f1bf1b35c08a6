"""The network of an agent's sandboxed commands: who is in it, and the proxy that is the only way out.

Rules:

- One namespace for an agent, made with its first sandboxed command. Its commands reach each other over loopback, the
  proxy, and nothing else: no address of the machine, no name server, no abstract socket.
- Which command a connection belongs to is known by the loopback address it came to: each command has its own. (A name
  in the proxy's URL would do too, but many programs send it only after a challenge.) One that came to
  another address is judged all the same.
- What serves connections is imported with the first command.
"""

import asyncio
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from sightline.events import Event, Notice
from sightline.exec.gateway._entrance import Entrance
from sightline.exec.gateway._judge import ConnectionPolicy
from sightline.text import clean_line

if TYPE_CHECKING:
    from sightline.exec.gateway._namespace import Namespace
    from sightline.exec.gateway._proxy import Proxy

_LOOPBACK = "localhost,127.0.0.1,::1"


class Gateway:
    """The network of one agent. Used in its event loop only."""

    def __init__(self, judge: ConnectionPolicy, publish: Callable[[Event], None]) -> None:
        self.problem = ""  # why there is none, after a first attempt
        self._judge = judge
        self._publish = publish
        self._opening: asyncio.Task[None] | None = None
        self._namespace: Namespace | None = None
        self._server: asyncio.Server | None = None
        self._entering: tuple[str, ...] = ()
        self._proxy: Proxy | None = None
        self._entrances: dict[str, Entrance] = {}  # by address
        self._unknown = Entrance("", {}, publish)  # of those who came to another address

    async def enter(self, call: str, args: Mapping[str, object]) -> Entrance | None:
        """For one command of this call. None where the system does not allow it: `problem` has the reason."""
        if self._opening is None:
            self._opening = asyncio.create_task(self._open())
        await asyncio.shield(self._opening)  # for all that come after it, too
        if self._namespace is None or self._server is None:
            return None
        address = self._new_address()
        entrance = Entrance(
            call,
            args,
            self._publish,
            argv=self._entering,
            env=_environment(f"http://{address}:{self._namespace.port}"),
            on_leave=lambda: self._forget(address),
        )
        self._entrances[address] = entrance
        return entrance

    async def close(self) -> None:
        if self._opening is not None:
            await asyncio.wait({self._opening})
        for entrance in [*self._entrances.values(), self._unknown]:
            entrance.leave()
        if self._proxy is not None:
            self._proxy.close()
        if self._server is not None:
            self._server.close()
        if self._namespace is not None:
            self._namespace.close()
        self._server = self._namespace = None
        self.problem = self.problem or "the session has ended"

    async def _open(self) -> None:
        from sightline.exec.gateway._namespace import NoNamespace
        from sightline.exec.gateway._proxy import Proxy
        from sightline.exec.gateway._requests import HEAD_AT_MOST

        try:
            namespace, self._entering = await asyncio.to_thread(_opened)
        except NoNamespace as problem:
            self.problem = str(problem)
            text = f"sandboxed commands have no network here, not even to allowed hosts: {problem}"
            self._publish(Notice(clean_line(text)))
            return
        self._namespace = namespace
        self._proxy = Proxy(self._judge, lambda address: self._entrances.get(address, self._unknown))
        self._server = await asyncio.start_server(self._proxy.serve, sock=namespace.listener, limit=HEAD_AT_MOST)

    def _new_address(self) -> str:
        while True:
            first, second, third = os.urandom(3)
            address = f"127.{first}.{second}.{third}"
            if first and 0 < third < 255 and address not in self._entrances:
                return address

    def _forget(self, address: str) -> None:
        self._entrances.pop(address, None)


def gateway_problem() -> str:
    """Why hosts cannot be allowed one by one on this machine; nothing when they can. Tried, which takes a while."""
    from sightline.exec.gateway._namespace import NoNamespace

    try:
        namespace, _ = _opened()
    except NoNamespace as problem:
        return str(problem)
    namespace.close()
    return ""


def _opened() -> "tuple[Namespace, tuple[str, ...]]":
    """A namespace, and the words that start a command in it: tried once, with bubblewrap."""
    from sightline.exec.gateway._namespace import NoNamespace, create
    from sightline.exec.sandbox import _bubblewrap
    from sightline.exec.sandbox._programs import UntrustedProgram, find_program

    try:
        nsenter = find_program("nsenter")
    except UntrustedProgram as refused:
        raise NoNamespace(refused.message) from None
    if nsenter is None:
        raise NoNamespace("nsenter (of util-linux) is not installed")
    namespace = create()
    words = namespace.entering(nsenter)
    problem = _bubblewrap.problem(entering=words)
    if problem is not None:
        namespace.close()
        raise NoNamespace(problem.text)
    return namespace, words


def _environment(proxy: str) -> dict[str, str]:
    """What programs look for. SOCKS is answered too, but not offered in `ALL_PROXY`: libraries that cannot speak it
    fail at their start when they see it there, whatever they were going to do."""
    both = {"HTTP_PROXY": proxy, "HTTPS_PROXY": proxy, "ALL_PROXY": proxy, "NO_PROXY": _LOOPBACK}
    return {**both, **{name.lower(): value for name, value in both.items()}, "NODE_USE_ENV_PROXY": "1"}
