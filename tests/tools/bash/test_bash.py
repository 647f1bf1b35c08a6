"""A command and what a model is told of it: output, endings, limits."""

import asyncio
import os
import signal
import sys
import threading
from pathlib import Path

import psutil
import pytest

from sightline.conversation import ToolMessage, text_of
from sightline.events import ToolOutput, ToolResult, ToolUse
from sightline.tools import ToolError, parameters
from sightline.tools.bash import BashTool, _tool
from tests.agent.support import lab
from tests.tools.bash.support import bash, ran
from tests.tools.support import make_context

PYTHON = sys.executable


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.parametrize(
    ("command", "text", "exit_code"),
    [
        pytest.param("echo one; echo two >&2", None, 0, id="both streams"),
        pytest.param("printf 'no newline'", "no newline", 0, id="no newline at the end"),
        pytest.param("true", "(no output)", 0, id="no output"),
        pytest.param("false", "(no output)\n[exit code 1]", 1, id="no output and a failure"),
        pytest.param("echo why; exit 7", "why\n[exit code 7]", 7, id="exit code"),
        pytest.param("nonsense-zzz 2>/dev/null", "(no output)\n[exit code 127]", 127, id="no such command"),
        pytest.param("kill -KILL $$", "(no output)\n[ended by signal 9, exit code 137]", 137, id="signal"),
        pytest.param('cat; read -r x; echo "[$x]"', "[]", 0, id="reading gets the end of input at once"),
        pytest.param("printf 'a\\r\\nb\\r\\n'", "a\nb", 0, id="CR LF"),
        pytest.param("printf ' 10%%\\r 50%%\\r100%%\\ndone\\n'", "100%\ndone", 0, id="a progress bar"),
        pytest.param("printf 'abcdef\\rxy\\n'", "xycdef", 0, id="half written over"),
        pytest.param("printf 'long words\\r\\033[Kend\\n'", "end", 0, id="erased"),
        pytest.param("printf 'spin |\\b/\\b-\\n'", "spin -", 0, id="backspaces"),
        pytest.param("printf '\\033[31mred\\033[0m\\tX\\n'", "red\tX", 0, id="colours go and tabs stay"),
        pytest.param("printf '\\033]0;title\\007text\\n'", "text", 0, id="other sequences go"),
        pytest.param("printf 'caf\\351 ok\\n'", "caf� ok", 0, id="not UTF-8"),
        pytest.param("printf 'gr\\303\\274n\\n'", "grün", 0, id="UTF-8"),
        pytest.param('echo "$PAGER $GIT_TERMINAL_PROMPT"', "cat 0", 0, id="nobody watches"),
        pytest.param("echo 'a  b' | { cat; echo $((1+1)); }", "a  b\n2", 0, id="a shell's language"),
    ],
)
async def test_what_the_model_reads(tmp_path: Path, command: str, text: str | None, exit_code: int) -> None:
    """The output as a terminal would have left it, and how it ended when that was not well."""
    done = await ran(tmp_path, command)
    assert sorted(done.text.split("\n")) == ["one", "two"] if text is None else done.text == text
    assert done.result.exit_code == exit_code
    assert done.result.is_error == done.message.is_error == (exit_code != 0)
    assert done.details["ui"] == {"kind": "command"}


async def test_output_is_shown_before_the_end(tmp_path: Path) -> None:
    """The command waits until the test has seen its words."""
    command = "echo early; until [ -e go ]; do sleep 0.01; done; echo late"
    async with lab(tmp_path, [[bash(command)], [{"text": "ok"}]]) as here:
        await here.agent.prompt("go")
        early = await here.first(ToolOutput)
        assert early.content == "early\n"
        assert not here.of(ToolResult)
        (tmp_path / "work" / "go").touch()
        await here.ended()
        assert "".join(event.content for event in here.of(ToolOutput)) == "early\nlate\n"
        assert [early.id] * 2 == [here.of(ToolUse)[0].id, here.of(ToolResult)[0].id]


async def test_a_timeout_ends_everything(tmp_path: Path) -> None:
    """Exit code 124, what it wrote until then, and no process left, also none that left its group."""
    command = "echo begun; setsid sleep 60 & echo $! > one; sleep 60 & echo $! > two; wait"
    done = await ran(tmp_path, command, timeout=0.5)
    assert done.text == "begun\n[timed out after 0.5 s, exit code 124; everything it had started was ended]"
    assert done.result.exit_code == 124
    assert done.details["ended"] == "timeout"
    assert not any(alive(int((tmp_path / "work" / name).read_text())) for name in ("one", "two"))


