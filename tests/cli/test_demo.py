"""The first look: it works anywhere, shows what it says, and leaves nothing behind."""

import os
import shutil
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


NO_GIT = "note: git cannot be used here: the agent that works apart gets a copy of the folder, not a git worktree"
RECORDED = "note: Codex: a recording of Codex is played; the program itself does not run"


def notices(done: "subprocess.CompletedProcess[bytes]") -> list[str]:
    """What is reported beside the output, without what concerns the sandbox, of whichever agent."""
    lines = done.stderr.decode().splitlines()
    return [line for line in lines if not any(notice.partition(": ")[2] in line for notice in SANDBOX_NOTICES)]


def by_agent(text: str) -> dict[str, str]:
    """What was printed, by the agent it was printed under."""
    parts = [part.partition("\n") for part in text.split("◆ ")[1:]]
    return {name: "".join(said for other, _, said in parts if other == name) for name, _, _ in parts}


def left(environment: dict[str, str]) -> list[Path]:
    """The files there are in the places a program keeps files in."""
    places = [Path(environment["TMPDIR"]), Path(environment["HOME"])]
    return [path for place in places for path in place.rglob("*") if not path.is_dir()]


def test_the_agent_mends_a_project_with_real_tools(empty: dict[str, str]) -> None:
    """Found, two files edited, one test still red, mended, green, the rest shared out to four agents, built: no key, no
    network, nothing left, exit code 0."""
    done = sightline("demo", "--fast", env=empty)
    text = done.stdout.decode()
    here = [RECORDED] if shutil.which("git", path=empty["PATH"]) else [NO_GIT, RECORDED]
    assert (done.returncode, notices(done)) == (0, here)
    in_order = ["● Grep", "● Read cart.py", "● Edit cart.py, money.py", "● Bash", "... FAIL", "FAILED (failures=1)"]
    in_order += ["● Edit discounts.py", "● Bash", "... ok", "Ran 4 tests", "\n  OK\n", "● task task × 3", "3 ok / 3"]
    in_order += ["● Bash", "[24/24] packing part 24", "packed", "All four tests pass."]
    at = 0
    for part in in_order:
        at = text.index(part, at) + len(part)
    assert "\x1b" not in text
    assert left(empty) == []


def test_four_agents_work_side_by_side(empty: dict[str, str]) -> None:
    """Three of ours and a recorded one of another program, each under its own name; what one did apart is merged, and
    counts in what is built afterwards."""
    done = sightline("demo", "--fast", env=empty)
    text = done.stdout.decode()
    before, _, after = text.partition("● task task × 3")
    said = by_agent(after)
    assert sorted(said) == ["Build", "Codex", "Main", "Tests", "Writer"]
    assert "◆" not in before
    assert said["Tests"].count("● Bash python3 -m unittest -v test_cart.CartTest.test_") == 3
    assert "● Write README.md" in said["Writer"]
    codex = [
        "First what was changed.",
        "● Bash git diff",
        "● Bash grep -n",
        "● Bash python3 -c",
        "The three changes are right",
    ]
    assert [part for part in codex if part in said["Codex"]] == codex
    assert text.index("It waits 0.2 s") < text.index("● merge 1 file")
    assert (
        said["Build"].index("● Edit build.py") < said["Build"].index("packed") < said["Build"].index("● merge 1 file")
    )
    assert "✕" not in after


@pytest.mark.parametrize("missing", [("git",), ("git", "bwrap")], ids=["no git", "neither git nor bubblewrap"])
def test_it_works_without_git(empty: dict[str, str], tmp_path: Path, missing: tuple[str, ...]) -> None:
    """The agent that works apart gets another kind of copy, and that is reported; its work is merged like before."""
    (tmp_path / "bin").mkdir()
    for folder in ("/bin", "/usr/bin"):
        for program in Path(folder).iterdir():
            link = tmp_path / "bin" / program.name
            if program.name not in missing and not link.is_symlink():
                link.symlink_to(program)
    done = sightline("demo", "--fast", env={**empty, "PATH": str(tmp_path / "bin")})
    assert (done.returncode, notices(done)) == (0, [NO_GIT, RECORDED])
    assert "● merge 1 file" in by_agent(done.stdout.decode())["Build"]
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
