"""What a person sees of the page, for tests to wait for."""

from playwright.async_api import Locator, Page, expect

__all__ = ["act", "block_of", "expect", "moves_to", "row_texts"]


def block_of(page: Page, command: str) -> Locator:
    return page.get_by_role("article", name=command, exact=True)


async def row_texts(block: Locator) -> list[str]:
    """The rows that are elements now, top to bottom, as text."""
    return await block.locator(".row").all_inner_texts()


async def moves_to(block: Locator, number: int) -> None:
    """Waits until row `number` (counted from 1) is in sight, drawn, with its text."""
    row = block.locator(f'.row[data-n="{number:,}"]:not(.waiting)')
    await expect(row).to_be_in_viewport()


async def act(block: Locator, name: str) -> None:
    """One of the actions of a call: side by side, or on a phone in a menu."""
    if block.page.viewport_size["width"] < 760:
        await block.get_by_role("button", name="Actions for").click()
        await block.page.locator("#block-menu").get_by_role("button", name=name).click()
    else:
        await block.get_by_role("button", name=name).click()
