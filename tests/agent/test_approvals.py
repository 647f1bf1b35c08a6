"""What a call may do: by rule, by the person, or not at all."""

import asyncio
import subprocess
from pathlib import Path

import pytest

from sightline.conversation import ToolMessage, text_of
from sightline.events import Notice, Request, RequestResolved, RunEnded, ToolResult
from sightline.exec import SandboxStatus
from sightline.exec.sandbox import _landlock, _sandbox
from sightline.settings import remembered_rules
from tests.agent.support import Lab, lab


def outside(command: str = "echo out") -> dict[str, object]:
    """A call that asks to run outside the sandbox."""
    return {"tool": "bash", "args": {"command": command, "sandbox": False}}


async def answered(here: Lab, answer: object, prompt: str = "go") -> Request:
    await here.agent.prompt(prompt)
    request = await here.first(Request, lambda event: not any(r.id == event.id for r in here.of(RequestResolved)))
    assert here.agent.requests.answer(request.id, answer)
    return request


async def test_with_nobody_there_it_is_refused_at_once(tmp_path: Path) -> None:
    """The model is told, the person sees the rule that would allow it, and the run ends with exit code 3."""
    async with lab(tmp_path, [[outside("git push origin")], [{"text": "I could not push."}]], approval="edit") as here:
        outcome = await here.run()
        assert outcome.exit_code == 3
        assert here.of(RunEnded)[-1].exit_code == 3
        assert outcome.text == "I could not push."
        (result,) = here.of(ToolResult)
        assert result.is_error
        assert result.details == {"ended": "refused", "by": "nobody"}
        (notice,) = here.of(Notice)
        assert notice.hint == "to allow it: --allow 'exec(git push origin)'"
        assert not here.of(Request)


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        ({"tool": "write", "args": {"path": "a.txt", "content": "x"}}, "allow changes with --approval edit"),
        ({"tool": "bash", "args": {"command": "ls"}}, "allow commands in the sandbox with --approval auto"),
        (outside("make it"), "to allow it: --approval edit --allow 'exec(make it)'"),
    ],
)
async def test_what_plan_refuses_names_what_would_allow_it(
    tmp_path: Path, call: dict[str, object], hint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hint is no help unless it works: edit allows no command."""
    monkeypatch.setattr("sightline.tools.bash._tool.sandbox_status", lambda: SandboxStatus(kind="bubblewrap"))
    settings = {"permissions.sandbox": "true"}
    async with lab(tmp_path, [[call], [{"text": "ok"}]], approval="plan", settings=settings) as here:
        assert (await here.run()).exit_code == 3
        assert [notice.hint for notice in here.of(Notice)] == [hint]


async def test_a_rule_lets_it_pass(tmp_path: Path) -> None:
    """The rule that was suggested is the one that allows it."""
    rules = ["exec(echo out)"]
    async with lab(tmp_path, [[outside()], [{"text": "ok"}]], approval="edit", allow=rules) as here:
        assert (await here.run()).exit_code == 0
        assert here.of(ToolResult)[0].content == "out"


async def test_a_deny_rule_wins(tmp_path: Path) -> None:
    """It is refused although everything is allowed; nobody is asked, and it is no want of permission."""
    turns = [[outside("rm -rf build")], [{"text": "ok"}]]
    async with lab(tmp_path, turns, approval="full", deny=["exec(rm *)"], attended=True) as here:
        assert (await here.run()).exit_code == 0
        (result,) = here.of(ToolResult)
        assert "not allowed" in result.content
        assert not here.of(Request)


async def test_the_person_is_asked_with_everything_there_is_to_know(tmp_path: Path) -> None:
    """The request has the tool, the whole command, why it asks, and the rule it would become."""
    async with lab(tmp_path, [[outside()], [{"text": "ok"}]], approval="edit", attended=True) as here:
        request = await answered(here, "once")
        assert (await here.ended()).exit_code == 0
        assert request.what == "approval"
        assert request.choices == ["once", "this session", "always here", "no"]
        assert request.details["what"] == "echo out"
        assert request.details["rule"] == "exec(echo out)"
        assert here.of(ToolResult)[0].content == "out"


async def test_once_is_once(tmp_path: Path) -> None:
    """The second time the same is asked again."""
    turns = [[outside()], [outside()], [{"text": "ok"}]]
    async with lab(tmp_path, turns, approval="edit", attended=True) as here:
        await answered(here, "once")
        await here.until(lambda: len(here.of(Request)) == 2)
        here.agent.requests.answer(here.of(Request)[1].id, "no")
        await here.ended()
        assert [result.is_error for result in here.of(ToolResult)] == [False, True]


async def test_a_session_can_allow_a_command_with_any_arguments(tmp_path: Path) -> None:
    """The answer shows its rule, which is no more than that, and is not remembered."""
    turns = [[{"tool": "bash", "args": {"command": f"pytest --{each}"}}] for each in ("version", "help")]
    boxed = {"permissions.sandbox": "true"}
    async with lab(tmp_path, [*turns, [{"text": "ok"}]], settings=boxed, approval="edit", attended=True) as here:
        wider = "Yes, for this session: exec(pytest *) sandboxed"
        request = await answered(here, {"choice": wider})
        assert request.choices == ["once", "this session", wider, "always here", "no"]
        assert request.details["prefix"] == "exec(pytest *) sandboxed"
        await here.ended()
        assert len(here.of(Request)) == 1
        assert [rule.rule for rule in here.agent.permissions.approvals.rules] == ["exec(pytest *) sandboxed"]
        assert remembered_rules(here.agent.permissions.policy.workspace).allow == ()


async def test_a_notice_about_the_sandbox_comes_once_a_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What Landlock cannot prevent is the same for each command."""
    if not _landlock.abi():
        pytest.skip("the kernel has no Landlock")
    monkeypatch.setattr(_sandbox, "_decided", SandboxStatus(kind="landlock", why="bubblewrap is not installed"))
    turns = [[{"tool": "bash", "args": {"command": f"echo {n}"}}] for n in range(3)]
    async with lab(tmp_path, [*turns, [{"text": "ok"}]], settings={"permissions.sandbox": "true"}) as here:
        await here.run()
        assert [result.content for result in here.of(ToolResult)] == ["0", "1", "2"]
        assert len([notice for notice in here.of(Notice) if "Landlock" in notice.text]) == 1


@pytest.mark.parametrize("choice", ["this session", "always here"])
async def test_a_yes_for_longer_is_not_asked_again(tmp_path: Path, choice: str) -> None:
    """For the session it is forgotten afterwards; always here, it is remembered for this workspace."""
    turns = [[outside()], [outside()], [{"text": "ok"}]]
    async with lab(tmp_path, turns, approval="edit", attended=True) as here:
        await answered(here, choice)
        await here.ended()
        assert len(here.of(Request)) == 1
        assert not any(result.is_error for result in here.of(ToolResult))
    remembered = remembered_rules(tmp_path / "work").allow
    assert remembered == (("exec(echo out)",) if choice == "always here" else ())


@pytest.mark.parametrize(
    ("choice", "how_long"),
    [("this session", "for this session"), ("always here", "in this folder from now on")],
)
async def test_a_yes_for_longer_leaves_a_row(tmp_path: Path, choice: str, how_long: str) -> None:
    """The rule that was given, once, and how to take it back; a yes for once leaves none."""
    turns = [[outside("echo one\necho two")], [outside("echo three")], [{"text": "ok"}]]
    async with lab(tmp_path, turns, approval="edit", attended=True) as here:
        await answered(here, choice)
        await here.until(lambda: len(here.of(Request)) == 2)
        here.agent.requests.answer(here.of(Request)[1].id, "once")
        await here.ended()
        (notice,) = here.of(Notice)
        assert (notice.level, notice.text) == ("info", f"allowed {how_long}: exec(echo one⏎echo two)")
        assert "/approvals" in notice.hint
        here.agent.permissions.approvals.forget("exec(echo one⏎echo two)")
        assert not any(rule.origin in ("session", "always") for rule in here.agent.permissions.approvals.rules)
    assert not remembered_rules(tmp_path / "work").allow


@pytest.mark.parametrize(
    ("call", "why"),
    [
        ({"tool": "read", "args": {"path": "../secret.txt"}}, "outside this folder"),
        ({"tool": "write", "args": {"path": "../new.txt", "content": "x"}}, "outside this folder"),
        ({"tool": "read", "args": {"path": "link.txt"}}, "outside this folder: link.txt leads there"),
        ({"tool": "write", "args": {"path": ".git/hooks/pre-commit", "content": "x"}}, "run by themselves"),
        (outside(), "the call asks to run outside the sandbox"),
    ],
)
async def test_it_is_said_why_it_is_asked(tmp_path: Path, call: dict[str, object], why: str) -> None:
    """What the level minds, and what the call says itself."""
    async with lab(tmp_path, [[call], [{"text": "ok"}]], approval="edit", attended=True) as here:
        (tmp_path / "secret.txt").write_text("secret\n")
        (tmp_path / "work" / "link.txt").symlink_to(tmp_path / "secret.txt")
        request = await answered(here, "no")
        await here.ended()
        assert why in request.details["why"]


async def test_the_rule_of_several_lines_that_would_allow_it_is_one_word_of_a_shell(tmp_path: Path) -> None:
    """A line of bash has the very rule."""
    command = "echo 'one'\necho two\\"
    async with lab(tmp_path, [[outside(command)], [{"text": "ok"}]], approval="edit") as here:
        await here.run()
        (notice,) = here.of(Notice)
    word = notice.hint.removeprefix("to allow it: --allow ")
    assert "\n" not in word
    shell = await asyncio.create_subprocess_exec("bash", "-c", f"printf %s {word}", stdout=subprocess.PIPE)
    assert (await shell.communicate())[0].decode() == f"exec({command})"


async def test_a_no_has_a_reason(tmp_path: Path) -> None:
    """The model hears it; that the person said no is not exit code 3."""
    async with lab(tmp_path, [[outside()], [{"text": "fine"}]], approval="edit", attended=True) as here:
        await answered(here, {"choice": "no", "reason": "use make"})
        assert (await here.ended()).exit_code == 0
        assert "Reason: use make" in text_of(next(m for m in here.messages if isinstance(m, ToolMessage)))


async def test_stopping_closes_an_open_request(tmp_path: Path) -> None:
    """It is resolved as moot, and a late answer is turned down."""
    async with lab(tmp_path, [[outside()], [{"text": "never"}]], approval="edit", attended=True) as here:
        await here.agent.prompt("go")
        request = await here.first(Request)
        here.agent.stop()
        assert (await asyncio.wait_for(here.ended(), 60)).exit_code == 130
        assert [event.id for event in here.of(RequestResolved)] == [request.id]
        assert not here.agent.requests.answer(request.id, "once")


@pytest.mark.parametrize(
    ("approval", "call", "allowed"),
    [
        ("plan", {"tool": "read", "args": {"path": "f.txt"}}, True),
        ("plan", {"tool": "write", "args": {"path": "f.txt", "content": "x"}}, False),
        ("plan", {"tool": "bash", "args": {"command": "true"}}, False),
        ("edit", {"tool": "write", "args": {"path": "f.txt", "content": "x"}}, True),
        ("edit", {"tool": "write", "args": {"path": "../f.txt", "content": "x"}}, False),
        ("edit", {"tool": "read", "args": {"path": "../secret.txt"}}, False),
        ("edit", {"tool": "read", "args": {"path": "link.txt"}}, False),
        ("edit", {"tool": "write", "args": {"path": "link.txt", "content": "x"}}, False),
        ("full", {"tool": "read", "args": {"path": "../secret.txt"}}, True),
    ],
)
async def test_what_each_level_allows(tmp_path: Path, approval: str, call: dict[str, object], allowed: bool) -> None:
    """Inside the workspace what the level says; outside, through a link too, only with a rule."""
    async with lab(tmp_path, [[call], [{"text": "ok"}]], approval=approval) as here:
        (tmp_path / "secret.txt").write_text("secret\n")
        (tmp_path / "work" / "f.txt").write_text("old\n")
        (tmp_path / "work" / "link.txt").symlink_to(tmp_path / "secret.txt")
        await here.run()
        (result,) = here.of(ToolResult)
        assert result.is_error is not allowed, result.content
    assert (tmp_path / "secret.txt").read_text() == "secret\n"


async def test_what_may_not_be_read_is_not_found_either(tmp_path: Path) -> None:
    """A deny rule about some files holds for a search that walks over them, and for reading them by name."""
    search = {"tool": "search", "args": {"pattern": "token", "paths": "."}}
    read = {"tool": "read", "args": {"path": "conf/.env"}}
    async with lab(tmp_path, [[search, read], [{"text": "ok"}]], deny=["read(**/.env)"]) as here:
        (tmp_path / "work" / "conf").mkdir()
        (tmp_path / "work" / "conf" / ".env").write_text("token=very-private\n")
        (tmp_path / "work" / "notes.txt").write_text("the token is elsewhere\n")
        await here.run()
        found, refused = [text_of(message) for message in here.messages if isinstance(message, ToolMessage)]
    assert "elsewhere" in found
    assert "very-private" not in found + refused
    assert "not allowed" in refused


async def test_a_link_turned_elsewhere_while_somebody_decides(tmp_path: Path) -> None:
    """What was allowed is what was asked about: another place needs another decision."""
    read = {"tool": "read", "args": {"path": "link.txt"}}
    async with lab(tmp_path, [[read], [{"text": "ok"}]], approval="edit", attended=True) as here:
        link = tmp_path / "work" / "link.txt"
        (tmp_path / "harmless.txt").write_text("harmless")
        (tmp_path / "private.txt").write_text("private")
        link.symlink_to(tmp_path / "harmless.txt")
        await here.agent.prompt("go")
        request = await here.first(Request)
        link.unlink()
        link.symlink_to(tmp_path / "private.txt")
        here.agent.requests.answer(request.id, "once")
        await here.ended()
        (result,) = here.of(ToolResult)
        assert result.is_error
        assert "private" not in result.content


async def test_the_person_is_told_where_and_whether_sandboxed(tmp_path: Path) -> None:
    """The folder is the one the call names, or the workspace."""
    (tmp_path / "work" / "sub").mkdir(parents=True)
    call = {"tool": "bash", "args": {"command": "echo out", "sandbox": False, "cwd": "sub"}}
    async with lab(tmp_path, [[call], [{"text": "ok"}]], approval="edit", attended=True) as here:
        request = await answered(here, "once")
        await here.ended()
        assert request.details["cwd"] == str(tmp_path / "work" / "sub")
        assert request.details["sandboxed"] is False
        assert "diff" not in request.details


async def test_the_person_sees_what_would_change(tmp_path: Path) -> None:
    """A write shows its diff before it is made; nothing has changed by then."""
    target = tmp_path / "elsewhere.txt"
    target.write_text("old\n")
    call = {"tool": "write", "args": {"path": str(target), "content": "new\n"}}
    async with lab(tmp_path, [[call], [{"text": "ok"}]], approval="edit", attended=True) as here:
        await here.agent.prompt("go")
        request = await here.first(Request)
        assert "-old" in request.details["diff"]
        assert "+new" in request.details["diff"]
        assert request.details["path"] == str(target)
        assert target.read_text() == "old\n"
        here.agent.requests.answer(request.id, {"choice": "once"})
        await here.ended()
        assert target.read_text() == "new\n"


async def test_an_edit_shows_what_would_change_too(tmp_path: Path) -> None:
    """As the lines it changes, not as its patch; one that cannot be made is asked about without."""
    target = tmp_path / "elsewhere.txt"
    patches = [f"¶{target}\ninsert head:\n+new line", f"¶{target}#0000\nreplace 1..1:\n+x"]
    turns = [[{"tool": "edit", "args": {"input": patch}}] for patch in patches]
    async with lab(tmp_path, [*turns, [{"text": "ok"}]], approval="edit", attended=True) as here:
        first = await answered(here, "once")
        assert "+new line" in first.details["diff"]
        await here.until(lambda: len(here.of(Request)) == 2)
        second = here.of(Request)[1]
        assert "diff" not in second.details
        here.agent.requests.answer(second.id, "no")
        await here.ended()
        assert target.read_text() == "new line\n"
