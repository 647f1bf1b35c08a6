"""By keyboard alone, checked by axe-core, and recorded streams beside what runs."""

import asyncio

import pytest

from ..page.axe import violations
from ..page.glass import block_of, expect, moves_to
from .conftest import eventually, session_of, waits

pytestmark = pytest.mark.asyncio(loop_scope="session")


def _states(machine):
    return {session["state"] for session in machine.served.get("/api/sessions").json()["sessions"]}


async def test_everything_is_done_by_keyboard(machine, open_page):
    """Choose a session, search, go to a row, fold, start a command and cancel it, without a pointer."""
    older = await machine.run("sh", "-c", "seq 1 300; exit 1")
    await machine.run("echo", "newer")
    await eventually(lambda: _states(machine) == {"ended"})  # a session that runs has a menu, to which Tab would go
    page = await open_page()
    await expect(block_of(page, "echo newer")).to_be_visible()
    await page.keyboard.press("s")
    await expect(page.locator(".sessions [aria-current]")).to_be_focused()
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    block = page.get_by_role("article").filter(has_text="seq 1 300")
    await moves_to(block, 300)
    assert page.url.endswith(f"#{session_of(older)}")
    await page.keyboard.press("/")
    await page.keyboard.type("123")
    await expect(block.locator(".matches")).to_have_text("1 of 1")
    await moves_to(block, 123)
    await page.keyboard.press("Escape")
    await expect(block.locator(".screen")).to_be_focused()
    await page.keyboard.press("Home")
    await moves_to(block, 1)
    await page.keyboard.press("o")
    await expect(block.locator(".screen")).to_be_hidden()
    await page.keyboard.press("o")
    await expect(block.locator(".screen")).to_be_visible()
    await page.keyboard.press("n")
    await page.keyboard.type("echo working; sleep 1000")
    await page.keyboard.press("Enter")
    started = page.get_by_role("article").filter(has_text="echo working")
    await expect(started.locator(".row")).to_have_text(["working"])
    await expect(started.get_by_role("button", name="Fold")).to_be_focused()
    await page.keyboard.press("Tab")
    await expect(started.get_by_role("button", name="Cancel")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(started.locator(".state")).to_have_text("cancelled")
    await expect(started.locator(".row")).to_have_text(["working"])


@pytest.mark.parametrize("recordings", [["delegation", "tool_error", "reasoning"]])
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_no_violation_on_the_real_page(machine, open_page, scheme):
    """Running, failed, finished, cancelled and recorded sessions, in light and dark."""
    colours = "".join(f"\\033[{code}mwords\\033[0m " for code in (31, 32, 33, 34, 35, 36, 90, 97, 41, 44, 103))
    running = await machine.start("sh", "-c", f"printf '{colours}\\n'; echo oops >&2; {waits()}")
    session = session_of(running)
    await machine.run("sh", "-c", "echo no; exit 2", session=session)
    await machine.run("seq", "1", "40", session=session)
    cancelled = await machine.start("sleep", "1000", session=session)
    await machine.sightline("cancel", cancelled)
    await asyncio.to_thread(machine.served.ended, cancelled)
    page = await open_page(f"#{session}", color_scheme=scheme)
    await expect(page.locator(".block .state")).to_have_text(["running", "failed", "ok", "cancelled"])
    await expect(page.locator(".block").first.locator(".row")).to_have_count(2)
    assert await violations(page) == []
    for name in ("delegation.jsonl", "tool_error.jsonl", "reasoning.jsonl"):
        await page.get_by_role("navigation").get_by_role("link", name=name).click()
        await expect(page.locator("#session-title")).to_have_text(name)
        await expect(page.locator(".block").first).to_be_visible()
        assert await violations(page) == []


@pytest.mark.parametrize("recordings", [["bash_tool", "delegation", "killed"]])
async def test_recorded_provider_streams_are_shown(machine, open_page):
    """Words, calls with their output, what was delegated and what was cut off, read-only."""
    page = await open_page("#r1")
    links = page.locator("#sessions").get_by_role("link")
    await expect(links).to_have_count(3)
    await expect(links.first).to_contain_text("recording")
    block = page.get_by_role("article")
    await block.locator(".fold").click()
    await expect(block.locator(".row")).to_have_text(["to-stdout", "to-stderr"])
    await expect(page.get_by_text("The check wrote one line to each stream and succeeded.")).to_be_visible()
    await expect(page.get_by_role("button", name="Cancel")).to_be_hidden()
    await links.filter(has_text="delegation.jsonl").click()
    await page.locator("#entries > .block .fold").first.click()
    await expect(page.get_by_text("Helper A reports: data.csv has 3 rows and a header.")).to_be_visible()
    await expect(page.get_by_text("I'll hand this to two helpers.")).to_be_visible()
    await links.filter(has_text="killed.jsonl").click()
    await expect(block.locator(".state")).to_have_text(["lost"])
