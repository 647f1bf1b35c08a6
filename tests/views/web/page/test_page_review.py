"""Reviews on the page: what to review is chosen, and what was found is read, fixed and dismissed."""

import pytest

from .axe import violations
from .glass import expect

pytestmark = pytest.mark.asyncio(loop_scope="session")

_PHONE = {"width": 390, "height": 844}
_DIFF = "@@ -2,1 +2,1 @@\n-    return x / 2\n+    return x // 2"
_CHOICES = {
    "uncommitted": 2,
    "main": "main",
    "ahead": 3,
    "branches": ["work", "main", "--evil <b>"],
    "commits": [{"id": "abc1234567", "title": "Round <i>"}],
}


def _finding(number, title, **more):
    fix = f"[P{number}] a.py:{number}: {title}"
    return {
        "number": number, "priority": number, "title": title, "place": f"a.py:{number}", "path": "a.py",
        "body": "**Why**", "diff": _DIFF, "fix": fix, **more,
    }  # fmt: skip


def _review(*findings):
    shape = {
        "kind": "review", "review": "abcdef-c1", "suffix": "changes requested", "problem": "", "summary": "It rounds.",
        "findings": list(findings), "notes": [], "fix": {"one": "Fix this:", "all": "Fix these:"}, "whole": True,
    }  # fmt: skip
    return {
        "kind": "call", "n": 1, "id": "abcdef-c1", "agent": "", "name": "Review", "arg": "main..HEAD", "command": "",
        "state": "ok", "running": False, "total": 30, "bytes": 0, "kept": 0, "said": "", "note": "", "exit_code": None,
        "elapsed": 0.5, "shape": shape, "own": True, "by": "",
    }  # fmt: skip


async def _shown(server, open_page, *findings, dismissed=None, **options):
    server.session("abcdef", title="talk", agent=True)
    server.entries["abcdef"] = [_review(*findings)]
    await server.know("abcdef", **({"dismissed_findings": dismissed} if dismissed else {}))
    page = await open_page("#abcdef", **options)
    return page, page.get_by_role("textbox", name="Prompt")


async def test_a_review_is_a_list_of_what_was_found(page_server, open_page):
    """Open, with the first finding; each has its place, and when it is opened its text and the lines there."""
    page, _ = await _shown(page_server, open_page, _finding(0, "it rounds"), _finding(3, "a <b>nit</b>"))
    block = page.get_by_role("article", name="Review main..HEAD")
    await expect(block.locator(".shape > .markdown, .shape > div").first).to_contain_text("It rounds.")
    await expect(block.locator(".finding > summary")).to_have_text(["P0a.py:0it rounds", "P3a.py:3a <b>nit</b>"])
    first, second = block.locator(".finding").first, block.locator(".finding").last
    await expect(first.locator(".diff-line.added")).to_contain_text("return x // 2")
    await expect(first.locator("strong")).to_have_text("Why")
    await expect(second.locator(".diff")).to_be_hidden()
    await second.locator("summary").press("Enter")
    await expect(second.locator(".diff-line.removed")).to_have_attribute("data-n", "2")
    assert await page.locator(".facts").first.inner_text() == "changes requested"


async def test_what_is_found_becomes_a_prompt(page_server, open_page):
    """One finding, or all that are not dismissed, after what is being written; nothing is sent."""
    found = [_finding(0, "it rounds"), _finding(1, "another"), _finding(3, "a nit")]
    page, prompt = await _shown(page_server, open_page, *found)
    await page.get_by_role("button", name="Fix this").first.click()
    await expect(prompt).to_have_value("Fix this:\n\n[P0] a.py:0: it rounds")
    await expect(prompt).to_be_focused()
    await prompt.fill("Careful.")
    await page.locator(".finding").nth(1).locator("summary").click()
    await page.locator(".finding").nth(1).get_by_role("button", name="Dismiss").click()
    await page_server.know("abcdef", dismissed_findings={"abcdef-c1": [1]})
    dismissed = page.locator(".finding.dismissed")
    await expect(dismissed).to_contain_text("another")
    await expect(dismissed.get_by_role("button", name="Restore")).to_be_visible()
    await page.get_by_role("button", name="Fix all").click()
    await expect(prompt).to_have_value("Careful.\n\nFix these:\n\n1. [P0] a.py:0: it rounds\n\n2. [P3] a.py:3: a nit")
    await dismissed.get_by_role("button", name="Restore").click()
    await page_server.know("abcdef", dismissed_findings={})
    await expect(page.locator(".finding.dismissed")).to_have_count(0)
    post = {"review": "abcdef-c1", "finding": 1}
    assert page_server.posts == [("findings", {**post, "dismissed": True}), ("findings", {**post, "dismissed": False})]


async def test_what_was_dismissed_before_is_shown_so(page_server, open_page):
    """Also of a review that is drawn after the facts have come."""
    found = [_finding(0, "it rounds"), _finding(1, "another")]
    found[0]["number"], found[1]["number"] = 1, 2
    page, prompt = await _shown(page_server, open_page, *found, dismissed={"abcdef-c1": [2], "other-c1": [1]})
    await expect(page.locator(".finding.dismissed")).to_contain_text("another")
    await page.get_by_role("button", name="Fix all").click()
    await expect(prompt).to_have_value("Fix this:\n\n[P0] a.py:0: it rounds")


