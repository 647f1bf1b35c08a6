"""An agent session on the page: a real host, real tools, a scripted model, and a person with a browser."""

import asyncio
import re

import pytest

from sightline.events import RequestResolved, User

from ..page.axe import violations
from ..page.glass import expect
from .agent_host import agent_host
from .conftest import waits

pytestmark = pytest.mark.asyncio(loop_scope="session")

_WORDS = """# Plan

I will **fix** `calc.py`, see [the manual](https://example.invalid/manual) and [this](javascript:alert(1)).

1. read it
2. change it
   - carefully

| what | when |
| --- | ---: |
| tests | now |

```python
print("<b>bold</b>")
```

<img src=x onerror=alert(1)>
"""
_TODO = {"ops": [{"op": "init", "list": [{"phase": "Fix", "items": ["Read the code", "Change it"]}]}]}
_CHAIN = {"chain": [{"agent": "Explore", "task": "find it\nall of it"}, {"agent": "Fix", "task": "mend it"}]}
_EVERYTHING = [
    [{"reasoning": "Where to begin?"}, {"text": _WORDS, "chunk": 7}, {"tool": "todo", "args": _TODO}],
    [{"tool": "write", "args": {"path": "calc.py", "content": "def add(a, b):\n    return a + b\n"}}],
    [{"tool": "read", "args": {"path": "calc.py"}}, {"tool": "hand_over", "args": _CHAIN}],
    [{"tool": "bash", "args": {"command": "echo approved > proof; cat proof"}}],
    {"blocks": [{"text": "All done."}], "usage": {"input_tokens": 1200, "output_tokens": 34}},
]


def _ask(command: str, then: str = "Understood.") -> list:
    return [[{"tool": "bash", "args": {"command": command}}], [{"text": then}]]


async def _say(page, text: str) -> None:
    await page.get_by_role("textbox", name="Prompt").fill(text)
    await page.keyboard.press("Enter")


async def test_a_whole_session_is_seen_and_led_from_the_page(machine, open_page):
    """A prompt sent, markdown, todo, diff and live steps seen, an approval answered; a second tab sees it close."""
    async with agent_host(machine.folder, _EVERYTHING) as host:
        page = await open_page(f"#{host.session.id}")
        other = await open_page(f"#{host.session.id}")
        await expect(page.get_by_text("Ask for something below.")).to_be_visible()
        await _say(page, "Fix the calculator")
        await expect(page.get_by_role("textbox", name="Prompt")).to_have_value("")
        for tab in (page, other):
            await expect(tab.locator(".saying.message .text")).to_have_text("Fix the calculator")
        words = page.locator(".saying.words").first
        await expect(words.get_by_role("heading", name="Plan")).to_be_visible()
        await expect(words.locator("strong")).to_have_text("fix")
        await expect(words.locator("li")).to_have_count(3)
        await expect(words.locator("td").first).to_have_text("tests")
        await expect(words.locator("pre")).to_have_text('print("<b>bold</b>")')
        links = await words.locator("a").evaluate_all("all => all.map((a) => [a.href, a.rel, a.target])")
        assert links == [["https://example.invalid/manual", "noopener noreferrer nofollow", "_blank"]]
        await expect(words).to_contain_text("<img src=x onerror=alert(1)>")

        reasoning = page.locator("details.reasoning")
        await expect(reasoning.locator(".text")).to_be_hidden()
        await page.get_by_role("checkbox", name="Show reasoning").check()
        await expect(reasoning.locator(".text")).to_have_text("Where to begin?")

        await expect(page.locator(".shape[data-kind=todo] .task-text")).to_have_text(["Read the code", "Change it"])
        await expect(page.locator("#todo-title")).to_have_text("Todo 0/2: Read the code")
        await expect(page.locator(".diff .added").first).to_have_text("+def add(a, b):")
        read = page.get_by_role("article", name="Read calc.py")
        await expect(read.locator(".body")).to_be_hidden()
        await read.get_by_role("button", name="Unfold").click()
        await expect(read.locator(".code-line")).to_have_text(["def add(a, b):", "    return a + b"])

        steps = page.locator(".steps li")
        await expect(steps.locator(".step-sign")).to_have_text(["◌", "○"])
        await expect(steps.first).to_have_attribute("aria-current", "step")
        await expect(steps.locator(".task")).to_have_text(["find it", "mend it"])
        host.go()
        await expect(steps.locator(".step-sign")).to_have_text(["✓", "✕"])
        handed = page.get_by_role("article").filter(has=page.locator(".steps"))
        await expect(handed.locator(".facts")).to_contain_text("1 ok · 1 err / 2")

        cards = [tab.get_by_role("region", name="Waiting for you").get_by_role("article") for tab in (page, other)]
        for card in cards:
            await expect(card.locator(".command-text")).to_have_text("echo approved > proof; cat proof")
        await expect(page.locator("#status-state")).to_be_hidden()
        await expect(page.locator("#waits")).to_be_hidden()
        assert await violations(page) == []
        await cards[0].get_by_role("button", name="Yes, this once").click()
        for card in cards:
            await expect(card).to_have_count(0)
        await expect(page.get_by_text("All done.")).to_be_visible()
        block = page.get_by_role("article", name="echo approved > proof; cat proof")
        await block.get_by_role("button", name="Unfold").click()
        await expect(block.locator(".row")).to_have_text(["approved"])
        await expect(block.locator(".state")).to_have_text("ok")
        await expect(block.locator(".outside")).to_have_text("outside the sandbox")
        await expect(page.locator("#status-state")).to_have_text("✓ ready")
        await expect(page.locator("#status-facts")).to_contain_text("↑1.2k ↓34")
        assert (machine.folder / "proof").read_text() == "approved\n"
        assert [event.answer for event in host.of(RequestResolved)] == [{"choice": "once"}]
        whole = await page.locator("#entries").inner_text()
        fresh = await open_page(f"#{host.session.id}")
        await expect(fresh.get_by_text("All done.")).to_be_visible()
        assert await fresh.locator(".saying").count() == await page.locator(".saying").count()
        assert "All done." in whole


