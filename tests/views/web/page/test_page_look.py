"""How the page looks: one row a call, one column, numbered diffs, tables, a phone; and no violation in any of it."""

import pytest
from tools.page_languages import PLACE, source

from sightline.tty.components._highlight import highlighter

from .axe import violations
from .glass import expect

pytestmark = pytest.mark.asyncio(loop_scope="session")

_SIZES = {"desktop": {"width": 1280, "height": 860}, "phone": {"width": 390, "height": 844}}
_EVERYWHERE = [(size, scheme) for size in _SIZES for scheme in ("light", "dark")]
_DIFF = """--- a/shop/cart.py
+++ b/shop/cart.py
@@ -11,3 +11,3 @@ class Cart:
     def total(self):
-        whole = sum(cents for cents, count in self.items)
+        whole = sum(cents * count for cents, count in self.items)
         return discounted(whole)
@@ -40 +40,2 @@
 # the end
+# of it
"""
_WORDS = """Three things are **wrong**:

| file | what is wrong | what I change |
| --- | --- | --- |
| `cart.py` | the count of an item is never multiplied, so three pencils cost as much as one | multiply |
| `money.py` | one digit after the point | `:.2f` |

```python
def total(self):  # counts
    return "x" * 12
```

A_word_that_is_longer_than_a_phone_is_wide_and_has_no_place_to_break_it_but_anywhere_at_all_so_it_must_break.
"""
_APPROVAL = {
    "id": "request-1",
    "what": "approval",
    "text": "bash wants to run `npm publish`",
    "choices": ["once", "this session", "always here", "no"],
    "details": {
        "ui": {"kind": "approval"},
        "tool": "bash",
        "call": "abcdef-9",
        "access": "exec",
        "what": "npm publish --tag next ./dist/shop-1.0.tgz",
        "rule": "exec(npm publish --tag next ./dist/shop-1.0.tgz)",
        "cwd": "/home/ada/app",
        "why": "the call asks to run outside the sandbox",
        "sandboxed": False,
        "args": {"command": "npm publish --tag next ./dist/shop-1.0.tgz"},
    },
}


def _call(n, shape=None, **more):
    return {
        "kind": "call", "n": n, "id": f"abcdef-{n}", "agent": "", "name": "Tool", "arg": f"arg {n}", "command": "",
        "state": "ok", "running": False, "total": 0, "bytes": 0, "kept": 0, "said": "", "note": "", "exit_code": None,
        "elapsed": 0.5, "shape": shape, "own": False, "args": {"path": f"file{n}.py"}, **more,
    }  # fmt: skip


def _read(n, path, **more):
    shape = {"kind": "code", "read": "read", "path": path, "first": 1, "text": "a = 1\nb = 2", "suffix": "2 lines"}
    return _call(n, {**shape, "whole": True}, name="Read", arg=path, **more)


def _edit(n, **more):
    shape = {"kind": "diff", "path": "shop/cart.py", "text": _DIFF, "added": 2, "removed": 1, "whole": True}
    return _call(n, shape, name="Edit", arg="shop/cart.py", **more)


async def _conversation(server, **facts):
    server.session("abcdef", title="The tests of this shop fail", agent=True)
    server.session("bbbbbb", title="Another one", agent=True, cwd="/home/ada/site")
    entries = server.entries["abcdef"]
    await server.say("abcdef", kind="message", text="Find out why, and fix it.", how="prompt")
    await server.say("abcdef", kind="reasoning", text="Where?")
    await server.say("abcdef", kind="words", text=_WORDS)
    found = "# cart.py\n 10│class Cart:\n*11│    def total(self):"
    entries += [
        _read(3, "shop/cart.py"),
        _read(4, "shop/money.py"),
        _edit(5),
        _call(
            6, {"kind": "found", "text": found, "suffix": "1 match in 1 file", "whole": True}, name="Grep", arg="total"
        ),
        _call(
            7,
            name="Bash",
            command="make all",
            exit_code=1,
            state="failed",
            shape={"kind": "problem", "text": "no rule"},
        ),
        _call(8, name="Bash", command="python3 build.py", state="job", job="abcdef-12"),
    ]
    await server.say("abcdef", kind="message", text="There are open tasks.", how="follow_up", source="todo")
    await server.say("abcdef", kind="remark", level="warning", text="Something.", hint="do something")
    known = {
        "running": True,
        "model": "fable",
        "approval": {"level": "auto"},
        "queue": [{"text": "later", "how": "follow_up"}],
    }
    await server.know("abcdef", **{**known, **facts})


