"""Many sessions at once: which of them work, which wait for an answer, and how a person gets there."""

import re
import time
from datetime import datetime

import pytest

from .axe import violations
from .glass import expect

pytestmark = pytest.mark.asyncio(loop_scope="session")


def _asked(id, text="Which?"):
    return {"id": id, "what": "question", "text": text, "details": {"choices": [{"label": "red"}]}}


def _links(page):
    return page.locator("#sessions").get_by_role("link")


async def _four(server):
    """One that is shown, one at work, two that wait; the last began last and stands first."""
    for id, standing in (
        ("aaaaaa", {"waiting": 2, "busy": True}),
        ("bbbbbb", {"waiting": 1, "busy": True}),
        ("cccccc", {"busy": True}),
        ("dddddd", {}),
    ):
        server.session(id, title=f"talk {id[0]}", agent=True, **standing)
        await server.say(id, kind="message", text=f"words of {id[0]}", how="prompt")
    await server.know("aaaaaa", running=True, requests=[_asked("request-1", "First?"), _asked("request-2", "Second?")])
    await server.know("bbbbbb", running=True, requests=[_asked("request-1", "Other?")])
    await server.know("cccccc", running=True)
    await server.know("dddddd")


async def test_every_session_says_how_it_stands(page_server, open_page):
    """The list says working, waiting or idle of each; the head and the title count all, not only what is shown."""
    await _four(page_server)
    page = await open_page("#dddddd")
    metas = _links(page).locator(".meta")
    for number, said in enumerate(["idle", "working", "waits for you", "waits for you"]):
        await expect(metas.nth(number)).to_contain_text(f"{said} · ")
    await expect(page.locator("#waits")).to_have_text("2 sessions wait for you")
    await expect(page.locator("#counts")).to_have_text("1 working")
    await expect(page).to_have_title("(!2) Sightline")
    await page_server.stand("aaaaaa", waiting=0)
    await expect(page).to_have_title("(!) Sightline")
    await expect(page.locator("#waits")).to_have_text("1 session waits for you")
    await expect(page.locator("#counts")).to_have_text("2 working")
    await page_server.stand("bbbbbb", waiting=0, busy=False)
    await page_server.stand("aaaaaa", busy=False)
    await page_server.stand("cccccc", busy=False)
    await expect(page.locator("#waits")).to_be_hidden()
    await expect(page.locator("#counts")).to_have_text("")
    await expect(page).to_have_title("Sightline")


async def test_of_today_the_list_has_the_time_alone_and_a_fork_says_whose_it_is(page_server, open_page):
    """A full date is cut in the narrow list; two sessions with one title are told apart."""
    page_server.session("aaaaaa", title="Sum fixed", agent=True, started=time.time())
    page_server.session("bbbbbb", title="Sum fixed", agent=True, fork_of="aaaaaa", started=1_600_000_000)
    page = await open_page("#aaaaaa")
    texts = [await _links(page).nth(number).locator(".title").text_content() for number in range(2)]
    assert sorted(texts) == ["Sum fixed", "fork of aaaaaa: Sum fixed"]
    metas = [await _links(page).nth(number).locator(".meta").text_content() for number in range(2)]
    today, earlier = metas if texts[0] == "Sum fixed" else metas[::-1]
    assert today.rpartition(" · ")[2] == datetime.now().strftime("%H:%M")
    assert re.search(r" · .*(Sep|9).*\d\d:\d\d", earlier)
    await expect(page.locator("#session-title")).to_have_text("Sum fixed")


async def test_of_the_session_that_is_shown_the_list_says_what_the_page_says(page_server, open_page):
    """The list comes later than what the session itself says: they never disagree."""
    page_server.session("abcdef", title="talk", agent=True)
    await page_server.know("abcdef", running=True)
    page = await open_page("#abcdef")
    meta = _links(page).locator(".meta")
    await expect(meta).to_contain_text("working")
    await expect(page.locator("#counts")).to_have_text("1 working")
    await expect(page.get_by_role("button", name="Stop")).to_be_visible()
    await page_server.know("abcdef", running=True, requests=[_asked("request-1")])
    await expect(meta).to_contain_text("waits for you")
    await expect(page.locator("#waits")).to_be_hidden()
    await page_server.know("abcdef")
    await page_server.stand("abcdef", busy=True, waiting=1)  # what was so a moment ago
    await expect(meta).to_contain_text("idle")
    await expect(page).to_have_title("Sightline")
    await expect(page.get_by_role("button", name="Stop")).to_be_hidden()