async def test_the_clock_of_a_call_stands_while_an_answer_is_waited_for(machine, open_page):
    """As in the console: a minute that the user thought about it is no running time, in any tab."""
    async with agent_host(machine.folder, _ask(waits(), "Done.")) as host:
        page = await open_page("#new")
        await page.clock.install()
        await page.goto(f"{machine.served.base}/#{host.session.id}")
        await _say(page, "go")
        allow = page.get_by_role("button", name="Yes, this once")
        await expect(allow).to_have_attribute("aria-disabled", "false")
        await page.clock.fast_forward(600_000)
        await expect(allow).to_have_attribute("aria-disabled", "false")
        await allow.click()
        block = page.get_by_role("article", name=waits())
        await expect(block.locator(".time")).to_have_text(re.compile(r"^\d+ s$"))
        machine.go()
        await expect(page.get_by_text("Done.")).to_be_visible()


async def test_a_refusal_carries_its_reason(machine, open_page):
    """No, with why: the command does not run, and the model reads the reason."""
    async with agent_host(machine.folder, _ask("touch never")) as host:
        page = await open_page(f"#{host.session.id}")
        await _say(page, "go")
        await page.get_by_label("Reason for refusing").fill("not on a Friday")
        await page.get_by_role("button", name="No", exact=True).click()
        await expect(page.get_by_text("Understood.")).to_be_visible()
        block = page.get_by_role("article", name="touch never")
        await expect(block.locator(".state")).to_have_text("refused")
        await expect(block.locator(".shape")).to_contain_text("not on a Friday")
        assert not (machine.folder / "never").exists()


async def test_a_rule_can_be_changed_before_it_is_saved(machine, open_page):
    """Always here: the rule that is kept is the one in the field."""
    turns = [[{"tool": "bash", "args": {"command": f"echo {n}"}}] for n in (1, 2)]
    async with agent_host(machine.folder, [*turns, [{"text": "Twice."}]]) as host:
        page = await open_page(f"#{host.session.id}")
        await _say(page, "go")
        rule = page.get_by_label("Rule to remember")
        await expect(rule).to_have_value("exec(echo 1)")
        await rule.fill("exec(echo *)")
        await page.get_by_role("button", name="Yes, always in this folder").click()
        await expect(page.get_by_text("Twice.")).to_be_visible()
        assert [event.answer for event in host.of(RequestResolved)] == [
            {"choice": "always here", "rule": "exec(echo *)"}
        ]


