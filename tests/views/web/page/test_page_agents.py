"""What an agent's block says about it: its name and task, how it stands, and what can be done with it."""

import pytest

from .axe import violations
from .glass import expect

pytestmark = pytest.mark.asyncio(loop_scope="session")

_WINDOWS = [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")]
_AGENTS = [
    {"path": "Writer", "task": "writes notes", "running": True, "state": "running", "model": "claude-fable-5"},
    {"path": "Counter", "task": "counts everything that is in the folder and writes down how much of it there is, with "
     "the names of the three largest files", "running": False, "state": "idle", "unread": 2,
     "copy": "worktree: 3 files +40 −2", "model": "claude-fable-5"},
    {"path": "review", "task": "Review the uncommitted changes", "running": False, "state": "idle", "is_error": True},
]  # fmt: skip
# One line of text, whatever it is set in.
_LINES = """(title) => {
    const range = document.createRange();
    range.selectNodeContents(title);
    return new Set([...range.getClientRects()].map(({ bottom }) => Math.round(bottom / 6))).size;
}"""


async def _agents(server):
    server.session("abcdef", title="Three agents", agent=True)
    for agent in _AGENTS:
        await server.say("abcdef", kind="words", agent=agent["path"], text="One.\n\nTwo.")
    shared = {"is_error": False, "talks": True, "started": 1_790_000_000.0, "ended": 1_790_000_075.0}
    await server.know("abcdef", running=True, agents=[{**shared, "name": a["path"], **a} for a in _AGENTS])


@pytest.mark.parametrize(("width", "scheme"), _WINDOWS)
async def test_the_head_of_an_agent_has_the_whole_line(page_server, open_page, width, scheme):
    """Nothing is left free for what appears on hover, how it stands is beside or right below its title, and what
    appears stays inside of the head."""
    await _agents(page_server)
    page = await open_page("#abcdef", viewport={"width": width, "height": 860}, color_scheme=scheme)
    for path, lines in (("Writer", 1), ("Counter", None), ("review", 1)):
        agent = page.locator(f"section.agent:has(.agent-name:text('{path}'))")
        head, title, standing = (agent.locator(part) for part in ("header", "h3", ".standing"))
        await expect(standing).to_contain_text("1 min 15 s" if path == "Counter" else "·")
        if lines is not None:
            assert await title.evaluate(_LINES) == lines, path
        around, above, below = [await each.bounding_box() for each in (head, title, standing)]
        assert around["height"] <= max(above["height"] + below["height"], 26) + 4, path
        assert below["x"] >= above["x"], path
        await head.hover()
        await expect(agent.locator(".controls")).to_have_css("opacity", "1")
        message = agent.get_by_label(f"Message to {path}")
        field = await message.bounding_box()
        assert field["x"] >= around["x"], path
        assert field["x"] + field["width"] <= around["x"] + around["width"], path
        assert (await head.bounding_box())["height"] == around["height"], path
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert await violations(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_running_steps_have_one_colour(page_server, open_page, scheme):
    """That of what runs, whether it is the active one or not; the active one is bold."""
    statuses = (("Alpha", "ok"), ("Beta", "running"), ("Gamma", "running"))
    items = [{"agent": name, "task": "looks", "status": status, "preview": "", "active": name == "Gamma"}
             for name, status in statuses]  # fmt: skip
    page_server.session("abcdef", title="talk", agent=True)
    page_server.entries["abcdef"].append({
        "kind": "call", "n": 0, "id": "abcdef-1", "agent": "", "name": "Task", "arg": "", "command": "", "total": 0,
        "state": "running", "running": True, "elapsed": 1.0, "own": False,
        "shape": {"kind": "steps", "mode": "parallel", "items": items, "total": 3, "suffix": "1 ok / 3", "whole": True},
    })  # fmt: skip
    page = await open_page("#abcdef", color_scheme=scheme)
    rows = page.locator(".steps li")
    await expect(rows).to_have_count(3)
    looks = await rows.evaluate_all("""(rows) => rows.map((row) => {
        const { color, fontWeight } = getComputedStyle(row.querySelector(".agent-name"));
        return [color, fontWeight, getComputedStyle(row).backgroundColor];
    })""")
    (ended, running, active) = looks
    assert running[0] == active[0] != ended[0]
    assert running[2] == active[2] == ended[2]
    assert running[1] != active[1]
