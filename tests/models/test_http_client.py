"""HTTP/1.1 as servers speak it: each answer is read to its end, or fails and says why."""

import asyncio
import gzip
import itertools
import ssl
import subprocess
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.models.http import _client
from sightline.models.http._client import HttpAnswer, HttpBroken, HttpClient, HttpUnconnected, HttpUnusable

OK = b"HTTP/1.1 200 OK\r\n"
GZIPPED = gzip.compress(b"", mtime=0)


class Server:
    """Answers each request with the next of its bytes, as they are; then it waits, or closes."""

    def __init__(self, answers: list[bytes], *, closes: bool = False) -> None:
        self.answers = answers
        self.heads: list[str] = []
        self.connections = 0
        self.closes = closes
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while self.answers:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                self.heads.append(head)
                length = head.lower().partition("content-length: ")[2].partition("\r\n")[0]
                await reader.readexactly(int(length or 0))
                writer.write(self.answers.pop(0))
                if self.closes:
                    break
                await writer.drain()
            else:
                await reader.read()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def listening(
    serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]], secure: ssl.SSLContext | None = None
) -> AsyncIterator[int]:
    tasks: set[asyncio.Task[None]] = set()
    writers: set[asyncio.StreamWriter] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.add(writer)
        tasks.add(asyncio.ensure_future(serve(reader, writer)))

    server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=secure)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for writer in writers:
            writer.transport.abort()
        await asyncio.sleep(0)


def client_of(url: str, silence: float = 20) -> HttpClient:
    return HttpClient(urlsplit(url), connect_seconds=20, silence_seconds=silence)


async def asked(client: HttpClient, url: str, body: bytes = b"{}") -> tuple[int, dict[str, str], bytes]:
    async with client.answer("POST", url, {"X-Own": "1"}, body) as answer:
        async with aclosing(answer.chunks()) as chunks:
            said = b"".join([chunk async for chunk in chunks])
        return answer.status, answer.headers, said


async def answer_to(*answers: bytes, closes: bool = False, silence: float = 20) -> tuple[int, dict[str, str], bytes]:
    async with listening(Server([*answers], closes=closes).serve) as port:
        client = client_of(f"http://127.0.0.1:{port}", silence)
        try:
            return await asked(client, f"http://127.0.0.1:{port}/ask")
        finally:
            await client.close()


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (OK + b"Content-Length: 2\r\n\r\nhi", b"hi"),
        (OK + b"Content-Length: 0\r\n\r\n", b""),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n3;name=value\r\n-ho\r\n0\r\nTrailer: x\r\n\r\n", b"hi-ho"),
        (OK + b"Transfer-Encoding: chunked\nContent-Length: 9\n\n00002\nhi\n0\n\n", b"hi"),
        (
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\n" + OK + b"content-length:1\r\n\r\nx",
            b"x",
        ),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b""),
        (b"HTTP/1.1 500\r\nContent-Length: 2\r\n\r\nno", b"no"),
    ],
)
async def test_an_answer_to_its_end(answer: bytes, body: bytes) -> None:
    """With its length or with its last chunk, however the lines end."""
    assert (await answer_to(answer))[2] == body


@pytest.mark.parametrize("head", [OK, b"HTTP/1.0 200 OK\r\n"])
async def test_a_body_that_ends_with_the_connection(head: bytes) -> None:
    assert (await answer_to(head + b"\r\nall of it", closes=True))[2] == b"all of it"


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-",
        OK + b"Content-Length: 9\r\n\r\nhi",
        OK + b"Transfer-Encoding: chunked\r\n\r\n9\r\nhi",
        OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\nhi\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n-1\r\nhi\r\n",
        OK + b"Content-Length: -1\r\n\r\nhi",
        OK + b"Content-Length: 1, 2\r\n\r\nhi",
        OK + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\nhi",
        OK + b"Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\nhi",
        OK + b"X: " + b"x" * 600_000 + b"\r\n\r\n",
        OK + b"X: y\r\n" * 200_000 + b"\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n" * 1000,
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/2 200 OK\r\n\r\n",
        b"HTTP/1.1 OK\r\n\r\n",
        b"\x15\x03\x01\x00\x02\x02\x50\n",
    ],
)
async def test_what_is_no_whole_answer(answer: bytes) -> None:
    """It is broken, and soon."""
    with pytest.raises(HttpBroken):
        await asyncio.wait_for(answer_to(answer, closes=True), 20)


