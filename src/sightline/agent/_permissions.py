"""The approval level of a session and the rules a person gave it, looked at and changed while it runs.

Rules:

- A level that is chosen holds for the session as long as it runs, and is kept in its journal; one that is named when
  the session begins is chosen, too.
- A session that is gone on with has the level it is asked to have, else that of the settings; else the one it was left
  with, where that allows less. One that allows more was meant for what was going on then, by somebody who was there.
"""

from typing import TYPE_CHECKING, Any

from sightline.agent._instructions import about_sandbox
from sightline.events import Notice, State
from sightline.exceptions import UserMistake
from sightline.journal import Tree
from sightline.settings import Approval, denied_paths

if TYPE_CHECKING:
    from sightline.agent._agent import Agent

LEVELS: tuple[Approval, ...] = ("plan", "edit", "auto", "full")
"""Each allows more than the one before it."""


def a_level(word: str) -> Approval:
    for level in LEVELS:
        if word == level:
            return level
    raise UserMistake(f"no approval level {word}", f"one of {', '.join(LEVELS)}")


def set_approval(agent: "Agent", word: str) -> None:
    """Go by this level from now on: for calls that are not decided yet, those that are being asked about among them."""
    level = a_level(word)
    if level != agent.approvals.policy.approval:
        agent.memory.note("approval_change", {"level": level})
        agent.approvals.set_level(level)
        hold_to_policy(agent)
        tell_approval(agent)


def forget_answer(agent: "Agent", rule: str) -> None:
    """A rule that came of an answer of the person's does not hold any more, here or later."""
    agent.approvals.forget(rule)
    hold_to_policy(agent)


def approval_facts(agent: "Agent") -> dict[str, Any]:
    """What holds, for whoever asks."""
    approvals = agent.approvals
    rows = dict.fromkeys((each.rule, each.verdict, each.origin, each.where) for each in approvals.rules)
    rules = [dict(zip(("rule", "verdict", "origin", "where"), row, strict=True)) for row in rows]
    passed = list(agent.workplace.settings.permissions.pass_env)
    return {"level": approvals.policy.approval, "levels": list(LEVELS), "rules": rules, "passed": passed}


def tell_approval(agent: "Agent") -> None:
    agent.stage.publish(State("approval", {"level": agent.approvals.policy.approval, "flags": []}, source="agent"))


def hold_to_policy(agent: "Agent") -> None:
    """The level or the rules are others: so is what follows from them."""
    from sightline.agent._build import denying

    policy, workplace = agent.approvals.policy, agent.workplace
    workplace.is_denied = denying(policy)
    workplace.read_only = tuple(denied_paths(policy, workplace.cwd))
    sandbox = agent.sandbox_wanted and policy.approval != "full"
    if sandbox != workplace.sandbox:
        workplace.sandbox = sandbox
        agent.asking.system = agent.asking.system.replace(about_sandbox(not sandbox), about_sandbox(sandbox), 1)


def begin_with_level(agent: "Agent", asked: Approval | None) -> None:
    """Of a session that is new or resumed. `asked`: the level the caller named for it now."""
    had, now = level_left(agent.memory.tree), agent.approvals.policy.approval
    if had is None:
        if asked is not None:  # resumed without a level, as the page does, it must not get one that allows more
            agent.memory.note("approval_change", {"level": asked})
        return
    level = level_to_go_on_with(had, now, asked)
    agent.approvals.set_level(level)  # chosen, whatever the settings will say later
    hold_to_policy(agent)
    if level != had:
        agent.memory.note("approval_change", {"level": level})
    if asked is None and not had == level == now:
        agent.stage.publish(level_notice(had, level, source="agent"))


def level_left(tree: Tree) -> Approval | None:
    """The last that was chosen in a session, wherever in its tree: what may be done is no matter of branches."""
    chosen = [node for node in tree.nodes.values() if node.type == "approval_change"]
    entry = next(tree.read(chosen[-1:]), None)
    try:
        return a_level(str(entry.data["level"])) if entry is not None else None
    except (UserMistake, KeyError, TypeError):
        return None


def level_to_go_on_with(had: Approval, now: Approval, asked: Approval | None) -> Approval:
    return min(had, now, key=LEVELS.index) if asked is None else asked


def level_notice(had: Approval, level: Approval, source: str) -> Notice:
    if had == level:
        text, hint = f"the approval level is {level}, as when you left this session", "/approvals changes it"
        return Notice(text, "info", hint, source=source)
    text = f"the approval level is {level} again: it was {had} when you left this session"
    return Notice(text, "warning", f"/approvals {had} sets it again", source=source)
