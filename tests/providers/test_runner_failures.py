"""Runs that fail: each says why in one error, with a hint, and ends once."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from sightline.events import Error, Notice, RunEnded, Text, ToolResult
from sightline.providers import EventStream, ProviderPrompt, Run, get_provider, start_run
from sightline.providers.running._explain import with_hint

from .fake_cli import Cli, all_events
from .support import CAPTURES, lines, load_capture


async def failure(run: Run) -> Error:
    """The error of a run that failed in the way every failed run must."""
    async with asyncio.timeout(20):
        events = await all_events(run)
    (error,) = [event for event in events if isinstance(event, Error)]
    (ended,) = [event for event in events if isinstance(event, RunEnded)]
    assert ended.is_error
    assert run.outcome.error == error
    assert run.outcome.exit_code in (1, 124)
    return error


async def test_a_missing_binary_says_how_to_install_it(cli: Cli):
    """An error event, not an exception."""
    error = await failure(cli.start())
    assert error.text == "Parrot is not installed: no `parrot` on the PATH"
    assert error.hint.startswith("install it with `npm install -g @birds/parrot`, then ")


async def test_a_binary_that_is_not_executable_says_so(cli: Cli):
    """It is there, but may not be run."""
    cli.write("")
    cli.binary.chmod(0o644)
    assert (await failure(cli.start())).text == "`parrot` cannot be run: permission denied"


async def test_a_binary_without_its_interpreter_is_not_called_missing(cli: Cli):
    """The file is there; what it needs is not."""
    cli.write("", interpreter="/no/such/interpreter")
    assert (await failure(cli.start())).text == f"`{cli.binary}` cannot be started: its interpreter is missing"


async def test_a_file_that_is_no_program_says_so(cli: Cli):
    """Half a download, for instance."""
    cli.binary.write_bytes(b"\x00\x01\x02")
    cli.binary.chmod(0o755)
    assert "Exec format error" in (await failure(cli.start())).text


async def test_a_missing_working_folder_is_named(cli: Cli):
    """The system's message would blame the binary."""
    cli.write("")
    assert (await failure(cli.start(cwd=f"{cli.folder}/gone"))).text == f"there is no folder {cli.folder}/gone"


async def test_an_argument_no_command_line_can_hold_is_an_error_not_a_crash(cli: Cli):
    """A NUL in a model name."""
    cli.write("")
    assert "cannot take these arguments" in (await failure(cli.start(model="a\0b"))).text


@pytest.mark.parametrize(
    ("stderr", "text", "hint"),
    [
        ("boom", "boom", ""),
        ("", "", "run `parrot` by itself to see why"),
        ("Error: please log in first", ": please log in first", "run `parrot login`"),
        ("Please set an Auth method in your settings.json", "Auth method", "run `parrot login`"),
        ("env: 'node': No such file or directory", "node", "install Node.js"),
        ("npm error code EBADENGINE\nnpm error engine Unsupported engine", "Unsupported engine", "update Node.js"),
        ("npm ERR! code E404", "E404", "npm install -g @birds/parrot"),
        (
            "Error: Cannot find module './x'\n    at require (node:1:2)\n\nNode.js v20.1.0\n",
            "Cannot find",
            "npm install",
        ),
        ("Error: model macaw-9 not found", "macaw-9", "check the model name"),
        ("error: unknown option '--look-only'", "--look-only", "sightline doctor"),
        ("Not inside a trusted directory and --skip-git-repo-check was not specified.", "trusted", "Git repository"),
        ("No conversation found with session ID: 7", "session ID: 7", "check the session id"),
        ("connect ECONNREFUSED 127.0.0.1:1", "ECONNREFUSED", "check the network"),
        ("getaddrinfo ENOTFOUND example.org", "ENOTFOUND", "check the network"),
    ],
)
async def test_what_it_said_on_stderr_becomes_the_error(cli: Cli, stderr: str, text: str, hint: str):
    """A failure before the first line, told in the CLI's own last words, with what to do about it."""
    error = await failure(cli.run(f"sys.stderr.write({stderr!r}); sys.exit(3)"))
    assert error.text.startswith("Parrot ended with exit code 3")
    assert text in error.text
    assert error.hint.startswith(hint) or hint in error.hint