def read_whole(pieces: list[bytes]) -> bytes:
    """What a client makes of these bytes, which come piece by piece; then the connection closes."""

    async def read() -> bytes:
        reader = asyncio.StreamReader(limit=_client._BUFFER)

        async def send() -> None:
            for piece in pieces:
                reader.feed_data(piece)
                await asyncio.sleep(0)
            reader.feed_eof()

        sending = asyncio.ensure_future(send())
        try:
            head = await _client._heard(_client._head(reader), 20)
            async with aclosing(HttpAnswer(reader, 20, head).chunks()) as chunks:
                return b"".join([chunk async for chunk in chunks])
        finally:
            await sending

    return asyncio.run(read())


def cut(whole: bytes, places: list[int]) -> list[bytes]:
    ends = [0, *sorted(place % (len(whole) + 1) for place in places), len(whole)]
    return [whole[start:end] for start, end in itertools.pairwise(ends) if end > start]


PLACES = st.lists(st.integers(0, 10_000), max_size=20)


@given(st.lists(st.binary(min_size=1, max_size=60), max_size=8), PLACES, st.sampled_from([b"\r\n", b"\n"]))
def test_a_body_is_the_same_however_it_is_cut(parts: list[bytes], places: list[int], end: bytes) -> None:
    """In chunks of any size, which arrive in pieces of any size."""
    chunks = b"".join(b"%x%s%s%s" % (len(part), end, part, end) for part in parts)
    whole = OK + b"Transfer-Encoding: chunked" + end * 2 + chunks + b"0" + end * 2
    assert read_whole(cut(whole, places)) == b"".join(parts)


@given(
    st.lists(
        st.one_of(
            st.binary(max_size=20),
            st.sampled_from([OK, b"\r\n", b"\n", b"Content-Length: 3", b"Transfer-Encoding: chunked", b"0", b"ff"]),
        ),
        max_size=12,
    ),
    PLACES,
)
def test_bytes_that_are_anything(parts: list[bytes], places: list[int]) -> None:
    """An answer, or broken: nothing else comes out."""
    try:
        read_whole(cut(OK + b"".join(parts), places))
    except HttpBroken:
        pass


