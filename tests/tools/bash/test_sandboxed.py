"""Commands in the sandbox, for real: what they cannot do, what the model is told then, and how it may get out."""

import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from sightline.events import Notice, Request, ToolResult
from sightline.exec import SandboxSpec, SandboxStatus, sandbox_status
from sightline.exec.sandbox import _landlock, _sandbox
from sightline.settings import Policy
from sightline.tools import Limits, parameters
from sightline.tools.bash import BashTool
from sightline.tools.bash._blocked import sandbox_hint
from tests.agent.support import lab
from tests.tools.bash.support import Ran, bash, ran
from tests.tools.support import make_context

BOXED = {"permissions.sandbox": "true"}
HINT = "call bash with sandbox: false"

needs_sandbox = pytest.mark.skipif(sandbox_status().kind == "none", reason="no sandbox on this machine")
needs_bubblewrap = pytest.mark.needs("bubblewrap")


@pytest.fixture
def listening() -> Iterator[int]:
    """The port of somebody on this machine who takes calls."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            try:
                while True:
                    server.accept()[0].close()
            except OSError:
                return

        threading.Thread(target=accept, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


@needs_sandbox
async def test_it_can_write_in_the_workspace_only(tmp_path: Path) -> None:
    """Outside it fails, nothing is there, and the model is told what it can do about that."""
    outside = tmp_path / "outside"
    done = await ran(tmp_path, f"echo in > inside && cat inside && echo out > {outside}", settings=BOXED)
    assert done.text.startswith("in\n")
    assert done.result.exit_code == 1
    assert not outside.exists()
    assert done.details["sandboxed"] is True
    assert done.text.split("\n")[-1] == (
        "[hint: it ran in the sandbox, where only the working folder can be written, and not git's hooks and config "
        "in it. If that is why it failed and the task needs it, call bash with sandbox: false; the user is asked "
        "first]"
    )


@pytest.fixture
def landlock(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine without bubblewrap."""
    if not _landlock.abi():
        pytest.skip("the kernel has no Landlock")
    status = SandboxStatus(kind="landlock", why="bubblewrap is not installed")
    monkeypatch.setattr(_sandbox, "_decided", status)


@pytest.mark.parametrize(
    ("made", "named"),
    [
        ("", ""),
        pytest.param(".git", ".git/config", marks=pytest.mark.needs("git")),
        (".envrc", ".envrc"),
        (".husky/x", ".husky"),
        (".sightline/x", ".sightline"),
    ],
)
def test_with_landlock_a_command_that_could_change_what_is_protected_is_asked_about(
    tmp_path: Path, landlock: None, made: str, named: str
) -> None:
    """It cannot hold a part of the workspace. The question says what is not protected, and what would help."""
    context = make_context(tmp_path)
    if made == ".git":
        git_init(context.cwd)
    elif made:
        (context.cwd / made).parent.mkdir(exist_ok=True)
        (context.cwd / made).touch()
    tool = BashTool()
    (need,) = tool.needs(parameters(tool, {"command": "make"}), context)
    assert need.sandboxed, "it still runs inside Landlock"
    decision = Policy("auto", [], [], context.cwd).decide(need)
    assert decision.verdict == ("ask" if named else "allow")
    assert named in need.why
    assert ("bubblewrap" in need.why) == bool(named)
    assert Policy("auto", ["exec(make)"], [], context.cwd).decide(need).verdict == "allow"


@needs_bubblewrap
def test_what_no_sandbox_can_hold_is_asked_about_too(tmp_path: Path) -> None:
    """A `.git` that is a link can be replaced in the workspace."""
    context = make_context(tmp_path)
    git_init(context.cwd)
    tool = BashTool()
    wanted = parameters(tool, {"command": "make"})
    policy = Policy("auto", [], [], context.cwd)
    assert policy.decide(tool.needs(wanted, context)[0]).verdict == "allow"
    (context.cwd / ".git").rename(context.cwd / "store")
    (context.cwd / ".git").symlink_to("store")
    (need,) = tool.needs(wanted, context)
    assert (policy.decide(need).verdict, need.exposed) == ("ask", (".git",))


def git_init(folder: Path) -> None:
    subprocess.run(["git", "init", "-q", str(folder)], check=True)


