"""Approvals on the page: all of what is asked for can be seen, and nothing is allowed before its end was."""

import unicodedata

import pytest

from sightline.host import SetApproval
from sightline.text import visible

from ..page.axe import violations
from ..page.glass import expect
from .agent_host import agent_host

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def _say(page, text):
    await page.get_by_role("textbox", name="Prompt").fill(text)
    await page.keyboard.press("Enter")


def _write(path, content):
    return [[{"tool": "write", "args": {"path": str(path), "content": content}}], [{"text": "All done."}]]


def _ask(command):
    return [[{"tool": "bash", "args": {"command": command}}], [{"text": "All done."}]]


async def test_a_long_write_is_allowed_only_after_its_end_was_seen(machine, open_page):
    """All of its lines are there, its size is said first, and what is written is what was shown."""
    content = "".join(f"line {n} of a file that is longer than any page\n" for n in range(5001))
    target = machine.folder.parent / "long.txt"
    async with agent_host(machine.folder, _write(target, content)) as host:
        page = await open_page(f"#{host.session.id}")
        await _say(page, "go")
        card = page.locator(".card")
        await expect(card.locator(".size")).to_have_text("New file, 5,001 lines, 238 KB", timeout=30_000)
        await expect(card.locator(".exact-line.added")).to_have_count(5001)
        allow = card.get_by_role("button", name="Yes, this once")
        await expect(allow).to_be_disabled()
        await expect(card.get_by_role("button", name="Yes, for this session")).to_be_disabled()
        await expect(card.get_by_role("button", name="No", exact=True)).to_be_enabled()
        await expect(card.locator("button.main")).to_have_count(0)  # none of the answers is offered more than another
        assert await violations(page) == []
        await card.get_by_role("button", name="Go to the end").click()
        await expect(allow).to_be_enabled()
        await expect(card.get_by_text("Scroll to the end to allow")).to_be_hidden()
        await allow.click()
        await expect(page.get_by_text("All done.")).to_be_visible()
    assert target.read_text() == content


async def test_the_end_key_in_what_is_asked_for_reaches_it(machine, open_page):
    """By keyboard alone."""
    command = "\n".join(f"echo {n}" for n in range(200))
    async with agent_host(machine.folder, _ask(command)) as host:
        page = await open_page(f"#{host.session.id}")
        await _say(page, "go")
        card = page.locator(".card")
        allow = card.get_by_role("button", name="Yes, this once")
        await expect(allow).to_be_disabled()
        await card.get_by_role("region", name="What is asked for").focus()
        await page.keyboard.press("End")
        await expect(allow).to_be_enabled()
        await card.get_by_role("button", name="No", exact=True).click()
        await expect(page.get_by_text("All done.")).to_be_visible()


async def test_what_is_blank_in_a_command_is_seen(machine, open_page):
    """Two hundred blanks, a carriage return, an override, a blank of another kind."""
    command = f"echo ok{' ' * 200}; echo \r\u202e\u00a0end "
    async with agent_host(machine.folder, _ask(command)) as host:
        page = await open_page(f"#{host.session.id}")
        await _say(page, "go")
        shown = page.locator(".card .command-text")
        await expect(shown).to_have_text("echo ok⟨200 spaces⟩; echo ␍⟨U+202E⟩⟨U+00A0⟩end·")
        await expect(page.get_by_role("button", name="Yes, this once")).to_be_enabled()
        await page.get_by_role("button", name="No", exact=True).click()
        await expect(page.get_by_text("All done.")).to_be_visible()


async def test_the_level_on_the_page_is_the_one_in_force(machine, open_page):
    """Whoever changes it; and it can be changed here."""
    async with agent_host(machine.folder, [[{"text": "Hello."}]]) as host:
        page, other = await open_page(f"#{host.session.id}"), await open_page(f"#{host.session.id}")
        await _say(page, "go")
        await expect(page.get_by_text("Hello.")).to_be_visible()
        for level in ("plan", "full", "edit"):
            assert (await host.session.submit(SetApproval(level=level))).ok
            for tab in (page, other):
                await expect(tab.get_by_role("region", name="Status").get_by_label("Approval level")).to_have_value(
                    level
                )
        await page.get_by_role("region", name="Status").get_by_label("Approval level").select_option("plan")
        await expect(other.get_by_role("region", name="Status").get_by_label("Approval level")).to_have_value("plan")
        await expect(page.get_by_role("region", name="Status").get_by_label("Approval level")).to_have_value("plan")
        assert host.agent.permissions.level == "plan"


def _touching(folder, count):
    calls = [{"tool": "bash", "args": {"command": f"touch {folder}/{n}", "sandbox": False}} for n in range(count)]
    return [calls, [{"text": "All done."}]]


async def _middle(locator):
    box = await locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@pytest.mark.parametrize("gap", [0, 150, 400])
async def test_a_second_click_does_not_allow_what_slides_under_it(machine, open_page, gap):
    """A double click, or an impatient one: the next card comes to stand where the first was, and takes no click yet."""
    outside = machine.folder.parent / f"touched-{gap}"
    outside.mkdir()
    async with agent_host(machine.folder, _touching(outside, 3)) as host:
        page = await open_page(f"#{host.session.id}")
        await _say(page, "go")
        cards = page.locator(".card")
        await expect(cards).to_have_count(3)
        allow = cards.first.get_by_role("button", name="Yes, this once")
        await expect(allow).to_have_attribute("aria-disabled", "false")
        x, y = await _middle(allow)
        if gap:
            await page.mouse.click(x, y)
            await page.wait_for_timeout(gap)
            await page.mouse.click(x, y)
        else:
            await page.mouse.dblclick(x, y)
        await expect(cards).to_have_count(2)
        await page.wait_for_timeout(300)
        await expect(cards).to_have_count(2)
        await expect(allow).to_have_attribute("aria-disabled", "false")
        await allow.click()
        await expect(cards).to_have_count(1)
        await cards.first.get_by_role("button", name="No", exact=True).click()
        await expect(page.get_by_text("All done.")).to_be_visible()
    assert sorted(path.name for path in outside.iterdir()) == ["0", "1"]


