"""What a page is shown as: the pipeline, its header, its limits, and reading on."""

import asyncio
import struct
import zlib
from pathlib import Path

import pytest

from sightline.tools import Outcome, ToolContext, ToolError
from sightline.tools.files import _documents
from sightline.tools.read import ReadTool
from tests.tools.support import make_context, run
from tests.tools.web.server import Server, answer, lookups

PAGE = "<html><head><title>T</title></head><body><h1>Guide</h1><p>All about it.</p></body></html>"
APP = "<html><head><title>App</title>{head}<script>go()</script></head><body><div id=app></div>{body}</body></html>"
FEED = """<?xml version="1.0"?><rss version="2.0"><channel><title>News</title><link>https://x.example/</link>
<item><title>One</title><link>https://x.example/1</link><pubDate>Mon</pubDate>
<description>&lt;p&gt;First &lt;b&gt;words&lt;/b&gt;&lt;/p&gt;</description></item></channel></rss>"""


async def read(context: ToolContext, path: str) -> Outcome:
    return await run(ReadTool(), context, path=path)


def body_of(outcome: Outcome) -> str:
    return outcome.text.partition("\n\n---\n\n")[2]


@pytest.mark.parametrize(
    ("target", "kind", "body", "method", "expected"),
    [
        pytest.param("/a", "text/html", PAGE, "html", "# Guide\n\nAll about it.", id="read.md/Web URLs/HTML"),
        pytest.param("/a", "", PAGE, "html", "# Guide\n\nAll about it.", id="read.md/Web URLs/HTML that is not named"),
        pytest.param(
            "/a", "application/xhtml+xml", PAGE, "html", "# Guide\n\nAll about it.", id="read.md/Web URLs/XHTML"
        ),
        pytest.param(
            "/a",
            "application/json",
            '{"a":[1,2]}',
            "json",
            '{\n  "a": [\n    1,\n    2\n  ]\n}',
            id="read.md/Web URLs/json",
        ),
        pytest.param("/a", "application/ld+json", '{"a":1}', "json", '{\n  "a": 1\n}', id="read.md/Web URLs/+json"),
        pytest.param("/a", "application/json", '{"a":', "json", '{"a":', id="read.md/Web URLs/broken json"),
        pytest.param("/a.txt", "text/plain", "a\nb\n", "text", "a\nb\n", id="read.md/Web URLs/text"),
        pytest.param("/a", "text/css", "a {}", "text", "a {}", id="read.md/Web URLs/other text"),
        pytest.param("/a.xml", "application/xml", "<a>b</a>", "text", "<a>b</a>", id="read.md/Web URLs/other XML"),
        pytest.param("/a", "text/markdown", "# M", "content-negotiation", "# M", id="read.md/Web URLs/negotiation"),
        pytest.param("/a.md", "text/markdown", "# M", "text", "# M", id="read.md/Web URLs/a markdown file"),
        pytest.param(
            "/a",
            "application/rss+xml",
            FEED,
            "feed",
            "# News\nhttps://x.example/\n\n## One\nhttps://x.example/1\nMon\n\nFirst words",
            id="read.md/Web URLs/feed",
        ),
    ],
)
async def test_an_answer_is_shown_by_its_kind(
    context: ToolContext, server: Server, target: str, kind: str, body: str, method: str, expected: str
) -> None:
    """Under a header that says what won."""
    server.page(target, body, kind)
    outcome = await read(context, server.url + target)
    assert body_of(outcome) == expected
    details = outcome.details
    assert (details["method"], details["kind"]) == (method, "url")
    assert details["url"] == details["final_url"] == server.url + target
    assert details["meta"]["source"] == {"type": "url", "value": server.url + target}
    shown = kind or "unknown"
    assert outcome.text.startswith(f"URL: {server.url}{target}\nContent-Type: {shown}\nMethod: {method}\n\n---\n\n")


async def test_markdown_is_asked_for_first(context: ToolContext, server: Server) -> None:
    """read.md/Web URLs/content negotiation: with the first request, so that it costs none."""
    server.page("/a.txt", "x", "text/plain")
    await read(context, f"{server.url}/a.txt")
    assert "accept: text/markdown, text/html" in server.heads[0].lower()


async def test_a_page_that_names_its_markdown_is_read_as_that(context: ToolContext, server: Server) -> None:
    """read.md/Web URLs/alternate-markdown."""
    link = "<link rel=alternate type=text/markdown href=/m.md>"
    server.page("/a", PAGE.replace("</head>", f"{link}</head>"))
    server.page("/m.md", "# Better\n", "text/markdown")
    outcome = await read(context, f"{server.url}/a")
    assert (outcome.details["method"], body_of(outcome)) == ("alternate-markdown", "# Better")
    assert outcome.details["final_url"] == f"{server.url}/m.md"


