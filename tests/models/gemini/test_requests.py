"""Requests in the form generateContent insists on."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given

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
from sightline.models._gemini._request import encoded
from sightline.models._history import NO_OUTPUT, NO_RESULT
from tests.models.conversations import conversations

OLD = ModelFacts(id="gemini-2.5-flash")
NEW = ModelFacts(id="gemini-3-pro-preview")
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": False}
BASH = ToolSpec("bash", "Runs.", msgspec.Raw(json.dumps(SCHEMA).encode()))
BARE = ToolSpec("now", "Tells.", msgspec.Raw(b'{"type":"object","properties":{}}'))

GO = UserMessage([TextPart("Go.")])
SAID_GO = ("user", [{"text": "Go."}])


def body(messages: list[Message], facts: ModelFacts = OLD, **fields: Any) -> Any:
    return json.loads(encoded(ModelRequest(system="", messages=messages, **fields), facts))


def say(*parts: Any, **fields: Any) -> AssistantMessage:
    return AssistantMessage(list(parts), **{"api": "gemini", **fields})


def call(name: str = "1", native: str = "", signature: str = "") -> CallPart:
    signed: dict[str, Any] = {"api": "gemini", "opaque": {"thoughtSignature": signature}} if signature else {}
    return CallPart(name, "bash", {"n": 1}, native, **signed)


def result(name: str = "1", *parts: Any, **fields: Any) -> ToolMessage:
    return ToolMessage(name, "bash", list(parts) or [TextPart("ok")], **fields)


def made(ident: str = "", signature: str = "") -> dict[str, Any]:
    function: dict[str, Any] = {"name": "bash", "args": {"n": 1}}
    part = {"functionCall": {**function, "id": ident} if ident else function}
    return {**part, "thoughtSignature": signature} if signature else part


def told(text: str = "ok", key: str = "output", ident: str = "") -> dict[str, Any]:
    response = {"name": "bash", "response": {key: text}}
    return {"functionResponse": {**response, "id": ident} if ident else response}


def test_a_whole_request() -> None:
    """Everything there is to ask, in the API's words."""
    request = ModelRequest(
        system="Be brief.", messages=[GO], tools=(BASH, BARE), thinking="low", max_output=1000, tool_choice="bash"
    )
    assert json.loads(encoded(request, OLD)) == {
        "contents": [{"role": "user", "parts": [{"text": "Go."}]}],
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "tools": [
            {
                "functionDeclarations": [
                    {
                        "name": "bash",
                        "description": "Runs.",
                        "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}},
                    },
                    {"name": "now", "description": "Tells."},
                ]
            }
        ],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["bash"]}},
        "generationConfig": {
            "maxOutputTokens": 1000,
            "thinkingConfig": {"includeThoughts": True, "thinkingBudget": 4096},
        },
    }


PICTURE = ImagePart("image/png", "artifact://1", "aGk=")
PICTURE_PART = {"inlineData": {"mimeType": "image/png", "data": "aGk="}}
SEE = {"text": "From the result of bash:"}


@pytest.mark.parametrize(
    ("messages", "sent"),
    [
        pytest.param([GO, GO], [("user", [{"text": "Go."}, {"text": "Go."}])], id="two words of the user are one turn"),
        pytest.param(
            [UserMessage([TextPart("See"), PICTURE])], [("user", [{"text": "See"}, PICTURE_PART])], id="image"
        ),
        pytest.param([UserMessage([TextPart(" "), TextPart("a")])], [("user", [{"text": "a"}])], id="blank texts"),
        pytest.param(
            [say(TextPart("Hi")), GO],
            [("user", [{"text": "(The conversation continues.)"}]), ("model", [{"text": "Hi"}]), SAID_GO],
            id="the user begins",
        ),
        pytest.param(
            [GO, say(call("1"), call("2")), result("2"), UserMessage([TextPart("Also.")]), result("1")],
            [SAID_GO, ("model", [made(), made()]), ("user", [told(), told(), {"text": "Also."}])],
            id="as many results as calls, before words",
        ),
        pytest.param(
            [GO, say(call("1", "fc-1"), call("2")), result("1"), result("2")],
            [SAID_GO, ("model", [made("fc-1"), made()]), ("user", [told(ident="fc-1"), told()])],
            id="an id the API gave goes back with call and result",
        ),
        pytest.param(
            [GO, say(call("1", "toolu_1"), api="anthropic"), result("1")],
            [SAID_GO, ("model", [made()]), ("user", [told()])],
            id="an id of another API does not",
        ),
        pytest.param(
            [GO, say(call("1", signature="QQ=="), call("2")), result("1"), result("2")],
            [SAID_GO, ("model", [made(signature="QQ=="), made()]), ("user", [told(), told()])],
            id="the signature of a call goes back",
        ),
        pytest.param(
            [GO, say(CallPart("1", "bash", {"n": 1}, api="responses", opaque={"thoughtSignature": "QQ=="}))],
            [SAID_GO, ("model", [made()]), ("user", [told(NO_RESULT, "error")])],
            id="not one of another API; a call nobody answered",
        ),
        pytest.param(
            [GO, say(ReasoningPart("hm", "gemini"), TextPart("Hi"), ReasoningPart("", "gemini", "Qg=="))],
            [SAID_GO, ("model", [{"text": "Hi"}, {"text": "", "thoughtSignature": "Qg=="}])],
            id="a signature after words goes back, thoughts without one do not",
        ),
        pytest.param(
            [GO, say(ReasoningPart("hm", "gemini", "QQ=="), TextPart("Hi"))],
            [SAID_GO, ("model", [{"text": "hm", "thought": True, "thoughtSignature": "QQ=="}, {"text": "Hi"}])],
            id="a signed thought goes back",
        ),
        pytest.param(
            [GO, say(ReasoningPart("hm", "anthropic", "QQ=="), TextPart("Hi"))],
            [SAID_GO, ("model", [{"text": "Hi"}])],
            id="thinking of another API does not",
        ),
        pytest.param(
            [GO, say(call("1"), call("2")), result("1", TextPart("a"), PICTURE), result("2")],
            [SAID_GO, ("model", [made(), made()]), ("user", [told("a"), told(), SEE, PICTURE_PART])],
            id="images of results follow all results",
        ),
        pytest.param(
            [GO, say(call()), result("1", PICTURE), GO],
            [
                SAID_GO,
                ("model", [made()]),
                ("user", [told("See the image below."), SEE, PICTURE_PART, {"text": "Go."}]),
            ],
            id="an image alone",
        ),
        pytest.param(
            [GO, say(call()), result("1", TextPart(""))],
            [SAID_GO, ("model", [made()]), ("user", [told(NO_OUTPUT)])],
            id="a result of nothing",
        ),
        pytest.param(
            [GO, say(call()), result("1", TextPart("no"), is_error=True)],
            [SAID_GO, ("model", [made()]), ("user", [told("no", "error")])],
            id="an error",
        ),
        pytest.param([GO, result()], [SAID_GO], id="a result nobody called for"),
    ],
)
def test_turns(messages: list[Message], sent: list[Any]) -> None:
    """Each conversation in the one form of it that the API takes."""
    assert [(content["role"], content["parts"]) for content in body(messages)["contents"]] == sent


