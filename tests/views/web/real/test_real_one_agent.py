"""One agent on the page: its address, the link to it, and a message to it. A real host, a scripted model, a browser."""

import asyncio
from typing import Any

import pytest

from sightline.events import User

from ..page.axe import violations
from ..page.glass import expect
from .agent_host import AgentHost, agent_host
from .conftest import eventually

pytestmark = pytest.mark.asyncio(loop_scope="session")

_LONG = "\n\n".join(f"Line {number} of many." for number in range(200))


def _task(id: str, *turns: list[Any]) -> dict[str, Any]:
    return {"tool": "task", "args": {"agent": "task", "assignment": "Do.", "id": id}, "agents": {id: list(turns)}}


def _yield(result: str) -> dict[str, Any]:
    return {"tool": "yield", "args": {"result": result}}


_SCRIPT: list[Any] = [
    [{"text": "First."}, _task("Scout", [{"text": "Scout was here."}, _yield("seen")])],
    [_task("Digger", [{"text": "Digger was here."}, _yield("dug")], [{"text": "Digger read that."}, _yield("again")])],
    [{"text": _LONG}],
]


async def _worked(host: AgentHost) -> None:
    await host.agent.prompt("go")
    async with asyncio.timeout(90):
        await host.agent.wait()


async def test_an_agent_has_an_address(machine, open_page):
    """Opened, its group is unfolded and in sight, and no other is; its own link leads there."""
    async with agent_host(machine.folder, _SCRIPT) as host:
        await _worked(host)
        page = await open_page(f"#{host.session.id}&agent=Digger")
        digger, scout = page.get_by_role("region", name="Digger"), page.get_by_role("region", name="Scout")
        await expect(digger.get_by_text("Digger was here.").last).to_be_visible()
        await expect(digger.locator("header").first).to_be_in_viewport()
        await expect(digger.get_by_role("button", name="Fold: Digger")).to_be_focused()
        await expect(scout.get_by_role("button", name="Unfold: Scout")).to_have_attribute("aria-expanded", "false")
        await scout.hover()
        await scout.get_by_role("link", name="Link to Scout").click()
        await expect(scout.get_by_role("button", name="Fold: Scout")).to_be_focused()
        assert await page.evaluate("location.hash") == f"#{host.session.id}&agent=Scout"
        assert await violations(page) == []


async def test_an_agent_is_written_to(machine, open_page):
    """The field is there on hover and with the focus; the agent reads the message, and the group shows it."""
    async with agent_host(machine.folder, _SCRIPT) as host:
        await _worked(host)
        page = await open_page(f"#{host.session.id}&agent=Digger")
        digger = page.get_by_role("region", name="Digger")
        field = digger.get_by_role("textbox", name="Message to Digger")
        await field.focus()
        await expect(digger.locator(".controls")).to_have_css("opacity", "1")
        await expect(page.get_by_role("region", name="Scout").locator(".controls")).to_have_css("opacity", "0")
        await field.fill("deeper")
        await page.keyboard.press("Enter")
        await expect(digger.get_by_text("Digger read that.").last).to_be_visible()
        await expect(field).to_have_value("")
        await eventually(lambda: ("Digger", "deeper") in [(event.agent, event.text) for event in host.of(User)])
