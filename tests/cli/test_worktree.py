"""`sightline --worktree` without a screen, and `sightline worktree`: with real git, as a user or a script meets it."""

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from sightline.events import State
from sightline.journal import Store
from sightline.settings import remember_rule
from tests.cli.support import SIGHTLINE, running_sessions, sightline, until

pytestmark = [pytest.mark.usefixtures("hosts"), pytest.mark.needs("git")]

FREE = ("--set", "permissions.sandbox=false", "--allow", "exec")
HELLO: list[Any] = [[{"text": "Hello."}]]
WRITES: list[Any] = [
    [{"tool": "write", "args": {"path": "made.txt", "content": "made\n"}}],
    [{"text": "Done."}],
]


def git(folder: Path, *words: str) -> str:
    config = ("-c", "user.name=dev", "-c", "user.email=dev@example.com", "-c", "init.defaultBranch=main")
    return subprocess.run(["git", *config, *words], cwd=folder, capture_output=True, check=True, text=True).stdout


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    (folder / "sub").mkdir(parents=True)
    (folder / "file").write_text("one\n")
    (folder / "sub" / "file").write_text("x\n")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "start")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PWD", str(folder))
    return folder


def words_of(folder: Path, turns: list[Any], *words: str) -> list[str]:
    script = folder.parent / f"script-{os.urandom(4).hex()}.json"
    script.write_text(json.dumps(turns))
    return ["-p", "go", "--model", f"scripted:{script}", *FREE, *words]


def prompt(folder: Path, turns: list[Any], *words: str, **options: Any) -> "subprocess.CompletedProcess[bytes]":
    return sightline(*words_of(folder, turns, *words), **options)


def trees() -> list[Path]:
    folder = Path(f"{os.environ['SIGHTLINE_HOME']}-copies")
    return sorted(folder.iterdir()) if folder.is_dir() else []


def last_session() -> str:
    found: list[dict[str, Any]] = json.loads(sightline("sessions", "--json").stdout)
    return str(found[0]["id"])


def test_a_run_that_changes_nothing_leaves_nothing(project: Path) -> None:
    done = prompt(project, HELLO, "--worktree", "fix")
    assert (done.returncode, done.stdout) == (0, b"Hello.\n")
    assert done.stderr == b"note: making the worktree fix\n"
    assert trees() == []
    assert git(project, "branch", "--list", "sightline/*") == ""
    assert sightline("worktree").stdout.startswith(b"no worktrees")


def test_a_run_leaves_its_changes_in_the_worktree_and_says_how_to_merge_them(project: Path) -> None:
    """In the subfolder one is in; the workspace is as it was. Then: listed, shown, merged, and gone."""
    done = prompt(project, WRITES, "--worktree", "fix", cwd=project / "sub")
    (tree,) = trees()
    assert (tree / "sub" / "made.txt").read_text() == "made\n"
    assert git(project, "status", "--short") == ""
    last = done.stderr.decode().splitlines()[-1]
    assert last.startswith("note: worktree fix stays: 1 file changed, +1 −0; branch sightline/fix, ")
    assert last.endswith("; merge: sightline worktree merge fix")
    listed = sightline("worktree", "list").stdout.decode()
    assert all(each in listed for each in ("fix", "idle", "sightline/fix", "1 file changed, +1 −0", tree.name))
    assert "(worktree fix)" in sightline("sessions").stdout.decode()
    doctor = sightline("doctor").stdout.decode()
    assert "1 without a session: fix of" in doctor
    assert "left by a killed session" not in doctor
    assert b"none left" in sightline("doctor", "--remove-leftovers").stdout
    assert "+made" in sightline("worktree", "merge", "fix", "--diff").stdout.decode()
    assert git(project, "status", "--short") == ""
    done = sightline("worktree", "merge", "fix")
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode().splitlines()[-1] == "worktree fix removed"
    assert (project / "sub" / "made.txt").read_text() == "made\n"
    assert trees() == []
    assert f"{project} (worktree fix, removed)" in sightline("sessions").stdout.decode()


def test_a_second_run_works_in_the_same_worktree(project: Path) -> None:
    prompt(project, WRITES, "--worktree", "fix")
    done = prompt(
        project, [[{"tool": "read", "args": {"path": "made.txt"}}], [{"text": "Read."}]], "--worktree=fix", "-v"
    )
    assert b"making" not in done.stderr
    assert "made" in done.stdout.decode()
    assert len(trees()) == 1


