"""`/approvals`: the level and the rules, shown with where they come from; a level taken, an answer forgotten."""

import asyncio

import pytest

from sightline.events import State
from sightline.host import CommandReply, SetApproval
from sightline.views.console.selectors import _approvals
from sightline.views.console.selectors._approvals import ApprovalsPanel, level_after
from tests.views.console.selectors.support import HOSTILE, WIDTHS, Desk
from tests.views.console.selectors.test_linear import Spoken
from tests.views.console.sitting import Sitting

RULES = [
    {"rule": "exec(make)", "verdict": "allow", "origin": "settings", "where": "/home/a/settings.toml, line 3"},
    {"rule": "exec(git push)", "verdict": "deny", "origin": "flag", "where": "--deny"},
    {"rule": "exec(ls *)", "verdict": "allow", "origin": "session", "where": ""},
    {"rule": "write(docs/**)", "verdict": "allow", "origin": "always", "where": ""},
]


class Host:
    """What holds, changed as the host would."""

    def __init__(self, desk, rules=RULES):
        self.level, self.rules = "auto", list(rules)
        self.levels = ["plan", "edit", "auto", "full"]
        desk.answers[SetApproval] = self.answer

    def answer(self, command):
        if command.level and command.level not in self.levels:
            return CommandReply(False, error=f"no approval level {command.level}", hint="one of plan, auto")
        self.level = command.level or self.level
        self.rules = [row for row in self.rules if row["rule"] != command.forget]
        return CommandReply(True, data={"level": self.level, "levels": self.levels, "rules": self.rules})


def opened(desk, args=""):
    return asyncio.ensure_future(_approvals.open(desk, args))


async def test_level_and_rules_are_shown_with_where_they_come_from():
    """The level that holds is marked; denials are before what is allowed."""
    desk = Desk()
    Host(desk)
    task = opened(desk)
    await desk.until_shown(ApprovalsPanel)
    rows = "\n".join(desk.rows(120))
    for words in ("auto (now)", "deny · command line · --deny", "settings · /home/a/settings.toml, line 3"):
        assert words in rows
    for words in ("allow · for this session", "allow · always in this folder"):
        assert words in rows
    assert rows.index("exec(git push)") < rows.index("exec(make)")
    desk.press("escape")
    await task
    assert desk.submitted == [SetApproval()]


async def test_a_level_is_chosen_or_named():
    """For this session; what it means is told."""
    desk = Desk()
    Host(desk)
    task = opened(desk)
    await desk.until_shown(ApprovalsPanel)
    desk.press("up", "up", "enter")
    await task
    await _approvals.open(desk, "full")
    assert desk.submitted == [SetApproval(), SetApproval(level="plan"), SetApproval(level="full")]
    assert desk.told == [
        ("info", "approval plan: reads only; no edits, no commands", ""),
        ("info", "approval full: does everything without asking, commands without the sandbox", ""),
    ]
    await _approvals.open(desk, "yolo")
    assert desk.told[-1] == ("error", "no approval level yolo", "one of plan, auto")


async def test_an_answer_is_forgotten_and_other_rules_say_where_they_are_from():
    """By the key, and by words for whoever cannot press it."""
    desk = Desk()
    Host(desk)
    task = opened(desk)
    await desk.until_shown(ApprovalsPanel)
    desk.type("make")
    desk.press("delete")
    assert "it comes from /home/a/settings.toml, line 3" in desk.rows(120)[0]
    desk.press("escape")
    desk.type("ls")
    desk.press("enter")
    assert "delete forgets it" in desk.rows(120)[0]
    await desk.go("delete")
    assert "forgotten: exec(ls *)" in desk.rows(120)[0]
    assert not any("exec(ls" in row for row in desk.rows(120)[1:])
    desk.press("escape")
    await task
    await _approvals.open(desk, "forget write(docs/**)")
    assert [c.forget for c in desk.submitted if c.forget] == ["exec(ls *)", "write(docs/**)"]
    assert desk.told == [("info", "forgotten: write(docs/**)", "")]


