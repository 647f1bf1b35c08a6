"""Jobs that outlive their call, secrets that do not get out, hooks that step in, instructions that are found."""

from pathlib import Path
from typing import Any

import pytest

from sightline.agent import Block, Call, NewArgs
from sightline.agent.conversation._instructions import InstructionFiles, find_context_files, system_prompt
from sightline.conversation import ToolMessage, text_of
from sightline.events import Notice, Text, ToolOutput, ToolResult, ToolUse, User
from sightline.secrets import Secrets
from sightline.tools import Outcome
from tests.agent.support import kept, lab


def bash(command: str, **more: object) -> dict[str, object]:
    return {"tool": "bash", "args": {"command": command, **more}}


async def test_a_job_goes_on_after_its_call(tmp_path: Path) -> None:
    """job.md/Side Effects: its call has ended; what it writes is a block of its own; its end reaches the model."""
    turns = [[bash("until [ -e go ]; do sleep 0.01; done; echo finished", **{"async": True})], [{"text": "waiting"}]]
    turns += [[{"text": "heard of it"}]]
    async with lab(tmp_path, turns) as here:
        first = await here.run("start it")
        assert first.text == "waiting"
        call, job = here.of(ToolUse)
        (result,) = here.of(ToolResult)
        assert result.id == call.id
        assert result.details["job"] == job.id
        (tmp_path / "work" / "go").touch()
        await here.until(lambda: any("heard" in event.text for event in here.of(Text)))
        await here.ended()
        assert [event.content for event in here.of(ToolOutput) if event.id == job.id] == ["finished\n"]
        told = [event for event in here.of(User) if event.source == "job"]
        assert f"Background job {job.id}" in told[0].text
        assert "finished" in told[0].text


async def test_a_command_that_takes_long_becomes_a_job(tmp_path: Path) -> None:
    """Nothing of its output is lost or shown twice where it changes from a call to a job."""
    command = "echo early; until [ -e go ]; do sleep 0.01; done; echo late"
    turns = [[bash(command)], [{"tool": "job", "args": {}}], [{"text": "done"}]]
    settings = {"bash.auto_background": "true", "bash.auto_background_ms": "300"}
    async with lab(tmp_path, turns, settings=settings) as here:
        await here.agent.prompt("go")
        result = await here.first(ToolResult)
        assert "early" in result.content
        (tmp_path / "work" / "go").touch()
        await here.ended()
        uses = here.of(ToolUse)
        call, job = uses[0].id, uses[1].id
        assert [e.content for e in here.of(ToolOutput) if e.id == call] == ["early\n"]
        later = [e for e in here.of(ToolOutput) if e.id == job]
        assert (later[0].content, later[0].dropped, later[0].offset) == ("", 6, 6)
        assert [e.content for e in later[1:]] == ["late\n"]
        session, seen = here.session.id, list(here.seen)
    assert kept(tmp_path, session)[: len(seen)] == seen


async def test_secrets_are_masked_wherever_they_would_be_seen(tmp_path: Path) -> None:
    """In what the model reads, in events, and in the journal; the raw output is the owner's alone."""
    secret = "sk-live-0123456789abcdef"
    async with lab(
        tmp_path, [[bash(f"echo key={secret}")], [{"text": f"it is {secret}"}]], environ={"MY_API_KEY": secret}
    ) as here:
        await here.run(f"use {secret}")
        session = here.session.id
        assert "[secret MY_API_KEY]" in text_of(next(m for m in here.messages if isinstance(m, ToolMessage)))
        assert secret not in repr(here.seen)
    folder = here.store.folder(session)
    assert secret not in (folder / "journal.jsonl").read_text()
    assert secret not in repr(kept(tmp_path, session))
    (artifact,) = (folder / "artifacts").glob("*.out")
    assert secret in artifact.read_text()
    assert artifact.stat().st_mode & 0o077 == 0