async def test_the_settings_bound_the_time(tmp_path: Path) -> None:
    """A call that does not say gets the default; one that asks for more than there is gets the most."""
    settings = {"bash.timeout": "0.2", "bash.max_timeout": "0.4"}
    turns = [[bash("sleep 60"), bash("sleep 60", timeout=3600)], [{"text": "ok"}]]
    async with lab(tmp_path, turns, settings=settings) as here:
        await here.run()
        said = [text_of(message) for message in here.messages if isinstance(message, ToolMessage)]
    assert ["timed out after 0.2 s" in said[0], "timed out after 0.4 s" in said[1]] == [True, True]


async def test_a_child_in_the_background_is_left_alone_and_not_waited_for(tmp_path: Path) -> None:
    """It holds the pipe open; the call ends with the command all the same."""
    done = await asyncio.wait_for(ran(tmp_path, "sleep 60 & echo $!"), 15)
    pid = int(done.text)
    assert alive(pid)
    os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize(
    ("settings", "command", "said", "exit_code"),
    [
        pytest.param({"bash.shell": "/no/such/shell"}, "true", "/no/such/shell", 127, id="no shell"),
        pytest.param({}, "echo " + "x" * 300_000, "too long", 126, id="too long a command"),
    ],
)
async def test_a_command_that_cannot_start(
    tmp_path: Path, settings: dict[str, str], command: str, said: str, exit_code: int
) -> None:
    """The model is told why; it is an error, not a crash."""
    done = await ran(tmp_path, command, settings=settings)
    assert said in done.text
    assert done.result.exit_code == exit_code
    assert done.result.is_error
    assert done.details["ended"] == "spawn"


async def test_it_runs_where_it_is_told(tmp_path: Path) -> None:
    """In the workspace, or in a folder of it; views are told which."""
    inner = tmp_path / "work" / "a b"
    inner.mkdir(parents=True)
    turns = [[bash("pwd"), bash("pwd", cwd="a b"), bash("pwd", cwd=str(inner))], [{"text": "ok"}]]
    async with lab(tmp_path, turns) as here:
        await here.run()
        said = [text_of(message) for message in here.messages if isinstance(message, ToolMessage)]
        folders = {result.content: result.details.get("cwd") for result in here.of(ToolResult)}
    assert said == [str(tmp_path / "work"), str(inner), str(inner)]
    assert folders == {said[0]: None, said[1]: "a b"}


@pytest.mark.parametrize("cwd", ["missing", "file"])
def test_a_cwd_that_is_no_folder(tmp_path: Path, cwd: str) -> None:
    """Said before anything is asked of the person."""
    context = make_context(tmp_path)
    (context.cwd / "file").touch()
    tool = BashTool()
    with pytest.raises(ToolError, match=f"Cannot run in {cwd}: "):
        tool.needs(parameters(tool, {"command": "true", "cwd": cwd}), context)


def test_a_folder_outside_has_to_be_allowed(tmp_path: Path) -> None:
    """Running there is reading there."""
    tool = BashTool()
    needs = tool.needs(parameters(tool, {"command": "ls", "cwd": str(tmp_path)}), make_context(tmp_path))
    assert [(need.access, need.what) for need in needs] == [("read", str(tmp_path)), ("exec", "ls")]


