"""The approval level and the remembered rules, looked at and changed while a session runs, and after it is resumed."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from sightline.agent import AgentSpec, agent_spec
from sightline.events import Notice, Request, RequestResolved, State, ToolResult
from sightline.host import CommandReply, Reload, SetApproval, working
from sightline.journal import SessionTree
from sightline.settings import Policy, StartOptions, remember_rule, remembered_rules
from sightline.tools import Need, Proposal, ToolError
from sightline.transcript import Remark
from tests.agent.support import Lab, kept, lab, store_in, write_script
from tests.agent.test_approvals import answered, outside

WRITE = {"tool": "write", "args": {"path": "a.txt", "content": "a"}}


async def told(here: Lab, **command: str) -> CommandReply:
    return await here.session.submit(SetApproval(**command))


def levels(here: Lab) -> list[str]:
    return [event.value["level"] for event in here.of(State) if event.key == "approval"]


async def test_a_level_holds_from_the_next_decision_on(tmp_path: Path) -> None:
    """It is told, and in the journal; the same one again is no news."""
    async with lab(tmp_path, [[WRITE], [{"text": "no"}], [WRITE], [{"text": "yes"}]]) as here:
        reply = await told(here, level="plan")
        assert reply.ok
        assert reply.data["level"] == "plan"
        await here.run()
        await told(here, level="auto")
        await told(here, level="auto")
        await here.run()
        assert [result.is_error for result in here.of(ToolResult)] == [True, False]
        assert "(the approval level is plan)" in here.of(ToolResult)[0].content
        assert levels(here) == ["plan", "auto"]
        noted = [node.type for node in SessionTree.load(here.session.folder).nodes.values()].count("approval_change")
        assert noted == 2


async def test_full_answers_what_is_asked(tmp_path: Path) -> None:
    """The question closes, and the call is made."""
    async with lab(tmp_path, [[outside()], [{"text": "ok"}]], approval="edit", attended=True) as here:
        await here.agent.prompt("go")
        request = await here.first(Request)
        await told(here, level="full")
        await here.ended()
        assert [resolved.id for resolved in here.of(RequestResolved)] == [request.id]
        assert here.of(ToolResult)[0].content == "out"


async def test_full_makes_the_command_that_is_asked_about(tmp_path: Path) -> None:
    """It leaves the sandbox with the question: what was asked is not what is needed any more, and needs no question."""
    bash = {"tool": "bash", "args": {"command": "echo hi"}}
    async with lab(tmp_path, [[bash], [{"text": "ok"}]], approval="edit", attended=True) as here:
        await here.agent.prompt("go")
        await here.first(Request)
        await told(here, level="full")
        await here.ended()
        assert not here.of(ToolResult)[0].is_error


async def test_plan_holds_for_a_call_that_is_looked_at(tmp_path: Path) -> None:
    """Chosen while what it would change is worked out: nobody is asked about what is forbidden by then."""
    async with lab(tmp_path, [], approval="edit", attended=True) as here:
        looking, go_on = asyncio.Event(), asyncio.Event()

        async def changes() -> Proposal:
            looking.set()
            await go_on.wait()
            return Proposal(diff="+a")

        elsewhere = Need("write", str(tmp_path / "elsewhere.txt"))
        asking = asyncio.ensure_future(
            here.agent.permissions.approvals.ask("write", "c", [elsewhere], {}, changes=changes)
        )
        await looking.wait()
        await told(here, level="plan")
        go_on.set()
        with pytest.raises(ToolError, match="not allowed"):
            await asking
        assert not here.of(Request)


async def test_plan_holds_for_what_the_same_call_was_allowed_before(tmp_path: Path) -> None:
    """A call that also writes, asked about for something else: a yes to that does not bring the writing back."""
    async with lab(tmp_path, [], approval="edit", attended=True) as here:
        own, secret = here.agent.workplace.cwd / "a.txt", tmp_path / "elsewhere.txt"
        needs = [Need("write", str(own)), Need("read", str(secret))]
        asking = asyncio.ensure_future(here.agent.permissions.approvals.ask("both", "c", needs, {}))
        request = await here.first(Request)
        await told(here, level="plan")
        assert here.agent.requests.answer(request.id, "once")
        with pytest.raises(ToolError, match="not allowed: write"):
            await asking


async def test_plan_refuses_what_is_asked(tmp_path: Path) -> None:
    """Nobody is left with a question whose yes would not count; the model reads why."""
    async with lab(tmp_path, [[outside()], [{"text": "ok"}]], approval="edit", attended=True) as here:
        await here.agent.prompt("go")
        await here.first(Request)
        await told(here, level="plan")
        await here.ended()
        (result,) = here.of(ToolResult)
        assert result.is_error
        assert "the approval level is now plan" in result.content


async def test_full_leaves_the_sandbox_and_any_other_level_goes_back(tmp_path: Path) -> None:
    """As when the session had begun with it, and the model is told the truth about it."""
    async with lab(tmp_path, [], settings={"permissions.sandbox": "true"}) as here:
        system = here.agent.model_requests.system
        assert here.agent.workplace.limits().sandbox
        await told(here, level="full")
        assert not here.agent.workplace.limits().sandbox
        assert "Commands run without a sandbox." in here.agent.model_requests.system
        await told(here, level="edit")
        assert here.agent.workplace.limits().sandbox
        assert here.agent.model_requests.system == system


async def test_a_level_there_is_none_of_is_refused(tmp_path: Path) -> None:
    """With those there are."""
    async with lab(tmp_path, []) as here:
        reply = await told(here, level="yolo")
        assert (reply.ok, reply.error, reply.hint) == (False, "no approval level yolo", "one of plan, edit, auto, full")
        assert not levels(here)


async def test_rules_are_listed_with_where_they_come_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings with their place, the command line, and both kinds of answers."""
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "home"))
    remember_rule(tmp_path, "exec(make)")
    monkeypatch.setenv("SIGHTLINE_PERMISSIONS_ALLOW", "exec(ls)")
    flags = {"permissions.deny": "exec(rm *)", "permissions.approval": "plan"}
    options = StartOptions(
        cwd=str(tmp_path), flags=flags, allow=["read(/etc/hosts)"], deny=["network"], model="x", resume="abcdef"
    )
    spec = agent_spec(options)
    listed = [(each.rule, each.verdict, each.origin, each.where) for each in spec.rules]
    assert listed == [
        ("exec(ls)", "allow", "settings", "SIGHTLINE_PERMISSIONS_ALLOW"),
        ("exec(make)", "allow", "always", ""),
        ("read(/etc/hosts)", "allow", "flag", "--allow"),
        ("exec(rm *)", "deny", "flag", "--set permissions.deny"),
        ("network", "deny", "flag", "--deny"),
    ]
    assert set(spec.policy.allow) == {"exec(ls)", "exec(make)", "read(/etc/hosts)"}
    assert set(spec.policy.deny) == {"exec(rm *)", "network"}
    assert spec.named_level == "plan"
    assert agent_spec(msgspec.structs.replace(options, approval_named=False)).named_level is None