async def _open(open_page, address, size, scheme):
    phone = {"has_touch": True, "is_mobile": True} if size == "phone" else {}
    return await open_page(address, viewport=_SIZES[size], color_scheme=scheme, **phone)


async def _fits(page):
    """Nothing is wider than the window, and nothing that can be pressed on a phone is too small for a finger."""
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert await page.evaluate(
        "document.querySelector('main').scrollWidth <= document.querySelector('main').clientWidth"
    )
    if page.viewport_size["width"] < 760:
        small = """() => [...document.querySelectorAll('button, select, .sessions a, .new-session')]
            .filter((each) => each.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
            .map((each) => [each.textContent || each.ariaLabel || each.id, each.getBoundingClientRect().height])
            .filter(([, height]) => height > 0 && height < 40)"""
        assert await page.evaluate(small) == []


@pytest.mark.parametrize(("size", "scheme"), _EVERYWHERE)
async def test_a_session_has_no_violation_and_fits(page_server, open_page, size, scheme):
    """Calls, a diff, a table, code, a queue: folded, and with everything opened."""
    await _conversation(page_server)
    page = await _open(open_page, "#abcdef", size, scheme)
    await expect(page.locator(".group")).to_be_visible()
    await _fits(page)
    assert await violations(page) == []
    await page.locator(".group .fold").press("Enter")
    folds = page.locator(".block.folded > header > .fold:visible")
    for left in range(await folds.count(), 0, -1):
        await folds.first.press("Enter")
        await expect(folds).to_have_count(left - 1)
    await page.locator("#transcript").focus()
    await _fits(page)
    assert await violations(page) == []


@pytest.mark.parametrize(("size", "scheme"), _EVERYWHERE)
async def test_an_approval_has_no_violation_and_fits(page_server, open_page, size, scheme):
    """The card, above the field to write in."""
    await _conversation(page_server, requests=[_APPROVAL])
    page = await _open(open_page, "#abcdef", size, scheme)
    await expect(page.get_by_role("button", name="Yes, this once")).to_be_enabled()
    await expect(page.get_by_role("button", name="Yes, this once")).not_to_have_attribute("aria-disabled", "true")
    await _fits(page)
    assert await violations(page) == []
    await expect(page.get_by_role("textbox", name="Prompt")).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize(("size", "scheme"), _EVERYWHERE)
async def test_the_empty_page_and_the_list_have_no_violation_and_fit(page_server, open_page, size, scheme):
    """With no session there is the form that starts one; then the list, which on a phone is the whole page."""
    page = await _open(open_page, "", size, scheme)
    await expect(page.get_by_role("heading", name="New session")).to_be_visible()
    await expect(page.get_by_label("Folder")).to_have_value("/home/ada/app")
    await _fits(page)
    assert await violations(page) == []
    await _conversation(page_server)
    if size == "phone":
        await page.get_by_role("button", name="Sessions").click()
    await expect(page.get_by_role("navigation").get_by_role("link", name="Another one")).to_be_visible()
    await _fits(page)
    assert await violations(page) == []


@pytest.mark.parametrize(("size", "scheme"), _EVERYWHERE)
async def test_the_form_that_starts_a_session_has_no_violation_and_fits(page_server, open_page, size, scheme):
    """With a problem shown, too."""
    await _conversation(page_server)
    page = await open_page("#new", viewport=_SIZES[size], color_scheme=scheme, expect_errors=True)
    await expect(page.get_by_label("Folder")).not_to_have_value("")  # the folder that is offered
    await page.get_by_label("Folder").fill("/nowhere")
    await page.get_by_label("Folder").press("Tab")
    await expect(page.get_by_role("alert")).to_have_text("no folder /nowhere name one that exists")
    await _fits(page)
    assert await violations(page) == []