# It goes on moving, so that it has not stood still by the time a slow machine clicks.
_MOVING = """() => {
  const card = document.querySelector(".card");
  let margin = 40;
  const move = () => { card.style.marginBottom = `${(margin = 81 - margin)}px`; };
  move();
  window.moving = setInterval(move, 50);
}"""


async def test_a_yes_that_moved_takes_no_click(machine, open_page):
    """Whatever moved it: it has to stand still for a moment first; no is answered at once."""
    async with agent_host(machine.folder, _ask("touch here")) as host:
        page = await open_page(f"#{host.session.id}")
        await _say(page, "go")
        allow = page.get_by_role("button", name="Yes, this once")
        await expect(allow).to_be_enabled()
        await page.evaluate(_MOVING)
        await page.mouse.click(*await _middle(allow))
        await expect(allow).to_have_attribute("aria-disabled", "true")
        await page.evaluate("clearInterval(window.moving)")
        await page.get_by_role("button", name="No", exact=True).click()
        await expect(page.get_by_text("All done.")).to_be_visible()
    assert not (machine.folder / "here").exists()


_MARKED = """async ([before, after, starts]) => {
  const { visible } = await import("/static/exact.js");
  const found = { marked: [], unassigned: [] };
  for (const start of starts) {
    const points = [...Array(0x1000).keys()].map((n) => start + n).filter((point) => point !== 10);
    const lines = points.map((point) => before + String.fromCodePoint(point) + after);
    const shown = visible(lines.join("\\n")).split("\\n");
    points.forEach((point, n) => {
      if (shown[n] !== lines[n]) found.marked.push(point);
      if (/\\p{Cn}/u.test(String.fromCodePoint(point))) found.unassigned.push(point);
    });
  }
  return found;
}"""


@pytest.mark.slow
@pytest.mark.parametrize("around", ["ab", "яя"])
async def test_the_page_and_the_console_mark_the_same_characters(open_page, around):
    """All there are, but those that only one of the two knows: Python and a browser come with Unicode of their own.
    Planes 4 to 13 have no characters: of each the first and the last 4,096 places."""
    page = await open_page("")
    before, after = around
    starts = [at for at in range(0, 0x110000, 0x1000) if not 0x40000 <= at < 0xE0000 or at % 0x10000 in (0, 0xF000)]
    found = await page.evaluate(_MARKED, [before, after, starts])
    on_page, unknown = set(found["marked"]), set(found["unassigned"])
    points = [start + n for start in starts for n in range(0x1000) if start + n != 10]
    lines = [f"{before}{chr(point)}{after}" for point in points]
    shown = zip(points, lines, visible("\n".join(lines)).split("\n"), strict=True)
    in_console = {point for point, line, seen in shown if line != seen}
    unassigned = {point for point in points if unicodedata.category(chr(point)) == "Cn"}
    assert sorted((in_console ^ on_page) - (unknown ^ unassigned)) == []
    assert {0x1D159, 0x16FE4, 0x1107F, 0x13441, 0x13442, 0x2800, 0x3164, 0x202E} <= on_page
    assert not on_page & set(map(ord, "aZ0~éяあ中"))


async def test_the_page_and_the_console_show_the_same_text(open_page):
    """Where what stands around a character counts."""
    page = await open_page("")
    text = "\n".join(
        [
            "a" + "\u0301" * 9,
            "я" + "\u0301" * 9 + "\n\u0301",
            "echo \u05d0; rm -rf \u05d1\n\u05d0 \u05d1\nx\u200b",
            "\u05d0\u200b\u05d1",
            "👩‍👩‍👧 ✔️ x\ufe0f",
            "\ud800 \U0001d159 \r\n\t\x7f\x9b",
        ]
    )
    shown = await page.evaluate(
        """async (units) => (await import("/static/exact.js")).visible(String.fromCharCode(...units))""",
        [int.from_bytes(pair) for pair in _pairs(text.encode("utf-16-be", "surrogatepass"))],
    )
    assert shown == visible(text)


def _pairs(data):
    return [data[at : at + 2] for at in range(0, len(data), 2)]


async def test_a_write_is_described_as_the_console_describes_it(machine, open_page):
    """Who wants to do what, the path once and as it is, and the size of the file, not of the diff."""
    target = machine.folder.parent / "x.conf"
    async with agent_host(machine.folder, _write(target, "a\nb\nc\n")) as host:
        page = await open_page(f"#{host.session.id}")
        await _say(page, "go")
        card = page.locator(".card")
        await expect(card.locator("h3")).to_have_text("The agent wants to write a file")
        await expect(card.locator(".size")).to_have_text("New file, 3 lines, 6 bytes")
        await expect(card.locator(".path-text")).to_have_text(str(target))
        await expect(card.locator(".diff .exact-line")).to_have_text(["+a", "+b", "+c"])
        await card.get_by_role("button", name="No", exact=True).click()
        await expect(page.get_by_text("All done.")).to_be_visible()
