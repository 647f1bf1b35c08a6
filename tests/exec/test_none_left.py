"""What the promise that no process outlives a test looks at."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from sightline.exec.process import _orphans

from .running import descendants, noted, sh, started_since, wait_for

# Like a browser: for each line it is given it starts a process that is its child, and one that loses its parent and
# has a session of its own.
BROWSER = """
import os, subprocess, sys
for line in sys.stdin:
    child = subprocess.Popen(["sleep", "600"])
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            open("orphan", "w").write(str(os.getpid()))
            os.execvp("sleep", ["sleep", "600"])
        os._exit(0)
    os.wait()
    open("child", "w").write(str(child.pid))
"""


@pytest.fixture
def browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator["subprocess.Popen[bytes]"]:
    """Started for another test."""
    _orphans.adopt()
    with monkeypatch.context() as then:
        then.setenv("PYTEST_CURRENT_TEST", "tests/other.py::test_of_a_page (setup)")
        process = subprocess.Popen([sys.executable, "-ISc", BROWSER], cwd=tmp_path, stdin=subprocess.PIPE, bufsize=0)
    yield process
    for each in (noted(tmp_path, "child"), noted(tmp_path, "orphan"), process.pid):
        psutil.Process(each).kill()
    process.communicate()


def test_what_a_browser_starts_meanwhile_is_not_the_tests(browser, tmp_path: Path):
    """Neither what is below it nor what came to us when it lost its parent."""
    before = descendants()
    assert browser.stdin is not None
    browser.stdin.write(b"\n")
    orphan = noted(tmp_path, "orphan")
    wait_for(lambda: psutil.Process(orphan).ppid() == psutil.Process().pid, "the orphan to come to us")
    assert {noted(tmp_path, "child"), orphan} <= {process.pid for process in descendants() - before}
    assert started_since(before) == set()


async def test_what_a_command_leaves_is_the_tests(tmp_path: Path):
    """Also when it has lost its parent, its session and its environment."""
    before = descendants()
    daemon = "(setsid env -i sh -c 'echo $$ > stray; sleep 600 & wait' >/dev/null 2>&1 &)"
    await sh(f"{daemon}; while ! [ -s stray ]; do sleep 0.01; done", cwd=str(tmp_path)).run()
    stray = noted(tmp_path, "stray")
    wait_for(lambda: {"sh", "sleep"} <= {process.name() for process in started_since(before)}, "both to be seen")
    assert stray in {process.pid for process in started_since(before)}
    for process in started_since(before):
        process.kill()
    wait_for(lambda: not started_since(before), "no process left")
