"""Output appears while the command runs, as a terminal would show it."""

import time

import pytest

from .glass import act, block_of, expect, moves_to, row_texts

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_output_appears_while_the_command_runs(page_server, open_page):
    """A row is on the page before the command ends, and the next one follows."""
    job = await page_server.start("make all")
    page = await open_page()
    block = block_of(page, "make all")
    await page_server.write(job, "compiling a.c\n")
    await expect(block.locator(".row")).to_have_text(["compiling a.c"])
    await expect(block.locator(".state")).to_have_text("running")
    await page_server.write(job, "compiling b.c\n")
    await expect(block.locator(".row")).to_have_text(["compiling a.c", "compiling b.c"])


async def test_first_row_is_drawn_in_the_frame_after_it_arrives(page_server, open_page):
    """Between the message and the row there is no waiting but for the next frame."""
    await page_server.start("make all")
    page = await open_page()
    await expect(block_of(page, "make all")).to_be_visible()
    await page.evaluate(
        """() => {
            window.took = new Promise((done) => new MutationObserver((_, watcher) => {
                const row = document.querySelector('.row:not(.waiting)');
                if (row) { watcher.disconnect(); done(Date.now() - Number(row.textContent)); }
            }).observe(document.getElementById('entries'), { childList: true, subtree: true }));
        }"""
    )
    await page_server.write("abcdef-1", f"{time.time() * 1000:.0f}\n")
    took = await page.evaluate("window.took")
    print(f"written to drawn: {took} ms")
    assert took < 1000  # the bound of 50 ms is measured by the benchmark, on a quiet machine


_ORDER = """async () => {
  const [{ draw }, { List }, { Block }] =
    await Promise.all(["frame", "list", "block"].map((name) => import(`/static/${name}.js`)));
  const order = [];
  const seen = (thing, name) => { thing.draw = () => { order.push(name); }; return thing; };
  draw(seen(new List(() => {}), "list"));
  draw(seen(document.querySelector(".block").block, "output"));
  await new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); });
  return order;
}"""


async def test_new_output_is_drawn_before_the_list_of_sessions(page_server, open_page):
    """Both come with a command that begins or ends; a frame that is full puts the list off, never the output."""
    await page_server.start("make")
    page = await open_page()
    await expect(block_of(page, "make")).to_be_visible()
    assert await page.evaluate(_ORDER) == ["output", "list"]


async def test_facts_that_change_nothing_in_the_list_do_not_redraw_it(page_server, open_page):
    """They come with every step of an agent."""
    page_server.session("abcdef", title="talk", agent=True)
    await page_server.know("abcdef", running=True, model="one")
    page = await open_page("#abcdef")
    await expect(page.locator("#status-facts")).to_contain_text("one")
    await page.evaluate("""async () => {
      const { List } = await import("/static/list.js");
      const original = List.prototype.draw;
      window.lists = 0;
      List.prototype.draw = function () { window.lists += 1; return original.call(this); };
    }""")
    await page_server.know("abcdef", running=True, model="two")
    await expect(page.locator("#status-facts")).to_contain_text("two")
    assert await page.evaluate("() => new Promise((done) => requestAnimationFrame(() => done(window.lists)))") == 0
    await page_server.know("abcdef", running=False, model="two")
    await page.wait_for_function("() => window.lists > 0")


async def test_a_progress_bar_is_redrawn_in_place(page_server, open_page):
    """A carriage return replaces the row; it does not add one."""
    job = await page_server.start("download")
    page = await open_page()
    block = block_of(page, "download")
    for percent in range(0, 101, 10):
        await page_server.write(job, f"\r{percent:3d}% [{'#' * (percent // 10):10}]")
    await expect(block.locator(".row")).to_have_text(["100% [##########]"])
    await page_server.write(job, "\ndone\n")
    await expect(block.locator(".row")).to_have_text(["100% [##########]", "done"])


async def test_stderr_is_told_apart_by_a_mark_and_by_words(page_server, open_page):
    """A row from stderr has a mark that is not only a colour, and says so to a screen reader."""
    job = await page_server.start("cc a.c")
    await page_server.write(job, "fine\n")
    await page_server.write(job, "a.c:1: warning\n", "stderr")
    page = await open_page()
    rows = block_of(page, "cc a.c").locator(".row")
    await expect(rows).to_have_count(2)
    assert await rows.nth(0).text_content() == "fine"
    assert await rows.nth(1).text_content() == "stderr: a.c:1: warning"
    marks = [await rows.nth(n).evaluate("row => getComputedStyle(row, '::after').content") for n in (0, 1)]
    assert marks[0] == "none"
    assert marks[1].startswith('"!"')


