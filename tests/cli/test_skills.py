"""`sightline skills`: what is found here, with its source, path and state; `/skill` without a screen."""

import json
from pathlib import Path

import pytest

from sightline.settings._trust import trust
from tests.cli.support import sightline
from tests.tools.skills.support import RELEASE, write_letters, write_skill


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository to be in, and a home, with skills in both."""
    folder, home = tmp_path / "work", tmp_path / "home"
    (folder / ".git").mkdir(parents=True)
    write_letters(home / ".claude/skills/letters")
    write_skill(home / ".agents/skills/release", RELEASE)
    write_skill(home / ".agents/skills/bad", "nothing")
    write_skill(folder / ".claude/skills/letters", description="Theirs")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(home))
    return folder


def run(*words: str) -> tuple[int, str, str]:
    done = sightline(*words)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_the_list(work: Path) -> None:
    """A row for each, with its description and file below; what is not used, and why, also as a note."""
    code, out, err = run("skills")
    assert code == 0
    rows = [line.rstrip() for line in out.splitlines()]
    assert rows[0].split() == ["SKILL", "FROM", "STATE"]
    assert [row.split()[0] for row in rows[1:] if not row.startswith(" ")] == ["letters", "bad", "release", "letters"]
    assert "untrusted: its folder is not trusted" in rows[1]
    assert rows[1 + rows.index("  ~/.agents/skills/bad/SKILL.md")].split()[0] == "release"
    assert "for the user only" in out
    assert "  Write formal letters: salutation, body, closing." in out
    assert "Theirs" not in out
    assert "note: 1 skill of this project is not used: its folder is not trusted." in err
    assert f"then run `sightline config trust {work}`" in err
    assert "bad/SKILL.md is not used: it does not begin with front matter" in err


def test_the_list_as_json(work: Path) -> None:
    """Once the folder is trusted its skill hides the user's."""
    trust(work)
    code, out, _ = run("skills", "--json")
    assert code == 0
    listed = [(each["name"], each["source"], each["state"], each["why"]) for each in json.loads(out)]
    assert listed[0] == ("letters", "project", "offered", "")
    assert listed[-1] == ("letters", "user", "shadowed", str(work / ".claude/skills/letters/SKILL.md"))
    assert [each[2] for each in listed[1:3]] == ["broken", "user"]


def test_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert run("skills") == (0, "", "note: no skills here\n")
    assert run("skills", "--json")[:2] == (0, "[]\n")


def test_without_a_screen(work: Path, tmp_path: Path) -> None:
    """`/skill` lists them, `/skill NAME words` uses one; an unknown one is a mistake."""
    script = tmp_path / "script.json"
    script.write_text(json.dumps([[{"text": "It is published."}]]))
    model = ("--model", f"scripted:{script}")
    code, out, err = run("-p", "/skill", *model)
    assert (code, "release (~/.agents/skills, for the user only): Publish a release" in out) == (0, True)
    assert "skills offered to the model: letters; skills for you alone: release" in err
    code, out, err = run("-p", "/skill release 1.2", *model)
    assert (code, out) == (0, "It is published.\n")
    assert "skill release goes to the model with this prompt" in err
    code, out, err = run("-p", "/skill gone", *model)
    assert (code, out) == (2, "")
    assert "error: no skill gone\nhint: skills here: release, letters" in err
