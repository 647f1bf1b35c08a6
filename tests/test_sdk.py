"""Our agent in somebody's program: events once and in order, errors that say what to do, and an end that ends."""

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sightline
from sightline.events import Event, Notice, Request, RunEnded, Text, ToolOutput, ToolResult, ToolUse
from sightline.exceptions import UserMistake
from sightline.extension import Outcome, ToolContext
from sightline.journal import SessionReader, Store

ROOT = Path(__file__).parents[1]
PAGES = ["docs/guide/sdk.md", "docs/reference/sdk.md"]

Script = Callable[..., str]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Everything kept is this test's; there is no key."""
    for name in os.environ:
        if name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SIGHTLINE_PERMISSIONS_SANDBOX", "false")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "home"


@pytest.fixture
def script(tmp_path: Path) -> Script:
    def write(*turns: Any) -> str:
        (tmp_path / "script.json").write_text(json.dumps(turns))
        return f"scripted:{tmp_path / 'script.json'}"

    return write


def bash(command: str) -> list[dict[str, Any]]:
    return [{"tool": "bash", "args": {"command": command}}]


def kept(home: Path, session: str) -> list[Event]:
    return list(SessionReader(Store(home).folder(session)).events())


def ended_child() -> "subprocess.Popen[bytes]":
    child = subprocess.Popen(["sh", "-c", "exit 7"], start_new_session=True)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    return child


async def test_children_of_the_program_stay_its_own(script: Script) -> None:
    """One in a session of its own that ended while a command ran: its exit code is the program's to read."""
    async with sightline.start(model=script(bash("true"), [{"text": "Done."}]), allow=["exec"]) as session:
        mine = await asyncio.to_thread(ended_child)
        await session.send("go")
        await session.wait()
        assert mine.poll() == 7


async def test_a_run_is_every_event_once_until_it_is_over(home: Path, script: Script) -> None:
    """What the program was given is what the journal has."""
    async with sightline.start(model=script([{"text": "Hello."}])) as session:
        await session.send("hi")
        seen = [event async for event in session.events()]
        assert not session.busy
        assert isinstance(seen[-1], RunEnded)
        outcome = await session.wait()
        assert (outcome.exit_code, outcome.text) == (0, "Hello.")
        assert [event async for event in session.events()] == []
    assert kept(home, session.id) == seen


@pytest.mark.parametrize("stops", [1, 2, 5])
async def test_breaking_off_neither_loses_nor_repeats(home: Path, script: Script, stops: int) -> None:
    """However often the reading is broken off and begun again, also between two prompts."""
    turns = [
        [{"text": "one two three four five six seven", "chunk": 3}, *bash("echo a; echo b")],
        [{"text": "end"}],
    ] * 2
    async with sightline.start(model=script(*turns), allow=["exec"]) as session:
        seen: list[Event] = []
        for prompt in ("first", "second"):
            await session.send(prompt)
            over = False
            while not over:
                over = True
                async for event in session.events():
                    seen.append(event)
                    if len(seen) % stops == 0:
                        over = False
                        break
    assert [event.seq for event in seen] == list(range(1, len(seen) + 1))
    assert kept(home, session.id)[: len(seen)] == seen
    assert "".join(event.text for event in seen if isinstance(event, Text)).count("seven") == 2


async def test_a_reader_that_is_far_behind_is_told_everything(home: Path, script: Script) -> None:
    """More than a subscription holds, from where it is kept; each once, in order."""
    text = "word " * 6000
    async with sightline.start(model=script([{"text": text, "chunk": 5}])) as session:
        await session.send("talk")
        seen: list[Event] = []
        async for event in session.events():
            seen.append(event)
            if len(seen) == 3:
                await session.wait()
    assert "".join(event.text for event in seen if isinstance(event, Text)) == text
    assert [event.seq for event in seen] == list(range(1, len(seen) + 1))
    assert kept(home, session.id) == seen


async def test_two_readers_share_the_events(script: Script) -> None:
    """Each event goes to one of them, and both end."""
    async with sightline.start(model=script([{"text": "a b c d e f", "chunk": 1}])) as session:
        await session.send("go")

        async def read() -> list[Event]:
            return [event async for event in session.events()]

        first, second = await asyncio.wait_for(asyncio.gather(read(), read()), 20)
        numbers = sorted(event.seq for event in [*first, *second])
        assert numbers == list(range(1, len(numbers) + 1))


