"""Rules given on the command line: they belong to the session, and return with it."""

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from sightline.agent import agent_spec
from sightline.events import Notice, ToolResult
from sightline.host import Reload, SetApproval, working
from sightline.journal import SessionTree
from sightline.settings import StartOptions
from tests.agent.support import Lab, store_in, write_script


@asynccontextmanager
async def session_in(
    folder: Path,
    turns: list[Any],
    *,
    allow: Iterable[str] = (),
    deny: Iterable[str] = (),
    more: Mapping[str, str] | None = None,
    resume: str = "",
    work: str = "work",
) -> AsyncIterator[Lab]:
    """As from a command line, in a workspace of its own, without a sandbox and without a user."""
    cwd = folder / work
    cwd.mkdir(exist_ok=True)
    options = StartOptions(
        cwd=str(cwd),
        flags={"permissions.sandbox": "false", **(more or {})},
        allow=list(allow),
        deny=list(deny),
        model=write_script(folder, turns),
        resume=resume,
    )

    def asked() -> Any:
        return agent_spec(options)

    async with working(store_in(folder), asked()) as running:
        running.worker.reload_settings = asked
        here = Lab(running, store_in(folder))
        try:
            yield here
        finally:
            here.close()


OK: list[Any] = [{"text": "ok"}]


def bash(command: str) -> list[Any]:
    return [{"tool": "bash", "args": {"command": command}}]


def listed(here: Lab) -> list[tuple[str, str, str]]:
    return [(row["verdict"], row["rule"], row["origin"]) for row in here.agent.permissions.facts()["rules"]]


def notices(here: Lab) -> list[str]:
    return [event.text for event in here.of(Notice)]


async def begun(folder: Path, **given: Any) -> str:
    async with session_in(folder, [OK], **given) as here:
        await here.run()
        return here.session.id


async def test_a_resumed_session_has_its_rules(tmp_path: Path) -> None:
    """What was denied is denied by that rule, what was allowed is allowed, each time; a notice names them."""
    session = await begun(tmp_path, allow=["exec"], deny=["exec(git push)"])
    turns = [OK, *[bash("git push"), bash("echo hi"), OK] * 2]  # a resumed script goes on where it was
    for _ in range(2):
        async with session_in(tmp_path, turns, resume=session) as here:
            await here.run()
            pushed, greeted = here.of(ToolResult)
            assert "rule: exec(git push)" in pushed.content
            assert (greeted.is_error, greeted.content) == (False, "hi")
            assert listed(here) == [("allow", "exec", "stored"), ("deny", "exec(git push)", "stored")]
            assert "rules of this session apply again: allow exec, deny exec(git push)" in notices(here)


async def test_a_rule_given_as_a_setting_on_the_command_line_returns_too(tmp_path: Path) -> None:
    """`--set permissions.deny=…` is given for this session, as `--deny` is, and so is its level."""
    more = {"permissions.deny": "exec(git push)", "permissions.approval": "plan"}
    session = await begun(tmp_path, more=more)
    async with session_in(tmp_path, [OK, OK], resume=session) as here:
        assert listed(here) == [("deny", "exec(git push)", "stored")]
        assert here.agent.permissions.level == "plan"


async def test_a_resumed_session_has_no_rule_that_was_not_given(tmp_path: Path) -> None:
    """A session without rules is resumed without a word about them."""
    session = await begun(tmp_path)
    async with session_in(tmp_path, [OK, OK], resume=session) as here:
        await here.run()
        assert listed(here) == []
        assert notices(here) == []


async def test_what_is_given_at_a_resume_is_added_for_good(tmp_path: Path) -> None:
    """Those given before still apply; the same one again is listed once."""
    session = await begun(tmp_path, deny=["exec(git push)"])
    more = {"allow": ["exec(make)"], "deny": ["exec(git push)", "network"]}
    async with session_in(tmp_path, [], resume=session, **more) as here:
        assert listed(here) == [
            ("allow", "exec(make)", "flag"),
            ("deny", "exec(git push)", "flag"),
            ("deny", "network", "flag"),
        ]
    async with session_in(tmp_path, [], resume=session) as here:
        assert [row[:2] for row in listed(here)] == [
            ("deny", "exec(git push)"),
            ("allow", "exec(make)"),
            ("deny", "network"),
        ]


async def test_they_apply_on_every_branch(tmp_path: Path) -> None:
    """Also on one that was begun before they were given."""
    async with session_in(tmp_path, [OK]) as here:
        await here.run("first")
        session, before = here.session.id, here.agent.memory.tree.leaf
    async with session_in(tmp_path, [OK, OK], resume=session, deny=["network"]) as here:
        await here.run("second")
        await here.agent.move(before)
        assert here.agent.memory.tree.leaf == before
    async with session_in(tmp_path, [], resume=session) as here:
        assert here.agent.permissions.policy.deny == ("network",)


async def test_settings_that_are_read_again_leave_them(tmp_path: Path) -> None:
    """Both kinds: a reload is no reason to ask more."""
    session = await begun(tmp_path, allow=["exec(make)"], deny=["network"])
    async with session_in(tmp_path, [], resume=session) as here:
        before = listed(here)
        assert (await here.session.submit(Reload())).ok
        assert listed(here) == before == [("allow", "exec(make)", "stored"), ("deny", "network", "stored")]


async def test_what_must_not_be_read_is_not_read_at_the_start(tmp_path: Path) -> None:
    """The files with instructions are read while a session begins: the rules are there before that."""
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "AGENTS.md").write_text("the launch code is 1234")
    session = await begun(tmp_path, deny=["read(AGENTS.md)"])
    async with session_in(tmp_path, [], resume=session) as here:
        assert "the launch code" not in here.agent.model_requests.system