async def test_an_answer_given_elsewhere_closes_the_card(machine, open_page):
    """And the focus that was in it goes to the prompt, not nowhere."""
    async with agent_host(machine.folder, _ask("echo hello")) as host:
        page = await open_page(f"#{host.session.id}")
        await _say(page, "go")
        reason = page.get_by_label("Reason for refusing")
        await reason.focus()
        request = next(iter(host.session.snapshot().requests))
        assert host.agent.requests.answer(request, "once")
        await expect(page.locator(".card")).to_have_count(0)
        await expect(page.get_by_role("textbox", name="Prompt")).to_be_focused()
        await expect(page.get_by_text("Understood.")).to_be_visible()


async def test_a_question_is_answered_with_a_choice_and_words(machine, open_page):
    """Choices have descriptions; several may be ticked; one may add words."""
    asked = {
        "question": "Which ones?",
        "choices": [{"label": "red", "description": "warm"}, {"label": "blue"}],
        "several": True,
    }
    async with agent_host(machine.folder, [[{"tool": "ask", "args": asked}], [{"text": "Thanks."}]]) as host:
        page = await open_page(f"#{host.session.id}")
        await _say(page, "go")
        card = page.locator(".card")
        await expect(card.get_by_text("warm")).to_be_visible()
        assert await violations(page) == []
        await card.get_by_role("checkbox", name="red").check()
        await card.get_by_role("checkbox", name="blue").check()
        await card.get_by_label("Something else…").fill("both please")
        await card.get_by_role("button", name="Answer", exact=True).click()
        await expect(page.get_by_text("Thanks.")).to_be_visible()
        await expect(page.locator(".shape[data-kind=question] li")).to_have_text(["red", "blue", "both please"])


async def test_a_question_that_was_not_answered_is_not_ok(machine, open_page):
    """It has the sign and the words of the console."""
    asked = {"question": "Which one?", "choices": [{"label": "red"}]}
    async with agent_host(machine.folder, [[{"tool": "ask", "args": asked}], [{"text": "Never mind."}]]) as host:
        page = await open_page(f"#{host.session.id}")
        await _say(page, "go")
        await page.locator(".card").get_by_role("button", name="Skip").click()
        await expect(page.get_by_text("Never mind.")).to_be_visible()
        block = page.get_by_role("article", name="ask Which one?")
        await expect(block.locator(".sign")).to_have_text("–")
        await expect(block.locator(".state")).to_have_text("not answered")


async def test_an_agent_at_work_is_steered_and_stopped(machine, open_page):
    """Enter steers, Alt+Enter queues; stop ends it at once, gives back what was queued, and keeps what was said."""
    waiting = [{"text": "I wait."}, {"tool": "hand_over", "args": _CHAIN}]
    async with agent_host(machine.folder, [waiting, [{"text": "never said"}]]) as host:
        page = await open_page(f"#{host.session.id}")
        await _say(page, "go")
        await expect(page.locator(".steps li")).to_have_count(2)
        await expect(page.get_by_role("button", name="Stop")).to_be_visible()
        await _say(page, "hurry")
        await page.get_by_role("textbox", name="Prompt").fill("then rest")
        await page.keyboard.press("Alt+Enter")
        await expect(page.locator("#queued li")).to_have_text(["steeringhurry", "queuedthen rest"])
        await page.get_by_role("button", name="Stop").click()
        await expect(page.get_by_role("textbox", name="Prompt")).to_have_value("hurry\n\nthen rest")
        await expect(page.get_by_role("button", name="Send")).to_be_visible()
        await expect(page.get_by_text("I wait.")).to_be_visible()
        assert [event.text for event in host.of(User)] == ["go"]


async def test_one_call_is_cancelled_and_the_agent_goes_on(machine, open_page):
    """The block's own cancel ends that call alone."""
    waiting = [{"tool": "hand_over", "args": _CHAIN}]
    async with agent_host(machine.folder, [waiting, [{"text": "On I go."}]]) as host:
        page = await open_page(f"#{host.session.id}")
        await _say(page, "go")
        block = page.get_by_role("article").filter(has=page.locator(".steps"))
        await block.get_by_role("button", name="Cancel").click()
        await expect(block.locator(".state")).to_have_text("cancelled")
        await expect(page.get_by_text("On I go.")).to_be_visible()


