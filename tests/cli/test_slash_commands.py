"""`sightline commands`, and a command of a file given to `-p`."""

import json
import os
from pathlib import Path

import pytest

from sightline.settings._trust import trust
from tests.cli.support import sightline
from tests.cli.test_native import FREE, script


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    return folder


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def own() -> Path:
    return Path(os.environ["SIGHTLINE_HOME"]) / "commands"


def test_the_list(work: Path) -> None:
    """Each state, and where the file is; the project's are not read before they are trusted."""
    project = write(work / ".claude/commands/fix.md", "---\nargument-hint: [issue]\nallowed-tools: Read\n---\nFix it.")
    write(own() / "fix.md", "Mine.")
    write(own() / "help.md", "Mine.")
    write(own() / "empty.md", "")
    done = sightline("commands")
    assert done.returncode == 0
    rows = done.stdout.decode()
    assert "untrusted: its folder is not trusted" in rows
    assert "Fix it." not in rows
    assert b"1 command of this project is not used" in done.stderr
    trust(work)
    done = sightline("commands", "--json")
    listed = [(row["name"], row["source"], row["state"], row["why"]) for row in json.loads(done.stdout)]
    assert listed == [
        ("fix", "project", "usable", ""),
        ("empty", "user", "broken", "it has no text to send"),
        ("fix", "user", "shadowed", f"shadowed by {project}"),
        ("help", "user", "shadowed", "shadowed by a command of the console"),
    ]
    rows = [row.split() for row in sightline("commands").stdout.decode().splitlines()]
    assert rows[0] == ["COMMAND", "FROM", "STATE"]
    assert rows[1] == ["/fix", "[issue]", "project", "usable"]
    assert ["ignored:", "allowed-tools"] in rows


def test_none(work: Path) -> None:
    """A note says how to make one."""
    done = sightline("commands")
    assert (done.returncode, done.stdout) == (0, b"")
    assert b".claude/commands/fix.md" in done.stderr
    assert json.loads(sightline("commands", "--json").stdout) == []


def test_without_a_screen(work: Path) -> None:
    """The exit code is that of the run; what cannot be used is refused before a session begins to work."""
    write(own() / "fix.md", "---\ndescription: Mend it\n---\n!`printf so-far`\nFix $ARGUMENTS.")
    write(own() / "bad.md", "!`exit 3`\nGo.")
    write(work / ".sightline/commands/theirs.md", "Go.")
    model = script(work, [[{"text": "Fixed."}]])
    done = sightline("-p", "/fix one two", "--model", model, *FREE)
    assert (done.returncode, done.stdout) == (0, b"Fixed.\n"), done.stderr
    shown = sightline("tree", "-").stdout.decode()
    assert 'user: "/fix one two"' in shown
    assert 'automatic: "so-far' in shown
    assert json.loads(sightline("sessions", "--json").stdout)[0]["title"] == "/fix one two"
    done = sightline("-p", "/bad", "--model", model, *FREE)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"/bad was not sent: `exit 3` failed" in done.stderr
    done = sightline("-p", "/theirs", "--model", model, *FREE)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"/theirs cannot be used: its folder is not trusted" in done.stderr
    helped = sightline("-p", "/help", "--model", model).stdout.decode()
    assert "Mend it (yours)" in helped
    assert "/theirs" not in helped


def test_with_a_schema(work: Path) -> None:
    """What the answer has to be is not part of what was typed."""
    write(own() / "count.md", "Count !`echo $ARGUMENTS`")
    schema = write(work.parent / "schema.json", '{"type": "integer"}')
    model = script(work, [[{"text": "3"}]])
    done = sightline("-p", "/count a b", "--json-schema", str(schema), "--model", model, *FREE)
    assert (done.returncode, done.stdout) == (0, b"3\n"), done.stderr
    shown = sightline("tree", "-", "--filter", "all").stdout.decode()
    assert 'user: "/count a b"' in shown
    assert 'automatic: "Count a b"' in shown