async def test_markdown_of_another_host_is_not_fetched(context: ToolContext, server: Server) -> None:
    """The person agreed to this host."""
    link = f"<link rel=alternate type=text/markdown href=http://localhost:{server.port}/m.md>"
    server.page("/a", PAGE.replace("</head>", f"{link}</head>"))
    server.page("/m.md", "# Better\n", "text/markdown")
    assert (await read(context, f"{server.url}/a")).details["method"] == "html"
    assert "/m.md" not in server.asked


async def test_markdown_beside_a_page_is_read(context: ToolContext, server: Server) -> None:
    """read.md/Web URLs/md-suffix."""
    server.page("/docs/a/", PAGE)
    server.page("/docs/a.md", "# Beside", "text/plain")
    outcome = await read(context, f"{server.url}/docs/a/")
    assert (outcome.details["method"], body_of(outcome)) == ("md-suffix", "# Beside")


async def test_a_server_that_answers_everything_with_a_page_is_not_believed(
    context: ToolContext, server: Server
) -> None:
    """That is no markdown, whatever it is called."""
    server.page("/a", PAGE)
    server.page("/a.md", "<!DOCTYPE html><p>Not found", "text/markdown")
    assert (await read(context, f"{server.url}/a")).details["method"] == "html"


@pytest.mark.parametrize(
    ("head", "body", "pages", "method"),
    [
        pytest.param(
            "<link rel=alternate type=application/rss+xml href=/feed>",
            "",
            {"/feed": (FEED, "application/rss+xml"), "/llms.txt": ("# Site", "text/plain")},
            "alternate-feed",
            id="read.md/Web URLs/feed alternates",
        ),
        pytest.param(
            "",
            "<a href=/paper.pdf>it</a>",
            {"/paper.pdf": ("%PDF-1.4 x", "application/pdf")},
            "linked-document",
            id="read.md/Web URLs/extracted linked documents",
        ),
        pytest.param("", "", {"/llms.txt": ("# Site", "text/plain")}, "llms.txt", id="read.md/Web URLs/llms.txt"),
        pytest.param("", "", {}, "html", id="read.md/Web URLs/nothing better"),
    ],
)
async def test_a_page_without_text_has_something_read_instead(
    context: ToolContext, server: Server, head: str, body: str, pages: dict[str, tuple[str, str]], method: str
) -> None:
    """In the order of the document, and noted."""
    server.page("/a", APP.format(head=head, body=body))
    for target, (text, kind) in pages.items():
        server.page(target, text, kind)
    outcome = await read(context, f"{server.url}/a")
    assert outcome.details["method"] == method
    assert "without its scripts" in outcome.text.partition("---")[0]


async def test_a_page_with_nothing_to_show_is_shown_as_it_is(context: ToolContext, server: Server) -> None:
    """read.md/Web URLs/raw-html."""
    server.page("/a", "<html><body><svg>x</svg></body></html>")
    outcome = await read(context, f"{server.url}/a")
    assert outcome.details["method"] == "raw-html"
    assert body_of(outcome) == "<html><body><svg>x</svg></body></html>"


async def test_a_short_page_without_scripts_is_what_it_is(context: ToolContext, server: Server) -> None:
    """Nothing else is asked for but the markdown beside it."""
    server.page("/a", "<p>Hello.</p>")
    assert body_of(await read(context, f"{server.url}/a")) == "Hello."
    assert server.asked == ["/a", "/a.md"]


async def test_raw_is_the_source(context: ToolContext, server: Server) -> None:
    """read.md/Web URLs/:raw: one request, no rendering."""
    server.page("/a", PAGE)
    outcome = await read(context, f"{server.url}/a:raw")
    assert (outcome.details["method"], body_of(outcome)) == ("raw", PAGE)
    assert server.asked == ["/a"]


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503])
async def test_a_failure_is_told_not_raised(context: ToolContext, server: Server, status: int) -> None:
    """read.md/Errors: `failed`, the status, and what the server says; it is not kept."""
    server.pages["/a"] = answer('{"error":"no"}', "application/json", status=status)
    outcome = await read(context, f"{server.url}/a")
    assert outcome.details["method"] == "failed"
    assert f"Notes: HTTP {status}" in outcome.text
    assert '"error": "no"' in body_of(outcome)
    server.page("/a", "better", "text/plain")
    assert "better" in (await read(context, f"{server.url}/a:1")).text