async def test_r_goes_to_the_next_that_waits_wherever_it_is(page_server, open_page):
    """Every card of a session, then the next session's, and round again; a key too many answers and writes nothing."""
    await _four(page_server)
    page = await open_page("#dddddd")
    await expect(page.locator("#waits")).to_be_visible()
    await page.locator("#transcript").focus()
    for title in ("Other?", "First?", "Second?", "Other?"):
        await page.keyboard.press("r")
        await expect(page.get_by_role("article", name=title)).to_be_focused()
    await expect(page).to_have_url(f"{page_server.url}#bbbbbb")
    await page_server.stand("aaaaaa", waiting=0)
    await expect(page.locator("#waits")).to_be_hidden()  # the one that waits is shown
    await page.keyboard.press("r")
    await expect(page.get_by_role("article", name="Other?")).to_be_focused()
    assert page_server.posts == []
    await page_server.know("bbbbbb", running=True)
    await expect(page.get_by_role("article", name="Other?")).to_have_count(0)
    await page.locator("#transcript").focus()
    await page.keyboard.press("r")
    await expect(page.locator("#toast")).to_have_text("No session waits for you.")


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_without_a_keyboard_the_head_leads_there(page_server, open_page, scheme):
    """On a phone the count is a button, nothing is wider than the screen, and axe is content."""
    await _four(page_server)
    page = await open_page("#dddddd", color_scheme=scheme, viewport={"width": 360, "height": 700})
    waits = page.get_by_role("button", name="2 sessions wait for you")
    await expect(waits).to_be_visible()
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await page.get_by_role("button", name="Sessions", exact=True).click()
    assert await violations(page) == []
    await page.get_by_role("button", name="Sessions", exact=True).click()
    await waits.click()
    await expect(page.get_by_role("article", name="Other?")).to_be_focused()


async def test_a_conversation_in_which_nothing_was_said_has_a_name(page_server, open_page):
    """The same above it as in the list; its id stands once, below."""
    page_server.session("abcdef", agent=True)
    await page_server.know("abcdef")
    page = await open_page("#abcdef")
    await expect(page.get_by_role("heading", level=2)).to_have_text("Untitled")
    await expect(_links(page).locator(".title")).to_have_text("Untitled")
    await expect(page.locator("#session-facts")).to_contain_text("abcdef · /home/ada/app · ")


async def test_sessions_of_several_folders_say_which(page_server, open_page):
    """By as much of the folder's end as tells it apart."""
    page_server.session("aaaaaa", title="a", cwd="/home/ada/app")
    page = await open_page("#aaaaaa")
    metas = _links(page).locator(".meta")
    await expect(metas).to_have_count(1)
    await expect(metas.first).to_contain_text(" · app · ")
    page_server.session("bbbbbb", title="b", cwd="/home/ada/site")
    await expect(metas.nth(0)).to_contain_text(" · site · ")
    await expect(metas.nth(1)).to_contain_text(" · app · ")
    page_server.session("cccccc", title="c", cwd="/srv/old/site")
    await expect(metas.nth(0)).to_contain_text(" · old/site · ")
    await expect(metas.nth(1)).to_contain_text(" · ada/site · ")
    await expect(_links(page).first).to_have_attribute("title", "/srv/old/site")


async def test_older_sessions_are_offered_only_where_there_are_some(page_server, open_page):
    """Up to a hundred are all there; after the last of them the offer is gone."""
    for number in range(100):
        page_server.session(f"s{number:05d}", title=f"session {number}")
    page = await open_page("#s00099")
    older = page.get_by_role("button", name="Show older sessions")
    await expect(_links(page)).to_have_count(100)
    await expect(older).to_have_count(0)
    page_server.session("s00100", title="one more")
    await older.click()
    await expect(_links(page)).to_have_count(101)
    await expect(older).to_have_count(0)


async def test_why_a_call_failed_is_read_on_a_phone(page_server, open_page):
    """Its words wrap at the edge."""
    page_server.session("abcdef", title="talk", agent=True)
    text = "bash has no argument 'cmd' (did you mean 'cwd'?); arguments: command, timeout, cwd, async, sandbox"
    entry = {
        "kind": "call", "id": "abcdef-1", "name": "Bash", "arg": "wrong arg", "command": "", "state": "failed",
        "running": False, "total": 1, "bytes": 0, "kept": 0, "said": "", "note": "", "exit_code": None, "elapsed": 0.1,
        "shape": {"kind": "problem", "text": text, "whole": True},
    }  # fmt: skip
    await page_server.say("abcdef", **entry)
    page = await open_page("#abcdef", viewport={"width": 390, "height": 800})
    words = page.get_by_text(text)
    await expect(words).to_be_visible()
    assert await words.evaluate("e => e.scrollWidth <= e.clientWidth && e.getBoundingClientRect().right <= innerWidth")