BACKTRACES = {
    "stripped": "".join(f"   {n}: <unknown>\n" for n in range(7)),
    "with places": "".join(f"   {n}: nest::error::fly\n             at ./src/wing.rs:{n}:5\n" for n in range(30)),
    "no model of ours": "   0: core::unknown model::not logged in\n",
}


@pytest.mark.parametrize("frames", BACKTRACES.values(), ids=BACKTRACES)
async def test_of_a_rust_program_the_message_is_shown_and_not_the_backtrace(cli: Cli, frames: str):
    """Its frames are numbered; neither what is said nor the hint is taken from them."""
    message = 'wing_policy = "never" is no longer supported; remove this setting'
    stderr = f"Error: {message}\n\nStack backtrace:\n{frames}"
    cli.write(f"sys.stderr.write({stderr!r}); sys.exit(1)")
    error = await failure(cli.start())
    assert (error.text, error.hint) == (f"Parrot ended with exit code 1: {message}", "")


async def test_of_a_crash_the_message_is_shown_and_not_the_stack(cli: Cli):
    """The lines a person can use, bounded, without anything that could drive a terminal."""
    stack = "".join(f"    at fly (file:///nest/wing.js:{n}:7)\n" for n in range(500))
    message = "file:///nest/wing.js:1\nthrow new Error()\n^\n\nError: \x1b[31mclipped\x1b[0m wing"
    stderr = f"{message}\n{stack}\nNode.js v20.1.0\n"
    error = await failure(cli.run(f"sys.stderr.write({stderr!r}); sys.exit(1)"))
    assert error.text == "Parrot ended with exit code 1: throw new Error()\nError: clipped wing"


async def test_a_file_that_was_not_found_is_no_network_problem(cli: Cli):
    """An error code is a word in capitals, not a part of another word."""
    error = await failure(cli.run("sys.stderr.write(\"FileNotFoundError: 'seeds.txt'\"); sys.exit(1)"))
    assert error.hint == ""


async def test_of_a_long_line_the_beginning_is_kept(cli: Cli):
    """That is where it says what happened; the end is whatever it was about."""
    error = await failure(cli.run('sys.stderr.write("Error: no seeds in " + "x" * 5000); sys.exit(1)'))
    assert error.text.startswith("Parrot ended with exit code 1: no seeds in xxx")
    assert error.text.endswith("x…")
    assert len(error.text) < 500


async def test_the_word_error_is_not_doubled(cli: Cli):
    """Whoever shows an error says that it is one."""
    assert (await failure(cli.run('out(squawk="Error: out of seeds"); sys.exit(1)'))).text == "out of seeds"


@pytest.mark.parametrize("colour", ["", "\x1b[31m"], ids=["plain", "coloured"])
async def test_what_it_said_on_stdout_becomes_the_error_when_stderr_is_empty(cli: Cli, colour: str):
    """Some CLIs say there why they failed, in the middle of a stream that is otherwise JSON."""
    said = f"{colour}Error: please log in first"
    run = cli.run(f"""out(perch="p"); print({said!r}); print('{{"feather":'); sys.exit(1)""")
    error = await failure(run)
    assert error.text == "Parrot ended with exit code 1: please log in first"
    assert error.hint == "run `parrot login`"


async def test_of_many_unreadable_lines_only_the_last_few_become_the_error(cli: Cli):
    """Bounded, as everything of others is."""
    error = await failure(cli.run('[print(f"invalid {n} " + "x" * 9000) for n in range(500)]; sys.exit(1)'))
    assert [line[:11] for line in error.text.split("\n")][1:] == ["invalid 497", "invalid 498", "invalid 499"]
    assert len(error.text) < 2000


