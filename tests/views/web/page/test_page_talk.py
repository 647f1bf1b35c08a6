"""Talking with an agent on the page: the prompt, what must be answered, how it stands, and what its calls show."""

import asyncio

import pytest

from .axe import violations
from .glass import expect

pytestmark = pytest.mark.asyncio(loop_scope="session")

_APPROVAL = {
    "id": "request-1",
    "what": "approval",
    "text": "bash wants to run `make`",
    "agent": "Explore-1",
    "choices": ["once", "this session", "always here", "no"],
    "details": {
        "ui": {"kind": "approval"},
        "tool": "bash",
        "call": "abcdef-1",
        "access": "exec",
        "what": "make",
        "rule": "exec(make)",
        "cwd": "/home/ada/app",
        "sandboxed": False,
        "args": {"command": "make\n" + "x" * 300, "timeout": 5},
    },
}
_TOTALS = {
    "": {"input_tokens": 12_000, "output_tokens": 300, "cost": 0.25},
    "Explore-1": {"output_tokens": 700, "cost": 0.5},
}
_TODO = [{"name": "Fix", "tasks": [{"text": "Look", "status": "completed"}, {"text": "Mend", "status": "in_progress"}]}]


def _step(n, status, **more):
    return {
        "agent": f"Agent{n}",
        "task": f"task {n}",
        "status": status,
        "preview": f"preview {n}",
        "active": False,
        **more,
    }


def _call(n, shape, **more):
    return {
        "kind": "call",
        "n": n,
        "id": f"abcdef-{n}",
        "name": "Tool",
        "arg": f"arg {n}",
        "command": "",
        "state": "ok",
        "running": False,
        "total": 0,
        "bytes": 0,
        "kept": 0,
        "said": "",
        "note": "",
        "exit_code": None,
        "elapsed": 0.5,
        "shape": shape,
        **more,
    }


_SHAPES = [
    {
        "kind": "steps",
        "mode": "chain",
        "items": [_step(n, s) for n, s in enumerate(["ok", "error", "running", "pending", ""])],
        "total": 5,
        "suffix": "1 ok · 1 err / 5",
    },
    {
        "kind": "diff",
        "path": "a.py",
        "text": "--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n same",
        "added": 1,
        "removed": 1,
        "whole": True,
    },
    {
        "kind": "todo",
        "phases": [
            {
                "name": "P",
                "tasks": [
                    {"text": t, "status": t, "notes": ["a note"]}
                    for t in ("pending", "in_progress", "completed", "abandoned")
                ],
            }
        ],
    },
    {"kind": "jobs", "jobs": [{"id": "abcdef-7", "label": "make", "status": "running", "seconds": 3}]},
    {"kind": "code", "path": "a.py", "first": 7, "text": "one\ntwo"},
    {"kind": "found", "count": 2, "text": "a.py\nb.py"},
    {"kind": "question", "question": "Which?", "said": ["red"]},
    {"kind": "table", "columns": ["a", "b"], "rows": [["1", "2"]]},
    {"kind": "markdown", "text": "**strong**"},
    {"kind": "json", "value": {"deep": {"er": [1, "two", None]}}},
    {"kind": "writing", "text": '{"path": "a.py", "content": "line\\nline'},
]


async def _shapes(server):
    server.session("abcdef", title="Every shape")
    for n, shape in enumerate(_SHAPES, 1):
        args = {"a": {"b": 1}} if n == 1 else None
        server.entries["abcdef"].append(
            _call(n, shape, state="failed" if shape["kind"] in ("code", "found") else "ok", args=args)
        )
    await server.say("abcdef", kind="words", text="# Top\n\n## Below\n\ntext", agent="Explore-1")
    await server.say("abcdef", kind="message", text="a reminder", how="prompt", source="todo")


async def _unfold_all(page, blocks=None):
    await expect(page.locator(".block")).to_have_count(blocks or len(_SHAPES))  # they are made over several frames
    folds = page.locator(".block.folded > header > .fold:visible")
    for left in range(await folds.count(), 0, -1):
        await folds.first.press("Enter")
        await expect(folds).to_have_count(left - 1)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 400])
