"""Running a provider's CLI: what goes in, what comes out and when, and how it ends by itself."""

import asyncio
import os

import pytest

from sightline.events import Error, Notice, RunEnded, RunStarted, State, Text, Unknown
from sightline.providers import Provider, ProviderOutcome, ProviderPrompt, get_provider, recognise
from sightline.providers.running._runner import start_run

from .fake_cli import Cli, all_events


def words(events: list) -> str:
    return "".join(event.text for event in events if isinstance(event, Text))


def only(kind: type, events: list):
    """The one event of this kind."""
    (found,) = [event for event in events if isinstance(event, kind)]
    return found


async def test_a_run_shows_its_words_its_session_and_its_end(cli: Cli):
    """From the prompt to the outcome: events in the order of the stream, one end, a line per block of words."""
    run = cli.run('out(perch="p-1"); out(say="You said: "); out(say=sys.stdin.read()); out(sleep="fed")', "Polly?")
    events = await all_events(run)
    assert [type(event) for event in events] == [State, RunStarted, Text, Text, RunEnded]
    assert events[-1].stop_reason == "fed"
    assert run.outcome == ProviderOutcome(exit_code=0, session="p-1", text="You said: \nPolly?", native_exit_code=0)


async def test_nfr_005_a_sixth_provider_needs_one_module_and_one_registry_line(cli: Cli):
    """Found by name, recognised by its stream and run, with nothing else about it known anywhere."""
    assert get_provider("parrot").title == "Parrot"
    assert recognise(b'{"perch": "p-1"}\n') is get_provider("parrot")
    assert words(await all_events(cli.run('out(say="hello")'))) == "hello"


@pytest.mark.parametrize("prompt", ["$(touch it) `touch it`; touch it", "--help", "a\nb\r\n'\"\\", "🦜" * 100_000, ""])
async def test_the_prompt_arrives_byte_for_byte_and_no_shell_sees_it(cli: Cli, prompt: str):
    """On stdin, of any length and beginning, with nothing expanded and nothing on the command line."""
    run = cli.run(
        'text = sys.stdin.buffer.read().decode(); out(say=text); out(say="|".join(sys.argv[1:]))',
        prompt,
        resume="x; touch it",
    )
    assert words(await all_events(run)) == f"{prompt}talk|--resume=x; touch it"
    assert not list(cli.folder.iterdir())


@pytest.mark.parametrize(("prompt", "arrives"), [("caf\udce9 é", b"caf\xe9 \xc3\xa9"), ("\ud800 \udce9", b"? \xe9")])
async def test_bytes_of_the_prompt_that_are_not_utf8_arrive_as_they_were_given(cli: Cli, prompt: str, arrives: bytes):
    """An argument's odd bytes reach us as surrogates; only what stands for no byte is replaced."""
    run = cli.run("out(say=sys.stdin.buffer.read().hex())", prompt)
    await all_events(run)
    assert bytes.fromhex(run.outcome.text) == arrives


async def test_each_line_is_shown_before_the_next_is_written(cli: Cli):
    """The CLI writes a line only after the test has seen the one before."""
    os.mkfifo(cli.folder / "seen")
    gate = os.open(cli.folder / "seen", os.O_RDWR)
    run = cli.run('gate = open("seen", "rb", 0)\nfor n in range(5): out(say=str(n)); gate.read(1)')
    shown = []
    async with asyncio.timeout(30):
        async for batch in run.events():
            for event in batch:
                if isinstance(event, Text):
                    shown.append(event.text)
                    os.write(gate, b".")
    os.close(gate)
    assert shown == ["0", "1", "2", "3", "4"]


async def test_a_line_of_megabytes_arrives_whole(cli: Cli):
    """No line limit below the stream's own cap."""
    events = await all_events(cli.run('out(say="x" * 3_000_000); out(say="y")'))
    assert words(events) == "x" * 3_000_000 + "y"


async def test_a_character_torn_between_two_reads_is_put_together(cli: Cli):
    """The second half is written only when the first has been taken out of the pipe."""
    run = cli.run(
        """
line = b'{"say": "\\xf0\\x9f\\xa6\\x9c"}\\n'
os.write(1, line[:11])
until_read()
os.write(1, line[11:])
"""
    )
    assert words(await all_events(run)) == "🦜"