async def test_a_long_page_is_cut_and_kept_whole(context: ToolContext, server: Server) -> None:
    """read.md/Limits & Caps: 300 lines; the rest by line or in the artifact, which have the same lines."""
    server.page("/a.txt", "".join(f"line {number}\n" for number in range(1, 1001)), "text/plain")
    outcome = await read(context, f"{server.url}/a.txt")
    assert "line 300\n" in outcome.text
    assert "line 301\n" not in outcome.text
    truncation = outcome.details["meta"]["truncation"]
    assert (truncation["total_lines"], truncation["next_offset"], truncation["by"]) == (1000, 301, "lines")
    artifact = truncation["artifact_id"]
    assert f"Use {server.url}/a.txt:301 to continue; all of it is in {artifact}]" in outcome.text
    assert (await read(context, f"{artifact}:301-301:raw")).text == "line 301"
    assert (await read(context, f"{server.url}/a.txt:301-301:raw")).text == "line 301"


async def test_a_wide_page_is_cut_by_its_bytes(context: ToolContext, server: Server) -> None:
    """read.md/Limits & Caps: 50 KiB."""
    server.page("/a.txt", ("x" * 1023 + "\n") * 100, "text/plain")
    outcome = await read(context, f"{server.url}/a.txt")
    assert outcome.details["truncation"]["by"] == "bytes"
    assert len(body_of(outcome)) < 51 * 1024
    server.page("/b.txt", "x" * 100_000, "text/plain")
    outcome = await read(context, f"{server.url}/b.txt")
    assert "The line is longer than one read shows" in outcome.text


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        pytest.param(":5", "4:line 4\n5:line 5", id="read.md/Web URLs/:N"),
        pytest.param(":5-6", "4:line 4\n5:line 5\n6:line 6\n7:line 7\n8:line 8\n9:line 9", id="read.md/Web URLs/:A-B"),
        pytest.param(":5+1", "4:line 4\n5:line 5\n6:line 6\n7:line 7\n8:line 8", id="read.md/Web URLs/:A+C"),
        pytest.param(":1-1,20-20:raw", "line 1\n...\nline 20", id="read.md/Web URLs/several"),
        pytest.param(":99", "Line 99 is beyond the end of the page (30 lines)", id="read.md/Errors/beyond the end"),
    ],
)
async def test_lines_come_from_what_was_read(
    context: ToolContext, server: Server, selector: str, expected: str
) -> None:
    """Without fetching it again."""
    server.page("/a.txt", "".join(f"line {number}\n" for number in range(1, 31)), "text/plain")
    raw = ":raw" if selector.endswith(":raw") else ""
    await read(context, f"{server.url}/a.txt{raw}")
    assert (await read(context, f"{server.url}/a.txt{selector}")).text.startswith(expected)
    assert server.asked == ["/a.txt"]


async def test_a_page_is_known_by_both_its_addresses(context: ToolContext, server: Server) -> None:
    """read.md/Notes: requested and final; raw and rendered are two."""
    server.redirect("/a", "/b.txt")
    server.page("/b.txt", "one\ntwo\n", "text/plain")
    await read(context, f"{server.url}/a:1-1")
    await read(context, f"{server.url}/b.txt:1-1")
    await read(context, f"{server.url}/a:2-2")
    assert server.asked == ["/a", "/b.txt"]
    await read(context, f"{server.url}/b.txt:1-1:raw")
    assert server.asked == ["/a", "/b.txt", "/b.txt"]


async def test_a_page_read_from_its_start_is_fetched_again(context: ToolContext, server: Server) -> None:
    """It may have changed; lines after that are of the new one."""
    server.page("/a.txt", "old", "text/plain")
    await read(context, f"{server.url}/a.txt")
    server.page("/a.txt", "new", "text/plain")
    assert "new" in (await read(context, f"{server.url}/a.txt")).text
    assert (await read(context, f"{server.url}/a.txt:1")).text == "1:new"


def png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + b"\x20\x40\x60" * width for _ in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


async def test_an_image_is_shown(context: ToolContext, server: Server) -> None:
    """read.md/Web URLs/image: known by its bytes."""
    server.page("/i", png(3, 2), "application/octet-stream")
    outcome = await read(context, f"{server.url}/i")
    assert (outcome.details["method"], outcome.details["ui"]["kind"]) == ("image", "image")
    (image,) = outcome.images
    assert image.media_type == "image/png"
    assert "[Image: image/png, 3x2]" in outcome.text


