"""What the page says is what happened: a lost host, a command outside the sandbox, an answer, a level, a job."""

import pytest

from sightline.views._levels import LEVELS, LEVELS_OF_OTHERS

from .axe import violations
from .glass import expect

pytestmark = pytest.mark.asyncio(loop_scope="session")

_PHONE = {"width": 390, "height": 844}


def _call(n, **more):
    return {
        "kind": "call", "n": n, "id": f"abcdef-{n}", "agent": "", "name": "Bash", "arg": "", "command": "",
        "state": "ok", "running": False, "total": 0, "bytes": 0, "kept": 0, "said": "", "note": "", "exit_code": None,
        "elapsed": 0.5, "shape": None, "own": False, **more,
    }  # fmt: skip


def _approval(command="make", **details):
    said = {
        "ui": {"kind": "approval"}, "tool": "bash", "call": "abcdef-9", "access": "exec", "what": command,
        "rule": f"exec({command})", "cwd": "/home/ada/app", "args": {"command": command}, **details,
    }  # fmt: skip
    choices = ["once", "this session", "always here", "no"]
    return {"id": "request-1", "what": "approval", "text": "bash wants to run it", "choices": choices, "details": said}


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_a_host_that_was_killed_is_said_to_be_lost(page_server, open_page, scheme):
    """Not an end like any other: when it was last active, and how to resume it, here and in a terminal."""
    page_server.session("abcdef", title="talk", agent=True, state="lost")
    await page_server.say("abcdef", kind="message", text="go", how="prompt")
    await page_server.know("abcdef", live=False, resumable=True, lost=1_790_000_000)
    page = await open_page("#abcdef", color_scheme=scheme, timezone_id="UTC", locale="en-GB")
    over = page.locator("#talk-over")
    said = "This session ended unexpectedly. Last activity 21 Sept, 14:13."
    await expect(over).to_contain_text(said)
    await expect(over).to_contain_text("Resume with: sightline --resume abcdef")
    await expect(over.get_by_role("button", name="Resume")).to_be_visible()
    await expect(page.locator("#status-state")).to_have_text("? lost")
    await expect(page.locator("#sessions .meta")).to_contain_text("lost · ")
    assert await violations(page) == []
    await page_server.know("abcdef", live=False, resumable=True)
    await expect(over).to_contain_text("This session has ended.")
    await expect(page.locator("#status-state")).to_have_text("· ended")


async def test_a_call_outside_the_sandbox_is_marked_in_its_row(page_server, open_page):
    """With the console's words; one that the sandbox held, or the user typed, has no mark."""
    page_server.session("abcdef", title="talk", agent=True)
    page_server.entries["abcdef"] = [_call(0, command="make", outside=True), _call(1, command="ls", outside=False)]
    await page_server.know("abcdef")
    page = await open_page("#abcdef")
    await expect(page.get_by_role("article", name="make").locator(".outside")).to_have_text("outside the sandbox")
    await expect(page.get_by_role("article", name="ls").locator(".outside")).to_be_hidden()


@pytest.mark.parametrize(
    ("details", "title"),
    [
        ({"sandboxed": False}, "The agent wants to run a command outside the sandbox"),
        ({"sandboxed": True}, "The agent wants to run a command in the sandbox"),
        ({}, "The agent wants to run a command"),  # of another program: no sandbox of ours
    ],
)
async def test_an_approval_says_where_it_runs_as_far_as_it_is_known(page_server, open_page, details, title):
    """The sandbox is named for agents that run in ours."""
    page_server.session("abcdef", title="talk", agent=True)
    await page_server.know("abcdef", running=True, requests=[_approval(**details)])
    page = await open_page("#abcdef")
    await expect(page.locator(".card h3")).to_have_text(title)