async def test_axe_finds_no_violation_in_a_conversation(page_server, open_page, scheme, width):
    """Every shape, a subagent, requests of every kind, todo, queue and status."""
    await _shapes(page_server)
    question = {
        "id": "request-2",
        "what": "question",
        "text": "Which?",
        "details": {"choices": [{"label": "a", "description": "b"}]},
    }
    dialogs = [
        {
            "id": f"request-{n}",
            "what": "dialog",
            "text": "Name?",
            "choices": ["x"],
            "details": {"ui": {"kind": kind}, "extension": "e", "message": "m"},
        }
        for n, kind in enumerate(("select", "confirm", "input", "editor", "custom"), 3)
    ]
    await page_server.know(
        "abcdef",
        requests=[_APPROVAL, question, *dialogs],
        todo=_TODO,
        queue=[{"text": "later", "how": "follow_up"}],
        running=True,
        model="fable",
        thinking="high",
        context={"used": 10, "of": 100},
        totals=_TOTALS,
        agents=[{"path": "Explore-1", "name": "Explore", "task": "look", "running": True, "is_error": False}],
        ui_widgets={"e.w": {"lines": ["a widget"], "placement": "above"}},
        ui_status={"e.s": "fine"},
    )
    page = await open_page("#abcdef", color_scheme=scheme, viewport={"width": width, "height": 7000})
    await expect(page.locator(".card")).to_have_count(7)
    await page.locator("#todo summary").click()
    await page.get_by_role("button", name="Unfold: Explore-1").click()
    await _unfold_all(page)
    await expect(page.locator(".shape:visible")).to_have_count(len(_SHAPES))
    assert await violations(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    line = page.locator("#status-facts")
    await expect(line).to_have_text("fable (high) · 10% of 100 · ↑12k ↓1k · $0.75 · 1 agent · 1 waiting · fine")


async def test_a_subagent_that_takes_another_prompt_shows_what_it_is(page_server, open_page):
    """Its state in words, its model, and what it has not read; while it runs it runs."""
    agent = {"path": "Explore", "name": "Explore", "task": "look", "running": False, "is_error": False}
    page_server.session("abcdef", title="talk", agent=True)
    await page_server.say("abcdef", kind="words", agent="Explore", text="I look")
    await page_server.know("abcdef", agents=[{**agent, "state": "idle", "model": "fable", "unread": 2}])
    page = await open_page("#abcdef")
    facts = page.locator(".agent .facts")
    await expect(facts).to_have_text("idle · 0 calls · fable · 2 unread")
    await page_server.know("abcdef", agents=[{**agent, "state": "idle", "stopped": True}])
    await expect(facts).to_have_text("stopped by you · idle · 0 calls")
    await expect(page.locator(".agent .sign")).to_have_text("–")
    await page_server.know("abcdef", agents=[{**agent, "state": "aborted", "model": "fable"}])
    await expect(facts).to_have_text("aborted · 0 calls · fable")
    await page_server.know("abcdef", agents=[{**agent, "state": "running", "running": True}])
    await expect(facts).to_contain_text("running · 0 calls")


async def test_shapes_are_drawn_by_what_they_are(page_server, open_page):
    """Signs of steps, signs of a diff, tasks, rows of a table, a tree that opens."""
    await _shapes(page_server)
    page = await open_page("#abcdef")
    await _unfold_all(page)

    def shape(kind):
        return page.locator(f".shape[data-kind={kind}]")

    await expect(shape("steps").locator(".step-sign")).to_have_text(["✓", "✕", "◌", "○", "·"])
    await expect(shape("diff").locator(".added")).to_have_text("+new")
    await expect(shape("diff").locator(".removed")).to_have_text("-old")
    await expect(shape("todo").locator(".task-sign")).to_have_text(["○", "◌", "✓", "–"])
    await expect(shape("todo").locator(".task-note")).to_have_text("a note")
    await expect(shape("table").locator("td")).to_have_text(["1", "2"])
    await expect(shape("markdown").locator("strong")).to_have_text("strong")
    await shape("json").get_by_text("deep").click()
    await shape("json").get_by_text("er: ").click()
    await expect(shape("json").locator(".leaf")).to_have_text(["0: 1", "1: two", "2: null"])
    await expect(shape("writing").locator("pre")).to_contain_text("line\nline")


async def test_eight_steps_at_first_and_fifty_when_asked(page_server, open_page):
    """And how many more there are; previews are shown with all of them. (delegation-ui.md, caps)"""
    page_server.session("abcdef")
    items = [_step(n, "ok") for n in range(50)]
    page_server.entries["abcdef"].append(
        _call(1, {"kind": "steps", "mode": "parallel", "items": items, "total": 60, "suffix": "60 ok / 60"})
    )
    page = await open_page("#abcdef")
    await page.get_by_role("button", name="Unfold").click()
    rows = page.locator(".steps li")
    await expect(rows).to_have_count(8)
    await expect(page.get_by_text("… 52 more …")).to_be_visible()
    await expect(page.locator(".preview")).to_have_count(0)
    await page.get_by_role("button", name="Show all").click()
    await expect(rows).to_have_count(50)
    await expect(page.locator(".preview")).to_have_count(50)
    await expect(page.get_by_text("… 10 more …")).to_be_visible()
    await expect(page.get_by_role("button", name="Show less")).to_be_focused()


async def test_everything_a_subagent_does_is_in_one_group(page_server, open_page):
    """Folded it shows the last three things; unfolded all of them, and an agent of its own inside it."""
    page_server.session("abcdef")
    for n in range(5):
        await page_server.say("abcdef", kind="words", text=f"first\nsays {n}", agent="Explore-1")
    await page_server.say("abcdef", kind="words", text="Main says", agent="")
    await page_server.say("abcdef", kind="words", text="deep words", agent="Explore-1/Read-1")
    page = await open_page("#abcdef")
    group = page.get_by_role("region", name="Explore-1", exact=True)
    await expect(group.locator("> .activity li")).to_have_text(["says 2", "says 3", "says 4"])
    await expect(group.locator("> .entries")).to_be_hidden()
    await group.get_by_role("button", name="Unfold: Explore-1", exact=True).click()
    await expect(group.locator("> .entries > .saying")).to_have_count(5)
    inner = group.get_by_role("region", name="Explore-1/Read-1")
    await expect(inner.locator(".activity li")).to_have_text("deep words")
    await expect(page.locator("#entries > *")).to_have_count(2)


async def test_a_side_question_is_open_and_takes_no_message(page_server, open_page):
    """Its answer is in sight while it is written, until the user folds it."""
    agent = {"path": "btw-1", "name": "btw-1", "task": "why?", "running": True, "is_error": False, "aside": True}
    page_server.session("abcdef", title="talk", agent=True)
    await page_server.say("abcdef", kind="words", agent="btw-1", text="Because")
    await page_server.know("abcdef", agents=[agent])
    page = await open_page("#abcdef")
    group = page.locator(".agent")
    await expect(group.locator(".agent-name")).to_have_text("Side question btw-1")
    await expect(group.locator("> .entries > .saying")).to_have_text("Because")
    await expect(group.locator("> .entries")).to_be_visible()
    await expect(group.get_by_role("textbox")).to_have_count(0)
    await group.get_by_role("button", name="Fold: btw-1").click()
    await page_server.know("abcdef", agents=[{**agent, "running": False}])
    await expect(group.locator("> .entries")).to_be_hidden()


async def test_a_job_that_ends_moves_to_where_it_ended(page_server, open_page):
    """The same call under another place is moved, not shown twice."""
    page_server.session("abcdef")
    page_server.entries["abcdef"] = [_call(1, None), {"kind": "words", "text": "meanwhile", "agent": "", "n": 2}]
    page = await open_page("#abcdef")
    await expect(page.locator("#entries > *").last).to_contain_text("meanwhile")
    page_server._send("entries", {"reset": False, "entries": [_call(1, None) | {"n": 9}]}, "abcdef")
    await expect(page.locator("#entries > *").last).to_contain_text("arg 1")
    await expect(page.locator(".block")).to_have_count(1)


async def test_what_cannot_be_sent_stays_in_the_field(page_server, open_page):
    """The refusal is shown and spoken, and nothing typed is lost."""
    page_server.session("abcdef")
    await page_server.know("abcdef")
    page_server.refusal = "the agent is gone"
    page = await open_page("#abcdef", expect_errors=True)
    prompt = page.get_by_role("textbox", name="Prompt")
    await prompt.fill("precious words")
    await prompt.press("Enter")
    await expect(page.get_by_role("alert")).to_have_text("the agent is gone try again")
    await expect(prompt).to_have_value("precious words")


async def test_how_a_prompt_is_sent(page_server, open_page):
    """Enter sends, Shift+Enter does not; at work Enter steers and Alt+Enter waits; ! is a command, !! a private one."""
    page_server.session("abcdef")
    await page_server.know("abcdef")
    page = await open_page("#abcdef")
    prompt = page.get_by_role("textbox", name="Prompt")
    await prompt.fill("one")
    await prompt.press("Shift+Enter")
    await page.keyboard.type("two")
    await prompt.press("Enter")
    await expect(prompt).to_have_value("")
    await page_server.know("abcdef", running=True)
    await expect(page.get_by_role("button", name="Steer")).to_be_visible()
    for text, key in (("now", "Enter"), ("later", "Alt+Enter"), ("! make", "Enter"), ("!!env", "Enter")):
        await prompt.fill(text)
        await prompt.press(key)
        await expect(prompt).to_have_value("")
    assert page_server.posts == [
        ("prompt", {"text": "one\ntwo", "how": "prompt"}),
        ("prompt", {"text": "now", "how": "steer"}),
        ("prompt", {"text": "later", "how": "follow_up"}),
        ("shell", {"text": "make", "private": False}),
        ("shell", {"text": "env", "private": True}),
    ]


async def test_dialogs_of_extensions_are_answered(page_server, open_page):
    """Select, confirm, input and editor; one of the extension's own says where it can be answered."""
    page_server.session("abcdef")
    kinds = ("select", "confirm", "input", "editor", "custom")
    requests = [
        {
            "id": kind,
            "what": "dialog",
            "text": f"Title {kind}",
            "choices": ["red", "blue"],
            "details": {"ui": {"kind": kind}, "extension": "paint"},
        }
        for kind in kinds
    ]
    await page_server.know("abcdef", requests=requests)
    page = await open_page("#abcdef")

    def card(kind):
        return page.get_by_role("article", name=f"Title {kind}")

    await card("select").get_by_role("button", name="blue").click()
    await card("confirm").get_by_role("button", name="No", exact=True).click()
    await card("input").get_by_role("textbox").fill("ada")
    await card("input").get_by_role("textbox").press("Enter")
    await card("editor").get_by_role("textbox").fill("two\nlines")
    await card("editor").get_by_role("button", name="Answer").click()
    await expect(card("custom")).to_contain_text("answer it in the console")
    await card("custom").get_by_role("button", name="Close").click()
    await expect(card("custom").get_by_role("button", name="Close")).to_be_disabled()
    answers = {path: body["answer"]["value"] for path, body in page_server.posts}
    assert answers == {
        "requests/select": "blue",
        "requests/confirm": False,
        "requests/input": "ada",
        "requests/editor": "two\nlines",
        "requests/custom": None,
    }


async def test_a_rule_of_several_lines_stays_the_rule_it_is(page_server, open_page):
    """A command of two lines that is always allowed is that command, not the one its lines would make together."""
    rule = "exec(echo one\necho two\n)"
    page_server.session("abcdef")
    approval = {**_APPROVAL, "details": {**_APPROVAL["details"], "rule": rule}}
    await page_server.know("abcdef", requests=[approval])
    page = await open_page("#abcdef")
    field = page.get_by_label("Rule to remember")
    await expect(field).to_have_value(rule)
    await page.get_by_role("button", name="always").click()
    await expect(field).to_be_disabled()
    assert page_server.posts == [("requests/request-1", {"answer": {"choice": "always here", "rule": rule}})]


async def test_a_conversation_is_led_by_keyboard(page_server, open_page):
    """r goes to what waits for an answer, n to the prompt; typing in a card triggers no shortcut."""
    page_server.session("abcdef")
    await page_server.know("abcdef", requests=[_APPROVAL])
    page = await open_page("#abcdef")
    await expect(page.locator(".card")).to_be_visible()
    await page.locator("#transcript").focus()
    await page.keyboard.press("r")
    assert await page.evaluate("document.activeElement.closest('.card') !== null")
    await page.get_by_label("Reason for refusing").focus()
    await page.keyboard.type("no n ? r")
    await page.keyboard.press("Enter")
    await expect(page.get_by_label("Reason for refusing")).to_be_disabled()
    assert page_server.posts == [("requests/request-1", {"answer": {"choice": "no", "reason": "no n ? r"}})]
    await page_server.know("abcdef")
    await expect(page.locator(".card")).to_have_count(0)
    await page.locator("#transcript").focus()
    await page.keyboard.press("n")
    await expect(page.get_by_role("textbox", name="Prompt")).to_be_focused()


async def test_hostile_words_in_every_place_are_letters(page_server, open_page):
    """Titles, tasks, agents, choices, rules, models, widgets: no element, no request, no script."""
    evil = "<img src=//poison.invalid/x onerror=alert(1)><script>alert(1)</script>"
    page_server.session("abcdef", title=evil)
    shapes = [
        {
            "kind": "steps",
            "mode": evil,
            "items": [_step(1, "ok", agent=evil, task=evil, preview=evil)],
            "total": 1,
            "suffix": evil,
        },
        {"kind": "diff", "path": evil, "text": f"+{evil}"},
        {"kind": "json", "value": {evil: evil}},
        {"kind": "table", "columns": [evil], "rows": [[evil]]},
        {"kind": "markdown", "text": evil},
    ]
    page_server.entries["abcdef"] += [_call(n, shape, name=evil, arg=evil) for n, shape in enumerate(shapes, 1)]
    await page_server.say("abcdef", kind="words", text=evil, agent=evil)
    asked = {
        **_APPROVAL,
        "text": evil,
        "choices": [evil],
        "details": {**_APPROVAL["details"], "rule": evil, "cwd": evil, "tool": evil},
    }
    await page_server.know(
        "abcdef",
        requests=[asked],
        model=evil,
        ui_status={"a": evil},
        ui_widgets={"a": {"lines": [evil]}},
        queue=[{"text": evil, "how": evil}],
        todo=[{"name": evil, "tasks": [{"text": evil, "status": "pending"}]}],
    )
    page = await open_page("#abcdef")
    await expect(page.locator(".card")).to_be_visible()
    await _unfold_all(page, len(shapes))
    await expect(page.locator(".shape:visible")).to_have_count(len(shapes))
    assert await page.locator("body :is(img, script, svg, iframe)").count() == 0


class _Line:
    """The way of prompts to the server: each waits until it is let through."""

    def __init__(self) -> None:
        self.arrived, self.open = asyncio.Event(), asyncio.Event()
        self.failure = ""

    async def __call__(self, route):
        self.arrived.set()
        await self.open.wait()
        if self.failure:
            await route.fulfill(status=409, json={"error": self.failure, "hint": ""})
        else:
            await route.continue_()


async def _write(page, text, key):
    await page.get_by_role("textbox", name="Prompt", exact=True).fill(text)
    await page.keyboard.press(key)


async def test_what_is_sent_on_a_slow_line_arrives_in_order(page_server, open_page):
    """Keys pressed while the last prompt is still on its way: nothing is dropped, and Enter twice sends once."""
    page_server.session("abcdef", title="talk", agent=True)
    await page_server.know("abcdef", running=True)
    page = await open_page("#abcdef")
    line = _Line()
    await page.route("**/prompt", line)
    await _write(page, "hurry", "Enter")
    await asyncio.wait_for(line.arrived.wait(), 60)
    await page.keyboard.press("Enter")
    await _write(page, "then rest", "Alt+Enter")
    line.open.set()
    await expect(page.get_by_role("textbox", name="Prompt", exact=True)).to_have_value("")
    assert page_server.posts == [
        ("prompt", {"text": "hurry", "how": "steer"}),
        ("prompt", {"text": "then rest", "how": "follow_up"}),
    ]


async def test_what_could_not_be_sent_comes_back_and_is_not_overtaken(page_server, open_page):
    """The text of a failed request stands before what was written meanwhile, and both wait for the next Enter."""
    page_server.session("abcdef", title="talk", agent=True)
    await page_server.know("abcdef")
    page = await open_page("#abcdef", expect_errors=True)
    line = _Line()
    line.failure = "busy"
    await page.route("**/prompt", line)
    await _write(page, "first", "Enter")
    await asyncio.wait_for(line.arrived.wait(), 60)
    await _write(page, "second", "Enter")
    line.open.set()
    await expect(page.get_by_role("textbox", name="Prompt", exact=True)).to_have_value("first\n\nsecond")
    await expect(page.locator("#talk-problem")).to_have_text("busy")
    assert page_server.posts == []
