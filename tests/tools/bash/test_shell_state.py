"""`cd` and exported variables last for the next commands of a session; what a command reports is not trusted."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from sightline.events import ToolResult
from sightline.exec import SandboxStatus, sandbox_status
from sightline.exec.sandbox import _landlock, _sandbox
from sightline.tools.bash import _tool
from sightline.tools.bash._shell_state import MOST_VARIABLES
from tests.agent.support import lab, store_in
from tests.tools.bash.support import bash

PLAIN = {"permissions.sandbox": "false"}
BOXED = {"permissions.sandbox": "true"}


@pytest.fixture(params=["none", "bubblewrap", "landlock"])
def settings(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    if request.param == "none":
        return PLAIN
    if request.param == "landlock":
        if not _landlock.abi():
            pytest.skip("this kernel has no Landlock")
        monkeypatch.setattr(_sandbox, "_decided", SandboxStatus(kind="landlock", why="bubblewrap is not installed"))
    elif sandbox_status().kind != "bubblewrap":
        pytest.skip("bubblewrap does not work here")
    return BOXED


@pytest.fixture(autouse=True)
def not_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the tests run is not what a command exported."""
    monkeypatch.delenv("CI", raising=False)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "work" / "sub").mkdir(parents=True)
    return tmp_path / "work"


async def ran(
    folder: Path, *commands: str | dict[str, Any], settings: Any = None, resume: str = "", **more: Any
) -> list[ToolResult]:
    """Each command in an answer of its own, all in one session."""
    turns: list[Any] = [[bash(one) if isinstance(one, str) else one] for one in commands]
    turns.append([{"text": "ok"}])
    async with lab(folder, turns, settings=settings or PLAIN, resume=resume, **more) as here:
        await here.run()
        return here.of(ToolResult)


def first_line(result: ToolResult) -> str:
    return result.content.split("\n")[0]


async def test_the_folder_and_variables_last(tmp_path: Path, work: Path, settings: dict[str, str]) -> None:
    changed, then = await ran(
        tmp_path, "cd sub && export NODE_ENV=test", 'echo "$PWD $NODE_ENV"', settings=settings, allow=["exec"]
    )
    assert changed.content == "(no output)\n[the next commands run in sub; exported for the next commands: NODE_ENV]"
    assert changed.details["shell"] == {"cwd": "sub", "exported": ["NODE_ENV"]}
    assert then.content == f"{work / 'sub'} test"
    assert then.details["cwd"] == "sub"
    assert "shell" not in then.details


@pytest.mark.parametrize(
    "ending",
    [
        "cd sub; exit 3",
        "set -e; cd sub; false",
        "set -xu; cd sub",
        "cd sub; echo $UNSET; set -u; echo $UNSET",
        "set -f; IFS=/; cd sub",
    ],
)
async def test_however_the_shell_exits(ending: str, tmp_path: Path, work: Path) -> None:
    changed, then = await ran(tmp_path, ending, "pwd")
    assert changed.details["shell"] == {"cwd": "sub"}
    assert "__name" not in changed.content
    assert "printf" not in changed.content
    assert first_line(then) == str(work / "sub")


@pytest.mark.parametrize("ending", ["cd sub; kill -9 $$", "cd sub; exec true", "cd sub; trap - EXIT", "(cd sub)"])
async def test_a_shell_that_does_not_report_its_end_changes_nothing(ending: str, tmp_path: Path, work: Path) -> None:
    changed, then = await ran(tmp_path, ending, "pwd")
    assert "shell" not in (changed.details or {})
    assert first_line(then) == str(work)


async def test_exit_codes_and_errors_are_what_they_were(tmp_path: Path, work: Path) -> None:
    """What makes the shell report is no part of the command."""
    failed, wrong = await ran(tmp_path, "cd sub; exit 7", "cd sub; echo (")
    assert failed.exit_code == 7
    assert wrong.exit_code == 2
    assert "line 1" in wrong.content
    assert "/dev/fd" not in wrong.content


