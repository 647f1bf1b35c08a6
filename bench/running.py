"""Commands as they run: how soon their output is seen, what a flood costs, what two hundred jobs cost.

Output is timed from the child's own clock: it prints the moment at which it writes, and the reader subtracts.
"""

import asyncio
import hashlib
import json
import os
import pty
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from bench.program import SIGHTLINE
from bench.row import Row

RUNS = 200
PRINTS_TIME = "import os, time; time.sleep(0.02); os.write(1, b'%d.' % time.monotonic_ns()); time.sleep(0.05)"
FLOOD = "head -c 1G /dev/zero | base64"
PRINTER = "import time\nfor i in range({lines}):\n    print('line', i, flush=True); time.sleep(0.1)"
MEGABYTES = 80.0


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        os.environ["SIGHTLINE_HOME"] = home
        with busy_core():
            yield Row("exec on a terminal, write to screen, p99 of 200", 10.0, _p99(_seen_on_a_terminal), " ms")
            yield Row("exec, write to event stream, p99 of 200", 10.0, _p99(_seen_as_event), " ms")
        yield from _flood()
        yield from _endless()
        yield Row("200 jobs, 10 lines/s each: CPU of both hosts, cores", 0.25, asyncio.run(_many_jobs()))


@contextmanager
def busy_core() -> Iterator[None]:
    """One busy core of the machine."""
    busy = subprocess.Popen([sys.executable, "-I", "-c", "while True: pass"])
    os.sched_setaffinity(busy.pid, {max(os.sched_getaffinity(0))})
    try:
        yield
    finally:
        busy.kill()
        busy.wait()


def _p99(once: Callable[[], float]) -> float:
    times = sorted(once() for _ in range(RUNS))
    return times[round(len(times) * 0.99) - 1]


def _seen_on_a_terminal() -> float:
    """Milliseconds from a child's write to the bytes at the other side of the terminal."""
    pid, screen = pty.fork()
    if pid == 0:
        os.execv(SIGHTLINE, [SIGHTLINE, "exec", "--", sys.executable, "-I", "-c", PRINTS_TIME])
    return _time_of(screen, pid)


def _seen_as_event() -> float:
    read, write = os.pipe()
    argv = [SIGHTLINE, "exec", "--output-format", "events", "--", sys.executable, "-I", "-c", PRINTS_TIME]
    process = subprocess.Popen(argv, stdout=write, stderr=subprocess.DEVNULL)
    os.close(write)
    return _time_of(read, process.pid)


def _time_of(fd: int, pid: int) -> float:
    import re

    seen, latency = b"", None
    while True:
        try:
            chunk = os.read(fd, 65536)
        except OSError:  # a terminal without a program at its other end
            break
        now = time.monotonic_ns()
        if not chunk:
            break
        seen += chunk
        found = re.search(rb"(\d{12,})\.", seen)
        if found is not None and latency is None:
            latency = (now - int(found[1])) / 1e6
    os.close(fd)
    os.waitpid(pid, 0)
    assert latency is not None, seen
    return latency


def _flood() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "flood"
        plain = detached = piped = float("inf")
        peak = 0.0
        for _ in range(3):
            plain = min(plain, _wall(["sh", "-c", f"{FLOOD} > {target}"]))
            wall, most, job = _detached_flood()
            detached, peak = min(detached, wall), max(peak, most)
            with target.open("rb") as file:
                expected = hashlib.file_digest(file, "sha256").hexdigest()
            with _artifact(job).open("rb") as file:
                assert hashlib.file_digest(file, "sha256").hexdigest() == expected, "the artifact differs"
            subprocess.run([SIGHTLINE, "jobs", "prune", "--older-than", "0s"], check=True, stdout=subprocess.DEVNULL)
            piped = min(piped, _wall(["sh", "-c", f"{SIGHTLINE} exec -- sh -c '{FLOOD}' | cat > /dev/null"]))
            subprocess.run([SIGHTLINE, "jobs", "prune", "--older-than", "0s"], check=True, stdout=subprocess.DEVNULL)
    yield Row("flood of 1.4 GB, detached / into a file", 1.25, detached / plain)
    yield Row("flood of 1.4 GB, piped to a reader / into a file", 1.5, piped / plain)
    yield Row("flood, peak memory of the host", MEGABYTES, peak, " MB")


def _artifact(job: str) -> Path:
    return Path(os.environ["SIGHTLINE_HOME"]) / "sessions" / job.rpartition("-")[0] / "artifacts" / f"{job}.out"


def _detached_flood() -> tuple[float, float, str]:
    start = time.perf_counter()
    job = detach(["sh", "-c", FLOOD])
    host = _host_of(job)
    peak = 0.0
    while _state(job) == "running":
        peak = max(peak, memory(host))
        time.sleep(0.01)
    return time.perf_counter() - start, peak, job


def _endless() -> Iterator[Row]:
    job = detach(["yes"])
    host = _host_of(job)
    time.sleep(3)  # what it costs is seen only after it has run for a while
    peak = memory(host)
    child = next(process for process in psutil.Process(host).children() if process.name() == "yes")
    start = time.perf_counter()
    subprocess.Popen([SIGHTLINE, "cancel", job], stdout=subprocess.DEVNULL)
    psutil.wait_procs([child], 10)
    yield Row("`yes`: gone after `sightline cancel`", 500.0, (time.perf_counter() - start) * 1000, " ms")
    yield Row("`yes`: memory of the host", MEGABYTES, peak, " MB")


async def _many_jobs() -> float:
    """CPU, in cores, of two hosts while each of their hundred jobs prints ten lines a second."""
    from sightline.exec import CommandSpec
    from sightline.host import Start, Stop, connect

    seconds = 10
    spec = CommandSpec(argv=(sys.executable, "-I", "-S", "-c", PRINTER.format(lines=(seconds + 20) * 10)))
    clients = []
    for _ in range(2):
        client = await connect(detach(list(spec.argv)).rpartition("-")[0])
        for _ in range(99):
            assert (await client.submit(Start(spec))).ok
        clients.append(client)
    hosts = [psutil.Process(client.hello.pid) for client in clients]
    await asyncio.sleep(3)  # the last of them have started by then
    before, start = [host.cpu_times() for host in hosts], time.perf_counter()
    await asyncio.sleep(seconds)
    after, took = [host.cpu_times() for host in hosts], time.perf_counter() - start
    for client in clients:
        await client.submit(Stop())
        client.close()
    return sum(b.user + b.system - a.user - a.system for a, b in zip(before, after, strict=True)) / took


def detach(argv: list[str]) -> str:
    done = subprocess.run([SIGHTLINE, "exec", "-d", "--", *argv], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def _host_of(job: str) -> int:
    listed = json.loads(subprocess.run([SIGHTLINE, "ps", "--json"], check=True, capture_output=True).stdout)
    return int(next(host["pid"] for host in listed if host["id"] == job.rpartition("-")[0]))


def _state(job: str) -> str:
    """From the list the hosts write: asking the program would cost more than what is measured."""
    state = "running"
    for line in (Path(os.environ["SIGHTLINE_HOME"]) / "jobs.jsonl").read_bytes().splitlines():
        record = json.loads(line)
        if record["id"] == job:
            state = record.get("state", "running")
    return state


def memory(pid: int) -> float:
    try:
        return psutil.Process(pid).memory_info().rss / 1e6
    except psutil.Error:
        return 0.0


def _wall(argv: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(argv, check=True)
    return time.perf_counter() - start