async def test_no_answer_to_an_approval_looks_like_the_right_one(page_server, open_page):
    """All have one look, in the console's order; the focus ring shows which one a key would press."""
    page_server.session("abcdef", title="talk", agent=True)
    await page_server.know("abcdef", running=True, requests=[_approval(sandboxed=False, leaves=True)])
    page = await open_page("#abcdef")
    buttons = page.locator(".card .choices button")
    await expect(buttons).to_have_text(["Yes, this once", "Yes, for this session", "Yes, always in this folder", "No"])
    await expect(page.locator(".card .choices button[aria-disabled=true]")).to_have_count(0)
    look = """(all) => all.map((each) => getComputedStyle(each)).map((style) =>
        [style.backgroundColor, style.color, style.borderColor, style.fontWeight].join())"""
    assert len(set(await buttons.evaluate_all(look))) == 1
    await page.get_by_label("Reason for refusing").focus()
    await page.keyboard.press("Tab")
    await expect(buttons.first).to_be_focused()
    assert await buttons.first.evaluate("(each) => getComputedStyle(each).outlineStyle") == "solid"


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_on_a_phone_an_approval_leaves_room_and_its_answers_are_in_sight(page_server, open_page, scheme):
    """A long command scrolls in a place of its own; the transcript keeps a fifth of the screen."""
    page_server.session("abcdef", title="talk", agent=True)
    await page_server.say("abcdef", kind="words", text="Before I publish it, this has to run.")
    command = "\n".join(f"echo line {n} of a long script" for n in range(60))
    await page_server.know("abcdef", running=True, requests=[_approval(command, sandboxed=False, why="it asks to")])
    page = await open_page("#abcdef", viewport=_PHONE, color_scheme=scheme, has_touch=True, is_mobile=True)
    for name in ("Yes, this once", "Yes, for this session", "Yes, always in this folder", "No"):
        await expect(page.get_by_role("button", name=name, exact=True)).to_be_in_viewport(ratio=1)
    await expect(page.get_by_text("Before I publish it")).to_be_in_viewport()
    content = await page.locator(".card .content").bounding_box()
    assert content["height"] <= _PHONE["height"] * 0.3
    pane = await page.locator("#transcript").bounding_box()
    assert pane["height"] >= _PHONE["height"] * 0.2
    assert await violations(page) == []
    await page.get_by_role("button", name="Go to the end").tap()
    await expect(page.get_by_role("button", name="Yes, this once")).to_be_enabled()


async def test_a_question_shows_the_answer_that_was_given(page_server, open_page):
    """Open in its place: the question in the row, the answer below it, as in the console."""
    page_server.session("abcdef", title="talk", agent=True)
    answered = {"kind": "question", "question": "", "said": ["red", "and some blue"], "whole": True}
    several = {"kind": "question", "question": "One? · Two?", "said": ["One?: yes", "Two?: no"], "whole": True}
    unanswered = {"kind": "question", "question": "", "said": [], "whole": True}
    page_server.entries["abcdef"] = [
        _call(0, name="ask", arg="Which colour?", shape=answered),
        _call(1, name="ask", arg="One?", shape=several),
        _call(2, name="ask", arg="Really?", shape=unanswered),
    ]
    await page_server.know("abcdef")
    page = await open_page("#abcdef")
    first = page.get_by_role("article", name="ask Which colour?")
    await expect(first.locator(".said li")).to_have_text(["red", "and some blue"])
    await expect(first.locator(".said")).to_be_visible()
    await expect(first.locator(".asked")).to_have_count(0)
    await expect(page.get_by_role("article", name="ask One?").locator(".asked")).to_have_text("One? · Two?")
    await expect(page.get_by_role("article", name="ask Really?").locator(".shape")).to_have_text("not answered")


async def test_levels_are_described_in_the_words_of_the_console(page_server, open_page):
    """In the form, for our agent and another program's, and beside the level that holds."""
    page_server.session("abcdef", title="talk", agent=True)
    await page_server.know("abcdef", approval={"level": "edit"})
    page = await open_page("#abcdef")
    await expect(page.locator("#approval")).to_have_attribute("title", f"edit: {LEVELS['edit']}")
    await page.get_by_role("link", name="New session").click()
    options = page.locator("#new-level option")
    ours = [f"{name}: {LEVELS[name]}" for name in ("plan", "edit", "auto")]
    await expect(options).to_have_text(["as the settings say (auto)", *ours])
    await page.get_by_label("Agent", exact=True).select_option("claude")
    theirs = [f"{name}: {LEVELS_OF_OTHERS[name]}" for name in ("plan", "auto")]
    await expect(options).to_have_text(["as its own settings say", *theirs])


async def test_a_call_that_became_a_job_says_so(page_server, open_page):
    """The arrow, and which job it is; not the sign of something done."""
    page_server.session("abcdef", title="talk", agent=True)
    page_server.entries["abcdef"] = [_call(0, command="make watch", state="job", job="abcdef-12")]
    await page_server.know("abcdef")
    page = await open_page("#abcdef")
    block = page.get_by_role("article", name="make watch")
    await expect(block.locator(".sign")).to_have_text("↗")
    await expect(block.locator(".state")).to_have_text("running in background, job 1")
    await expect(block.locator(".state")).to_be_in_viewport(ratio=1)