async def test_an_answer_is_listed_and_can_be_forgotten(tmp_path: Path) -> None:
    """One for this session and one for always: neither holds any more, and nothing is remembered."""
    turns = [[outside("echo a")], [outside("echo b")], [outside("echo a")], [outside("echo b")], [{"text": "ok"}]]
    async with lab(tmp_path, turns, approval="edit", attended=True) as here:
        await answered(here, "this session")
        request = await here.first(Request, lambda event: event.details["what"] == "echo b")
        here.agent.requests.answer(request.id, "always here")
        await here.ended()
        assert len(here.of(Request)) == 2
        answers = {row["rule"]: row["origin"] for row in here.agent.permissions.facts()["rules"]}
        assert answers == {"exec(echo a)": "session", "exec(echo b)": "always"}
        workspace = here.agent.permissions.policy.workspace
        assert remembered_rules(workspace).allow == ("exec(echo b)",)
        for rule in answers:
            assert (await told(here, forget=rule)).ok
        assert here.agent.permissions.facts()["rules"] == []
        assert remembered_rules(workspace).allow == ()
        assert here.agent.permissions.policy.allow == ()


async def test_a_rule_that_was_no_answer_is_not_forgotten(tmp_path: Path) -> None:
    """It says where the rule is from; one there is none of is said too. Both hold as before."""
    async with lab(tmp_path, [], allow=["exec(make)"]) as here:
        reply = await told(here, forget="exec(make)")
        assert not reply.ok
        assert "is not one of your answers" in reply.error
        assert not (await told(here, forget="exec(none)")).ok
        assert "exec(make)" in here.agent.permissions.policy.allow