async def test_colours_are_drawn_from_the_rows_styles(page_server, open_page):
    """Named, 256 and true colours, inverse and weight reach the glass."""
    job = await page_server.start("colours")
    await page_server.write(
        job, "\x1b[31mred\x1b[0m \x1b[1mbold\x1b[0m \x1b[38;5;33mblue\x1b[0m \x1b[48;2;0;80;0mgreen\x1b[0m\n"
    )
    page = await open_page()
    row = block_of(page, "colours").locator(".row")

    async def css(text: str, name: str) -> str:
        return await row.get_by_text(text, exact=True).evaluate(f"e => getComputedStyle(e).{name}")

    assert await css("red", "color") == "rgb(179, 38, 30)"
    assert await css("bold", "fontWeight") == "700"
    red, green, blue = (int(part) for part in (await css("blue", "color"))[4:-1].split(","))
    assert blue > green > red
    assert await css("green", "backgroundColor") == "rgb(0, 80, 0)"


async def test_following_lets_go_when_one_scrolls_up(page_server, open_page):
    """New rows do not move what one reads; the button says how many came, and follows again."""
    job = await page_server.lines(300)
    page = await open_page()
    block = block_of(page, "seq 1 300")
    await moves_to(block, 300)
    await block.locator(".screen").hover()
    await page.mouse.wheel(0, -600)
    follow = block.get_by_role("button", name="Follow", exact=True)
    await expect(follow).to_have_attribute("aria-pressed", "false")
    # The wheel's own smooth scrolling has to come to rest before anything can be said about "does not move".
    await page.wait_for_function(
        """() => new Promise((done) => {
            const screen = document.querySelector('.screen'), before = screen.scrollTop;
            setTimeout(() => done(screen.scrollTop === before), 150);
        })"""
    )
    before = await block.locator(".screen").evaluate("e => e.scrollTop")
    await page_server.write(job, "one\ntwo\n")
    button = block.get_by_role("button", name="2 new rows ↓ Follow")
    await expect(button).to_be_visible()
    assert await block.locator(".screen").evaluate("e => e.scrollTop") == before
    await button.click()
    await moves_to(block, 302)
    await page_server.write(job, "three\n")
    await moves_to(block, 303)


async def test_silence_is_said_and_ends_with_the_next_row(page_server, open_page):
    """A status stands under the output until there is output again."""
    job = await page_server.start("sleep 60")
    page = await open_page()
    block = block_of(page, "sleep 60")
    await expect(block).to_be_visible()
    await page_server.status(job, "no output for 10 s")
    await expect(block.get_by_text("no output for 10 s")).to_be_visible()
    await page_server.write(job, "awake\n")
    await expect(block.get_by_text("no output for 10 s")).to_be_hidden()


async def test_two_pages_show_the_same(page_server, open_page):
    """Two browsers at once see every row, and a cancel in one ends it in both."""
    job = await page_server.start("make all")
    pages = [await open_page(), await open_page()]
    for number in range(20):
        await page_server.write(job, f"row {number}\n")
    blocks = [block_of(page, "make all") for page in pages]
    for block in blocks:
        await expect(block.locator(".row")).to_have_text([f"row {number}" for number in range(20)])
    await blocks[0].get_by_role("button", name="Cancel").click()
    for block in blocks:
        await expect(block.locator(".state")).to_have_text("cancelled")
    assert await row_texts(blocks[0]) == await row_texts(blocks[1])


async def test_recorded_streams_are_shown(page_server, open_page):
    """Words, messages, remarks and folded reasoning of a recording, with what its calls returned."""
    page_server.session("rec001", kind="recording", title="Recorded by claude")
    await page_server.say("rec001", kind="message", text="fix it", how="prompt")
    await page_server.say("rec001", kind="reasoning", text="let me think")
    await page_server.say("rec001", kind="words", text="Fixed.")
    await page_server.say("rec001", kind="remark", level="error", text="it broke", hint="try again")
    page = await open_page("#rec001")
    await expect(page.get_by_role("heading", name="Recorded by claude")).to_be_visible()
    await expect(page.get_by_text("fix it")).to_be_visible()
    await expect(page.get_by_text("let me think")).to_be_hidden()
    await page.get_by_text("Reasoning", exact=True).click()
    await expect(page.get_by_text("let me think")).to_be_visible()
    await expect(page.get_by_text("hint: try again")).to_be_visible()
    await page_server.say("rec001", kind="words", text="Later.")
    await expect(page.locator(".saying.words .text")).to_have_text(["Fixed.", "Later."])


