"""Messages on a host's socket: each line is answered or ends the connection, and the host goes on."""

import asyncio
import os
import shutil
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from sightline.testing.fuzz._mutation import mutated, text_of
from sightline.testing.fuzz._target import Unsound, hold

_SECONDS_TO_ANSWER = 30.0
# None of these runs a command or ends the session, whatever is changed about them.
_SAMPLES: list[bytes] = [
    b'{"kind":"subscribe"}',
    b'{"kind":"subscribe","after":0,"attends":true,"in_parts":true}',
    b'{"kind":"subscribe","after":99999999999999999999}',
    b'{"kind":"submit","ref":7,"command":{"kind":"cancel","id":"zzzzzz-1","force":true}}',
    b'{"kind":"submit","ref":1,"command":{"kind":"prompt","text":"hello","how":"steer","attachments":["artifact://x"]}}',
    b'{"kind":"submit","ref":2,"command":{"kind":"attach","name":"../../x.png","data":"aGVsbG8="}}',
    b'{"kind":"submit","ref":3,"command":{"kind":"unqueue"}}',
    b'{"kind":"submit","ref":4,"command":{"kind":"answer","id":"request-1","answer":{"choice":"once"}}}',
    b'{"kind":"submit","ref":5,"command":{"kind":"abort"}}',
    b'{"kind":"submit","ref":6,"command":{"kind":"outline"}}',
    b'{"kind":"submit","ref":6,"command":{"kind":"move","target":"x"}}',
    b'{"kind":"submit","ref":6,"command":{"kind":"invoke","name":"x","args":"y"}}',
    b'{"kind":"submit","command":{"kind":"nothing"}}',
    b"[" * 5000,
    b'{"kind":"submit","command":' + b'{"a":' * 3000,
    b'{"kind":"submit","ref":4,"command":{"kind":"answer","id":"r","answer":' + b"[" * 900 + b"]" * 900 + b"}}",
    b"null", b"", b"\xff\xfe", b"\0" * 100, b'"', b"1e999", b'{"kind":"hello"}',
]  # fmt: skip


class SocketMessages:
    """Against the real server of a real session, in this process."""

    name = "socket"

    def open(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="sightline-fuzz-"))
        os.environ["SIGHTLINE_HOME"] = str(self._folder)
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(self._broken)
        self._problems: list[str] = []
        self._stack = AsyncExitStack()
        self._loop.run_until_complete(self._host())

    def close(self) -> None:
        self._loop.run_until_complete(self._stack.aclose())
        self._loop.close()
        shutil.rmtree(self._folder)

    def make(self, random: Random) -> tuple[bytes, ...]:
        return tuple(_line(random) for _ in range(random.choice((1, 1, 2, 5))))

    def check(self, given: tuple[bytes, ...]) -> None:
        self._loop.run_until_complete(asyncio.wait_for(self._exchange(given), _SECONDS_TO_ANSWER))
        if self._problems:
            raise Unsound(self._problems.pop(0))

    async def _host(self) -> None:
        from sightline.host import hosting
        from sightline.journal import Store

        session = await self._stack.enter_async_context(hosting(Store(self._folder), cwd=str(self._folder)))
        self._session = session.id

    async def _exchange(self, lines: tuple[bytes, ...]) -> None:
        from sightline.host import connect
        from sightline.host.socket._runtime import socket_path

        reader, writer = await asyncio.open_unix_connection(socket_path(self._session))
        try:
            hold((await reader.readline()).startswith(b'{"kind":"hello"'), "no hello")
            writer.write(b"".join(line + b"\n" for line in lines))
            if random_end(lines):
                writer.write_eof()
            await writer.drain()
            writer.write(b'{"kind":"submit","ref":424242,"command":{"kind":"unqueue"}}\n') if not random_end(
                lines
            ) else None
            while said := await reader.readline():
                answer = msgspec.json.decode(said)
                if isinstance(answer, dict) and answer.get("ref") == 424242:
                    break
        except ConnectionError:
            pass
        finally:
            writer.close()
        client = await connect(self._session)  # the host goes on
        client.close()

    def _broken(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        self._problems.append(f"{context.get('message')}: {context.get('exception')!r}")


def random_end(lines: tuple[bytes, ...]) -> bool:
    """Whether the other side leaves without waiting; decided by the input, so that it is replayed."""
    return len(b"".join(lines)) % 3 == 0


def _line(random: Random) -> bytes:
    line = random.choice(_SAMPLES)
    if random.random() < 0.7:
        line = mutated(random, line, _SAMPLES)
    if random.random() < 0.1:
        line = msgspec.json.encode(
            {
                "kind": "submit",
                "command": {"kind": "prompt", "text": text_of(random).encode("utf-8", "replace").decode()},
            }
        )
    return line.replace(b"\n", b" ")
