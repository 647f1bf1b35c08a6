"""Requests of Chat Completions: what a server is asked."""

import json
from typing import Any

import msgspec
import pytest

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
from sightline.models._chat._request import encoded

FACTS = ModelFacts(id="m", provider="here")
READ = ToolSpec("read", "Reads.", msgspec.Raw(b'{"type":"object"}'))
PICTURE = ImagePart("image/png", "artifact://1", "aGk=")
PICTURE_SENT = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}


def user(text: str) -> UserMessage:
    return UserMessage([TextPart(text)])


def answer(*found: Any, model: str = "m") -> AssistantMessage:
    return AssistantMessage(list(found), "chat", model)


def asked(*messages: Message, facts: ModelFacts = FACTS, **more: Any) -> dict[str, Any]:
    request = ModelRequest(system=more.pop("system", ""), messages=list(messages), **more)
    body: dict[str, Any] = json.loads(encoded(request, facts))
    return body


def sent(*messages: Message, **more: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = asked(*messages, **more)["messages"]
    return found


def test_a_whole_conversation() -> None:
    """System, words, a call and its result; thinking stays here, and content is never null."""
    call = CallPart("call-1", "read", {"path": "a"}, "native_1")
    assert sent(
        user("Go."),
        answer(ReasoningPart("Hm", "chat"), call),
        ToolMessage("call-1", "read", [TextPart("1:x")], "native_1"),
        answer(TextPart("Done.")),
        system="Be brief.",
    ) == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Go."},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"id": "native_1", "type": "function", "function": {"name": "read", "arguments": '{"path":"a"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "native_1", "content": "1:x"},
        {"role": "assistant", "content": "Done."},
    ]


def test_what_is_asked_beside_the_messages() -> None:
    """A stream with usage, the tools, and nothing that was not said."""
    body = asked(user("Go."), tools=(READ,), tool_choice="read")
    assert {key: value for key, value in body.items() if key != "messages"} == {
        "model": "m",
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [
            {
                "type": "function",
                "function": {"name": "read", "description": "Reads.", "parameters": {"type": "object"}},
            }
        ],
        "tool_choice": {"type": "function", "function": {"name": "read"}},
    }


def test_a_model_that_makes_no_calls_is_offered_no_tools() -> None:
    """Its server would refuse the request."""
    body = asked(user("Go."), tools=(READ,), tool_choice="read", facts=ModelFacts(id="m", tools=False))
    assert not {"tools", "tool_choice"} & body.keys()


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        pytest.param(ModelFacts(id="m", provider="here"), {"max_tokens": 99}, id="a server of one's own"),
        pytest.param(
            ModelFacts(id="m", provider="here", thinking=True),
            {"max_tokens": 99, "reasoning_effort": "high"},
            id="thinks",
        ),
        pytest.param(
            ModelFacts(id="gpt-4.1", provider="openai"),
            {"max_completion_tokens": 99, "prompt_cache_key": "session"},
            id="OpenAI",
        ),
        pytest.param(
            ModelFacts(id="o3", provider="openai"),
            {"max_completion_tokens": 99, "prompt_cache_key": "session", "reasoning_effort": "high"},
            id="OpenAI, thinks",
        ),
        pytest.param(
            ModelFacts(id="x/y", provider="openrouter", thinking=True),
            {"max_tokens": 99, "usage": {"include": True}, "reasoning": {"effort": "high"}},
            id="OpenRouter",
        ),
    ],
)
def test_each_server_is_asked_in_its_own_words(facts: ModelFacts, expected: dict[str, Any]) -> None:
    """Limits, thinking and caching."""
    body = asked(user("Go."), facts=facts, max_output=99, thinking="high", cache_key="session")
    assert {
        name: body[name] for name in body if name not in ("model", "messages", "stream", "stream_options")
    } == expected


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("o3", ["low", "low", "low", "medium", "high", "high"]),
        ("gpt-5", ["minimal", "minimal", "low", "medium", "high", "high"]),
        ("gpt-5.1", ["none", "low", "low", "medium", "high", "high"]),
        ("gpt-5.2", ["none", "low", "low", "medium", "high", "xhigh"]),
        ("gpt-5.1-codex-max", ["low", "low", "low", "medium", "high", "xhigh"]),
        ("gpt-4o", [None] * 6),
        ("gpt-5-chat-latest", [None] * 6),
    ],
)
def test_thinking_levels_are_words_the_model_takes(model: str, words: list[str | None]) -> None:
    """Off is the least it can do; a model that does not think is told nothing."""
    facts = ModelFacts(id=model, provider="openai")
    levels: tuple[Any, ...] = ("off", "minimal", "low", "medium", "high", "max")
    assert [asked(user("Go."), facts=facts, thinking=level).get("reasoning_effort") for level in levels] == words