def test_a_conflict_leaves_both_sides(project: Path) -> None:
    """Exit code 1, the user's file as it was, the worktree still there; removing it stores a patch."""
    edit = [[{"tool": "write", "args": {"path": "file", "content": "worktree\n"}}], [{"text": "Done."}]]
    prompt(project, edit, "--worktree", "fix")
    (project / "file").write_text("workspace\n")
    done = sightline("worktree", "merge", "fix")
    assert done.returncode == 1
    assert "conflict in file (both changed): the workspace keeps its file" in done.stdout.decode()
    assert b"hint: take what you need" in done.stderr
    assert (project / "file").read_text() == "workspace\n"
    assert len(trees()) == 1
    done = sightline("worktree", "remove", "fix")
    assert "its changes: git apply " in done.stdout.decode()
    assert trees() == []


def test_a_merge_that_fails_says_once_that_the_worktree_stays(project: Path) -> None:
    prompt(project, WRITES, "--worktree", "fix")
    project.rename(project.parent / "moved")
    project.mkdir()
    done = sightline("worktree", "merge", "fix")
    assert done.returncode == 1
    assert done.stdout.count(b"worktree fix stays") == 1


def test_a_session_is_resumed_in_its_worktree(project: Path, tmp_path: Path) -> None:
    """From wherever it is resumed. Once that is gone, it says how to go on; in the workspace it does, and says so; with
    --worktree it has a new one."""
    prompt(project, WRITES, "--worktree", "fix")
    session = last_session()
    pwd = [[{"tool": "bash", "args": {"command": "pwd"}}], [{"text": "Done."}]] * 9
    done = prompt(project, pwd, "--resume", session, "-v", cwd=tmp_path)
    assert str(trees()[0]) in done.stdout.decode()
    assert sightline("worktree", "remove", "fix").returncode == 0
    done = prompt(project, pwd, "--resume", session, cwd=tmp_path)
    assert done.returncode == 2
    assert f"session {session} worked in the worktree fix, which was removed" in done.stderr.decode()
    assert f"cd {project} && sightline --resume {session}" in done.stderr.decode()
    done = prompt(project, pwd, "--resume", session, "-v")
    assert done.returncode == 0
    assert b"worked in a worktree that was removed" in done.stderr
    assert f"\n{project}\n" in done.stdout.decode().replace("  ", "")
    done = prompt(project, pwd, "--resume", session, "--worktree", "fix", "-v")
    assert f"{tmp_path}/sightline-home-copies/fix-" in done.stdout.decode()


@pytest.mark.parametrize("name", ["-x", "../x", "a/b", "x.lock", "", " ", "a b"])
def test_a_name_that_is_none_is_a_mistake(project: Path, name: str) -> None:
    done = prompt(project, HELLO, f"--worktree={name}")
    assert done.returncode == 2
    assert done.stderr.decode().count("hint: ") == 1
    assert trees() == []


def test_outside_of_a_repository_it_is_one_line_and_a_hint(tmp_path: Path) -> None:
    done = prompt(tmp_path / "x", HELLO, "--worktree", "fix", cwd=tmp_path)
    assert done.returncode == 2
    first, second = done.stderr.decode().splitlines()
    assert first.startswith("error: not in a git repository")
    assert second.startswith("hint: ")


def test_without_a_name_it_gets_one(project: Path) -> None:
    assert b"worktree work-1 stays" in prompt(project, WRITES, "--worktree").stderr


