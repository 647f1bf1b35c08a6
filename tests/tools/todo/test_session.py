"""The list in a session: kept with the conversation, resumed, and thought of when the model stops."""

from pathlib import Path
from typing import Any

import pytest

from sightline.conversation import ToolMessage, text_of
from sightline.events import State, ToolResult, User
from tests.agent.support import lab


def todo(*ops: dict[str, Any]) -> dict[str, Any]:
    return {"tool": "todo", "args": {"ops": list(ops)}}


INIT = {"op": "init", "list": [{"phase": "P", "items": ["a", "b", "c"]}, {"phase": "Q", "items": ["d"]}]}
DONE = {"op": "done", "task": "a"}
QUIET = {"todo.reminders": "false"}


def rows(phases: list[dict[str, Any]]) -> list[dict[str, str]]:
    """The list as every agent's plan is told: a row per task."""
    return [
        {"text": task["content"], "status": task.get("status", "pending"), "phase": phase["name"]}
        for phase in phases
        for task in phase["tasks"]
    ]


async def test_the_list_is_told_and_resumed_without_what_had_ended(tmp_path: Path) -> None:
    """todo.md/Notes/resume: completed and abandoned tasks are stripped; the rest is there, one in progress."""
    ended = {"op": "drop", "phase": "Q"}
    turns: list[Any] = [[todo(INIT, DONE, ended)], [{"text": "so far"}]]
    async with lab(tmp_path, turns, settings=QUIET) as here:
        await here.run()
        (told,) = [event.value for event in here.of(State) if event.key == "todo"]
        assert told == rows(here.of(ToolResult)[0].details["phases"])
        session = here.session.id
    turns += [[todo({"op": "done", "task": "b"})], [todo({"op": "start", "task": "a"})], [{"text": "ok"}]]
    async with lab(tmp_path, turns, settings=QUIET, resume=session) as here:
        await here.run()
        first, second = here.of(ToolResult)
        tasks = [{"content": "b", "status": "completed"}, {"content": "c", "status": "in_progress"}]
        assert first.details["phases"] == [{"name": "P", "tasks": tasks}]
        assert second.is_error
        assert 'Task "a" not found' in second.content
        assert second.details["phases"][0]["tasks"] == tasks


async def test_a_list_that_partly_failed_is_kept_and_told(tmp_path: Path) -> None:
    """todo.md/Side Effects: the model reads the errors in the result; what the person sees is never stale."""
    turns = [[todo(INIT, {"op": "start", "task": "x"})], [{"text": "stop"}]]
    async with lab(tmp_path, turns, settings=QUIET) as here:
        await here.run()
        (result,) = here.of(ToolResult)
        assert result.is_error
        (told,) = [event.value for event in here.of(State) if event.key == "todo"]
        assert told == rows(result.details["phases"])
        message = next(m for m in here.messages if isinstance(m, ToolMessage))
        assert message.is_error
        assert text_of(message).startswith('Errors: Task "x" not found')


async def test_a_model_that_stops_with_open_tasks_is_reminded(tmp_path: Path) -> None:
    """As often as the settings say, with the tasks; not once there are none."""
    turns = [[todo(INIT)], [{"text": "done?"}], [todo({"op": "done"})], [{"text": "done."}]]
    async with lab(tmp_path, turns) as here:
        outcome = await here.run()
        assert outcome.text == "done."
        (reminder,) = [event.text for event in here.of(User) if event.source == "todo"]
        assert "- a\n- b\n- c\n- d\n" in reminder


@pytest.mark.parametrize(("most", "times"), [("0", 0), ("2", 2)])
async def test_reminders_end(tmp_path: Path, most: str, times: int) -> None:
    """A model that will not go on is let go."""
    turns = [[todo(INIT)], *[[{"text": f"no {n}"}] for n in range(times + 1)]]
    async with lab(tmp_path, turns, settings={"todo.reminders_max": most}) as here:
        assert (await here.run()).text == f"no {times}"
        assert len([event for event in here.of(User) if event.source == "todo"]) == times


async def test_a_session_without_it(tmp_path: Path) -> None:
    """todo.md/Notes/todo.enabled: the model is not offered it, and told so when it calls it."""
    async with lab(tmp_path, [[todo(INIT)], [{"text": "ok"}]], settings={"todo.enabled": "false"}) as here:
        await here.run()
        assert "there is no tool 'todo'" in here.of(ToolResult)[0].content
        assert "todo" not in [tool.name for tool in here.requests[0].tools]
