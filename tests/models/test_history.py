"""A conversation is made fit to send: calls and results match, ids can be sent, nothing is blank."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
from sightline.models._history import NO_RESULT, CallIds, consistent, sendable


def user(text: str) -> UserMessage:
    return UserMessage([TextPart(text)])


def said(*calls: str) -> AssistantMessage:
    return AssistantMessage([TextPart("So."), *(CallPart(name, "bash", native_id=f"n-{name}") for name in calls)])


def result(call: str) -> ToolMessage:
    return ToolMessage(call, "bash", [TextPart(f"of {call}")])


def missing(call: str) -> ToolMessage:
    return ToolMessage(call, "bash", [TextPart(NO_RESULT)], f"n-{call}", is_error=True)


NOTHING = AssistantMessage([])


@pytest.mark.parametrize(
    ("messages", "fit"),
    [
        pytest.param([user("a"), said()], [user("a"), said()], id="nothing to do"),
        pytest.param(
            [said("1", "2"), result("2"), result("1")],
            [said("1", "2"), result("1"), result("2")],
            id="results in the order of the calls",
        ),
        pytest.param([said("1")], [said("1"), missing("1")], id="a call nobody answered"),
        pytest.param([said("1"), user("b")], [said("1"), missing("1"), user("b")], id="and then the person spoke"),
        pytest.param([user("a"), result("9")], [user("a")], id="a result nobody called for"),
        pytest.param(
            [said("1", "2"), result("1"), user("b"), result("2"), said()],
            [said("1", "2"), result("1"), result("2"), user("b"), said()],
            id="a steering message between results",
        ),
        pytest.param(
            [said("1"), said("2"), result("1"), result("2")],
            [said("1"), missing("1"), said("2"), result("2")],
            id="a result that comes too late",
        ),
        pytest.param([user("a"), NOTHING, user("b")], [user("a"), user("b")], id="an empty answer"),
        pytest.param([said("1"), NOTHING, result("1")], [said("1"), result("1")], id="an empty answer in between"),
        pytest.param([said("1"), result("1"), result("1")], [said("1"), result("1")], id="a result twice"),
        pytest.param([], [], id="none"),
    ],
)
def test_calls_and_results_match(messages: list[Message], fit: list[Message]) -> None:
    """Each call is followed by its result, before anything else is said."""
    assert consistent(messages) == fit


messages = st.lists(
    st.one_of(
        st.just(user("x")),
        st.lists(st.sampled_from("abcd"), max_size=3, unique=True).map(lambda calls: said(*calls)),
        st.sampled_from("abcde").map(result),
        st.just(NOTHING),
    ),
    max_size=12,
)


@given(messages)
def test_any_conversation_becomes_consistent(history: list[Message]) -> None:
    """After each answer stand the results of exactly its calls; made fit twice, nothing changes."""
    fit = consistent(history)
    expected: list[str] = []
    for message in fit:
        if isinstance(message, ToolMessage):
            assert message.call == expected.pop(0)
            continue
        assert not expected
        if isinstance(message, AssistantMessage):
            expected = [call.id for call in message.calls]
    assert not expected
    assert consistent(fit) == fit
    assert [m for m in fit if isinstance(m, UserMessage)] == [m for m in history if isinstance(m, UserMessage)]


@pytest.mark.parametrize(
    ("native", "sent"),
    [
        ("toolu_01Ab-9", "toolu_01Ab-9"),
        ("", "own"),
        ("call|fc.1:ü", "call_fc_1__"),
        ("x" * 100, "x" * 64),
        ("functions.bash:0", "functions_bash_0"),
    ],
)
def test_ids_that_can_be_sent(native: str, sent: str) -> None:
    """Letters, digits, `_` and `-`, at most 64; the result is named as its call is."""
    ids = CallIds()
    assert ids.of(CallPart("own", "bash", native_id=native)) == sent
    assert ids.of(ToolMessage("own", "bash", [], native_id=native)) == sent


@given(st.lists(st.text(max_size=70), max_size=8))
def test_no_two_calls_share_an_id(natives: list[str]) -> None:
    """Servers that number their calls from 0 in every answer do not confuse another."""
    ids = CallIds()
    sent = [ids.of(CallPart(f"own-{at}", "bash", native_id=native)) for at, native in enumerate(natives)]
    assert len(set(sent)) == len(sent)
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in sent)


def test_content_that_can_be_sent() -> None:
    """Blank texts go; an image without data, or one the model cannot see, is named."""
    seen = ImagePart("image/png", "artifact://1", "aGk=")
    gone = ImagePart("image/png", "artifact://2")
    parts = [TextPart(""), TextPart(" \n"), TextPart(" a "), seen, gone]
    named = TextPart("[image not shown: artifact://2]")
    assert sendable(parts, images=True) == [TextPart(" a "), seen, named]
    assert sendable(parts, images=False) == [TextPart(" a "), TextPart("[image not shown: artifact://1]"), named]


def test_thinking_alone_is_an_answer_of_its_own() -> None:
    """What has a part is kept; a client decides what of it can be sent."""
    thought = AssistantMessage([ReasoningPart("hm")])
    assert consistent([thought]) == [thought]
