"""Starting and resuming sessions on the page."""

import asyncio

import pytest

from .glass import expect

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_session_is_started_with_what_was_chosen(page_server, open_page):
    """Folder, agent, model and level; the first prompt is sent to it, and it is shown."""
    page_server.session("abcdef", title="first", cwd="/home/ada/site")
    page = await open_page("#abcdef")
    await page.get_by_role("link", name="New session").click()
    await expect(page.get_by_role("textbox", name="First prompt")).to_be_focused()
    await expect(page.get_by_label("Folder")).to_have_value("/home/ada/site")
    await expect(page.locator("#new-models option")).to_have_attribute("value", "local/m1")
    await expect(page.locator("#new-level option")).to_have_text(
        [
            "as the settings say (auto)",
            "plan: reads only; no edits, no commands",
            "edit: edits files, asks before it runs commands",
            "auto: edits files, runs sandboxed commands",
        ]
    )
    await page.locator("#new-agent").select_option("Claude Code")
    await expect(page.locator("#new-level option")).to_have_count(3)
    await page.locator("#new-model").fill("opus")
    await page.locator("#new-level").select_option("plan")
    await page.get_by_role("textbox", name="First prompt").fill("fix the test")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("textbox", name="Prompt", exact=True)).to_be_visible()
    await expect(page.get_by_role("heading", level=2)).to_have_text("Untitled")  # until it has a title
    assert page_server.posts == [
        ("agents", {"cwd": "/home/ada/site", "provider": "claude", "model": "opus", "level": "plan"}),
        ("prompt", {"text": "fix the test", "how": "prompt"}),
    ]


async def test_a_folder_that_is_offered_late_does_not_go_before_what_is_typed(page_server, open_page):
    """The answer comes when the user is in the field already, and has typed nothing yet."""
    page = await open_page()
    asked, answered = asyncio.Event(), asyncio.Event()

    async def late(route):
        asked.set()
        await answered.wait()
        await route.continue_()

    await page.route("**/api/agents*", late)
    await page.goto(page.url.partition("#")[0] + "#new")
    await page.reload()
    field = page.get_by_label("Folder")
    await asked.wait()
    await field.focus()
    answered.set()
    await expect(page.locator("#new-models option")).to_have_attribute("value", "local/m1")  # it has come
    await page.keyboard.type("/else/where")
    await expect(field).to_have_value("/else/where")
    await field.fill("")
    await page.get_by_role("textbox", name="First prompt").focus()
    await expect(field).to_have_value("/home/ada/app")


async def test_what_could_not_be_started_stays_in_the_form(page_server, open_page):
    """The reason is shown, and nothing typed is lost."""
    page_server.refusal = "no model is set up"
    page = await open_page("#new", expect_errors=True)
    prompt = page.get_by_role("textbox", name="First prompt")
    await expect(page.get_by_label("Folder")).to_have_value("/home/ada/app")
    await prompt.fill("precious words")
    await page.get_by_role("button", name="Start session").click()
    await expect(page.get_by_role("alert")).to_have_text("no model is set up try again")
    await expect(prompt).to_have_value("precious words")
    await expect(page.get_by_role("button", name="Start session")).to_be_enabled()


async def test_a_first_prompt_that_is_refused_is_in_the_field_of_its_session(page_server, open_page):
    """The session is there, and so are the words."""
    page = await open_page("#new", expect_errors=True)
    await expect(page.get_by_label("Folder")).to_have_value("/home/ada/app")
    await page.get_by_role("textbox", name="First prompt").fill("precious words")
    await page.route("**/prompt", lambda route: route.fulfill(status=409, json={"error": "busy", "hint": "wait"}))
    await page.get_by_role("button", name="Start session").click()
    await expect(page.get_by_role("textbox", name="Prompt", exact=True)).to_have_value("precious words")
    await expect(page.locator("#talk-problem")).to_have_text("busy wait")


async def test_the_prompt_has_the_focus_although_the_answer_to_resume_comes_last(page_server, open_page):
    """On a slow line the page hears that the session is live before it hears that it was resumed."""
    page_server.session("abcdef", title="talk", agent=True)
    page = await open_page("#abcdef")
    await page_server.know("abcdef", live=False, resumable=True)
    prompt = page.get_by_role("textbox", name="Prompt", exact=True)

    async def answered_last(route):
        await page_server.know("abcdef", live=True, resumable=False)
        await expect(prompt).to_be_visible()
        await route.continue_()

    await page.route("**/resume", answered_last)
    await page.get_by_role("button", name="Resume").click()
    await expect(prompt).to_be_focused()


async def test_a_late_answer_to_resume_does_not_take_the_focus_from_where_one_types(page_server, open_page):
    """The user went to the search of sessions meanwhile."""
    page_server.session("abcdef", title="talk", agent=True)
    page = await open_page("#abcdef")
    await page_server.know("abcdef", live=False, resumable=True)
    search = page.locator("input[type=search]").first
    answered = asyncio.Event()

    async def answered_last(route):
        await page_server.know("abcdef", live=True, resumable=False)
        await expect(page.get_by_role("textbox", name="Prompt", exact=True)).to_be_visible()
        await search.focus()
        await page.keyboard.type("abc")
        await route.continue_()
        answered.set()

    await page.route("**/resume", answered_last)
    await page.get_by_role("button", name="Resume").click()
    await asyncio.wait_for(answered.wait(), 60)
    await expect(page.locator("#resume")).to_be_enabled()
    await page.keyboard.type("def")
    await expect(search).to_have_value("abcdef")


async def test_a_session_that_ended_is_resumed(page_server, open_page):
    """One button; the command for a terminal is beside it. A recording offers neither."""
    page_server.session("abcdef", title="talk", agent=True)
    page_server.session("r1", kind="recording", title="claude.jsonl")
    await page_server.say("abcdef", kind="words", text="words")
    await page_server.say("r1", kind="words", text="recorded")
    await page_server.know("abcdef", live=False, resumable=True)
    await page_server.know("r1", live=False, resumable=False)
    page = await open_page("#abcdef")
    await expect(page.get_by_text("sightline --resume abcdef")).to_be_visible()
    await page.get_by_role("button", name="Resume").click()
    await page_server.know("abcdef")
    await expect(page.get_by_role("textbox", name="Prompt", exact=True)).to_be_focused()
    await expect(page.get_by_role("button", name="Resume")).to_be_hidden()
    assert page_server.posts == [("resume", {})]
    await page.goto(page_server.url + "#r1")
    await expect(page.get_by_text("recorded")).to_be_visible()
    await expect(page.get_by_text("--resume")).to_have_count(0)
    await expect(page.get_by_role("button", name="Resume")).to_be_hidden()


async def test_a_session_that_begins_elsewhere_does_not_take_the_form_away(page_server, open_page):
    """While something is written in it; on an untouched page the first session is shown."""
    page = await open_page()
    await page.get_by_role("textbox", name="First prompt").fill("half a thou")
    page_server.session("abcdef", title="elsewhere")
    await expect(page.get_by_role("navigation").get_by_role("link", name="elsewhere")).to_be_visible()
    await expect(page.get_by_role("textbox", name="First prompt")).to_have_value("half a thou")
    await expect(page.get_by_role("textbox", name="First prompt")).to_be_visible()
