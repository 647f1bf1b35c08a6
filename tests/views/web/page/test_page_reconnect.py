"""The page comes back by itself, with nothing missing and nothing twice."""

import pytest

from .glass import block_of, expect

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_reconnects_with_nothing_lost_and_nothing_twice(page_server, open_page):
    """What was printed, started and ended while the server was away is there, once."""
    job, other = await page_server.start("make all"), await page_server.start("make docs")
    await page_server.write(job, "before\n50%")
    page = await open_page(expect_errors=True)
    block = block_of(page, "make all")
    await expect(block.locator(".row")).to_have_text(["before", "50%"])
    for _ in range(2):
        await page_server.down()
        await expect(page.get_by_text("Connection lost, trying again…")).to_be_visible()
        await page_server.write(job, "\r100%\nmeanwhile\n50%")
        await page_server.up()
        await expect(page.locator("#banner")).to_be_hidden()
    await page_server.end(other)
    await page_server.write(job, "\rafter\n")
    await expect(block.locator(".row")).to_have_text(["before", "100%", "meanwhile", "100%", "meanwhile", "after"])
    await expect(page.locator(".block")).to_have_count(2)
    await expect(block_of(page, "make docs").locator(".state")).to_have_text("ok")


async def test_a_server_that_stays_away_may_have_another_address(page_server, open_page):
    """A few tries say only that they are made; then the page says what else can be the matter."""
    await page_server.start("make all")
    page = await open_page(expect_errors=True)
    await expect(block_of(page, "make all")).to_be_visible()
    await page_server.down()
    banner = page.locator("#banner")
    await expect(banner).to_have_text("Connection lost, trying again…", timeout=30_000)
    await expect(banner).to_contain_text("open the new address that it printed", timeout=30_000)
    await page_server.up()
    await expect(banner).to_be_hidden()


async def test_rows_that_changed_unseen_are_not_kept(page_server, open_page):
    """A row that was rewritten while the page was away, and is no longer among the newest, is fetched again."""
    job = await page_server.start("make all")
    await page_server.write(job, "old")
    page = await open_page(expect_errors=True)
    block = block_of(page, "make all")
    await expect(block.locator(".row")).to_have_text(["old"])
    await page_server.down()
    await page_server.write(job, "\rnew\n" + "more\n" * 600)
    await page_server.up()
    await expect(block.locator(".facts")).to_contain_text("601 rows")
    await block.locator(".screen").press("Home")
    await expect(block.locator(".row").first).to_have_text("new")


async def test_a_page_that_is_not_signed_in_says_what_to_do(page_server, open_page):
    """After a restart the token is another; the page says which URL to open instead of trying in silence."""
    await page_server.start("make all")
    page = await open_page(expect_errors=True)
    await expect(block_of(page, "make all")).to_be_visible()
    page_server.signed_in = False
    await page_server.down()
    await page_server.up()
    await expect(page.get_by_text("Open the address that sightline serve printed.")).to_be_visible()
    page_server.signed_in = True
    await expect(page.locator("#banner")).to_be_hidden()


async def test_what_a_person_did_survives_a_reconnect(page_server, open_page):
    """Scrolled place and open search are not reset."""
    await page_server.lines(500)
    page = await open_page(expect_errors=True)
    block = block_of(page, "seq 1 500")
    await block.locator(".screen").press("Home")
    await block.locator(".screen").press("/")
    await block.get_by_role("searchbox").fill("50")
    await expect(block.locator(".matches")).to_have_text("1 of 6")
    await page_server.down()
    await expect(page.locator("#banner")).to_be_visible()
    await page_server.up()
    await expect(page.locator("#banner")).to_be_hidden()
    await expect(block.get_by_role("searchbox")).to_have_value("50")
    await expect(block.locator('.row[data-n="50"] mark')).to_have_text("50")


async def test_a_session_that_is_gone_is_said(page_server, open_page):
    """An address of a session that was pruned does not show an empty page."""
    await page_server.start("make all")
    for address in ("#zzzzzz", "#never,one"):
        page = await open_page(address, expect_errors=True)
        await expect(page.get_by_text("This session no longer exists.")).to_be_visible()
        await expect(page.locator("#banner")).to_be_hidden()
        await page.get_by_role("navigation").get_by_role("link", name="make all").click()
        await expect(block_of(page, "make all")).to_be_visible()


async def test_changing_sessions_shows_only_the_chosen_one(page_server, open_page):
    """Rows of a session that is not watched never reach the other's blocks."""
    one, two = await page_server.start("first", "aaaaaa"), await page_server.start("second", "bbbbbb")
    page = await open_page("#aaaaaa")
    await page_server.write(one, "of the first\n")
    await expect(block_of(page, "first").locator(".row")).to_have_text(["of the first"])
    await page.get_by_role("navigation").get_by_role("link", name="second").click()
    await page_server.write(two, "of the second\n")
    await page_server.write(one, "unseen\n")
    await expect(block_of(page, "second").locator(".row")).to_have_text(["of the second"])
    await expect(page.locator(".block")).to_have_count(1)
    await page.go_back()
    await expect(block_of(page, "first").locator(".row")).to_have_text(["of the first", "unseen"])


async def test_the_end_of_a_command_brings_its_last_rows_as_they_are(page_server, open_page):
    """A last rewriting that no live message told of is seen once the command has ended."""
    job = await page_server.start("download")
    await page_server.write(job, "99%")
    page = await open_page()
    block = block_of(page, "download")
    await expect(block.locator(".row")).to_have_text(["99%"])
    page_server.jobs[job].rows = [[["100%"]]]
    await page_server.end(job, 1)
    await expect(block.locator(".row")).to_have_text(["100%"])