async def test_a_rule_of_several_lines_is_shown_with_its_breaks_and_forgotten_as_shown():
    """On one line it would be the rule of another command."""
    desk = Desk()
    Host(desk, [{"rule": "exec(echo one\necho two)", "verdict": "allow", "origin": "always", "where": ""}])
    task = opened(desk)
    await desk.until_shown(ApprovalsPanel)
    assert any("exec(echo one⏎echo two)" in row for row in desk.rows(120))
    desk.type("echo")
    await desk.go("delete")
    assert "forgotten: exec(echo one⏎echo two)" in desk.rows(120)[0]
    desk.press("escape")
    await task
    await _approvals.open(desk, "forget exec(echo one⏎echo two)")
    assert [c.forget for c in desk.submitted if c.forget] == ["exec(echo one\necho two)", "exec(echo one⏎echo two)"]
    assert desk.told == [("info", "forgotten: exec(echo one⏎echo two)", "")]


async def test_a_provider_says_what_is_possible():
    """Its own levels, no rules, and from when a level holds."""
    desk = Desk()
    desk.state.state["provider"] = "codex"
    data = {"level": "plan", "levels": ["auto", "plan"], "rules": [], "next": True}
    desk.answers[SetApproval] = lambda command: CommandReply(True, data=data)
    await _approvals.open(desk, "plan")
    assert desk.told == [("info", "approval plan, from the next prompt on: reads only", "")]


@pytest.mark.parametrize("width", WIDTHS)
async def test_whatever_a_rule_says_it_fits_and_is_clean(width):
    """Any rule, any answer of a host."""
    desk = Desk()
    row = {"rule": f"exec({HOSTILE}\nls)", "verdict": "allow", "origin": "session", "where": HOSTILE}
    for data in (
        {"level": HOSTILE, "levels": [HOSTILE], "rules": [row]},
        None,
        [],
        {"rules": ["x", {}], "levels": None},
    ):
        desk.answers[SetApproval] = lambda command, data=data: CommandReply(True, data=data)
        task = opened(desk)
        await desk.until_shown(ApprovalsPanel)
        desk.rows(width)
        desk.press("ctrl+c")
        await task


async def test_a_rule_of_several_lines_is_forgotten_as_it_is():
    """What is shown of it in one line is not what it is."""
    desk = Desk()
    rule = "exec(ls\nrm x)"
    Host(desk, [{"rule": rule, "verdict": "allow", "origin": "always", "where": ""}])
    task = opened(desk)
    await desk.until_shown(ApprovalsPanel)
    desk.type("ls")
    await desk.go("delete")
    desk.press("ctrl+c")
    await task
    assert [c.forget for c in desk.submitted if c.forget] == [rule]


async def test_it_can_be_used_by_ear():
    """Choices have numbers."""
    desk = Spoken()
    Host(desk)
    task = opened(desk)
    await desk.until_shown(ApprovalsPanel)
    heard = desk.heard()
    assert "auto (now)" in heard
    assert "write(docs/**)" in heard
    await desk.enter("1")
    await task
    assert desk.submitted[-1] == SetApproval(level="plan")


def test_the_key_never_goes_to_full():
    """Nor stays there: it answers whatever is asked at that moment."""
    went = [level_after(level) for level in ("plan", "edit", "auto", "full", "", "what")]
    assert went == ["edit", "auto", "plan", "plan", "plan", "plan"]


async def test_the_key_takes_the_next_level(tmp_path):
    """And says what it means for a moment; the status line always says which it is, first when it is unusual."""
    sitting = Sitting(tmp_path)
    sitting.console.current.note = ""
    sitting.hears(State("model", "opus"), State("approval", {"level": "auto", "flags": []}))
    assert "opus · approval auto" in sitting.rows
    sitting.replies["SetApproval"] = CommandReply(True, data={"level": "plan"})
    sitting.press("alt+p")
    assert await sitting.sent(SetApproval) == SetApproval(level="plan")
    await sitting.until(lambda: "approval plan: reads only" in sitting.rows)
    for level in ("plan", "full"):
        sitting.hears(State("approval", {"level": level, "flags": []}))
        assert f"approval {level} · opus" in sitting.rows
    for broken in (None, "plan", {"level": 3}, []):
        sitting.hears(State("approval", broken))
        assert not any("opus" in row and "approval" in row for row in sitting.rows.split("\n"))
    await sitting.close()