async def test_a_last_line_without_newline_is_read(cli: Cli):
    """The end of the stream ends the line."""
    assert words(await all_events(cli.run("""sys.stdout.write('{"say": "bye"}')"""))) == "bye"


async def test_a_flood_on_stderr_blocks_nothing_and_only_its_end_is_kept(cli: Cli):
    """It is read while stdout is, and bounded."""
    run = cli.run('sys.stderr.write("chatter\\n" * 500_000 + "the end\\n"); sys.stderr.flush(); out(say="done")')
    assert words(await all_events(run)) == "done"
    assert len(run.outcome.stderr) == 64 * 1024
    assert run.outcome.stderr.endswith("chatter\nthe end\n")


async def test_a_line_that_is_no_json_is_shown_as_unknown_and_the_run_goes_on(cli: Cli):
    """A CLI that prints a warning to stdout does not break its stream."""
    events = await all_events(cli.run('print("Warning: moulting"); out(say="hello")'))
    assert only(Unknown, events).raw == "Warning: moulting"
    assert words(events) == "hello"


async def test_only_the_root_agents_words_are_the_outcomes_text(cli: Cli):
    """A subagent's words are shown but are not the answer."""
    run = cli.run('out(say="one "); out(say="peep", chick="Chick-1"); out(say="two")')
    await all_events(run)
    assert run.outcome.text == "one \ntwo"


async def test_raw_passes_the_bytes_untouched_and_parses_nothing(cli: Cli, parrot: Provider):
    """The provider's own lines, whatever they hold, and its exit code."""

    def never():
        pytest.fail("a source was made")

    cli.write('sys.stdout.buffer.write(b"\\xff\\x00\\x1b[31m not json \\r\\n" * 3); sys.exit(7)')
    run = cli.start(provider=_with(parrot, source=never), raw=True)
    assert b"".join([chunk async for chunk in run.raw()]) == b"\xff\x00\x1b[31m not json \r\n" * 3
    assert (run.outcome.exit_code, run.outcome.native_exit_code) == (1, 7)


async def test_fr_011_a_provider_without_a_source_passes_its_lines_through(cli: Cli, parrot: Provider):
    """No events but the lifecycle, no error; the lines themselves are there as bytes, and as the outcome's text."""
    cli.write('print("plain words"); print("{not json")')
    sourceless = _with(parrot, source=None)
    run = cli.start(provider=sourceless)
    assert [type(event) for event in await all_events(run)] == [State, RunStarted, RunEnded]
    assert run.outcome.text == "plain words\n{not json\n"
    assert [chunk async for chunk in cli.start(provider=sourceless).raw()] == [b"plain words\n{not json\n"]


async def test_the_environment_is_ours_and_what_was_added(cli: Cli, monkeypatch: pytest.MonkeyPatch):
    """PWD follows the working folder: some CLIs believe it more than the system."""
    monkeypatch.setenv("NEST", "ours")
    run = cli.run(
        'out(say=" ".join([os.environ["NEST"], os.environ["SEED"], os.environ["PWD"], os.getcwd()]))',
        env={"SEED": "added", "PATH": f"{cli.programs}:{os.environ['PATH']}"},
    )
    await all_events(run)
    assert run.outcome.text == f"ours added {cli.folder} {cli.folder}"


@pytest.mark.parametrize(("level", "flags"), [("auto", []), ("plan", ["--look-only"]), ("full", ["--fly-free"])])
async def test_the_approval_level_becomes_the_clis_flags_and_is_shown(cli: Cli, level: str, flags: list[str]):
    """The first event says what was asked for and what it stands for; the default adds nothing."""
    run = cli.run('out(say=" ".join(sys.argv[1:]))', approval=level)
    events = await all_events(run)
    assert events[0] == State("approval", {"level": level, "flags": flags}, source="parrot")
    assert run.outcome.text.split() == ["talk", *flags]


async def test_an_approval_level_the_cli_does_not_have_is_refused(cli: Cli):
    """Nothing is run under another level than the one asked for."""
    run = cli.run('open("ran", "w")', approval="edit")
    error, ended = await all_events(run)
    assert error == Error("Parrot has no approval level 'edit'", "choose one of: auto, plan, full", source="parrot")
    assert ended.is_error
    assert run.outcome.exit_code == 2
    assert not (cli.folder / "ran").exists()