@pytest.mark.parametrize("size", list(_SIZES))
async def test_everything_is_in_one_column(page_server, open_page, size):
    """Words, calls, what waits, the queue and the field to write in have the same edges."""
    await _conversation(page_server, requests=[_APPROVAL])
    page = await _open(open_page, "#abcdef", size, "light")
    await expect(page.locator(".card")).to_be_visible()
    parts = "#entries > .saying, #entries > .block:not(.grouped), #entries > .group, .card, .talk-row, .queue"
    edges = f"""() => [...document.querySelectorAll({parts!r})].filter((each) => each.checkVisibility())
        .map((each) => each.getBoundingClientRect()).map(({{ left, right }}) => [left, right].map(Math.round).join())"""
    found = await page.evaluate(edges)
    assert len(found) > 8
    assert len(set(found)) == 1, found


async def test_a_call_is_one_row_until_it_is_opened(page_server, open_page):
    """Its actions are there on hover and when the focus is in it; a failure is open by itself."""
    await _conversation(page_server)
    page = await open_page("#abcdef", viewport=_SIZES["desktop"])
    edit = page.get_by_role("article", name="Edit shop/cart.py")
    await expect(edit.locator(".body")).to_be_hidden()
    await expect(edit.locator(".facts")).to_have_text("+2 −1")
    assert (await edit.bounding_box())["height"] <= 36
    arguments = edit.get_by_role("button", name="Arguments")
    await expect(arguments).to_be_hidden()
    await edit.locator("header").hover()
    await expect(arguments).to_be_visible()
    await page.mouse.move(0, 0)
    await expect(arguments).to_be_hidden()
    await edit.locator(".fold").focus()
    await expect(arguments).to_be_visible()
    await edit.locator("h3").click()
    await expect(edit.locator(".diff")).to_be_visible()
    await arguments.click()
    await expect(edit.locator(".args")).to_contain_text("file5.py")
    await expect(page.get_by_role("article", name="make all").locator(".shape")).to_have_text("no rule")


async def test_on_a_phone_the_actions_of_an_open_call_are_in_sight(page_server, open_page):
    """Nothing hovers there: one tap opens the row, another the menu of its actions."""
    await _conversation(page_server)
    page = await _open(open_page, "#abcdef", "phone", "light")
    edit = page.get_by_role("article", name="Edit shop/cart.py")
    await edit.locator("header").tap()
    await edit.get_by_role("button", name="Actions for Edit shop/cart.py").tap()
    arguments = page.locator("#block-menu").get_by_role("button", name="Arguments")
    await expect(arguments).to_be_focused()
    assert await violations(page) == []
    await arguments.tap()
    await expect(arguments).to_be_hidden()
    await expect(edit.get_by_role("group", name="Arguments")).to_be_visible()


async def test_a_diff_has_numbers_and_signs_and_no_hunk_headers(page_server, open_page):
    """As in the console: the number of the line in its file, a gap between hunks, colours of the language."""
    await _conversation(page_server)
    page = await open_page("#abcdef")
    edit = page.get_by_role("article", name="Edit shop/cart.py")
    await edit.locator(".fold").click()
    diff = edit.locator(".diff")
    assert "@@" not in await diff.inner_text()
    assert "+++" not in await diff.inner_text()
    numbers = await diff.locator(".diff-line").evaluate_all(
        "all => all.map((each) => [each.className.slice(10), each.dataset.n ?? ''])"
    )
    assert numbers == [
        ["same", "11"], ["removed", "12"], ["added", "12"], ["same", "13"], ["gap", ""],
        ["same", "40"], ["added", "41"],
    ]  # fmt: skip
    await expect(diff.locator(".added").first).to_have_text(
        "+        whole = sum(cents * count for cents, count in self.items)"
    )
    await expect(diff.locator(".added .syntax_keyword").first).to_have_text("for")