async def test_a_chunk_is_there_before_what_follows_it() -> None:
    """Not even its own line end is waited for."""
    async with listening(Server([OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhi"]).serve) as port:
        client = client_of(f"http://127.0.0.1:{port}")
        async with client.answer("GET", f"http://127.0.0.1:{port}/", {}) as answer, aclosing(answer.chunks()) as chunks:
            assert await asyncio.wait_for(anext(chunks), 20) == b"hi"
        await client.close()


async def test_what_is_asked() -> None:
    """The request line, the host, the credentials of the address, and headers that appear once."""
    server = Server([OK + b"Content-Length: 0\r\n\r\n"] * 2)
    async with listening(server.serve) as port:
        url = f"http://us%40er:secret@127.0.0.1:{port}"
        client = client_of(url)
        await asked(client, f"{url}/a path/…?q=ä#fragment", b"{}")
        async with client.answer("GET", url, {"Authorization": "Bearer x"}):
            pass
        await client.close()
    first, *headers = server.heads[0].splitlines()
    assert first == "POST /a%20path/%E2%80%A6?q=%C3%A4 HTTP/1.1"
    assert sorted(filter(None, headers)) == [
        "authorization: Basic dXNAZXI6c2VjcmV0",
        "content-length: 2",
        f"host: 127.0.0.1:{port}",
        "x-own: 1",
    ]
    assert server.heads[1].splitlines()[0] == "GET / HTTP/1.1"
    assert server.heads[1].lower().count("authorization") == 1


@pytest.mark.parametrize(
    ("answer", "connections"),
    [
        (OK + b"Content-Length: 2\r\n\r\nhi", 1),
        (OK + b"Connection: close\r\nContent-Length: 2\r\n\r\nhi", 2),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", 2),
    ],
)
async def test_when_a_connection_serves_again(answer: bytes, connections: int) -> None:
    """Unless the server says otherwise."""
    server = Server([answer] * 2)
    async with listening(server.serve) as port:
        url = f"http://127.0.0.1:{port}"
        client = client_of(url)
        assert [(await asked(client, url))[2] for _ in range(2)] == [b"hi", b"hi"]
        await client.close()
    assert server.connections == connections


async def test_an_idle_connection_expires(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_client, "IDLE_SECONDS", -1)
    server = Server([OK + b"Content-Length: 2\r\n\r\nhi"] * 2)
    async with listening(server.serve) as port:
        url = f"http://127.0.0.1:{port}"
        client = client_of(url)
        assert [(await asked(client, url))[2] for _ in range(2)] == [b"hi", b"hi"]
        await client.close()
    assert server.connections == 2


async def test_an_answer_that_comes_before_the_request_was_read() -> None:
    """A server that refuses at the first look is understood, however long the request."""

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")
        await writer.drain()
        await asyncio.Event().wait()

    async with listening(refuse) as port:
        url = f"http://127.0.0.1:{port}"
        client = client_of(url)
        assert (await asyncio.wait_for(asked(client, url, b"x" * 30_000_000), 20))[0] == 413
        await client.close()


@pytest.mark.parametrize("name", ["a" * 70, "ä" * 70])
async def test_a_name_that_no_host_has(name: str) -> None:
    url = f"http://{name}.example"
    with pytest.raises(HttpUnusable):
        await asked(client_of(url), url)


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1", "http://", "http://[::1", "http://h:0"])
async def test_a_proxy_that_cannot_be_used(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", proxy)
    monkeypatch.delenv("no_proxy", raising=False)
    with pytest.raises(HttpUnusable):
        await asked(client_of("http://models.invalid"), "http://models.invalid/")


async def test_certificates_that_are_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    with pytest.raises(HttpUnusable):
        await asked(client_of("https://127.0.0.1:1"), "https://127.0.0.1:1/")


@pytest.fixture
async def secure(tmp_path: Path) -> tuple[ssl.SSLContext, Path]:
    """For a server, and the certificate to trust it by: it is `safe.test` and 127.0.0.1."""
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=safe.test"]
    command += ["-addext", "subjectAltName=DNS:safe.test,IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    await asyncio.to_thread(subprocess.run, command, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context, certificate


@pytest.mark.needs("openssl")
async def test_https(secure: tuple[ssl.SSLContext, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """The certificate is checked, for its name too; the connection serves again."""
    context, certificate = secure
    server = Server([OK + b"Content-Length: 2\r\n\r\nhi"] * 3)
    async with listening(server.serve, context) as port:
        url = f"https://127.0.0.1:{port}"
        with pytest.raises(HttpUnconnected, match=r"(?i)certificate"):
            await asked(client_of(url), url)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        with pytest.raises(HttpUnconnected, match=r"(?i)certificate|host"):
            await asked(client_of(f"https://localhost:{port}"), f"https://localhost:{port}/")
        client = client_of(url)
        assert [(await asked(client, url))[2] for _ in range(2)] == [b"hi", b"hi"]
        await client.close()
    assert len(server.answers) == 1


class Proxy:
    """Tunnels to a port of this machine, whatever host it is asked for."""

    def __init__(self, port: int, status: int = 200, extra: bytes = b"") -> None:
        self._port = port
        self._status = status
        self._extra = extra  # sent behind the answer
        self.asked: list[str] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.asked.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(b"HTTP/1.1 %d Said\r\nX-Proxy: y\r\n\r\n%s" % (self._status, self._extra))
        there = await asyncio.open_connection("127.0.0.1", self._port)
        await asyncio.gather(self._pass(reader, there[1]), self._pass(there[0], writer))

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                writer.write(data)
        except OSError:
            pass
        finally:
            writer.close()


@pytest.mark.needs("openssl")
@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_tunnel(scheme: str, secure: tuple[ssl.SSLContext, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Through a proxy, which may itself be spoken to over TLS; it gets its own credentials and none of the server's."""
    context, certificate = secure
    server = Server([OK + b"Content-Length: 2\r\n\r\nhi"] * 2)
    async with listening(server.serve, context) as port:
        proxy = Proxy(port)
        async with listening(proxy.serve, context if scheme == "https" else None) as proxy_port:
            monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
            monkeypatch.setenv("https_proxy", f"{scheme}://me:pass@127.0.0.1:{proxy_port}")
            monkeypatch.setenv("no_proxy", "other.test")
            client = client_of("https://safe.test")
            assert [(await asked(client, "https://safe.test/v1"))[2] for _ in range(2)] == [b"hi", b"hi"]
            await client.close()
    (connect,) = proxy.asked
    assert connect.splitlines()[:3] == [
        "CONNECT safe.test:443 HTTP/1.1",
        "host: safe.test:443",
        "proxy-authorization: Basic bWU6cGFzcw==",
    ]
    assert "proxy-authorization" not in server.heads[0]


@pytest.mark.needs("openssl")
async def test_a_proxy_that_refuses_the_tunnel(monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = Proxy(1, status=407)
    async with listening(proxy.serve) as port:
        monkeypatch.setenv("https_proxy", f"127.0.0.1:{port}")
        monkeypatch.delenv("no_proxy", raising=False)
        with pytest.raises(HttpUnconnected, match="407"):
            await asked(client_of("https://safe.test"), "https://safe.test/")


def use_proxy(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    for name in ("http_proxy", "https_proxy"):
        monkeypatch.setenv(name, address)
    monkeypatch.delenv("no_proxy", raising=False)


@pytest.mark.needs("openssl")
@pytest.mark.parametrize("extra", [OK + b"Content-Length: 6\r\n\r\nforged", b"x"])
async def test_bytes_behind_the_answer_to_connect_are_not_the_servers(
    extra: bytes, secure: tuple[ssl.SSLContext, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a proxy sends before the TLS stream never reads as the answer of the https server."""
    context, certificate = secure
    server = Server([OK + b"Content-Length: 7\r\n\r\ngenuine"])
    async with listening(server.serve, context) as port:
        proxy = Proxy(port, extra=extra)
        async with listening(proxy.serve) as proxy_port:
            monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
            use_proxy(monkeypatch, f"http://127.0.0.1:{proxy_port}")
            with pytest.raises(HttpUnconnected, match="proxy"):
                await asked(client_of("https://safe.test"), "https://safe.test/v1")
    assert server.heads == []


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200 OK\r\n", b"H" * 600_000, b"SSH-2.0\r\n"])
async def test_a_proxy_that_breaks_off_at_connect(answer: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """It closes or sends no HTTP: there is no connection, as with any other."""
    async with listening(Server([answer], closes=True).serve) as port:
        use_proxy(monkeypatch, f"http://127.0.0.1:{port}")
        with pytest.raises(HttpUnconnected, match="proxy"):
            await asked(client_of("https://safe.test"), "https://safe.test/")


@pytest.mark.parametrize("mark", ["#", "/", "?", "[", "℀", ""])
@pytest.mark.parametrize("password", ["hunter2secret", "1234"])
async def test_a_proxy_address_is_never_shown(mark: str, password: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A password with a character that ends the host is a mistake, and no part of the address is in its text."""
    use_proxy(monkeypatch, f"http://me:{password}{mark}x@127.0.0.1:{'99999' if not mark else 1}")
    with pytest.raises(HttpUnusable, match=r"^the proxy has no usable address$") as caught:
        await asked(client_of("http://models.invalid"), "http://models.invalid/")
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    "answer",
    [
        OK + b"a:\n" * 80_000 + b"Content-Length: 0\r\n\r\n",
        (b"HTTP/1.1 100 Continue\r\n" + b"a: b\r\n" * 400 + b"\r\n") * 3 + OK + b"Content-Length: 0\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n" + b"a: b\r\n" * 1100 + b"\r\n",
    ],
    ids=["one head", "several heads", "trailers"],
)
async def test_too_many_header_lines(answer: bytes) -> None:
    """They are counted over all heads of an answer, however short they are."""
    with pytest.raises(HttpBroken):
        await answer_to(answer)


async def test_a_header_that_is_repeated_is_one_list() -> None:
    _, headers, _ = await answer_to(OK + b"A: 1\r\na:2\r\nB: x\r\nA: 3\r\nContent-Length: 0\r\n\r\n")
    assert headers == {"a": "1, 2, 3", "b": "x", "content-length": "0"}


async def test_bytes_behind_an_answer_are_not_the_next_answer() -> None:
    """A connection with anything unread is not used again."""
    stale = OK + b"Content-Length: 5\r\n\r\nstale"
    server = Server([OK + b"Content-Length: 3\r\n\r\none" + stale, OK + b"Content-Length: 3\r\n\r\ntwo"])
    async with listening(server.serve) as port:
        url = f"http://127.0.0.1:{port}"
        client = client_of(url)
        assert [(await asked(client, url))[2] for _ in range(2)] == [b"one", b"two"]
        await client.close()
    assert server.connections == 2


async def test_bytes_that_come_while_a_connection_is_idle() -> None:
    """They are looked for again when the connection is taken."""
    answers = [b"one", b"two"]
    idle = asyncio.Event()
    came = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n{}")
        writer.write(OK + b"Content-Length: 3\r\n\r\n" + answers.pop(0))
        await idle.wait()
        writer.write(OK + b"Content-Length: 5\r\n\r\nstale")
        await reader.read()

    def note(reader: asyncio.StreamReader, data: bytes) -> None:
        fed(reader, data)
        if b"stale" in data:
            came.set()

    fed = asyncio.StreamReader.feed_data
    async with listening(serve) as port:
        url = f"http://127.0.0.1:{port}"
        client = client_of(url)
        assert (await asked(client, url))[2] == b"one"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(asyncio.StreamReader, "feed_data", note)
            idle.set()
            await asyncio.wait_for(came.wait(), 20)
        idle.clear()
        assert (await asked(client, url))[2] == b"two"
        await client.close()


@pytest.mark.parametrize(
    "host",
    [
        *("localhost", "localhost.", "box.localhost", "a.b.localhost.", "127.0.0.1", "127.1", "127.9.9.9", "0.0.0.0"),
        *("2130706433", "0x7f000001", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:0:0]", "LOCALHOST"),
    ],
)
async def test_this_machine_is_reached_without_a_proxy(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By whatever name or number."""
    use_proxy(monkeypatch, "http://127.0.0.1:1")
    assert (await client_of(f"http://{host}:8080")._found_way()).proxy is None


@pytest.mark.parametrize(
    "host",
    [
        "127.example.com",
        "localhost.example.com",
        "notlocalhost",
        "10.0.0.1",
        "[::2]",
        "[::ffff:10.0.0.1]",
        "1270",
        "ä.de",
    ],
)
async def test_another_machine_is_reached_through_the_proxy(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    use_proxy(monkeypatch, "http://127.0.0.1:1")
    assert (await client_of(f"http://{host}:8080")._found_way()).proxy is not None


@pytest.mark.parametrize(
    "headers", [{"x\r\ny": "v"}, {"x: y": "v"}, {"": "v"}, {"nön": "v"}, {"x": "…"}, {"x": "a\r\nb: c"}]
)
async def test_headers_that_cannot_be_sent(headers: dict[str, str]) -> None:
    """Nothing is sent of such a request."""
    server = Server([OK + b"Content-Length: 0\r\n\r\n"])
    async with listening(server.serve) as port:
        url = f"http://127.0.0.1:{port}"
        with pytest.raises(HttpUnusable):
            async with client_of(url).answer("GET", url, headers):
                pass
    assert server.connections == 0


@pytest.mark.parametrize("missing", [1, 8, 20])
async def test_gzip_that_ends_early(missing: int) -> None:
    """All of its length has come, but not all of what is in it."""
    packed = gzip.compress(b'{"a":1}' * 1000)[:-missing]
    head = OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed)
    with pytest.raises(HttpBroken):
        await answer_to(head + packed)


@pytest.mark.parametrize("packed", [b"", GZIPPED, GZIPPED + b"\0" * 300_000], ids=["no bytes", "whole", "more"])
async def test_gzip_of_nothing(packed: bytes) -> None:
    """What stands behind its end is passed over."""
    head = OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed)
    assert (await answer_to(head + packed))[2] == b""


async def test_much_that_is_unpacked_from_little_leaves_the_loop_free() -> None:
    """Other tasks run between its pieces, timeouts among them."""

    async def raw() -> AsyncGenerator[bytes, None]:
        yield gzip.compress(b"\n" * (20 * _client._BUFFER))

    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.ensure_future(count())
    pieces = [piece async for piece in _client._unpacked(raw())]
    counting.cancel()
    assert turns >= len(pieces) - 1 >= 19
