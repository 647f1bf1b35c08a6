"""What binds another program: never more than the agent that starts it may do, and no deny rule is got around."""

from pathlib import Path
from typing import Any

import pytest

from sightline.delegation._other_program import level_for
from sightline.events import Error
from sightline.exceptions import UserMistake
from sightline.host import Prompt
from sightline.providers import get_provider
from sightline.settings import Policy
from tests.delegation.support import write
from tests.delegation.teamwork import handed_back, of_agent, result_of, started, states, text
from tests.delegation.test_other_programs import at_work, one, program
from tests.host.support import until
from tests.providers import fake_claude
from tests.providers.support import lines

__all__ = ["program"]
DONE = lines({"type": "result", "subtype": "success"})
PLAN = "--permission-mode plan"


@pytest.mark.parametrize(
    ("provider", "tools", "level"),
    [
        ("claude", {"read", "search", "irc", "deploy"}, "plan"),
        ("opencode", {"read"}, "plan"),
        ("claude", {"read", "edit"}, "plan"),
        ("codex", {"read", "write"}, "plan"),
        ("gemini", {"edit", "write"}, "plan"),
        ("opencode", {"read", "edit"}, "edit"),
        ("claude", {"read", "bash"}, "auto"),
        ("codex", {"eval"}, "auto"),
        ("openai_compatible", {"read"}, "auto"),
    ],
)
def test_its_level_is_at_most_what_its_tools_would_allow(provider: str, tools: set[str], level: str) -> None:
    """`edit` only where that program runs no command then. One without tools needs no level."""
    assert level_for(get_provider(provider), "auto", tools, []) == level


@pytest.mark.parametrize(
    ("provider", "level", "rule", "held"),
    [
        ("claude", "plan", "write(secret/**)", True),
        ("claude", "auto", "write(secret/**)", False),
        ("opencode", "edit", "write(secret/**)", False),
        ("claude", "plan", "exec(git push)", False),
        ("codex", "plan", "exec(git push)", False),
        ("opencode", "plan", "exec(git push)", True),
        ("opencode", "edit", "exec(git push)", True),
        ("opencode", "auto", "exec(git push)", False),
        ("opencode", "plan", "read(.env)", False),
        ("claude", "plan", "network(example.org)", False),
        ("openai_compatible", "auto", "read(.env)", True),
    ],
)
def test_a_rule_that_its_level_does_not_hold_it_to_refuses_it(provider: str, level: Any, rule: str, held: bool) -> None:
    """What is denied in the session must not be had by asking another program."""
    tools = {"read", "edit", "bash"}
    if held:
        assert level_for(get_provider(provider), level, tools, [rule]) == level
        return
    with pytest.raises(UserMistake, match="cannot be held to 1 deny rule of this session") as found:
        level_for(get_provider(provider), level, tools, [rule])
    assert rule in found.value.message
    assert f"sightline --provider {provider}" in found.value.hint


def test_of_many_rules_some_are_named() -> None:
    rules = [f"read(secret{number})" for number in range(9)]
    with pytest.raises(UserMistake, match=r"9 deny rules of this session: read\(secret0\), .* and 4 more"):
        level_for(get_provider("claude"), "plan", {"read"}, rules)


async def test_one_that_may_only_read_starts_none_that_writes(tmp_path: Path, program: Path) -> None:
    """The agent between has no tool that writes, so the other program has `plan`."""
    fake_claude.install(program, DONE)
    write(tmp_path / "config/sightline/agents/reader.md", tools="read, search", spawns="other")
    turns = [[started({"Reader": [[one()], handed_back()]}, "reader")], [text("So.")]]
    async with at_work(tmp_path, turns, "claude", approval="full") as here:
        await here.run()
        assert states(here, "Reader/Other") == ["running", "idle"]
    (arguments,) = fake_claude.starts(program / "claude")
    assert PLAN in arguments


async def test_its_own_list_of_tools_counts_too(tmp_path: Path, program: Path) -> None:
    fake_claude.install(program, DONE)
    async with at_work(tmp_path, [[one()], [text("So.")]], "claude", {"without": "exec, edit, write"}) as here:
        await here.run()
    (arguments,) = fake_claude.starts(program / "claude")
    assert PLAN in arguments


async def test_with_a_deny_rule_it_is_not_started(tmp_path: Path, program: Path) -> None:
    """The call names the rule and what the user can do; nothing of the program runs."""
    fake_claude.install(program, DONE)
    async with at_work(tmp_path, [[one()], [text("So.")]], "claude", deny=["read(.env)"]) as here:
        await here.run()
        result = result_of(here)
        assert result.is_error
        assert "Claude Code cannot be held to 1 deny rule of this session: read(.env)" in result.content
        assert "sightline --provider claude" in result.content
        assert states(here, "Other")[-1] == "aborted"
    assert not (program / "arguments.txt").exists()


async def test_with_a_rule_that_came_later_it_takes_no_more_prompts(tmp_path: Path, program: Path) -> None:
    """Settings are read again in a session: its next prompt is refused with the reason."""
    fake_claude.install(program, DONE)
    async with at_work(tmp_path, [[one()], [text("So.")]], "claude") as here:
        await here.run()
        permissions = here.agent.permissions
        permissions.renew(Policy("auto", ["exec"], ["exec(git push)"], permissions.policy.workspace), ())
        here.running.worker.team.directory.level_changed()
        assert (await here.session.submit(Prompt("Again.", agent="Other"))).ok
        await until(lambda: not here.running.worker.team.directory.busy)
        assert "cannot be held to 1 deny rule" in of_agent(here, "Other", Error)[-1].text
    assert len(fake_claude.starts(program / "claude")) == 1
