"""The first look: it works anywhere, shows what it says, and leaves nothing behind."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.support import SIGHTLINE, sightline, until

# Where there is no bubblewrap, commands are less protected, or not at all, and that is reported.
SANDBOX_NOTICES = ("warning: sandboxed with Landlock, which does not prevent ", "warning: no sandbox here: ")


@pytest.fixture
def empty(tmp_path: Path) -> dict[str, str]:
    """An environment with no key, no settings, and a temporary folder of its own."""
    for name in ("tmp", "home"):
        (tmp_path / name).mkdir()
    place = {"TMPDIR": str(tmp_path / "tmp"), "HOME": str(tmp_path / "home"), "XDG_RUNTIME_DIR": str(tmp_path / "tmp")}
    return {**place, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}


def left(environment: dict[str, str]) -> list[Path]:
    """The files there are in the places a program keeps files in."""
    places = [Path(environment["TMPDIR"]), Path(environment["HOME"])]
    return [path for place in places for path in place.rglob("*") if not path.is_dir()]


def test_the_agent_mends_a_project_with_real_tools(empty: dict[str, str]) -> None:
    """Found, two files edited, one test still red, mended, green, reviewed in three steps, built: no key, no network,
    nothing left, exit code 0."""
    done = sightline("demo", "--fast", env=empty)
    text = done.stdout.decode()
    notices = [line for line in done.stderr.decode().splitlines() if not line.startswith(SANDBOX_NOTICES)]
    assert (done.returncode, notices) == (0, [])
    in_order = ["● Grep", "● Read cart.py", "● Edit cart.py, money.py", "● Bash", "... FAIL", "FAILED (failures=1)"]
    in_order += ["● Edit discounts.py", "● Bash", "... ok", "Ran 4 tests", "\n  OK\n", "● crew", "3 ok / 3"]
    in_order += ["● Bash", "[24/24] packing part 24", "packed", "All four tests pass."]
    at = 0
    for part in in_order:
        at = text.index(part, at) + len(part)
    assert (text.count("● Edit"), text.count("● Bash")) == (2, 3)
    assert "\x1b" not in text
    assert left(empty) == []


def test_ctrl_c_ends_it_and_leaves_nothing(empty: dict[str, str]) -> None:
    """In the middle of the agent's work."""
    process = subprocess.Popen([SIGHTLINE, "demo"], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, env=empty)
    assert process.stdout is not None
    said = b""
    while b"I look" not in said:
        said += os.read(process.stdout.fileno(), 65536)
    process.send_signal(signal.SIGINT)
    process.stdout.read()
    process.stdout.close()
    assert process.wait(20) == 130
    until(lambda: left(empty) == [], "everything to be gone")


def test_the_recordings_of_every_provider_are_there(empty: dict[str, str]) -> None:
    """One form for all five."""
    done = sightline("demo", "providers", "--fast", env=empty)
    assert done.returncode == 0
    assert done.stdout.decode().count("── ") == 5
