"""Which turn is played, how errors and cuts are, and what is kept of the requests."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest
from clients import chat_body, events, messages_body, post, receive, responses_body

from sightline.testing.standin import ScriptError, StandIn, load_script

THREE_TURNS = [
    [{"text": "First."}, {"tool": "Bash", "args": {"command": "one"}}, {"tool": "Bash", "args": {"command": "two"}}],
    [{"text": "Second."}],
    [{"text": "Third."}],
]

CALLED = {
    "role": "assistant",
    "content": [
        {"type": "text", "text": "First."},
        {"type": "tool_use", "id": "a", "name": "Bash", "input": {}},
        {"type": "tool_use", "id": "b", "name": "Bash", "input": {}},
    ],
}
RESULTS = {
    "role": "user",
    "content": [
        {"type": "tool_result", "tool_use_id": "a", "content": "1"},
        {"type": "tool_result", "tool_use_id": "b", "content": "2"},
    ],
}
SECOND = {"role": "assistant", "content": [{"type": "text", "text": "Second."}]}
AGAIN = {"role": "user", "content": "And then?"}


def words(message: Any) -> str:
    return "".join(block["text"] for block in message.json()["content"] if block["type"] == "text")


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        ([], "First."),
        ([CALLED, RESULTS], "Second."),
        ([CALLED, RESULTS, SECOND, AGAIN], "Third."),
    ],
)
async def test_the_history_of_a_request_decides_the_turn(history: list[Any], expected: str) -> None:
    """Calls already made and answers already given are passed over; nothing depends on earlier requests."""
    async with StandIn(THREE_TURNS) as server:
        for _ in range(2):
            assert words(await post(f"{server.url}/v1/messages", messages_body(*history))) == expected


async def test_concurrent_requests_each_get_their_own_turn() -> None:
    """Two conversations at different places do not disturb each other."""
    async with StandIn(THREE_TURNS) as server:
        url = f"{server.url}/v1/messages"
        answers = await asyncio.gather(
            *(post(url, messages_body(*history)) for history in ([], [CALLED, RESULTS]) for _ in range(5))
        )
    assert [words(answer) for answer in answers] == ["First."] * 5 + ["Second."] * 5


async def test_a_script_that_is_over_says_so() -> None:
    """A client that asks on gets an answer, not an error."""
    async with StandIn([[{"text": "Only."}]]) as server:
        answer = await post(f"{server.url}/v1/messages", messages_body(SECOND, AGAIN))
    assert words(answer) == "The script is over."


async def test_a_client_without_tools_is_only_told_the_words() -> None:
    """Calls are left out where none were offered; a turn of calls only is passed over."""
    script = [[{"tool": "Bash", "args": {"command": "x"}}], [{"text": "Hi."}, {"tool": "Bash", "args": {}}]]
    async with StandIn(script) as server:
        response = await post(f"{server.url}/v1/chat/completions", chat_body(tools=False))
    message = response.json()["choices"][0]["message"]
    assert message["content"] == "Hi."
    assert "tool_calls" not in message


async def test_a_side_request_gets_a_harmless_answer() -> None:
    """A request for a title, without tools, does not play the script."""
    body = {"model": "m", "messages": [{"role": "system", "content": "Generate a title."}]}
    async with StandIn(THREE_TURNS) as server:
        message = (await post(f"{server.url}/v1/chat/completions", body)).json()["choices"][0]["message"]
    assert message["content"] == "Demo session"
    assert server.turns == []


async def test_a_subagent_plays_its_own_turns() -> None:
    """A conversation that was given a subagent's prompt plays that subagent's part."""
    task = {"tool": "Task", "args": {"prompt": "Count the rows.", "description": "Count"}}
    script = [[{**task, "agent": [[{"text": "Three rows."}]]}], [{"text": "Counted."}]]
    async with StandIn(script) as server:
        body = messages_body()
        body["messages"][0]["content"] = [
            {"type": "text", "text": "<hint/>"},
            {"type": "text", "text": "Count the rows."},
        ]
        assert words(await post(f"{server.url}/v1/messages", body)) == "Three rows."
    assert [(turn.agent, turn.index) for turn in server.turns] == [("Count", 0)]


async def test_codex_is_made_to_wait_for_each_subagent() -> None:
    """Where starting a subagent does not wait for it, a turn that waits is put in."""
    task = {"tool": "Task", "args": {"prompt": "Count."}, "agent": [[{"text": "3"}]]}
    spawn = {"type": "function", "name": "spawn_agent", "parameters": {"properties": {"message": {}}}}
    wait = {"type": "function", "name": "wait_agent", "parameters": {"properties": {"targets": {}, "timeout_ms": {}}}}
    body = responses_body(
        {"type": "function_call", "name": "spawn_agent", "call_id": "c", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": '{"agent_id":"agent-7"}'},
    )
    async with StandIn([[task], [{"text": "Done."}]]) as server:
        response = await post(f"{server.url}/v1/responses", {**body, "tools": [spawn, wait]})
    (call,) = response.json()["output"]
    assert call["name"] == "wait_agent"
    assert json.loads(call["arguments"])["targets"] == ["agent-7"]


async def test_an_error_is_played_as_often_as_it_says() -> None:
    """The first attempts fail with the status and a Retry-After; then the rest of the turn is played."""
    error = {"error": "Slow down", "status": 429, "times": 2, "retry_after": 1.5}
    async with StandIn([[error, {"text": "Now."}]]) as server:
        answers = [await post(f"{server.url}/v1/messages", messages_body()) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [429, 429, 200, 200]
    assert answers[0].headers["retry-after"] == "1.5"
    assert answers[0].json()["error"] == {"type": "rate_limit_error", "message": "Slow down"}


async def test_a_turn_that_is_only_an_error_is_passed_over_afterwards() -> None:
    """An error may be a turn of its own before the turn that works."""
    async with StandIn([[{"error": "Oops", "status": 500, "times": 1}], [{"text": "Fine."}]]) as server:
        url = f"{server.url}/v1/chat/completions"
        first, second = [await post(url, chat_body()) for _ in range(2)]
    assert (first.status_code, first.json()["error"]["message"]) == (500, "Oops")
    assert second.json()["choices"][0]["message"]["content"] == "Fine."


async def test_an_error_without_times_is_played_for_ever() -> None:
    """Left out, `times` means always."""
    async with StandIn([[{"error": "No", "status": 400}]]) as server:
        codes = [(await post(f"{server.url}/v1/responses", responses_body())).status_code for _ in range(4)]
    assert codes == [400] * 4


async def test_a_cut_breaks_the_stream_once() -> None:
    """The connection breaks after so many characters; asked again, the text comes whole."""
    async with StandIn([[{"text": "Hello there", "cut_at": 5, "chunk": 3}]]) as server:
        url = f"{server.url}/v1/chat/completions"
        received = bytearray()
        with pytest.raises(httpx2.RemoteProtocolError):
            await receive(url, chat_body(stream=True), received)
        assert b'"Hel"' in received
        assert b'"lo"' in received
        assert b"there" not in received
        again = events(await post(url, chat_body(stream=True)))
    assert "".join(event["choices"][0]["delta"].get("content", "") for event in again) == "Hello there"


async def test_a_cut_breaks_a_whole_answer_once() -> None:
    """Not streamed, half of the body arrives the first time."""
    async with StandIn([[{"text": "Hello there", "cut_at": 5}]]) as server:
        with pytest.raises(httpx2.RemoteProtocolError):
            await post(f"{server.url}/v1/messages", messages_body())
        assert words(await post(f"{server.url}/v1/messages", messages_body())) == "Hello there"


async def test_requests_are_kept() -> None:
    """Tests can look at what a client asked, and how often; what was meant for elsewhere is listed apart."""
    async with StandIn(THREE_TURNS) as server:
        async with httpx2.AsyncClient(trust_env=False, verify=False) as client:
            await client.head(f"{server.url}/")
            models = await client.get(f"{server.url}/v1/models")
            counted = await client.post(f"{server.url}/v1/messages/count_tokens", json={})
            await client.post(f"{server.url}/v1/messages", json=messages_body(), headers={"X-Api-Key": "k"})
        async with httpx2.AsyncClient(trust_env=False, proxy=server.url) as client:
            refused = await client.get("http://example.invalid/")
    assert models.json()["data"][0]["id"] == "standin-1"
    assert counted.json() == {"input_tokens": 1000}
    assert [request.method for request in server.requests] == ["HEAD", "GET", "POST", "POST", "GET"]
    assert [request.body["model"] for request in server.conversations] == ["m"]
    assert server.conversations[0].headers["x-api-key"] == "k"
    assert refused.status_code == 403
    assert [stray.path for stray in server.strays] == ["http://example.invalid/"]


def test_it_serves_code_without_an_event_loop() -> None:
    """`in_thread` is for code that is not asynchronous, and is gone afterwards."""
    with StandIn.in_thread([[{"text": "Hi."}]]) as server, httpx2.Client(trust_env=False, verify=False) as client:
        url = f"{server.url}/v1/messages"
        assert words(client.post(url, json=messages_body())) == "Hi."
    with httpx2.Client(trust_env=False, verify=False) as client, pytest.raises(httpx2.ConnectError):
        client.post(url, json=messages_body())


def test_it_runs_as_a_program(tmp_path: Path) -> None:
    """`python -m sightline.testing.standin --script FILE` prints where it is and serves until it is stopped."""
    script = tmp_path / "script.json"
    script.write_text('[[{"text": "Hi."}]]')
    command = [sys.executable, "-m", "sightline.testing.standin", "--script", str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            with httpx2.Client(trust_env=False, verify=False) as client:
                assert words(client.post(f"{url}/v1/messages", json=messages_body())) == "Hi."
        finally:
            process.terminate()


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        ({"turns": []}, "list of turns"),
        ([{"text": "no turn"}], "turn 1 is not a list"),
        ([[{"text": "a", "tool": "b"}]], "turn 1, block 1: needs exactly one of"),
        ([[{"text": "a"}, {"text": 3}]], "turn 1, block 2: Expected `str`"),
        ([[{"text": "a", "dealy_ms": 3}]], "dealy_ms"),
        ([[{"tool": "Task", "agent": [[{"text": "a"}]]}]], "args.prompt"),
    ],
)
def test_a_wrong_script_says_where(script: Any, complaint: str) -> None:
    """A script that cannot be played is refused before anything is, with the place."""
    with pytest.raises(ScriptError, match=complaint.replace("[", r"\[")):
        load_script(script)


async def test_it_is_known_when_each_request_was_answered() -> None:
    """In order, and told apart from what clients ask around a conversation."""
    async with StandIn(THREE_TURNS) as server:
        await post(f"{server.url}/v1/messages", messages_body(stream=True))
        await post(f"{server.url}/v1/messages/count_tokens", messages_body())
        exchanges = server.exchanges
    assert [exchange.is_conversation for exchange in exchanges] == [True, False]
    times = [time for exchange in exchanges for time in (exchange.requested, exchange.answered)]
    assert times == sorted(times)
