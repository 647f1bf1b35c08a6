"""Signing in: one click on the printed URL, and nothing of the token where another server or a log could see it."""

import asyncio
import contextlib

import pytest

from ..conftest import serving
from ..page.axe import violations
from ..page.glass import expect
from .conftest import session_of

pytestmark = pytest.mark.asyncio(loop_scope="session")

SIGN_IN = "Open the address that sightline serve printed."


class Neighbour:
    """Another server on another port of this machine; it remembers every byte it is sent."""

    def __init__(self) -> None:
        self.heard = b""
        self.url = ""

    async def __aenter__(self) -> "Neighbour":
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            self.heard += await reader.read(65536)
            writer.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi"
            )
            await writer.drain()
        writer.close()


async def test_the_printed_url_signs_in_and_the_token_leaves_the_address(machine, open_page):
    """One click; then a reload and a second tab of the same browser are signed in, without the token in sight."""
    job = await machine.run("echo", "hello")
    asked = []
    page = await open_page(f"#{session_of(job)}")
    page.context.on("request", lambda request: asked.append(request.url))
    await expect(page.locator(".row")).to_have_text(["hello"])
    assert page.url == f"{machine.served.base}/#{session_of(job)}"
    await page.reload()
    await expect(page.locator(".row")).to_have_text(["hello"])
    second = await page.context.new_page()
    await second.goto(f"{machine.served.base}/")
    await expect(second.locator(".row")).to_have_text(["hello"])
    assert await page.context.cookies() == []
    assert asked
    assert not any(machine.served.token in url for url in asked)
    assert await page.evaluate("history.length") <= 2


async def test_a_server_on_another_port_of_the_same_host_hears_nothing_of_it(machine, open_page, browser):
    """Neither in a cookie nor in a referrer, when the same browser goes there or loads something from there."""
    await machine.run("echo", "hello")
    async with Neighbour() as neighbour:
        page = await open_page()
        await expect(page.locator(".row")).to_have_text(["hello"])
        context = await browser.new_context(storage_state=await page.context.storage_state())
        tab = await context.new_page()
        await tab.goto(f"{machine.served.base}/")
        await expect(tab.locator(".row")).to_have_text(["hello"])
        await tab.goto(neighbour.url)
        await context.close()
        assert neighbour.heard.startswith(b"GET / HTTP/1.1")
        assert machine.served.token.encode() not in neighbour.heard
        assert b"cookie:" not in neighbour.heard.lower()
        assert machine.served.base.encode() not in neighbour.heard


async def test_the_url_works_through_a_tunnel_on_another_port(machine, cable, open_page):
    """`ssh -L`: the origin is another, the way to sign in the same."""
    await machine.run("echo", "hello")
    page = await open_page(through=cable)
    await expect(page.locator(".row")).to_have_text(["hello"])
    await page.reload()
    await expect(page.locator(".row")).to_have_text(["hello"])


async def test_a_link_in_the_older_form_signs_in_and_is_cleaned(machine, browser):
    """`/?token=` of a bookmark or a script: moved out of the address and of the history at once."""
    job = await machine.run("echo", "hello")
    context = await browser.new_context()
    page = await context.new_page()
    await page.goto(f"{machine.served.base}/?token={machine.served.token}#{session_of(job)}")
    await expect(page.locator(".row")).to_have_text(["hello"])
    assert page.url == f"{machine.served.base}/#{session_of(job)}"
    await context.close()


async def test_without_the_token_the_page_says_what_to_do_and_shows_nothing(machine, browser):
    """The shell alone: no session, no job, no name."""
    await machine.run("echo", "hello")
    context = await browser.new_context()
    page = await context.new_page()
    await page.goto(f"{machine.served.base}/")
    await expect(page.get_by_text(SIGN_IN)).to_be_visible()
    await expect(page.locator("#sessions a")).to_have_count(0)
    await expect(page.get_by_text("Connecting…")).to_be_hidden()
    for role in ("button", "textbox", "searchbox", "link"):
        await expect(page.get_by_role(role).filter(visible=True)).to_have_count(0 if role != "link" else 1)  # to skip
    assert "`" not in await page.locator("body").inner_text()
    assert await violations(page) == []
    await page.goto(f"{machine.served.base}/#token=wrong")
    await expect(page.get_by_text(SIGN_IN)).to_be_visible()
    await context.close()


async def test_the_url_of_a_restarted_server_signs_the_open_tab_in_again(machine, browser):
    """On the same port only the part behind # differs, for which a browser loads nothing anew."""
    await machine.run("echo", "hello")
    port = machine.served.base.rpartition(":")[2]
    context = await browser.new_context()
    page = await context.new_page()
    await page.goto(f"{machine.served.base}/#token={machine.served.token}")
    await expect(page.locator(".row")).to_have_text(["hello"])
    machine.served.process.terminate()
    machine.served.process.wait()
    with serving(machine.served.home, "--port", port, stop_hosts=False) as again:
        await expect(page.get_by_text(SIGN_IN)).to_be_visible()
        await expect(page.locator(".row")).to_have_text(["hello"])  # what was read stays
        await expect(page.get_by_role("button", name="Run")).to_be_hidden()
        await page.evaluate("(token) => { location.hash = `token=${token}`; }", again.token)
        await expect(page.locator("#banner")).to_be_hidden()
        await expect(page.get_by_role("button", name="Run")).to_be_visible()
        assert again.token not in page.url
        await context.close()
