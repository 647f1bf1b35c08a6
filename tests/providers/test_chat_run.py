"""Running a prompt against a real HTTP server on loopback: answers, streams, errors, retries, ends."""

import asyncio
import json
import socket
from email.utils import formatdate

import pytest

from sightline.events import (
    Error,
    RetryState,
    RunEnded,
    State,
    Text,
    ToolArgs,
    ToolUse,
    TurnEnded,
    TurnStarted,
    Unknown,
)
from sightline.providers import ProviderPrompt, get_provider
from sightline.providers.openai_compatible._failure import retry_after
from sightline.providers.openai_compatible._request import declared_tools
from sightline.providers.openai_compatible._run import ChatRun
from sightline.testing.standin import StandIn

from .chat_server import (
    CALL,
    DONE,
    KEY,
    ChatServer,
    FakeClock,
    Reply,
    answer,
    chunk,
    failure,
    isolate,
    kinds,
    only,
    run,
)


@pytest.fixture(autouse=True)
def own_environment(monkeypatch, own_home):
    isolate(monkeypatch)


async def test_an_answer_comes_in_one_burst_after_the_response():
    """US5: the run is announced at once, everything the model said comes together when the body is whole."""
    async with ChatServer(answer("Hello.", "tool_calls", tool_calls=[CALL])) as server:
        chat = get_provider("openai_compatible").start(
            ProviderPrompt(
                prompt="Hi.", model="m", options={"base_url": server.url, "temperature": 0.5, "max_tokens": 9}
            )
        )
        batches = [batch async for batch in chat.events()]
    assert [kinds(batch) for batch in batches] == [
        ["RunStarted", "TurnStarted"],
        ["Text", "ToolUse", "TurnEnded"],
        ["RunEnded"],
    ]
    assert (chat.outcome.exit_code, chat.outcome.text) == (0, "Hello.")
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    messages = [{"role": "user", "content": "Hi."}]
    assert request.body == {"messages": messages, "model": "m", "temperature": 0.5, "max_tokens": 9}


async def test_a_stream_is_passed_on_as_it_arrives():
    """With `stream: true` a word is there before the server has sent the next."""
    reply = Reply([chunk({"content": "One "})], hang=True)
    async with ChatServer(reply) as server:
        chat = ChatRun(ProviderPrompt(prompt="Hi.", options={"base_url": server.url, "stream": True}))
        batches = chat.events()
        seen = []
        while not any(isinstance(event, Text) for event in seen):
            seen += await asyncio.wait_for(anext(batches), 10)
        assert server.requests[0].body["stream"] is True
        assert server.requests[0].body["stream_options"] == {"include_usage": True}
        await batches.aclose()
        await asyncio.wait_for(server.hung_up.wait(), 10)
    assert chat.outcome.cancelled


async def test_a_stream_ends_with_done_though_the_server_keeps_the_connection():
    reply = Reply([chunk({"content": "One "}), chunk({"content": "two."}, "stop"), DONE], hang=True)
    async with ChatServer(reply) as server:
        events, outcome = await run(server, options={"stream": True})
    assert kinds(events) == ["RunStarted", "TurnStarted", "State", "Text", "Text", "TurnEnded", "RunEnded"]
    assert (outcome.exit_code, outcome.text) == (0, "One two.")


@pytest.mark.parametrize("stream", [False, True])
async def test_the_stand_in_is_understood_in_both_forms(stream):
    """Words, thinking and calls of a script, through the real server of the live tests."""
    script = [[{"reasoning": "Hm."}, {"text": "Let me look."}, {"tool": "Read", "args": {"path": "a.txt"}}]]
    tools = {"read_file": {"description": "Read a file.", "parameters": {"type": "object", "properties": {"path": {}}}}}
    async with StandIn(script) as server:
        events, outcome = await run(f"{server.url}/v1", model="standin-1", options={"stream": stream, "tools": [tools]})
    assert outcome.text == "Let me look."
    use = only(ToolUse, events)
    assert (use.name, use.native_name, use.arg) == ("Read", "read_file", "a.txt")
    assert bool([event for event in events if isinstance(event, ToolArgs)]) == stream
    assert only(TurnEnded, events).usage is not None


async def test_a_server_that_answers_the_other_way_is_understood():
    """A body though a stream was asked for, a stream though none was."""
    stream = Reply([chunk({"content": "Hello."}, "stop"), DONE])
    async with ChatServer(answer(), stream) as server:
        assert (await run(server, options={"stream": True}))[1].text == "Hello."
        assert (await run(server))[1].text == "Hello."


