"""Whatever happens in a session, no agent of it may do more than its parent, and each asks under its own path."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.agent.permissions._approvals import Refusal
from sightline.agent.permissions._levels import LEVELS
from sightline.events import Request, RequestResolved
from sightline.settings import Policy
from sightline.tools import Need
from tests.agent.permissions.support import AgentOfTest, root_of, turn
from tests.agent.support import DEADLINE

AGENTS_AT_MOST = 6
ALLOW = ["exec", "exec(make)", "exec(make) sandboxed", "read(/etc/**)", "write(docs/**)", "network(example.org)"]
DENY = ["exec(rm *)", "exec(make)", "read(/etc/**)", "write(docs/**)", "network(example.org)", "network"]

number = st.integers(0, 100)
level = st.sampled_from(LEVELS)
cap = st.one_of(st.none(), level)
tree = st.lists(st.tuples(number, cap), max_size=AGENTS_AT_MOST - 1)  # each below one of those before it
step = st.one_of(
    st.tuples(st.just("begin"), number, cap),
    st.tuples(st.just("end"), number),
    st.tuples(st.just("level"), level),
    st.tuples(st.just("settings"), level, st.sets(st.sampled_from(ALLOW)), st.sets(st.sampled_from(DENY))),
    st.tuples(st.just("ask"), number, number),
    st.tuples(st.just("all_ask"), number),
    st.tuples(st.just("answer"), number, st.sampled_from(["once", "this session", "no"])),
    st.tuples(st.just("forget"), number),
)


def needs_in(work: Path) -> list[Need]:
    return [
        Need("read", str(work / "a")),
        Need("read", "/etc/hosts"),
        Need("write", str(work / "docs" / "a")),
        Need("write", str(work / ".git" / "config")),
        Need("write", str(work.parent / "elsewhere")),
        Need("exec", "make", sandboxed=True),
        Need("exec", "make"),
        Need("exec", "make", sandboxed=True, exposed=(".git",)),
        Need("exec", "rm -rf build", sandboxed=True),
        Need("exec", "$PROGRAM build"),
        Need("network", "example.org:443"),
    ]


class SessionOfTest:
    """A session with a tree of agents, in which one thing after another happens."""

    def __init__(self, folder: Path) -> None:
        self.root = root_of(folder, "auto")
        self.work = folder / "work"
        self.needs = needs_in(self.work)
        self.agents = [self.root]
        self.askers: dict[str, tuple[AgentOfTest, Need, asyncio.Task[None]]] = {}  # by call

    async def take(self, kind: str, *args: Any) -> None:
        await getattr(self, f"_{kind}")(*args)
        await turn()

    async def _begin(self, at: int, cap: Any) -> None:
        if len(self.agents) < AGENTS_AT_MOST:
            self.agents.append(self._agent(at).child(cap))

    async def _end(self, at: int) -> None:
        """With all that are below it, the last first."""
        ending = self._agent(at)
        for agent in reversed(self.agents[1:]):
            if ending in _with_those_above(agent) and ending is not self.root:
                self.agents.remove(agent)
                await agent.close()

    async def _level(self, level: Any) -> None:
        self.root.permissions.set_level(level)

    async def _settings(self, level: Any, allow: set[str], deny: set[str]) -> None:
        self.root.permissions.renew(Policy(level, sorted(allow), sorted(deny), self.work), [])

    async def _ask(self, at: int, which: int) -> None:
        agent, need, call = self._agent(at), self.needs[which % len(self.needs)], f"call-{len(self.askers)}"
        self.askers[call] = agent, need, await agent.asks(need, call)

    async def _all_ask(self, which: int) -> None:
        for at in range(len(self.agents)):
            await self._ask(at, which)

    async def _answer(self, which: int, choice: str) -> None:
        waiting = [each for each in self.askers.values() if not each[2].done()]
        if waiting:
            agent = waiting[which % len(waiting)][0]
            agent.requests.answer(agent.open_requests[which % len(agent.open_requests)].id, choice)

    async def _forget(self, which: int) -> None:
        answers = [rule.rule for rule in self.root.rules.rules if rule.origin == "session"]
        if answers:
            self.root.rules.forget(answers[which % len(answers)])

    def _agent(self, at: int) -> AgentOfTest:
        return self.agents[at % len(self.agents)]

    def check(self) -> None:
        for agent in self.agents[1:]:
            assert agent.parent is not None
            mine, above = agent.permissions, agent.parent.permissions
            highest = min(LEVELS.index(above.level), LEVELS.index(agent.cap or "full"))
            assert LEVELS.index(mine.level) <= highest
            assert mine.limits().sandbox or not above.limits().sandbox
            for need in self.needs:
                assert agent.verdict(need) != "allow" or agent.parent.verdict(need) == "allow", need
        for agent, need, task in self.askers.values():
            assert task.done() or agent.verdict(need) == "ask", need
        for event in self.root.log.published:
            if isinstance(event, Request):
                assert event.agent == self.askers[event.details["call"]][0].actor.path

    async def close(self) -> None:
        for agent in reversed(self.agents):
            await agent.close()
        async with asyncio.timeout(DEADLINE):
            ends = await asyncio.gather(*(task for _, _, task in self.askers.values()), return_exceptions=True)
        assert all(end is None or isinstance(end, Refusal) for end in ends)
        assert not self.root.rules._listeners
        asked, resolved = (
            [(event.id, event.agent) for event in self.root.log.published if isinstance(event, kind)]
            for kind in (Request, RequestResolved)
        )
        assert sorted(asked) == sorted(resolved)


def _with_those_above(agent: AgentOfTest) -> list[AgentOfTest]:
    return [agent, *(_with_those_above(agent.parent) if agent.parent is not None else [])]


@pytest.mark.slow
@settings(max_examples=150)
@given(tree=tree, steps=st.lists(step, max_size=15))
def test_a_child_never_has_more_than_its_parent(
    tmp_path_factory: pytest.TempPathFactory, tree: list[Any], steps: list[Any]
) -> None:
    """After any levels, settings, questions, answers, and agents that begin and end: what a child's policy allows, its
    parent's allows; no question is open that the rules decide; each is published, and resolved, under its own path."""
    folder = tmp_path_factory.getbasetemp() / "tree-of-agents"
    folder.mkdir(exist_ok=True)

    async def happens() -> None:
        session = SessionOfTest(folder)
        for parent, cap in tree:
            await session.take("begin", parent, cap)
        session.check()
        for each in steps:
            await session.take(*each)
            session.check()
        await session.close()

    asyncio.run(happens())