async def test_scripts_it_starts_report_nothing(tmp_path: Path, work: Path) -> None:
    (work / "s.sh").write_text("cd /; export X=1\n")
    (result,) = await ran(tmp_path, "export CI=1; bash s.sh; bash -c 'echo $BASH_ENV.'")
    assert result.content.startswith(".\n")
    assert result.details["shell"] == {"exported": ["CI"]}


async def test_a_folder_outside_the_workspace_is_not_the_next_commands(tmp_path: Path, work: Path) -> None:
    """Not even by a link in the workspace: sandboxed commands write where the workspace is, and it does not move."""
    (work / "out").symlink_to("/etc")
    changed, linked, then = await ran(tmp_path, "cd /etc", "cd out", "pwd")
    assert changed.details["shell"] == linked.details["shell"] == {"outside": "/etc"}
    assert "/etc is outside the working folder" in changed.content
    assert first_line(then) == str(work)


async def test_a_folder_whose_name_is_no_text_is_not_the_next_commands(tmp_path: Path, work: Path) -> None:
    """It is in the workspace, and that is not what is wrong with it."""
    changed, then = await ran(tmp_path, r"mkdir $'odd\xff'; cd $'odd\xff'", "pwd")
    assert changed.details["shell"] == {"unnamed": "odd\ufffd"}
    assert "the name of odd\ufffd is not UTF-8: the next command does not run there" in changed.content
    assert "outside the working folder" not in changed.content
    assert first_line(then) == str(work)


async def test_a_folder_that_is_gone_is_not_used(tmp_path: Path, work: Path) -> None:
    _, _, then = await ran(tmp_path, "cd sub", "rmdir ../sub", "pwd")
    assert first_line(then) == str(work)


@pytest.mark.parametrize("ending", ["exec true", "true"])
async def test_a_forged_report_is_checked_like_any(ending: str, tmp_path: Path, work: Path) -> None:
    """Before its own report, and in place of it: whoever has the descriptor can write what he likes."""
    (work / "forge.py").write_text(
        "import os\n"
        "for fd in range(3, 64):\n"
        "    try:\n"
        "        os.write(fd, 2 * b'state\\0/etc\\0LD_PRELOAD=/x.so\\0A B=1\\0\\xff=1\\0CI=1\\0end\\0')\n"
        "    except OSError:\n"
        "        pass\n"
    )
    forge = f"{sys.executable} forge.py"
    changed, then = await ran(tmp_path, f"cd .; {forge}; {ending}", "pwd; env")
    assert first_line(then) == str(work)
    assert "LD_PRELOAD" not in then.content
    assert changed.details.get("shell", {}).get("cwd") is None
    assert "A B" not in changed.content


STEERING = (
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "BASH_ENV",
    "ENV",
    "HOME",
    "IFS",
    "HTTPS_PROXY",
    "SIGHTLINE_RUN",
    "MY_TOKEN",
)


async def test_variables_that_steer_what_runs_do_not_last(tmp_path: Path, work: Path, settings: dict[str, str]) -> None:
    exports = " ".join(f"{name}=nowhere" for name in STEERING)
    _, then = await ran(tmp_path, f"export {exports} HERE=1", "env", settings=settings, allow=["exec"])
    rows = then.content.split("\n")
    assert ("HERE=1" in rows) == (settings is BOXED)  # outside the sandbox only harmless ones last
    assert not any(row.endswith("=nowhere") for row in rows)


async def test_outside_the_sandbox_only_harmless_variables_last(tmp_path: Path, work: Path) -> None:
    changed, then = await ran(tmp_path, "export PATH=$PWD:$PATH NODE_OPTIONS=--x NO_COLOR=1", "env")
    assert changed.details["shell"] == {"exported": ["NO_COLOR"], "left_out": ["NODE_OPTIONS", "PATH"]}
    assert "NO_COLOR=1" in then.content
    assert f"PATH={work}" not in then.content
    assert "NODE_OPTIONS" not in then.content


