"""A block: how it stands, what can be done with it, and when it folds."""

import asyncio
import re

import pytest

from .glass import block_of, expect

pytestmark = pytest.mark.asyncio(loop_scope="session")

_TWO_OR_MORE = re.compile(r"^([2-9]|[1-9]\d) s$")
_MANY = "".join(f"row {number}\n" for number in range(40))


async def test_head_says_command_state_exit_and_size(page_server, open_page):
    """Command, sign and word of the state, exit code, rows and size are all text."""
    job = await page_server.start("false")
    await page_server.write(job, "oh no\n")
    page = await open_page()
    block = block_of(page, "false")
    await expect(block.locator(".time")).to_have_text(_TWO_OR_MORE)  # it ticks by itself
    await page_server.end(job, 3)
    await expect(block.locator("header .sign")).to_have_text("✕")
    await expect(block.locator(".state")).to_have_text("failed")
    await expect(block.locator(".facts")).to_have_text("exit 3 · 1 row · 6 B")


async def test_elapsed_goes_on_while_output_is_drawn(page_server, open_page):
    """Rows that keep coming do not set the clock back to what the server said last."""
    job = await page_server.start("make all")
    page = await open_page()
    block = block_of(page, "make all")
    for number in range(200):
        await page_server.write(job, f"row {number}\n")
        if _TWO_OR_MORE.match(await block.locator(".time").text_content()):
            break
        await page.wait_for_timeout(20)
    await expect(block.locator(".time")).to_have_text(_TWO_OR_MORE, timeout=1000)


async def test_elapsed_does_not_depend_on_the_wall_clock(page_server, open_page):
    """A browser whose clock jumps goes on counting from what the server said."""
    await page_server.start("sleep 60")
    page = await open_page()
    block = block_of(page, "sleep 60")
    await expect(block.locator(".time")).to_have_text(re.compile(r"^[1-9]\d? s$"))
    before = await block.locator(".time").text_content()
    await page.evaluate("() => { const was = Date.now; Date.now = () => was() + 86_400_000; }")
    await expect(block.locator(".time")).not_to_have_text(before)
    await expect(block.locator(".time")).to_have_text(re.compile(r"^[1-9]\d? s$"))


async def test_cancel_keeps_what_was_printed(page_server, open_page):
    """Cancel asks the server once; the block says cancelled and keeps its rows."""
    job = await page_server.start("make all")
    await page_server.write(job, "half\n")
    page = await open_page()
    block = block_of(page, "make all")
    await block.get_by_role("button", name="Cancel").click()
    await expect(block.locator(".state")).to_have_text("cancelled")
    await expect(block.get_by_role("button", name="Cancel")).to_be_hidden()
    await expect(block.get_by_text("cancelled; output stored")).to_be_visible()
    await expect(block.locator(".row")).to_have_text(["half"])
    assert page_server.cancels == [job]


async def test_a_command_that_ended_well_folds_into_its_summary(page_server, open_page):
    """The folded block keeps the command, the state and the exit code."""
    job = await page_server.start("make all")
    await page_server.write(job, _MANY)
    page = await open_page()
    block = block_of(page, "make all")
    await expect(block.locator(".screen")).to_be_visible()
    await page_server.end(job)
    await expect(block.locator(".screen")).to_be_hidden()
    await expect(block.get_by_role("heading", name="make all")).to_be_visible()
    await expect(block.locator(".facts")).to_contain_text("exit 0")
    await block.get_by_role("button", name="Unfold").click()
    await expect(block.locator(".row").last).to_have_text("row 39")


async def test_a_failure_never_folds(page_server, open_page):
    """However much it printed, what failed stays open."""
    job = await page_server.start("make all")
    await page_server.write(job, _MANY)
    page = await open_page()
    await page_server.end(job, 2)
    block = block_of(page, "make all")
    await expect(block.locator(".state")).to_have_text("failed")
    await expect(block.locator(".screen")).to_be_visible()