async def test_secrets_are_not_in_its_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither by name nor by value, with the sandbox and without; what is harmless is."""
    monkeypatch.setenv("MY_API_KEY", "very-secret-value")
    monkeypatch.setenv("HARMLESS_URL", "https://user:hunter2@example.org/")
    monkeypatch.setenv("HARMLESS", "kept")
    for sandbox in ("true", "false"):
        done = await ran(tmp_path, "env", settings={"permissions.sandbox": sandbox})
        assert "HARMLESS=kept" in done.text
        assert b"very-secret" not in done.artifact
        assert b"hunter2" not in done.artifact


# Long output


def numbered(count: int) -> str:
    return "".join(f"line {number:07}\n" for number in range(1, count + 1))


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        pytest.param(3000, 3000, id="as many lines as there may be"),
        pytest.param(3001, 3000, id="one line more"),
        pytest.param(20_000, 3000, id="many lines"),
    ],
)
async def test_of_many_lines_the_last_are_told(tmp_path: Path, count: int, shown: int) -> None:
    """Whole lines, what is missing and where all of it is; the artifact is the output, byte for byte."""
    done = await ran(tmp_path, f"seq -f 'line %07.0f' 1 {count}")
    lines = numbered(count).rstrip("\n").split("\n")
    head, *told = done.text.split("\n") if shown < count else ["", *done.text.split("\n")]
    assert told == lines[-shown:]
    if head:
        size = len(numbered(count))
        assert head == f"[the last {shown} lines, {shown * 13} of {size} bytes; all of it: {done.details['artifact']}]"
    assert done.artifact == numbered(count).encode()
    assert done.details["bytes"] == done.details["kept"] == len(done.artifact)


@pytest.mark.parametrize("extra", [0, 1, 60_000])
async def test_of_much_output_the_last_50_kb_are_told(tmp_path: Path, extra: int) -> None:
    """Wide lines: 50 KiB are told whole, one byte more is cut at a line."""
    line = "x" * 1023 + "\n"
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "f").write_text("y" * (extra - 1) + "\n" * bool(extra) + line * 50)
    done = await ran(tmp_path, "cat f")
    body = (line * 50).rstrip("\n")
    if not extra:
        assert done.text == body
    else:
        head, _, told = done.text.partition("\n")
        assert told == body
        assert head.startswith(f"[the last 50 lines, 51200 of {51_200 + extra} bytes; all of it: artifact://")
    assert len(done.artifact) == 51_200 + extra


@pytest.mark.parametrize("character", ["x", "ü", "🙂"])
async def test_one_endless_line_is_cut_between_characters(tmp_path: Path, character: str) -> None:
    """Where there is no line to begin with."""
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "f").write_text("a" + character * 200_000)
    done = await ran(tmp_path, "cat f")
    told = done.text.partition("\n")[2]
    assert set(told) == {character}
    assert 50_000 < len(told.encode()) <= 51_200


async def test_the_model_can_read_all_of_it(tmp_path: Path) -> None:
    """The address it is given is one the read tool takes."""
    script = "seq -f 'line %07.0f' 1 20000"
    async with lab(tmp_path, [[bash(script)], [{"text": "ok"}]]) as here:
        await here.run()
        url = here.of(ToolResult)[0].details["artifact"]
        path = here.agent.workplace.artifacts.find(url)
        assert path is not None
        assert path.read_text() == numbered(20_000)
        read = here.agent.tools.get("read")
        outcome = await read.execute(parameters(read, {"path": f"{url}:7-8:raw"}), here.agent.calls._context("x"))
        assert "line 0000007\nline 0000008" in outcome.text


async def test_a_long_progress_bar_leaves_what_was_before_it(tmp_path: Path) -> None:
    """300 KB of a line written over again and again are one line; the words before it are still told."""
    program = "print('before'); [print('%6d ' % n + '#' * 90, end=chr(13)) for n in range(3000)]; print('after ' * 20)"
    done = await ran(tmp_path, f"'{PYTHON}' -c \"{program}\"")
    assert done.details["bytes"] > 250_000
    lines = done.text.split("\n")
    assert [lines[0], len(lines), lines[-1][:11]] == ["before", 2, "after after"]


async def test_binary_output_is_not_for_a_model(tmp_path: Path) -> None:
    """It is told how much there is and where; every byte is kept."""
    done = await ran(tmp_path, "head -c 5000 /dev/zero; exit 2")
    assert done.text == f"(binary output, 5000 bytes: {done.details['artifact']})\n[exit code 2]"
    assert done.artifact == bytes(5000)


async def test_a_flood_stays_bounded(tmp_path: Path) -> None:
    """100 MB: kept whole, told by its end, and never in memory."""
    process = psutil.Process()
    before = process.memory_info().rss
    most = 0
    async with lab(tmp_path, [[bash("yes 0123456789abcdef | head -c 100000000")], [{"text": "ok"}]]) as here:
        await here.agent.prompt("go")
        while here.agent.busy:
            most = max(most, process.memory_info().rss)
            await asyncio.sleep(0.02)
        await here.ended()
        result = here.of(ToolResult)[0]
        assert result.details["bytes"] == result.details["kept"] == 100_000_000
        assert len(result.content) < 52_000
        assert sum(len(event.content) + event.dropped for event in here.of(ToolOutput)) >= 99_000_000
    assert most - before < 80_000_000


async def test_what_could_not_be_kept_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the model reads is then not the end of the output."""
    monkeypatch.setattr("sightline.journal._artifact.ARTIFACT_CAP", 10_000)
    done = await ran(tmp_path, "seq 1 100000")
    assert "[only the first 10000 of 588895 bytes could be stored; the rest is lost]" in done.text
    assert done.details["kept"] == 10_000


