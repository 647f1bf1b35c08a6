"""Nothing a command prints can do anything in the browser; each is text and nothing else.

Dialogs, popups, console errors and requests to other servers fail every test here, by the fixture that opens pages.
"""

import pytest

from tests.text.escape_attacks import ATTACKS, POISON

from ..page.glass import expect, moves_to
from .conftest import session_of, waits

pytestmark = pytest.mark.asyncio(loop_scope="session")

# Whatever becomes an element outside the block, or an element in it that output has no business to be, is written down.
_WATCH_ELEMENTS = """() => {
    window.added = [];
    const plain = new Set(['DIV', 'SPAN']);
    new MutationObserver((changes) => {
        for (const { target, addedNodes } of changes) for (const node of addedNodes) {
            if (node.nodeType !== Node.ELEMENT_NODE) continue;
            const inRows = target.closest?.('.block .lines');
            const odd = [node, ...node.querySelectorAll('*')].some((element) => !plain.has(element.tagName));
            if (!inRows || odd) window.added.push(`${target.nodeName}: ${node.outerHTML.slice(0, 200)}`);
        }
    }).observe(document, { childList: true, subtree: true });
}"""

# Draws every row once and gives the text of all of them.
_DRAW_ALL = """async (block) => {
    const { rows, store } = block.block, texts = [];
    const numberOf = (row) => Number(row.dataset.n.replaceAll(',', ''));
    for (let from = 0; from < store.total; from += Math.floor(rows.visible)) {
        rows.goTo(from, { centre: false });
        const last = Math.min(from + Math.floor(rows.visible), store.total);
        let now = [];
        while (now.length < last - from) {
            await new Promise(requestAnimationFrame);
            now = [...block.querySelectorAll('.row:not(.waiting)')]
                .filter((row) => numberOf(row) > from && numberOf(row) <= last);
        }
        texts.push(...now.map((row) => row.textContent));
    }
    return texts;
}"""


async def test_escape_attacks_do_nothing(machine, open_page):
    """The whole corpus in one output: title, clipboard, links and page are as before, and what is harmless is shown."""
    plain = b"first some plain lines\n" * 500  # or it would be taken for binary, and not be drawn at all
    # What scrolls takes the rows of a screen away, so there are others before it; a scroll region holds for all that
    # follows, so it comes last. Both as in a terminal.
    attacks = sorted(ATTACKS, key=lambda attack: "scroll_region" in attack[0])
    screen = {name: b"of no importance\n" * 24 for name, _ in attacks if "scroll" in name}
    written = b"".join(screen.get(name, b"") + data + b"\x1b[0m\n" for name, data in attacks)
    (machine.folder / "attacks").write_bytes(plain + written)
    job = await machine.start("sh", "-c", f"echo begin; {waits()}; cat attacks; exit 3")
    permissions = ["clipboard-read", "clipboard-write"]
    page = await open_page(f"#{session_of(job)}", permissions=permissions, viewport={"width": 1200, "height": 4000})
    block = page.get_by_role("article")
    await expect(block.locator(".row")).to_have_text(["begin"])
    await page.evaluate("navigator.clipboard.writeText('untouched')")
    await page.evaluate(_WATCH_ELEMENTS)
    machine.go()
    await expect(block.locator(".state")).to_have_text("failed")
    await page.wait_for_function("() => document.querySelector('article').block.store.total > 500")  # counting
    await moves_to(block, await block.evaluate("block => block.block.store.total"))
    texts = await block.evaluate(_DRAW_ALL)
    assert texts[0] == "begin"
    assert texts[1:501] == ["first some plain lines"] * 500
    # Some erase rows before them, write over them or open another screen, as they would in a terminal.
    assert sum(text.endswith("SAFE") for text in texts) >= 0.95 * len(ATTACKS)
    assert not any("\x1b" in text or "\x07" in text or "\x9d" in text for text in texts)
    assert await page.evaluate("window.added") == []
    assert await page.title() == "Sightline"
    assert await page.evaluate("navigator.clipboard.readText()") == "untouched"
    links = await page.locator("a").evaluate_all("all => all.map((a) => a.getAttribute('href'))")
    assert set(links) == {"#transcript", "#new", f"#{session_of(job)}"}
    assert POISON not in await page.locator("body").evaluate("body => document.title + location.href")


_MARKUP = [
    "<img src=//poison.invalid/x onerror=alert(1)>",
    "<script>alert(1)</script>",
    "</div></article><h1>owned</h1><base href=//poison.invalid/>",
    "<svg onload=alert(1)><a href=javascript:alert(1)>x</a></svg>",
    "{{constructor.constructor(`alert(1)`)()}} ${alert(1)}",
]


async def test_markup_is_inert(machine, open_page):
    """In a command and in its output it is letters: no element, no script, no request."""
    job = await machine.run("printf", "%s\\n", *_MARKUP)
    page = await open_page(f"#{session_of(job)}")
    await expect(page.locator(".row")).to_have_text(_MARKUP)
    for hostile in _MARKUP:
        await expect(page.locator(".command")).to_contain_text(hostile)
    assert await page.locator("body :is(img, script, svg, base), main h1, main a").count() == 0
    assert await page.title() == "Sightline"
