"""Streaming: what a command prints is on the page while it runs, as a terminal would draw it."""

import asyncio

import pytest

from ..page.glass import block_of, expect
from .conftest import eventually, session_of, waits

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_streaming_shows_rows_while_the_command_runs(machine, open_page):
    """A row is there before the command has ended, the next one as soon as it is printed, and the state says it."""
    job = await machine.start("sh", "-c", f"echo one; {waits()}; echo two; {waits('end')}")
    page = await open_page(f"#{session_of(job)}")
    block = page.get_by_role("article")
    await expect(block.locator(".row")).to_have_text(["one"])
    await expect(block.locator(".state")).to_have_text("running")
    await expect(page).to_have_title("(1) Sightline")
    machine.go()
    await expect(block.locator(".row")).to_have_text(["one", "two"])
    machine.go("end")
    await expect(block.locator(".state")).to_have_text("ok")
    await expect(block.locator(".facts")).to_contain_text("exit 0")
    await expect(page).to_have_title("Sightline")


async def test_stdout_and_stderr_are_told_apart_in_order(machine, open_page):
    """Rows of stderr are marked, for the eye and for a screen reader, and stand where they were printed."""
    printing = f"echo out; {waits()}; echo err >&2; {waits('more')}; echo again"
    job = await machine.start("sh", "-c", printing)
    page = await open_page(f"#{session_of(job)}")
    rows = page.locator(".row")
    await expect(rows).to_have_text(["out"])
    machine.go()
    await expect(rows).to_have_text(["out", "stderr: err"])
    machine.go("more")
    await expect(rows).to_have_text(["out", "stderr: err", "again"])
    await expect(page.locator(".row.err")).to_have_count(1)


async def test_a_progress_bar_is_one_row_that_changes(machine, open_page):
    """Carriage returns rewrite the row; colours are drawn as text in colour, never as codes."""
    bar = f"printf 'begin\\n 10%%'; {waits()}; printf '\\r\\033[32m 50%%\\033[0m'; {waits('end')}; printf '\\r100%%\\n'"
    job = await machine.start("sh", "-c", bar)
    page = await open_page(f"#{session_of(job)}")
    rows = page.locator(".row")
    await expect(rows).to_have_text(["begin", "10%"])
    machine.go()
    await expect(rows).to_have_text(["begin", "50%"])
    await expect(rows.locator(".f2")).to_have_text("50%")
    machine.go("end")
    await expect(rows).to_have_text(["begin", "100%"])


async def test_a_job_is_started_from_the_form(machine, open_page):
    """On an empty page: the command runs in a session of its own, which is shown; the next one runs beside it."""
    page = await open_page()
    await expect(page.get_by_role("heading", name="New session")).to_be_visible()
    command = f"echo 'from the page'; {waits(str(machine.folder / 'go'))}"
    await page.get_by_role("textbox", name="Command").fill(command)
    await page.keyboard.press("Enter")
    await expect(page.locator(".row")).to_have_text(["from the page"])
    await expect(page.get_by_role("checkbox", name="in this session")).to_be_checked()
    await page.get_by_role("textbox", name="Command").fill("echo beside; exit 4")
    await page.get_by_role("button", name="Run", exact=True).click()
    second = page.get_by_role("article").nth(1)
    await expect(second.locator(".row")).to_have_text(["beside"])
    await expect(second.locator(".facts")).to_contain_text("exit 4")
    machine.go()
    await expect(page.get_by_role("article").first.locator(".state")).to_have_text("ok")
    jobs = (await asyncio.to_thread(machine.served.get, "/api/jobs")).json()["jobs"]
    assert len({job["session"] for job in jobs}) == 1
    assert sorted(job["exit_code"] for job in jobs) == [0, 4]


async def test_a_session_that_begins_elsewhere_appears(machine, open_page):
    """Whoever starts what, the list has it without a reload."""
    page = await open_page()
    await expect(page.get_by_role("heading", name="New session")).to_be_visible()
    await machine.run("echo", "hello")
    await expect(page.get_by_role("navigation").get_by_role("link", name="echo hello")).to_be_visible()
    await expect(block_of(page, "echo hello").locator(".row")).to_have_text(["hello"])


async def test_silence_is_said_to_who_comes_later_too(machine, open_page):
    """A page opened while a command is silent shows for how long, and no longer once it prints."""
    job = await machine.start("sh", "-c", f"echo one; {waits()}; echo two; {waits('end')}")
    journal = machine.served.home / "sessions" / session_of(job) / "journal.jsonl"
    await eventually(lambda: b'"status"' in journal.read_bytes())
    page = await open_page(f"#{session_of(job)}")
    await expect(page.locator(".status")).to_have_text("no output for 1 s")
    machine.go()
    await expect(page.locator(".row")).to_have_text(["one", "two"])
    await expect(page.locator(".status")).to_be_hidden()
    machine.go("end")


async def test_two_browsers_at_once_show_the_same(machine, open_page):
    """Same rows, same states, and what one does the other sees."""
    job = await machine.start("sh", "-c", f"seq 1 41; {waits()}; printf half >&2; sleep 1000")
    pages = [await open_page(f"#{session_of(job)}") for _ in range(2)]
    for page in pages:
        await expect(page.locator(".row").last).to_have_text("41")
    machine.go()
    for page in pages:
        await expect(page.locator(".row").last).to_have_text("stderr: half")
    await pages[0].get_by_role("button", name="Cancel").click()
    for page in pages:
        await expect(page.locator(".block .state")).to_have_text("cancelled")
        await expect(page.locator(".facts")).to_contain_text("42 rows")
    one, other = [await page.locator(".row").all_inner_texts() for page in pages]
    assert one == other
