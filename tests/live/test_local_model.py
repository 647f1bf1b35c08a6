"""A tool round trip with a real model: llama.cpp's server on this machine, and a model of 98 MB."""

import asyncio
from collections.abc import AsyncIterator
from itertools import product

import msgspec
import pytest

from sightline.conversation import AssistantMessage, CallPart, Message, TextPart, ToolMessage, UserMessage
from sightline.models import Done, Model, ModelError, ModelRequest, ToolSpec, open_model
from sightline.models.choice._discovery import ModelServer, ask
from sightline.settings import Settings
from sightline.testing import local_model

pytestmark = [pytest.mark.live, pytest.mark.skipif(bool(local_model.missing()), reason=local_model.missing())]

_SCHEMA = b'{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"]}'
ADD = ToolSpec("add", "Add two numbers.", msgspec.Raw(_SCHEMA))
# So small a model does not manage each of them.
TASKS = [(2, 3), (4, 9), (3, 6), (5, 2), (6, 1), (8, 8)]


def example(number: int, a: int, b: int) -> list[Message]:
    return [
        UserMessage([TextPart(f"Add {a} and {b}.")]),
        AssistantMessage([CallPart(f"call-{number}", "add", {"a": a, "b": b})]),
        ToolMessage(f"call-{number}", "add", [TextPart(str(a + b))]),
        AssistantMessage([TextPart(f"{a} and {b} make {a + b}.")]),
    ]


async def answer(model: Model, messages: list[Message], *, forced: bool) -> AssistantMessage:
    choice = "add" if forced else ""
    request = ModelRequest(
        system="Use the tool.", messages=messages, tools=(ADD,), tool_choice=choice, max_output=100, thinking="off"
    )
    pieces: AsyncIterator[object] = model.stream(request)
    async with asyncio.timeout(60):
        last = [piece async for piece in pieces][-1]
    assert isinstance(last, Done)
    return last.message


async def round_trip(model: Model) -> tuple[AssistantMessage, AssistantMessage]:
    """The answer with the call, and the one after its result."""
    for (a, b), forced in product(TASKS, (True, False)):
        messages = [*example(1, 7, 5), *example(2, 1, 8), UserMessage([TextPart(f"Add {a} and {b}.")])]
        try:
            called = await answer(model, messages, forced=forced)
        except ModelError:  # the server breaks off where it cannot read what the model wrote
            continue
        if [call.args for call in called.calls] == [{"a": a, "b": b}]:
            (call,) = called.calls
            result = ToolMessage(call.id, "add", [TextPart(str(call.args["a"] + call.args["b"]))])
            return called, await answer(model, [*messages, called, result], forced=False)
    pytest.fail("the model made none of the calls")


@pytest.mark.parametrize("call_as_words", [False, True], ids=["a call", "a call written as text"])
async def test_a_tool_round_trip(call_as_words: bool) -> None:
    """The model calls the tool with the right numbers, gets the result, and says something about it."""
    with local_model.running(call_as_words=call_as_words) as url:
        settings = {"models": {"servers": {"here": {"base_url": url}}}, "retry": {"attempts": 2, "base_ms": 1}}
        model = open_model(f"here/{local_model.NAME}", msgspec.convert(settings, Settings), {})
        try:
            called, final = await round_trip(model)
        finally:
            await model.close()
    (call,) = called.calls
    assert bool(call.native_id) is not call_as_words, "only a real call has an id of the server's"
    assert called.stop_reason == "tool_use"
    assert final.text.strip()
    assert not final.calls
    assert final.usage is not None
    assert final.usage.output_tokens


def test_the_server_says_what_it_has() -> None:
    """Its model is found with what it reads at most."""
    with local_model.running() as url:
        found = ask([ModelServer(name="here", api="chat", base_url=url)], seconds=5).models
    (model,) = found["here"]
    assert (model.id, model.provider, model.context, model.images) == (local_model.NAME, "here", 4096, False)