async def test_tools_are_offered_and_calls_shown_but_none_is_run():
    """One request, whatever the model wants done."""
    declared = {"type": "function", "function": {"name": "run_command", "parameters": {"type": "object"}}}
    async with ChatServer(answer(None, "tool_calls", tool_calls=[CALL])) as server:
        events, outcome = await run(server, options={"tools": [declared, {"look": {"description": "Look."}}]})
    assert outcome.exit_code == 0
    assert (only(ToolUse, events).name, only(ToolUse, events).arg) == ("Bash", "ls")
    (request,) = server.requests
    assert request.body["tools"][0] == declared
    assert request.body["tools"][1]["function"]["name"] == "look"


def test_tools_may_be_one_mapping_of_short_forms():
    first, second = declared_tools({"a": {"description": "A.", "parameters": {"type": "object"}}, "b": None})
    assert first["function"] == {"name": "a", "description": "A.", "parameters": {"type": "object"}}
    assert second["function"]["parameters"] == {"type": "object", "properties": {}}


async def test_extra_fields_are_sent_and_a_null_takes_one_out():
    async with ChatServer(answer()) as server:
        await run(server, options={"stream": True, "extra": {"seed": 7, "stream_options": None}, "system": "Be brief."})
    body = server.requests[0].body
    assert body["seed"] == 7
    assert "stream_options" not in body
    assert body["messages"][0] == {"role": "system", "content": "Be brief."}


async def test_raw_bytes_are_the_servers_own():
    """`output_format: json`: no event is made of the answer."""
    reply = Reply([b'{"choices": [', b" ]}\n", b"\xff not json"])
    async with ChatServer(reply) as server:
        chat = ChatRun(ProviderPrompt(prompt="Hi.", raw=True, options={"base_url": server.url}))
        assert b"".join([chunk async for chunk in chat.raw()]) == b"".join(reply.pieces)
    assert chat.outcome.exit_code == 0


async def test_raw_bytes_of_an_error_come_with_exit_code_and_reason():
    async with ChatServer(failure(400, f"bad key {KEY}")) as server:
        chat = ChatRun(ProviderPrompt(prompt="Hi.", raw=True, options={"base_url": server.url}))
        raw = b"".join([chunk async for chunk in chat.raw()])
    assert json.loads(raw)["error"]["message"] == "bad key [key]"
    assert chat.outcome.exit_code == 1
    assert chat.outcome.stderr.startswith("error: HTTP 400: bad key [key]")


async def test_raw_bytes_that_break_off_are_not_sent_twice():
    async with ChatServer(Reply([b'{"id": '], cut=True), answer()) as server:
        chat = ChatRun(
            ProviderPrompt(prompt="Hi.", raw=True, options={"base_url": server.url}), sleep=FakeClock().sleep
        )
        assert b"".join([chunk async for chunk in chat.raw()]) == b'{"id": '
        assert len(server.requests) == 1
    assert chat.outcome.exit_code == 1
    assert "broke" in chat.outcome.stderr


async def test_a_rate_limit_is_waited_out_as_long_as_the_server_says():
    """429 with Retry-After, then an answer: visible as state and notice, and gone from the state afterwards."""
    clock = FakeClock()
    async with ChatServer(failure(429, "slow down", retry_after="7"), answer()) as server:
        events, outcome = await run(server, clock=clock, model="m")
    assert clock.slept == [7.0]
    assert kinds(events) == [
        "RunStarted",
        "TurnStarted",
        "State",
        "Notice",
        "State",
        "Text",
        "TurnEnded",
        "RunEnded",
    ]
    assert RetryState.of(events[2].value) == RetryState("HTTP 429: slow down (some_error)", 1, 3, 7.0)
    assert events[3].text == "HTTP 429: slow down (some_error); retrying in 7 s (1 of 3)"
    assert events[4] == State("retry", None, source="openai_compatible")
    assert outcome.exit_code == 0


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("7", 7.0), ("0.5", 0.5), (formatdate(1_000_030, usegmt=True), 30.0), (formatdate(0, usegmt=True), 0.0)],
)
def test_retry_after_is_seconds_or_a_date(header, seconds):
    assert retry_after(header, 1_000_000.0) == seconds


@pytest.mark.parametrize("header", ["", "soon", "-1", "²", "Mon, 99 Foo"])
def test_a_useless_retry_after_says_nothing(header):
    assert retry_after(header, 1_000_000.0) is None