async def test_passed_over_output_is_one_row(page_server, open_page):
    """What was not kept is announced in its place."""
    job = await page_server.start("yes")
    page_server.jobs[job].rows = [[["y"]], {"skipped": 4_200_000}, [["y"]]]
    page = await open_page()
    rows = block_of(page, "yes").locator(".row")
    await expect(rows).to_have_text(["y", "4.2 MB of output skipped", "y"])


_PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
_LONG = "compiling src/a/rather/long/path/to/a/file.c into build/a/rather/long/path/to/a/file.o "


async def test_on_a_phone_a_running_call_takes_two_rows_besides_its_output(page_server, open_page):
    """What is called, and how it stands with what can be done; the other actions are in a menu."""
    job = await page_server.start("make")
    await page_server.write(job, _LONG + "\n")
    page = await open_page(**_PHONE)
    block = block_of(page, "make")
    await expect(block.locator(".row")).to_have_count(1)
    state, cancel = block.locator(".state"), block.get_by_role("button", name="Cancel")
    more = block.get_by_role("button", name="Actions for make")
    rows = [await each.bounding_box() for each in (state, cancel, more)]
    middles = [box["y"] + box["height"] / 2 for box in rows]
    assert max(middles) - min(middles) < 12
    assert (await block.locator("header").bounding_box())["height"] <= 100
    await more.tap()
    menu = page.locator("#block-menu")
    await expect(menu.get_by_role("button")).to_have_text(
        ["Follow", "Search", "Copy output", "Copy command", "Download"]
    )
    await expect(menu.get_by_role("button", name="Follow")).to_have_attribute("aria-pressed", "true")
    await page.keyboard.press("Escape")
    await expect(menu).to_be_hidden()
    await expect(more).to_be_focused()


async def test_on_a_phone_long_output_wraps(page_server, open_page):
    """No scrolling sideways, the newest in sight; a search finds its row; a flood does not wrap."""
    job = await page_server.start("make")
    await page_server.write(job, "".join(f"{n} {_LONG}\n" for n in range(1, 101)))
    page = await open_page(**_PHONE)
    block = block_of(page, "make")
    screen = block.locator(".screen")
    await expect(block.locator('.row[data-n="100"]')).to_be_in_viewport()
    assert await screen.evaluate("(each) => each.scrollWidth <= each.clientWidth")
    assert (await block.locator('.row[data-n="100"]').bounding_box())["height"] > 40
    await page_server.write(job, f"101 {_LONG}\n")
    await expect(block.locator('.row[data-n="101"]')).to_be_in_viewport()
    await act(block, "Search")
    await block.get_by_role("searchbox").fill("20 compiling")
    await expect(block.locator('.row.found[data-n="20"]')).to_be_in_viewport()
    await page_server.write(job, f"102 {_LONG}\n")
    await expect(block.locator(".facts")).to_have_text("102 rows")
    await expect(block.locator('.row[data-n="20"]')).to_be_in_viewport()  # what is read stays where it is
    await page_server.write(job, "row\n" * 1000)
    await expect(block.locator(".facts")).to_have_text("1,102 rows")
    await expect(screen).not_to_have_class("screen wrapped")
    assert await block.locator(".row").count() < 200


async def test_on_a_phone_the_end_of_wrapped_output_is_followed_again(page_server, open_page):
    """By the keys, too."""
    job = await page_server.start("make")
    await page_server.write(job, "".join(f"{n} {_LONG}\n" for n in range(1, 101)))
    page = await open_page(**_PHONE)
    block = block_of(page, "make")
    await expect(block.locator('.row[data-n="100"]')).to_be_in_viewport()
    await block.locator(".screen").focus()
    await page.keyboard.press("Home")
    await expect(block.locator('.row[data-n="1"]')).to_be_in_viewport()
    await page_server.write(job, f"101 {_LONG}\n")
    await expect(block.get_by_role("button", name="1 new row")).to_be_visible()
    await page.keyboard.press("End")
    await expect(block.locator('.row[data-n="101"]')).to_be_in_viewport()
    await page_server.write(job, f"102 {_LONG}\n")
    await expect(block.locator('.row[data-n="102"]')).to_be_in_viewport()