@needs_bubblewrap
async def test_it_cannot_plant_what_runs_later_outside(tmp_path: Path) -> None:
    """No hook, no setting of git's, nothing for our next start, nothing that is denied; a commit still works."""
    work = tmp_path / "work"
    for folder in (".sightline/extensions", "migrations"):
        (work / folder).mkdir(parents=True)
    git_init(work)
    (work / ".git" / "hooks").mkdir(exist_ok=True)
    before = (work / ".git" / "config").read_bytes()
    attempts = [
        "echo x > .git/hooks/pre-commit",
        "git config core.hooksPath evil",
        "echo x >> .git/config",
        "echo x > .sightline/extensions/evil.py",
        "echo x > .sightline/settings.toml",
        "echo x > migrations/0001.sql",
        "mv .git away && cp -r away .git",
    ]
    tries = "; ".join(f"( {attempt} ) 2>/dev/null && echo through: {number}" for number, attempt in enumerate(attempts))
    commit = "git add seen && git -c user.name=a -c user.email=a@b.c commit -qm works && git log --format=%s"
    turns = [[bash(f"{tries}; echo x > seen; {commit}")], [{"text": "ok"}]]
    async with lab(tmp_path, turns, settings=BOXED, deny=["write(migrations/**)"]) as here:
        await here.run()
        done = Ran(here)
    assert (done.text, done.result.exit_code) == ("works", 0)
    assert (work / ".git" / "config").read_bytes() == before
    assert not (work / ".git" / "hooks" / "pre-commit").exists()
    assert os.listdir(work / "migrations") == []
    assert os.listdir(work / ".sightline") == ["extensions"]
    assert os.listdir(work / ".sightline" / "extensions") == []


@needs_bubblewrap
async def test_the_file_that_says_where_the_repository_is_stays(tmp_path: Path) -> None:
    """In a worktree `.git` is a file; another one would lead git to other hooks."""
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / ".git").write_text("gitdir: elsewhere\n")
    done = await ran(tmp_path, "echo gitdir: evil > .git || rm -f .git || echo kept", settings=BOXED)
    assert "kept" in done.text
    assert (tmp_path / "work" / ".git").read_text() == "gitdir: elsewhere\n"


@needs_sandbox
async def test_it_has_no_network(tmp_path: Path, listening: int) -> None:
    """Not even to this machine; without the sandbox the same command gets through."""
    command = f"echo > /dev/tcp/127.0.0.1/{listening} && echo 'got through'"
    inside = await ran(tmp_path, command, settings=BOXED)
    assert inside.result.exit_code == 1
    assert "got through" not in inside.text
    assert HINT in inside.text
    outside = await ran(tmp_path, command)
    assert outside.text == "got through"
    assert outside.details["sandboxed"] is False


@needs_sandbox
async def test_the_network_can_be_given(tmp_path: Path, listening: int) -> None:
    """By the person's own setting."""
    settings = {**BOXED, "permissions.sandbox_network": "true"}
    done = await ran(tmp_path, f"echo > /dev/tcp/127.0.0.1/{listening} && echo reached", settings=settings)
    assert done.text == "reached"


@needs_sandbox
async def test_a_timeout_ends_what_is_in_the_sandbox(tmp_path: Path) -> None:
    """Exit code 124 as without, and the words until then."""
    done = await ran(tmp_path, "echo begun; sleep 60", settings=BOXED, timeout=1)
    assert done.text.startswith("begun\n[timed out after 1 s, exit code 124")
    assert HINT not in done.text


@needs_sandbox
@pytest.mark.parametrize(
    "command",
    [
        pytest.param("echo 'Read-only file system'", id="it did not fail"),
        pytest.param("echo 'tests failed'; exit 1", id="it failed for another reason"),
    ],
)
async def test_no_hint_where_the_sandbox_is_not_the_reason(tmp_path: Path, command: str) -> None:
    """Only for a failure that looks like it."""
    assert HINT not in (await ran(tmp_path, command, settings=BOXED)).text


async def test_no_hint_without_a_sandbox(tmp_path: Path) -> None:
    """There it is the truth."""
    assert HINT not in (await ran(tmp_path, "echo 'Read-only file system'; exit 1")).text


@needs_sandbox
async def test_a_job_that_failed_has_the_hint_too(tmp_path: Path) -> None:
    """What a model is told of a job is what it would be told of a call."""
    turns = [[bash(f"until [ -e go ]; do sleep 0.01; done; echo > {tmp_path}/outside", **{"async": True})]]
    turns += [[{"text": "begun"}], [{"text": "heard"}]]
    async with lab(tmp_path, turns, settings=BOXED) as here:
        await here.run()
        (tmp_path / "work" / "go").touch()
        await here.until(lambda: any(HINT in repr(event) for event in here.seen))
        await here.ended()


@needs_sandbox
@pytest.mark.parametrize(("answer", "written"), [("once", True), ("no", False)])
async def test_getting_out_needs_the_person(tmp_path: Path, answer: str, written: bool) -> None:
    """`sandbox: false` is asked about although commands in the sandbox are not."""
    outside = tmp_path / "outside"
    turns = [[bash("true")], [bash(f"echo out > {outside}", sandbox=False)], [{"text": "ok"}]]
    async with lab(tmp_path, turns, approval="edit", allow=["exec(true)"], settings=BOXED, attended=True) as here:
        await here.agent.prompt("go")
        request = await here.first(Request)
        assert request.details["why"] == "the call asks to run outside the sandbox"
        assert request.details["what"] == f"echo out > {outside}"
        assert not outside.exists()
        assert here.agent.requests.answer(request.id, answer)
        await here.ended()
        assert outside.exists() == written
        assert here.of(ToolResult)[-1].is_error != written