async def test_what_cannot_be_dismissed_is_reported(page_server, open_page):
    page, _ = await _shown(page_server, open_page, _finding(0, "it rounds"), expect_errors=True)
    page_server.refusal = "the session is ending"
    await page.get_by_role("button", name="Dismiss").click()
    await expect(page.locator("#toast")).to_contain_text("the session is ending")
    await expect(page.locator(".finding.dismissed")).to_have_count(0)


async def _dialog(server, open_page, text="/review", **options):
    server.session("abcdef", title="talk", agent=True)
    await server.know("abcdef")
    page = await open_page("#abcdef", **options)
    prompt = page.get_by_role("textbox", name="Prompt")
    await prompt.fill(text)
    await prompt.press("Enter")
    return page, page.get_by_role("dialog", name="Review a change")


@pytest.mark.parametrize(
    ("choose", "text"),
    [
        (None, ""),
        ("Changes against", "main"),
        ("A commit or a range", "abc1234567"),
    ],
)
async def test_what_to_review_is_chosen(page_server, open_page, choose, text):
    """By keyboard, too; the main branch and the last commit are there already."""
    page_server.to_review = _CHOICES
    _, dialog = await _dialog(page_server, open_page)
    await expect(dialog.get_by_role("radio", name="Uncommitted changes")).to_be_checked()
    await expect(dialog).to_contain_text("2 files")
    await expect(dialog).to_contain_text("3 commits that main has not")
    if choose:
        await dialog.get_by_role("radio", name=choose).check()
    await dialog.get_by_role("button", name="Review").press("Enter")
    await expect(dialog).to_be_hidden()
    assert page_server.posts == [("review", {"text": text})]


async def test_a_branch_or_a_range_chooses_itself(page_server, open_page):
    """With what to look at; what is refused stays in the dialog."""
    page_server.to_review = _CHOICES
    _, dialog = await _dialog(page_server, open_page, "/review -- the locking", expect_errors=True)
    await expect(dialog.get_by_role("textbox", name="Look above all at")).to_have_value("the locking")
    await dialog.get_by_role("combobox", name="Branch").select_option("--evil <b>")
    await expect(dialog.get_by_role("radio", name="Changes against")).to_be_checked()
    await dialog.get_by_role("combobox", name="Commit or range").fill("v1..HEAD")
    await expect(dialog.get_by_role("radio", name="A commit or a range")).to_be_checked()
    page_server.refusal = "no branch, commit or range v1"
    await dialog.get_by_role("button", name="Review").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("no branch, commit or range v1")
    page_server.refusal = ""
    await dialog.get_by_role("button", name="Review").click()
    await expect(dialog).to_be_hidden()
    assert page_server.posts == [("review", {"text": "v1..HEAD -- the locking"})]


async def test_what_there_is_nothing_of_cannot_be_chosen(page_server, open_page):
    """And a folder that is no repository is one line below the prompt."""
    page_server.to_review = {"uncommitted": 0}
    page, dialog = await _dialog(page_server, open_page, expect_errors=True)
    await expect(dialog).to_contain_text("there are none")
    await expect(dialog).to_contain_text("there is no branch yet")
    for radio in await dialog.get_by_role("radio").all():
        await expect(radio).to_be_disabled()
    await expect(dialog.get_by_role("button", name="Review")).to_be_disabled()
    await page.keyboard.press("Escape")
    await expect(dialog).to_be_hidden()
    page_server.refusal = "not in a git repository that can be used: /tmp"
    prompt = page.get_by_role("textbox", name="Prompt")
    await prompt.fill("/review")
    await prompt.press("Enter")
    await expect(page.locator("#talk-problem")).to_contain_text("not in a git repository")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [{"width": 1200, "height": 800}, _PHONE], ids=["desktop", "phone"])
async def test_axe_finds_no_violation_in_a_review(page_server, open_page, scheme, size):
    """The list with everything open, one dismissed, and the dialog; nothing is wider than the window, and what is
    pressed on a phone is large enough for a finger."""
    page_server.to_review = _CHOICES
    found = [_finding(number, f"finding {number} {'long ' * 20}") for number in range(4)]
    for number, each in enumerate(found, 1):
        each["number"] = number
    page, prompt = await _shown(
        page_server, open_page, *found, dismissed={"abcdef-c1": [2]}, color_scheme=scheme, viewport=size
    )
    await expect(page.locator(".finding")).to_have_count(4)
    for finding in (await page.locator(".finding").all())[1:]:
        await finding.locator("summary").press("Enter")
    await expect(page.locator(".finding .diff:visible")).to_have_count(4)
    assert await violations(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    if size is _PHONE:
        for button in await page.locator(".finding button, .fix-all").all():
            box = await button.bounding_box()
            assert min(box["width"], box["height"]) >= 44
    await prompt.fill("/review")
    await prompt.press("Enter")
    dialog = page.get_by_role("dialog", name="Review a change")
    await expect(dialog).to_be_visible()
    assert await violations(page) == []
    box = await dialog.bounding_box()
    assert box["width"] <= size["width"]
