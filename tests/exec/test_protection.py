"""The protected set while commands run: real commands that try to change it, and what is left behind."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sightline.exceptions import OutsideFailure
from sightline.exec import SandboxSpec, sandboxed
from sightline.exec.sandbox._protection import Protection
from sightline.settings import Protected

from .test_sandbox import run_argv

pytestmark = pytest.mark.needs("bubblewrap", "git")

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
    lines += ["git worktree add -q ../work/tree -b tree", "mkdir -p node_modules/.bin", "echo x > node_modules/.bin/y"]
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
    code = (
        f"import os; from sightline.exec.sandbox._protection import Protection; Protection({str(work)!r}); os._exit(9)"
    )
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
    from sightline.exec.sandbox import _protection

    (tmp_path / "outside").mkdir()
    (work / "way").symlink_to(tmp_path / "outside")
    for name in ("commondir", "hooks/"):
        with pytest.raises(NotADirectoryError):
            _protection._make(str(work), f"{work}/way/{name}", "")
    assert not list((tmp_path / "outside").iterdir())


def test_a_command_cannot_have_the_lock_alone(work, monkeypatch):
    """It would keep every other command from starting. What we store looks empty to it."""
    monkeypatch.setenv("SIGHTLINE_HOME", str(work / "data"))  # where a command would see it: /tmp is its own
    folder = work / "data" / "workspaces"
    code = (
        "import fcntl, os, struct, sys\n"
        f"fd = os.open(os.path.join({str(folder)!r}, os.listdir({str(folder)!r})[0]), os.O_RDONLY)\n"
        "fcntl.flock(fd, fcntl.LOCK_EX)\n"
        "fcntl.fcntl(fd, fcntl.F_OFD_SETLK, struct.pack('hhqqixxxx', fcntl.F_WRLCK, 0, 0, 0, 0))"
    )
    (work / "try.py").write_text(code)
    done = run(work, f"{sys.executable} try.py")
    assert (done.returncode, "FileNotFoundError" in done.stderr) == (1, True)


def test_what_cannot_be_held_is_said(work):
    """With the command."""
    (work / ".git").rename(work / "store")
    (work / ".git").symlink_to("store")
    box = sandboxed(["true"], "", SandboxSpec(workspace=str(work)), _kind="bubblewrap")
    box.cleanup()
    assert box.message.startswith("the sandbox cannot protect .git: a link, ")


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
        "    done = subprocess.run(box.argv, env=env, pass_fds=[box.handover.descriptor, *box.descriptors])\n"
        "    assert done.returncode != 0, line\n"
        "    box.cleanup()\n"
        "import sightline; print(sightline.__file__)"
    )
    env = {**os.environ, "PYTHONPATH": str(package.parent), "SIGHTLINE_HOME": str(tmp_path / "data")}
    done = subprocess.run([sys.executable, "-c", code], env=env, cwd="/", capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"{package}/__init__.py\n"), done.stderr
    assert not list(package.parent.glob("*.pth"))


@pytest.mark.parametrize(
    ("before", "attempt", "target"),
    [
        ("chmod 000 .git", "chmod 755 .git; echo EVIL >> .git/config", ".git/config"),
        ("chmod 555 .git", "chmod 755 .git; echo EVIL > .git/commondir", ".git/commondir"),
        ("chmod 000 sub", "chmod 755 sub; echo EVIL >> sub/inner/.git/config", "sub/inner/.git/config"),
        ("chmod 300 sub", "chmod 755 sub; echo EVIL >> sub/inner/.git/config", "sub/inner/.git/config"),
    ],
)
def test_taking_rights_away_opens_nothing(work, before, attempt, target):
    """What cannot be looked at, or no placeholder be made in, is read-only with its folder."""
    subprocess.run(["git", "init", "-q", str(work / "sub" / "inner")], check=True)
    assert run(work, before).returncode == 0
    assert run(work, attempt).returncode != 0
    subprocess.run(["chmod", "-R", "u+rwX", str(work)], check=True)
    assert not (work / target).exists() or "EVIL" not in (work / target).read_text()


def test_without_a_state_nobody_joins(work, monkeypatch):
    """A state that is empty or unreadable never means that nothing is protected."""
    from sightline.exec.sandbox import _protection

    monkeypatch.setattr(_protection, "_BETWEEN_ATTEMPTS", 0.0)
    first = Protection(str(work))
    for content in (b"", b"half"):
        os.truncate(first._lock, 0)
        os.pwrite(first._lock, content, 0)
        with pytest.raises(OutsideFailure, match="cannot be read"):
            Protection(str(work))
    first.release()
    (work / ".git" / "commondir").unlink()


def test_a_large_state_is_read_whole(work, monkeypatch):
    """So much is protected that the state is larger than any one read."""
    from sightline.exec.sandbox import _protection

    found = Protected(read_only=tuple(f"{work}/{number:0200}" for number in range(10_000)))
    monkeypatch.setattr(_protection, "protected", lambda workspace: found)
    first, second = Protection(str(work)), Protection(str(work))
    assert os.fstat(first._lock).st_size > 2_000_000
    assert second.protected.read_only == found.read_only
    first.release()
    second.release()


def test_where_nothing_is_protected_that_is_said(tmp_path):
    """Joining finds it."""
    first, second = Protection(str(tmp_path)), Protection(str(tmp_path))
    assert second.protected == first.protected
    second.release()
    first.release()


def test_a_name_that_is_no_text_stops_nothing(work):
    """And nothing is left behind."""
    folder = os.path.join(os.fsencode(work), b"a\xff")
    os.mkdir(folder)
    with open(os.path.join(folder, b".envrc"), "w"):
        pass
    assert run(work, "echo hello; ! echo x > a*/.envrc").returncode == 0
    assert not (work / ".git" / "commondir").exists()


def test_a_placeholder_that_cannot_be_made_in_the_workspace_is_a_refusal(work, monkeypatch):
    """A folder of ours that is full or not writable: a command could make room, or give itself the right."""
    from sightline.exec.sandbox import _protection

    def full(workspace, path, content):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(_protection, "protected", lambda workspace: Protected(absent={f"{work}/hooks/": ""}))
    monkeypatch.setattr(_protection, "_make", full)
    with pytest.raises(OutsideFailure, match="No space left"):
        Protection(str(work))


def test_a_placeholder_that_cannot_be_removed_is_not_forgotten(work, monkeypatch):
    """A command may have taken us the right to. Nobody joins what only says what is left."""
    from sightline.exec.sandbox import _protection

    usual = _protection._unmake
    monkeypatch.setattr(_protection, "_unmake", lambda workspace, path, content: False)
    Protection(str(work)).release()
    assert (work / ".git" / "commondir").exists()
    monkeypatch.setattr(_protection, "_unmake", usual)
    protection = Protection(str(work))
    assert str(work / ".git" / "config") in protection.protected.read_only
    protection.release()
    assert not (work / ".git" / "commondir").exists()


def test_joining_says_what_was_replaced_from_outside(work):
    """The mount that kept the running commands from it is gone with the old file."""
    first = Protection(str(work))
    subprocess.run(["git", "-C", str(work), "config", "user.name", "me"], check=True)
    second = Protection(str(work))
    assert second.protected.exposed == (str(work / ".git" / "config"),)
    second.release()
    first.release()


def test_our_tools_write_a_held_file_in_place(work):
    """While commands run; what they can write anyway, and after them everything, is replaced."""
    from sightline.tools.files._atomic import replace_file

    files = [work / ".envrc", work / "code.py"]
    for file in files:
        file.write_text("before, and longer")

    def replaced() -> list[bool]:
        numbers = [file.stat().st_ino for file in files]
        for file in files:
            replace_file(file, b"after")
        assert [file.read_bytes() for file in files] == [b"after", b"after"]
        return [file.stat().st_ino != number for file, number in zip(files, numbers, strict=True)]

    protection = Protection(str(work))
    assert replaced() == [False, True]
    protection.release()
    assert not (work / ".git" / "commondir").exists()
    assert replaced() == [True, True]


@pytest.mark.parametrize("name", [".bash_aliases", ".vimrc", ".gnupg/gpg.conf", "bin/ls", ".config/x", "new"])
def test_when_home_is_the_workspace_nothing_new_is_made_in_it(work, monkeypatch, name):
    """What is visible there can be written, and so can the cache."""
    monkeypatch.setenv("HOME", str(work))
    monkeypatch.setenv("PATH", f"{work}/bin:{os.environ['PATH']}")
    for folder in ("project", ".cache"):
        (work / folder).mkdir()
    (work / "notes").touch()
    run(work, f"mkdir -p {os.path.dirname(name) or '.'}; echo x > {name}")
    assert not (work / name).exists()
    who = "git -c user.name=a -c user.email=a@b"
    lines = ["echo x > project/f", "mkdir project/new", "echo x > .cache/y", "echo x >> notes", "git add project"]
    done = run(work, " && ".join([*lines, f"{who} commit -qm x"]))
    assert done.returncode == 0, done.stderr
    assert run(work, "echo x >> .git/config; rm -r project").returncode != 0
    assert (work / "project").is_dir()
