"""A command as a producer of events: what it writes is told while it writes it, whole and in order."""

import asyncio
import hashlib
import os
import sys
import tempfile
from pathlib import Path

import pytest

from sightline.events import Notice, ToolOutput, ToolResult, ToolUse
from sightline.exec import CommandSpec, SandboxSpec

from .running import Memory, Ran, noted, python, sh

pytestmark = pytest.mark.usefixtures("none_left")


async def test_each_chunk_is_told_as_it_is_written(tmp_path: Path):
    """The next is written only after the one before was seen, so none can have waited for another."""
    ran = sh("for i in 1 2 3; do echo $i; while [ ! -e seen$i ]; do sleep 0.01; done; done", cwd=str(tmp_path))
    running = ran.start()
    for number in "123":
        await ran.until(lambda ran, number=number: f"{number}\n" in ran.text())
        (tmp_path / f"seen{number}").touch()
    await running
    assert [piece.content for piece in ran.pieces] == ["1\n", "2\n", "3\n"]


async def test_the_pieces_are_the_output():
    """Content matches what was written, in order, and so does what is kept."""
    ran = await sh("seq 1 2000").run()
    whole = "".join(f"{number}\n" for number in range(1, 2001))
    assert ran.text() == whole
    assert ran.sink.data.decode() == whole


async def test_a_call_says_what_runs_where(tmp_path: Path):
    """The preview is the script when a shell is given one; the command is one that can be pasted."""
    ran = await Ran("bash", "-c", "echo 'a b' | cat\nexit 0", cwd=str(tmp_path)).run()
    assert (ran.use.id, ran.use.name, ran.use.native_name) == ("k3m9qz-1", "Bash", "exec")
    assert ran.use.arg == "echo 'a b' | cat"
    assert ran.use.args["argv"] == ["bash", "-c", "echo 'a b' | cat\nexit 0"]
    assert ran.use.args["cwd"] == str(tmp_path)
    assert ran.use.args["pty"] is False
    assert len((await Ran("echo", "x" * 100).run()).use.arg) == 40


async def test_nothing_in_a_command_line_reaches_a_terminal():
    """Words of a command are as untrusted as its output."""
    ran = await Ran("echo", "\x1b]0;title\x07", "\udcff").run()
    assert "\x1b" not in ran.use.arg + ran.use.args["command"] + "".join(ran.use.args["argv"])
    assert "\x1b" not in ran.text()


async def test_a_very_fast_command_is_told_whole():
    """Over before anybody looked: its output and its end."""
    ran = await Ran("echo", "quick").run()
    assert [type(event) for event in ran.events] == [ToolUse, ToolOutput, ToolResult]
    assert ran.text() == "quick\n"
    assert (ran.result.exit_code, ran.result.is_error) == (0, False)
    assert ran.result.details["ended"] == "exit"
    assert ran.result.details["artifact"] == "artifact://k3m9qz/k3m9qz-1"
    assert ran.result.details["ui"] == {"kind": "command"}


async def test_a_command_that_writes_nothing_has_an_end_all_the_same():
    ran = await Ran("true").run()
    assert [type(event) for event in ran.events] == [ToolUse, ToolResult]


@pytest.mark.parametrize("code", [1, 3, 255])
async def test_its_own_exit_code_passes_through(code: int):
    ran = await sh(f"exit {code}").run()
    assert (ran.result.exit_code, ran.result.is_error) == (code, True)


async def test_a_signal_that_ended_it_is_told():
    ran = await sh("kill -9 $$").run()
    assert (ran.result.exit_code, ran.result.details["signal"]) == (137, 9)


async def test_its_input_is_empty():
    """Whoever reads is not kept waiting."""
    ran = await sh("cat; echo done").run()
    assert ran.text() == "done\n"


async def test_the_environment_is_the_given_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("OURS", "1")
    script = "echo ${OURS-none} ${THEIRS-none} $PWD"
    path = os.environ["PATH"]
    assert (await sh(script).run()).text().startswith("1 none")
    given = await sh(script, env={"THEIRS": "2", "PATH": path}, cwd=str(tmp_path)).run()
    assert given.text() == f"none 2 {tmp_path}\n"


