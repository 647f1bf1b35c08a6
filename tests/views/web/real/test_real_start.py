"""A session started and resumed on the page, by the real server and a real host process."""

import json

import pytest

from ..page.glass import expect

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_session_is_started_led_ended_and_resumed_on_the_page(machine, open_page):
    """From a page without any session to the agent's words; then its host is stopped, and one button goes on."""
    script = machine.folder.parent / "script.json"
    script.write_text(json.dumps([[{"text": "Here I am."}], [{"text": "Here again."}]]))
    page = await open_page()
    await page.get_by_label("Folder").fill(str(machine.folder))
    await page.locator("#new-model").fill(f"scripted:{script}")
    await page.locator("#new-level").select_option("plan")
    await page.get_by_role("textbox", name="First prompt").fill("Are you there?")
    await page.get_by_role("button", name="Start session").click()
    await expect(page.locator(".saying.message .text")).to_have_text("Are you there?")
    await expect(page.get_by_text("Here I am.")).to_be_visible()
    status = page.get_by_role("region", name="Status")
    await expect(status.get_by_label("Approval level")).to_have_value("plan")
    await expect(page.locator("#session-facts")).to_contain_text(str(machine.folder))
    await machine.sightline("stop", page.url.rpartition("#")[2])
    await page.get_by_role("button", name="Resume").click()
    await expect(page.get_by_role("textbox", name="Prompt", exact=True)).to_be_focused()
    await expect(page.locator(".saying.message")).to_have_count(1)
    await page.keyboard.type("And now?")
    await page.keyboard.press("Enter")
    await expect(page.locator(".saying.message")).to_have_count(2)


async def test_a_session_that_is_resumed_elsewhere_goes_on_here(machine, open_page):
    """The page that shows it as ended is not left behind."""
    script = machine.folder.parent / "script.json"
    script.write_text(json.dumps([[{"text": "One."}], [{"text": "Two."}]]))
    model = ("--model", f"scripted:{script}")
    await machine.sightline("-p", "first", *model)
    page = await open_page()
    await expect(page.get_by_text("One.")).to_be_visible()
    await expect(page.get_by_role("button", name="Resume")).to_be_visible()
    await machine.sightline("-p", "second", "--continue", *model)
    await expect(page.locator(".saying.message .text")).to_have_text(["first", "second"])


@pytest.mark.parametrize("recordings", [["bash_tool"]])
async def test_a_recording_offers_no_resume(machine, open_page, recordings):
    """There is no session behind it."""
    page = await open_page("#r1")
    await expect(page.locator(".block").first).to_be_visible()
    await expect(page.get_by_text("--resume")).to_have_count(0)
    await expect(page.get_by_role("button", name="Resume")).to_be_hidden()
