"""A provider that takes its time to start: the run is shown, and can be stopped, once its prompt is taken."""

import asyncio
import stat
from pathlib import Path

import pytest

from sightline.events import Error, Notice, RunEnded, RunStarted, State, Text, ToolResult, User
from sightline.host import Abort, HostSession, Prompt, Shell
from sightline.journal import SessionReader, Store
from sightline.transcript import Remark, fold
from tests.providers.fake_app_server import install, path_with
from tests.providers.support import lines

from .support import alive, until
from .test_provider_worker import DONE, Desk, asked_of, desk, said

# Says nothing for as long as it is let, and what it was sent is never worked on; what it starts would outlive it.
_SILENT = """#!/bin/sh
here=$(dirname "$0")
case "$1" in {refused}) echo "error: unrecognized subcommand" >&2; exit 2;; esac
sleep 60 &
echo $! > "$here/child"
echo $$ > "$here/pid"
wait
touch "$here/worked"
"""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the program that stands for codex is."""
    monkeypatch.setenv("PATH", path_with(tmp_path / "bin"))
    (tmp_path / "bin").mkdir()
    return tmp_path / "bin"


def silent(program: Path, refused: str = "nothing") -> None:
    file = program / "codex"
    file.write_text(_SILENT.format(refused=refused))
    file.chmod(file.stat().st_mode | stat.S_IXUSR)


def runs(program: Path) -> bool:
    return (program / "pid").exists() and (program / "pid").read_text().endswith("\n")


def starting(it: Desk) -> list[object]:
    return [event.value for event in it.of(State) if event.key == "starting"]


async def stopped(it: Desk) -> None:
    async with asyncio.timeout(30):  # it is not waited for
        assert (await it.session.submit(Abort())).ok
        await it.done()


async def test_a_run_goes_on_from_the_prompt_on(store: Store, program: Path) -> None:
    """Before the provider has said a word; and it says whom it waits for."""
    silent(program)
    async with desk(store) as it:
        assert (await it.session.submit(Prompt("Go."))).ok
        await until(lambda: it.of(RunStarted), "the beginning")
        assert it.session.snapshot().running
        assert it.session.snapshot().state["starting"] == "Codex"
        assert it.session.worker is not None
        assert it.session.worker.busy


@pytest.mark.parametrize("refused", ["nothing", "app-server"], ids=["while it opens", "run once per prompt"])
async def test_it_is_stopped_before_its_first_word(store: Store, program: Path, refused: str) -> None:
    """Nobody waits for it to start, nothing of it is left, and it is said once that it was stopped."""
    silent(program, refused)
    async with desk(store) as it:
        await it.session.submit(Prompt("Go."))
        await until(lambda: runs(program), "its process")
        await stopped(it)
        assert not alive(int((program / "pid").read_text()))
        assert not alive(int((program / "child").read_text()))
        assert [event.stop_reason for event in it.of(RunEnded)] == ["cancelled"]
        state = it.session.snapshot()
        assert not state.running
        assert [entry.text for entry in state.entries if isinstance(entry, Remark) and entry.level == "info"] == [
            "stopped"
        ]
        assert starting(it) == ["Codex", None]
    assert not (program / "worked").exists()


async def test_stopped_at_once_nothing_is_started_for_it(store: Store, program: Path) -> None:
    """Also when nothing of the provider is there yet."""
    silent(program)
    async with desk(store) as it:
        await it.session.submit(Prompt("Go."))
        await until(lambda: it.of(User), "the prompt")
        await stopped(it)
        assert it.of(RunEnded)[-1].stop_reason == "cancelled"
        assert not _runs_something(program)


def _runs_something(program: Path) -> bool:
    return any(alive(int(file.read_text() or 0)) for name in ("pid", "child") if (file := program / name).exists())


async def test_after_that_it_goes_on_through_the_channel(store: Store, program: Path) -> None:
    """Stopping it is no reason to do without live output; and what was run before is told with the next prompt."""
    silent(program)
    async with desk(store) as it:
        shell = await it.session.submit(Shell("echo typed"))
        await until(lambda: [result for result in it.of(ToolResult) if result.id == shell.id], "the command")
        await it.session.submit(Prompt("Go."))
        await until(lambda: runs(program), "its process")
        await stopped(it)
        install(program, lines(said("One."), DONE))
        await it.session.submit(Prompt("Again."))
        await it.done()
        assert [event.text for event in it.of(Text)] == ["One."]
        assert not it.of(Notice)
    (params,) = [asked["params"] for asked in asked_of(program) if asked.get("method") == "turn/start"]
    assert "echo typed" in params["input"][0]["text"]
    assert params["input"][0]["text"].endswith("Again.")


async def test_it_begins_once(store: Store, program: Path) -> None:
    """The provider's own word on it begins no second run: one beginning and one end for each prompt, told and kept."""
    install(program, lines(said("One."), DONE), lines(said("Two.", "n"), DONE))
    async with desk(store) as it:
        for text in ("First.", "Second."):
            await it.session.submit(Prompt(text))
            await it.done()
        begun, ended = it.of(RunStarted), it.of(RunEnded)
        assert (len(begun), len(ended)) == (2, 2)
        assert all(first.seq < last.seq for first, last in zip(begun, ended, strict=True))
        assert [event.session for event in begun] == [it.session.id] * 2
        assert it.session.snapshot().state["native_session"] == "T1"
        assert fold(it.events).began == begun[-1].time
        assert it.session.snapshot().state["model"] == "m-1"
        folder = it.session.folder
    assert [event for event in SessionReader(folder).events() if isinstance(event, RunStarted)] == begun