def test_two_work_side_by_side_and_one_in_use_is_refused(project: Path) -> None:
    """kill -9 of one removes nothing: its worktree can be used again, and `doctor` names it."""
    waits = [
        [{"tool": "write", "args": {"path": "made.txt", "content": "made\n"}}],
        [{"tool": "bash", "args": {"command": "sleep 1000"}}],
    ]
    running = [
        subprocess.Popen([SIGHTLINE, *words_of(project, waits, "--worktree", name)], stdout=-1, stderr=-1)
        for name in ("first", "second")
    ]
    try:
        until(lambda: [(each / "made.txt").exists() for each in trees()] == [True, True], "both to write")
        until(lambda: len(running_sessions()) == 2, "both sessions")
        assert sightline("ps").stdout.decode().count("(worktree ") == 2
        done = prompt(project, HELLO, "--worktree", "first")
        assert (done.returncode, b"the worktree first is in use" in done.stderr) == (2, True)
        done = sightline("worktree", "remove", "first")
        assert (done.returncode, b"in use" in done.stderr) == (2, True)
        running[0].send_signal(signal.SIGKILL)
        running[0].wait()
        until(lambda: b"1 without a session: first of" in sightline("doctor").stdout, "it to be free")
        assert sightline("doctor", "--remove-leftovers").returncode == 0
        assert b"making" not in prompt(project, HELLO, "--worktree", "first").stderr
        assert [each.name.split("-")[0] for each in trees()] == ["first", "second"]
        running[1].send_signal(signal.SIGINT)
        _, notes = running[1].communicate()
        assert b"worktree second stays: 1 file changed" in notes
    finally:
        for process in running:
            process.kill()
            process.communicate()


def test_a_rule_that_denies_a_path_denies_it_in_the_worktree(project: Path) -> None:
    """By the path it has there: the copy of a file is no way around a rule."""
    (project / "secret").write_text("hidden\n")
    read = [[{"tool": "read", "args": {"path": "secret"}}], [{"text": "Done."}]]
    home = Path(os.environ["SIGHTLINE_HOME"])
    home.mkdir(exist_ok=True)
    (home / "settings.toml").write_text(f'[permissions]\ndeny = ["read({project}/secret)"]\n')
    done = prompt(project, read, "--worktree", "fix", "-v")
    assert "hidden" not in done.stdout.decode()
    store = Store(home)
    assert "hidden" not in (store.folder(last_session()) / "journal.jsonl").read_text()


def test_a_rule_of_a_subfolder_or_behind_a_link_denies_in_the_worktree(project: Path) -> None:
    """What is remembered is remembered by folder, and a rule may name a path in many ways."""
    (project / "sub" / "secret").write_text("hidden\n")
    (project.parent / "link").symlink_to(project)
    read = [[{"tool": "read", "args": {"path": "secret"}}], [{"text": "Done."}]]
    os.chdir(project / "sub")
    store = Store(Path(os.environ["SIGHTLINE_HOME"]))
    named = [f"read({project.parent}/link/sub/secret)", f"read({project.parent}/*/sub/secret)"]
    for words in [*(["--deny", rule] for rule in named), []]:
        if not words:
            remember_rule(project / "sub", "read(secret)", "deny")
        prompt(project, read, "--worktree", "fix", *words)
        assert "hidden" not in (store.folder(last_session()) / "journal.jsonl").read_text(), words


def test_the_workspace_is_no_way_around_its_rules(project: Path) -> None:
    """A relative rule is about the worktree there; the file it was made for can still be named."""
    (project / "secret").write_text("hidden\n")
    remember_rule(project, "read(secret)", "deny")
    read = [[{"tool": "read", "args": {"path": str(project / "secret")}}], [{"text": "Done."}]]
    prompt(project, read, "--worktree", "fix", "--approval", "full")
    store = Store(Path(os.environ["SIGHTLINE_HOME"]))
    assert "hidden" not in (store.folder(last_session()) / "journal.jsonl").read_text()


def test_another_agent_works_in_a_worktree(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its program is started there, and what it leaves is reported as of our own."""
    programs = tmp_path / "bin"
    programs.mkdir()
    claude = programs / "claude"
    claude.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo 2.0.0 && exit\necho made > made.txt\n'
        """echo '{"type":"result","subtype":"success","is_error":false,"result":"Done.","session_id":"s"}'\n"""
    )
    claude.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    done = sightline("-p", "go", "--provider", "claude", "--worktree", "fix")
    assert b"worktree fix stays: 1 file changed" in done.stderr
    assert (trees()[0] / "made.txt").read_text() == "made\n"
    assert not (project / "made.txt").exists()


def test_views_are_told_of_the_worktree_while_its_host_runs(project: Path) -> None:
    """By a fact of the session, which no longer holds when the host has ended."""
    prompt(project, WRITES, "--worktree", "fix")
    store = Store(Path(os.environ["SIGHTLINE_HOME"]))
    events = store.read(last_session()).events()
    values = [event.value for event in events if isinstance(event, State) and event.key == "worktree"]
    assert values == [{"name": "fix", "branch": "sightline/fix", "workspace": str(project)}, None]
