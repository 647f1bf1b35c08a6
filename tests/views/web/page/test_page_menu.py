"""What is done with a session in the list: end, rename, archive, delete; nothing is deleted unasked."""

import pytest

from .axe import violations
from .glass import expect

pytestmark = pytest.mark.asyncio(loop_scope="session")

_SIZES = {"desktop": {"width": 1280, "height": 860}, "phone": {"width": 390, "height": 844}}


async def _two(server, open_page, **options):
    server.session("aaaaaa", title="The old one", agent=True, state="ended")
    server.session("bbbbbb", title="The new one", agent=True)
    await server.know("aaaaaa", live=False, resumable=True)
    await server.know("bbbbbb")
    return await open_page("#bbbbbb", **options)


async def _menu(page, title):
    await page.locator("#sessions").get_by_role("link", name=title).hover()
    await page.get_by_role("button", name=f"Actions for {title}").click()
    menu = page.get_by_role("group", name=f"Actions for {title}")
    await expect(menu).to_be_visible()
    return menu


async def test_a_session_is_renamed(page_server, open_page):
    """The field has the title it has; the list and the head show the new one."""
    page = await _two(page_server, open_page)
    await (await _menu(page, "The new one")).get_by_role("button", name="Rename…").click()
    title = page.get_by_role("dialog").get_by_label("Title")
    await expect(title).to_have_value("The new one")
    await title.fill("A better one")
    await title.press("Enter")
    await expect(page.get_by_role("dialog")).to_be_hidden()
    await expect(page.get_by_role("heading", name="A better one")).to_be_visible()
    assert page_server.posts == [("rename", {"title": "A better one"})]


async def test_deleting_is_confirmed_by_name(page_server, open_page):
    """The title stands in the question; cancelling deletes nothing; what is deleted is no longer shown."""
    page = await _two(page_server, open_page)
    await page.locator("#sessions").get_by_role("link", name="The old one").click()
    await (await _menu(page, "The old one")).get_by_role("button", name="Delete…").click()
    dialog = page.get_by_role("dialog", name="Delete this session?")
    await expect(dialog).to_contain_text("The old one")
    await expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    await dialog.get_by_role("button", name="Cancel").click()
    await expect(dialog).to_be_hidden()
    assert page_server.posts == []
    await (await _menu(page, "The old one")).get_by_role("button", name="Delete…").click()
    await dialog.get_by_role("button", name="Delete session").click()
    await expect(page.locator("#sessions").get_by_role("link")).to_have_count(1)
    await expect(page.get_by_role("heading", name="New session")).to_be_visible()
    assert page_server.posts == [("delete", {})]


async def test_a_running_session_is_ended_before_it_is_deleted(page_server, open_page):
    """Deleting waits for that; a refusal is shown in the question."""
    page = await _two(page_server, open_page)
    menu = await _menu(page, "The new one")
    await expect(menu.get_by_role("button", name="Delete… (end it first)")).to_be_disabled()
    await menu.get_by_role("button", name="End session").click()
    await expect(page.locator("#toast")).to_have_text("Session ended.")
    assert page_server.posts == [("stop", {})]


async def test_a_refusal_is_shown_and_nothing_is_gone(page_server, open_page):
    """What the server says stands in the question."""
    page = await _two(page_server, open_page, expect_errors=True)
    await (await _menu(page, "The old one")).get_by_role("button", name="Delete…").click()
    page_server.refusal = "session aaaaaa is running"
    await page.get_by_role("button", name="Delete session").click()
    await expect(page.get_by_role("alert")).to_have_text("session aaaaaa is running try again")
    await expect(page.locator("#sessions a")).to_have_count(2)


async def test_archived_sessions_are_out_of_the_list_until_asked_for(page_server, open_page):
    """And can be taken back."""
    page = await _two(page_server, open_page)
    await (await _menu(page, "The old one")).get_by_role("button", name="Archive").click()
    links = page.locator("#sessions").get_by_role("link")
    await expect(links).to_have_count(1)
    await page.get_by_role("button", name="Show archived (1)").click()
    await expect(links).to_have_count(2)
    await expect(links.last).to_contain_text("archived")
    await (await _menu(page, "The old one")).get_by_role("button", name="Unarchive").click()
    await expect(page.locator("#archived")).to_be_hidden()
    assert page_server.posts == [("archive", {"archived": True}), ("archive", {"archived": False})]


async def test_the_menu_is_used_by_keyboard(page_server, open_page):
    """Opened with Enter, walked with arrows, closed with Escape; the focus comes back."""
    page = await _two(page_server, open_page)
    opener = page.get_by_role("button", name="Actions for The old one")
    await opener.focus()
    await page.keyboard.press("Enter")
    menu = page.get_by_role("group", name="Actions for The old one")
    await expect(menu.get_by_role("button", name="Rename…")).to_be_focused()
    await page.keyboard.press("ArrowDown")
    await expect(menu.get_by_role("button", name="Archive")).to_be_focused()
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("ArrowUp")
    await expect(menu.get_by_role("button", name="Delete…")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(menu).to_be_hidden()
    await expect(opener).to_be_focused()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", list(_SIZES))
async def test_menu_and_dialogs_have_no_violation_and_fit(page_server, open_page, size, scheme):
    """On a phone and a desktop, light and dark."""
    page = await _two(page_server, open_page, viewport=_SIZES[size], color_scheme=scheme)
    if size == "phone":
        await page.get_by_role("button", name="Sessions", exact=True).click()
    menu = await _menu(page, "The old one")
    await expect(menu).to_be_in_viewport(ratio=1)
    assert await violations(page) == []
    await menu.get_by_role("button", name="Rename…").click()
    await expect(page.get_by_role("dialog")).to_be_in_viewport(ratio=1)
    assert await violations(page) == []
    await page.keyboard.press("Escape")
    await (await _menu(page, "The old one")).get_by_role("button", name="Delete…").click()
    await expect(page.get_by_role("dialog")).to_be_in_viewport(ratio=1)
    assert await violations(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def test_a_recording_and_a_session_of_commands_that_ended_have_no_menu(page_server, open_page):
    """There is nothing that could be done with them here."""
    page_server.session("r1", kind="recording", title="recorded", state="ended")
    page_server.session("cccccc", title="make", state="ended")
    page = await open_page("#r1")
    await expect(page.locator("#sessions a")).to_have_count(2)
    await expect(page.locator(".more-actions:visible")).to_have_count(0)
