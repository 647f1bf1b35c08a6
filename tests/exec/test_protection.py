"""The protected set while commands run: real commands that try to change it, and what is left behind."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sightline.exec import SandboxSpec, _bubblewrap, sandboxed
from sightline.exec._protection import Protection

from .test_sandbox import run_argv

pytestmark = pytest.mark.skipif(bool(_bubblewrap.problem()), reason="bubblewrap does not work here")

RENAME = f"{sys.executable} -c 'import os, sys; os.rename(*sys.argv[1:])'"  # `mv` would copy


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of git's own making."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    subprocess.run(["git", "init", "-q", str(tmp_path / "work")], check=True)
    return tmp_path / "work"


def run(work: Path, script: str) -> "subprocess.CompletedProcess[str]":
    return run_argv(["sh", "-c", script], SandboxSpec(workspace=str(work)), "bubblewrap", work)


def everything(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): b"" if path.is_dir() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if not path.is_symlink()
    }


ATTEMPTS = [
    "echo x >> .git/config",
    "git config core.fsmonitor 'touch /tmp/x'",
    "printf x > .git/config.new; mv -f .git/config.new .git/config",
    "echo x > .git/hooks/pre-commit",
    "echo x > .git/hooks/pre-commit.sample",
    f"{RENAME} .git/hooks .git/hooks2",
    f"{RENAME} .git .git2",
    "rm -rf .git/hooks",
    "rm .git/config",
    "ln .git/config copy && echo x >> copy",
    "chmod 777 .git/config",
    "mkdir evil && printf '%s/evil' \"$PWD\" > .git/commondir",
    "rm -f .git/commondir && echo ../evil > .git/commondir",
    "ln -sfn ../evil .git/commondir",
    f"echo evil > c; {RENAME} c .git/commondir",
]


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_a_command_cannot_change_what_git_would_run(work, attempt):
    """Not written, replaced, moved, removed, linked or made; and nothing of ours is left behind."""
    before = everything(work)
    assert run(work, attempt).returncode != 0
    after = everything(work)
    for name in ("evil", "c", ".git/config.new"):
        after.pop(name, None)
    assert after == before


def test_a_hook_folder_that_is_missing_cannot_be_made(work):
    """It stands empty while the command runs, and is missing again afterwards."""
    for file in (work / ".git" / "hooks").iterdir():
        file.unlink()
    (work / ".git" / "hooks").rmdir()
    done = run(work, "ls .git/hooks && ! mkdir .git/hooks && ! touch .git/hooks/pre-commit && ! rmdir .git/hooks")
    assert (done.returncode, done.stdout) == (0, "")
    assert not (work / ".git" / "hooks").exists()


def test_git_works_in_the_sandbox_as_before(work):
    """Adding, committing, branches, stashing and cleaning up."""
    (work / "f").write_text("x")
    who = "git -c user.name=a -c user.email=a@b"
    lines = ["git add f", f"{who} commit -qm one", "git branch other", "git checkout -q other", "echo y >> f"]
    lines += [f"{who} stash -q", f"{who} stash pop -q", f"{who} commit -qam two", "git status --short", "git gc -q"]
    lines += ["git log --oneline | wc -l", "git clean -fdxq"]
    done = run(work, " && ".join(lines))
    assert (done.stdout.strip(), done.returncode) == ("2", 0), done.stderr


@pytest.mark.parametrize("name", [".envrc", ".vscode/tasks.json", ".husky/pre-commit", ".sightline/settings.toml"])
def test_autorun_files_stay_as_they_are(work, name):
    """Where they exist; the folder they are in cannot be exchanged."""
    file = work / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("kept")
    top = name.split("/")[0]
    run(work, f"echo x > {name}; rm -rf {top}; {RENAME} {top} away; echo x > n; mv -f n {name}")
    assert file.read_text() == "kept"


def test_a_nested_repository_is_protected(work):
    """And the folders above it cannot be exchanged."""
    subprocess.run(["git", "init", "-q", str(work / "a" / "b")], check=True)
    before = (work / "a/b/.git/config").read_bytes()
    run(work, f"echo x >> a/b/.git/config; {RENAME} a away; {RENAME} a/b away; echo evil > a/b/.git/commondir")
    assert (work / "a/b/.git/config").read_bytes() == before
    assert not (work / "a/b/.git/commondir").exists()


def test_while_a_command_runs_the_set_does_not_change(work):
    """What that command could exchange is not mounted by the next one; the placeholders stand until the last ends."""
    first = Protection(str(work))
    subprocess.run(["git", "init", "-q", str(work / "new")], check=True)
    second = Protection(str(work))
    assert second.protected == first.protected
    first.release()
    assert (work / ".git" / "commondir").exists()
    second.release()
    assert not (work / ".git" / "commondir").exists()
    third = Protection(str(work))
    third.release()
    assert str(work / "new" / ".git" / "config") in third.protected.read_only


def test_what_a_killed_program_left_is_removed_by_the_next(work):
    """It had no chance to."""
    code = f"import os; from sightline.exec._protection import Protection; Protection({str(work)!r}); os._exit(9)"
    subprocess.run([sys.executable, "-c", code], check=False)
    assert (work / ".git" / "commondir").read_text() == ".\n"
    subprocess.run(["git", "-C", str(work), "status"], check=True, capture_output=True)
    Protection(str(work)).release()
    assert not (work / ".git" / "commondir").exists()


def test_a_placeholder_somebody_used_stays(work):
    """Only what is as it was made is removed."""
    protection = Protection(str(work))
    (work / ".git" / "commondir").write_text("../elsewhere\n")
    protection.release()
    assert (work / ".git" / "commondir").read_text() == "../elsewhere\n"


def test_a_placeholder_is_not_made_through_a_link(work, tmp_path):
    """A folder that became a link meanwhile leads nowhere."""
    from sightline.exec import _protection

    (tmp_path / "outside").mkdir()
    (work / "way").symlink_to(tmp_path / "outside")
    made: dict[str, str] = {}
    _protection._make(str(work), str(work / "way" / "commondir"), "x", made)
    _protection._make(str(work), str(work / "way" / "hooks") + "/", "", made)
    assert (made, list((tmp_path / "outside").iterdir())) == ({}, [])


def test_a_command_cannot_have_the_lock_alone(work, monkeypatch):
    """It would keep every other command from starting. Of the other kind of lock nobody takes notice."""
    monkeypatch.setenv("SIGHTLINE_HOME", str(work / "data"))  # where a command can see it: /tmp is its own
    folder = work / "data" / "workspaces"
    code = (
        "import fcntl, os, struct, sys\n"
        f"fd = os.open(os.path.join({str(folder)!r}, os.listdir({str(folder)!r})[0]), os.O_RDONLY)\n"
        "fcntl.flock(fd, fcntl.LOCK_EX)\n"
        "fcntl.fcntl(fd, fcntl.F_OFD_SETLK, struct.pack('hhqqixxxx', fcntl.F_WRLCK, 0, 0, 0, 0))"
    )
    (work / "try.py").write_text(code)
    done = run(work, f"{sys.executable} try.py")
    assert (done.returncode, "Bad file descriptor" in done.stderr) == (1, True)


def test_what_cannot_be_held_is_said(work):
    """With the command."""
    (work / ".git").rename(work / "store")
    (work / ".git").symlink_to("store")
    box = sandboxed(["true"], "", SandboxSpec(workspace=str(work)), _kind="bubblewrap")
    box.cleanup()
    assert box.message == "the sandbox cannot protect .git: a link, or a file with a second name"


def test_our_own_package_cannot_be_changed_from_a_workspace_around_it(tmp_path):
    """An environment in the workspace, as `python -m venv .venv` and an installation in it leave it."""
    work = tmp_path / "work"
    package = work / ".venv" / "lib" / "site-packages" / "sightline"
    package.parent.mkdir(parents=True)
    source = Path(__file__).parents[2] / "src" / "sightline"
    subprocess.run(["cp", "-r", str(source), str(package)], check=True)
    attempts = ["echo x >> .venv/lib/site-packages/sightline/__init__.py", "touch .venv/lib/site-packages/x.pth"]
    attempts += [f"{RENAME} .venv away", "rm -rf .venv"]
    code = (
        "import sys, subprocess, os; from sightline.exec import SandboxSpec, sandboxed\n"
        f"for line in {attempts!r}:\n"
        f"    box = sandboxed(['sh', '-c', line], {str(work)!r}, SandboxSpec(workspace={str(work)!r}))\n"
        "    env = box.handover.fill({**os.environ, **box.env})\n"
        "    done = subprocess.run(box.argv, env=env, pass_fds=[box.handover.descriptor])\n"
        "    assert done.returncode != 0, line\n"
        "    box.cleanup()\n"
        "import sightline; print(sightline.__file__)"
    )
    env = {**os.environ, "PYTHONPATH": str(package.parent), "SIGHTLINE_HOME": str(tmp_path / "data")}
    done = subprocess.run([sys.executable, "-c", code], env=env, cwd="/", capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"{package}/__init__.py\n"), done.stderr
    assert not list(package.parent.glob("*.pth"))
