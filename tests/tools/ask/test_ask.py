"""Questions to the person: each form, through a session with a request and its answer."""

from pathlib import Path
from typing import Any

import pytest

from sightline.conversation import ToolMessage, text_of
from sightline.events import Request, RequestResolved, ToolResult
from sightline.host import AnswerRequest
from sightline.tools import ToolError, parameters
from sightline.tools.ask import AskTool
from tests.agent.support import lab
from tests.tools.support import make_context

COLOURS = ["red", {"label": "blue", "description": "like the sky"}]
DISMISSED = "The person closed the question without an answer."
NOBODY = "Nobody is there to answer."


def ask(**args: Any) -> dict[str, Any]:
    return {"tool": "ask", "args": {"question": "Which?", **args}}


@pytest.mark.parametrize(
    ("args", "answer", "text", "chosen", "said"),
    [
        pytest.param({"choices": COLOURS}, "blue", "The person chose: blue", ["blue"], "", id="one choice"),
        pytest.param({"choices": COLOURS}, ["red"], "The person chose: red", ["red"], "", id="one choice in a list"),
        pytest.param(
            {"choices": COLOURS, "several": True},
            ["blue", "red"],
            "The person chose: red, blue",
            ["red", "blue"],
            "",
            id="several, in the order they were offered",
        ),
        pytest.param({"choices": COLOURS, "several": True}, [], DISMISSED, [], "", id="several, none"),
        pytest.param({}, "green, rather", "The person says: green, rather", [], "green, rather", id="free text"),
        pytest.param({}, {"text": "two\nlines"}, "The person says: two\nlines", [], "two\nlines", id="free text, said"),
        pytest.param({"choices": COLOURS}, "green", "The person says: green", [], "green", id="none of the choices"),
        pytest.param(
            {"choices": COLOURS},
            {"chosen": ["red"], "text": "but dark"},
            "The person chose: red\nThe person says: but dark",
            ["red"],
            "but dark",
            id="a choice and text",
        ),
        pytest.param(
            {"choices": COLOURS},
            {"chosen": ["red", "blue"]},
            "The person chose: red\nThe person says: blue",
            ["red"],
            "blue",
            id="more than could be chosen",
        ),
        pytest.param({"choices": COLOURS}, None, DISMISSED, [], "", id="dismissed"),
        pytest.param({}, "  ", DISMISSED, [], "", id="blank"),
        pytest.param({}, {}, DISMISSED, [], "", id="an empty answer"),
        pytest.param({}, 5, DISMISSED, [], "", id="no answer one can read"),
    ],
)
async def test_an_answer(
    tmp_path: Path, args: dict[str, Any], answer: Any, text: str, chosen: list[str], said: str
) -> None:
    """The request has the question and its choices, the model reads the answer, views know what was chosen."""
    async with lab(tmp_path, [[ask(**args)], [{"text": "ok"}]], attended=True) as here:
        await here.agent.prompt("go")
        request = await here.first(Request)
        assert (request.what, request.text) == ("question", "Which?")
        assert request.choices == (["red", "blue"] if args else [])
        assert request.details["several"] == args.get("several", False)
        assert request.details["free_text"] is True
        if args:
            assert request.details["choices"][1] == {"label": "blue", "description": "like the sky"}
        assert not here.of(ToolResult)
        assert (await here.session.submit(AnswerRequest(request.id, answer))).ok
        await here.ended()
        assert [event.id for event in here.of(RequestResolved)] == [request.id]
        message = next(m for m in here.messages if isinstance(m, ToolMessage))
        assert text_of(message).startswith(text)
        details = here.of(ToolResult)[0].details
        assert details == {
            "ui": {"kind": "question"},
            "question": "Which?",
            "chosen": chosen,
            "text": said,
            "answered": text != DISMISSED,
        }


async def test_nobody_there(tmp_path: Path) -> None:
    """Answered at once, without a request: the model decides itself and says so. No want of permission."""
    async with lab(tmp_path, [[ask(choices=COLOURS)], [{"text": "I took red."}]]) as here:
        outcome = await here.run()
        assert outcome.exit_code == 0
        assert not here.of(Request)
        (result,) = here.of(ToolResult)
        assert result.content.startswith(NOBODY)
        assert result.details["answered"] is False
        assert not result.is_error


async def test_a_place_without_a_way_to_ask(tmp_path: Path) -> None:
    """The same as with nobody there."""
    tool = AskTool()
    outcome = await tool.execute(parameters(tool, {"question": "Which?"}), make_context(tmp_path))
    assert outcome.text.startswith(NOBODY)


async def test_stopping_closes_the_question(tmp_path: Path) -> None:
    """It is resolved without an answer, and nobody can answer it any more."""
    async with lab(tmp_path, [[ask()], [{"text": "never"}]], attended=True) as here:
        await here.agent.prompt("go")
        request = await here.first(Request)
        here.agent.stop()
        assert (await here.ended()).exit_code == 130
        (resolved,) = here.of(RequestResolved)
        assert (resolved.id, resolved.answer) == (request.id, None)
        assert not (await here.session.submit(AnswerRequest(request.id, "late"))).ok


async def test_two_questions_at_once(tmp_path: Path) -> None:
    """Each has its own answer, in whichever order they come."""
    turns = [[ask(), {"tool": "ask", "args": {"question": "And then?"}}], [{"text": "ok"}]]
    async with lab(tmp_path, turns, attended=True) as here:
        await here.agent.prompt("go")
        await here.until(lambda: len(here.of(Request)) == 2)
        first, second = here.of(Request)
        here.agent.requests.answer(second.id, "two")
        here.agent.requests.answer(first.id, "one")
        await here.ended()
        said = [text_of(m) for m in here.messages if isinstance(m, ToolMessage)]
    assert said == ["The person says: one", "The person says: two"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({"choices": ["a", "a"]}, "two choices have the same label"),
        ({"choices": ["a", {"label": "a"}]}, "two choices have the same label"),
        ({"several": True}, "several needs choices"),
        ({"choices": [" "]}, "a choice needs a label"),
    ],
)
async def test_a_question_that_cannot_be_asked(tmp_path: Path, args: dict[str, Any], said: str) -> None:
    """Said to the model, not to the person."""
    tool = AskTool()
    with pytest.raises(ToolError, match=said):
        await tool.execute(parameters(tool, {"question": "Which?", **args}), make_context(tmp_path))
