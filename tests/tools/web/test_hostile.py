"""Servers and pages that mean harm."""

import asyncio
import gzip
import time
import tracemalloc
import zlib
from pathlib import Path

import pytest

from sightline.tools import ToolContext, ToolError
from sightline.tools.web import _fetch, read_url
from sightline.tools.web._decoding import DecodedBody
from sightline.tools.web._feeds import NotAFeed, feed_text
from tests.tools.support import make_context
from tests.tools.web.server import Server, answer

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n"


async def test_a_body_that_never_ends_is_cut(
    context: ToolContext, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """read.md/Limits & Caps: at 20 MiB (less here), with a note."""
    monkeypatch.setattr(_fetch, "MAX_BYTES", 300_000)

    async def endless(writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD)
        while True:
            writer.write(b"more and more\n" * 1000)
            await writer.drain()

    server.pages["/a"] = endless
    outcome = await read_url(f"{server.url}/a", context)
    assert "only the first 293.0 KB were read" in outcome.text
    assert outcome.details["truncation"]["total_bytes"] == 300_000


async def test_a_small_body_cannot_become_a_huge_one(
    context: ToolContext, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is unpacked is what counts; no more than a megabyte of it at once."""
    monkeypatch.setattr(_fetch, "MAX_BYTES", 2_000_000)
    bomb = gzip.compress(b"a" * 200_000_000, 9)
    server.page("/a", bomb, "text/plain", content_encoding="gzip")
    tracemalloc.start()
    outcome = await read_url(f"{server.url}/a", context)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert outcome.details["truncation"]["total_bytes"] == 2_000_000
    assert most < 40_000_000


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", gzip.compress(b"words", mtime=0)),
        ("x-gzip", gzip.compress(b"wo", mtime=0) + gzip.compress(b"rds", mtime=0) + b"\0\0"),
        ("deflate", zlib.compress(b"words")),
        ("deflate", zlib.compress(b"words")[2:-4]),
        ("identity", b"words"),
        ("", b"words"),
    ],
)
def test_bodies_are_unpacked_however_they_arrive(encoding: str, packed: bytes) -> None:
    """Byte by byte is the same as at once."""
    for step in (1, len(packed)):
        body = DecodedBody(encoding, 100)
        for at in range(0, len(packed), step):
            body.feed(packed[at : at + step])
        assert (bytes(body.data), body.full) == (b"words", False)


@pytest.mark.parametrize(("encoding", "body"), [("br", b"x"), ("gzip", b"no gzip"), ("gzip, gzip", b"x")])
async def test_packing_nobody_asked_for_is_refused(
    context: ToolContext, server: Server, encoding: str, body: bytes
) -> None:
    """In words."""
    server.page("/a", body, "text/plain", content_encoding=encoding)
    with pytest.raises(ToolError, match="compressed"):
        await read_url(f"{server.url}/a", context)


@pytest.mark.parametrize("said", [b"", HEAD, HEAD + b"a bit"])
async def test_a_server_that_dawdles_is_not_waited_for(tmp_path: Path, server: Server, said: bytes) -> None:
    """web.timeout is for the whole page, not for each byte of it."""
    context = make_context(tmp_path, web={"private_hosts": True, "timeout": 0.3})
    over = asyncio.Event()

    async def slow(writer: asyncio.StreamWriter) -> None:
        writer.write(said)
        while not over.is_set():
            if said:
                writer.write(b".")
            await writer.drain()
            await asyncio.sleep(0.02)

    server.pages["/a"] = slow
    started = time.monotonic()
    with pytest.raises(ToolError, match=r"took more than 0\.3 seconds"):
        await read_url(f"{server.url}/a", context)
    over.set()
    assert time.monotonic() - started < 5


async def test_a_read_that_is_cancelled_closes_the_connection(context: ToolContext, server: Server) -> None:
    """And says nothing more."""
    asked, gone = asyncio.Event(), asyncio.Event()

    async def waiting(writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD)
        asked.set()
        try:
            while True:
                writer.write(b".")
                await writer.drain()
                await asyncio.sleep(0.01)
        finally:
            gone.set()

    server.pages["/a"] = waiting
    reading = asyncio.create_task(read_url(f"{server.url}/a", context))
    async with asyncio.timeout(30):
        await asked.wait()
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        await gone.wait()


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"\0\1\2\3",
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/1.1 999\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"x: " + b"a" * 200_000 + b"\r\n\r\n",
        b"HTTP/1.1 302 Found\r\nlocation: \xff\xfe\xfd\r\ncontent-length: 0\r\n\r\n",
        b"HTTP/1.1 302 Found\r\nlocation: http://[\r\ncontent-length: 0\r\n\r\n",
    ],
)
async def test_what_is_no_answer_is_an_error_in_words(context: ToolContext, server: Server, said: bytes) -> None:
    """Or a page that says so."""
    server.pages["/a"] = said
    try:
        method = (await read_url(f"{server.url}/a", context)).details["method"]
    except ToolError:
        return
    assert method == "failed"


async def test_a_type_cannot_write_lines_of_the_header(context: ToolContext, server: Server) -> None:
    """What a server says stays in its place."""
    server.page("/a", "x", "text/plain\x0b" + "y" * 500)
    try:
        outcome = await read_url(f"{server.url}/a", context)
    except ToolError:
        return
    header = outcome.text.partition("\n\n---")[0]
    assert len(header.split("\n")) == 3
    assert len(header) < 300


LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "lol">'
    + "".join(f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in zip("abcdefgh", "bcdefghi", strict=True))
    + "]><rss><channel><title>&i;</title></channel></rss>"
)


@pytest.mark.parametrize(
    "xml",
    [
        pytest.param(LAUGHS, id="entities that grow"),
        pytest.param(
            '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><rss><channel><title>&x;</title></channel></rss>',
            id="a file as an entity",
        ),
        pytest.param('<!DOCTYPE rss SYSTEM "http://127.0.0.1:1/x.dtd"><rss/>', id="a document type elsewhere"),
        pytest.param("<a><b/></a>", id="other XML"),
        pytest.param("not xml", id="no XML"),
        pytest.param("", id="nothing"),
    ],
)
def test_a_feed_with_a_document_type_is_not_parsed(xml: str) -> None:
    """Nothing is resolved, nothing fetched."""
    with pytest.raises(NotAFeed):
        feed_text(xml, "https://x.example/")


async def test_a_feed_that_is_not_parsed_is_shown_as_text(context: ToolContext, server: Server) -> None:
    """With the reason."""
    server.page("/f", LAUGHS, "application/rss+xml")
    outcome = await read_url(f"{server.url}/f", context)
    assert outcome.details["method"] == "text"
    assert "not read as a feed: it declares a document type" in outcome.text
    assert "lollol" not in outcome.text


def test_a_feed_is_bounded() -> None:
    """Depth, items and words."""
    deep = "<rss><channel><title>x</title>" + "<a>" * 100_000 + "</a>" * 100_000 + "</channel></rss>"
    assert feed_text(deep, "https://x.example/").startswith("# x")
    many = "<rss><channel>" + f"<item><title>t</title><description>{'w' * 9000}</description></item>" * 200
    text = feed_text(many + "</channel></rss>", "https://x.example/")
    assert "[100 more items]" in text
    assert len(text) < 100 * 2200


def test_a_broken_feed_is_shown_as_far_as_it_goes() -> None:
    """And it says so."""
    text = feed_text("<rss><channel><item><title>one</title></item><item><tit", "https://x.example/")
    assert "## one" in text
    assert "The feed is broken after this" in text


def test_an_atom_feed_is_read() -> None:
    """Its links are attributes."""
    atom = (
        '<feed xmlns="http://www.w3.org/2005/Atom"><title>F</title><link rel="self" href="https://x.example/f"/>'
        '<link href="https://x.example/"/><entry><title type="html">a &amp;lt; b</title><updated>2026</updated>'
        '<link href="https://x.example/1"/><summary>s</summary></entry></feed>'
    )
    expected = "# F\nhttps://x.example/\n\n## a < b\nhttps://x.example/1\n2026\n\ns"
    assert feed_text(atom, "https://x.example/") == expected


async def test_json_of_any_depth_is_shown(context: ToolContext, server: Server) -> None:
    """As it is, when it cannot be made readable."""
    server.pages["/j"] = answer("[" * 100_000 + "]" * 100_000, "application/json")
    outcome = await read_url(f"{server.url}/j", context)
    assert outcome.details["method"] == "json"
