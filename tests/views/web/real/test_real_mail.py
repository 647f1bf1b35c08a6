"""The messages between agents on the page: a real host, a scripted model, a browser."""

import asyncio
from typing import Any

import pytest

from sightline.events import User

from ..page.axe import violations
from ..page.glass import expect
from .agent_host import AgentHost, agent_host

pytestmark = pytest.mark.asyncio(loop_scope="session")

_HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>\u202e"
_LONG = "\n".join(f"line {number} of a long message" for number in range(2000))


def _irc(**args: Any) -> dict[str, Any]:
    return {"tool": "irc", "args": {"op": "send", **args}}


def _tasks(scripts: dict[str, list[Any]]) -> dict[str, Any]:
    tasks = [{"id": id, "description": "does", "assignment": "Do."} for id in scripts]
    return {"tool": "task", "args": {"agent": "task", "context": "All.", "tasks": tasks}, "agents": scripts}


def _yield() -> list[Any]:
    return [{"tool": "yield", "args": {"result": "done"}}]


def _script(first: list[Any]) -> list[Any]:
    scripts = {
        "Scout": [*first, _yield(), [{"text": "Scout read that."}], [{"text": "Scout read more."}]],
        "Digger": [_yield(), [{"text": "Digger read that."}], [{"text": "Digger read more."}]],
    }
    return [[_tasks(scripts)], [{"text": "So."}], [{"text": "Main read that."}], [{"text": "Main read more."}]]


async def _worked(host: AgentHost) -> None:
    await host.agent.prompt("go")
    async with asyncio.timeout(90):
        await host.agent.wait()


async def test_messages_are_read_answered_and_written(machine, open_page):
    """The panel has every message with what became of it; an answer goes to its sender, a new one to whom is chosen."""
    async with agent_host(machine.folder, _script([[_irc(to="Main", message=_HOSTILE)]])) as host:
        await _worked(host)
        page = await open_page(f"#{host.session.id}&mail")
        mail = page.get_by_role("list", name="Messages between agents").get_by_role("listitem")
        await expect(page.get_by_text("Mail · 1 message", exact=True)).to_be_visible()
        await expect(mail).to_have_count(1)
        await expect(mail.first.locator(".head")).to_contain_text("Scout → Main m1 read")
        await expect(mail.first.locator(".text")).to_have_text("<img src=x onerror=alert(1)><script>alert(2)</script>")
        form = page.get_by_role("form", name="Write to agents")
        field = form.get_by_role("textbox", name="Message")
        await mail.first.get_by_role("button", name="Answer m1").click()
        await expect(field).to_be_focused()
        await expect(form).to_contain_text("answers m1")
        await page.keyboard.type("What is that?")
        await page.keyboard.press("Enter")
        await expect(mail).to_have_count(2)
        await expect(mail.last.locator(".head")).to_contain_text("You → Scout m2 answers m1 · woken · read")
        await expect(page.get_by_role("region", name="Scout").get_by_text("Scout read that.").last).to_be_attached()
        await form.get_by_role("combobox", name="To").select_option(label="all agents")
        await field.fill("Stop for today.")
        await page.keyboard.press("Enter")
        await expect(mail.last.locator(".head")).to_contain_text("You → all m3 3 read")
        await expect(field).to_have_value("")
        told = [(event.agent, event.mail, event.text.rpartition("\n")[2]) for event in host.of(User) if event.mail]
        assert sorted(told[1:]) == [
            ("", "m3", "Stop for today."),
            ("Digger", "m3", "Stop for today."),
            ("Scout", "m2", "What is that?"),
            ("Scout", "m3", "Stop for today."),
        ]
        assert await violations(page) == []


async def test_a_message_has_an_address_and_can_be_read_whole(machine, open_page):
    """Opened, that message has the focus, however many came after it."""
    many = [_irc(to="Digger", message=f"text {number}") for number in range(120)]
    first = [[_irc(to="Main", message=_LONG), *many]]
    async with agent_host(machine.folder, _script(first)) as host:
        await _worked(host)
        page = await open_page(f"#{host.session.id}&mail=m1")
        mail = page.get_by_role("list", name="Messages between agents").get_by_role("listitem")
        await expect(mail.first).to_be_focused()
        await expect(mail.first).to_be_in_viewport()
        await expect(mail).to_have_count(121)
        await expect(mail.first.locator(".text")).not_to_contain_text("line 1999")
        await mail.first.get_by_role("button", name="Show all").click()
        await expect(mail.first.locator(".text")).to_contain_text("line 1999 of a long message")
        await expect(mail.first).to_be_focused()


async def test_on_a_phone_it_fits(machine, open_page):
    """Nothing is wider than the window, and everything is large enough for a finger."""
    async with agent_host(machine.folder, _script([[_irc(to="Main", message="word" * 200)]])) as host:
        await _worked(host)
        page = await open_page(f"#{host.session.id}&mail", viewport={"width": 360, "height": 700})
        mail = page.get_by_role("list", name="Messages between agents").get_by_role("listitem")
        await expect(mail).to_have_count(1)
        assert await page.evaluate("document.documentElement.scrollWidth") == 360
        for one in await page.locator("#mail :is(button, a, input, select):visible").all():
            box = await one.bounding_box()
            assert box["height"] >= 40, await one.evaluate("(element) => element.outerHTML")
        assert await violations(page) == []


async def test_what_comes_while_it_is_open_is_shown_live(machine, open_page):
    """Unread messages are counted as they are read."""
    async with agent_host(machine.folder, _script([])) as host:
        await _worked(host)
        page = await open_page(f"#{host.session.id}&mail")
        title = page.locator("#mail-title")
        await expect(title).to_have_text("Mail")
        directory = host.session.worker.team.directory
        scout = directory.get("Scout")
        scout.become("running")  # it reads nothing by itself
        directory.send(None, "Scout", "Are you there?")
        await expect(title).to_have_text("Mail · 1 message · 1 unread")
        await expect(page.get_by_role("region", name="Scout")).to_contain_text("1 unread")
        scout.become("idle")
        directory.wake(scout, scout.mailbox.take("m1"))
        await expect(title).to_have_text("Mail · 1 message")
        mail = page.get_by_role("list", name="Messages between agents").get_by_role("listitem")
        await expect(mail.locator(".head")).to_contain_text("Main → Scout m1 read")
