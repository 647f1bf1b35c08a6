"""What begins with a slash: commands of the page, those of extensions, and those that only the console has."""

import pytest

from sightline.views.console._actions import COMMANDS

from .axe import violations
from .glass import expect

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def _prompt(server, open_page, **facts):
    server.session("abcdef", title="talk", agent=True)
    known = {"model": "fable", "thinking": "high", "approval": {"level": "edit"}}
    await server.know("abcdef", **{**known, **facts})
    page = await open_page("#abcdef")
    return page, page.get_by_role("textbox", name="Prompt")


async def _enter(prompt, text):
    await prompt.fill(text)
    await prompt.press("Enter")


@pytest.mark.parametrize(
    ("text", "posted"),
    [
        ("/compact the tests", ("compact", {"focus": "the tests"})),
        ("/btw why that file?", ("btw", {"text": "why that file?"})),
        ("/review main -- the locking", ("review", {"text": "main -- the locking"})),
        ("/model opus", ("model", {"model": "opus"})),
        ("/thinking low", ("model", {"thinking": "low"})),
        ("/approvals plan", ("approval", {"level": "plan"})),
        ("/rename A better title", ("rename", {"title": "A better title"})),
        ("/queue and then this", ("prompt", {"text": "and then this", "how": "follow_up"})),
        ("/stop", ("abort", {})),
        ("/unqueue", ("unqueue", {})),
    ],
)
async def test_a_command_does_what_it_does_in_the_console(page_server, open_page, text, posted):
    """It is asked of the host, and never sent to the model as words."""
    page, prompt = await _prompt(page_server, open_page)
    async with page.expect_response("**/api/sessions/abcdef/*"):
        await _enter(prompt, text)
    await expect(prompt).to_have_value("")
    await expect(page.locator("#talk-problem")).to_be_hidden()
    assert page_server.posts == [posted]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/model", "Model fable. Change it with /model NAME"),
        ("/thinking", "Thinking high. Change it with /thinking LEVEL"),
        ("/approvals", "Approval level edit. Change it with /approvals plan|edit|auto"),
        ("/", "/approvals [LEVEL]what the agent may do: the approval level"),
        ("/help", "The console's other commands work there only."),
    ],
)
async def test_a_command_says_how_it_stands(page_server, open_page, text, said):
    """Nothing is sent for that."""
    page, prompt = await _prompt(page_server, open_page)
    await _enter(prompt, text)
    await expect(page.locator("#talk-note")).to_contain_text(said)
    await expect(prompt).to_have_value("")
    assert page_server.posts == []


@pytest.mark.parametrize("text", ["/theme dark", "/nonsense", "/constructor", "/approvals full"])
async def test_what_does_not_work_here_is_not_sent_to_the_model(page_server, open_page, text):
    """One line says what does, and the text stays to be changed."""
    page, prompt = await _prompt(page_server, open_page)
    await _enter(prompt, text)
    problem = page.locator("#talk-problem")
    await expect(problem).to_be_visible()
    if text != "/approvals full":
        await expect(problem).to_contain_text(f"{text.split()[0]} does not work on this page. Commands on this page: ")
        await expect(problem).to_contain_text(
            "The others work in the console. Begin with a space to send it to the agent."
        )
    await expect(prompt).to_have_value(text)
    assert page_server.posts == []


@pytest.mark.parametrize("text", [" /compact", "/usr/bin/env is missing", "//compact", "/a\nsecond line", " !ls"])
async def test_what_is_no_command_is_sent_as_it_is(page_server, open_page, text):
    """As in the console: a space before it, a path, or a second line."""
    _, prompt = await _prompt(page_server, open_page)
    await _enter(prompt, text)
    await expect(prompt).to_have_value("")
    assert page_server.posts == [("prompt", {"text": text.strip(), "how": "prompt"})]


async def test_a_command_of_an_extension_is_run_by_the_host(page_server, open_page):
    """It gets the text, as it does from the console."""
    _, prompt = await _prompt(page_server, open_page, commands=[{"name": "deploy", "about": "ship it"}])
    await _enter(prompt, "/deploy now")
    await expect(prompt).to_have_value("")
    assert page_server.posts == [("prompt", {"text": "/deploy now", "how": "prompt"})]


async def test_a_command_of_a_file_is_completed_and_run_by_the_host(page_server, open_page):
    """With its hint, and whose it is."""
    command = {"name": "git:log", "about": "What changed", "args": "[since]", "source": "project"}
    page, prompt = await _prompt(page_server, open_page, commands=[command])
    await prompt.fill("/git")
    rows = page.get_by_role("listbox", name="Commands").get_by_role("option")
    await expect(rows).to_have_text(["/git:log [since]What changed · of this project"])
    await _enter(prompt, "/git:log v1")
    await expect(prompt).to_have_value("")
    assert page_server.posts == [("prompt", {"text": "/git:log v1", "how": "prompt"})]


async def test_new_and_resume_lead_there(page_server, open_page):
    """`/new` shows the form, `/resume` the list of sessions."""
    page, prompt = await _prompt(page_server, open_page)
    await _enter(prompt, "/resume")
    await expect(page.locator("#sessions [aria-current]")).to_be_focused()
    await _enter(prompt, "/new")
    await expect(page.get_by_role("heading", name="New session")).to_be_visible()
    assert page_server.posts == []