async def test_what_is_open_is_not_said_to_start(store: Store, program: Path) -> None:
    """Only the first prompt waits for a start."""
    install(program, lines(said("One."), DONE), lines(said("Two.", "n"), DONE))
    async with desk(store) as it:
        for text in ("First.", "Second."):
            await it.session.submit(Prompt(text))
            await it.done()
        assert starting(it) == ["Codex", None]
        cleared = [event for event in it.of(State) if event.key == "starting"][-1]
        assert cleared.seq < it.of(Text)[0].seq


async def test_a_session_ends_while_it_starts(store: Store, program: Path) -> None:
    """A host that stops does not wait for it either."""
    silent(program)
    async with asyncio.timeout(20):
        async with desk(store) as it:
            session: HostSession = it.session
            await session.submit(Prompt("Go."))
            await until(lambda: runs(program), "its process")
    assert not _runs_something(program)


async def test_it_is_started_while_the_first_prompt_is_written(store: Store, program: Path) -> None:
    """Once somebody can write one; nothing is asked of it but to be ready, and the prompt starts nothing."""
    install(program, lines(said("Hello."), DONE))
    async with desk(store) as it:
        assert not (program / "asked.jsonl").exists()
        watching = it.session.subscribe(attends=True)
        await until(lambda: [m["method"] for m in _asked(program)] == ["initialize", "initialized"], "it to be ready")
        await it.session.submit(Prompt("Go."))
        await it.done()
        assert [event.text for event in it.of(Text)] == ["Hello."]
        assert starting(it) == []
        assert [m["method"] for m in _asked(program)].count("initialize") == 1
        watching.close()


async def test_one_that_was_never_used_ends_when_the_console_leaves(store: Store, program: Path) -> None:
    """And is there again for who comes next."""
    silent(program)
    async with desk(store) as it:
        for _ in range(2):
            watching = it.session.subscribe(attends=True)
            await until(lambda: runs(program), "its process")
            pid, child = (int((program / name).read_text()) for name in ("pid", "child"))
            watching.close()
            await until(lambda: not alive(pid) and not alive(child), "its end")  # noqa: B023
            await until(lambda: it.session.running == 0 and not it.session._tasks, "all of it")
            for name in ("pid", "child"):
                (program / name).unlink()


async def test_a_prompt_waits_for_what_is_being_started(store: Store, program: Path) -> None:
    """It is not started twice, and can be stopped meanwhile."""
    silent(program)
    async with desk(store) as it:
        watching = it.session.subscribe(attends=True)
        await until(lambda: runs(program), "its process")
        await it.session.submit(Prompt("Go."))
        await until(lambda: it.of(RunStarted), "the beginning")
        assert starting(it) == ["Codex"]
        await stopped(it)
        assert not alive(int((program / "pid").read_text()))
        watching.close()


async def test_one_that_is_not_installed_is_named_once_and_first(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is missing, where it was looked for, how to install it and how to log in; not how it would have been run."""
    monkeypatch.setenv("PATH", str(tmp_path))
    async with desk(store) as it:
        await it.session.submit(Prompt("Go."))
        await it.done()
        (error,) = it.of(Error)
        assert error.text == "Codex is not installed: no `codex` on the PATH"
        assert error.hint.startswith("install it with `npm install -g @openai/codex`, then ")
        assert it.of(Notice) == []


def _asked(program: Path) -> list[dict[str, object]]:
    return asked_of(program) if (program / "asked.jsonl").exists() else []