async def test_short_output_does_not_fold(page_server, open_page):
    """Twelve rows are their own summary."""
    job = await page_server.start("date")
    await page_server.write(job, "Monday\n" * 12)
    page = await open_page()
    await page_server.end(job)
    block = block_of(page, "date")
    await expect(block.locator(".state")).to_have_text("ok")
    await expect(block.locator(".screen")).to_be_visible()


async def test_a_persons_own_folding_wins(page_server, open_page):
    """Unfolded by hand stays unfolded at the end; folded by hand stays folded when it fails."""
    kept, shut = await page_server.start("keep open"), await page_server.start("keep shut")
    for job in (kept, shut):
        await page_server.write(job, _MANY)
    page = await open_page()
    open_block, shut_block = block_of(page, "keep open"), block_of(page, "keep shut")
    await open_block.get_by_role("button", name="Fold: keep open").click()
    await open_block.get_by_role("button", name="Unfold: keep open").click()
    await shut_block.get_by_role("button", name="Fold: keep shut").click()
    await page_server.end(kept)
    await page_server.end(shut, 1)
    await expect(shut_block.locator(".state")).to_have_text("failed")
    await expect(shut_block.locator(".screen")).to_be_hidden()
    await expect(open_block.locator(".state")).to_have_text("ok")
    await expect(open_block.locator(".screen")).to_be_visible()


async def test_an_output_whose_rows_are_counted_later_folds_too(page_server, open_page):
    """The server may know that a command ended before it knows how many rows that was."""
    job = await page_server.start("make all")
    page = await open_page()
    block = block_of(page, "make all")
    await page_server.end(job)
    await expect(block.locator(".state")).to_have_text("ok")
    await expect(block.get_by_role("button", name="Fold")).to_have_attribute("aria-expanded", "true")
    await page_server.write(job, _MANY)
    await expect(block.get_by_role("button", name="Unfold")).to_have_attribute("aria-expanded", "false")


async def test_what_one_unfolds_stays_in_sight(page_server, open_page):
    """At the end of a long session an unfolded block opens where it is; the page does not run to its end."""
    for number in range(8):
        job = await page_server.start(f"make {number}")
        await page_server.write(job, _MANY)
        await page_server.end(job)
    await page_server.write(await page_server.start("last"), "x\n")
    page = await open_page()
    block = block_of(page, "make 1")
    await expect(block_of(page, "last").locator(".row")).to_be_visible()
    unfold = block.get_by_role("button", name="Unfold: make 1")
    await unfold.click()
    await expect(block.locator(".row").last).to_have_text("row 39")
    await expect(block.get_by_role("button", name="Fold: make 1")).to_be_in_viewport()


async def test_nobody_who_is_reading_loses_the_block(page_server, open_page):
    """A block in which one has scrolled up does not fold when its command ends well."""
    job = await page_server.lines(200)
    page = await open_page()
    block = block_of(page, "seq 1 200")
    await block.locator(".screen").press("Home")
    await expect(block.locator(".row").first).to_have_text("1")
    await page_server.end(job)
    await expect(block.locator(".state")).to_have_text("ok")
    await expect(block.locator(".screen")).to_be_visible()


async def test_output_and_command_can_be_copied(page_server, open_page):
    """Copy takes the whole output from the server, not the rows that happen to be drawn."""
    job = await page_server.lines(3000)
    page = await open_page(permissions=["clipboard-read", "clipboard-write"])
    block = block_of(page, "seq 1 3000")
    await block.get_by_role("button", name="Copy output").click()
    await expect(page.locator("#toast")).to_have_text("Output copied.")
    copied = await page.evaluate("navigator.clipboard.readText()")
    assert copied == "".join(f"{number}\n" for number in range(1, 3001))
    await block.get_by_role("button", name="Copy command").click()
    await expect(page.locator("#toast")).to_have_text("Command copied.")
    assert await page.evaluate("navigator.clipboard.readText()") == "seq 1 3000"
    assert job in page_server.jobs


