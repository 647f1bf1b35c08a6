"""A CLI for the made-up provider, written anew by each test."""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from sightline.events import Event
from sightline.providers import Provider, ProviderPrompt, Run, get_provider
from sightline.providers.running._runner import start_run

PREAMBLE = """
import fcntl, json, os, signal, struct, sys, termios, time

def out(**said):
    sys.stdout.write(json.dumps(said) + "\\n")
    sys.stdout.flush()

def note_pid(name):
    with open(name + ".new", "w") as file:
        file.write(str(os.getpid()))
    os.rename(name + ".new", name)

def until_noted(name):
    while not os.path.exists(name):
        time.sleep(0.001)

def until_read():
    while struct.unpack("i", fcntl.ioctl(1, termios.FIONREAD, b"0000"))[0]:
        time.sleep(0.001)

def forever():
    while True:
        signal.pause()
"""


def wait_for(condition: Callable[[], object], what: str, seconds: float = 90.0) -> None:
    """Until the condition holds; a failure when it does not in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            pytest.fail(f"{what}: not within {seconds:g} s")
        time.sleep(0.005)


def is_gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


async def all_events(run: Run) -> list[Event]:
    return [event async for batch in run.events() for event in batch]


class Cli:
    """The folder its runs work in, and the binary, which is elsewhere: none is run from where it works."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.programs = folder.with_name(f"{folder.name}-programs")
        self.programs.mkdir(exist_ok=True)
        self.binary = self.programs / "parrot"

    def write(self, body: str, *, interpreter: str = f"{sys.executable} -IS", preamble: str = PREAMBLE) -> None:
        self.binary.write_text(f"#!{interpreter}\n{preamble}\n{body}")
        self.binary.chmod(0o755)

    def run(self, body: str, prompt: str = "hello", *, grace: float = 5.0, **wishes: object) -> Run:
        self.write(body)
        return self.start(prompt, grace=grace, **wishes)

    def start(
        self, prompt: str = "hello", *, grace: float = 5.0, provider: Provider | None = None, **wishes: object
    ) -> Run:
        path = f"{self.programs}{os.pathsep}{os.environ['PATH']}"
        settings = {"cwd": str(self.folder), "env": {"PATH": path}, **wishes}
        return start_run(provider or get_provider("parrot"), ProviderPrompt(prompt=prompt, **settings), grace=grace)

    def processes(self) -> list[psutil.Process]:
        """Those that run this binary, whoever their parent is by now."""
        running = psutil.process_iter(["cmdline"])
        return [process for process in running if str(self.binary) in (process.info["cmdline"] or ())]

    def pid(self, name: str) -> int:
        """Of the process that noted it under this name."""
        file = self.folder / name
        wait_for(file.exists, f"{name} written")
        return int(file.read_text())