async def test_a_wait_that_is_too_long_is_capped():
    clock = FakeClock()
    async with ChatServer(failure(503, "down", retry_after="86400"), answer()) as server:
        await run(server, clock=clock)
    assert clock.slept == [60.0]


async def test_a_server_that_keeps_failing_is_given_up_after_the_last_retry():
    """500 for ever: three retries, twice as long each time, then an error with status and excerpt."""
    clock = FakeClock()
    async with ChatServer(failure(500, "boom")) as server:
        events, outcome = await run(server, clock=clock)
        assert len(server.requests) == 4
    assert clock.slept == [0.5, 1.0, 2.0]
    error = only(Error, events)
    assert (error.text, error.hint) == ("HTTP 500: boom (some_error)", "the server has a problem: try again later")
    end = events[-1]
    assert (type(end), end.is_error, end.exit_code) == (RunEnded, True, 1)
    assert outcome.exit_code == 1


async def test_retries_can_be_turned_off():
    async with ChatServer(failure(500, "boom")) as server:
        await run(server, options={"retries": 0})
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("status", "hint"),
    [(401, "OPENAI_API_KEY"), (403, "OPENAI_API_KEY"), (404, "base URL"), (400, "name a model"), (302, "redirects")],
)
async def test_a_refusal_is_not_tried_again_and_says_what_to_do(status, hint):
    clock = FakeClock()
    async with ChatServer(failure(status, "no")) as server:
        events, outcome = await run(server, clock=clock)
        assert len(server.requests) == 1
    assert only(Error, events).text.startswith(f"HTTP {status}: no")
    assert hint in only(Error, events).hint
    assert outcome.exit_code == 1


async def test_an_empty_account_is_not_asked_again():
    """429 can also mean that no waiting helps."""
    body = json.dumps({"error": {"message": "no money", "code": "insufficient_quota"}}).encode()
    async with ChatServer(Reply([body], 429)) as server:
        events, _ = await run(server)
        assert len(server.requests) == 1
    assert "balance" in only(Error, events).hint


async def test_an_error_page_is_quoted_within_bounds():
    """A proxy's HTML, terminal sequences in it and all."""
    page = b"<html>\x1b]0;gotcha\x07 bad\r\n gateway " + b"x" * 200_000
    async with ChatServer(Reply([page], 502)) as server:
        events, _ = await run(server, options={"retries": 0})
    text = only(Error, events).text
    assert text.startswith("HTTP 502: <html> bad gateway xxx")
    assert len(text) < 700


async def test_a_page_that_is_no_answer_is_an_error_though_its_status_is_200():
    async with ChatServer(Reply([b"<html>Welcome</html>"])) as server:
        events, outcome = await run(server)
    assert kinds(events)[2:] == ["Unknown", "Error", "TurnEnded", "RunEnded"]
    assert "base URL" in only(Error, events).hint
    assert outcome.exit_code == 1
    assert only(Unknown, events).raw == "<html>Welcome</html>"


async def test_a_refused_connection_asks_whether_the_server_is_running():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    clock = FakeClock()
    events, outcome = await run(f"http://127.0.0.1:{port}/v1", clock=clock, options={"retries": 2})
    assert clock.slept == [0.5, 1.0]
    assert only(Error, events).text.startswith(f"cannot connect to http://127.0.0.1:{port}/v1")
    assert "is the server running?" in only(Error, events).hint
    assert outcome.exit_code == 1


async def test_a_body_that_breaks_off_is_asked_for_again():
    """Nothing of it was shown, so nothing is shown twice."""
    broken = Reply([b'{"id": "r0",\n "choices": [\n'], cut=True)
    async with ChatServer(broken, answer()) as server:
        events, outcome = await run(server)
        assert len(server.requests) == 2
    assert outcome.text == "Hello."
    assert not [event for event in events if isinstance(event, (Error, Unknown))]


async def test_a_stream_that_breaks_after_words_is_not_asked_for_again():
    async with ChatServer(Reply([chunk({"content": "Half an ans"})], cut=True)) as server:
        events, outcome = await run(server, options={"stream": True})
        assert len(server.requests) == 1
    assert only(Error, events).text == "the stream ended early"
    assert (outcome.exit_code, outcome.text) == (1, "Half an ans")


