"""Passing every byte on, at the pace of whoever reads."""

import asyncio
import fcntl
import hashlib
import os
from collections.abc import Iterator

import pytest

from sightline.exec import OutputForwarder

from .running import Memory, Ran, python, sh

pytestmark = pytest.mark.usefixtures("none_left")


class Pipes:
    """Two pipes, and what was read from them."""

    def __init__(self) -> None:
        self.out, self.out_end = os.pipe()
        self.err, self.err_end = os.pipe()
        self.open = {self.out, self.out_end, self.err, self.err_end}

    def close(self, *descriptors: int) -> None:
        for fd in descriptors or list(self.open):
            self.open.discard(fd)
            os.close(fd)

    async def read_all(self, fd: int) -> bytes:
        def read() -> bytes:
            with open(fd, "rb", closefd=False) as file:
                return file.read()

        return await asyncio.to_thread(read)


@pytest.fixture
def pipes() -> Iterator[Pipes]:
    pipes = Pipes()
    yield pipes
    pipes.close()


async def passed(pipes: Pipes, ran_with) -> tuple[Ran, bytes, bytes]:
    passing = OutputForwarder(pipes.out_end, pipes.err_end)
    reading = [asyncio.create_task(pipes.read_all(fd)) for fd in (pipes.out, pipes.err)]
    ran = await ran_with(passing).run(30)
    assert await passing.close(10)
    pipes.close(pipes.out_end, pipes.err_end)
    out, err = [await each for each in reading]
    return ran, out, err


async def test_each_stream_arrives_byte_for_byte(pipes: Pipes):
    """Escapes, NUL and broken characters too: what is shown is filtered, what is passed on is not."""
    script = r"printf '\033]0;title\007a\000\377'; printf 'err\200' >&2"
    _, out, err = await passed(pipes, lambda passing: sh(script, pass_on=passing))
    assert out == b"\x1b]0;title\x07a\0\xff"
    assert err == b"err\x80"


async def test_a_flood_arrives_whole(pipes: Pipes):
    ran, out, _ = await passed(
        pipes, lambda passing: sh("head -c 20000000 /dev/zero | base64", pass_on=passing, sink=Memory())
    )
    assert hashlib.sha256(out).digest() == hashlib.sha256(ran.sink.data).digest()
    assert len(out) > 20_000_000


async def test_a_reader_that_stops_stops_the_command_and_nothing_is_lost(pipes: Pipes):
    """What waits in between is bounded."""
    passing = OutputForwarder(pipes.out_end, pipes.err_end)
    ran = sh("head -c 20000000 /dev/zero", pass_on=passing, sink=Memory(limit=0))
    running = ran.start()
    sizes: list[int] = []
    async with asyncio.timeout(20):
        while len(sizes) < 20 or len(set(sizes[-20:])) > 1:
            await asyncio.sleep(0.01)
            sizes.append(ran.sink.size)
    assert 0 < ran.sink.size < 5 * 1024 * 1024
    assert not running.done()
    reading = asyncio.create_task(pipes.read_all(pipes.out))
    await running
    assert await passing.close(10)
    pipes.close(pipes.out_end)
    assert await reading == bytes(20_000_000)


async def test_the_end_waits_for_a_slow_reader_but_cancelling_does_not(pipes: Pipes):
    """A command that has ended with its output still in the pipe is not over; one that is cancelled is."""
    passing = OutputForwarder(pipes.out_end, pipes.err_end)
    ran = python("import os\nwhile 1: os.write(1, bytes(65536))", pass_on=passing, sink=Memory(limit=0))
    running = ran.start()
    await ran.until(lambda ran: ran.command._outputs and ran.command._outputs[0].paused)
    ran.command.cancel()
    await running
    assert ran.result.exit_code == 130
    assert not await passing.close(0.05)
    pipes.close(pipes.out)
    assert not await passing.close(5)


async def test_a_reader_that_is_gone_is_told_to_the_owner_once(pipes: Pipes):
    """Who can then end the command; what comes after is thrown away."""
    told: list[int] = []
    passing = OutputForwarder(pipes.out_end, pipes.err_end, on_broken=lambda: (told.append(1), ran.command.cancel()))
    ran = Ran("yes", pass_on=passing, sink=Memory(limit=0))
    running = ran.start()
    await ran.until(lambda ran: ran.sink.size)
    pipes.close(pipes.out)
    await running
    assert passing.broken
    assert told == [1]
    assert passing.offer("stdout", b"more", lambda: None)
    assert not await passing.close(1)


async def test_the_descriptors_stay_as_they_were(pipes: Pipes):
    """Others share them, a shell above all."""
    before = [fcntl.fcntl(fd, fcntl.F_GETFL) for fd in (pipes.out_end, pipes.err_end)]
    passing = OutputForwarder(pipes.out_end, pipes.err_end)
    await sh("echo x; echo y >&2", pass_on=passing).run()
    assert await passing.close(5)
    assert [fcntl.fcntl(fd, fcntl.F_GETFL) for fd in (pipes.out_end, pipes.err_end)] == before


async def test_closing_what_was_never_used_is_nothing(pipes: Pipes):
    assert await OutputForwarder(pipes.out_end, pipes.err_end).close(1)
