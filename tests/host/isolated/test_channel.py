"""An agent of ours in a process of its own: prompts, answers, steering, stopping, and its end with the session."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil

from sightline.events import Error, Event, Request, RunEnded, RunStarted, Text, ToolResult, ToolUse, User
from sightline.host.isolated._channel import IsolatedChannel
from sightline.host.isolated._wire import IsolatedStart
from sightline.providers import ChannelRun, ProviderPrompt
from sightline.settings import StartOptions
from tests.agent.support import write_script
from tests.delegation.teamwork import call, text
from tests.host.support import alive, until

DEADLINE = 60.0


def folder_of(folder: Path) -> Path:
    work = folder / "work"
    work.mkdir(exist_ok=True)
    return work


def ask(folder: Path, prompt: str = "Do it.", **more: Any) -> ProviderPrompt:
    return ProviderPrompt(prompt=prompt, cwd=str(folder_of(folder)), **more)


@asynccontextmanager
async def opened(
    folder: Path, turns: list[Any], only: tuple[str, ...] = ("read", "write", "bash", "ask"), **more: Any
) -> AsyncIterator[IsolatedChannel]:
    options = StartOptions(model=write_script(folder, turns), flags={"permissions.sandbox": "false"})
    start = IsolatedStart(folder=str(folder / "agent"), options=options, only=list(only))
    channel = IsolatedChannel(ask(folder, **more), start)
    try:
        async with asyncio.timeout(DEADLINE):
            yield channel
    finally:
        await channel.close()


async def events_of(run: ChannelRun) -> list[Event]:
    return [event async for batch in run.events() for event in batch]


def words(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, Text))


async def test_it_works_in_its_folder_and_its_events_come_once(tmp_path: Path) -> None:
    turns = [[call("write", path="new.txt", content="new\n")], [text("It is written.")]]
    async with opened(tmp_path, turns) as channel:
        found = await events_of(await channel.run(ask(tmp_path)))
    assert (tmp_path / "work" / "new.txt").read_text() == "new\n"
    assert words(found) == "It is written."
    assert [type(event) for event in found if isinstance(event, RunStarted | ToolUse | ToolResult | RunEnded)] == [
        RunStarted,
        ToolUse,
        ToolResult,
        RunEnded,
    ]
    assert [event.text for event in found if isinstance(event, User)] == ["Do it."]


async def test_the_next_prompt_continues_the_conversation_also_in_another_process(tmp_path: Path) -> None:
    turns = [[text("First.")], [text("Second.")], [text("Third.")]]
    async with opened(tmp_path, turns) as channel:
        first = await events_of(await channel.run(ask(tmp_path)))
        second = await events_of(await channel.run(ask(tmp_path, "More.")))
        session = next(event.session for event in first if isinstance(event, RunStarted))
    async with opened(tmp_path, turns) as channel:
        third = await events_of(await channel.run(ask(tmp_path, "Again.", resume=session)))
    assert [words(each) for each in (first, second, third)] == ["First.", "Second.", "Third."]
    assert all(event.session == session for event in (*second, *third) if isinstance(event, RunStarted))


async def test_it_asks_and_is_answered(tmp_path: Path) -> None:
    turns = [[call("ask", question="Which way?", choices=["left", "right"])], [text("Then left.")]]
    async with opened(tmp_path, turns) as channel:
        run, found = await channel.run(ask(tmp_path)), []
        async for batch in run.events():
            found += batch
            for event in batch:
                if isinstance(event, Request):
                    assert channel.answer(event.id, {"chosen": ["left"]})
                    assert not channel.answer(event.id, {"chosen": ["right"]})
    result = next(event for event in found if isinstance(event, ToolResult))
    assert "left" in result.content
    assert words(found) == "Then left."


async def test_it_has_its_tools_and_no_others(tmp_path: Path) -> None:
    turns = [[call("bash", command="touch made")], [call("task", agent="task", assignment="x")], [text("Over.")]]
    async with opened(tmp_path, turns, ("read",)) as channel:
        found = await events_of(await channel.run(ask(tmp_path, approval="full")))
    results = [event for event in found if isinstance(event, ToolResult)]
    assert [event.is_error for event in results] == [True, True]
    assert all("there is no tool" in event.content for event in results)
    assert not (tmp_path / "work" / "made").exists()


async def test_it_takes_words_while_it_works_and_none_when_it_is_done(tmp_path: Path) -> None:
    turns = [[call("bash", command="until [ -e go ]; do sleep 0.05; done")], [text("Seen.")]]
    async with opened(tmp_path, turns, approval="full") as channel:
        run, found, steered = await channel.run(ask(tmp_path)), [], []
        async for batch in run.events():
            found += batch
            if not steered and any(isinstance(event, ToolUse) for event in batch):
                steered.append(await channel.steer("Look left."))
                (tmp_path / "work" / "go").touch()
        assert steered == [True]
        assert not await channel.steer("Too late.")
    assert [event.text for event in found if isinstance(event, User)] == ["Do it.", "Look left."]


async def test_stopping_ends_what_it_runs_and_leaves_it_usable(tmp_path: Path) -> None:
    turns = [[call("bash", command="echo $$ > pid; sleep 600")], [text("Back.")]]
    async with opened(tmp_path, turns, approval="full") as channel:
        run = await channel.run(ask(tmp_path))
        reading = asyncio.ensure_future(events_of(run))
        pid_file = tmp_path / "work" / "pid"
        await until(lambda: pid_file.exists() and pid_file.read_text().strip() != "")
        await run.cancel()
        ended = [event for event in await reading if isinstance(event, RunEnded)]
        assert [event.stop_reason for event in ended] == ["cancelled"]
        assert run.outcome.cancelled
        await until(lambda: not alive(int(pid_file.read_text())))
        assert words(await events_of(await channel.run(ask(tmp_path, "Go on.")))) == "Back."


async def test_one_that_is_killed_fails_its_run(tmp_path: Path) -> None:
    turns = [[call("ask", question="Which way?", choices=["left", "right"])], [text("Never.")]]
    async with opened(tmp_path, turns) as channel:
        run = await channel.run(ask(tmp_path))
        (process,) = (
            each for each in psutil.Process().children() if "sightline.host.isolated._process" in each.cmdline()
        )
        process.kill()
        found = await events_of(run)
    assert [event.is_error for event in found if isinstance(event, RunEnded)] == [True]
    assert "ended" in next(event.text for event in found if isinstance(event, Error))


async def test_what_it_cannot_begin_with_is_reported(tmp_path: Path) -> None:
    async with opened(tmp_path, []) as channel:
        channel._start = IsolatedStart(folder=str(tmp_path / "agent"), options=StartOptions(model="nobody/nothing"))
        found = await events_of(await channel.run(ask(tmp_path)))
    assert next(event.text for event in found if isinstance(event, Error))
    assert [event.is_error for event in found if isinstance(event, RunEnded)] == [True]