async def test_an_error_inside_a_stream_fails_the_run():
    pieces = [chunk({"content": "Half "}), b'data: {"error": {"message": "overloaded"}}\n\n']
    async with ChatServer(Reply(pieces)) as server:
        events, outcome = await run(server, options={"stream": True})
    assert only(Error, events).text == "API error: overloaded"
    assert (outcome.exit_code, outcome.session) == (1, "")


@pytest.mark.parametrize(("pieces", "seconds"), [([], 0.05), ([chunk({"content": "One "})], 5.0)])
async def test_a_timeout_ends_the_run_with_124(pieces, seconds):
    """Before the first byte as well as in the middle of a stream; what was said is kept."""
    async with ChatServer(Reply(pieces, hang=True)) as server:
        events, outcome = await run(server, timeout=seconds, options={"stream": True})
    assert only(Error, events).text == f"no answer within {seconds:g} s"
    assert (events[-1].stop_reason, events[-1].exit_code) == ("timeout", 124)
    assert (outcome.exit_code, outcome.timed_out) == (124, True)
    assert outcome.text == ("One " if pieces else "")


async def test_cancelling_in_the_middle_of_a_stream_is_no_error():
    """At once, connection closed, words kept, exit code 130."""
    async with ChatServer(Reply([chunk({"content": "One "})], hang=True)) as server:
        chat = ChatRun(ProviderPrompt(prompt="Hi.", options={"base_url": server.url, "stream": True}))
        events = []
        async for batch in chat.events():
            events += batch
            if any(isinstance(event, Text) for event in batch):
                await chat.cancel()
        await asyncio.wait_for(server.hung_up.wait(), 10)
    assert kinds(events)[-2:] == ["TurnEnded", "RunEnded"]
    assert not [event for event in events if isinstance(event, Error)]
    assert (chat.outcome.exit_code, chat.outcome.cancelled, chat.outcome.text) == (130, True, "One ")


async def test_cancelling_during_a_wait_for_a_retry_is_heard_at_once():
    waiting = asyncio.Event()

    async def sleep_for_ever(seconds: float) -> None:
        waiting.set()
        await asyncio.Event().wait()

    async with ChatServer(failure(429, "slow down", retry_after="60")) as server:
        chat = ChatRun(ProviderPrompt(prompt="Hi.", options={"base_url": server.url}), sleep=sleep_for_ever)

        async def read() -> list:
            return [event async for batch in chat.events() for event in batch]

        reading = asyncio.ensure_future(read())
        await asyncio.wait_for(waiting.wait(), 10)
        await chat.cancel()
        events = await asyncio.wait_for(reading, 10)
    assert events[-1].stop_reason == "cancelled"
    assert chat.outcome.exit_code == 130


async def test_a_run_cancelled_before_it_is_read_asks_nothing():
    async with ChatServer(answer()) as server:
        chat = ChatRun(ProviderPrompt(prompt="Hi.", options={"base_url": server.url}))
        await chat.cancel()
        assert [event async for batch in chat.events() for event in batch] == []
        assert server.requests == []
    assert chat.outcome.exit_code == 130


async def test_a_slow_reader_holds_the_stream_back_and_loses_nothing():
    pieces = [chunk({"content": f"{number} "}) for number in range(400)]
    async with ChatServer(Reply([*pieces, chunk({}, "stop"), DONE])) as server:
        chat = ChatRun(ProviderPrompt(prompt="Hi.", options={"base_url": server.url, "stream": True}))
        words = ""
        async for batch in chat.events():
            await asyncio.sleep(0)
            words += "".join(event.text for event in batch if isinstance(event, Text))
    assert words == "".join(f"{number} " for number in range(400)) == chat.outcome.text


def test_there_is_no_outcome_before_the_end():
    with pytest.raises(RuntimeError, match="no outcome"):
        _ = ChatRun(ProviderPrompt(prompt="Hi.")).outcome


def test_reading_about_the_provider_imports_no_http_client():
    """Rule 6: the client is loaded when a run begins, not when a recording is viewed."""
    import subprocess
    import sys

    code = (
        "import sys; from sightline.providers.openai_compatible import PROVIDER; PROVIDER.source();"
        " print([name for name in ('httpx2', 'asyncio', 'ssl') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


async def test_events_of_a_turn_are_framed_by_its_lifecycle():
    async with ChatServer(answer()) as server:
        events, _ = await run(server, model="m")
    assert kinds(events) == ["RunStarted", "TurnStarted", "Text", "TurnEnded", "RunEnded"]
    assert isinstance(events[1], TurnStarted)
    assert events[-1].usage.total_tokens == 5
