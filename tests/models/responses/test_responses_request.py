"""Requests of OpenAI Responses: what a server is asked."""

import json
from typing import Any

import msgspec

from sightline.conversation import (
    AssistantMessage,
    CallPart,
    ImagePart,
    Message,
    ReasoningPart,
    TextPart,
    ToolMessage,
    UserMessage,
)
from sightline.models import ModelFacts, ModelRequest, ToolSpec
from sightline.models._responses._request import encoded

FACTS = ModelFacts(id="gpt-5", provider="openai")
READ = ToolSpec("read", "Reads.", msgspec.Raw(b'{"type":"object"}'))
PICTURE = ImagePart("image/png", "artifact://1", "aGk=")
PICTURE_SENT = {"type": "input_image", "image_url": "data:image/png;base64,aGk=", "detail": "auto"}
ITEM = {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "gAAA"}
THOUGHT = ReasoningPart("Hm", "responses", "", ITEM)
CALL = CallPart("call-1", "read", {"path": "a"}, "call_x")
RESULT = ToolMessage("call-1", "read", [TextPart("1:x")], "call_x")


def user(text: str) -> UserMessage:
    return UserMessage([TextPart(text)])


def answer(*found: Any, model: str = "gpt-5") -> AssistantMessage:
    return AssistantMessage(list(found), "responses", model)


def asked(*messages: Message, facts: ModelFacts = FACTS, **more: Any) -> dict[str, Any]:
    request = ModelRequest(system=more.pop("system", ""), messages=list(messages), **more)
    body: dict[str, Any] = json.loads(encoded(request, facts))
    return body


def sent(*messages: Message, **more: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = asked(*messages, **more)["input"]
    return found


def test_a_whole_conversation() -> None:
    """Words, reasoning as it came, a call and its result."""
    assert sent(user("Go."), answer(THOUGHT, TextPart("I look."), CALL), RESULT) == [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go."}]},
        ITEM,
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "I look.", "annotations": []}],
        },
        {"type": "function_call", "call_id": "call_x", "name": "read", "arguments": '{"path":"a"}'},
        {"type": "function_call_output", "call_id": "call_x", "output": "1:x"},
    ]


def test_what_is_asked_beside_the_input() -> None:
    """Nothing is stored there; encrypted reasoning is asked for; levels, limits and the key of the cache."""
    body = asked(
        user("Go."),
        system="Be brief.",
        tools=(READ,),
        tool_choice="read",
        thinking="high",
        max_output=5,
        cache_key="s" * 80,
    )
    assert {key: value for key, value in body.items() if key != "input"} == {
        "model": "gpt-5",
        "instructions": "Be brief.",
        "store": False,
        "stream": True,
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"effort": "high", "summary": "auto"},
        "tools": [
            {
                "type": "function",
                "name": "read",
                "description": "Reads.",
                "parameters": {"type": "object"},
                "strict": False,
            }
        ],
        "tool_choice": {"type": "function", "name": "read"},
        "max_output_tokens": 16,
        "prompt_cache_key": "s" * 64,
    }


def test_a_model_that_does_not_think_is_not_asked_to() -> None:
    """It refuses the fields."""
    body = asked(user("Go."), facts=ModelFacts(id="gpt-4.1", provider="openai"), thinking="high")
    assert not {"include", "reasoning"} & body.keys()
    body = asked(user("Go."), facts=ModelFacts(id="gpt-5", provider="openai", thinking=False), thinking="high")
    assert not {"include", "reasoning"} & body.keys()


def test_reasoning_goes_back_only_where_it_came_from() -> None:
    """Not that of another API or model, not what is not encrypted, and not what led to nothing."""
    other = ReasoningPart("Hm", "anthropic", "sig", ITEM)
    plain = ReasoningPart("Hm", "responses", "", {**ITEM, "encrypted_content": None})
    assert ITEM not in sent(answer(other, TextPart("a")))
    assert ITEM not in sent(answer(THOUGHT, TextPart("a"), model="gpt-4.1"))
    assert len(sent(answer(plain, TextPart("a")))) == 1
    assert sent(answer(TextPart("a"), THOUGHT)) == sent(answer(TextPart("a")))
    assert sent(answer(THOUGHT), user("b")) == sent(user("b"))


def test_images() -> None:
    """In the user's words and, at OpenAI, in results; elsewhere in a message after the results."""
    conversation = [UserMessage([TextPart("See."), PICTURE]), answer(CALL), ToolMessage("call-1", "read", [PICTURE])]
    found = sent(*conversation)
    assert found[0]["content"] == [{"type": "input_text", "text": "See."}, PICTURE_SENT]
    assert found[2]["output"] == [PICTURE_SENT]
    found = sent(*conversation, user("And?"), facts=ModelFacts(id="gpt-5", provider="here"))
    assert found[2]["output"] == "(no output)"
    assert found[3]["content"][1] == PICTURE_SENT
    assert found[4]["content"] == [{"type": "input_text", "text": "And?"}]


def test_a_call_without_a_result_gets_one() -> None:
    """And ids that are too long or odd are made fit, for both alike."""
    found = sent(answer(CallPart("1", "read", native_id="call_1|fc_" + "x" * 90), model="other"))
    assert [one["type"] for one in found] == ["function_call", "function_call_output"]
    assert found[0]["call_id"] == found[1]["call_id"]
    assert len(found[0]["call_id"]) == 64
    assert "|" not in found[0]["call_id"]
