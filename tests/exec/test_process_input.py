"""A child whose input is kept open: it is spoken to while it runs."""

import asyncio
import sys

from sightline.exec import Process

ECHO = "import sys\nfor line in sys.stdin: print(len(line), flush=True)"


async def read_line(process: Process) -> bytes:
    said = b""
    async with asyncio.timeout(20):
        while not said.endswith(b"\n"):
            said += await process.read()
    return said


async def test_it_hears_what_is_written_while_it_runs() -> None:
    """Each line is answered; the input ends with the process."""
    process = Process([sys.executable, "-c", ECHO], keep_stdin=True)
    try:
        for length in (5, 7):
            process.write(b"x" * (length - 1) + b"\n")
            assert await read_line(process) == f"{length}\n".encode()
    finally:
        await process.end()
        process.close()


async def test_more_than_a_pipe_holds_is_written_as_it_is_taken() -> None:
    """Nothing is lost of a line longer than the pipe, nor of what is written after it."""
    process = Process([sys.executable, "-c", ECHO], keep_stdin=True)
    try:
        process.write(b"x" * 3_000_000 + b"\n")
        process.write(b"y\n")
        said = await read_line(process)
        while said.count(b"\n") < 2:
            said += await read_line(process)
        assert said == b"3000001\n2\n"
    finally:
        await process.end()
        process.close()


async def test_one_that_has_ended_takes_nothing() -> None:
    """Writing to it is no error, and neither is releasing it again: two may have read it."""
    process = Process([sys.executable, "-c", "pass"], keep_stdin=True)
    assert await process.read() == b""
    process.write(b"late\n")
    process.close()
    process.write(b"later\n")
    process.close()
    assert process.exit_code == 0
