"""A review on the page: chosen, live, its findings dismissed and fixed. A real host, a real repository, a browser."""

import asyncio
from typing import Any

import msgspec
import pytest

from sightline.events import User
from sightline.working_copies import ChangeChoices
from tests.working_copies.conftest import git, make_repository

from ..page.glass import expect
from ..test_api import fits
from .agent_host import agent_host
from .conftest import eventually

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.needs("git")]


def _finding(title: str, **more: Any) -> dict[str, Any]:
    return {"tool": "report_finding", "args": {"title": title, "file": "app.py", "first_line": 2, **more}}


_VERDICT = {"verdict": "request_changes", "summary": "It **rounds**.", "confidence": 0.8}
_SCRIPT: list[Any] = [
    {
        "agents": {
            "Review": [
                [{"text": "I look."}, {"tool": "bash", "args": {"command": "echo looked"}}],
                [_finding("it rounds <b>now</b>", body="Why.", priority=0), _finding("a nit", priority=3)],
                [{"tool": "yield", "args": {"result": _VERDICT}}],
            ]
        }
    },
    [{"text": "Fixed."}],
]


def _project(folder: Any) -> None:
    (folder / "app.py").write_text("def half(x):\n    return x / 2\n")
    make_repository(folder)
    (folder / "app.py").write_text("def half(x):\n    return x // 2\n")


async def test_a_change_is_reviewed_from_the_page(machine, open_page):
    """The review is live beside the conversation; a second tab sees what was dismissed; the prompt is sent by hand."""
    _project(machine.folder)
    async with agent_host(machine.folder, _SCRIPT) as host:
        page = await open_page(f"#{host.session.id}")
        prompt = page.get_by_role("textbox", name="Prompt")
        await prompt.fill("/review")
        await page.keyboard.press("Enter")
        dialog = page.get_by_role("dialog", name="Review a change")
        await expect(dialog).to_contain_text("1 file")
        await dialog.get_by_role("button", name="Review").click()
        running = page.get_by_role("article", name="Review the uncommitted changes")
        await expect(running.get_by_role("button", name="Cancel")).to_be_visible()
        await expect(page.get_by_role("region", name="Review").get_by_text("I look.").first).to_be_visible()
        await page.get_by_role("button", name="Yes, this once").click()
        await expect(running).to_contain_text("changes requested, 2 findings")
        await expect(running.locator("strong").first).to_have_text("rounds")
        first = running.locator(".finding").first
        await expect(first.locator("summary")).to_have_text("P0app.py:2it rounds <b>now</b>")
        await expect(first.locator(".diff-line.added")).to_contain_text("return x // 2")
        await first.get_by_role("button", name="Dismiss").click()
        await expect(first).to_contain_text("dismissed")
        other = await open_page(f"#{host.session.id}", viewport={"width": 390, "height": 844})
        await expect(other.locator(".finding.dismissed")).to_contain_text("it rounds")
        await page.get_by_role("button", name="Fix all").click()
        await expect(prompt).to_have_value(
            "Fix this finding of a review of the uncommitted changes:\n\n[P3] app.py:2: a nit"
        )
        assert not [event for event in host.of(User) if not event.agent]
        await page.keyboard.press("Enter")
        await expect(page.get_by_text("Fixed.")).to_be_visible()


async def test_a_review_is_cancelled_on_the_page(machine, open_page):
    """What it had found by then is there; nothing of it runs on."""
    _project(machine.folder)
    script = [{"agents": {"Review": [[_finding("early")], *_SCRIPT[0]["agents"]["Review"]]}}]
    async with agent_host(machine.folder, script) as host:
        page = await open_page(f"#{host.session.id}")
        await page.get_by_role("textbox", name="Prompt").fill("/review HEAD")
        await page.keyboard.press("Enter")
        review = page.get_by_role("article", name="Review commit")
        await expect(page.get_by_role("region", name="Review").get_by_text("I look.").first).to_be_visible()
        await review.get_by_role("button", name="Cancel").click()
        await expect(review).to_contain_text("cancelled")
        await expect(review.locator(".finding")).to_contain_text("early")
        await expect(page.locator(".card")).to_have_count(0)
        await eventually(lambda: not host.session.worker.busy)


async def test_what_there_is_to_review_is_as_the_document_says(machine):
    """Checked against its schema, and refused in a session whose folder is no repository."""
    async with agent_host(machine.folder, []) as host:
        address = f"/api/sessions/{host.session.id}/review"
        refused = await _get(machine, address)
        assert refused.status_code == 409
        assert "not in a git repository" in refused.json()["error"]
        _project(machine.folder)
        answer = await _get(machine, address)
        document = machine.served.get("/api/openapi.json").json()
        described = document["paths"]["/api/sessions/{id}/review"]["get"]["responses"]["200"]
        assert fits(answer.json(), described["content"]["application/json"]["schema"], document)
        choices = msgspec.convert(answer.json(), ChangeChoices)
        assert choices.uncommitted == 1
        assert choices.branches == [git(machine.folder, "branch", "--show-current").strip()]


async def _get(machine: Any, address: str) -> Any:
    return await asyncio.to_thread(machine.served.get, address)