async def test_standard_output_and_error_are_told_apart_in_order(tmp_path: Path):
    """Each is seen before the other is written, so there is one right order."""
    ran = sh(
        "for i in 1 2; do echo out$i; until [ -e o$i ]; do sleep 0.01; done; "
        "echo err$i >&2; until [ -e e$i ]; do sleep 0.01; done; done",
        cwd=str(tmp_path),
    )
    running = ran.start()
    for number in "12":
        for stream, name in (("out", "o"), ("err", "e")):
            await ran.until(lambda ran, text=f"{stream}{number}": text in ran.text())
            (tmp_path / f"{name}{number}").touch()
    await running
    assert [(piece.stream, piece.content) for piece in ran.pieces] == [
        ("stdout", "out1\n"),
        ("stderr", "err1\n"),
        ("stdout", "out2\n"),
        ("stderr", "err2\n"),
    ]


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine the other half may take longer than a person would wait for it."""
    monkeypatch.setattr("sightline.exec._command.HELD_SECONDS", 5.0)


@pytest.mark.usefixtures("patient")
async def test_a_character_split_by_the_other_stream_stays_whole():
    """Half of one on stdout, something on stderr, then the other half: both are what their streams said."""
    ran = await python(
        """
import os, time
smile = "😀".encode()
os.write(1, b"a" + smile[:2]); time.sleep(0.03)
os.write(2, "é!".encode()[:1]); time.sleep(0.01); os.write(2, "é!".encode()[1:]); time.sleep(0.02)
os.write(1, smile[2:] + b"b\\n")
"""
    ).run()
    assert ran.text("stdout") == "a😀b\n"
    assert ran.text("stderr") == "é!"
    assert "\ufffd" not in ran.sink.data.decode("utf-8", "replace"), "also in what is kept"


@pytest.mark.usefixtures("patient")
async def test_an_escape_sequence_split_between_two_writes_stays_whole():
    ran = await python(
        'import os, time; os.write(1, b"\\x1b[3"); time.sleep(0.03); os.write(1, b"1mred\\x1b[0m\\n")'
    ).run()
    assert ran.text() == "\x1b[31mred\x1b[0m\n"


async def test_half_a_character_that_never_gets_its_other_half_is_told_anyway():
    """Waited for only a moment, and at the end not at all."""
    ran = python('import os, signal; os.write(1, b"ab\\xf0\\x9f"); signal.pause()')
    running = ran.start()
    await ran.until(lambda ran: ran.text().endswith("\ufffd"))
    ran.command.cancel()
    await running
    ran = await python('import os; os.write(1, b"ab\\xf0\\x9f")').run()
    assert ran.text() == "ab\ufffd"


async def test_commands_that_run_at_once_are_told_apart():
    """Each in its own order, nothing of another's."""
    many = [sh(f"for i in 1 2 3 4 5; do echo job{number} $i; sleep 0.02; done") for number in range(12)]
    await asyncio.gather(*(ran.run() for ran in many))
    for number, ran in enumerate(many):
        assert ran.text() == "".join(f"job{number} {i}\n" for i in range(1, 6))


@pytest.mark.parametrize(
    "script",
    [
        'os.write(1, b"PK\\x03\\x04\\0\\0" * 100)',
        "os.write(1, bytes(range(128, 256)) * 40)",
        'os.write(1, b"text first\\n" * 100); time.sleep(0.1); os.write(1, b"\\0" * 100)',
        'os.write(1, b"fine\\n"); time.sleep(0.1); os.write(2, b"\\0binary")',
    ],
    ids=["nul", "undecodable", "later", "on stderr"],
)
async def test_binary_output_is_announced_once_kept_and_not_shown(script: str):
    """All of it is accounted for."""
    ran = await python(f"import os, time; {script}; time.sleep(0.1); os.write(1, b'more')").run()
    assert ran.statuses == ["binary output: stored, not shown"]
    assert ran.events.index(ran.outputs[-2]) < ran.events.index(ran.outputs[-1])
    last = ran.outputs[-1]
    assert (last.content, last.size) == ("", 0)
    assert last.dropped > 0
    assert ran.result.details["binary"] is True
    assert ran.sink.data.count(b"more") == 1  # of two pipes either may be read first
    assert ran.result.details["bytes"] == len(ran.sink.data)


@pytest.mark.parametrize(
    "script",
    [
        'os.write(1, b"before\\n\\0\\0after\\n")',
        'os.write(1, b"before\\nhalf " + bytes(range(128, 256)) * 2)',
        'os.write(1, b"before\\n"); os.write(1, b"\\0\\0")',
        'os.write(1, b"be"); os.write(1, b"fore\\n"); os.write(1, b"\\0\\0")',
    ],
    ids=["nul", "undecodable", "apart", "in pieces"],
)
async def test_lines_before_binary_output_are_shown_however_they_arrive(script: str):
    """In one read with it or before it: what came first was text."""
    ran = await python(f"import os; {script}").run()
    assert ran.text() == "before\n"
    assert ran.statuses == ["binary output: stored, not shown"]
    assert sum(piece.size for piece in ran.outputs) + sum(piece.dropped for piece in ran.outputs) == len(ran.sink.data)