async def test_a_page_attends_and_a_reader_does_not(machine, open_page):
    """Somebody is there while a page is open: then what needs an answer is asked, not refused."""
    async with agent_host(machine.folder, _ask("echo hello"), attended=False) as host:
        async with machine.served.stream(f"/api/sessions/{host.session.id}/events"):
            await asyncio.to_thread(machine.served.get, f"/api/sessions/{host.session.id}")
            assert not host.session.is_attended
        page = await open_page(f"#{host.session.id}")
        await _say(page, "go")
        await page.get_by_role("button", name="Yes, this once").click()
        await expect(page.get_by_text("Understood.")).to_be_visible()
        assert host.session.is_attended


async def test_a_session_that_is_over_says_how_to_go_on(machine, open_page):
    """Nothing can be sent to it; the whole of it is still shown."""
    async with agent_host(machine.folder, [[{"text": "Bye."}]]) as host:
        page = await open_page(f"#{host.session.id}")
        await _say(page, "go")
        await expect(page.get_by_text("Bye.")).to_be_visible()
    await expect(page.get_by_text(f"sightline --resume {host.session.id}")).to_be_visible()
    await expect(page.get_by_role("textbox", name="Prompt")).to_be_hidden()
    await expect(page.get_by_text("Bye.")).to_be_visible()
    await expect(page.get_by_role("navigation").get_by_role("link", name="go")).to_be_visible()
    answer = await asyncio.to_thread(machine.served.post, f"/api/sessions/{host.session.id}/prompt", {"text": "more"})
    assert answer.status_code == 409
    assert "--resume" in answer.json()["hint"]


async def test_another_session_that_waits_is_seen_and_answered(machine, open_page):
    """Whatever is shown: the list, the head and the title say so, `r` goes there, and its end is noticed."""
    elsewhere = machine.folder / "other" / "place"
    elsewhere.mkdir(parents=True)
    async with (
        agent_host(machine.folder, [[{"text": "Hello."}]]) as quiet,
        agent_host(elsewhere, [*_ask("echo hello")]) as asking,
    ):
        page = await open_page(f"#{quiet.session.id}")
        link = page.get_by_role("navigation").locator(f"a[href='#{asking.session.id}']")
        await expect(link.locator(".meta")).to_contain_text("idle · place")
        prompt = await asyncio.to_thread(
            machine.served.post, f"/api/sessions/{asking.session.id}/prompt", {"text": "go"}
        )
        assert prompt.status_code == 202
        await expect(link.locator(".meta")).to_contain_text("waits for you")
        await expect(page.locator("#waits")).to_have_text("1 session waits for you")
        await expect(page).to_have_title("(!) Sightline")
        (listed,) = [
            session
            for session in (await asyncio.to_thread(machine.served.get, "/api/sessions")).json()["sessions"]
            if session["id"] == asking.session.id
        ]
        assert (listed["busy"], listed["waiting"]) == (True, 1)
        await page.locator("#transcript").focus()
        await page.keyboard.press("r")
        await expect(page.locator(".card")).to_be_focused()
        await page.get_by_role("button", name="Yes, this once").click()
        await expect(page.get_by_text("Understood.")).to_be_visible()
        await expect(link.locator(".meta")).to_contain_text("idle")
        await expect(page).to_have_title("Sightline")


async def test_a_command_of_the_persons_own_runs_and_the_agent_reads_it(machine, open_page):
    """`!` and a command: its output is live on the page, and part of what the model is told next."""
    async with agent_host(machine.folder, [[{"text": "I saw it."}]]) as host:
        page = await open_page(f"#{host.session.id}")
        await _say(page, "! echo by hand")
        block = page.get_by_role("article", name="echo by hand")
        await expect(block.locator(".row")).to_have_text(["by hand"])
        await expect(block.locator(".state")).to_have_text("ok")
        await expect(block.locator(".facts")).to_contain_text("run by you")
        await _say(page, "look")
        await expect(page.get_by_text("I saw it.")).to_be_visible()
        assert "by hand" in str(host.agent.model.model.requests[0].messages)
