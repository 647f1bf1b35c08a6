"""Isolated agents: each works in its own copy of the files, which is merged when its task is done."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from sightline.delegation import SpawnRequest
from sightline.events import AgentState, DiffFact, Event, Notice, Request, ToolResult, ToolUse, ui_fact
from sightline.exceptions import UserMistake
from sightline.host import AnswerRequest, Prompt
from sightline.tools.hashline import Snapshots
from sightline.working_copies import leftovers
from tests.agent.support import Lab, lab, write_script
from tests.delegation.teamwork import call, of_agent, result_of, started, states, text
from tests.host.support import until
from tests.working_copies.conftest import needs_of

pytestmark = pytest.mark.needs("git")

KINDS = ["overlay", "worktree", "copy"]
ASKED = [call("ask", question="Go on?", choices=["yes"])]


def project(folder: Path) -> Path:
    work = folder / "work"
    work.mkdir()
    (work / "a.txt").write_text("one\ntwo\nthree\n")
    (work / ".gitignore").write_text("built\n")
    git(work, "init", "-q")
    git(work, "add", "-A")
    git(work, "-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "-qm", "first")
    return work


def git(work: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(work), *words], check=True, capture_output=True, text=True).stdout


def isolated(scripts: dict[str, list[Any]], agent: str = "task", **more: Any) -> dict[str, Any]:
    """A call that starts an isolated agent for each script."""
    begun = started(scripts, agent, **more)
    for task in begun["args"]["tasks"]:
        task["isolated"] = True
    return begun


def written(path: str, content: str) -> dict[str, Any]:
    return call("write", path=path, content=content)


def content(path: str, encoding: str = "utf-8") -> str:
    return Path(path).read_text(encoding)


def handed_in(here: Lab) -> list[dict[str, Any]]:
    details = result_of(here).details
    assert isinstance(details, dict)
    return [each["handed_in"] for each in details["results"]]


def facts_of(here: Lab, path: str) -> list[AgentState]:
    values = [event.value for event in here.seen if event.agent == path and _is_state(event)]  # type: ignore[attr-defined]
    return [fact for value in values if (fact := AgentState.of(value)) is not None]


def _is_state(event: Event) -> bool:
    return getattr(event, "key", "") == AgentState.KEY


async def answered(here: Lab) -> None:
    request = await here.first(Request)
    await here.session.submit(AnswerRequest(request.id, {"chosen": ["yes"]}))


@pytest.mark.parametrize("kind", KINDS)
async def test_what_it_changed_is_merged_when_it_is_done(tmp_path: Path, kind: str) -> None:
    """Until then the workspace is as it was, and how much it changed is seen."""
    needs_of(kind, tmp_path)
    work = project(tmp_path)
    script = [
        [written("new.txt", "new\n"), call("bash", command="echo four >> a.txt; mkdir built; touch built/x")],
        ASKED,
        [text("Both are written.")],
    ]
    turns = [[isolated({"One": script})], [text("So.")]]
    async with lab(tmp_path, turns, settings={"task.isolation": kind}, attended=True) as here:
        await here.agent.prompt("go")
        assert (await here.first(Request)).agent == "One"
        await here.until(lambda: any(fact.changed_files == 2 for fact in facts_of(here, "One")))
        assert not (work / "new.txt").exists()
        assert (work / "a.txt").read_text() == "one\ntwo\nthree\n"
        await answered(here)
        await here.ended()
        assert "Both are written." in result_of(here).content
        assert "Merged into the workspace: a.txt, new.txt." in result_of(here).content
        assert (work / "new.txt").read_text() == "new\n"
        assert (work / "a.txt").read_text() == "one\ntwo\nthree\nfour\n"
        assert not (work / "built").exists()
        (given,) = handed_in(here)
        assert (given["kind"], given["files"]) == (kind, ["a.txt", "new.txt"])
        assert states(here, "One") == ["running", "parked"]
        fact = facts_of(here, "One")[-1]
        assert (fact.workplace, fact.changed_files, fact.added, fact.removed) == (kind, 2, 2, 0)
    assert git(work, "worktree", "list").count("\n") == 1
    assert "sightline/" not in git(work, "branch")


async def test_a_folder_without_a_repository_has_an_overlay_too(tmp_path: Path) -> None:
    needs_of("overlay", tmp_path)
    work = tmp_path / "work"
    work.mkdir()
    turns = [[isolated({"One": [[written("new.txt", "new\n")], [text("Done.")]]})], [text("So.")]]
    async with lab(tmp_path, turns) as here:
        await here.run()
        (given,) = handed_in(here)
        assert given["kind"] == "overlay"
    assert (work / "new.txt").read_text() == "new\n"


async def test_merging_is_a_call_of_the_agent_with_its_diff(tmp_path: Path) -> None:
    project(tmp_path)
    turns = [[isolated({"One": [[written("new.txt", "new\n")], [text("Done.")]]})], [text("So.")]]
    async with lab(tmp_path, turns) as here:
        await here.run()
        (merge,) = (event for event in of_agent(here, "One", ToolUse) if event.name == "merge")
        (result,) = (event for event in of_agent(here, "One", ToolResult) if event.id == merge.id)
        fact = ui_fact(result.details)
        assert isinstance(fact, DiffFact)
        assert "+new" in fact.diff
        assert (fact.added, fact.removed, result.is_error) == (1, 0, False)


async def test_agents_side_by_side_do_not_see_each_other(tmp_path: Path) -> None:
    """Each merges what it changed; lines apart from each other are merged in one file."""
    work = project(tmp_path)
    scripts = {
        "One": [[call("bash", command="sed -i s/one/ONE/ a.txt; touch 1; ls")], ASKED, [text("Done.")]],
        "Two": [[call("bash", command="sed -i s/three/THREE/ a.txt; touch 2; ls")], ASKED, [text("Done.")]],
    }
    async with lab(tmp_path, [[isolated(scripts)], [text("So.")]], attended=True) as here:
        await here.agent.prompt("go")
        await here.until(lambda: len(here.of(Request)) == 2)
        for request in here.of(Request):
            await here.session.submit(AnswerRequest(request.id, {"chosen": ["yes"]}))
        await here.ended()
        listed = [event.content.split() for path in scripts for event in of_agent(here, path, ToolResult)[:1]]
        assert [{"1", "2"} & set(names) for names in listed] == [{"1"}, {"2"}]
        assert [given["problem"] for given in handed_in(here)] == ["", ""]
        assert not [given["merged"]["conflicts"] for given in handed_in(here) if given["merged"]["conflicts"]]
    assert (work / "a.txt").read_text() == "ONE\ntwo\nTHREE\n"
    assert {"1", "2"} <= {each.name for each in work.iterdir()}


async def test_a_conflict_leaves_the_file_of_the_workspace_and_stores_both_sides(tmp_path: Path) -> None:
    work = project(tmp_path)
    script = [[call("bash", command="sed -i s/two/TWO/ a.txt; echo x > b.txt")], ASKED, [text("Done.")]]
    async with lab(tmp_path, [[isolated({"One": script})], [text("So.")]], attended=True) as here:
        await here.agent.prompt("go")
        await here.until(lambda: any(fact.changed_files == 2 for fact in facts_of(here, "One")))
        (work / "a.txt").write_text("one\nmine\nthree\n")
        await answered(here)
        await here.ended()
        (given,) = handed_in(here)
        (conflict,) = given["merged"]["conflicts"]
        assert (work / "a.txt").read_text() == "one\nmine\nthree\n"
        assert (work / "b.txt").read_text() == "x\n"
        assert content(conflict["agent"]) == "one\nTWO\nthree\n"
        assert "<<<<<<<" in content(conflict["merge"])
        assert "TWO" in content(given["patch"])
        assert f"Not merged: a.txt (both changed) is as it was; its version: {conflict['agent']}" in (
            result_of(here).content
        )
        merge = of_agent(here, "One", ToolResult)[-1]
        assert merge.is_error


@pytest.mark.parametrize("kind", ["overlay", "copy"])
async def test_commits_that_only_its_copy_had_are_stored_and_named(tmp_path: Path, kind: str) -> None:
    """Also where none of its files differs at the end."""
    needs_of(kind, tmp_path)
    work = project(tmp_path)
    make = "git switch -qc topic; echo x > b.txt; git add -A; git -c user.name=a -c user.email=a@b.c commit -qm b"
    script = [[call("bash", command=f"{make}; git switch -q -")], [text("Done.")]]
    turns = [[isolated({"One": script})], [text("So.")]]
    async with lab(tmp_path, turns, settings={"task.isolation": kind}) as here:
        await here.run()
        (given,) = handed_in(here)
        (commits,) = given["commits"]
        told = result_of(here).content
        assert "It changed no files." in told
        assert "Commits that only its copy had: branch topic " in told
        assert f"They are stored in {commits['bundle']} (git fetch FILE NAME" in told
    git(work, "fetch", "-q", commits["bundle"], "topic")
    assert git(work, "show", "FETCH_HEAD:b.txt") == "x\n"


async def test_nothing_is_merged_of_one_that_was_stopped(tmp_path: Path) -> None:
    """What it had changed is stored as a patch, and no process is left."""
    work = project(tmp_path)
    script = [[written("new.txt", "new\n")], [call("bash", command="sleep 600")], [text("Never.")]]
    async with lab(tmp_path, [[isolated({"One": script})], [text("So.")]]) as here:
        await here.agent.prompt("go")
        await here.first(ToolUse, lambda event: event.native_name == "bash")
        directory = here.running.worker.team.directory
        directory.abort(directory.get("One"), "enough")
        await here.ended()
        (given,) = handed_in(here)
        assert given["merged"] is None
        assert "+new" in content(given["patch"])
        assert not (work / "new.txt").exists()
        assert states(here, "One") == ["running", "aborted"]
        words = [" ".join(each.cmdline()) for each in psutil.Process().children(recursive=True)]
        assert not [each for each in words if "sleep 600" in each or "isolated._process" in each]


async def test_it_takes_no_more_prompts_when_it_is_done(tmp_path: Path) -> None:
    """Neither of the user nor of another agent; its transcript is there."""
    project(tmp_path)
    turns = [
        [isolated({"One": [[text("Nothing to do.")]]})],
        [call("irc", op="send", to="One", message="More?"), call("read", path="history://One")],
        [text("So.")],
    ]
    async with lab(tmp_path, turns) as here:
        await here.run()
        assert "It changed no files." in result_of(here).content
        assert "which is gone" in result_of(here, 1).content
        assert "Nothing to do." in result_of(here, 2).content
        reply = await here.session.submit(Prompt("More?", agent="One"))
        assert not reply.ok
        assert "which is gone" in reply.error


async def test_a_branch_has_what_it_changed_where_that_is_wanted(tmp_path: Path) -> None:
    work = project(tmp_path)
    turns = [[isolated({"One": [[written("new.txt", "new\n")], [text("Done.")]]})], [text("So.")]]
    async with lab(tmp_path, turns, settings={"task.merge": "branch"}) as here:
        await here.run()
        (given,) = handed_in(here)
        assert given["branch"] == "sightline/One"
        assert "committed to the branch sightline/One" in result_of(here).content
    assert not (work / "new.txt").exists()
    assert git(work, "show", "sightline/One:new.txt") == "new\n"
    assert git(work, "log", "-1", "--format=%s", "sightline/One").strip() == "the part of One"
    assert git(work, "worktree", "list").count("\n") == 1


async def test_it_may_do_no_more_than_its_parent(tmp_path: Path) -> None:
    """Denied is denied in its own process as well, and so is what its definition does not name."""
    work = project(tmp_path)
    (work / "secret.txt").write_text("hidden words\n")
    script = [[call("read", path="secret.txt")], [call("task", agent="task", assignment="x")], [text("Done.")]]
    async with lab(tmp_path, [[isolated({"One": script})], [text("So.")]], deny=["read(secret.txt)"]) as here:
        await here.run()
        results = of_agent(here, "One", ToolResult)
        assert [event.is_error for event in results] == [True, True]
        assert not any("hidden words" in event.content for event in results)
        assert "there is no tool 'task'" in results[1].content


async def test_nothing_is_merged_that_its_parent_may_not_write(tmp_path: Path) -> None:
    work = project(tmp_path)
    script = [[call("bash", command="echo x > kept.txt; echo y > free.txt")], [text("Done.")]]
    async with lab(tmp_path, [[isolated({"One": script})], [text("So.")]], deny=["write(kept.txt)"]) as here:
        await here.run()
    assert not (work / "kept.txt").exists()
    assert (work / "free.txt").read_text() == "y\n"


async def test_where_isolation_is_off_it_is_refused_and_not_offered(tmp_path: Path) -> None:
    project(tmp_path)
    async with lab(tmp_path, [[text("Hi.")]], settings={"task.isolation": "off"}) as here:
        assert "isolated" not in str(here.agent.tools.get("task").schema())
        with pytest.raises(UserMistake, match="isolation is off"):
            here.running.worker.team.directory.allocate(SpawnRequest(agent="task", assignment="a", isolated=True), None)


async def test_what_was_merged_counts_as_written_by_the_agent(tmp_path: Path) -> None:
    """An edit by one that read the file before is refused, with who changed it."""
    work = project(tmp_path)
    tag = Snapshots().record(work / "a.txt", (work / "a.txt").read_text())
    script = [[call("bash", command="sed -i s/two/TWO/ a.txt")], [text("Done.")]]
    turns = [
        [call("read", path="a.txt")],
        [isolated({"One": script})],
        [call("edit", input=f"¶a.txt#{tag}\nreplace 1..1:\n+first")],
        [text("So.")],
    ]
    async with lab(tmp_path, turns) as here:
        await here.run()
        result = result_of(here, 2)
        assert result.is_error
        assert "a.txt was changed by One" in result.content
    assert (work / "a.txt").read_text() == "one\nTWO\nthree\n"


async def test_what_a_killed_session_left_is_stored_when_it_is_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a patch, which is named; nothing of it was merged, and no process of it is left."""
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "home"))
    work = project(tmp_path)
    script = [[written("new.txt", "new\n")], [call("bash", command="touch began; sleep 600")], [text("Never.")]]
    turns = [[isolated({"One": script})], [text("So.")]]
    words = ["-m", "sightline", "-p", "go", "--model", write_script(tmp_path, turns)]
    killed = await asyncio.create_subprocess_exec(sys.executable, *words, cwd=work, stdout=subprocess.DEVNULL)
    try:
        upper = await until(lambda: next(tmp_path.glob("home/sessions/*/agents/One/copy/copy/upper/began"), None))
    finally:
        killed.kill()
        await killed.wait()
    session = upper.relative_to(tmp_path / "home/sessions").parts[0]
    await until(lambda: not [each for each in psutil.process_iter(["cmdline"]) if _is_of(each, str(tmp_path))])
    async with lab(tmp_path, turns, resume=session) as here:
        notice = await here.first(Notice, lambda event: "cut off" in event.text)
        assert "+new" in content(notice.text.rpartition(" ")[2])
        assert not leftovers()
        assert not (work / "new.txt").exists()


