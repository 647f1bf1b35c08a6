"""Outputs of any size, as the real server counts them: few elements, any row at hand, a page that goes on reacting."""

import asyncio
import re

import pytest

from ..page.glass import block_of, expect, moves_to
from .conftest import session_of

pytestmark = pytest.mark.asyncio(loop_scope="session")

_DOM_ROWS = 500
_MILLION = 1_000_000
# As fast as it is read, and not for ever: on a busy machine it would fill gigabytes that are counted afterwards.
_FLOOD = "for _ in $(seq 100); do yes | head -c 4000000; sleep 0.02; done; exec sleep 600"
_WATCH_TASKS = """
    window.longest = 0;
    new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) window.longest = Math.max(window.longest, entry.duration);
    }).observe({ type: 'longtask' });
"""


async def test_a_million_lines_with_few_elements_and_any_line_at_hand(machine, open_page):
    """Performance considerations 2 and 3. Wherever one goes the line has its text; at most 500 rows are elements."""
    job = await machine.run("seq", "1", str(_MILLION))
    page = await open_page(f"#{session_of(job)}")
    block = block_of(page, f"seq 1 {_MILLION}")
    await expect(block.locator(".facts")).to_contain_text("1,000,000 rows")
    await block.get_by_role("button", name="Unfold").click()
    screen = block.locator(".screen")
    for keys, number in [("Home", 1), ("End", _MILLION), ("500000", 500_000), ("123456", 123_456), ("Home", 1)]:
        if keys.isdigit():
            await screen.press("g")
            await page.keyboard.type(keys)
            await page.keyboard.press("Enter")
        else:
            await screen.press(keys)
        await moves_to(block, number)
        await expect(block.locator(f'.row[data-n="{number:,}"]')).to_have_text(str(number))
        drawn = await block.locator(".row:not(.waiting)").evaluate_all(
            "r => r.map((e) => [e.dataset.n, e.textContent])"
        )
        assert all(int(shown.replace(",", "")) == int(text) for shown, text in drawn)
        assert await block.locator(".row").count() <= _DOM_ROWS


async def test_a_flood_leaves_the_page_reacting(machine, open_page):
    """Success metric 2. While lines rush by: letting go, searching and cancelling act, and few rows are elements."""
    job = await machine.start("sh", "-c", _FLOOD)
    page = await open_page(f"#{session_of(job)}", script=_WATCH_TASKS)
    block = page.get_by_role("article")
    await expect(block.locator(".facts")).to_have_text(re.compile(r"^\d+,\d{3},\d{3} rows"))
    await block.locator(".screen").press("Home")
    await expect(block.get_by_role("button", name="Follow", exact=True)).to_have_attribute("aria-pressed", "false")
    await moves_to(block, 1)
    assert await block.locator(".row").count() <= _DOM_ROWS
    await block.get_by_role("button", name="Cancel").click()
    await expect(block.locator(".state")).to_have_text("cancelled")
    print(f"longest task {await page.evaluate('window.longest'):.0f} ms")
    ended = await asyncio.to_thread(machine.served.ended, job)
    await expect(block.locator(".facts")).to_contain_text(f"{ended['bytes'] // 2:,} rows")
    await block.locator(".screen").press("End")
    await moves_to(block, ended["bytes"] // 2)