@pytest.mark.skipif(sandbox_status().kind == "none", reason="no sandbox on this machine")
async def test_what_a_sandboxed_command_exports_does_not_leave_the_sandbox(tmp_path: Path, work: Path) -> None:
    """Else it would choose what an allowed command outside it runs."""
    inside, outside = bash("echo $PATH"), bash("echo $PATH", sandbox=False)
    _, boxed, free = await ran(tmp_path, "export PATH=$PWD:$PATH", inside, outside, settings=BOXED, allow=["exec"])
    assert first_line(boxed).startswith(f"{work}:")
    assert first_line(free) == os.environ["PATH"]


@pytest.mark.skipif(sandbox_status().kind == "none", reason="no sandbox on this machine")
async def test_a_command_that_gets_a_secret_gets_no_path_of_another(
    tmp_path: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GH_TOKEN", "abc")
    allowed = ["exec(sh -c *) with GH_TOKEN"]
    _, then = await ran(
        tmp_path, "export PATH=$PWD:$PATH", "sh -c 'echo $PATH'", settings=BOXED, allow=allowed, approval="auto"
    )
    assert not first_line(then).startswith(f"{work}:")


@pytest.mark.skipif(sandbox_status().kind == "none", reason="no sandbox on this machine")
async def test_there_is_a_bound(tmp_path: Path, work: Path) -> None:
    many = "for n in $(seq 200); do export V$n=$n; done; export BIG=$(printf 'x%.0s' $(seq 9000))"
    changed, then = await ran(tmp_path, many, "env", settings=BOXED)
    assert len(changed.details["shell"]["exported"]) <= MOST_VARIABLES
    assert "BIG=" not in then.content


@pytest.mark.skipif(sandbox_status().kind == "none", reason="no sandbox on this machine")
async def test_what_does_not_fit_takes_no_room(tmp_path: Path, work: Path) -> None:
    """One large value dropped all that came after it in the alphabet."""
    large = "export A=$(printf 'x%.0s' $(seq 40000)) B=b C=c; for n in $(seq 3); do export D$n=${A:0:8000}; done"
    changed, then = await ran(tmp_path, large, "env", settings=BOXED)
    assert changed.details["shell"]["exported"] == ["B", "C", "D1", "D2", "D3"]
    assert changed.details["shell"]["left_out"] == ["A"]
    assert {"B=b", "C=c"} <= set(then.content.split("\n"))


@pytest.mark.skipif(sandbox_status().kind == "none", reason="no sandbox on this machine")
async def test_what_is_left_out_is_named_within_bounds(tmp_path: Path, work: Path) -> None:
    many = "for n in $(seq 1000 1999); do export LD_$n=1; done"
    (changed,) = await ran(tmp_path, many, settings=BOXED)
    left_out = changed.details["shell"]["left_out"]
    assert left_out == [f"LD_{n}" for n in range(1000, 1000 + MOST_VARIABLES)]
    assert changed.details["shell"]["more_left_out"] == 1000 - MOST_VARIABLES
    assert "LD_1007 and 992 more" in changed.content


async def test_an_explicit_folder_is_for_one_command(tmp_path: Path, work: Path) -> None:
    first, then = await ran(tmp_path, bash("export CI=1; pwd", cwd="sub"), "pwd")
    assert first_line(first) == str(work / "sub")
    assert first_line(then) == str(work)


async def test_a_rule_sees_the_folder_that_is_used(tmp_path: Path, work: Path) -> None:
    """`in sub` holds after `cd sub`, and a rule of the workspace does not hold in a repository in it."""
    (work / "sub" / ".git").mkdir()
    allowed = [f"exec(pwd) in {work / 'sub'}", "exec(cd *)", "exec(true)"]
    _, here, not_here = await ran(tmp_path, "cd sub", "pwd", "true", approval="ask", allow=allowed)
    assert first_line(here) == str(work / "sub")
    assert not_here.is_error


async def test_jobs_and_the_setting(tmp_path: Path, work: Path) -> None:
    off = {**PLAIN, "bash.persist_state": "false"}
    changed, then = await ran(tmp_path, "cd sub; export CI=1", "pwd; echo $CI.", settings=off)
    assert "shell" not in changed.details
    assert then.content == f"{work}\n."


async def test_a_resume_has_the_folder_and_not_the_variables(tmp_path: Path, work: Path) -> None:
    turns: list[Any] = [[bash("cd sub; export CI=1")], [{"text": "ok"}]]
    async with lab(tmp_path, turns) as here:
        await here.run()
        session = here.session.id
    turns += [[bash("pwd; echo $CI.")], [bash("pwd")], [{"text": "ok"}]]
    async with lab(tmp_path, turns, resume=session) as here:
        await here.run()
        first, second = here.of(ToolResult)
    assert first.content == f"{work / 'sub'}\n.\n[no longer set since the session was resumed: CI]"
    assert second.content == str(work / "sub")


async def test_a_fork_begins_with_the_state_at_its_branch_point(tmp_path: Path, work: Path) -> None:
    """The folder of that point, not the one the session ended in; a fork of all of it has the last one. Variables are
    not stored, and the first result says which are gone."""
    (work / "later").mkdir()
    turns: list[Any] = [[bash("cd sub; export CI=1")], [{"text": "ok"}], [bash("cd ../later")], [{"text": "ok"}]]
    async with lab(tmp_path, turns) as here:
        await here.run()
        point = here.agent.memory.tree.leaf
        await here.run()
        session = here.session.id
    for leaf, made, folder in ((point, 1, "sub"), ("", 2, "later")):
        fork = store_in(tmp_path).fork(session, leaf)
        again: list[Any] = [*turns[: 2 * made], [bash("pwd; echo $CI.")], [{"text": "ok"}]]
        async with lab(tmp_path, again, resume=fork) as here:
            await here.run()
            (result,) = here.of(ToolResult)
        assert result.content == f"{work / folder}\n.\n[no longer set since the session was resumed: CI]"


@pytest.mark.parametrize("name", ["sh", "zsh"])
async def test_another_shell_says_that_nothing_lasts(name: str, tmp_path: Path, work: Path) -> None:
    """No error, and no model that believes its `cd` counted. A command that cannot change anything says nothing."""
    (tmp_path / name).symlink_to("/bin/sh")
    settings = {**PLAIN, "bash.shell": str(tmp_path / name)}
    changed, then = await ran(tmp_path, "cd sub && export CI=1", "pwd; echo $CI.", settings=settings)
    assert changed.exit_code == 0
    assert changed.content == f"(no output)\n[cd and exports do not last: the shell is {name}, not bash]"
    assert changed.details["shell"] == {"other_shell": name}
    assert then.content == f"{work}\n."


async def test_where_there_is_no_bash_sh_runs_it(tmp_path: Path, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_tool, "find_program", lambda name: None)
    changed, then = await ran(tmp_path, "cd sub && pwd", "pwd")
    assert changed.content == f"{work / 'sub'}\n[cd and exports do not last: the shell is sh, not bash]"
    assert then.content == str(work)


async def test_a_new_session_starts_in_the_workspace(tmp_path: Path, work: Path) -> None:
    await ran(tmp_path, "cd sub; export CI=1")
    (then,) = await ran(tmp_path, "pwd; echo $CI.")
    assert then.content == f"{work}\n."


async def test_a_users_own_bash_env_is_still_read(tmp_path: Path, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "env.sh").write_text("GREETING=hello\n")
    monkeypatch.setenv("BASH_ENV", str(tmp_path / "env.sh"))
    (result,) = await ran(tmp_path, "cd sub; echo $GREETING $BASH_ENV; env | grep -c BASH_ENV")
    assert result.content.startswith(f"hello {tmp_path / 'env.sh'}\n1\n")
