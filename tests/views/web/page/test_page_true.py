"""What the page says is what happened: a lost host, a command outside the sandbox, an answer, a level, a job."""

import pytest

from sightline.views._levels import LEVELS, LEVELS_OF_OTHERS
from sightline.views.console.blocks._header import SIGNS
from sightline.views.console.shapes._shape import seconds_words
from sightline.views.console.status._facts import count

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


_TWO_FILES = """diff --git a/run.sh b/run.sh
new file mode 100755
--- /dev/null
+++ b/run.sh
@@ -0,0 +1 @@
+make
\\ No newline at end of file
--- a/old.txt
+++ b/new.txt
@@ -1 +1,2 @@
 same
+é
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
--- a line
"""


async def test_an_approval_shows_all_that_a_diff_of_several_files_says(page_server, open_page):
    """Names, moves, deletions and modes; a removed line is never taken for a file's name."""
    page_server.session("abcdef", title="talk", agent=True)
    details = {"access": "write", "tool": "edit", "diff": _TWO_FILES, "added": 2, "removed": 1}
    await page_server.know("abcdef", running=True, requests=[_approval("/home/ada/run.sh", **details)])
    page = await open_page("#abcdef")
    card = page.locator(".card")
    await expect(card.locator("h3")).to_have_text("The agent wants to write a file (edit)")
    await expect(card.locator(".size")).to_have_text("2 lines added, 1 removed, 8 bytes")
    lines = ["diff --git a/run.sh b/run.sh", "new file mode 100755", "run.sh", "+make", "No newline at end of file"]
    moved = ["old.txt → new.txt", " same", "+é", "gone (deleted)", "--- a line"]
    await expect(card.locator(".diff .exact-line:not(.gap)")).to_have_text([*lines, *moved])
    await expect(card.locator(".diff .file")).to_have_text(["run.sh", "old.txt → new.txt", "gone (deleted)"])


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
    pane = await page.locator("#transcript").bounding_box()
    assert pane["height"] >= _PHONE["height"] * 0.2
    assert await violations(page) == []
    await page.get_by_role("button", name="Go to the end").tap()
    await expect(page.get_by_role("button", name="Yes, this once")).to_be_enabled()


_SCROLLED = """() => [document.querySelector(".requests"), ...document.querySelectorAll(".card *")].filter((each) =>
    ["auto", "scroll"].includes(getComputedStyle(each).overflowY) && each.scrollHeight > each.clientHeight + 1)
    .length"""


async def test_on_a_phone_the_fields_of_an_approval_are_not_under_its_answers(page_server, open_page):
    """One place scrolls; each field with its label is seen whole in it, within the card, and wide enough."""
    page_server.session("abcdef", title="talk", agent=True)
    command = "\n".join(f"echo line {n} of a long script" for n in range(60))
    await page_server.know("abcdef", running=True, requests=[_approval(command, rule="exec(echo *)", sandboxed=False)])
    page = await open_page("#abcdef", viewport=_PHONE, has_touch=True, is_mobile=True)
    await expect(page.get_by_role("button", name="No", exact=True)).to_be_in_viewport()
    assert await page.evaluate(_SCROLLED) == 1
    card = await page.locator(".card").bounding_box()
    answers = page.locator(".card .answering")
    for name in ("Rule to remember", "Reason for refusing"):
        field = page.get_by_label(name)
        await field.focus()
        await page.locator(".card .field", has=field).evaluate("(row) => row.scrollIntoView({ block: 'nearest' })")
        label, box = await page.get_by_text(name).bounding_box(), await field.bounding_box()
        top = (await answers.bounding_box())["y"]
        assert label["y"] >= card["y"]
        assert box["y"] + box["height"] <= top
        assert card["x"] + 10 <= box["x"]
        assert box["x"] + box["width"] <= card["x"] + card["width"] - 10
        assert box["width"] >= 300


async def test_a_question_shows_the_answer_that_was_given(page_server, open_page):
    """Open in its place: the question in the row, the answer below it, as in the console."""
    page_server.session("abcdef", title="talk", agent=True)
    answered = {"kind": "question", "question": "", "said": ["red", "and some blue"], "whole": True}
    several = {"kind": "question", "question": "One? · Two?", "said": ["One?: yes", "Two?: no"], "whole": True}
    unanswered = {"kind": "question", "question": "", "said": [], "whole": True}
    page_server.entries["abcdef"] = [
        _call(0, name="ask", arg="Which colour?", shape=answered),
        _call(1, name="ask", arg="One?", shape=several),
        _call(2, name="ask", arg="Really?", shape=unanswered, state="unanswered"),
    ]
    await page_server.know("abcdef")
    page = await open_page("#abcdef")
    first = page.get_by_role("article", name="ask Which colour?")
    await expect(first.locator(".said li")).to_have_text(["red", "and some blue"])
    await expect(first.locator(".said")).to_be_visible()
    await expect(first.locator(".asked")).to_have_count(0)
    await expect(page.get_by_role("article", name="ask One?").locator(".asked")).to_have_text("One? · Two?")
    await expect(page.get_by_role("article", name="ask Really?").locator(".shape")).to_have_text("not answered")
    await expect(page.get_by_role("article", name="ask Really?").locator(".sign")).to_have_text("–")


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


async def test_times_and_token_counts_are_written_as_in_the_console(open_page):
    """Whole seconds, `1 min 31 s`; `12.3k`, `1M`."""
    page = await open_page()
    times = [0, 0.9, 59.99, 60, 91.2, 3599.9, 3600, 7384, 90_000]
    counts = [0, 999, 1000, 1049, 12_000, 12_345, 99_949, 99_950, 200_000, 999_499, 999_500, 1_000_000, 1_234_567]
    script = """async ([times, counts]) => {
      const { seconds, tokens } = await import("/static/format.js");
      return [times.map(seconds), counts.map(tokens)];
    }"""
    assert await page.evaluate(script, [times, counts]) == [
        [seconds_words(each) for each in times],
        [count(each) for each in counts],
    ]


async def test_states_have_the_signs_of_the_console(open_page):
    """A session shown in both looks the same."""
    page = await open_page()
    same = {"running": "running", "ok": "ok", "failed": "error", "timed_out": "error", "refused": "error"}
    same |= {"cancelled": "stopped", "unanswered": "stopped", "unfinished": "stopped", "job": "background"}
    script = """async (names) => {
      const { stateOf } = await import("/static/format.js");
      return names.map((name) => stateOf(name).sign);
    }"""
    assert await page.evaluate(script, list(same)) == [SIGNS[name][0] for name in same.values()]
