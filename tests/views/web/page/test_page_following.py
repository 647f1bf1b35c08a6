"""The newest stays in sight until the user scrolls away: whatever opens, loads, grows or shrinks meanwhile."""

import pytest

from .glass import expect

pytestmark = pytest.mark.asyncio(loop_scope="session")

_AT_END = """() => {
    const pane = document.querySelector("#transcript");
    return pane.scrollTop + pane.clientHeight >= pane.scrollHeight - 2;
}"""
_LATEST = "Jump to latest"


def _code(n, lines):
    text = "\n".join(f"x = {line}" for line in range(lines))
    shape = {"kind": "code", "path": "a.py", "first": 1, "text": text, "suffix": f"{lines} lines", "whole": True}
    return {
        "kind": "call", "n": n, "id": f"abcdef-{n}", "agent": "", "name": "Show", "arg": f"file {n}", "command": "",
        "state": "ok", "running": False, "total": 0, "bytes": 0, "kept": 0, "said": "", "note": "", "exit_code": None,
        "elapsed": 0.5, "shape": shape, "own": False,
    }  # fmt: skip


async def _long(server, open_page, **options):
    server.session("abcdef", title="long", agent=True)
    for n in range(60):
        await server.say("abcdef", kind="words", text=f"words {n}")
    await server.know("abcdef")
    page = await open_page("#abcdef", **options)
    await expect(page.get_by_text("words 59")).to_be_in_viewport()
    await page.wait_for_function(_AT_END)
    return page


async def _scroll_up(page):
    await page.locator("#transcript").hover()
    await page.mouse.wheel(0, -1500)
    await expect(page.get_by_role("button", name=_LATEST)).to_be_visible()


async def test_what_is_sent_is_seen_though_the_user_had_scrolled_up(page_server, open_page):
    """Sending goes to the newest, and follows it."""
    page = await _long(page_server, open_page)
    await _scroll_up(page)
    await expect(page.get_by_text("words 59")).not_to_be_in_viewport()
    prompt = page.get_by_role("textbox", name="Prompt")
    await prompt.fill("my prompt")
    await prompt.press("Enter")
    await expect(prompt).to_have_value("")
    await page_server.say("abcdef", kind="message", text="my prompt", how="prompt")
    await expect(page.locator(".saying.message")).to_be_in_viewport(ratio=1)
    await page_server.say("abcdef", kind="words", text="line\n\n" * 60 + "the answer")
    await expect(page.get_by_text("the answer")).to_be_in_viewport()
    await expect(page.get_by_role("button", name=_LATEST)).to_be_hidden()


async def test_a_button_leads_to_the_latest_and_counts_what_is_new(page_server, open_page):
    """It is there while the user reads further up, and only then; what comes does not move what is read."""
    page = await _long(page_server, open_page)
    latest = page.get_by_role("button", name=_LATEST)
    await expect(latest).to_be_hidden()
    await _scroll_up(page)
    await expect(latest).to_have_text("↓ Jump to latest")
    before = await page.locator("#transcript").evaluate("(pane) => pane.scrollTop")
    for n in (60, 61):
        await page_server.say("abcdef", kind="words", text=f"words {n}")
    await expect(latest).to_have_text("↓ Jump to latest (2 new)")
    assert await page.locator("#transcript").evaluate("(pane) => pane.scrollTop") == before
    await latest.click()
    await expect(page.get_by_text("words 61")).to_be_in_viewport()
    await expect(latest).to_be_hidden()
    await expect(page.locator("#transcript")).to_be_focused()


async def test_a_card_that_is_opened_does_not_end_following(page_server, open_page):
    """What comes afterwards is in sight; and what was opened is, as long as it fits."""
    page = await _long(page_server, open_page)
    page_server.entries["abcdef"].append(_code(60, 10))
    page_server._tell_entry("abcdef", 60)
    block = page.get_by_role("article", name="Show file 60")
    await expect(block).to_be_in_viewport()
    await block.get_by_role("button", name="Unfold").click()
    await expect(block.locator(".code-line")).to_have_count(10)
    await page_server.say("abcdef", kind="words", text="what came then")
    await expect(page.get_by_text("what came then")).to_be_in_viewport(ratio=1)
    await page.wait_for_function(_AT_END)
    await expect(page.get_by_role("button", name=_LATEST)).to_be_hidden()


async def test_a_card_longer_than_the_page_is_read_from_its_beginning(page_server, open_page):
    """Opening it is to read it: its head stays, and the way to the latest is offered."""
    page = await _long(page_server, open_page)
    page_server.entries["abcdef"].append(_code(60, 40))
    page_server._tell_entry("abcdef", 60)
    block = page.get_by_role("article", name="Show file 60")
    await block.get_by_role("button", name="Unfold").click()
    await expect(block.locator(".code-line").first).to_be_in_viewport()
    await expect(page.get_by_role("button", name=_LATEST)).to_be_visible()


async def test_the_pane_that_gets_lower_keeps_the_newest_in_sight(page_server, open_page):
    """A card to answer, then a long prompt, take of its height; an image that loads adds to what is in it."""
    page = await _long(page_server, open_page)
    asked = {"id": "request-1", "what": "question", "text": "Which?", "details": {"choices": [{"label": "red"}]}}
    await page_server.know("abcdef", running=True, requests=[asked])
    await expect(page.locator(".card")).to_be_visible()
    await page.wait_for_function(_AT_END)
    await page.get_by_role("textbox", name="Prompt").fill("a\n" * 12)
    await page.wait_for_function(_AT_END)
    grow = "(words) => { words.style.minHeight = '500px'; }"  # as an image does when it has come
    await page.locator(".saying").last.evaluate(grow)
    await page.wait_for_function(_AT_END)
    shrink = """(words) => {
        words.style.minHeight = '';
        words.getBoundingClientRect(); // the browser moves what is shown, as it does when something is measured
        words.style.minHeight = '900px';
    }"""
    await page.locator(".saying").last.evaluate(shrink)
    await page.wait_for_function(_AT_END)
    await page_server.say("abcdef", kind="words", text="and more")
    await expect(page.get_by_text("and more")).to_be_in_viewport(ratio=1)
    await expect(page.get_by_role("button", name=_LATEST)).to_be_hidden()


async def test_output_that_grows_is_followed_to_the_end_of_the_page(page_server, open_page):
    """A running command gets more rows, a row at a time, and its end stays in sight."""
    page = await _long(page_server, open_page)
    job = await page_server.start("make", "abcdef")
    for n in range(30):
        await page_server.write(job, f"row {n}\n")
    await expect(page.locator(".row").get_by_text("row 29", exact=True)).to_be_in_viewport()
    await page.wait_for_function(_AT_END)


async def test_scrolling_up_while_something_grows_is_not_undone(page_server, open_page):
    """The user's hand wins over what comes, also when both happen at once."""
    page = await _long(page_server, open_page)
    await page.locator("#transcript").hover()
    for n in range(20):
        await page.mouse.wheel(0, -120)
        await page_server.say("abcdef", kind="words", text=f"meanwhile {n}")
    await expect(page.get_by_text("meanwhile 19")).to_be_attached()
    await expect(page.get_by_role("button", name=_LATEST)).to_be_visible()
    await expect(page.get_by_text("meanwhile 19")).not_to_be_in_viewport()
    await page.keyboard.press("End")
    await page.locator("#transcript").press("End")
    await expect(page.get_by_text("meanwhile 19")).to_be_in_viewport()
    await expect(page.get_by_role("button", name=_LATEST)).to_be_hidden()
