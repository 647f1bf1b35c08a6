"""Agents run without a screen against the stand-in: what one run took, and how soon it sent the first request.

The same script for everybody: so many turns of one `echo` through the agent's own shell tool, then a last word. Time
the stand-in needs to answer is known and can be taken off; its CPU is not the agent's. CPU is that of the process and
of every descendant that was waited for.
"""

import os
import signal
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from sightline.testing.place import Place
from sightline.testing.standin import StandIn

TURNS = 200
PROMPT = "Run the commands, one after the other."
LAST_WORD = "That was the last one."
_SECONDS = 120.0


class Agent(msgspec.Struct, frozen=True):
    """A program to run, with all the environment it gets."""

    name: str
    argv: tuple[str, ...]
    env: dict[str, str]


class Measured(msgspec.Struct, frozen=True):
    """One run, in seconds. `served` is what the stand-in took of it."""

    wall: float
    cpu: float
    first: float  # from exec to the first request for an answer
    served: float


class Figures(msgspec.Struct, frozen=True):
    """Medians of several runs. A turn is what each turn after the first added, without the stand-in's time."""

    wall: float
    cpu: float
    first: float
    turn_wall: float
    turn_cpu: float


class DidNotRun(Exception):
    """The agent did not play the script to its end; the message has what it printed instead."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def port_of(place: Place) -> int:
    """Where the stand-in has to be for this place."""
    return int(place.url.rpartition(":")[2])


def script(turns: int) -> list[list[dict[str, Any]]]:
    commands: list[list[dict[str, Any]]] = [
        [{"tool": "bash", "args": {"command": f"echo {number}"}}] for number in range(turns)
    ]
    return [*commands, [{"text": LAST_WORD}]]


def run(agent: Agent, place: Place, turns: int) -> Measured:
    """One run of the script with so many turns, at the address the place was made for."""
    with StandIn.in_thread(script(turns), port=port_of(place)) as server, tempfile.TemporaryFile() as output:
        began = time.perf_counter()
        process = subprocess.Popen(
            agent.argv,
            cwd=place.project,
            env=agent.env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        impatient = threading.Timer(_SECONDS, os.killpg, (process.pid, signal.SIGKILL))
        impatient.start()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        impatient.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        printed = output.read().decode(errors="replace")
    answers = [exchange for exchange in server.exchanges if exchange.is_conversation]
    if process.returncode != 0 or LAST_WORD not in printed or len(answers) <= turns:
        raise DidNotRun(f"exit code {process.returncode} after {len(answers)} requests: {printed[-300:].strip()}")
    return Measured(
        wall=wall,
        cpu=usage.ru_utime + usage.ru_stime,
        first=answers[0].requested - began,
        served=sum(exchange.answered - exchange.requested for exchange in server.exchanges),
    )


def figures(short: list[Measured], long: list[Measured]) -> Figures:
    """From runs of one turn and runs of `TURNS`, taken in turns."""
    pairs = list(zip(short, long, strict=True))
    walls = [(many.wall - many.served) - (one.wall - one.served) for one, many in pairs]
    cpus = [many.cpu - one.cpu for one, many in pairs]
    return Figures(
        wall=median(run.wall for run in long),
        cpu=median(run.cpu for run in long),
        first=median(run.first for run in [*short, *long]),
        turn_wall=median(walls) / (TURNS - 1),
        turn_cpu=median(cpus) / (TURNS - 1),
    )


def sightline(place: Place, program: str, cache: Path) -> list[Agent]:
    """Ourselves, through two of the APIs, and once more with the sandbox around each command.

    The bytecode is stored apart and complete after the first run, however this installation was made.
    """
    home = place.home / "sightline"
    home.mkdir(exist_ok=True)
    apis = {"anthropic": place.url, "chat": f"{place.url}/v1"}
    servers = [f'[models.servers.standin-{api}]\nbase_url = "{url}"\napi = "{api}"\n' for api, url in apis.items()]
    (home / "settings.toml").write_text("".join(servers))
    env = {**place.environment("sightline"), "SIGHTLINE_HOME": str(home), "PYTHONPYCACHEPREFIX": str(cache)}
    open_to_all = ["--set", "permissions.sandbox=false", "--allow", "exec"]

    def asking(api: str, *options: str) -> tuple[str, ...]:
        return (program, "-p", PROMPT, "--model", f"standin-{api}/standin-1", *options)

    return [
        Agent("sightline (Anthropic)", asking("anthropic", *open_to_all), env),
        Agent("sightline (chat)", asking("chat", *open_to_all), env),
        Agent("sightline, sandboxed", asking("anthropic"), env),
    ]
