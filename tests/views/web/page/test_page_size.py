"""Outputs of any size: few elements, any row at hand, search over all of it."""

import time

import pytest

from .glass import block_of, expect, moves_to

pytestmark = pytest.mark.asyncio(loop_scope="session")

_DOM_ROWS = 500

_NEAR = """(goal) => {
    const row = document.querySelectorAll('.row:not(.waiting)')[20];
    return row && Math.abs(Number(row.textContent) - goal) < goal / 50;
}"""
_TOP_ROW = """() => {
    const { top } = document.querySelector('.screen').getBoundingClientRect();
    return [...document.querySelectorAll('.row')].find((row) => row.getBoundingClientRect().top >= top - 1).dataset.n;
}"""


async def _timed(page, act, block, number):
    """How long from the gesture until that row is drawn, seen from inside the page."""
    started = time.perf_counter()
    await act()
    await moves_to(block, number)
    return (time.perf_counter() - started) * 1000


@pytest.mark.parametrize("rows", [1_000_000, 18_000_000])
async def test_any_row_of_millions_is_reached_with_few_elements(page_server, open_page, rows):
    """Home, End, paging, a row by its number and the dragged bar all arrive, with at most 500 rows in the page."""
    job = await page_server.lines(rows)
    page = await open_page()
    block = block_of(page, f"seq 1 {rows}")
    screen = block.locator(".screen")
    await moves_to(block, rows)
    took = {
        "Home": await _timed(page, lambda: screen.press("Home"), block, 1),
        "End": await _timed(page, lambda: screen.press("End"), block, rows),
    }
    await screen.press("g")
    for number in (rows // 2, rows // 3, 12_345):
        field = block.get_by_role("textbox", name="Go to row")
        await field.fill(str(number))
        took[f"row {number:,}"] = await _timed(page, lambda field=field: field.press("Enter"), block, number)
        assert await block.locator(".row").count() <= _DOM_ROWS
        await expect(block.locator(f'.row[data-n="{number:,}"]')).to_have_text(str(number))
    await screen.evaluate("e => { e.scrollTop = e.scrollHeight * 0.75; }")
    await page.wait_for_function(_NEAR, arg=rows * 0.75)
    assert await block.locator(".row").count() <= _DOM_ROWS
    print({gesture: f"{ms:.0f} ms" for gesture, ms in took.items()})
    await page_server.end(job)


async def test_every_row_can_be_stepped_to_in_an_output_taller_than_a_browser_allows(page_server, open_page):
    """Arrows and wheel move by rows, not by what a pixel of the scaled bar is worth."""
    await page_server.lines(18_000_000)
    page = await open_page()
    block = block_of(page, "seq 1 18000000")
    await block.locator(".screen").press("g")
    await page.keyboard.type("9000000")
    await page.keyboard.press("Enter")
    await moves_to(block, 9_000_000)
    before = int((await page.evaluate(_TOP_ROW)).replace(",", ""))
    for _ in range(3):
        await page.keyboard.press("ArrowDown")
    await page.wait_for_function(f"() => ({_TOP_ROW})() === '{before + 3:,}'")
    await block.locator(".screen").hover()
    await page.mouse.wheel(0, 190)
    await page.wait_for_function(f"() => ({_TOP_ROW})() === '{before + 13:,}'")


async def test_a_flood_leaves_the_page_responsive(page_server, open_page):
    """Rows by the thousand: all of them are there, in few elements. How long a task takes is a row of the benchmark."""
    job = await page_server.start("yes")
    page = await open_page()
    block = block_of(page, "yes")
    text = "".join(
        f"\x1b[3{n % 8}mrow {n}\x1b[0m and some words to make it a line of usual length\n" for n in range(2000)
    )
    for _ in range(30):
        await page_server.write(job, text)
        await page.wait_for_timeout(20)
    await moves_to(block, 60_000)
    assert await block.locator(".row").count() <= _DOM_ROWS


async def test_a_long_session_opens_without_a_stutter(page_server, open_page):
    """Thousands of entries are made over many frames, and all arrive in order."""
    page_server.session("rec001", kind="recording")
    page_server.entries["rec001"] = [{"agent": "", "kind": "words", "text": f"words {n}"} for n in range(3000)]
    page = await open_page("#rec001")
    await expect(page.locator(".saying")).to_have_count(3000)  # looking for the text again and again would slow it down
    await expect(page.locator(".saying").last).to_be_in_viewport()
    texts = await page.locator(".saying .text").all_text_contents()
    assert texts == [f"words {n}" for n in range(3000)]


async def test_an_endless_line_is_shown_in_part(page_server, open_page):
    """A line of a million characters is cut on the glass, and says so."""
    job = await page_server.start("cat minified.js")
    await page_server.write(job, "x" * 1_000_000 + "\n")
    page = await open_page()
    await expect(block_of(page, "cat minified.js").locator(".cut")).to_contain_text("the row is longer")


async def test_search_finds_in_all_of_the_output(page_server, open_page):
    """Count, next, previous, around the end, and the match marked in its row."""
    await page_server.lines(100_000)
    page = await open_page()
    block = block_of(page, "seq 1 100000")
    await block.locator(".screen").press("Home")
    await block.get_by_role("button", name="Search").click()
    await block.get_by_role("searchbox").fill("7777")
    told = block.locator(".matches")
    await expect(told).to_have_text("1 of 19")
    await moves_to(block, 7777)
    await expect(block.locator(".row.found mark")).to_have_text("7777")
    await page.keyboard.press("Enter")
    await expect(told).to_have_text("2 of 19")
    await moves_to(block, 17_777)
    await page.keyboard.press("Shift+Enter")
    await page.keyboard.press("Shift+Enter")
    await expect(told).to_have_text("19 of 19")
    await moves_to(block, 97_777)
    await block.get_by_role("button", name="Next match").click()
    await expect(told).to_have_text("1 of 19")
    await block.get_by_role("searchbox").fill("nowhere")
    await expect(told).to_have_text("no match")
    await page.keyboard.press("Escape")
    await expect(block.get_by_role("searchbox")).to_be_hidden()
    await expect(block.locator("mark")).to_have_count(0)


async def test_search_marks_across_colours_and_goes_on_while_running(page_server, open_page):
    """A match may begin in one colour and end in another; a later match is found by stepping on."""
    job = await page_server.start("tests")
    await page_server.write(job, "\x1b[31mFAI\x1b[32mLED\x1b[0m one\nfine\n")
    page = await open_page()
    block = block_of(page, "tests")
    await block.get_by_role("button", name="Search").click()
    await block.get_by_role("searchbox").fill("failed")
    await expect(block.locator(".matches")).to_have_text("1 of 1")
    assert "".join(await block.locator("mark").all_text_contents()) == "FAILED"
    await page_server.write(job, "failed two\n")
    await expect(block.locator(".row")).to_have_count(3)
    await page.keyboard.press("Enter")
    await expect(block.locator(".matches")).to_have_text("2 of 2")


async def test_rows_too_long_for_one_answer_are_fetched_in_several(page_server, open_page):
    """The server may answer with fewer rows than asked for; the page goes on until it has what is in sight."""
    await page_server.lines(5000)
    page_server.rows_an_answer = 7
    page = await open_page()
    block = block_of(page, "seq 1 5000")
    await block.locator(".screen").press("Home")
    await expect(block.locator(".row.waiting")).to_have_count(0)
    await block.locator(".screen").press("g")
    await page.keyboard.type("2500")
    await page.keyboard.press("Enter")
    await moves_to(block, 2500)
    await expect(block.locator(".row.waiting")).to_have_count(0)


async def test_live_rows_that_only_hold_what_changed_are_enough(page_server, open_page):
    """A server that sends the changed rows alone causes no fetch of the others."""
    job = await page_server.start("make all")
    await page_server.write(job, "".join(f"row {n}\n" for n in range(30)))
    page = await open_page()
    block = block_of(page, "make all")
    await expect(block.locator(".row")).to_have_count(30)
    page_server.live_rows = 2
    page_server.requests.clear()
    for number in range(30, 60):
        await page_server.write(job, f"row {number}\n")
    await moves_to(block, 60)
    await block.locator(".screen").press("Home")
    await expect(block.locator(".row").first).to_have_text("row 0")
    assert not [path for path in page_server.requests if path.endswith("/rows")]