async def test_a_removed_line_that_looks_like_a_header_is_a_line(page_server, open_page):
    """`-- x` that is removed reads `--- x`; the counts of its hunk tell."""
    page_server.session("abcdef")
    text = "--- a/q.sql\n+++ b/q.sql\n@@ -1,2 +1,2 @@\n--- old\n+++ new\n select"
    page_server.entries["abcdef"].append(
        _call(1, {"kind": "diff", "path": "q.sql", "text": text, "whole": True}, state="failed")
    )
    page = await open_page("#abcdef")
    await expect(page.locator(".diff-line.removed")).to_have_text("--- old")
    await expect(page.locator(".diff-line.added")).to_have_text("+++ new")


async def test_reads_in_a_row_are_one_row(page_server, open_page):
    """*Read 2 files*, with their names; opened it is the two calls. One more joins it, a failure does not."""
    await _conversation(page_server)
    page = await open_page("#abcdef")
    group = page.locator(".group")
    await expect(group).to_have_text("✓Read 2 filesshop/cart.py, shop/money.py")
    await expect(page.get_by_role("article", name="Read shop/money.py")).to_be_hidden()
    await group.get_by_role("button", name="Unfold: Read 2 files").click()
    await expect(page.get_by_role("article", name="Read shop/money.py")).to_be_visible()
    await group.get_by_role("button", name="Fold: Read 2 files").click()
    for n in (20, 21):
        page_server._send("entries", {"reset": False, "entries": [_read(n, f"late{n}.py")]}, "abcdef")
    await expect(group).to_have_count(2)
    await expect(group.last).to_contain_text("Read 2 files")
    page_server._send("entries", {"reset": False, "entries": [_read(22, "late22.py", state="failed")]}, "abcdef")
    await expect(page.get_by_role("article", name="Read late22.py")).to_be_visible()
    await expect(group.last).to_contain_text("Read 2 files")
    page_server._send("entries", {"reset": False, "entries": [_read(22, "late22.py")]}, "abcdef")
    await expect(group.last).to_contain_text("Read 3 files")
    await expect(page.get_by_role("article", name="Read late22.py")).to_be_hidden()


async def test_a_call_in_a_group_is_shown_when_its_address_is_opened(page_server, open_page):
    """A link to one call opens the group it is in."""
    await _conversation(page_server)
    page = await open_page("#abcdef-4")
    await expect(page.get_by_role("article", name="Read shop/money.py")).to_be_visible()


async def test_jobs_are_counted_from_one(page_server, open_page):
    """Whatever number their call has."""
    await _conversation(page_server)
    page = await open_page("#abcdef")
    block = page.get_by_role("article", name="python3 build.py")
    await expect(block.locator(".state")).to_have_text("running in background, job 1")
    job = _call(12, name="Bash", command="/usr/bin/bash -c 'python3 build.py'", is_job=True, exit_code=0)
    page_server._send("entries", {"reset": False, "entries": [{**job, "n": 30}]}, "abcdef")
    await expect(page.locator("#entries > .block").last.locator("h3")).to_have_text("python3 build.py")
    await expect(page.locator("#entries > .block").last.locator(".facts")).to_have_text("job 1")


async def test_a_table_wraps_between_words(page_server, open_page):
    """On a phone, too: every word of a cell stands on one line."""
    await _conversation(page_server)
    page = await _open(open_page, "#abcdef", "phone", "light")
    cell = page.get_by_role("cell", name="the count of an item")
    split = """(cell) => {
        const text = cell.firstChild, range = document.createRange(), broken = [];
        for (const { index, 0: word } of text.data.matchAll(/\\S+/g)) {
            range.setStart(text, index);
            range.setEnd(text, index + word.length);
            if (range.getClientRects().length > 1) broken.push(word);
        }
        return broken;
    }"""
    assert await cell.evaluate(split) == []
    assert (await cell.bounding_box())["height"] > 40