def test_calls_of_another_model_for_one_that_insists_on_signatures() -> None:
    """The first call of each turn has one, or the word that stands for it."""
    history = [GO, say(call("1"), call("2"), api="chat"), result("1"), result("2"), say(call("3", signature="QQ=="))]
    calls = [part for content in body(history, NEW)["contents"] for part in content["parts"] if "functionCall" in part]
    assert [part.get("thoughtSignature") for part in calls] == ["skip_thought_signature_validator", None, "QQ=="]


@pytest.mark.parametrize(
    ("model", "level", "config"),
    [
        ("gemini-2.5-flash", "off", {"thinkingBudget": 0}),
        ("gemini-2.5-flash", "minimal", {"includeThoughts": True, "thinkingBudget": 512}),
        ("gemini-2.5-flash", "max", {"includeThoughts": True, "thinkingBudget": 24_576}),
        ("models/gemini-2.5-pro", "off", {"thinkingBudget": 128}),
        ("gemini-2.0-flash", "high", None),
        ("gemma-3-27b-it", "high", None),
        ("gemini-3-flash-preview", "off", {"thinkingLevel": "minimal"}),
        ("gemini-3-pro-preview", "off", {"thinkingLevel": "low"}),
        ("gemini-3-pro-preview", "minimal", {"includeThoughts": True, "thinkingLevel": "low"}),
        ("gemini-3.5-flash", "medium", {"includeThoughts": True, "thinkingLevel": "medium"}),
        ("gemini-3.5-flash", "max", {"includeThoughts": True, "thinkingLevel": "high"}),
    ],
)
def test_thinking_levels(model: str, level: Any, config: Any) -> None:
    """A budget for models up to 2.5, the level's name after them; thoughts are shown unless thinking is off."""
    sent = body([GO], ModelFacts(id=model), thinking=level).get("generationConfig", {}).get("thinkingConfig")
    assert sent == config


@pytest.mark.parametrize(
    ("asked", "ceiling", "tokens"),
    [(0, None, None), (0, 8192, 8192), (500, 8192, 500), (9000, 8192, 8192), (7, None, 7)],
)
def test_max_output(asked: int, ceiling: int | None, tokens: int | None) -> None:
    """What was asked for, and never more than the model can say."""
    facts = ModelFacts(id="gemma", max_output=ceiling)
    assert body([GO], facts, max_output=asked).get("generationConfig", {}).get("maxOutputTokens") == tokens


def test_a_model_that_does_not_think() -> None:
    """Is not told to."""
    assert "generationConfig" not in body([GO], ModelFacts(id="gemini-2.5-flash", thinking=False), thinking="high")


@given(conversations)
def test_whatever_was_said_can_be_sent(messages: list[Message]) -> None:
    """The rules of the API hold for the request that any conversation becomes."""
    sent = encoded(ModelRequest(system="s", messages=messages, tools=(BASH,), thinking="high"), NEW)
    contents = json.loads(sent)["contents"]
    assert [content["role"] for content in contents] == [("user", "model")[at % 2] for at in range(len(contents))]
    calls = 0
    for content in contents:
        kinds = [next(iter(part.keys() - {"thought", "thoughtSignature"})) for part in content["parts"]]
        assert kinds
        assert kinds[:calls] == ["functionResponse"] * calls
        assert kinds.count("functionResponse") == calls
        calls = kinds.count("functionCall")
        signed = [part.get("thoughtSignature") for part in content["parts"] if "functionCall" in part]
        assert not signed or signed[0]
    assert calls == 0
