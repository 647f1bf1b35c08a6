"""What an extension may show and ask: requests and states on a real session, and nothing where nobody looks."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from sightline.events import Notice, Request, RequestResolved, State, Text, ToolResult
from sightline.transcript import Snapshot, fold
from tests.agent.support import Lab, kept, lab

EXAMPLE = Path(__file__).parents[2] / "examples" / "extensions" / "profiles.py"

Start = Callable[..., AbstractAsyncContextManager[Lab]]

ASKING = """
def setup(extension):
    ui = extension.ui

    @extension.command("ask")
    async def ask(args):
        how, _, rest = args.partition(" ")
        made = {
            "select": lambda: ui.select("Which?", ["one", "two\\tand"], message="well"),
            "confirm": lambda: ui.confirm("Sure?"),
            "input": lambda: ui.input("Name?", text="Ada", placeholder="a name"),
            "editor": lambda: ui.editor("Write", "one\\ntwo"),
            "custom": lambda: ui.custom("board", {"size": 3, 4: [1]}, overlay=rest == "over"),
        }
        return repr(await made[how]())

    @extension.command("has_ui")
    def has_ui(args):
        return str(ui.has_ui)

    @extension.command("show")
    def show(args):
        exec(args, {"ui": ui})
"""


@pytest.fixture
def session(tmp_path: Path) -> Start:
    """A session with the extension `asking`, watched by somebody who can answer unless told otherwise."""
    own = tmp_path / "home" / "extensions"
    own.mkdir(parents=True)
    (own / "asking.py").write_text(ASKING)

    @asynccontextmanager
    async def start(turns: list[Any] | None = None, *, attends: bool = True, **options: Any) -> AsyncIterator[Lab]:
        environ = {"SIGHTLINE_HOME": str(tmp_path / "home")}
        async with lab(tmp_path, turns or [[{"text": "ok"}]], environ=environ, **options) as here:
            person = here.session.subscribe(attends=True) if attends else None
            yield here
            if person is not None:
                person.close()

    return start


async def asked(here: Lab, prompt: str) -> Request:
    """The request a prompt leads to."""
    before = {event.id for event in here.of(Request)}
    await here.agent.prompt(prompt)
    return await here.first(Request, lambda event: event.id not in before)


def said(here: Lab) -> str:
    return "".join(event.text for event in here.of(Text))


ANSWERS = [
    ("select", {"value": "one"}, "'one'"),
    ("select", "one", "'one'"),
    ("select", {"value": "two and"}, "'two\\tand'"),
    ("select", "three", "None"),
    ("select", {"value": None}, "None"),
    ("confirm", {"value": True}, "True"),
    ("confirm", {"value": False}, "False"),
    ("confirm", "yes", "True"),
    ("confirm", {"value": None}, "None"),
    ("input", {"value": "Bob"}, "'Bob'"),
    ("input", {"value": 3}, "None"),
    ("editor", {"value": "a\nb"}, "'a\\nb'"),
    ("custom", {"value": {"x": [1, 2]}}, "{'x': [1, 2]}"),
    ("custom", {"value": None}, "None"),
    ("custom", None, "None"),
]


@pytest.mark.parametrize(("kind", "answer", "result"), ANSWERS)
async def test_a_dialog_is_a_request_and_its_answer_the_result(
    session: Start, kind: str, answer: object, result: str
) -> None:
    """tui.md/Mount points and return contracts: whoever asks waits until it is answered; what does not fit is None, as
    is what a view cannot mount (Runtime behavior by mode)."""
    async with session() as here:
        request = await asked(here, f"/ask {kind}")
        assert request.what == "dialog"
        assert request.details["ui"] == {"kind": kind}
        assert request.details["extension"] == "asking"
        assert here.agent.requests.answer(request.id, answer)
        await here.ended()
        assert said(here) == result
        assert [event.id for event in here.of(RequestResolved)] == [request.id]


async def test_what_is_asked_travels_with_the_request(session: Start) -> None:
    """Titles, texts to begin with, and properties as plain data; `overlay` as asked for."""
    async with session() as here:
        request = await asked(here, "/ask custom over")
        assert request.details["name"] == "board"
        assert request.details["props"] == {"size": 3, "4": [1]}
        assert request.details["overlay"] is True
        here.agent.requests.answer(request.id, None)
        await here.ended()
        request = await asked(here, "/ask input")
        assert (request.text, request.details["text"], request.details["placeholder"]) == ("Name?", "Ada", "a name")
        here.agent.requests.answer(request.id, None)
        await here.ended()
        request = await asked(here, "/ask select")
        assert request.choices == ["one", "two and"]
        here.agent.requests.answer(request.id, None)
        await here.ended()


@pytest.mark.parametrize("kind", ["select", "confirm", "input", "editor", "custom"])
async def test_without_anybody_there_nothing_is_asked(session: Start, kind: str) -> None:
    """tui.md/Runtime behavior by mode, Background/headless: no-op, None at once, `has_ui` is false."""
    async with session(attends=False) as here:
        await here.run(f"/ask {kind}")
        assert said(here) == "None"
        assert not here.of(Request)


@pytest.mark.parametrize("attends", [True, False])
async def test_has_ui_says_whether_somebody_is_there(session: Start, attends: bool) -> None:
    """tui.md/Runtime behavior by mode, guard with hasUI: also in a session a console began and left."""
    async with session(attends=attends, attended=True) as here:
        await here.run("/has_ui")
        assert said(here) == str(attends)


async def test_an_open_dialog_survives_who_left(session: Start) -> None:
    """It waits for the next who comes, and is answered then."""
    async with session(attends=False, attended=True) as here:
        person = here.session.subscribe(attends=True)
        request = await asked(here, "/ask confirm")
        person.close()
        await asyncio.sleep(0)
        assert not here.of(RequestResolved)
        assert here.agent.requests.answer(request.id, {"value": True})
        await here.ended()
        assert said(here) == "True"


async def test_stopping_closes_an_open_dialog(session: Start) -> None:
    """tui.md/Lifecycle and cancellation: the wait ends with what waits, and a late answer is turned down."""
    async with session() as here:
        request = await asked(here, "/ask custom")
        here.agent.stop()
        assert (await here.ended()).exit_code == 130
        assert [event.id for event in here.of(RequestResolved)] == [request.id]
        assert not here.agent.requests.answer(request.id, 1)


async def states(here: Lab, code: str) -> dict[str, Any]:
    await here.run(f"/show {code}")
    return {event.key: event.value for event in here.of(State) if event.key.startswith("ui.")}


async def test_status_widgets_and_title_are_states(session: Start) -> None:
    """All of it each time, under the extension's own keys; None takes away; they are told although nobody is there."""
    async with session(attends=False) as here:
        shown = await states(here, "ui.set_status('a', 'busy'); ui.set_status('b', 'x')")
        assert shown["ui.status"] == {"asking.a": "busy", "asking.b": "x"}
        shown = await states(here, "ui.set_status('a', None)")
        assert shown["ui.status"] == {"asking.b": "x"}
        shown = await states(here, "ui.set_widget('w', ['one', 'two'], 'below'); ui.set_title('my title')")
        assert shown["ui.widgets"] == {"asking.w": {"lines": ["one", "two"], "placement": "below"}}
        assert shown["ui.title"] == "my title"
        shown = await states(here, "ui.set_widget('w', None)")
        assert shown["ui.widgets"] == {}
        assert fold(here.seen, Snapshot()).state["ui.status"] == {"asking.b": "x"}


