"""What can be done with a block: cancel, search, fold, copy, download; and outputs that are gone or not text."""

import asyncio
import os

import pytest

from tests.host.support import alive

from ..page.glass import block_of, expect, moves_to
from .conftest import eventually, session_of, waits

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_cancel_keeps_the_partial_output_and_ends_every_process(machine, open_page):
    """The state becomes cancelled, the rows stay, and neither the command nor its background child is left."""
    script = "sleep 1000 & echo $! $$; printf 'half a row'; wait"
    job = await machine.start("sh", "-c", script)
    page = await open_page(f"#{session_of(job)}")
    block = page.get_by_role("article")
    await expect(block.locator(".row").nth(1)).to_have_text("half a row")
    pids = [int(pid) for pid in (await block.locator(".row").first.inner_text()).split()]
    assert all(alive(pid) for pid in pids)
    await block.get_by_role("button", name="Cancel").click()
    await expect(block.locator(".state")).to_have_text("cancelled")
    await expect(block.locator(".facts")).to_contain_text("exit 130")
    await expect(block.locator(".note")).to_contain_text("output stored")
    await expect(block.locator(".row")).to_have_text([" ".join(map(str, pids)), "half a row"])
    await expect(block.get_by_role("button", name="Cancel")).to_be_hidden()
    await eventually(lambda: not any(alive(pid) for pid in pids))


async def test_search_finds_in_all_of_a_long_output(machine, open_page):
    """Enhancement 4. 200,000 lines: the count, next, previous and around the end, each match shown and marked."""
    job = await machine.run("sh", "-c", "seq 1 200000; exit 1")
    page = await open_page(f"#{session_of(job)}")
    block = page.get_by_role("article")
    await moves_to(block, 200_000)
    await block.locator(".screen").press("Home")
    await moves_to(block, 1)
    await block.get_by_role("button", name="Search").click()
    await page.keyboard.type("77777")
    told = block.locator(".matches")
    for key, index, row in [("", 1, 77_777), ("Enter", 2, 177_777), ("Enter", 1, 77_777), ("Shift+Enter", 2, 177_777)]:
        if key:
            await page.keyboard.press(key)
        await expect(told).to_have_text(f"{index} of 2")
        await moves_to(block, row)
        await expect(block.locator(".row.found")).to_have_text(str(row))
        await expect(block.locator(".row.found mark")).to_have_text("77777")
    await block.get_by_role("searchbox").fill("nowhere to be found")
    await expect(told).to_have_text("no match")
    assert await block.locator(".row").count() <= 500


async def test_a_long_success_collapses_and_keeps_command_and_exit_code(machine, open_page):
    """Enhancement 3. Folded to its summary when it ends, or when it is opened later; unfolded it has its rows."""
    job = await machine.run("seq", "1", "50")
    page = await open_page(f"#{session_of(job)}")
    block = block_of(page, "seq 1 50")
    await expect(block.get_by_role("button", name="Unfold")).to_be_visible()
    await expect(block.locator(".screen")).to_be_hidden()
    await expect(block.locator(".command")).to_have_text("seq 1 50")
    await expect(block.locator(".facts")).to_contain_text("exit 0")
    await expect(block.locator(".facts")).to_contain_text("50 rows")
    await block.get_by_role("button", name="Unfold").click()
    await moves_to(block, 50)


async def test_a_failure_never_collapses(machine, open_page):
    """However long its output, what failed stays open, watched or opened later."""
    job = await machine.start("sh", "-c", f"seq 1 50; {waits()}; exit 7")
    page = await open_page(f"#{session_of(job)}")
    block = page.get_by_role("article")
    await moves_to(block, 50)
    machine.go()
    await expect(block.locator(".facts")).to_contain_text("exit 7")
    await page.reload()
    await expect(block.locator(".facts")).to_contain_text("exit 7")
    await moves_to(block, 50)
    await expect(block.get_by_role("button", name="Fold", exact=False)).to_have_attribute("aria-expanded", "true")


async def test_copy_gives_the_plain_text(machine, open_page):
    """Enhancement 5. All of the output as letters: no codes, progress bars as they ended, stderr in its place."""
    script = rf"seq 1 600; printf '\033[1;31mred\033[0m\n 1%%\r100%%\n'; {waits()}; echo oops >&2; exit 1"
    job = await machine.start("sh", "-c", script)
    await eventually(lambda: machine.bytes_of(job).endswith(b"100%\n"))
    machine.go()
    await asyncio.to_thread(machine.served.ended, job)
    page = await open_page(f"#{session_of(job)}", permissions=["clipboard-read", "clipboard-write"])
    await page.get_by_role("button", name="Copy output").click()
    await expect(page.locator("#toast")).to_have_text("Output copied.")
    lines = [*map(str, range(1, 601)), "red", "100%", "oops"]
    assert await page.evaluate("navigator.clipboard.readText()") == "".join(f"{line}\n" for line in lines)


async def test_download_equals_the_bytes(machine, open_page):
    """Any byte the command wrote, binary included, which is said and not drawn."""
    data = os.urandom(300_000)
    (machine.folder / "data").write_bytes(data)
    job = await machine.run("cat", "data")
    page = await open_page(f"#{session_of(job)}")
    block = block_of(page, "cat data")
    await expect(block.locator(".note")).to_contain_text("Binary output")
    async with page.expect_download() as download:
        await block.get_by_role("button", name="Download").click()
    assert (await (await download.value).path()).read_bytes() == data


async def test_a_deleted_artifact_is_said(machine, open_page):
    """To who comes later at once, to who has the page open as soon as it wants the rows; nothing dead is offered."""
    job = await machine.run("seq", "1", "50")
    watching = await open_page(f"#{session_of(job)}")
    await expect(block_of(watching, "seq 1 50").locator(".facts")).to_contain_text("50 rows")
    machine.served.artifact(job).unlink()
    coming = await open_page(f"#{session_of(job)}")
    await block_of(watching, "seq 1 50").get_by_role("button", name="Unfold").click()
    for page in (watching, coming):
        block = block_of(page, "seq 1 50")
        await expect(block.locator(".note")).to_have_text("output was deleted")
        await expect(block.locator(".facts")).to_contain_text("exit 0")
        for name in ("Download", "Search", "Copy output"):
            await expect(block.get_by_text(name, exact=True)).to_be_hidden()