async def test_an_approval_is_said_once(page_server, open_page):
    """By its card: not in the head, the status line, the call's block or the title of a tab one looks at."""
    await _conversation(page_server, requests=[_APPROVAL])
    command = _APPROVAL["details"]["what"]
    asked = _call(9, name="Bash", command=command, state="running", running=True)
    page_server.entries["abcdef"].append(asked)
    page = await open_page("#abcdef")
    await expect(page.locator(".card h3")).to_have_text("The agent wants to run a command outside the sandbox")
    assert (await page.locator("body").inner_text()).count(f"{command}\n") == 1
    await expect(page.get_by_label("Rule to remember")).to_have_value(f"exec({command})")
    await expect(page.get_by_label("Reason for refusing")).to_be_visible()
    await expect(page.locator("#waits")).to_be_hidden()
    await expect(page.locator("#status-state")).to_be_hidden()
    await expect(page).to_have_title("Sightline")
    await page.evaluate(
        "Object.defineProperty(document, 'hidden', { value: true, configurable: true });"
        "document.dispatchEvent(new Event('visibilitychange'))"
    )
    await expect(page).to_have_title("(!) Sightline")
    await page_server.know("abcdef", running=True)
    page_server._send("entries", {"reset": False, "entries": [asked]}, "abcdef")
    await expect(page.get_by_role("article", name=command)).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_prompts_own_button_recedes_while_a_request_is_open(page_server, open_page, scheme):
    """It would be the only one that is filled; what waits is the card above it."""
    await _conversation(page_server, requests=[_APPROVAL])
    page = await open_page("#abcdef", color_scheme=scheme)
    await expect(page.get_by_role("button", name="Yes, this once")).not_to_have_attribute("aria-disabled", "true")
    look = "(each) => getComputedStyle(each).backgroundColor"
    steer = page.get_by_role("button", name="Steer")
    assert await steer.evaluate(look) == "rgba(0, 0, 0, 0)"
    await page_server.know("abcdef", running=True)
    await expect(page.locator(".card")).to_have_count(0)
    assert await steer.evaluate(look) != "rgba(0, 0, 0, 0)"


async def test_a_refused_call_does_not_speak_of_output(page_server, open_page):
    """Who refused it, where that is known; and never that it printed nothing."""
    page_server.session("abcdef", agent=True)
    by_user = {"kind": "problem", "text": "you: write inside the project instead", "whole": True}
    page_server.entries["abcdef"] += [_call(1, by_user, state="refused"), _call(2, state="refused")]
    page = await open_page("#abcdef")
    first, second = (page.get_by_role("article", name=f"Tool arg {n}") for n in (1, 2))
    await expect(first.locator(".shape")).to_have_text("you: write inside the project instead")
    await expect(second.locator(".state")).to_have_text("refused")
    await expect(page.get_by_text("No output.")).to_have_count(0)


async def test_our_reminders_are_not_the_users_words(page_server, open_page):
    """*Automatic todo reminder*, folded; the user's own are the user's."""
    await _conversation(page_server)
    page = await open_page("#abcdef")
    await expect(page.locator(".saying.message")).to_have_count(1)
    reminder = page.get_by_text("Automatic todo reminder")
    await expect(reminder).to_be_visible()
    await expect(page.get_by_text("There are open tasks.")).to_be_hidden()
    await reminder.click()
    await expect(page.get_by_text("There are open tasks.")).to_be_visible()