async def test_what_is_said_at_the_start_is_an_event(home: Path, script: Script) -> None:
    """Also that an extension was left out."""
    (home / "extensions").mkdir(parents=True)
    (home / "extensions" / "broken.py").write_text("1/0")
    async with sightline.start(model=script([{"text": "ok"}])) as session:
        first = [event async for event in session.events()]
        assert ["broken.py" in event.text for event in first if isinstance(event, Notice)] == [True]


async def test_leaving_while_the_agent_works_stops_it(home: Path, script: Script) -> None:
    """With the command it was running; the journal has the end of both."""
    pid = 0
    async with sightline.start(model=script(bash("echo $$; exec sleep 600")), allow=["exec"]) as session:
        await session.send("go")
        async for event in session.events():
            if isinstance(event, ToolOutput):
                pid = int(event.content)
                break
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    ends = [event for event in kept(home, session.id) if isinstance(event, RunEnded)]
    assert [end.exit_code for end in ends] == [130]


async def test_an_error_in_the_program_ends_the_session_too(script: Script) -> None:
    """And comes out as it was."""
    used: list[sightline.Session] = []

    async def program() -> None:
        async with sightline.start(model=script(bash("sleep 600")), allow=["exec"]) as session:
            used.append(session)
            await session.send("go")
            async for _ in session.events():
                raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        await program()
    assert not used[0].busy


async def test_cancel_keeps_what_was_said(script: Script) -> None:
    """The run ends as cancelled, and the session can be used again."""
    turns = [[{"text": "I begin. "}, *bash("sleep 600")], [{"text": "again"}]]
    async with sightline.start(model=script(*turns), allow=["exec"]) as session:
        await session.send("go")
        async for event in session.events():
            if isinstance(event, ToolUse):
                session.cancel()
        assert (await session.wait()).exit_code == 130
        await session.send("once more")
        assert (await session.wait()).text == "again"


async def test_a_request_waits_for_its_answer(script: Script) -> None:
    """Attended: the program is the person."""
    async with sightline.start(model=script(bash("echo yes"), [{"text": "ok"}]), attended=True) as session:
        await session.send("go")
        results = []
        async for event in session.events():
            if isinstance(event, Request):
                assert session.answer(event.id, "once")
                assert not session.answer(event.id, "once")
            if isinstance(event, ToolResult):
                results.append(event.content)
        assert results == ["yes"]


async def test_nobody_there_refuses(script: Script) -> None:
    """Exit code 3, as on the command line."""
    async with sightline.start(model=script(bash("echo yes"), [{"text": "ok"}])) as session:
        await session.send("go")
        assert (await session.wait()).exit_code == 3


async def test_tools_of_ones_own(script: Script) -> None:
    """A function is one; it can stream and show its progress."""

    async def add(a: int, b: int, context: ToolContext) -> Outcome:
        """Add two numbers."""
        context.output(f"{a} + {b}\n")
        return Outcome(text=str(a + b))

    turns = [[{"tool": "add", "args": {"a": 1, "b": "2"}}], [{"text": "3"}]]
    async with sightline.start(model=script(*turns), tools=[add]) as session:
        await session.send("1 + 2")
        events = [event async for event in session.events()]
        assert [event.content for event in events if isinstance(event, ToolResult)] == ["3"]


