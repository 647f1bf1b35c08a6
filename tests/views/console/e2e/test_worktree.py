"""A session in a worktree, by keys only: what is shown of it, and what becomes of it when the user leaves."""

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import running_sessions, sightline, until
from tests.views.console.e2e.support import CTRL_D, DOWN, ENTER, ESCAPE, Person, text

pytestmark = [pytest.mark.slow, pytest.mark.needs("git")]

on_xterm = pytest.mark.parametrize("person", ["xterm"], indirect=True)


def git(folder: Path, *words: str) -> str:
    config = ("-c", "user.name=dev", "-c", "user.email=dev@example.com", "-c", "init.defaultBranch=main")
    return subprocess.run(["git", *config, *words], cwd=folder, capture_output=True, check=True, text=True).stdout


def repository(person: Person, monkeypatch: pytest.MonkeyPatch) -> Path:
    (person.project / "file").write_text("one\n")
    git(person.project, "init", "-q")
    git(person.project, "add", "-A")
    git(person.project, "commit", "-q", "-m", "start")
    monkeypatch.setenv("PWD", str(person.project))
    return person.project


def trees() -> list[Path]:
    folder = Path(f"{os.environ['SIGHTLINE_HOME']}-copies")
    return sorted(folder.iterdir()) if folder.is_dir() else []


def writes(person: Person, content: str = "worktree\n", name: str = "file") -> tuple[str, str]:
    turn = {"tool": "write", "args": {"path": name, "content": content}}
    return "--model", person.script([turn], [text("It is written.")], [text("More.")])


def after_changes(person: Person, *model: str) -> Any:
    """A console in a worktree in which the agent changed a file."""
    screen = person.opens("--worktree", "fix", *model)
    screen.says("go")
    screen.sees("It is written.")
    screen.sees_no("escape stop")
    return screen


def leaves(screen: Any, choice: int) -> None:
    screen.press(CTRL_D)
    screen.sees("Worktree fix", "Leave it for later")
    for at in range(choice):
        screen.press(DOWN)
        screen.sees(f"› {at + 2}.")
    screen.answers(ENTER, lambda rows: not any("Leave it for later" in row for row in rows))


def test_the_worktree_is_shown_and_its_changes_are_merged_at_the_end(person: Person, monkeypatch) -> None:
    """The greeting and the status line name it and its branch; the dialog has the diff; escape stays."""
    project = repository(person, monkeypatch)
    screen = after_changes(person, *writes(person))
    screen.sees("worktree fix (sightline/fix) of ", "auto · worktree fix (sightline/fix)")
    assert (project / "file").read_text() == "one\n"
    screen.press(CTRL_D)
    screen.sees("1 file changed, +1 −1.", "1 - one", "1 + worktree", "Merge into")
    screen.answers(ESCAPE, lambda rows: not any("Merge into" in row for row in rows))
    screen.says("more")
    screen.sees("More.")
    screen.sees_no("escape stop")
    leaves(screen, 0)
    screen.ended()
    screen.once("worktree fix removed", "Resume with: sightline --resume")
    assert (project / "file").read_text() == "worktree\n"
    assert trees() == []
    until(lambda: not running_sessions(), "the end of the session")


@on_xterm
def test_without_changes_it_is_removed_with_one_line(person: Person, monkeypatch) -> None:
    repository(person, monkeypatch)
    screen = person.opens("--worktree", "fix", "--model", person.script([text("Only words.")]))
    screen.says("go")
    screen.sees("Only words.")
    screen.leaves()
    screen.once("worktree fix removed: nothing had changed")
    assert trees() == []


@on_xterm
def test_changes_are_committed_to_the_branch(person: Person, monkeypatch) -> None:
    project = repository(person, monkeypatch)
    screen = after_changes(person, *writes(person))
    leaves(screen, 1)
    screen.ended()
    screen.once("its commits: git merge sightline/fix")
    assert git(project, "show", "sightline/fix:file") == "worktree\n"
    assert (project / "file").read_text() == "one\n"
    assert trees() == []


@on_xterm
def test_it_is_left_for_later_and_resumed(person: Person, monkeypatch) -> None:
    project = repository(person, monkeypatch)
    screen = after_changes(person, *writes(person))
    leaves(screen, 2)
    screen.ended()
    screen.once("worktree fix stays: ")
    assert len(trees()) == 1
    screen = person.opens("--worktree", "fix", "--continue", *writes(person))
    screen.sees("It is written.", "worktree fix (sightline/fix)")
    assert (project / "file").read_text() == "one\n"
    assert len(trees()) == 1


@on_xterm
def test_it_is_removed_with_its_changes_stored(person: Person, monkeypatch) -> None:
    project = repository(person, monkeypatch)
    screen = after_changes(person, *writes(person))
    leaves(screen, 3)
    screen.ended()
    screen.once("its changes: git apply ")
    (patch,) = Path(os.environ["SIGHTLINE_HOME"], "worktrees").glob("*/changes.patch")
    git(project, "apply", str(patch))
    assert (project / "file").read_text() == "worktree\n"
    assert trees() == []


@on_xterm
def test_a_conflict_at_the_end_leaves_both_sides(person: Person, monkeypatch) -> None:
    project = repository(person, monkeypatch)
    screen = after_changes(person, *writes(person))
    (project / "file").write_text("workspace\n")
    leaves(screen, 0)
    screen.ended()
    screen.once("conflict in file (both changed)", "worktree fix stays: ")
    assert (project / "file").read_text() == "workspace\n"
    assert (trees()[0] / "file").read_text() == "worktree\n"


@on_xterm
def test_it_is_merged_while_the_session_continues(person: Person, monkeypatch) -> None:
    project = repository(person, monkeypatch)
    screen = after_changes(person, *writes(person))
    screen.says("/worktree")
    screen.sees("Merge into", "Leave and remove it")
    screen.answers(ENTER, lambda rows: any("merged into" in row for row in rows))
    assert (project / "file").read_text() == "worktree\n"
    assert len(trees()) == 1
    screen.leaves()
    screen.once("worktree fix removed: nothing had changed")


@on_xterm
def test_detaching_and_closing_the_window_remove_nothing(person: Person, monkeypatch) -> None:
    """The same name comes back to the session that still runs there."""
    repository(person, monkeypatch)
    screen = after_changes(person, *writes(person))
    screen.says("/detach")
    screen.ended()
    assert len(trees()) == 1
    screen = person.opens("--worktree", "fix", ready=False)
    screen.sees("A session is open in this folder.", "› 1. Resume “go”")
    screen.answers(ENTER, lambda rows: any("It is written." in row for row in rows))
    screen.sees("worktree fix (sightline/fix)")
    screen.hang_up()
    assert len(running_sessions()) == 1
    assert len(trees()) == 1


@on_xterm
def test_kill_9_removes_nothing(person: Person, monkeypatch) -> None:
    """Of the host with the console open. `--worktree` and `--resume` go back to it."""
    repository(person, monkeypatch)
    screen = after_changes(person, *writes(person))
    (host,) = running_sessions()
    os.kill(host["pid"], signal.SIGKILL)
    os.kill(screen.pid, signal.SIGKILL)
    until(lambda: not running_sessions(), "the end of the host")
    assert sightline("doctor", "--remove-leftovers").returncode == 0
    (tree,) = trees()
    assert (tree / "file").read_text() == "worktree\n"
    screen = person.opens("--resume", host["id"], *writes(person))
    screen.sees("It is written.", "worktree fix (sightline/fix)")