@needs_sandbox
async def test_with_nobody_there_it_stays_inside(tmp_path: Path) -> None:
    """By default commands in the sandbox just run, and one that asks to get out is refused: exit code 3."""
    turns = [[bash("echo inside")], [bash("echo outside", sandbox=False)], [{"text": "ok"}]]
    async with lab(tmp_path, turns, approval="edit", settings=BOXED, allow=["exec(echo inside)"]) as here:
        assert (await here.run()).exit_code == 3
        assert Ran(here).text == "inside"
        assert here.of(ToolResult)[1].details == {"ended": "refused", "by": "nobody"}


@pytest.mark.parametrize(
    ("given", "asks", "sandboxed"),
    [
        pytest.param(True, True, True, id="in the sandbox"),
        pytest.param(True, False, False, id="the call asks to get out"),
        pytest.param(False, True, False, id="there is none"),
    ],
)
@needs_sandbox
def test_what_it_needs(tmp_path: Path, given: bool, asks: bool, sandboxed: bool) -> None:
    """The person, and the rules, are told which it is."""
    context = make_context(tmp_path)
    context.workplace.limits = lambda: Limits(sandbox=given)
    tool = BashTool()
    (need,) = tool.needs(parameters(tool, {"command": "make", "sandbox": asks}), context)
    assert (need.access, need.what, need.sandboxed, bool(need.why)) == ("exec", "make", sandboxed, not asks)


@pytest.mark.parametrize(
    ("said", "network", "hint"),
    [
        ("touch: cannot touch '/x': Read-only file system", True, "can be written"),
        ("OSError: [Errno 30] Read-only file system: '/x'", False, "can be written"),
        ("curl: (6) Could not resolve host: example.org", False, "no network"),
        ("curl: (6) Could not resolve host: example.org", True, ""),
        ("fatal: unable to access: Couldn't resolve host", False, "no network"),
        ("Temporary failure in name resolution", False, "no network"),
        ("connect: Network is unreachable", False, "no network"),
        ("npm ERR! code EAI_AGAIN", False, "no network"),
        ("E   AssertionError", False, ""),
        ("Read-only file system" + "x" * 20_000, False, ""),
    ],
)
def test_what_looks_like_the_sandbox(said: str, network: bool, hint: str) -> None:
    """By the words programs have for it, at the end of the output."""
    found = sandbox_hint(said, SandboxSpec(workspace="/w", network=network))
    assert (hint in found) if hint else not found


def _planting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, planted: bool = True) -> list[object]:
    """A folder of the workspace is first on PATH, with a program in it, and one of its name is to be run outside."""
    folder = tmp_path / "work" / ".venv" / "bin"
    folder.mkdir(parents=True)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    if planted:
        (folder / "uname").write_text(f"#!/bin/sh\n: > {tmp_path}/ran\n")
        (folder / "uname").chmod(0o755)
    return [[bash("uname -a", sandbox=False)], [{"text": "done"}]]


@needs_sandbox
async def test_a_rule_does_not_let_a_planted_program_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It names a word, and PATH makes that a file any command can write. The notice says so, and what to do."""
    turns = _planting(tmp_path, monkeypatch)
    async with lab(tmp_path, turns, approval="edit", allow=["exec(uname *)"], settings=BOXED) as here:
        outcome = await here.run()
        assert outcome.exit_code == 3
        notice = here.of(Notice)[-1]
        assert f"PATH leads to {tmp_path}/work/.venv/bin/uname in the workspace" in notice.text
        assert "by its path" in notice.hint
    assert not (tmp_path / "ran").exists()


@needs_sandbox
async def test_the_person_is_asked_about_a_program_in_the_workspace(tmp_path: Path, monkeypatch) -> None:
    """With the reason, and for this once."""
    turns = _planting(tmp_path, monkeypatch)
    allow = ["exec(uname *)"]
    async with lab(tmp_path, turns, approval="edit", allow=allow, settings=BOXED, attended=True) as here:
        await here.agent.prompt("go")
        request = await here.first(Request)
        assert request.choices == ["once", "no"]
        assert "does not apply: PATH leads to" in request.details["why"]
        assert here.agent.requests.answer(request.id, "once")
        await here.ended()
    assert (tmp_path / "ran").exists()


@needs_sandbox
@pytest.mark.parametrize(("approval", "allow"), [("full", []), ("edit", ["exec"])])
async def test_whoever_allows_every_command_is_not_asked(tmp_path: Path, monkeypatch, approval, allow) -> None:
    turns = _planting(tmp_path, monkeypatch)
    async with lab(tmp_path, turns, approval=approval, allow=allow, settings=BOXED) as here:
        assert (await here.run()).exit_code == 0
    assert (tmp_path / "ran").exists()


@needs_sandbox
async def test_a_program_of_the_system_runs_by_rule_with_such_a_path(tmp_path: Path, monkeypatch) -> None:
    turns = _planting(tmp_path, monkeypatch, planted=False)
    async with lab(tmp_path, turns, approval="edit", allow=["exec(uname *)"], settings=BOXED) as here:
        assert (await here.run()).exit_code == 0