async def test_stderr_is_believed_more_than_stdout(cli: Cli):
    """What was printed before the failure may have nothing to do with it."""
    error = await failure(cli.run('print("please wait"); sys.stderr.write("Error: fell off"); sys.exit(1)'))
    assert error.text == "Parrot ended with exit code 1: fell off"


async def test_raw_lines_that_say_why_it_failed_become_the_error_too(cli: Cli):
    """The person who asked for the lines has seen them; the outcome still says what to do."""
    run = cli.run('print("{}"); print("Error: please log in first"); sys.exit(1)', raw=True)
    assert [chunk async for chunk in run.raw()]
    assert run.outcome.error == Error("Parrot ended with exit code 1: please log in first", "run `parrot login`")


async def test_a_signal_is_named(cli: Cli):
    """Killed from outside, by the system or by somebody."""
    error = await failure(cli.run("os.kill(os.getpid(), signal.SIGSEGV)"))
    assert error.text == "Parrot was ended by SIGSEGV without saying why"


async def test_the_sources_own_error_is_not_told_twice(cli: Cli):
    """It gets a hint where it has none, and the bad exit code adds nothing."""
    run = cli.run('out(perch="p"); out(squawk="Not logged in"); sys.stderr.write("noise"); sys.exit(1)')
    error = await failure(run)
    assert error == Error("Not logged in", "run `parrot login`", source="parrot")
    assert run.outcome.session == "p"


async def test_a_bad_end_after_words_keeps_the_words(cli: Cli):
    """What was said stays said; the error comes after it, the end last."""
    run = cli.run('out(say="so far"); sys.stderr.write("fell off"); sys.exit(2)')
    events = await all_events(run)
    assert [type(event) for event in events[1:]] == [Text, Error, RunEnded]
    assert events[-1].exit_code == 2
    assert (run.outcome.text, run.outcome.exit_code, run.outcome.native_exit_code) == ("so far", 1, 2)


async def test_a_run_that_said_it_ended_is_not_ended_again(cli: Cli):
    """A crash on the way out is told, after the source's own end."""
    events = await all_events(cli.run('out(sleep="fed"); sys.exit(4)'))
    assert [type(event) for event in events[1:]] == [RunEnded, Error]


async def test_a_run_out_of_time_is_ended_and_says_so(cli: Cli):
    """Like a cancellation, but a failure: 124."""
    run = cli.run('out(say="thinking"); forever()', timeout=1.5)
    error = await failure(run)
    assert error.text == "timed out after 1.5 s"
    assert run.outcome.timed_out
    assert (run.outcome.exit_code, run.outcome.text) == (124, "thinking")


async def test_time_runs_also_while_nobody_reads(cli: Cli):
    """A reader that is busy elsewhere does not stop the clock."""
    run = cli.run('out(say="thinking"); forever()', timeout=1.5)
    batches = run.events()
    await anext(batches)
    await anext(batches)
    await asyncio.sleep(1.7)  # the reader's own business
    events = [event async for batch in batches for event in batch]
    assert events[-1].stop_reason == "timeout"


@pytest.mark.parametrize("provider", ["claude", "codex", "gemini", "opencode"])
def test_too_many_requests_are_not_blamed_on_a_key(provider: str):
    """Whatever else the message offers: it is time that helps."""
    command, source = get_provider(provider).command, get_provider(provider).source
    assert command is not None
    assert source is not None
    stream = EventStream(source())
    events = stream.feed(load_capture(provider, "api_rate_limit")[0]) + stream.end()
    error = [event for event in events if isinstance(event, Error)][-1]
    assert with_hint(error, command).hint.startswith("wait a little and try again")


REFUSALS = {
    "claude": ("permission_denied", "refused: Bash touch forbidden.txt"),
    "gemini": ("permission_denied", "refused: Bash touch forbidden.txt"),
    "opencode": ("permission_asked", "refused: Bash touch forbidden.txt"),
}