async def test_the_same_again_is_not_told_again(session: Start) -> None:
    """A tool that sets its status in a loop costs nothing."""
    async with session() as here:
        await here.run("/show for _ in range(50): ui.set_status('a', 'busy')")
        assert len([event for event in here.of(State) if event.key == "ui.status"]) == 1


async def test_what_is_shown_is_bounded_and_clean(session: Start) -> None:
    """Fifty lines, fifty keys; nothing in them drives a terminal."""
    async with session() as here:
        shown = await states(here, "ui.set_widget('w', ['\\x1b[2Jx\\n\\x07' * 9] * 90)")
        lines = shown["ui.widgets"]["asking.w"]["lines"]
        assert len(lines) == 50
        assert lines[0].isprintable()
        shown = await states(here, "[ui.set_status(str(n), 'x') for n in range(90)]")
        assert len(shown["ui.status"]) == 50


async def test_a_text_for_the_editor_is_an_order(session: Start) -> None:
    """The same text twice is two orders, told apart by their numbers."""
    async with session() as here:
        await here.run("/show ui.set_editor_text('a'); ui.set_editor_text('a')")
        orders = [event.value for event in here.of(State) if event.key == "ui.editor_text"]
        assert [order["text"] for order in orders] == ["a", "a"]
        assert orders[0]["number"] < orders[1]["number"]


