"""Five agents at once on the page: watched, steered, answered, stopped and read. A real host and a browser."""

import asyncio
from typing import Any

import pytest

from sightline.events import User

from ..page.axe import violations
from ..page.glass import expect
from .agent_host import agent_host
from .conftest import eventually

pytestmark = pytest.mark.asyncio(loop_scope="session")


def _bash(command: str) -> dict[str, Any]:
    return {"tool": "bash", "args": {"command": command}}


def _irc(op: str, **args: Any) -> dict[str, Any]:
    return {"tool": "irc", "args": {"op": op, **args}}


def _done() -> dict[str, Any]:
    return {"tool": "yield", "args": {"result": "done"}}


def _script() -> list[Any]:
    waits = "until [ -e go ]; do sleep 0.02; done; echo found-it"
    scripts = {
        "Reader": [[{"text": "Reader begins."}, _bash(waits)], [{"text": "Reader looked closer."}, _done()]],
        "Asker": [[{"text": "Asker begins."}, _bash("touch asked-for")], [{"text": "Asker goes on."}, _done()]],
        "Stray": [[{"text": "Stray begins."}, _irc("wait", timeoutMs=0)], [_done()]],
        "Writer": [[_irc("send", to="Main", message="Writer wrote this.")], [_done()]],
        "Tester": [[{"text": "Tester tested."}, _done()]],
    }
    tasks = [{"id": id, "description": f"the part of {id}", "assignment": "Do."} for id in scripts]
    call = {"tool": "task", "args": {"agent": "task", "context": "All.", "tasks": tasks}, "agents": scripts}
    return [[call], [{"text": "All five are back."}]]


async def test_five_agents_are_watched_steered_answered_and_stopped(machine, open_page):
    """Each in its group, which is unfolded and folded; a page that is opened later shows the same."""
    async with agent_host(machine.folder, _script()) as host:
        page = await open_page(f"#{host.session.id}")
        await expect(page.get_by_role("textbox", name="Prompt")).to_be_visible()
        await host.agent.prompt("share it out")
        cards = page.get_by_role("region", name="Waiting for you").locator(".card")
        for name in ("Asker", "Reader"):
            card = cards.filter(has_text=name)
            allow = card.get_by_role("button", name="Yes, this once")
            await expect(allow).to_be_enabled()
            await allow.click()
            await expect(card).to_have_count(0)
        await eventually((machine.folder / "asked-for").exists)
        await eventually(lambda: len(host.session.snapshot().mail) == 1)

        reader = page.locator(".agent").filter(has=page.get_by_role("heading", name="Reader"))
        await reader.get_by_role("button", name="Unfold: Reader").click()
        await expect(reader.get_by_text("Reader begins.").last).to_be_visible()
        field = reader.get_by_role("textbox", name="Message to Reader")
        await field.fill("look closer")
        await field.press("Enter")
        await eventually(lambda: len(host.session.snapshot().mail) == 2)
        machine.go()
        await expect(reader.get_by_text("Reader looked closer.").last).to_be_visible()
        await eventually(lambda: ("Reader", "look closer") in [(event.agent, event.text) for event in host.of(User)])

        stray = page.locator(".agent").filter(has=page.get_by_role("heading", name="Stray"))
        await stray.hover()
        await stray.get_by_role("button", name="Stop Stray").click()
        await expect(stray).to_contain_text("idle")
        await expect(page.get_by_text("All five are back.")).to_be_visible()
        await reader.get_by_role("button", name="Fold: Reader").click()
        await expect(reader.locator(".entries")).to_be_hidden()
        for name, words in {"Asker": "Asker goes on.", "Tester": "Tester tested.", "Stray": "Stray begins."}.items():
            one = page.locator(".agent").filter(has=page.get_by_role("heading", name=name))
            await one.get_by_role("button", name=f"Unfold: {name}").click()
            await expect(one.get_by_text(words).last).to_be_visible()
        assert await violations(page) == []

        later = await open_page(f"#{host.session.id}&mail")
        mail = later.get_by_role("list", name="Messages between agents").get_by_role("listitem")
        await expect(mail).to_have_count(2)
        await expect(mail.first).to_contain_text("Writer → Main m1 read")
        await expect(mail.last).to_contain_text("You → Reader m2 read")
        await expect(later.locator(".agent")).to_have_count(5)
        async with asyncio.timeout(60):
            await host.agent.wait()
