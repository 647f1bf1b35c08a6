"""Which variables a command of the model's gets: none that is a secret, but those a person named; and no way to see
the others, whatever it runs."""

import asyncio
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from sightline.events import Request, ToolOutput, ToolResult
from sightline.exec import sandbox_status
from tests.agent.support import lab

TOKEN = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"
OTHER = "Kx7vQ2mZp9Lw4TnB8sRdKx7vQ2mZp9Lw"
SECRETS = {"GITHUB_TOKEN": TOKEN, "BW_SESSION": OTHER, "AWS_SECRET_ACCESS_KEY": f"{OTHER}/aws"}


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)


def bash(command: str, **more: object) -> dict[str, Any]:
    return {"tool": "bash", "args": {"command": command, **more}}


async def printed(tmp_path: Path, command: str, **more: Any) -> tuple[str, ToolResult, str]:
    """What a command wrote, as bytes of its artifact; its result; and everything that was shown."""
    turns = [[bash(command)], [{"text": "ok"}]]
    environ = more.pop("environ", SECRETS)
    async with lab(tmp_path, turns, environ=environ, **more) as here:
        await here.run()
        (result,) = here.of(ToolResult)
        folder = here.store.folder(here.session.id) / "artifacts"
        written = b"".join(path.read_bytes() for path in folder.glob("*.out"))
        shown = "".join(event.content for event in here.of(ToolOutput)) + repr(here.seen) + repr(here.messages)
    return written.decode("utf-8", "replace"), result, shown


LEAKS = [
    "env",
    "printenv",
    "export -p",
    "set",
    "cat /proc/self/environ",
    "cat /proc/$$/environ",
    "cat /proc/$PPID/environ",
    "for p in /proc/[0-9]*/environ; do cat $p; done 2>/dev/null",
    "printenv | base64",
    "printenv | base64 -w0",
    "printenv | xxd -p || printenv | od -An -tx1",
    "xxd /proc/self/environ || od -c /proc/self/environ",
    "python3 -c 'import os, json; print(json.dumps(dict(os.environ)))'",
    "python3 -c 'import os; print(dict(os.environb))'",
    "awk 'BEGIN { for (name in ENVIRON) print ENVIRON[name] }'",
    "tr '\\0' '\\n' < /proc/self/environ",
    "bash -lc env",
    "env -i bash -c 'cat /proc/$PPID/environ'",
]

needs_sandbox = pytest.mark.skipif(sandbox_status().kind == "none", reason="no sandbox here")


@needs_sandbox
@pytest.mark.parametrize("command", LEAKS)
async def test_no_secret_reaches_a_sandboxed_command(tmp_path: Path, command: str) -> None:
    """Not in what it wrote, which nothing masks: it is not there to be found."""
    written, _, shown = await printed(tmp_path, command, settings={"permissions.sandbox": "true"})
    for value in SECRETS.values():
        assert value not in written
        assert value not in shown


@pytest.mark.parametrize("command", ["env", "printenv | base64 -w0", "cat /proc/self/environ", "export -p"])
async def test_nor_one_outside_the_sandbox(tmp_path: Path, command: str) -> None:
    """Its own environment has none either."""
    written, _, _ = await printed(tmp_path, command)
    assert not any(value in written for value in SECRETS.values())


@pytest.mark.parametrize("sandbox", ["true", "false"])
async def test_what_the_settings_name_is_passed_and_masked(tmp_path: Path, sandbox: str) -> None:
    """The command has it, the model and the screen do not; and it is a fact of the call."""
    settings = {"permissions.sandbox": sandbox, "permissions.pass_env": "GITHUB_TOKEN,AWS_*"}
    written, result, shown = await printed(tmp_path, "env; printenv GITHUB_TOKEN | base64 -w0", settings=settings)
    assert TOKEN in written
    assert SECRETS["AWS_SECRET_ACCESS_KEY"] in written
    assert SECRETS["BW_SESSION"] not in written.replace(SECRETS["AWS_SECRET_ACCESS_KEY"], "")
    assert TOKEN not in shown
    assert "[secret GITHUB_TOKEN in base64]" in shown
    assert result.details["passed"] == ["AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN"]


@pytest.mark.parametrize(
    ("command", "passed"),
    [
        ("printenv GITHUB_TOKEN", True),
        ("printenv GITHUB_TOKEN BW_SESSION", False),
        ("printenv GITHUB_TOKEN; env", False),
        ("env && printenv GITHUB_TOKEN", False),
        ("printenv GITHUB_TOKEN | cat", False),
        ("printenv $(echo GITHUB_TOKEN)", False),
    ],
)
async def test_a_rule_passes_variables_to_its_command_alone(tmp_path: Path, command: str, passed: bool) -> None:
    """Another command on the same line, allowed by another rule, would get them too: then nothing is passed."""
    rule = "exec(printenv GITHUB_TOKEN) with GITHUB_TOKEN"
    written, result, shown = await printed(tmp_path, command, allow=[rule])
    assert (TOKEN in written) is passed
    assert result.details.get("passed") == (["GITHUB_TOKEN"] if passed else None)
    assert TOKEN not in shown


async def test_a_question_says_what_a_command_gets(tmp_path: Path) -> None:
    """Before it is answered, as a field and in words."""
    turns = [[bash("git push", sandbox=False)], [{"text": "ok"}]]
    settings = {"permissions.pass_env": "GITHUB_TOKEN", "permissions.sandbox": "true"}
    async with lab(tmp_path, turns, approval="edit", attended=True, settings=settings, environ=SECRETS) as here:
        await here.agent.prompt("go")
        request = await here.first(Request)
        assert request.details["passed"] == ["GITHUB_TOKEN"]
        assert request.details["passed"] == ["GITHUB_TOKEN"]
        here.agent.requests.answer(request.id, "no")
        await here.ended()


@needs_sandbox
@pytest.mark.parametrize("passed", [True, False])
async def test_a_socket_that_is_named_can_be_reached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, passed: bool
) -> None:
    """The variable and what it leads to go together."""
    folder = tmp_path / "agent"
    folder.mkdir()
    path = str(folder / "agent.sock")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        server.settimeout(90)
        answering = threading.Thread(target=_answer_once, args=(server,), daemon=True)
        answering.start()
        monkeypatch.setenv("SSH_AUTH_SOCK", path)
        connecting = "s = socket.socket(socket.AF_UNIX); s.connect(os.environ['SSH_AUTH_SOCK']); print(s.recv(9))"
        code = f"import os, socket; {connecting}"
        settings = {"permissions.sandbox": "true"} | ({"permissions.pass_env": "SSH_AUTH_SOCK"} if passed else {})
        written, _, _ = await printed(tmp_path, f'/usr/bin/python3 -c "{code}"', settings=settings)
        server.shutdown(socket.SHUT_RDWR)  # ends a wait for what does not come
        assert ("hello" in written) is passed
    await asyncio.to_thread(answering.join, 90)


def _answer_once(server: socket.socket) -> None:
    try:
        connection, _ = server.accept()
    except OSError:
        return
    with connection:
        connection.sendall(b"hello")


async def test_everything_that_is_passed_is_listed(tmp_path: Path) -> None:
    """Where the rules are."""

    rule = "exec(gh pr create *) with GITHUB_TOKEN"
    async with lab(tmp_path, [], settings={"permissions.pass_env": "AWS_*"}, allow=[rule]) as here:
        facts = here.agent.permissions.facts()
        assert facts["passed"] == ["AWS_*"]
        assert rule in [each["rule"] for each in facts["rules"]]
