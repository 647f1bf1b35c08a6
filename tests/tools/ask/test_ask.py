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
DISMISSED = "The user closed the question without an answer."
NOBODY = "No user is there to answer."


def ask(**args: Any) -> dict[str, Any]:
    return {"tool": "ask", "args": {"question": "Which?", **args}}


@pytest.mark.parametrize(
    ("args", "answer", "text", "chosen", "said"),
    [
        pytest.param({"choices": COLOURS}, "blue", "The user chose: blue", ["blue"], "", id="one choice"),
        pytest.param({"choices": COLOURS}, ["red"], "The user chose: red", ["red"], "", id="one choice in a list"),
        pytest.param(
            {"choices": COLOURS, "several": True},
            ["blue", "red"],
            "The user chose: red, blue",
            ["red", "blue"],
            "",
            id="several, in the order they were offered",
        ),
        pytest.param({"choices": COLOURS, "several": True}, [], DISMISSED, [], "", id="several, none"),
        pytest.param({}, "green, rather", "The user wrote: green, rather", [], "green, rather", id="free text"),
        pytest.param({}, {"text": "two\nlines"}, "The user wrote: two\nlines", [], "two\nlines", id="free text, said"),
        pytest.param({"choices": COLOURS}, "green", "The user wrote: green", [], "green", id="none of the choices"),
        pytest.param(
            {"choices": COLOURS},
            {"chosen": ["red"], "text": "but dark"},
            "The user chose: red\nThe user wrote: but dark",
            ["red"],
            "but dark",
            id="a choice and text",
        ),
        pytest.param(
            {"choices": COLOURS},
            {"chosen": ["red", "blue"]},
            "The user chose: red\nThe user wrote: blue",
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
    assert said == ["The user wrote: one", "The user wrote: two"]


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


MANY = {"questions": [{"question": "Which?", "choices": COLOURS}, {"question": "Why?"}, {"question": "When?"}]}


@pytest.mark.parametrize(
    ("answers", "text", "facts"),
    [
        pytest.param(
            ["blue", "it fits", "now"],
            "1. Which?\nThe user chose: blue\n\n2. Why?\nThe user wrote: it fits\n\n3. When?\nThe user wrote: now",
            [(["blue"], "", True), ([], "it fits", True), ([], "now", True)],
            id="all",
        ),
        pytest.param(
            ["blue", None],
            f"1. Which?\nThe user chose: blue\n\n2. Why?\n{DISMISSED} Continue as you think best, or stop and say what "
            "is open.\n\n3. and later: not asked",
            [(["blue"], "", True), ([], "", False), ([], "", False)],
            id="closed in the middle: the answers given stay",
        ),
    ],
)
async def test_several_questions_in_one_call(tmp_path: Path, answers: list[Any], text: str, facts: list[Any]) -> None:
    """One request after the other; the result lists each answer."""
    turns = [[{"tool": "ask", "args": MANY}], [{"text": "ok"}]]
    async with lab(tmp_path, turns, attended=True) as here:
        await here.agent.prompt("go")
        for number, answer in enumerate(answers, 1):
            await here.until(lambda number=number: len(here.of(Request)) == number)
            request = here.of(Request)[-1]
            assert request.text == MANY["questions"][number - 1]["question"]
            assert (await here.session.submit(AnswerRequest(request.id, answer))).ok
        await here.ended()
        assert len(here.of(Request)) == len(answers)
        (result,) = here.of(ToolResult)
    assert result.content == text
    assert [(one["chosen"], one["text"], one["answered"]) for one in result.details["answers"]] == facts
    assert result.details["answered"] is (len(answers) == 3)


async def test_several_questions_with_nobody_there(tmp_path: Path) -> None:
    async with lab(tmp_path, [[{"tool": "ask", "args": MANY}], [{"text": "ok"}]]) as here:
        await here.run()
        (result,) = here.of(ToolResult)
    assert result.content.startswith(NOBODY)
    assert result.content.count(NOBODY) == 1


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({}, "question is empty"),
        ({"question": "a", **MANY}, "not both"),
        ({"questions": [{"question": ""}]}, "question"),
    ],
)
async def test_one_question_or_several(tmp_path: Path, args: dict[str, Any], said: str) -> None:
    tool = AskTool()
    with pytest.raises(ToolError, match=said):
        await tool.execute(parameters(tool, args), make_context(tmp_path))