def test_images() -> None:
    """In the user's words as a list; those of results in a message of the user after all the results."""
    calls = [CallPart("1", "read"), CallPart("2", "read")]
    found = sent(
        UserMessage([TextPart("See."), PICTURE]),
        answer(*calls),
        ToolMessage("1", "read", [PICTURE]),
        ToolMessage("2", "read", [TextPart("x")]),
        user("And?"),
    )
    assert found[0]["content"] == [{"type": "text", "text": "See."}, PICTURE_SENT]
    assert [one["role"] for one in found] == ["user", "assistant", "tool", "tool", "user", "user"]
    assert found[2]["content"] == "(no output)"
    assert found[4]["content"][1:] == [PICTURE_SENT]


def test_a_model_that_does_not_see_is_told_of_the_image() -> None:
    """And one whose data is gone too."""
    blind = ModelFacts(id="m", images=False)
    assert sent(UserMessage([PICTURE]), facts=blind)[0]["content"] == "[image not shown: artifact://1]"
    assert sent(UserMessage([ImagePart("image/png")]))[0]["content"] == "[image not shown: image/png]"


def test_a_call_without_a_result_gets_one_and_a_result_without_a_call_is_left_out() -> None:
    """Servers refuse a conversation in which they do not match."""
    found = sent(
        ToolMessage("0", "read", [TextPart("stray")]),
        answer(CallPart("1", "read"), CallPart("2", "bash")),
        user("Go on."),
    )
    assert [one["role"] for one in found] == ["assistant", "tool", "tool", "user"]
    assert {one["tool_call_id"] for one in found[1:3]} == {"1", "2"}


def test_ids_are_ones_that_servers_take() -> None:
    """No odd characters, at most 40 of them, no two alike; call and result agree."""
    long, odd = "x" * 60, "a|b:c"
    found = sent(
        answer(CallPart("1", "read", native_id=long), CallPart("2", "read", native_id=odd), model="other"),
        answer(CallPart("3", "read", native_id=long), CallPart("4", "read"), model="other"),
    )
    ids = [call["id"] for one in found for call in one.get("tool_calls", [])]
    assert ids == [one["tool_call_id"] for one in found if one["role"] == "tool"]
    assert len(set(ids)) == 4
    assert all(len(ident) <= 40 and ident.replace("_", "").replace("-", "").isalnum() for ident in ids)


def test_ids_the_server_gave_go_back_to_the_letter() -> None:
    """There are proxies that put a signature into them; only one given twice is changed."""
    signed = "call_1__thought__" + "aB+/=" * 40
    found = sent(answer(CallPart("1", "read", native_id=signed)), answer(CallPart("2", "read", native_id=signed)))
    ids = [call["id"] for one in found for call in one.get("tool_calls", [])]
    assert ids == [one["tool_call_id"] for one in found if one["role"] == "tool"]
    assert ids[0] == signed
    assert ids[1] != signed


def test_arguments_that_were_no_json_go_back_as_none() -> None:
    """Templates of local servers read them."""
    found = sent(answer(CallPart("1", "read", broken="{oops")))
    assert found[0]["tool_calls"][0]["function"]["arguments"] == "{}"


def test_an_answer_with_nothing_to_send_is_left_out() -> None:
    """Aborted while it thought, or blank."""
    assert sent(user("a"), answer(ReasoningPart("Hm", "chat")), answer(TextPart(" \n")), answer(), user("b")) == [
        {"role": "user", "content": "a"},
        {"role": "user", "content": "b"},
    ]


def test_half_a_character_does_not_stop_a_request() -> None:
    """It cannot be sent as it is."""
    assert sent(user("a\ud83d"))[0]["content"] == "a?"
