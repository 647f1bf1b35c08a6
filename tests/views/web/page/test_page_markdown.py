"""Words of an agent: markdown as it is written, and nothing in it that could do anything."""

import pytest

from .glass import expect

pytestmark = pytest.mark.asyncio(loop_scope="session")

_DRAWN = [
    (
        "plain *em* **strong** ***both*** ~~gone~~",
        "plain <em>em</em> <strong>strong</strong> <em><strong>both</strong></em> <del>gone</del>",
    ),
    ("snake_case_name and 2 * 3 * 4", "snake_case_name and 2 * 3 * 4"),
    ("`a*b*` and ``c`d``", "<code>a*b*</code> and <code>c`d</code>"),
    ("an *open star, [an open bracket and `a tick", "an *open star, [an open bracket and `a tick"),
    (r"\*not\* \`code\`", "*not* `code`"),
    ("<b>&amp;</b>", "&lt;b&gt;&amp;amp;&lt;/b&gt;"),
]
_BLOCKS = """Title
=====

- one
- two

  more of two
- [x] done
- [ ] open

3. third
4. fourth

> quoted
> - inside

***

~~~text
~~ a fence
~~~
"""
_HOSTILE_LINKS = [
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:x",
    "//poison.invalid/x",
    "file:///etc/passwd",
    "blob:http://x",
    "java\tscript:alert(1)",
    " javascript:alert(1)",
    "/api/sessions",
    "#abcdef",
]


async def _said(server, open_page, text):
    server.session("abcdef")
    await server.say("abcdef", kind="words", text=text)
    page = await open_page("#abcdef")
    words = page.locator(".saying.words .markdown")
    await expect(words).to_be_visible()
    return words


@pytest.mark.parametrize(("source", "drawn"), _DRAWN)
async def test_marks_within_a_line(page_server, open_page, source, drawn):
    """Emphasis, code and escapes are drawn; what is not closed, and HTML, is text."""
    words = await _said(page_server, open_page, source)
    assert await words.evaluate("words => words.firstElementChild.innerHTML") == drawn


async def test_blocks_become_what_they_are(page_server, open_page):
    """Headings, lists with tasks and numbers, quotes, rules and fences."""
    words = await _said(page_server, open_page, _BLOCKS)
    await expect(words.get_by_role("heading", level=3)).to_have_text("Title")
    await expect(words.locator("> ul > li")).to_have_count(4)
    await expect(words.locator("li.task .box")).to_have_text(["☑ ", "☐ "])
    await expect(words.locator("> ol")).to_have_attribute("start", "3")
    await expect(words.locator("blockquote li")).to_have_text("inside")
    await expect(words.locator("hr")).to_have_count(1)
    await expect(words.locator("pre")).to_have_text("~~ a fence")


@pytest.mark.parametrize("address", _HOSTILE_LINKS)
async def test_only_links_to_other_pages_are_links(page_server, open_page, address):
    """Any other address is shown, and does nothing."""
    words = await _said(page_server, open_page, f"[click]({address}) ![image]({address}) <{address}> [x](<{address}>)")
    await expect(words).to_contain_text("click")
    assert await words.locator("a, img, script").count() == 0


async def test_links_lead_away_safely(page_server, open_page):
    """http, https and mailto, in brackets or bare: without an opener, without a referrer."""
    text = "[one](https://a.invalid/x_(y)) <mailto:ada@b.invalid> see https://c.invalid/d, (http://e.invalid)"
    words = await _said(page_server, open_page, text)
    links = words.locator("a")
    hrefs = await links.evaluate_all("all => all.map((a) => a.getAttribute('href'))")
    assert hrefs == ["https://a.invalid/x_(y)", "mailto:ada@b.invalid", "https://c.invalid/d", "http://e.invalid/"]
    rels = await links.evaluate_all("all => all.map((a) => `${a.rel} ${a.target}`)")
    assert set(rels) == {"noopener noreferrer nofollow _blank"}


async def test_text_that_grows_keeps_what_was_drawn(page_server, open_page):
    """Only the last block is made again, so a selection before it survives. In pieces or whole, it is the same."""
    source = f"# Head\n\nfirst *words*\n\n{_BLOCKS}\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\nend **bold** here"
    begun = len("# Head\n\nfirst *words*\n\nTit")
    page_server.session("abcdef")
    await page_server.say("abcdef", kind="words", text=source[:begun])
    page = await open_page("#abcdef")
    words = page.locator(".saying.words .markdown").first
    await expect(words.get_by_text("Tit")).to_be_visible()
    await words.evaluate("words => { window.first = words.children[1]; }")
    entry = page_server.entries["abcdef"][0]
    for end in range(begun, len(source), 7):
        entry["text"] = source[: end + 7]
        page_server._tell_entry("abcdef", 0)
    await expect(words.get_by_text("bold")).to_be_visible()
    assert await words.evaluate("words => words.children[1] === window.first")
    await page_server.say("abcdef", kind="words", text=source)
    whole = page.locator(".saying.words .markdown").nth(1)
    await expect(whole.get_by_text("bold")).to_be_visible()
    assert await words.inner_html() == await whole.inner_html()


_COSTLY = [
    "*a ",
    "**a ",
    "_a",
    "[",
    "![",
    "`",
    "``a`",
    "<",
    "[a](",
    "> ",
    "- ",
    "~~a ",
    "|",
    "*_" * 3,
    "https://",
    "\\",
]


@pytest.mark.parametrize("piece", _COSTLY)
async def test_no_text_takes_long_to_draw(page_server, open_page, piece):
    """Fifty thousand times the same mark, which some parsers need minutes for."""
    text = piece * (50_000 // len(piece)) + "\n\nthe end"
    words = await _said(page_server, open_page, text)
    await expect(words.get_by_text("the end", exact=True)).to_be_visible()
