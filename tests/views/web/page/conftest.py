"""A browser for all page tests, a server and a page for each, and no test passes with an error in the console."""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright, expect

from tests import needs

from ..fake_api import FakeServer

WAIT_MS = 60_000

expect.set_options(timeout=WAIT_MS)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    needs.require(["chromium"])
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=needs.chromium(), args=["--no-sandbox"])
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def page_server() -> AsyncIterator[FakeServer]:
    server = FakeServer()
    await server.up()
    yield server
    await server.down()


OpenPage = Callable[..., Awaitable[Page]]


@pytest_asyncio.fixture(loop_scope="session")
async def open_page(browser: Browser, page_server: FakeServer) -> AsyncIterator[OpenPage]:
    """Opens the page; `expect_errors` for tests that take the server away, which the browser itself reports."""
    contexts, problems = [], []

    async def open(address: str = "", *, expect_errors: bool = False, **options: object) -> Page:
        context = await browser.new_context(**{"viewport": {"width": 1200, "height": 800}, **options})
        contexts.append(context)
        page = await context.new_page()
        page.set_default_timeout(WAIT_MS)
        page.on("pageerror", lambda error: problems.append(str(error)))
        if not expect_errors:
            page.on("console", lambda said: problems.append(said.text) if said.type in ("error", "warning") else None)
        await page.goto(page_server.url + address)
        return page

    yield open
    for context in contexts:
        await context.close()
    assert problems == [], "the page reported errors"
