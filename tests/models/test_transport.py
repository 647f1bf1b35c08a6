"""The way to a model server: what goes out, what comes in, and what can break in between."""

import asyncio
import gzip
import subprocess
import sys
from collections.abc import Mapping
from contextlib import aclosing

import pytest

from sightline.exceptions import UserMistake
from sightline.models import ModelError
from sightline.models.http._sse import ServerEvent
from sightline.models.http._transport import Transport
from tests.models.serving import KEY, Reply, Serving

TWO = b"event: a\ndata: 1\n\ndata: 2\n\n"
EVENTS = [ServerEvent("a", b"1"), ServerEvent("", b"2")]


def classify(status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
    return ModelError("overloaded", f"{status} {headers.get('x-why', '')} {body.decode()}", hint=KEY, status=status)


async def events(transport: Transport, path: str = "/v1/ask", **more: frozenset[str]) -> list[ServerEvent]:
    async with aclosing(transport.events(path, b'{"q":1}', classify=classify, **more)) as stream:
        return [event async for event in stream]


async def failure(transport: Transport) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await events(transport)
    return caught.value


async def test_a_request_and_its_events() -> None:
    """The body goes out as it is, with the headers given, and the events come in."""
    async with Serving([Reply(TWO)]) as server:
        transport = Transport(server.url + "/base/", {"x-api-key": KEY})
        stream = transport.events("/ask?alt=sse", b'{"q":1}', classify=classify, headers={"x-version": "3"})
        assert [event async for event in stream] == EVENTS
        await transport.close()
    (asked,) = server.asked
    assert (asked.method, asked.path, asked.body) == ("POST", "/base/ask?alt=sse", b'{"q":1}')
    assert asked.headers["x-api-key"] == KEY
    assert asked.headers["x-version"] == "3"
    assert asked.headers["content-type"] == "application/json"
    assert asked.headers["accept"] == "text/event-stream"
    assert asked.headers["accept-encoding"] == "identity"


@pytest.mark.parametrize("ending", ["whole", "chunked", "open"])
async def test_however_the_body_ends(ending: str) -> None:
    """With a length, in chunks, or with the connection."""
    async with Serving([Reply([TWO[:5], TWO[5:6], TWO[6:]], ending=ending)]) as server:
        transport = Transport(server.url, {})
        assert await events(transport) == EVENTS
        await transport.close()


async def test_a_server_that_compresses_unasked() -> None:
    """It was told not to; it is read all the same."""
    async with Serving([Reply(gzip.compress(TWO), headers={"Content-Encoding": "gzip"})]) as server:
        transport = Transport(server.url, {})
        assert await events(transport) == EVENTS
        await transport.close()


@pytest.mark.parametrize(
    ("last", "body"),
    [
        (frozenset[str](), b"data: 1\n\ndata: [DONE]\n\n"),
        (frozenset({"stop"}), b"data: 1\n\nevent: stop\ndata: {}\n\n"),
    ],
)
async def test_the_connection_is_used_again(last: frozenset[str], body: bytes) -> None:
    """After the last event the rest is heard out, so that the next request needs no new connection."""
    async with Serving([Reply([body, b": bye\n\n"])]) as server:
        transport = Transport(server.url, {})
        for _ in range(3):
            assert len(await events(transport, last=last)) == 2
        await transport.close()
    assert [asked.connection for asked in server.asked] == [1, 1, 1]


async def test_a_server_that_never_ends_after_its_last_event() -> None:
    """It is not waited for."""
    async with Serving([Reply(b"data: [DONE]\n\n", ending="hang")]) as server:
        transport = Transport(server.url, {})
        assert await asyncio.wait_for(events(transport), 60) == [ServerEvent("", b"[DONE]")]
        await asyncio.wait_for(server.gone.wait(), 60)
        await transport.close()


@pytest.mark.parametrize("status", [204, 302, 400, 429, 500, 529])
async def test_a_reply_that_is_no_answer(status: int) -> None:
    """Whatever is not 200 is for the client to tell the meaning of; a redirect is not followed."""
    headers = {"X-Why": "busy", "Location": "http://127.0.0.1:1/elsewhere"}
    body = b"" if status == 204 else b"no"
    async with Serving([Reply(body, status=status, headers=headers, ending="whole")]) as server:
        transport = Transport(server.url, {})
        error = await failure(transport)
        await transport.close()
    assert (error.message, error.status) == (f"{status} busy {body.decode()}", status)
    assert len(server.asked) == 1


async def test_a_long_error_body_is_read_to_64_kib() -> None:
    """Nobody reads more of it."""
    async with Serving([Reply(b"x" * 1_000_000, status=500, ending="whole")]) as server:
        transport = Transport(server.url, {})
        assert len((await failure(transport)).message) < 70_000
        await transport.close()


async def test_nobody_listens() -> None:
    """A server that is not there is a network error that says where it should be; asking again may help."""
    async with Serving([Reply()]) as server:
        url = server.url
    transport = Transport(url, {"x-api-key": KEY})
    error = await failure(transport)
    await transport.close()
    assert (error.kind, error.retryable, error.partial) == ("network", True, None)
    assert f"cannot connect to {url}" in error.message


async def test_a_stream_that_breaks_off() -> None:
    """What came is passed on, then it is said that the rest is missing."""
    async with Serving([Reply(TWO, ending="cut")]) as server:
        transport = Transport(server.url, {})
        stream = transport.events("/", b"", classify=classify)
        assert [await anext(stream), await anext(stream)] == EVENTS
        with pytest.raises(ModelError) as caught:
            await anext(stream)
        await transport.close()
    assert (caught.value.kind, caught.value.retryable) == ("cut", True)


async def test_a_server_that_falls_silent() -> None:
    """It is given up, and not asked again by itself."""
    async with Serving([Reply(TWO, ending="hang")]) as server:
        transport = Transport(server.url, {}, silence_seconds=0.3)
        error = await failure(transport)
        await transport.close()
    assert (error.kind, error.retryable) == ("cut", False)


async def test_a_page_in_place_of_events() -> None:
    """A sign-in page of a proxy is quoted, not waited for."""
    page = Reply(b"<html>Please sign in</html>", headers={"Content-Type": "text/html"}, ending="whole")
    async with Serving([page]) as server:
        transport = Transport(server.url, {})
        error = await failure(transport)
        await transport.close()
    assert (error.kind, error.retryable) == ("protocol", False)
    assert "<html>Please sign in</html>" in error.message


@pytest.mark.parametrize(
    "url", ["ftp://127.0.0.1/x", "nonsense", "", "http://", "http://[::1", "http://127.0.0.1:99999", "http://h:0/"]
)
def test_an_address_that_is_none(url: str) -> None:
    """It is a mistake, and what to check is said."""
    with pytest.raises(UserMistake) as caught:
        Transport(url, {})
    assert "base URL" in caught.value.hint


async def test_cancelled_while_it_streams() -> None:
    """The server sees the connection close."""
    got = asyncio.Event()

    async def run(transport: Transport) -> None:
        async for _ in transport.events("/", b"", classify=classify):
            got.set()

    async with Serving([Reply(TWO, ending="hang")]) as server:
        transport = Transport(server.url, {})
        task = asyncio.create_task(run(transport))
        await asyncio.wait_for(got.wait(), 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(server.gone.wait(), 60)
        await transport.close()


async def test_closed_while_it_streams() -> None:
    """Who stops listening closes the connection, without a wait for the server's goodbye."""
    async with Serving([Reply(TWO, ending="hang")]) as server:
        transport = Transport(server.url, {})
        async with aclosing(transport.events("/", b"", classify=classify)) as stream:
            assert await anext(stream) == EVENTS[0]
        await asyncio.wait_for(server.gone.wait(), 60)
        await transport.close()


async def test_the_key_is_in_no_error() -> None:
    """A server that repeats the key does not make it appear anywhere."""
    said = f"bad key {KEY} or Bearer {KEY}".encode()
    for headers in ({"x-api-key": KEY}, {"Authorization": f"Bearer {KEY}"}, {"x-api-key": KEY + "\n"}):
        async with Serving([Reply(said, status=401, ending="whole")]) as server:
            transport = Transport(server.url, headers)
            error = await failure(transport)
            await transport.close()
        for text in (str(error), repr(error), error.message, error.hint, repr(transport), str(vars(error))):
            assert KEY not in text
        assert "[key]" in error.message
        assert error.__cause__ is None


async def test_the_password_of_an_address_is_in_no_error() -> None:
    """Nor what stands in its query."""
    transport = Transport("http://user:hunter2hunter2@127.0.0.1:1/v1?key=0123456789abc", {})
    error = await failure(transport)
    await transport.close()
    for text in (error.message, error.hint, repr(transport)):
        assert "hunter2" not in text
        assert "0123456789abc" not in text


@pytest.mark.parametrize("value", ["sk-…", "sk-abc\x00def", "sk\nab"])
def test_a_key_that_cannot_be_sent(value: str) -> None:
    """A key with a character that no header can hold is a mistake, and is not repeated."""
    with pytest.raises(UserMistake) as caught:
        Transport("http://127.0.0.1", {"x-api-key": value})
    assert value not in str(caught.value)


async def test_a_proxy_of_the_environment_is_not_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loopback is reached directly."""
    async with Serving([Reply(b"", status=502)]) as proxy, Serving([Reply(TWO)]) as server:
        for name in ("http_proxy", "all_proxy", "https_proxy"):
            monkeypatch.setenv(name, proxy.url)
        monkeypatch.delenv("no_proxy", raising=False)
        transport = Transport(server.url, {})
        assert await events(transport) == EVENTS
        await transport.close()
    assert proxy.asked == []


async def test_a_proxy_of_the_environment_is_used_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server elsewhere is asked through it."""
    async with Serving([Reply(TWO)]) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        transport = Transport("http://models.invalid", {})
        assert await events(transport) == EVENTS
        await transport.close()
    assert proxy.asked[0].path == "http://models.invalid/v1/ask"


async def test_get() -> None:
    """A small reply, whole; an error like any other."""
    async with Serving([Reply(b'{"data":[]}', ending="whole"), Reply(b"no", status=404, ending="whole")]) as server:
        transport = Transport(server.url, {"x-api-key": KEY})
        assert await transport.get("/v1/models", classify=classify) == b'{"data":[]}'
        with pytest.raises(ModelError) as caught:
            await transport.get("/v1/models", classify=classify)
        await transport.close()
    assert caught.value.status == 404
    assert (server.asked[0].method, server.asked[0].headers["x-api-key"]) == ("GET", KEY)


@pytest.mark.parametrize("package", ["_anthropic", "_gemini"])
def test_the_http_client_is_not_imported_before_the_first_request(package: str) -> None:
    """Cold paths stay cold."""
    code = f"import sys; import sightline.models.{package}; print(sorted({{'httpx2', 'ssl'}} & set(sys.modules)))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "httpx2" not in said


async def test_a_kept_connection_the_server_closed_is_made_anew_at_once():
    """A server may drop a connection it was to keep; the next request goes over a new one, without a wait."""
    connections = 0
    body = b'data: {"n": 1}\n\n'

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        await reader.readexactly(length)
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: %d\r\n\r\n" % len(body) + body
        )
        await writer.drain()
        if connections == 1:
            await reader.read(1)  # the next request begins to come, and the connection closes under it
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    transport = Transport(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", {})
    try:
        for _ in range(2):
            events = [
                event async for event in transport.events("/", b"{}", classify=lambda *_: ModelError("auth", "x"))
            ]
            assert [event.data for event in events] == [b'{"n": 1}']
        assert connections == 2
    finally:
        await transport.close()
        server.close()
