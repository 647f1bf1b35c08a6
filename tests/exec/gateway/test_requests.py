"""What clients of the proxy may say, and that nothing they say is read in two ways."""

import asyncio
import contextlib
import ipaddress
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.exec.gateway._requests import (
    BadRequest,
    ConnectionRequest,
    canonical_host,
    denied,
    granted,
    http_request,
    read_body,
    read_request,
    split_authority,
)

EXPECTED = (BadRequest, asyncio.IncompleteReadError, asyncio.LimitOverrunError)


def fed(data: bytes) -> asyncio.StreamReader:
    reader = asyncio.StreamReader(limit=32 * 1024)
    reader.feed_data(data)
    reader.feed_eof()
    return reader


def asked_by(data: bytes) -> tuple[ConnectionRequest | None, bytes]:
    """What these bytes ask for, and what was answered before."""
    answers = bytearray()

    async def read() -> ConnectionRequest | None:
        return await read_request(fed(data), answers.extend)

    return asyncio.run(read()), bytes(answers)


def body_of(data: bytes, asked: ConnectionRequest) -> bytes:
    async def read() -> bytes:
        return b"".join([piece async for piece in read_body(fed(data), asked)])

    return asyncio.run(read())


def head(*lines: str) -> bytes:
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def test_connect_names_a_host_and_a_port() -> None:
    """In lower case, without the last dot."""
    asked, _ = asked_by(head("CONNECT Docs.Python.org.:443 HTTP/1.1", "Host: elsewhere", "Proxy-Authorization: x"))
    assert asked == ConnectionRequest(protocol="connect", host="docs.python.org", port=443)


def test_plain_http_is_rewritten_for_the_server() -> None:
    """Origin form, the host that was asked for whatever `Host` says, one request, and nothing that is for the proxy."""
    asked, _ = asked_by(
        head(
            "GET http://Example.org/a?b=http://c HTTP/1.1",
            "Host: internal",
            "host: other",
            "Proxy-Authorization: Basic c2VjcmV0",
            "Connection: keep-alive, X-Hop",
            "X-Hop: 1",
            "Upgrade: websocket",
            "Accept: */*",
        )
    )
    assert asked is not None
    assert (asked.host, asked.port, asked.body) == ("example.org", 80, 0)
    assert asked.head == head("GET /a?b=http://c HTTP/1.1", "host: example.org", "connection: close", "accept: */*")


def test_a_port_is_part_of_the_host_field() -> None:
    """As a server expects it."""
    assert b"host: [2001:db8::1]:8080\r\n" in http_request(head("GET http://[2001:db8::1]:8080/ HTTP/1.0")).head


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(["GET / HTTP/1.1", "Host: example.org"], id="for a server, not a proxy"),
        pytest.param(["GET https://example.org/ HTTP/1.1"], id="a scheme we do not speak"),
        pytest.param(["GET http://user:word@example.org/ HTTP/1.1"], id="credentials"),
        pytest.param(["GET http://a@b@c/ HTTP/1.1"], id="two hosts"),
        pytest.param(["GET http://example.org\\@evil.org/ HTTP/1.1"], id="a backslash"),
        pytest.param(["GET http://exa%6dple.org/ HTTP/1.1"], id="an escape in the name"),
        pytest.param(["GET http://example.org:0/ HTTP/1.1"], id="port 0"),
        pytest.param(["GET http://example.org:99999/ HTTP/1.1"], id="port 99999"),
        pytest.param(["CONNECT example.org HTTP/1.1"], id="no port"),
        pytest.param(["CONNECT :443 HTTP/1.1"], id="no host"),
        pytest.param(["CONNECT a b:443 HTTP/1.1"], id="a blank"),
        pytest.param(["CONNECT fe80::1%eth0:443 HTTP/1.1"], id="a zone"),
        pytest.param(["CONNECT example.org:443 HTTP/2"], id="another version"),
        pytest.param(["POST http://a/ HTTP/1.1", "Content-Length: 1", "Content-Length: 1"], id="two lengths"),
        pytest.param(["POST http://a/ HTTP/1.1", "Content-Length: 1, 1"], id="a list of lengths"),
        pytest.param(["POST http://a/ HTTP/1.1", "Content-Length: -1"], id="a negative length"),
        pytest.param(["POST http://a/ HTTP/1.1", "Content-Length: +1"], id="a length with a sign"),
        pytest.param(
            ["POST http://a/ HTTP/1.1", "Content-Length: 1", "Transfer-Encoding: chunked"], id="length and chunks"
        ),
        pytest.param(["POST http://a/ HTTP/1.1", "Transfer-Encoding: gzip, chunked"], id="codings"),
        pytest.param(["POST http://a/ HTTP/1.1", "Transfer-Encoding: xchunked"], id="an unknown coding"),
        pytest.param(["POST http://a/ HTTP/1.1", "Transfer-Encoding : chunked"], id="a blank before the colon"),
        pytest.param(["GET http://a/ HTTP/1.1", "X: 1", " folded"], id="a folded header"),
        pytest.param(["GET http://a/ HTTP/1.1", "X: a\nHost: b"], id="a bare line feed"),
        pytest.param(["GET http://a/ HTTP/1.1", "X: a\rHost: b"], id="a bare carriage return"),
        pytest.param(["GET http://a/ HTTP/1.1", "X: \0"], id="a zero byte"),
        pytest.param(["GET http://a/ HTTP/1.1", *["X: 1"] * 300], id="too many headers"),
    ],
)
def test_what_could_be_read_in_two_ways_is_refused(lines: list[str]) -> None:
    """Never guessed."""
    with pytest.raises(BadRequest):
        asked_by(head(*lines))