async def test_copy_works_without_the_clipboard_api(page_server, open_page):
    """Where the browser has no clipboard to offer, the old command does it."""
    job = await page_server.start("date")
    await page_server.write(job, "Monday\n")
    page = await open_page(permissions=["clipboard-read", "clipboard-write"])
    await page.evaluate("Object.defineProperty(navigator.clipboard, 'writeText', { value: undefined })")
    await block_of(page, "date").get_by_role("button", name="Copy output").click()
    await expect(page.locator("#toast")).to_have_text("Output copied.")
    assert await page.evaluate("navigator.clipboard.readText()") == "Monday\n"


async def test_output_can_be_downloaded(page_server, open_page):
    """Download gives the artifact, as a file."""
    job = await page_server.start("date")
    await page_server.write(job, "Monday\n")
    page = await open_page()
    async with page.expect_download() as download:
        await block_of(page, "date").get_by_role("button", name="Download").click()
    assert (await (await download.value).path()).read_text() == "Monday"


async def test_a_command_is_started_from_the_page(page_server, open_page):
    """In this session by default while it runs; in a new one when asked, which is then shown."""
    await page_server.start("first")
    page = await open_page()
    await expect(block_of(page, "first")).to_be_visible()
    await page.get_by_role("textbox", name="Command").fill("second")
    await page.keyboard.press("Enter")
    await expect(block_of(page, "second")).to_be_visible()
    assert "abcdef-2" in page_server.jobs
    await page.get_by_role("checkbox", name="in this session").uncheck()
    await page.get_by_role("textbox", name="Command").fill("third")
    await page.get_by_role("button", name="Run", exact=True).click()
    await expect(block_of(page, "third")).to_be_visible()
    await expect(block_of(page, "first")).to_be_hidden()


async def test_what_is_typed_while_a_command_starts_is_the_next_one(page_server, open_page):
    """The answer to the first takes nothing from the field."""
    page = await open_page()
    answered = asyncio.Event()

    async def late(route):
        if route.request.method == "POST":
            await answered.wait()
        await route.continue_()

    await page.route("**/api/sessions", late)
    field = page.get_by_role("textbox", name="Command")
    await field.fill("first")
    await field.press("Enter")
    await expect(field).to_have_value("")
    await field.fill("second")
    answered.set()
    await expect(block_of(page, "first")).to_be_visible()
    await expect(field).to_have_value("second")


async def test_a_refused_command_stays_in_the_field(page_server, open_page):
    """The reason and the hint are shown, and nothing typed is lost."""
    page = await open_page(expect_errors=True)
    field = page.get_by_role("textbox", name="Command")
    await field.fill("refuse")
    await field.press("Enter")
    await expect(page.get_by_role("alert")).to_have_text("no such folder give another cwd")
    await expect(field).to_have_value("refuse")


@pytest.mark.parametrize(
    "hostile",
    [
        "<img src=x onerror=\"document.title='owned'\">",
        "<script>document.title='owned'</script>",
        "javascript:document.title='owned'",
        "\u202egnp.exe\u2066 \u2067",
        "</div></article><h1>owned</h1>",
    ],
)
async def test_hostile_text_is_inert(page_server, open_page, hostile):
    """In a command, a title, words and output it is letters and nothing else."""
    page_server.session("abcdef", title=hostile)
    await page_server.say("abcdef", kind="words", text=hostile)
    await page_server.say("abcdef", kind="remark", level="error", text=hostile, hint=hostile)
    job = await page_server.start(hostile)
    await page_server.write(job, f"{hostile}\n")
    page = await open_page()
    row = page.locator(".row")
    await expect(row).to_have_count(1)
    assert await row.text_content() == hostile
    assert await page.locator("main :is(img, script, h1), main a").count() == 0
    assert "owned" not in await page.title()
    assert await row.evaluate("e => getComputedStyle(e).unicodeBidi") == "isolate"