async def test_an_image_that_cannot_be_shown_is_told_of(context: ToolContext, server: Server) -> None:
    """read.md/Limits & Caps: broken or too large; no error."""
    server.page("/i", png(3, 2)[:40], "image/png")
    outcome = await read(context, f"{server.url}/i")
    assert outcome.images == ()
    assert "[Image not shown: " in outcome.text


async def test_a_document_that_cannot_be_converted_is_told_of(context: ToolContext, server: Server) -> None:
    """read.md/Web URLs/markit: by its type, its name or its first bytes."""
    for target, kind in (("/a", "application/pdf"), ("/b.docx", "application/octet-stream"), ("/c", "text/plain")):
        server.page(target, "%PDF-1.4 not really" if target == "/c" else "not really", kind)
        outcome = await read(context, server.url + target)
        assert outcome.details["method"] == "markit"
        assert "[Cannot read .docx file: " in outcome.text or "[Cannot read .pdf file: " in outcome.text


async def test_a_document_is_shown_as_text(
    context: ToolContext, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """read.md/Web URLs/markit: through the converter of files, which leaves nothing behind."""
    seen: list[Path] = []

    async def convert(path: Path) -> str:
        seen.append(path)
        return f"{path.suffix}: {await asyncio.to_thread(path.read_text)}"

    monkeypatch.setattr(_documents, "convert", convert)  # the real one is an extra, and tested with files
    server.page("/a", "words", "application/pdf")
    outcome = await read(context, f"{server.url}/a")
    assert (outcome.details["method"], body_of(outcome)) == ("markit", ".pdf: words")
    assert not seen[0].parent.exists()


async def test_other_bytes_are_not_shown(context: ToolContext, server: Server) -> None:
    """Only told of."""
    server.page("/z", b"PK\3\4" + bytes(100), "application/zip")
    outcome = await read(context, f"{server.url}/z")
    assert outcome.details["method"] == "binary"
    assert "[Binary content (104 B) is not shown" in outcome.text


@pytest.mark.parametrize(
    ("kind", "body", "expected"),
    [
        ("text/plain; charset=iso-8859-1", "é €".encode("cp1252"), "é €"),
        ("text/plain; charset=iso-8859-1", "é said to be latin".encode(), "é said to be latin"),
        ("text/plain; charset=utf-8", "café!".encode("latin-1"), "café!"),
        ("text/plain", "naïve café".encode("latin-1"), "naïve café"),
        ("text/plain", "日本語 half".encode() + "é".encode()[:1], "日本語 half\ufffd"),
        ("text/plain", b"plain half" + "é".encode()[:1], "plain half\ufffd"),
        ("text/plain; charset=shift_jis", "日本".encode("shift_jis"), "日本"),
        ("text/plain; charset=iso-2022-jp", "日本".encode("iso2022_jp"), "日本"),
        ("text/plain; charset=utf-16", "wide".encode("utf-16"), "wide"),
        ("text/plain", b"\xef\xbb\xbfmarked", "marked"),
        ("text/plain; charset=punycode", b"abc-def", "abc-def"),
        ("text/plain; charset=zlib", b"abc", "abc"),
        ('text/plain; charset="koi8-r"', "да".encode("koi8-r"), "да"),
        ("text/html", b"<meta charset=windows-1251><p>" + "да".encode("cp1251"), "да"),
    ],
)
async def test_characters_are_those_of_the_page(
    context: ToolContext, server: Server, kind: str, body: bytes, expected: str
) -> None:
    """What it says about them is believed as far as its bytes agree."""
    server.page("/a", body, kind)
    outcome = await read(context, f"{server.url}/a")
    assert body_of(outcome) == expected
    assert ("some bytes are not text" in outcome.text) == ("\ufffd" in expected)


async def test_a_server_that_is_not_there_is_an_error(context: ToolContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the address in it."""
    lookups(monkeypatch, [])
    with pytest.raises(ToolError, match=r"Cannot connect to 127\.0\.0\.1:1"):
        await read(context, "http://127.0.0.1:1/")
    with pytest.raises(ToolError, match="cannot be found"):
        await read(context, "http://nowhere.test/")


async def test_few_pages_are_kept(tmp_path: Path, server: Server) -> None:
    """read.md/Notes: the oldest is fetched again."""
    context = make_context(tmp_path, web={"private_hosts": True})
    for number in range(32):
        server.page(f"/{number}.txt", "x\n", "text/plain")
        await read(context, f"{server.url}/{number}.txt")
    await read(context, f"{server.url}/31.txt:1")
    assert len(server.asked) == 32
    await read(context, f"{server.url}/0.txt:1")
    assert len(server.asked) == 33