def test_a_head_without_end_is_refused() -> None:
    """At its limit, not at the end of memory."""
    with pytest.raises(BadRequest, match="too long"):
        asked_by(b"GET http://a/ HTTP/1.1\r\nX: " + b"a" * 100_000)


@pytest.mark.parametrize(
    ("written", "host"),
    [
        ("127.1", "127.0.0.1"),
        ("0x7f000001", "127.0.0.1"),
        ("2130706433", "127.0.0.1"),
        ("0177.0.0.1", "127.0.0.1"),
        ("127.0.0.1.", "127.0.0.1"),
        ("[::1]", "::1"),
        ("[::ffff:7f00:1]", "127.0.0.1"),
        ("[0:0:0:0:0:0:0:1]", "::1"),
        ("LOCALHOST", "localhost"),
        ("münchen.de", "xn--mnchen-3ya.de"),
        ("a_b.example", "a_b.example"),
        ("1e100.net", "1e100.net"),
        ("face.cafe", "face.cafe"),
    ],
)
def test_a_host_has_one_form(written: str, host: str) -> None:
    """Addresses in every spelling the system's resolver takes are the address."""
    assert canonical_host(written) == host


@pytest.mark.parametrize("written", ["", ".", "a..b", "-a.b", "a b", "1.2.3.4.5", "0x", "a/b", "a:b", "[a]", "é" * 300])
def test_what_is_no_host_is_refused(written: str) -> None:
    """Before any rule or name server sees it."""
    with pytest.raises(BadRequest):
        canonical_host(written)


def socks5(host: bytes, kind: int = 3, port: int = 443, methods: bytes = b"\0", command: int = 1) -> bytes:
    address = bytes([len(host)]) + host if kind == 3 else host
    return b"\x05" + bytes([len(methods)]) + methods + bytes([5, command, 0, kind]) + address + port.to_bytes(2)


def test_socks_5_names_a_host() -> None:
    """By name or by address, with or without a password."""
    assert asked_by(socks5(b"Example.org")) == (
        ConnectionRequest(protocol="socks5", host="example.org", port=443),
        b"\x05\x00",
    )
    asked, _ = asked_by(socks5(bytes([127, 0, 0, 1]), kind=1, port=80))
    assert asked == ConnectionRequest(protocol="socks5", host="127.0.0.1", port=80)
    asked, _ = asked_by(socks5(ipaddress.IPv6Address("::ffff:10.0.0.1").packed, kind=4))
    assert asked is not None
    assert asked.host == "10.0.0.1"
    signed = b"\x05\x01\x02\x01\x01u\x01p" + bytes([5, 1, 0, 3, 1]) + b"a" + bytes([0, 80])
    assert asked_by(signed) == (ConnectionRequest(protocol="socks5", host="a", port=80), b"\x05\x02\x01\x00")


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(socks5(b"a", command=2), id="BIND"),
        pytest.param(socks5(b"a", command=3), id="UDP"),
        pytest.param(socks5(b"a", kind=9), id="an unknown kind of address"),
        pytest.param(socks5(b"a", port=0), id="port 0"),
        pytest.param(socks5(b"a\0b"), id="a zero byte in the name"),
        pytest.param(socks5(b"a", methods=b"\x01"), id="no way to sign in"),
        pytest.param(b"\x04\x02\0\x50\x01\x02\x03\x04\0", id="BIND of SOCKS 4"),
        pytest.param(b"\x04\x01\0\x50\0\0\0\x01" + b"u" * 300, id="a user name without end"),
    ],
)
def test_socks_connects_and_does_nothing_else(data: bytes) -> None:
    """And the refusal is in its own language."""
    with pytest.raises(BadRequest) as refused:
        asked_by(data)
    assert refused.value.protocol == ("socks5" if data[0] == 5 else "socks4")


