"""The stand-in says one script in four dialects, streamed and whole."""

import json

from clients import chat_body, events, gemini_body, messages_body, post, responses_body

from sightline.testing.standin import StandIn

SCRIPT = [
    [
        {"reasoning": "Small step first."},
        {"text": "Looking around, 日本語 👨‍👩‍👧‍👦."},
        {"tool": "Bash", "args": {"command": "ls -l"}},
    ],
    [{"text": "Done."}],
]
WORDS = "Looking around, 日本語 👨‍👩‍👧‍👦."


async def test_messages_whole() -> None:
    """A whole message has its blocks in order and stops for the tool."""
    async with StandIn(SCRIPT) as server:
        message = (await post(f"{server.url}/v1/messages?beta=true", messages_body())).json()
    assert [block["type"] for block in message["content"]] == ["thinking", "text", "tool_use"]
    assert message["content"][1]["text"] == WORDS
    assert message["content"][2]["name"] == "Bash"
    assert message["content"][2]["input"] == {"command": "ls -l"}
    assert message["stop_reason"] == "tool_use"


async def test_messages_streamed() -> None:
    """Streamed, the deltas of each block add up to it, between an opening and a closing."""
    async with StandIn(SCRIPT) as server:
        stream = events(await post(f"{server.url}/v1/messages", messages_body(stream=True)))
    deltas = [event["delta"] for event in stream if event["type"] == "content_block_delta"]
    assert "".join(delta.get("thinking", "") for delta in deltas) == "Small step first."
    assert "".join(delta.get("text", "") for delta in deltas) == WORDS
    assert json.loads("".join(delta.get("partial_json", "") for delta in deltas)) == {"command": "ls -l"}
    assert stream[0]["type"] == "message_start"
    assert [event["type"] for event in stream[-2:]] == ["message_delta", "message_stop"]
    assert [event["index"] for event in stream if event["type"] == "content_block_stop"] == [0, 1, 2]


async def test_responses_whole() -> None:
    """A whole response is a list of items; the call has the client's own tool and argument names."""
    async with StandIn(SCRIPT) as server:
        response = (await post(f"{server.url}/v1/responses", responses_body())).json()
    reasoning, message, call = response["output"]
    assert reasoning["summary"][0]["text"] == "Small step first."
    assert message["content"][0]["text"] == WORDS
    assert (call["name"], json.loads(call["arguments"])) == ("exec_command", {"cmd": "ls -l"})
    assert response["status"] == "completed"


async def test_responses_streamed() -> None:
    """Streamed, events are numbered, deltas add up, and the last event repeats the whole response."""
    async with StandIn(SCRIPT) as server:
        stream = events(await post(f"{server.url}/v1/responses", responses_body(stream=True)))
    assert [event["sequence_number"] for event in stream] == list(range(len(stream)))
    deltas = [event["delta"] for event in stream if event["type"] == "response.output_text.delta"]
    assert "".join(deltas) == WORDS
    assert stream[-1]["type"] == "response.completed"
    assert [item["type"] for item in stream[-1]["response"]["output"]] == ["reasoning", "message", "function_call"]


async def test_chat_whole() -> None:
    """A whole completion has all words in one string and the arguments as JSON text."""
    async with StandIn(SCRIPT) as server:
        completion = (await post(f"{server.url}/v1/chat/completions", chat_body())).json()
    message = completion["choices"][0]["message"]
    assert message["content"] == WORDS
    assert message["reasoning_content"] == "Small step first."
    function = message["tool_calls"][0]["function"]
    assert (function["name"], json.loads(function["arguments"])) == ("bash", {"command": "ls -l"})
    assert completion["choices"][0]["finish_reason"] == "tool_calls"
    assert completion["usage"]["total_tokens"] > 0


async def test_chat_streamed() -> None:
    """Streamed, pieces of arguments are tied by index, and `[DONE]` ends the stream; no usage unless asked for."""
    async with StandIn(SCRIPT) as server:
        response = await post(f"{server.url}/v1/chat/completions", chat_body(stream=True))
    deltas = [event["choices"][0]["delta"] for event in events(response)]
    calls = [call for delta in deltas for call in delta.get("tool_calls", [])]
    assert "".join(delta.get("content", "") for delta in deltas) == WORDS
    assert {call["index"] for call in calls} == {0}
    assert json.loads("".join(call["function"]["arguments"] for call in calls)) == {"command": "ls -l"}
    assert response.text.endswith("data: [DONE]\n\n")
    assert all("usage" not in event for event in events(response))


async def test_chat_streamed_with_usage() -> None:
    """A client that asks for the usage gets it in a last chunk without choices."""
    body = {**chat_body(stream=True), "stream_options": {"include_usage": True}}
    async with StandIn(SCRIPT) as server:
        last = events(await post(f"{server.url}/v1/chat/completions", body))[-1]
    assert last["choices"] == []
    assert last["usage"]["prompt_tokens"] == 1000


async def test_gemini_whole() -> None:
    """A whole answer has one candidate whose parts are thought, text and call."""
    async with StandIn(SCRIPT) as server:
        answer = (await post(f"{server.url}/v1beta/models/g:generateContent", gemini_body())).json()
    thought, text, call = answer["candidates"][0]["content"]["parts"]
    assert thought == {"text": "Small step first.", "thought": True}
    assert text == {"text": WORDS}
    assert call["functionCall"] == {"name": "run_shell_command", "args": {"command": "ls -l"}}


async def test_gemini_streamed() -> None:
    """Streamed, text comes in pieces, a call whole, and only the last event has a finish reason."""
    async with StandIn(SCRIPT) as server:
        url = f"{server.url}/v1beta/models/g:streamGenerateContent?alt=sse"
        candidates = [event["candidates"][0] for event in events(await post(url, gemini_body()))]
    parts = [part for candidate in candidates for part in candidate["content"]["parts"]]
    assert "".join(part["text"] for part in parts if "text" in part and "thought" not in part) == WORDS
    assert sum("functionCall" in part for part in parts) == 1
    assert [candidate.get("finishReason") for candidate in candidates][-2:] == [None, "STOP"]


async def test_gemini_escapes_line_separators() -> None:
    """U+2028 and U+2029 never stand raw in a Gemini event: its client would split there."""
    async with StandIn([[{"text": "a\u2028b\u2029c"}]]) as server:
        response = await post(f"{server.url}/v1beta/models/g:streamGenerateContent?alt=sse", gemini_body())
    assert "\u2028" not in response.text
    assert events(response)[0]["candidates"][0]["content"]["parts"] == [{"text": "a\u2028b\u2029c"}]


async def test_chunk_sets_the_size_of_deltas() -> None:
    """`chunk` is the number of characters per delta, for words and for arguments."""
    script = [[{"text": "abcdefg", "chunk": 3}, {"tool": "Bash", "args": {"command": "ls"}, "chunk": 100}]]
    async with StandIn(script) as server:
        stream = events(await post(f"{server.url}/v1/messages", messages_body(stream=True)))
    deltas = [event["delta"] for event in stream if event["type"] == "content_block_delta"]
    assert [delta["text"] for delta in deltas if "text" in delta] == ["abc", "def", "g"]
    assert [delta["partial_json"] for delta in deltas if "partial_json" in delta] == ['{"command":"ls"}']