def _is_of(process: psutil.Process, folder: str) -> bool:
    return any(folder in word for word in process.info["cmdline"] or ())  # type: ignore[attr-defined]


async def test_a_patch_has_what_the_commit_of_a_branch_has_not(tmp_path: Path) -> None:
    """What the agent itself had git ignore, and a repository it made: nothing of it is lost."""
    work = project(tmp_path)
    command = "git init -q sub; echo precious > sub/f.txt; echo '*.log' > .gitignore; echo precious2 > keep.log"
    turns = [[isolated({"One": [[call("bash", command=command)], [text("Done.")]]})], [text("So.")]]
    async with lab(tmp_path, turns, settings={"task.merge": "branch"}) as here:
        await here.run()
        (given,) = handed_in(here)
        assert {"+precious", "+precious2"} <= set(content(given["patch"]).splitlines())
        assert given["patch"] in result_of(here).content
    assert "*.log" in git(work, "show", "sightline/One:.gitignore")


@pytest.mark.parametrize("kind", KINDS)
async def test_a_rule_with_the_path_of_the_workspace_holds_in_the_copy(tmp_path: Path, kind: str) -> None:
    needs_of(kind, tmp_path)
    work = project(tmp_path)
    (work / "secret.txt").write_text("hidden words\n")
    script = [[call("read", path="secret.txt")], [text("Done.")]]
    turns = [[isolated({"One": script})], [text("So.")]]
    async with lab(tmp_path, turns, deny=[f"read({work}/secret.txt)"], settings={"task.isolation": kind}) as here:
        await here.run()
        (result,) = of_agent(here, "One", ToolResult)
        assert result.is_error
        assert "hidden words" not in result.content


