"""Models from 4.6 on are told an effort; a budget, which older ones need, they refuse."""

import json
from typing import Any

import pytest

from sightline.conversation import AssistantMessage, CallPart, ReasoningPart, TextPart, ToolMessage, UserMessage
from sightline.models import ModelFacts, ModelRequest
from sightline.models._anthropic._request import encoded, thinks_adaptively
from sightline.models._catalogue import facts_of

GO = UserMessage([TextPart("Go.")])


def body(model: str, messages: Any = (GO,), **fields: Any) -> dict[str, Any]:
    request = ModelRequest(system="", messages=list(messages), **fields)
    sent: dict[str, Any] = json.loads(encoded(request, facts_of("anthropic", model)))
    return sent


@pytest.mark.parametrize(
    ("model", "adaptive"),
    [
        ("claude-3-7-sonnet-20250219", False),
        ("claude-sonnet-4-20250514", False),
        ("claude-opus-4-1-20250805", False),
        ("claude-haiku-4-5", False),
        ("claude-opus-4-5-20251101", False),
        ("claude-opus-4-6", True),
        ("claude-sonnet-4-6", True),
        ("claude-opus-4-8", True),
        ("claude-sonnet-5", True),
        ("claude-haiku-5-5", True),
        ("claude-fable-5-1", True),
        ("anthropic/claude-opus-5-5", True),
        ("claude-x", False),
        ("some-other-model-5", False),
    ],
)
def test_which_models(model: str, adaptive: bool) -> None:
    """It is read from the version in the name."""
    assert thinks_adaptively(model) is adaptive


@pytest.mark.parametrize(
    ("level", "thinking", "effort"),
    [
        ("off", None, "low"),
        ("minimal", "adaptive", "low"),
        ("low", "adaptive", "low"),
        ("medium", "adaptive", "medium"),
        ("high", "adaptive", "high"),
        ("max", "adaptive", "max"),
    ],
)
def test_levels(level: Any, thinking: str | None, effort: str) -> None:
    """The effort in the API's words, no budget, and the thinking is to be seen."""
    sent = body("claude-opus-5-5", thinking=level)
    assert sent.get("thinking") == ({"type": thinking, "display": "summarized"} if thinking else None)
    assert sent["output_config"] == {"effort": effort}
    assert "budget_tokens" not in json.dumps(sent)


def test_it_goes_on_amid_calls_that_were_made_without_it() -> None:
    """Only a budget has to begin with the turn."""
    calls = (GO, AssistantMessage([CallPart("1", "bash", {})]), ToolMessage("1", "bash", [TextPart("ok")]))
    assert body("claude-opus-5-5", calls, thinking="high")["thinking"]["type"] == "adaptive"
    assert "thinking" not in body("claude-opus-4-5", calls, thinking="high")


def test_an_older_model_is_told_no_effort() -> None:
    """It would refuse the field; so might one that is said not to think."""
    assert "output_config" not in body("claude-opus-4-5", thinking="high")
    request = ModelRequest(system="", messages=[GO], thinking="high")
    sent = json.loads(encoded(request, ModelFacts(id="claude-opus-5-5", thinking=False)))
    assert "output_config" not in sent
    assert "thinking" not in sent


@pytest.mark.parametrize(
    ("made_by", "goes_back"), [("claude-opus-5-5", True), ("claude-sonnet-5-5", False), ("", True)]
)
def test_the_thinking_of_another_model_stays_here(made_by: str, goes_back: bool) -> None:
    """The newest models refuse what another one thought; the words and calls beside it go back."""
    thought = ReasoningPart("Hm.", "anthropic", "c2ln")
    said = AssistantMessage([thought, TextPart("I look."), CallPart("1", "bash", {})], "anthropic", made_by)
    sent = body("claude-opus-5-5", (GO, said, ToolMessage("1", "bash", [TextPart("ok")])))["messages"][1]["content"]
    kinds = [block["type"] for block in sent]
    assert kinds == (["thinking"] if goes_back else []) + ["text", "tool_use"]