def test_words_are_not_taken_for_secrets() -> None:
    """A token `on` would be found in half of all words, and a password `postgres` in half of all programs."""
    secrets = Secrets({"API_TOKEN": "on", "PG_PASSWORD": "postgres", "DB_PASSWORD": "correct horse"})
    assert secrets.masked("on the correct horse: postgres") == "on the [secret DB_PASSWORD]: postgres"
    assert secrets.masked_value({"a": ["correct horse", 1]}) == {"a": ["[secret DB_PASSWORD]", 1]}


async def test_a_hook_can_block_change_and_see_a_call(tmp_path: Path) -> None:
    """Before: not made, with a reason, or made otherwise. After: another outcome. A hook that fails is told."""
    turns = [[bash("rm -rf /")], [bash("echo mine")], [{"text": "ok"}]]
    async with lab(tmp_path, turns) as here:
        seen: list[str] = []

        def before(call: Call) -> Any:
            if "rm -rf" in call.args["command"]:
                return Block("not with me")
            return NewArgs({"command": "echo ours"})

        async def after(call: Call, outcome: Outcome) -> Outcome:
            seen.append(outcome.text)
            return Outcome(text=outcome.text.upper())

        def broken(call: Call) -> None:
            raise ValueError("oops")

        here.agent.hooks.add("before_call", broken, "bad")
        here.agent.hooks.add("before_call", before, "good")
        here.agent.hooks.add("after_call", after, "good")
        await here.run()
        results = [result.content for result in here.of(ToolResult)]
        assert results == ["not run: not with me", "OURS"]
        assert seen == ["ours"]
        assert any("bad: ValueError: oops" in notice.text for notice in here.of(Notice))


async def test_a_hook_sees_a_call_that_failed(tmp_path: Path) -> None:
    """Whatever the tool raised is an outcome like any other, and may become another; a call not made has none."""
    turns = [[{"tool": "read", "args": {"path": "nowhere.txt"}}], [{"tool": "read", "args": {}}], [{"text": "ok"}]]
    async with lab(tmp_path, turns) as here:
        seen: list[Outcome] = []

        def after(call: Call, outcome: Outcome) -> Outcome:
            seen.append(outcome)
            return Outcome(text=f"{outcome.text} (seen)", is_error=outcome.is_error)

        here.agent.hooks.add("after_call", after, "good")
        await here.run()
        first, second = here.of(ToolResult)
        assert [outcome.is_error for outcome in seen] == [True]
        assert "nowhere.txt" in seen[0].text
        assert first.is_error
        assert first.content.endswith("(seen)")
        assert not second.content.endswith("(seen)")


def test_instructions_are_read_from_the_repository_down(tmp_path: Path) -> None:
    """The nearest comes last; above the repository nothing is read; of two names in one folder the first."""
    (tmp_path / "AGENTS.md").write_text("above the repository")
    repository = tmp_path / "repository"
    inner = repository / "a" / "b"
    inner.mkdir(parents=True)
    (repository / ".git").mkdir()
    (repository / "AGENTS.md").write_text("at the root")
    (repository / "CLAUDE.md").write_text("second name")
    (inner / "CLAUDE.md").write_text("near")
    found = find_context_files(inner, ["AGENTS.md", "CLAUDE.md"])
    assert [file.text for file in found.files] == ["at the root", "near"]


def test_the_model_is_told_where_it_is(tmp_path: Path) -> None:
    """Folder, date, platform, branch, what is there, and what the person wrote."""
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/topic/x\n")
    (tmp_path / "src").mkdir()
    (tmp_path / "README.md").write_text("x")
    prompt = system_prompt(tmp_path, found=InstructionFiles(), instructions="Be kind.", now=lambda: 1_700_000_000.0)
    assert f"Working folder: {tmp_path}" in prompt
    assert "Date: 2023-11-14" in prompt
    assert "Git branch: topic/x" in prompt
    assert "README.md\nsrc/" in prompt
    assert "Be kind." in prompt


@pytest.mark.parametrize("size", [70_000])
def test_a_long_file_of_instructions_is_cut(tmp_path: Path, size: int) -> None:
    """And says so."""
    (tmp_path / "AGENTS.md").write_text("x" * size)
    (file,) = find_context_files(tmp_path, ["AGENTS.md"]).files[-1:]
    assert file.text.endswith("[cut off here]")
    assert len(file.text) < size
