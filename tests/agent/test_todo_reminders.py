"""The todo list besides its tool: edited by the person, cleared of what has ended, and not forgotten when it fails.

What the documents say of it is in todo.md: Side Effects, Limits & Caps, Notes."""

import asyncio
from pathlib import Path
from typing import Any

from sightline.conversation import UserMessage, text_of
from sightline.events import Notice, State, User
from sightline.host import EditTodo, MoveTo
from tests.agent.support import lab


def todo(*ops: dict[str, Any]) -> dict[str, Any]:
    return {"tool": "todo", "args": {"ops": list(ops)}}


INIT = {"op": "init", "list": [{"phase": "Build", "items": ["walls", "roof"]}]}
DONE = {"op": "done", "task": "walls"}


def rows(here: Any) -> list[Any]:
    return [event.value for event in here.of(State) if event.key == "todo"]


def told_model(here: Any) -> str:
    return "\n".join(text_of(message) for message in here.messages if isinstance(message, UserMessage))


async def test_an_ended_task_leaves_the_list_after_a_while(tmp_path: Path) -> None:
    """todo.md/Limits & Caps: after `todo.clear_delay` seconds what is completed or dropped goes; the rest stays."""
    settings = {"todo.clear_delay": "0.05", "todo.reminders": "false"}
    async with lab(tmp_path, [[todo(INIT, DONE)], [{"text": "ok"}]], settings=settings) as here:
        await here.run()
        await here.until(lambda: bool(rows(here)) and len(rows(here)[-1]) == 1)
        assert rows(here)[0][0] == {"text": "walls", "status": "completed", "phase": "Build"}
        assert rows(here)[-1] == [{"text": "roof", "status": "in_progress", "phase": "Build"}]


async def test_with_no_delay_it_leaves_at_once(tmp_path: Path) -> None:
    """todo.md/Limits & Caps: 0 clears with the next turn of the loop; a list of which nothing is left is empty."""
    settings = {"todo.clear_delay": "0", "todo.reminders": "false"}
    async with lab(tmp_path, [[todo(INIT, {"op": "done"})], [{"text": "ok"}]], settings=settings) as here:
        await here.run()
        await here.until(lambda: bool(rows(here)) and rows(here)[-1] == [])


async def test_below_zero_nothing_is_cleared(tmp_path: Path) -> None:
    """todo.md/Limits & Caps: `< 0` disables it."""
    settings = {"todo.clear_delay": "-1", "todo.reminders": "false"}
    async with lab(tmp_path, [[todo(INIT, DONE)], [{"text": "ok"}]], settings=settings) as here:
        await here.run()
        await asyncio.sleep(0.05)
        assert len(rows(here)) == 1
        assert len(here.agent.workplace.stored["todo"][0]["tasks"]) == 2


async def test_a_task_that_is_taken_up_again_stays(tmp_path: Path) -> None:
    """Only what has still ended when the time is up goes."""
    settings = {"todo.clear_delay": "0.2", "todo.reminders": "false"}
    turns = [[todo(INIT, DONE)], [todo({"op": "start", "task": "walls"}, {"op": "done", "task": "roof"})]]
    async with lab(tmp_path, [*turns, [{"text": "ok"}]], settings=settings) as here:
        await here.run()
        await here.until(lambda: [row["text"] for row in rows(here)[-1]] == ["walls"])
        assert rows(here)[-1][0]["status"] == "in_progress"


async def test_a_failed_change_is_said_and_the_model_reminded(tmp_path: Path) -> None:
    """todo.md/Side Effects: a hidden reminder with the next request, and a warning for the person."""
    failing = todo({"op": "done", "task": "nothing of the kind"})
    async with lab(tmp_path, [[failing], [{"text": "ok"}]]) as here:
        await here.run()
        assert "Your last change of the todo list failed" in told_model(here)
        assert "Your last change of the todo list failed" in str(here.requests[-1].messages)
        assert not any("todo list failed" in event.text for event in here.of(User))
        assert any("could not update the todo list" in event.text for event in here.of(Notice))


async def test_the_person_edits_the_list_and_the_model_is_told(tmp_path: Path) -> None:
    """todo.md/Notes and Markdown round-trip helpers, for `/todo`: what is written is the list, kept with the session,
    and the model knows; it is read back in the same form, notes and all."""
    async with lab(tmp_path, [[{"text": "ok"}]]) as here:
        assert here.session.worker is not None
        reply = await here.session.submit(
            EditTodo("# Plan\n\n- [x] begun\n- [ ] go on\n  > with care\n- [~] not that\n")
        )
        assert reply.ok
        assert reply.data == {"markdown": "# Plan\n\n- [x] begun\n- [/] go on\n  > with care\n- [-] not that\n"}
        await here.until(lambda: bool(rows(here)))
        assert [row["status"] for row in rows(here)[-1]] == ["completed", "in_progress", "abandoned"]
        assert rows(here)[-1][1]["notes"] == ["with care"]
        await here.run("go")
        assert "The user has edited the todo list" in told_model(here)
        assert "- [/] go on" in str(here.requests[0].messages)
        session = here.session.id
    async with lab(tmp_path, [], resume=session) as here:
        reply = await here.session.submit(EditTodo())
        assert "- [x] begun" in reply.data["markdown"], "todo.md/Notes: history still appears to the person"


async def test_the_list_follows_the_branch(tmp_path: Path) -> None:
    """Going back to before it was made says that it is empty."""
    async with lab(tmp_path, [[todo(INIT)], [{"text": "ok"}]], settings={"todo.reminders": "false"}) as here:
        await here.run()
        assert (await here.session.submit(MoveTo("e1"))).ok
        await here.until(lambda: rows(here)[-1] == [])