@pytest.mark.parametrize("provider", REFUSALS)
async def test_what_was_refused_is_named_and_is_the_exit_code(provider: str, tmp_path: Path, monkeypatch: Any):
    """The CLI itself ends as if all had gone well."""
    recording, refused = REFUSALS[provider]
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    program = tmp_path / provider
    program.write_text(f"#!/bin/sh\ncat {CAPTURES}/{provider}/{recording}.jsonl\n")
    program.chmod(0o755)
    run = start_run(get_provider(provider), ProviderPrompt(prompt="go"))
    events = await all_events(run)
    assert (run.outcome.exit_code, run.outcome.native_exit_code, run.outcome.error) == (3, 0, None)
    assert [event.text for event in events if isinstance(event, Notice)] == [refused]
    assert isinstance(events[-1], RunEnded)
    if provider != "claude":  # which names them at the end
        (result,) = [event for event in events if isinstance(event, ToolResult) and event.is_error]
        assert result.details["ended"] == "refused"


def test_a_call_that_codex_declined_is_a_refusal():
    """Where it says so."""
    item = {"id": "i", "type": "command_execution", "command": "rm x", "status": "declined"}
    stream = EventStream(get_provider("codex").source())
    (result,) = [e for e in stream.feed(lines({"type": "item.completed", "item": item})) if isinstance(e, ToolResult)]
    assert (result.is_error, result.details) == (True, {"ended": "refused"})


def _ending_with(cli: Cli, provider: str, said: bytes, code: int = 0) -> Run:
    """A run of a program that stands for a provider's, says this and exits."""
    real = get_provider(provider)
    assert real.command is not None
    cli.binary = cli.programs / real.command.binary
    said_file = cli.programs / "said.jsonl"
    said_file.write_bytes(said)
    body = f"sys.stdin.read()\nsys.stdout.write(open({str(said_file)!r}).read())\nsys.stdout.flush()\nos._exit({code})"
    cli.write(body)
    return cli.start(provider=real)


@pytest.mark.parametrize("provider", ["claude", "codex", "gemini"])
@pytest.mark.parametrize("cut", ["before its last line", "within its last line", "everything"])
async def test_a_run_without_its_last_line_has_failed(cli: Cli, provider: str, cut: str):
    """The program exited with 0, as if all were well; what it did not say it may not have done."""
    whole, _ = load_capture(provider, "text_only")
    last = whole.rstrip(b"\n").rfind(b"\n") + 1
    said = {"before its last line": whole[:last], "within its last line": whole[: last + 10], "everything": b""}[cut]
    error = await failure(_ending_with(cli, provider, said))
    assert error.text.endswith("stopped before its run was over: the last line of its output is missing")
    assert error.hint.startswith("resume the session, or run `")


@pytest.mark.parametrize("provider", ["claude", "codex", "gemini", "opencode"])
async def test_every_recording_that_ended_well_still_does(cli: Cli, provider: str):
    """OpenCode's do not say that they are over."""
    names = [path.stem for path in sorted((CAPTURES / provider).glob("*.jsonl"))]
    failed = []
    for name in names:
        said, meta = load_capture(provider, name)
        if meta["exit_code"] == 0:
            run = _ending_with(cli, provider, said)
            await all_events(run)
            if run.outcome.error is not None and "stopped before" in run.outcome.error.text:
                failed.append(name)
    assert names
    assert not failed


async def test_a_last_line_of_another_version_is_not_missing(cli: Cli):
    """It cannot be read, and may be the one about the end."""
    whole, _ = load_capture("claude", "text_only")
    last = whole.rstrip(b"\n").rfind(b"\n") + 1
    run = _ending_with(cli, "claude", whole[:last] + b'{"type": "the_end", "well": true}\n')
    await all_events(run)
    assert (run.outcome.exit_code, run.outcome.error) == (0, None)
