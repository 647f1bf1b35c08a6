"""By keyboard alone, with a screen reader, in light and dark, on a small screen."""

import pytest

from .axe import violations
from .glass import act, block_of, expect, moves_to

pytestmark = pytest.mark.asyncio(loop_scope="session")

_EVERY_COLOUR = "".join(
    f"\x1b[{code}m{code} words\x1b[0m "
    for code in [*range(30, 38), *range(40, 48), *range(90, 98), *range(100, 108), 1, 2, 3, 4, 7, 9]
)
_PAIRS = "\n".join(" ".join(f"\x1b[3{fg};4{bg}mpair\x1b[0m" for fg in range(8)) for bg in range(8))
_MORE = (
    " ".join(f"\x1b[38;5;{n}mcube\x1b[0m" for n in range(16, 256, 7))
    + " \x1b[38;2;250;250;240mpale\x1b[0m \x1b[2;33mdim\x1b[0m\n"
)


_OUTLINE = """() => {
    const focused = document.activeElement, style = getComputedStyle(focused);
    const name = focused.tagName + focused.className + focused.textContent.slice(0, 20);
    return [name, style.outlineStyle + style.outlineWidth];
}"""
_SHOW_BANNER = (
    "() => { const e = document.getElementById('banner'); e.hidden = false; e.textContent = 'Connection lost'; }"
)