async def test_a_secret_cut_in_two_is_not_told(tmp_path: Path) -> None:
    """Where the tail that is read begins inside a secret nothing recognises it: that line is left out."""
    secret = "sk-live-0123456789abcdef"
    invisible = 25_596  # resets of the colour, so that 100 KiB of output are few words
    program = f"print('x' * 1000 + '{secret}'); print((chr(27) + '[0m') * {invisible} + 'ab')"
    turns = [[bash(f"'{PYTHON}' -c \"{program}\"")], [{"text": "ok"}]]
    async with lab(tmp_path, turns, environ={"A_TOKEN": secret}) as here:
        await here.run()
        assert here.of(ToolResult)[0].content.split("\n")[1:] == ["ab"]


async def test_output_without_a_line_end_does_not_begin_inside_a_sequence(tmp_path: Path) -> None:
    """The last 100 KiB are looked at: where that is inside a colour, its numbers were shown as text."""
    colour = "chr(27) + '[38;2;255;100;0m'"  # 17 characters: 102,400 = 6023 * 17 + 9
    program = f"import sys; sys.stdout.write(({colour}) * 7000 + 'ab')"
    done = await ran(tmp_path, f"'{PYTHON}' -c \"{program}\"")
    assert done.text.split("\n")[1:] == ["ab"]


async def test_much_that_was_written_over_is_interpreted_in_a_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However it is made, the event loop goes on meanwhile."""
    threads = []
    settled = _tool.settled

    def watched(text: str) -> str:
        threads.append((len(text) > 1000, threading.current_thread() is threading.main_thread()))
        return settled(text)

    monkeypatch.setattr(_tool, "settled", watched)
    program = "print('x' * 20000 + chr(8) * 3 + (chr(27) + '[1K') * 20000)"
    assert (await ran(tmp_path, f"'{PYTHON}' -c \"{program}\"")).text.strip().endswith("xx")
    assert (await ran(tmp_path, "echo a")).text == "a"
    assert threads == [(True, False), (False, True)]


# In the background


async def test_async_returns_at_once_and_says_how_to_wait(tmp_path: Path) -> None:
    """Its id, the calls that wait for it and end it, and where its output is."""
    done = await ran(tmp_path, "sleep 60", **{"async": True})
    job = done.details["job"]
    assert done.text.split("\n") == [
        f"Background job {job}: started in the background. A message reports its end.",
        f'Wait for it with job {{"poll": ["{job}"]}}, end it with job {{"cancel": ["{job}"]}}; '
        f"what it writes: {done.details['artifact']}",
    ]
    assert done.details["ended"] == "job"
    assert done.result.exit_code is None
    assert not done.result.is_error


async def test_async_without_a_timeout_has_none(tmp_path: Path) -> None:
    """A server may run as long as it likes; a time that was given counts."""
    settings = {"bash.timeout": "0.1"}
    turns = [
        [bash("sleep 0.5; echo whole", **{"async": True}), bash("sleep 60", timeout=0.2, **{"async": True})],
        [bash("sleep 0.05"), {"tool": "job", "args": {}}],
        [{"text": "ok"}],
        [{"text": "ok"}],
        [{"text": "ok"}],
    ]
    async with lab(tmp_path, turns, settings=settings) as here:
        await here.run()
        jobs = here.agent.workplace.jobs
        assert jobs is not None
        async with asyncio.timeout(30):
            while any(job.status == "running" for job in jobs.snapshots()):
                await jobs.wait()
        whole, cut = jobs.snapshots()
    assert (whole.status, whole.result_text) == ("completed", "whole")
    assert cut.status == "failed"
    assert "timed out after 0.2 s" in str(cut.error_text)


@pytest.mark.parametrize(
    ("threshold_ms", "seconds", "patience"),
    [
        pytest.param("50", 100, "0.05 s", id="job.md/Spawn paths/the threshold"),
        pytest.param("60000", 1.2, "0.2 s", id="job.md/Spawn paths/a second before the timeout"),
        pytest.param("60000", 0.5, "0 s", id="job.md/Spawn paths/a timeout of less than a second"),
    ],
)
async def test_auto_background(tmp_path: Path, threshold_ms: str, seconds: float, patience: str) -> None:
    """After the threshold or a second before the timeout, whichever comes first; what it wrote so far is told."""
    settings = {"bash.auto_background": "true", "bash.auto_background_ms": threshold_ms}
    done = await ran(tmp_path, "echo begun; sleep 60", settings=settings, timeout=seconds)
    assert f"still running after {patience}" in done.text
    assert done.details["ended"] == "job"


async def test_a_quick_command_is_no_job(tmp_path: Path) -> None:
    """job.md/Spawn paths: with auto-background a command that ends in time has its result inline."""
    done = await ran(tmp_path, "echo quick", settings={"bash.auto_background": "true"})
    assert (done.text, done.details["ended"]) == ("quick", "exit")