async def test_a_nul_in_the_middle_of_long_text_is_only_left_out():
    """What began as text stays text."""
    ran = await python('import os; os.write(1, b"line\\n" * 3000); os.write(1, b"a\\0b\\n")').run()
    assert ran.statuses == []
    assert ran.text().endswith("ab\n")
    assert ran.result.details["binary"] is False


async def test_massive_output_is_kept_whole_and_shown_at_its_end():
    """The last 50 KB at a time are told, the rest is counted, memory stays small."""
    ran = await sh("head -c 30000000 /dev/zero | base64").run()
    told = sum(piece.size for piece in ran.pieces)
    assert ran.sink.size == 40_526_316
    assert told < ran.sink.size / 4
    assert ran.outputs[-1].offset + ran.outputs[-1].size == ran.sink.size
    assert all(piece.size <= 50 * 1024 for piece in ran.pieces)
    assert ran.text().endswith("AAAA\n")
    expected = await asyncio.to_thread(os.popen, "head -c 30000000 /dev/zero | base64 | sha256sum")
    with expected:
        assert expected.read().split()[0] == hashlib.sha256(ran.sink.data).hexdigest()


async def test_a_flood_does_not_starve_the_loop():
    """Others that share it are heard within a blink."""
    ran = Ran("yes", sink=Memory(limit=0))
    running = ran.start()
    await ran.until(lambda ran: ran.sink.size > 1_000_000)
    loop = asyncio.get_running_loop()
    delays = []
    for _ in range(50):
        before = loop.time()
        await asyncio.sleep(0.002)
        delays.append(loop.time() - before)
    ran.command.cancel()
    await running
    assert sorted(delays)[25] < 0.05


async def test_a_child_in_the_background_that_holds_the_pipe_does_not_hold_up_the_end(tmp_path: Path):
    """The end is the end of the process. The child is left alone."""
    ran = sh("sleep 600 & echo $! > child; echo started", cwd=str(tmp_path))
    await ran.run(5)
    assert ran.text() == "started\n"
    child = noted(tmp_path, "child")
    os.kill(child, 0)
    os.kill(child, 9)


async def test_a_child_in_the_background_that_never_stops_writing_does_not_either(tmp_path: Path):
    ran = sh("yes & echo $! > child; sleep 0.05", cwd=str(tmp_path))
    await ran.run(5)
    assert ran.result.exit_code == 0


async def test_what_was_written_just_before_the_end_is_not_lost():
    """More than one read takes, in the pipe when the process is gone."""
    for _ in range(5):
        ran = await python('import os; os.write(1, b"x" * 65536 * 16); os.write(2, b"y" * 60000)').run()
        assert ran.sink.size == 65536 * 16 + 60000


async def test_silence_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """After a while without output a status says so, with the time; the count begins anew with each output."""
    monkeypatch.setattr("sightline.exec._output._SILENCES", (0.1, 0.3, 0.5))
    wait = "until [ -e {} ]; do sleep 0.01; done"
    ran = sh(f"{wait.format('speak')}; echo x; {wait.format('end')}", cwd=str(tmp_path))
    running = ran.start()
    await ran.until(lambda ran: len(ran.statuses) >= 2)
    (tmp_path / "speak").touch()
    await ran.until(lambda ran: "no output for 0.1 s" in ran.statuses)
    (tmp_path / "end").touch()
    await running
    assert ran.statuses[:2] == ["running for 0.1 s, no output yet", "running for 0.3 s, no output yet"]
    spoke = ran.outputs.index(ran.pieces[0])
    assert ran.outputs[spoke + 1].content == "no output for 0.1 s"
    assert all(event.silent == (event.stream == "status") for event in ran.events if isinstance(event, ToolOutput))


async def test_a_full_disk_is_told_once_and_the_command_goes_on():
    """Output is counted, not kept."""
    ran = await sh("for i in 1 2 3 4; do echo 123456789; sleep 0.06; done", sink=Memory(limit=25)).run()
    notices = [event for event in ran.events if isinstance(event, Notice)]
    assert [(notice.level, "no space left on device" in notice.text) for notice in notices] == [("warning", True)]
    assert (ran.result.exit_code, ran.result.details["bytes"], ran.result.details["kept"]) == (0, 40, 20)