async def _everything(server):
    """A session with every kind of entry and every state."""
    server.session("abcdef", title="Build and test")
    await server.say("abcdef", kind="message", text="Build it.", how="prompt")
    await server.say("abcdef", kind="reasoning", text="Thinking.")
    await server.say("abcdef", kind="words", text="Building.", agent="Explore-1")
    for level in ("error", "warning", "notice"):
        await server.say("abcdef", kind="remark", level=level, text="Something.", hint="do something")
    for state in ("ok", "failed", "cancelled", "timed_out", "lost"):
        job = await server.start(f"ends as {state}")
        await server.write(job, "a row\n")
        await server.end(job, 0 if state == "ok" else 1, state, "said so")
    folded = await server.lines(40)
    await server.end(folded)
    job = await server.start("still runs")
    await server.write(job, f"{_EVERY_COLOUR}\n{_PAIRS}\n{_MORE}")
    await server.write(job, "a warning \x1b[31mred\x1b[0m\n", "stderr")
    return job


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 400])
async def test_axe_finds_no_violation(page_server, open_page, scheme, width):
    """Every kind of entry, state and colour, with the search open, the banner shown and the list open."""
    job = await _everything(page_server)
    page = await open_page(color_scheme=scheme, viewport={"width": width, "height": 900})
    block = block_of(page, "still runs")
    await expect(block.locator(".row")).to_have_count(11)
    assert await violations(page) == []
    await act(block, "Search")
    await block.get_by_role("searchbox").fill("words")
    await expect(block.locator("mark").first).to_be_visible()
    await page_server.status(job, "no output for 10 s")
    await act(block, "Copy command")
    await page.evaluate(_SHOW_BANNER)
    if width < 760:
        await page.get_by_role("button", name="Sessions").click()
    assert await violations(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_no_violation_in_the_list_of_shortcuts(page_server, open_page, scheme):
    """The dialog, too."""
    page = await open_page(color_scheme=scheme)
    await page.get_by_role("button", name="Shortcuts").click()
    await expect(page.get_by_role("dialog")).to_be_visible()
    assert await violations(page) == []


async def test_changing_the_scheme_recolours_what_is_drawn(page_server, open_page):
    """Colours computed for light paper do not stay on dark."""
    job = await page_server.start("colours")
    await page_server.write(job, "\x1b[38;5;18mnavy\x1b[0m\n")
    page = await open_page(color_scheme="light")
    navy = page.get_by_text("navy", exact=True)
    await expect(navy).to_have_css("color", "rgb(0, 0, 135)")
    await page.emulate_media(color_scheme="dark")
    await expect(navy).not_to_have_css("color", "rgb(0, 0, 135)")


async def test_everything_is_reached_by_keyboard(page_server, open_page):
    """Start, watch, search, go to a row, fold, cancel and change session without a pointer."""
    await page_server.lines(500, "aaaaaa")
    page = await open_page()
    block = block_of(page, "seq 1 500")
    await moves_to(block, 500)
    await page.keyboard.press("j")
    await expect(block.get_by_role("button", name="Fold")).to_be_focused()
    await page.keyboard.press("g")
    await page.keyboard.type("250")
    await page.keyboard.press("Enter")
    await moves_to(block, 250)
    await expect(block.locator(".screen")).to_be_focused()
    await page.keyboard.press("Control+f")
    await page.keyboard.type("499")
    await expect(block.locator(".matches")).to_have_text("1 of 1")
    await page.keyboard.press("Escape")
    await expect(block.get_by_role("searchbox")).to_be_hidden()
    await page.keyboard.press("o")
    await expect(block.locator(".screen")).to_be_hidden()
    await page.keyboard.press("o")
    await page.keyboard.press("f")
    await page.keyboard.press("n")
    await page.keyboard.type("ls j k ? /")
    await expect(page.get_by_role("dialog")).to_be_hidden()
    await page.keyboard.press("Enter")
    await expect(block_of(page, "ls j k ? /")).to_be_visible()
    await expect(block_of(page, "ls j k ? /").get_by_role("button", name="Fold")).to_be_focused()
    for _ in range(20):
        await page.keyboard.press("Tab")
        if await page.evaluate("document.activeElement.textContent") == "Cancel":
            break
    await page.keyboard.press("Enter")
    await expect(block_of(page, "ls j k ? /").locator(".state")).to_have_text("cancelled")
    await page.keyboard.press("s")
    await expect(page.get_by_role("navigation").locator("[aria-current]")).to_be_focused()
    await page.keyboard.press("?")
    await expect(page.get_by_role("dialog")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_be_hidden()


async def test_the_browsers_own_search_is_left_alone_outside_a_block(page_server, open_page):
    """Ctrl+F is taken only where the browser's search could not see the rows."""
    await page_server.lines(50)
    page = await open_page()
    await expect(block_of(page, "seq 1 50")).to_be_visible()
    await page.evaluate("document.addEventListener('keydown', (event) => { window.taken = event.defaultPrevented; })")
    await page.get_by_role("button", name="Shortcuts").focus()
    await page.keyboard.press("Control+f")
    assert await page.evaluate("window.taken") is False


async def test_focus_is_visible_on_every_stop(page_server, open_page):
    """Whatever Tab reaches has an outline."""
    await _everything(page_server)
    page = await open_page()
    await expect(block_of(page, "still runs")).to_be_visible()
    stops = set()
    for _ in range(60):
        await page.keyboard.press("Tab")
        name, outline = await page.evaluate(_OUTLINE)
        if name.startswith("BODY"):
            break
        stops.add(name)
        assert outline == "solid2px", name
    assert len(stops) > 20


async def test_single_letters_can_be_turned_off(page_server, open_page):
    """For those whose speech input types them; the choice is kept."""
    await page_server.lines(50)
    page = await open_page()
    await page.get_by_role("button", name="Shortcuts").click()
    await page.get_by_role("checkbox", name="Single-key shortcuts").uncheck()
    await page.reload()
    await expect(block_of(page, "seq 1 50")).to_be_visible()
    await page.keyboard.press("n")
    await expect(page.get_by_role("textbox", name="Command")).not_to_be_focused()


async def test_a_screen_reader_hears_states_and_not_output(page_server, open_page):
    """Output is a log that is not spoken by itself; the end of a command is said, politely."""
    job = await page_server.start("make all")
    await page_server.write(job, "noise\n")
    page = await open_page()
    log = page.get_by_role("log", name="Output of make all")
    await expect(log).to_have_attribute("aria-live", "off")
    said = page.locator("#announcer")
    await expect(said).to_have_attribute("aria-live", "polite")
    await page_server.end(job, 2)
    await expect(said).to_contain_text("make all: failed, exit 2")
    assert "noise" not in await said.text_content()
    for landmark in ("main", "navigation", "banner"):
        await expect(page.get_by_role(landmark)).to_have_count(1)


async def test_on_a_small_screen_the_list_gives_way(page_server, open_page):
    """It is closed at first, opens over the page, and closes when a session is chosen."""
    await page_server.start("first", "aaaaaa")
    await page_server.start("second", "bbbbbb")
    page = await open_page("#aaaaaa", viewport={"width": 400, "height": 700})
    await expect(block_of(page, "first")).to_be_visible()
    sidebar = page.get_by_role("navigation", name="Sessions and jobs")
    await expect(sidebar).to_be_hidden()
    await page.get_by_role("button", name="Sessions").click()
    await sidebar.get_by_role("link", name="second").click()
    await expect(block_of(page, "second")).to_be_visible()
    await expect(sidebar).to_be_hidden()
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def test_nothing_moves_for_those_who_asked_for_stillness(page_server, open_page):
    """No animation runs under prefers-reduced-motion."""
    await page_server.start("make all")
    page = await open_page(reduced_motion="reduce")
    await expect(block_of(page, "make all")).to_be_visible()
    assert await page.evaluate("document.getAnimations().length") == 0


async def test_many_sessions_do_not_flood_the_list(page_server, open_page):
    """A hundred are drawn, the rest on request, and the page stays usable."""
    for number in range(300):
        page_server.session(f"s{number:05d}", title=f"session {number}")
    page = await open_page("#s00299")
    links = page.locator("#sessions").get_by_role("link")
    await expect(links).to_have_count(100)
    await page.get_by_role("button", name="Show older sessions").click()
    await expect(links).to_have_count(200)