_CODE = {
    "python": 'class Cart(Base):\n    """Doc\n    more"""\n    @property\n    def total(self) -> int:\n'
    '        return sum(x * 1.5e3 for x in self.items)  # "no"\n    NAME = rb"x\\"y"',
    "ts": "const a: Map<string, number> = new Map(); // c\n/* open\nclosed */ let b = `t ${a}\nmore` as const;",
    "sh": "for i in $(seq 1 3); do echo \"$i\" --flag 'x'; done # end",
    "json": '{"a": [1, -2.5, true, null], "b": "c\\"d"}',
    "rs": 'fn main() { println!("{}", 0xff_u8); } // x\n#[derive(Debug)]\nstruct S;',
    "yml": "a: 1\n- b: 'c' # d\n  e: &x true",
    "sql": "SELECT name FROM t WHERE x = 'y''z' -- c",
    "html": '<a href="x">t</a> <!-- c\nd -->',
    "css": "a:hover { color: #fff; margin: 1px } /* c */",
    "go": "func (c *Cart) Total() int { return len(`a\nb`) }",
    "dockerfile": "FROM python:3.11 AS base\nrun pip install --no-cache x",
    "makefile": "all: $(OBJ) ## x\n\tgcc -o $@ $<",
    "toml": '[a.b]\nc = "d" # e',
}


async def test_colours_are_those_of_the_console(page_server, open_page):
    """The page's highlighter is a second one: for the same lines it finds the same parts."""
    assert PLACE.read_text() == source(), "run `python -m tools.page_languages`"
    page = await open_page()
    script = """async (code) => {
        const { highlighter } = await import("/static/highlight.js");
        return Object.fromEntries(Object.entries(code).map(([language, text]) => {
            let state = "";
            return [language, text.split("\\n").map((line) => {
                const [tokens, next] = highlighter(language).line(line, state);
                state = next;
                return tokens;
            })];
        }));
    }"""
    drawn = await page.evaluate(script, _CODE)
    for language, text in _CODE.items():
        known, state = highlighter(language), ""
        assert known is not None
        for number, line in enumerate(text.split("\n")):
            tokens, state = known.line(line, state)
            assert drawn[language][number] == [list(token) for token in tokens], (language, line)


async def test_the_page_can_be_installed(page_server, open_page):
    """A manifest the browser takes, with icons that are there."""
    page = await open_page()
    client = await page.context.new_cdp_session(page)
    found = await client.send("Page.getAppManifest")
    assert found["errors"] == []
    assert '"start_url": "/"' in found["data"]
    icons = """async () => {
        const { icons } = await (await fetch("/static/manifest.webmanifest")).json();
        return Promise.all(icons.map(async ({ src }) => (await fetch(src)).status));
    }"""
    assert set(await page.evaluate(icons)) == {200}


_NOTICES = """
    window.notices = [];
    window.Notification = class extends EventTarget {
        static permission = "default";
        static requestPermission = async () => (window.Notification.permission = "granted");
        constructor(title, options) { super(); window.notices.push([title, options.body, options.tag]); }
        close() {}
    };
    Object.defineProperty(navigator, "serviceWorker", { value: undefined });
    document.hasFocus = () => !window.away;
"""


async def test_a_notification_says_that_a_session_waits(page_server, browser):
    """Permission is asked on a click only; nothing is said of a tab one looks at, and each request once."""
    await _conversation(page_server)
    context = await browser.new_context()
    page = await context.new_page()
    await page.add_init_script(_NOTICES)
    await page.goto(page_server.url + "#abcdef")
    await expect(page.get_by_role("button", name="Notify me")).to_be_visible()
    assert await page.evaluate("Notification.permission") == "default"
    await page.get_by_role("button", name="Notify me").click()
    await expect(page.get_by_role("button", name="Notify me")).to_be_hidden()
    await page_server.know("abcdef", running=True, requests=[_APPROVAL])
    await expect(page.locator(".card")).to_be_visible()
    assert await page.evaluate("notices") == []
    await page.evaluate("window.away = true")
    await page_server.stand("bbbbbb", waiting=1)
    await page.wait_for_function("() => notices.length > 0")
    await page_server.stand("bbbbbb", waiting=1)
    await page_server.know("abcdef", running=True)
    await expect(page.locator(".card")).to_have_count(0)
    assert await page.evaluate("notices") == [["A session waits for you", "Another one", "bbbbbb"]]
    await context.close()
