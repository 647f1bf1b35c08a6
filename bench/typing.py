"""Typing while text streams, on a long history, through a real pseudo-terminal: how soon a key is seen.

And what it costs to turn a spinner there."""

import os
import pty
import re
import select
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.row import Row

ROWS_OF_HISTORY = 100_000
KEYS = 300
CHARACTERS, EVERY = 20, 0.01  # as the fastest models write: about 500 tokens a second
SPINNING = 10.0

PROGRAM = """
import sys
from bench.typing import run
run(sys.argv[1] == "streaming")
"""


def rows() -> Iterator[Row]:
    with _program("streaming") as fd:
        times = sorted(_echo(fd, index) for index in range(KEYS))
    yield Row("key to echo while text streams, median", 1.0, times[KEYS // 2] * 1000, " ms")
    yield Row("key to echo while text streams, p99", 8.0, times[round(KEYS * 0.99) - 1] * 1000, " ms")
    yield Row("spinner on 100,000 rows, CPU", 0.5, _spinner() * 100, " %")


@contextmanager
def _program(what: str) -> Iterator[int]:
    """The program on a terminal, once its history is written."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (40, 100))
    environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    child = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, what], preexec_fn=lambda: os.login_tty(theirs), env=environment, close_fds=False
    )
    os.close(theirs)
    try:
        _read_until(ours, b"ready", 120)
        yield ours
    finally:
        child.kill()
        child.wait()
        os.close(ours)


def _read_until(fd: int, expected: bytes, seconds: float) -> None:
    tail, deadline = b"", time.monotonic() + seconds
    while expected not in tail:
        if not select.select([fd], [], [], max(0.0, deadline - time.monotonic()))[0]:
            raise TimeoutError(f"{expected!r} was not seen within {seconds:.0f} s")
        tail = tail[-200:] + os.read(fd, 1 << 20)


def _echo(fd: int, index: int) -> float:
    """Seconds from a key to the bytes that show it. Every key is one that nothing else on the screen has."""
    key = "QXZJ"[index % 4].encode()
    pause = time.monotonic() + 0.03 + (index % 7) * 0.003
    while (left := pause - time.monotonic()) > 0:
        if select.select([fd], [], [], left)[0]:
            os.read(fd, 1 << 20)
    began = time.monotonic()
    os.write(fd, key)
    _read_until(fd, key, 10)
    return time.monotonic() - began


def _spinner() -> float:
    """Share of one core."""
    with _program("spinning") as fd:
        pid = _child_of(fd)
        before, began = _cpu(pid), time.monotonic()
        while (left := began + SPINNING - time.monotonic()) > 0:
            if select.select([fd], [], [], left)[0]:
                os.read(fd, 1 << 20)
        return (_cpu(pid) - before) / (time.monotonic() - began)


def _child_of(fd: int) -> int:
    return os.tcgetpgrp(fd)


def _cpu(pid: int) -> float:
    fields = re.sub(r".*\) ", "", Path(f"/proc/{pid}/stat").read_text()).split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run(streaming: bool) -> None:
    """The program: a transcript of many rows, a spinner and a prompt, and perhaps an endless answer."""
    from sightline.testing.documents import mixed_markdown
    from sightline.tty import Application, run_application
    from sightline.tty.components import BlockColumn, Editor, Loader, Markdown, TextComponent

    def start(application: Application) -> None:
        display, loop = application.display, application.loop
        transcript = BlockColumn()
        for number in range(ROWS_OF_HISTORY // 10):
            transcript.append(
                TextComponent("\n".join(f"row {number}.{row}" for row in range(9)), theme=application.theme)
            )
            if number % 100 == 0:
                display.request_render()
        loader = Loader(
            "working", call_later=loop.call_later, request_render=display.request_render, theme=application.theme
        )
        editor = Editor(bindings=application.bindings, theme=application.theme)

        def shorten(text: str) -> None:
            if len(text) > 60:
                loop.call_later(0.01, editor.set_text, "")

        editor.on_change = shorten
        for child in (transcript, loader, editor):
            display.add(child)
        display.set_focus(editor)
        loader.start()
        message = Markdown(theme=application.theme)
        transcript.append(message, live=True)
        text = mixed_markdown()
        place = 0

        def stream() -> None:
            nonlocal place
            message.append(text[place : place + CHARACTERS].lower())
            place = (place + CHARACTERS) % len(text)
            display.request_render(message)
            loop.call_later(EVERY, stream)

        def ready() -> None:
            transcript.insert(len(transcript) - 1, TextComponent("ready", theme=application.theme))
            display.request_render()
            if streaming:
                stream()

        loop.call_later(1.0, ready)

    run_application(start)
