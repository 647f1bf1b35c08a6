"""`sightline agents`: the list, one of them whole, a new one, and what is left out."""

import json
import os
import re
from pathlib import Path

import pytest

from sightline.settings._trust import is_trusted, trust
from tests.cli.support import sightline
from tests.delegation.support import write


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository to be in, and a home without agents."""
    folder = tmp_path / "work"
    (folder / ".git").mkdir(parents=True)
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return folder


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """The user's own agents."""
    return tmp_path / "sightline-home" / "agents"


def agents(*words: str) -> tuple[int, str, str]:
    done = sightline("agents", *words)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_the_list(work: Path, own: Path) -> None:
    """Source, model, level, what it may start, tools, description and file; then those that are hidden."""
    write(own / "explore.md", description="Mine", model="small", tools="read, edit", spawns="task", approval="edit")
    code, out, err = agents()
    assert (code, err) == (0, "")
    rows = [re.split(r"\s{2,}", line.strip()) for line in out.splitlines()]
    assert rows[0] == ["AGENT", "FROM", "MODEL", "LEVEL", "STARTS", "TOOLS"]
    at = rows.index(["explore", "user", "small", "edit", "task", "read, edit"])
    assert rows[at + 1 : at + 3] == [["Mine"], [str(own / "explore.md")]]
    assert ["task", "bundled", "parent's", "parent's", "any", "all"] in rows
    hidden = rows.index(["not used, because an agent above has the same name:"])
    assert ["explore", "bundled", "small", "plan", "–", "read, search, find, irc"] in rows[hidden:]


def test_the_list_as_json(work: Path, own: Path) -> None:
    """An array with every field but the instructions."""
    write(own / "explore.md", description="Mine", tools="read", without="bash")
    (own.parent / "settings.toml").write_text('task.disabled = ["oracle"]\n')
    code, out, err = agents("--json")
    assert (code, err) == (0, "")
    listed = json.loads(out)
    mine = listed[0]
    assert (mine["name"], mine["source"], mine["style"], mine["shadowed"]) == ("explore", "user", "sightline", False)
    assert (mine["tools"], mine["without"], mine["file"]) == (["read"], ["bash"], str(own / "explore.md"))
    assert "prompt" not in mine
    assert [each["name"] for each in listed if each["shadowed"]] == ["explore"]
    assert [each["name"] for each in listed if each["disabled"]] == ["oracle"]


def test_one_of_them(work: Path) -> None:
    """All of its definition, with the instructions; `show` may be left out."""
    code, out, err = agents("reviewer")
    assert (code, err) == (0, "")
    assert out == agents("show", "reviewer")[1]
    assert "tools     read, search, find, bash, report_finding, irc\n" in out
    assert "level     auto at most\n" in out
    assert "\nYou review a change" in out
    facts = json.loads(agents("reviewer", "--json")[1])
    assert facts["output"]["required"] == ["verdict", "summary", "confidence"]
    assert facts["prompt"].startswith("You review a change")


def test_an_unknown_name_is_a_mistake(work: Path) -> None:
    """With the names there are."""
    code, out, err = agents("reviewr")
    assert (code, out) == (2, "")
    assert err.startswith("error: no agent reviewr\nhint: one of designer, explore, ")


def test_what_is_left_out_is_noted(work: Path, own: Path) -> None:
    """On stderr, each in a line: a project that is not trusted, a file that is none, an unknown tool."""
    write(work / ".claude/agents/theirs.md")
    write(own / "bad.md", name="no spaces")
    write(own / "good.md", tools="read, deploy")
    code, out, err = agents()
    assert code == 0
    assert "theirs" not in out
    notes = err.splitlines()
    assert notes[0] == (
        "note: 1 agent of this project is not used: its folder is not trusted. "
        f"Read it, then run `sightline config trust {work}`"
    )
    assert notes[1].startswith(f"note: {own}/bad.md is not used: its name is 'no spaces'")
    assert notes[2] == f"note: {own}/good.md: unknown tools are left out: deploy"
    assert sightline("config", "trust", str(work)).returncode == 0
    assert "theirs" in agents()[1]


def test_a_new_one(work: Path, own: Path) -> None:
    """Beside the settings, for its owner only; it can be used as it is, and with every line of it."""
    code, out, err = agents("new", "mine")
    file = own / "mine.md"
    assert (code, out, err) == (0, f"{file}\n", "")
    assert file.stat().st_mode & 0o777 == 0o600
    assert json.loads(agents("mine", "--json")[1])["model"] == ""
    template = file.read_text()
    for left_out, model, provider in (
        ("provider", "small", ""),
        ("model", "", "claude"),
    ):  # a role is one of our models
        file.write_text(re.sub(rf"^# (?!{left_out})(\w+:)", r"\1", template, flags=re.MULTILINE))
        facts = json.loads(agents("mine", "--json")[1])
        assert (facts["model"], facts["spawns"], facts["provider"]) == (model, ["explore"], provider)
        assert facts["output"] == {"type": "object"}


def test_a_new_one_replaces_nothing(work: Path, own: Path) -> None:
    """Neither a file nor what a link leads to."""
    write(own / "mine.md", description="Mine")
    (own / "link.md").symlink_to(work / "elsewhere.md")
    for name in ("mine", "link"):
        code, _, err = agents("new", name)
        assert code == 2
        assert err == f"error: already there: {own}/{name}.md\nhint: edit that file, or choose another name\n"
    assert "Mine" in (own / "mine.md").read_text()
    assert not (work / "elsewhere.md").exists()


@pytest.mark.parametrize("trusted", [False, True])
def test_a_new_one_of_the_project(work: Path, trusted: bool) -> None:
    """In its `.sightline`; a folder that is trusted stays so."""
    if trusted:
        trust(work)
    code, out, err = agents("new", "ours", "--project")
    file = work / ".sightline/agents/ours.md"
    assert (code, out) == (0, f"{file}\n")
    assert file.exists()
    assert is_trusted(work) == trusted
    assert ("is not trusted, so its agents are not used" in err) != trusted


@pytest.mark.parametrize("name", ["", "a b", "../up", "-", "x" * 49, "é"])
def test_a_new_one_needs_a_name(work: Path, own: Path, name: str) -> None:
    """Of letters, digits, `_` and `-`."""
    code, out, err = agents("new", "--", name)
    assert (code, out) == (2, "")
    assert "not the name of an agent" in err
    assert not own.exists()


def test_a_folder_that_cannot_be_written_is_an_outside_failure(work: Path, own: Path) -> None:
    """What, where, and what to try."""
    own.parent.mkdir()
    own.touch()
    code, _, err = agents("new", "mine")
    assert code == 1
    assert err.startswith(f"error: cannot write {own}/mine.md: ")
    assert "hint: check that its folder is writable" in err


def test_agents_of_a_home_folder_in_use(work: Path, tmp_path: Path) -> None:
    """Claude Code's and OpenCode's are there at once, with their style."""
    write(tmp_path / "home/.claude/agents/reader.md", tools="Read, Grep", model="haiku")
    write(tmp_path / "home/.config/opencode/agent/docs.md", mode="subagent", model="anthropic/claude-sonnet-4-5")
    assert not os.environ.get("XDG_CONFIG_HOME")
    code, out, err = agents()
    assert (code, err) == (0, "")
    rows = [re.split(r"\s{2,}", line.strip()) for line in out.splitlines()]
    assert ["reader", "user (claude)", "small", "parent's", "–", "read, search"] in rows
    assert ["docs", "user (opencode)", "anthropic/claude-sonnet-4-5", "parent's", "–", "all"] in rows