async def test_a_session_is_gone_on_with(script: Script) -> None:
    """By its id, a beginning of it, or `-`; while it runs it is somebody else's."""
    model = script([{"text": "one"}], [{"text": "two"}], [{"text": "three"}])
    async with sightline.start(model=model) as session:
        await session.send("a")
        await session.wait()
        with pytest.raises(UserMistake, match="is running"):
            async with sightline.start(model=model, resume=session.id):
                pass
    for resume, text in ((session.id[:5], "two"), ("-", "three")):
        async with sightline.start(model=model, resume=resume) as again:
            await again.send("b")
            assert (await again.wait()).text == text
            events = [event async for event in again.events()]
            assert [event.text for event in events if isinstance(event, Text)] == [text]
        assert again.id == session.id


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        pytest.param({}, "there is no model to work with", "ANTHROPIC_API_KEY", id="no model"),
        pytest.param({"model": "anthropic/claude-x"}, "no key for anthropic", "ANTHROPIC_API_KEY", id="no key"),
        pytest.param({"settings": {"read.defualt_limit": "3"}}, "read.defualt_limit", "default_limit", id="setting"),
        pytest.param({"settings": {"read.default_limit": "x"}}, "read.default_limit", "", id="value"),
        pytest.param({"allow": ["nonsense(x)"]}, "nonsense", "", id="rule"),
        pytest.param({"resume": "zzzzzz"}, "no session zzzzzz", "sessions", id="session"),
        pytest.param({"cwd": "no/such/folder"}, "no folder", "", id="folder"),
    ],
)
async def test_what_is_wrong_is_said_before_anything_happens(
    options: dict[str, Any], message: str, hint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line and what to do."""
    monkeypatch.setenv("SIGHTLINE_MODELS_DISCOVER", "false")
    with pytest.raises(UserMistake) as raised:
        async with sightline.start(**options):
            pass
    assert message in raised.value.message
    assert hint in raised.value.hint


async def test_what_cannot_be_sent_is_said(script: Script) -> None:
    """An empty prompt, and waiting for nothing."""
    async with sightline.start(model=script([{"text": "x"}])) as session:
        with pytest.raises(UserMistake, match="nothing was sent"):
            await session.wait()
        with pytest.raises(UserMistake, match="empty"):
            await session.send("  ")


def snippets(page: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    ("page", "number"), [(page, number) for page in PAGES for number in range(len(snippets(page)))]
)
def test_the_programs_of_the_pages_run(page: str, number: int, script: Script, tmp_path: Path) -> None:
    """As they stand there, but for the model."""
    model = script([{"text": "It is fixed."}, {"tool": "stock", "args": {"item": "bolts"}}], [{"text": "12 bolts."}])
    Path("path/to/project").mkdir(parents=True)
    program = re.sub(r'model="[^"]*"', f"model={model!r}", snippets(page)[number])
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_the_first_program_of_the_guide_has_ten_lines() -> None:
    """Not counting empty ones."""
    lines = [line for line in snippets("docs/guide/sdk.md")[0].splitlines() if line.strip()]
    assert len(lines) <= 10


def test_the_example_runs(script: Script) -> None:
    """With its tool, and with a person who says yes."""
    model = script([{"tool": "glossary", "args": {"word": "ETA"}}, *bash("echo hello")], [{"text": "The ferry."}])
    program = f"import asyncio, runpy; m = runpy.run_path({str(ROOT / 'examples/agent_program.py')!r})\n"
    program += f"raise SystemExit(asyncio.run(m['main']('ETA?', {model!r})))"
    done = subprocess.run([sys.executable, "-c", program], input="y\n", capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert "[glossary ETA]" in done.stdout
    assert "bash wants to run" in done.stdout
    assert done.stdout.endswith("The ferry.\n")


def test_the_public_names_are_these() -> None:
    """One door for programs, one for extensions; typed."""
    import sightline.extension

    assert sightline.__all__ == ["Session", "__version__", "start"]
    assert all(hasattr(sightline.extension, name) for name in sightline.extension.__all__)
    assert (Path(sightline.__file__).parent / "py.typed").is_file()


async def test_agents_are_started_beside_it(script: Script) -> None:
    """Each has its events and its result; one that is cancelled says so, and a wrong name is a mistake."""
    agents = {
        "One": [[{"text": "I look. "}, {"tool": "yield", "args": {"result": "It is blue."}}]],
        "Two": [[{"tool": "bash", "args": {"command": "sleep 60"}}]],
    }
    model = script([{"tool": "task", "args": {}, "agents": agents}])
    async with sightline.start(model=model, approval="full") as session:
        one = session.spawn("task", "Look.", name="One")
        seen = [event async for event in one.events()]
        result = await one.result()
        assert (one.id, result.output, result.failed) == ("One", "It is blue.", False)
        assert "".join(event.text for event in seen if isinstance(event, Text)) == "I look. "
        assert {event.agent for event in seen} == {"One"}
        two = session.spawn("task", "Wait.", name="Two")
        async for event in two.events():
            if isinstance(event, ToolUse):
                break
        await two.cancel()
        assert (await two.result()).aborted == "cancelled"
        with pytest.raises(UserMistake, match="nothing-like-it"):
            session.spawn("nothing-like-it", "x")