async def test_settings_that_are_read_again_leave_the_chosen_level(tmp_path: Path) -> None:
    """And what was denied when the session began stays denied, with its place."""
    async with lab(tmp_path, [], deny=["exec(rm *)"]) as here:
        await told(here, level="plan")
        workspace = here.agent.workplace.cwd
        policy = Policy("full", ["read"], [], workspace)
        spec = AgentSpec(cwd=workspace, settings=here.agent.workplace.settings, policy=policy)
        here.running.worker.reload_settings = lambda: spec
        assert (await here.session.submit(Reload())).ok
        assert levels(here) == ["plan"]
        policy = here.agent.permissions.policy
        assert (policy.approval, policy.allow, policy.deny) == ("plan", ("read",), ("exec(rm *)",))


@pytest.mark.parametrize(
    ("left", "settings", "goes_on", "said"),
    [
        ("full", "auto", "auto", [1, 0]),
        ("plan", "auto", "plan", [1, 1]),
        ("auto", "edit", "edit", [1, 0]),
        ("edit", "edit", "edit", [0, 0]),
    ],
)
async def test_a_session_goes_on_with_whichever_level_allows_less(
    tmp_path: Path, left: str, settings: str, goes_on: str, said: list[int]
) -> None:
    """And says so when that is not how it was left, or not what the settings say."""
    other = "auto" if left != "auto" else "plan"
    async with lab(tmp_path, [[{"text": "ok"}]], approval=other) as here:
        await told(here, level=left)
        await here.run()
        session = here.session.id
    notices = 0
    for more in said:
        async with lab(tmp_path, [], approval=settings, resume=session) as here:
            assert here.agent.permissions.level == goes_on
        notices += more
        assert sum(isinstance(event, Notice) for event in kept(tmp_path, session)) == notices


async def test_a_level_that_was_named_at_the_beginning_is_what_it_was_left_with(tmp_path: Path) -> None:
    """Nobody changed it since: it was not in the journal, and whoever resumed it without a level got that of the
    settings, which allows more."""
    async with lab(tmp_path, [[{"text": "ok"}]]) as here:
        workspace, settings = here.agent.workplace.cwd, here.agent.workplace.settings
    model = write_script(tmp_path, [[{"text": "ok"}]])
    plan = Policy("plan", [], [], workspace)
    options = StartOptions(model=model)
    spec = AgentSpec(cwd=workspace, settings=settings, policy=plan, options=options, named_level="plan")
    async with working(store_in(tmp_path), spec) as running:
        session = running.session.id
    for _ in range(2):
        async with lab(tmp_path, [], approval="auto", resume=session) as here:
            assert here.agent.permissions.level == "plan"


async def test_a_level_that_is_asked_for_wins(tmp_path: Path) -> None:
    """Named for the session that is gone on with, it is what somebody means now: nothing is said about it."""
    async with lab(tmp_path, [[{"text": "ok"}]]) as here:
        await told(here, level="plan")
        await here.run()
        session, workspace, settings = here.session.id, here.agent.workplace.cwd, here.agent.workplace.settings
    model = write_script(tmp_path, [])
    policy = Policy("full", [], [], workspace)
    options = StartOptions(model=model, resume=session)
    spec = AgentSpec(cwd=workspace, settings=settings, policy=policy, options=options, named_level="full")
    async with working(store_in(tmp_path), spec) as running:
        assert running.agent.permissions.level == "full"
        running.session.flush()
        assert not any(isinstance(entry, Remark) for entry in running.session.snapshot().entries)


@pytest.mark.parametrize(("left", "settings", "level"), [("full", "auto", "auto"), ("plan", "auto", "plan")])
async def test_the_level_that_is_shown_is_the_one_in_force(
    tmp_path: Path, left: str, settings: str, level: str
) -> None:
    """Of a session that is resumed, from the first moment on: not the one it was left with."""
    async with lab(tmp_path, [[{"text": "ok"}]]) as here:
        await here.run()
        await told(here, level=left)
        here.session.flush()
        assert here.session.snapshot().state["approval"]["level"] == here.agent.permissions.level == left
    async with lab(tmp_path, [], approval=settings, resume=here.session.id) as again:
        again.session.flush()
        assert again.session.snapshot().state["approval"]["level"] == again.agent.permissions.level == level