async def test_a_first_prompt_that_is_a_command_starts_nothing(page_server, open_page):
    """There is no session yet that it could be about."""
    page = await open_page("#new")
    await page.get_by_label("First prompt").fill("/compact")
    await page.get_by_role("button", name="Start session").click()
    await expect(page.get_by_role("alert")).to_contain_text("Commands work in a session")
    assert page_server.posts == []


async def test_a_command_is_completed_while_its_name_is_typed(page_server, open_page):
    """The list has what each does; arrows mark a row, Tab completes, Enter runs what takes no more, Escape closes."""
    page, prompt = await _prompt(page_server, open_page, commands=[{"name": "deploy", "about": "ship it"}])
    rows = page.get_by_role("listbox", name="Commands").get_by_role("option")
    await prompt.press_sequentially("/")
    await expect(rows.first).to_have_text("/helpcommands and keys")
    await expect(rows.last).to_have_text("/deploy [TEXT]ship it")
    await prompt.press_sequentially("re")
    names = ["/reasoning [on|off]", "/resume [WORDS]", "/rename TITLE", "/review [BRANCH|A..B|COMMIT] [-- FOCUS]"]
    await expect(rows.locator(".name")).to_have_text(names)
    await prompt.press("ArrowDown")
    await prompt.press("ArrowDown")
    await expect(rows.nth(1)).to_have_attribute("aria-selected", "true")
    assert await prompt.get_attribute("aria-activedescendant") == await rows.nth(1).get_attribute("id")
    await prompt.press("Escape")
    await expect(rows).to_have_count(0)
    await expect(prompt).to_have_value("/re")
    await prompt.press_sequentially("n")
    await prompt.press("Tab")
    await expect(prompt).to_have_value("/rename ")
    await expect(prompt).to_be_focused()
    await prompt.fill("/uns")
    await expect(rows).to_have_count(0)
    await prompt.fill("/un")
    await prompt.press("ArrowUp")
    async with page.expect_response("**/unqueue"):
        await prompt.press("Enter")
    await expect(prompt).to_have_value("")
    assert page_server.posts == [("unqueue", {})]


async def test_a_command_is_chosen_with_a_finger(page_server, open_page):
    """The field keeps the focus, so that its argument can be typed."""
    page_server.session("abcdef", title="talk", agent=True)
    await page_server.know("abcdef")
    page = await open_page("#abcdef", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    prompt = page.get_by_role("textbox", name="Prompt")
    await prompt.press_sequentially("/co")
    await page.get_by_role("option", name="/compact").tap()
    await expect(prompt).to_have_value("/compact ")
    await expect(prompt).to_be_focused()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
async def test_axe_finds_no_violation_in_completion_and_help(page_server, open_page, width, scheme):
    """And both fit."""
    page_server.session("abcdef", title="talk", agent=True)
    await page_server.know("abcdef")
    page = await open_page("#abcdef", viewport={"width": width, "height": 844}, color_scheme=scheme)
    prompt = page.get_by_role("textbox", name="Prompt")
    await prompt.press_sequentially("/")
    await prompt.press("ArrowDown")
    await expect(page.get_by_role("option", selected=True)).to_be_in_viewport()
    assert await violations(page) == []
    await prompt.press("Enter")
    await expect(page.get_by_role("region", name="Commands on this page")).to_be_in_viewport()
    await expect(prompt).to_be_in_viewport()
    assert await violations(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await page.get_by_role("button", name="Close").click()
    await expect(page.locator("#talk-note")).to_be_hidden()


async def test_commands_are_described_in_the_words_of_the_console(open_page):
    """One list of commands, as far as the page has them."""
    page = await open_page()
    script = """async () => (await import("/static/commands.js")).commandsOf({})"""
    known = await page.evaluate(script)
    names = [command["name"] for command in known]
    assert names == [name for name in COMMANDS if name in names]
    shorter = {"approvals"}  # its rules are changed in the console
    here = {each["name"]: (each["about"], each["args"]) for each in known if each["name"] not in shorter}
    assert here == {name: (COMMANDS[name].does, COMMANDS[name].args) for name in here}


SKILLS = [
    {"name": "letters", "about": "Write letters", "place": "~/.claude/skills", "standing": "offered", "usable": True},
    {"name": "theirs", "place": ".claude/skills", "standing": "untrusted: its folder is not trusted"},
]


async def test_skills_are_listed_completed_and_used(page_server, open_page):
    """With source and state; what is not used is not offered, and words after a name go to the host as they are."""
    page, prompt = await _prompt(page_server, open_page, skills=SKILLS)
    await _enter(prompt, "/skill")
    listed = page.locator("#talk-note")
    await expect(listed).to_contain_text("letters (~/.claude/skills, offered): Write letters")
    await expect(listed).to_contain_text("theirs (.claude/skills, untrusted: its folder is not trusted)")
    await prompt.fill("/skill ")
    rows = page.get_by_role("listbox", name="Commands").get_by_role("option")
    await expect(rows).to_have_count(1)
    await prompt.press("Tab")
    await expect(prompt).to_have_value("/skill letters ")
    async with page.expect_response("**/api/sessions/abcdef/*"):
        await _enter(prompt, "/skill letters to my aunt")
    await expect(prompt).to_have_value("")
    assert page_server.posts == [("prompt", {"text": "/skill letters to my aunt", "how": "prompt"})]


async def test_without_skills_a_name_comes_back(page_server, open_page):
    page, prompt = await _prompt(page_server, open_page)
    await _enter(prompt, "/skill letters")
    await expect(page.locator("#talk-problem")).to_have_text("There are no skills here.")
    await expect(prompt).to_have_value("/skill letters")
