"""Any conversation at all, for properties that hold for each."""

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

_words = st.sampled_from(["", " ", "\n", "words", "more words ", "日本語", "\ud83d"])
_apis = st.sampled_from(["anthropic", "gemini", "responses", "chat", ""])
_ids = st.sampled_from(["a", "b", "c", "d"])
_native = st.sampled_from(["", "toolu_1", "call|1", "x" * 80, "functions.bash:0"])
_opaque = st.sampled_from(
    [None, {"type": "redacted_thinking", "data": "x"}, {"thoughtSignature": "QQ=="}, {"id": "rs_1"}]
)

_text = st.builds(TextPart, _words)
_image = st.builds(ImagePart, st.just("image/png"), st.just("artifact://1"), st.sampled_from(["", "aGk="]))
_thought = st.builds(ReasoningPart, _words, _apis, st.sampled_from(["", "c2ln"]), _opaque)
_call = st.builds(
    CallPart, _ids, st.just("bash"), st.just({"n": 1}), _native, st.sampled_from(["", '{"n']), _apis, _opaque
)
_content = st.lists(st.one_of(_text, _image), max_size=3)
_message = st.one_of(
    st.builds(UserMessage, _content),
    st.builds(AssistantMessage, st.lists(st.one_of(_text, _thought, _call), max_size=4), _apis),
    st.builds(ToolMessage, _ids, st.just("bash"), _content, _native, st.booleans()),
)


def _with_own_ids(messages: list[Message]) -> list[Message]:
    """Our ids are ours: no two calls have the same. A result goes with the last call of its name."""
    own: dict[str, str] = {}
    named: list[Message] = []
    for at, message in enumerate(messages):
        if isinstance(message, ToolMessage):
            named.append(ToolMessage(own.get(message.call, message.call), "bash", message.parts, "", message.is_error))
            continue
        if isinstance(message, UserMessage):
            named.append(message)
            continue
        parts = []
        for place, part in enumerate(message.parts):
            if isinstance(part, CallPart):
                own[part.id] = f"{part.id}-{at}-{place}"
                part = CallPart(own[part.id], part.name, part.args, part.native_id, part.broken, part.api, part.opaque)
            parts.append(part)
        named.append(AssistantMessage(parts, message.api))
    return named


conversations: st.SearchStrategy[list[Message]] = st.lists(_message, max_size=10).map(_with_own_ids)