async def test_a_branch_has_nothing_that_a_rule_denies(tmp_path: Path) -> None:
    """It is named, and stays in the patch; also what is in a repository inside."""
    needs_of("worktree", tmp_path)
    work = project(tmp_path)
    make = "echo x > denied.txt; echo x > good.txt; mkdir -p .vscode inner; echo '{}' > .vscode/tasks.json"
    script = [[call("bash", command=f"{make}; git -C inner init -q; echo x > inner/file")], [text("Done.")]]
    turns, settings = [[isolated({"One": script})], [text("So.")]], {"task.merge": "branch"}
    async with lab(tmp_path, turns, deny=["write(denied.txt)"], settings=settings) as here:
        await here.run()
        (given,) = handed_in(here)
        told = result_of(here).content
        assert given["problem"] == ""
        assert git(work, "diff", "--name-only", "HEAD", given["branch"]).split() == ["good.txt"]
        assert "Not committed: .vscode/tasks.json: it is protected." in told
        assert "Not committed: denied.txt: no rule allows to write it." in told
        assert "Not committed, of repositories inside: inner/file." in told
        assert all(
            f"b/{name}" in content(given["patch"]) for name in ("denied.txt", "inner/file", ".vscode/tasks.json")
        )


@pytest.mark.parametrize(("kind", "merge"), [*((kind, "patch") for kind in KINDS), ("worktree", "branch")])
async def test_a_name_that_is_not_utf_8_loses_no_result(tmp_path: Path, kind: str, merge: str) -> None:
    """Of a file or of a branch: it is shown with what stands for the rest, and its file is merged as it is named."""
    needs_of(kind, tmp_path)
    work = project(tmp_path)
    make = "git switch -qc \"$(printf 'b\\377c')\"; git switch -q -; echo x > \"$(printf 'a\\377b')\""
    script = [[call("bash", command=make)], [text("Done.")]]
    settings = {"task.isolation": kind, "task.merge": merge}
    async with lab(tmp_path, [[isolated({"One": script})], [text("So.")]], settings=settings) as here:
        await here.run()
        (given,) = handed_in(here)
        assert given["files"] == ["a\ufffdb"]
        assert (work / os.fsdecode(b"a\xffb")).exists() == (merge == "patch")


@pytest.mark.parametrize("merge", ["patch", "branch"])
async def test_commits_of_a_repository_made_in_a_worktree_are_in_the_result(tmp_path: Path, merge: str) -> None:
    needs_of("worktree", tmp_path)
    project(tmp_path)
    identity = "-c user.name=a -c user.email=a@b.c"
    make = f"mkdir inner; cd inner; git init -q -b first; echo x > new; git add new; git {identity} commit -qm new"
    script = [[call("bash", command=make)], [text("Done.")]]
    settings = {"task.isolation": "worktree", "task.merge": merge}
    async with lab(tmp_path, [[isolated({"One": script})], [text("So.")]], settings=settings) as here:
        await here.run()
        (given,) = handed_in(here)
        (stored,) = given["commits"]
        assert stored["names"][0].startswith("branch first ")
        assert content(stored["bundle"], "latin-1").startswith("# v2 git bundle")
        assert "They are stored in" in result_of(here).content