async def test_a_command_of_the_persons_own_is_told_from_the_agents(page_server, open_page):
    """By its sign and in words; and one the agent is not told of from one it is."""
    page_server.session("abcdef", title="talk", agent=True)
    entry = {
        "kind": "call", "name": "Bash", "arg": "pwd", "command": "pwd", "state": "ok", "running": False, "total": 0,
        "bytes": 0, "kept": 0, "said": "", "note": "", "exit_code": 0, "elapsed": 0.1, "shape": None,
    }  # fmt: skip
    await page_server.say("abcdef", id="abcdef-1", by="person", own=True, **entry)
    await page_server.say("abcdef", id="abcdef-2", by="", **entry)
    await page_server.say("abcdef", id="abcdef-3", by="person", own=True, private=True, **entry)
    page = await open_page("#abcdef")
    blocks = page.locator(".block")
    await expect(blocks.nth(0).locator(".facts")).to_have_text("run by you · exit 0")
    await expect(blocks.nth(1).locator(".facts")).to_have_text("")
    await expect(blocks.nth(2).locator(".facts")).to_have_text("run by you, hidden from the agent · exit 0")
    sign = "e => getComputedStyle(e, '::before').content.split(' /')[0]"
    assert [await blocks.nth(n).locator(".command").evaluate(sign) for n in (0, 1, 2)] == ['"! "', '"$ "', '"!! "']


async def test_jobs_of_a_conversation_do_not_hide_how_its_agent_stands(page_server, open_page):
    """*idle*, *working* or *waits for you* is said of every conversation that runs, and its jobs besides."""
    page_server.session("abcdef", title="talk", agent=True)
    await page_server.start("make all")
    page = await open_page("#abcdef")
    meta = _links(page).first.locator(".meta")
    await expect(meta).to_contain_text("idle · 1 job running · app")
    await page_server.stand("abcdef", busy=True)
    await expect(meta).to_contain_text("working · 1 job running · app")


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_sessions_are_searched(page_server, open_page, scheme):
    """By what is in them, commands and recordings by their title; the list comes back when the field is empty."""
    page_server.session("aaaaaa", title="Fix the parser", agent=True)
    page_server.session("bbbbbb", title="Paint the shed", agent=True, state="ended", archived=True)
    page_server.session("cccccc", title="zebra.jsonl", kind="recording", state="ended")
    await page_server.start("count zebras", "dddddd")
    page_server.texts = {"bbbbbb": ["stripes of a ", "zebra", " in the shade"]}
    page = await open_page("#aaaaaa", color_scheme=scheme)
    titles = page.locator(".sessions > li > .entry .title")
    await expect(titles).to_have_count(3)
    field = page.get_by_role("searchbox", name="Search sessions")
    await field.fill("ZEBRA")
    await expect(titles).to_have_text(["Paint the shed", "count zebras", "zebra.jsonl"])
    await expect(page.locator(".sessions .snippet:visible")).to_have_text(["stripes of a zebra in the shade"])
    await expect(page.locator(".sessions mark")).to_have_text("zebra")
    await expect(page.locator("#search-result")).to_have_text("3 sessions found")
    assert await violations(page) == []
    await field.press("Enter")
    await expect(page.get_by_role("link", name="Paint the shed")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", level=2)).to_have_text("Paint the shed")
    await field.fill("giraffe")
    await expect(page.locator("#search-result")).to_have_text("No session found for: giraffe")
    await expect(titles).to_have_count(0)
    await field.press("Escape")
    await expect(titles).to_have_count(4)  # with the archived one that is shown
    await expect(page.locator("#search-result")).to_be_hidden()


async def test_resume_with_words_searches_sessions(page_server, open_page):
    """As in the console."""
    page_server.session("aaaaaa", title="Fix the parser", agent=True)
    page_server.session("bbbbbb", title="Paint the shed", agent=True, state="ended")
    await page_server.know("aaaaaa")
    page = await open_page("#aaaaaa", viewport={"width": 390, "height": 844})
    prompt = page.get_by_role("textbox", name="Prompt")
    await prompt.fill("/resume shed")
    await prompt.press("Enter")
    await expect(page.get_by_role("searchbox", name="Search sessions")).to_be_focused()
    await expect(page.locator(".sessions .title:visible")).to_have_text(["Paint the shed"])