async def test_in_another_folder_a_rule_means_the_folder_it_was_given_in(tmp_path: Path) -> None:
    """Nothing of the other folder is allowed by it; a denial is about both."""
    session = await begun(tmp_path, allow=["write(docs/**)", "exec(make)"], deny=["write(private/**)"])
    first = tmp_path / "work"
    async with session_in(tmp_path, [], resume=session, work="other") as here:
        assert [row[:2] for row in listed(here)] == [
            ("allow", f"write({first}/docs/**)"),
            ("allow", f"exec(make) in {first}"),
            ("deny", "write(private/**)"),
            ("deny", f"write({first}/private/**)"),
        ]
    async with session_in(tmp_path, [], resume=session) as here:
        assert [row[1] for row in listed(here)] == ["write(docs/**)", "exec(make)", "write(private/**)"]


async def test_a_rule_with_a_secret_is_not_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A journal has no secrets. The user reads that, without the secret."""
    secret = "hunter2-9f8e7d6c5b4a"
    monkeypatch.setenv("DEPLOY_TOKEN", secret)
    async with session_in(tmp_path, [OK], allow=[f"exec(deploy {secret})", "exec(make)"]) as here:
        await here.run()
        session = here.session.id
        (notice,) = notices(here)
        assert notice.startswith("not stored with this session")
        assert "[secret DEPLOY_TOKEN]" in notice
    assert secret not in (store_in(tmp_path).folder(session) / "journal.jsonl").read_text()
    async with session_in(tmp_path, [], resume=session) as here:
        assert here.agent.permissions.policy.allow == ("exec(make)",)


async def test_a_stored_rule_that_cannot_be_read_costs_itself(tmp_path: Path) -> None:
    """Of another version, say: the session is resumed with the others, and a notice has it."""
    async with session_in(tmp_path, [OK], deny=["network"]) as here:
        await here.run()
        session = here.session.id
        here.agent.memory.note("rules_given", {"deny": ["teleport(mars)"], "cwd": str(tmp_path / "work")})
        here.agent.memory.note("rules_given", {"deny": "everything"})
    async with session_in(tmp_path, [OK, OK], resume=session) as here:
        await here.run()
        assert here.agent.permissions.policy.deny == ("network",)
        assert any("not a rule: teleport(mars)" in text for text in notices(here))


@pytest.mark.parametrize(
    "damaged",
    [
        {"allow": ["exec(git *)"], "deny": [5, "exec(git push)"]},
        {"allow": "exec(git *)", "deny": ["exec(git push)"]},
        {"allow": ["exec(git *)"], "deny": "exec(git push)"},
        {"allow": ["exec(git *)"], "deny": ["exec(git push)", "teleport(mars)"]},
        {"allow": ["exec(git *)"], "deny": ["exec(git push)"], "cwd": 7},
    ],
)
async def test_damaged_rules_deny_what_they_can_and_allow_nothing(tmp_path: Path, damaged: Any) -> None:
    """A rule that denied something may be missing: so no stored rule allows anything, and a warning has it."""
    async with session_in(tmp_path, [OK], allow=["exec(echo *)"]) as here:
        await here.run()
        session = here.session.id
        here.agent.memory.note("rules_given", damaged)
    async with session_in(tmp_path, [OK, bash("git push"), OK], resume=session) as here:
        await here.run()
        (pushed,) = here.of(ToolResult)
        assert "rule: exec(git push)" in pushed.content
        assert here.agent.permissions.policy.allow == ()
        warnings = [event.text for event in here.of(Notice) if event.level == "warning"]
        assert warnings[0].startswith(("rules stored with this session cannot be read", "a rule stored with this"))
        assert warnings[1].startswith("not used because of that: allow exec(echo *)")


@pytest.mark.parametrize("forked", [False, True])
@pytest.mark.parametrize("damage", ['"custom":5,', '"time":"noon",'])
async def test_an_entry_of_rules_that_cannot_be_read_is_reported(tmp_path: Path, damage: str, forked: bool) -> None:
    """It denied something, perhaps: a session without it, or a fork of it, says so and allows nothing."""
    async with session_in(tmp_path, [OK], allow=["exec"], deny=["exec(git push)"]) as here:
        await here.run()
        session = here.session.id
        here.agent.memory.note("rules_given", {"deny": ["network"]})
        last = here.agent.memory.tree.leaf
    store = store_in(tmp_path)
    journal = store.folder(session) / "journal.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    at = next(at for at, line in enumerate(lines) if f'"id":"{last}"' in line)
    lines[at] = lines[at].replace('"data":', f'{damage}"data":')
    journal.write_text("".join(lines))
    if forked:
        tree = SessionTree.load(store.folder(session))
        session = store.fork(session, next(node.id for node in tree.nodes.values() if node.type == "message"))
    async with session_in(tmp_path, [OK, OK], resume=session) as here:
        assert here.agent.permissions.policy.deny == ("exec(git push)",)
        assert here.agent.permissions.policy.allow == ()
        await here.run()
        assert any("cannot be read" in text for text in notices(here))


async def test_one_of_them_is_not_forgotten(tmp_path: Path) -> None:
    """It is not an answer: the refusal says where it comes from, and how to work without it."""
    session = await begun(tmp_path, deny=["network"])
    async with session_in(tmp_path, [], resume=session) as here:
        reply = await here.session.submit(SetApproval(forget="network"))
        assert not reply.ok
        assert reply.error.endswith("it comes from --deny")
        assert reply.hint == "a new session does not have it"
        assert here.agent.permissions.policy.deny == ("network",)