@pytest.mark.parametrize(
    ("argv", "code", "told"),
    [
        (("no-such-program",), 127, "no such program on the PATH"),
        (("./nowhere/x",), 127, "no such file"),
        (("ls -l",), 127, "separate words"),
        (("./plain",), 126, "not executable"),
        (("./folder",), 126, "it is a folder"),
        (("./bad-interpreter",), 127, "first line names"),
        (("./no-interpreter",), 126, "#!"),
        (("echo", "a\0b"), 126, "null byte"),
        (("echo", "x" * 3_000_000), 126, "too long"),
        ((), 126, "no command"),
    ],
)
async def test_what_cannot_be_started_is_told_with_what_to_try(tmp_path: Path, argv, code: int, told: str):
    (tmp_path / "plain").write_text("echo\n")
    (tmp_path / "folder").mkdir()
    for name, text in (("bad-interpreter", "#!/no/such/thing\n"), ("no-interpreter", "echo\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    ran = await Ran(*argv, cwd=str(tmp_path)).run()
    assert [type(event) for event in ran.events] == [ToolUse, ToolResult]
    assert (ran.result.details["ended"], ran.result.exit_code, ran.result.is_error) == ("spawn", code, True)
    assert told in ran.result.content


async def test_a_folder_that_is_not_there_is_told():
    ran = await Ran("true", cwd="/no/such/folder").run()
    assert ran.result.details["ended"] == "spawn"
    assert "no such folder" in ran.result.content


async def test_a_sandboxed_command_cannot_write_outside_its_workspace(tmp_path: Path):
    """Where the platform can; the environment is filtered and its temporary folder is gone afterwards."""
    from sightline.exec import SandboxSpec, sandbox_status

    if sandbox_status().kind == "none":
        pytest.skip("no sandbox on this machine")
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    script = f"echo yes > {inside}/a; echo no > {outside}/b; echo ${{API_TOKEN-none}}; echo $TMPDIR"
    env = {"PATH": os.environ["PATH"], "API_TOKEN": "secret"}
    ran = await sh(script, cwd=str(inside), env=env, sandbox=SandboxSpec(workspace=str(inside))).run()
    assert (inside / "a").read_text() == "yes\n"
    assert not (outside / "b").exists()
    told, temporary = ran.text("stdout").split()
    assert told == "none"
    assert temporary not in os.listdir(os.path.dirname(temporary))


async def test_what_cannot_be_started_in_a_sandbox_is_told_as_outside_of_it(tmp_path: Path):
    """Not by whatever wraps it, in the middle of the output."""
    from sightline.exec import SandboxSpec

    for name in ("no-such-program", "./nowhere/x", "./"):
        ran = await Ran(name, cwd=str(tmp_path), sandbox=SandboxSpec(workspace=str(tmp_path))).run()
        assert ran.result.details["ended"] == "spawn"
        assert name in ran.result.content
    ran = await Ran("true", sandbox=SandboxSpec(workspace="/no/such/folder")).run()
    assert (ran.result.details["ended"], ran.result.exit_code) == ("spawn", 126)


def test_a_command_travels():
    """It is sent from one program to another."""
    import msgspec

    spec = CommandSpec(argv=("a", "b"), env={"A": "1"}, timeout=2.5)
    assert msgspec.json.decode(msgspec.json.encode(spec), type=CommandSpec) == spec


@pytest.mark.needs("bubblewrap")
async def test_what_was_prepared_for_a_command_that_cannot_start_is_removed(tmp_path: Path, monkeypatch):
    """Its temporary folder, and the placeholders of what it must not make."""
    temporary, workspace = tmp_path / "temporary", tmp_path / "w"
    temporary.mkdir()
    (workspace / ".git").mkdir(parents=True)
    before = os.listdir(workspace / ".git")
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    spec = SandboxSpec(workspace=str(workspace))
    ran = await Ran("echo", "x" * 3_000_000, cwd=str(workspace), sandbox=spec).run()
    assert (ran.result.details["ended"], ran.result.exit_code) == ("spawn", 126)
    assert os.listdir(temporary) == []
    assert os.listdir(workspace / ".git") == before


@pytest.mark.skipif(sys.platform != "linux", reason="descriptors are counted in /proc")
async def test_nothing_is_left_open():
    """A hundred commands later there are as many descriptors as before."""
    await Ran("true").run()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        await asyncio.gather(*(sh("echo x; echo y >&2").run() for _ in range(5)), Ran("no-such").run())
        await Ran("echo", "t", pty=True).run()
    assert len(os.listdir("/proc/self/fd")) <= before  # of tests before this one some may have been closed meanwhile


async def test_a_folder_that_was_judged_is_where_it_starts(tmp_path: Path):
    """By a path that has become a link since, it does not start."""
    (tmp_path / "judged").mkdir()
    (tmp_path / "elsewhere").mkdir()
    there = await Ran("pwd", "-P", cwd=str(tmp_path / "judged"), exact_cwd=True).run()
    assert there.text() == f"{tmp_path / 'judged'}\n"
    (tmp_path / "judged").rename(tmp_path / "moved")
    (tmp_path / "judged").symlink_to("elsewhere")
    swapped = await Ran("pwd", "-P", cwd=str(tmp_path / "judged"), exact_cwd=True).run()
    assert (swapped.text(), swapped.result.details["ended"]) == ("", "spawn")