async def test_a_wrong_placement_is_told(session: Start) -> None:
    """It fails its command, with what there is."""
    async with session() as here:
        outcome = await here.run("/show ui.set_widget('w', ['x'], 'left')")
        assert "use above or below" in (outcome.error or "")


async def test_notify_says_something(session: Start) -> None:
    """tui.md/Realistic custom component example: a line in the transcript, from the extension."""
    async with session() as here:
        await here.run("/show ui.notify('Selected', 'info'); ui.notify('Careful', 'warning')")
        assert [(n.text, n.level, n.source) for n in here.of(Notice)] == [
            ("Selected", "info", "asking"),
            ("Careful", "warning", "asking"),
        ]


async def test_after_a_resume_nothing_of_yesterday_is_shown(session: Start, tmp_path: Path) -> None:
    """What an extension shows, it shows again itself."""
    async with session([[{"text": "hello"}]]) as here:
        await here.run("hi")
        await states(here, "ui.set_status('a', 'busy')")
        first = here.session.id
    async with session([[{"text": "again"}]], resume=first) as here:
        here.session.flush()
        assert fold(kept(tmp_path, first), Snapshot()).state["ui.status"] == {}


async def test_a_file_with_a_console_half_only_is_fine(session: Start, tmp_path: Path) -> None:
    """The host has nothing to do with it, and nothing to complain about."""
    (tmp_path / "home" / "extensions" / "looks.py").write_text("def console(ui):\n    raise RuntimeError\n")
    async with session() as here:
        here.session.flush()
        assert not [event for event in kept(tmp_path, here.session.id) if isinstance(event, Notice)]


async def test_the_example_asks_and_says_what_was_picked(session: Start, tmp_path: Path) -> None:
    """tui.md/Hook/custom-tool UI context: a tool asks, and what was picked is its content; with nobody there it says
    so."""
    shutil.copy(EXAMPLE, tmp_path / "home" / "extensions")
    turns = [[{"tool": "choose_profile", "args": {"why": "it depends"}}], [{"text": "done"}]]
    async with session(turns) as here:
        request = await asked(here, "go")
        assert request.choices == ["fast", "balanced", "quality"]
        assert request.details["message"] == "it depends"
        here.agent.requests.answer(request.id, {"value": "fast"})
        await here.ended()
        (result,) = here.of(ToolResult)
        assert result.content == "The person chose fast."
        assert [event.value for event in here.of(State) if event.key == "ui.status"] == [{"profiles.profile": "fast"}]
    async with session(turns, attends=False) as here:
        await here.run()
        (result,) = here.of(ToolResult)
        assert result.content.startswith("Nobody is there")


async def test_the_examples_command_without_a_person(session: Start, tmp_path: Path) -> None:
    """tui.md/Realistic custom component example, `if (!ctx.hasUI) return`: it can still be told in words."""
    shutil.copy(EXAMPLE, tmp_path / "home" / "extensions")
    async with session(attends=False) as here:
        await here.run("/profile")
        assert said(here) == "Name one: fast, balanced, quality."
        await here.run("/profile quality")
        assert said(here).endswith("The profile is quality.")