@pytest.mark.parametrize(
    ("known", "text", "hint"),
    [
        (frozenset(), "parrot takes no options: wings, beak", "leave it out"),
        (frozenset({"beak"}), "parrot takes no option wings", "known: beak"),
    ],
)
async def test_an_option_the_cli_does_not_take_is_refused(
    cli: Cli, parrot: Provider, known: frozenset[str], text: str, hint: str
):
    """Nothing is run as if it had not been asked for: a mistake of the person's, exit code 2."""
    cli.write('open("ran", "w")')
    provider = _with(parrot, command=_with(parrot.command, options=known))
    run = cli.start(provider=provider, options={"wings": 1, "beak": 2})
    error, ended = await all_events(run)
    assert error == Error(text, hint, source="parrot")
    assert ended.is_error
    assert run.outcome.exit_code == 2
    assert not (cli.folder / "ran").exists()


async def test_an_option_the_cli_takes_reaches_its_arguments(cli: Cli, parrot: Provider):
    """The provider's module decides what it means there."""
    command = _with(
        parrot.command, options=frozenset({"beak"}), arguments=lambda ask: [f"--beak={ask.options['beak']}"]
    )
    cli.write("out(say=sys.argv[1])")
    run = cli.start(provider=_with(parrot, command=command), options={"beak": 2})
    await all_events(run)
    assert run.outcome.text == "--beak=2"


async def test_a_conversation_is_resumed_with_the_session_of_its_first_run(cli: Cli):
    """The outcome's session is what the second run needs."""
    body = 'out(perch="p-7"); out(say=" ".join(sys.argv[2:]))'
    first = cli.run(body)
    await all_events(first)
    second = cli.run(body, resume=first.outcome.session)
    assert not [event for event in await all_events(second) if isinstance(event, Notice)]
    assert (first.outcome.text, second.outcome.text) == ("", "--resume=p-7")


async def test_a_conversation_that_was_not_resumed_after_all_is_said(cli: Cli):
    """Some CLIs start a new one in silence."""
    events = await all_events(cli.run('out(perch="p-8"); out(say="who are you?")', resume="p-7"))
    notice = only(Notice, events)
    assert (notice.level, notice.text) == ("warning", "session p-7 could not be resumed: this is session p-8")


async def test_a_provider_that_is_no_cli_is_started_its_own_way(parrot: Provider):
    """The runner hands over to the provider's own start function."""
    asked = []
    start_run(_with(parrot, start=asked.append), ProviderPrompt(prompt="hello"))
    assert [ask.prompt for ask in asked] == ["hello"]
    with pytest.raises(ValueError, match="neither a command nor a start function"):
        start_run(_with(parrot, command=None), ProviderPrompt(prompt="hello"))


async def test_a_grandchild_that_holds_the_pipe_does_not_hold_the_run(cli: Cli):
    """The end is the end of the process; what it left running is left alone, and what it wrote is not lost."""
    run = cli.run(
        """
if os.fork() == 0:
    note_pid("stray")
    forever()
until_noted("stray")
sys.stdout.write(json.dumps({"say": "z" * 50_000}) + "\\n")
"""
    )
    async with asyncio.timeout(30):
        assert words(await all_events(run)) == "z" * 50_000
    assert run.outcome.exit_code == 0
    os.kill(cli.pid("stray"), 9)


async def test_a_slow_reader_loses_nothing_after_the_process_has_ended(cli: Cli):
    """The wait for a pipe that somebody holds open never throws away what is already in it."""
    run = cli.run('out(say="first "); until_read(); [out(say="x" * 990) for _ in range(60)]')
    shown = ""
    async for batch in run.events():
        shown += words(batch)
        if shown == "first ":
            await asyncio.sleep(0.8)  # longer than an open pipe is waited for: the point of the test
    assert shown == "first " + "x" * 990 * 60


async def test_there_is_no_outcome_before_the_end(cli: Cli):
    """Asking too early is a mistake in the program and says so."""
    run = cli.run('out(say="hello")')
    with pytest.raises(RuntimeError, match="read to the end"):
        _ = run.outcome
    await all_events(run)
    assert run.outcome.text == "hello"


def _with(provider, **changes: object):
    from msgspec.structs import replace

    return replace(provider, **changes)