def test_socks_4a_names_a_host() -> None:
    """Behind an address that cannot be."""
    asked, _ = asked_by(b"\x04\x01\x01\xbb\0\0\0\x01user\0Example.org\0")
    assert asked == ConnectionRequest(protocol="socks4", host="example.org", port=443)
    asked, _ = asked_by(b"\x04\x01\0\x50\x7f\0\0\x01\0")
    assert asked == ConnectionRequest(protocol="socks4", host="127.0.0.1", port=80)


def test_a_body_ends_where_it_says() -> None:
    """What follows it, another request perhaps, is not forwarded."""
    asked = http_request(head("POST http://a/ HTTP/1.1", "Content-Length: 3"))
    assert body_of(b"abcGET / HTTP/1.1\r\nHost: internal\r\n\r\n", asked) == b"abc"
    chunked = http_request(head("POST http://a/ HTTP/1.1", "Transfer-Encoding: chunked"))
    written = b"3;x=y\r\nabc\r\n0\r\nTrailer: 1\r\n\r\nGET / HTTP/1.1\r\n\r\n"
    assert body_of(written, chunked) == b"3\r\nabc\r\n0\r\n\r\n"


@pytest.mark.parametrize("body", [b"x\r\n", b"3\r\nabcd\r\n", b"-1\r\n", b"fffffffff\r\n", b"3\nabc\n0\n\n", b""])
def test_a_body_whose_end_is_not_clear_is_not_forwarded_further(body: bytes) -> None:
    """Chunks that are none end the request."""
    chunked = http_request(head("POST http://a/ HTTP/1.1", "Transfer-Encoding: chunked"))
    with pytest.raises(EXPECTED):
        body_of(body, chunked)


request_like = st.one_of(
    st.binary(max_size=400),
    st.builds(
        lambda first, rest: first + rest, st.sampled_from([b"\x05", b"\x04", b"\x05\x01\x00\x05\x01\x00"]), st.binary()
    ),
    st.builds(
        lambda method, target, fields: f"{method} {target} HTTP/1.1\r\n{fields}\r\n\r\n".encode(),
        st.sampled_from(["GET", "POST", "CONNECT", "get", ""]),
        st.one_of(
            st.text(max_size=60), st.from_regex(r"(http://)?[a-z0-9.\[\]:@%\\-]{0,30}(:[0-9]{0,6})?[/?#]?.{0,10}")
        ),
        st.text(max_size=80),
    ),
)


@given(request_like)
def test_no_bytes_raise_anything_else(data: bytes) -> None:
    """A request or a refusal; and a request always has a host in its one form, and a port."""
    with contextlib.suppress(*EXPECTED):
        asked, _ = asked_by(data)
        if asked is not None:
            assert canonical_host(asked.host) == asked.host
            assert 0 < asked.port < 65536
            assert asked.host.isascii()
            if asked.protocol == "http":
                lines = asked.head.split(b"\r\n")
                assert sum(line.lower().startswith(b"host:") for line in lines) == 1
                assert asked.head.count(b"\r\n\r\n") == 1
                assert re.fullmatch(rb"[A-Z][A-Z0-9_-]* /[\x21-\x7e]* HTTP/1\.1", lines[0])
                assert asked.body >= -1


@given(st.binary(max_size=300), st.sampled_from(["Content-Length: 5", "Transfer-Encoding: chunked"]))
def test_no_body_raises_anything_else(data: bytes, field: str) -> None:
    """And of one with a length no byte more is forwarded."""
    asked = http_request(head("POST http://a/ HTTP/1.1", field))
    with contextlib.suppress(*EXPECTED):
        forwarded = body_of(data, asked)
        assert forwarded == data[:5] if asked.body == 5 else forwarded.endswith(b"0\r\n\r\n")


@given(st.text(max_size=80))
def test_a_host_is_stable(written: str) -> None:
    """Its one form is that of itself."""
    with contextlib.suppress(BadRequest):
        host = canonical_host(written)
        assert canonical_host(host) == host
    with contextlib.suppress(BadRequest):
        host, port = split_authority(written)
        assert 0 < port < 65536


def test_every_answer_is_in_the_language_of_the_question() -> None:
    """For each protocol a yes and each kind of no."""
    assert granted(ConnectionRequest(protocol="connect", host="a", port=1)).startswith(b"HTTP/1.1 200 ")
    assert granted(ConnectionRequest(protocol="http", host="a", port=1)) == b""
    assert granted(ConnectionRequest(protocol="socks5", host="a", port=1))[:2] == b"\x05\x00"
    assert granted(ConnectionRequest(protocol="socks4", host="a", port=1))[:2] == b"\x00\x5a"
    assert denied("connect", "refused", "no rule").startswith(b"HTTP/1.1 403 ")
    assert denied("http", "unreachable", "no route").endswith(b"sightline: no route\n")
    assert denied("socks5", "refused", "")[:2] == b"\x05\x02"
    assert denied("socks4", "bad", "")[:2] == b"\x00\x5b"
