"""A slash command of a Markdown file at the console: completed, run, opened, stopped; and for who listens."""

from pathlib import Path

import pytest

from sightline.settings._trust import trust
from tests.views.console.e2e.support import ALT_O, BACK, ENTER, ESCAPE, Person, text
from tests.views.console.e2e.test_linear import Listener
from tests.views.console.e2e.test_linear import listener as listener

FIX = """\
---
description: Fix an issue, with what it says
argument-hint: [issue]
---
# What the issue says

!`echo it-says; until test -e go; do sleep 0.05; done; echo it-said`

Fix issue $1 now.
"""


def write(project: Path, name: str, words: str) -> None:
    path = project / ".claude/commands" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(words)


@pytest.mark.parametrize("person", ["xterm", "tmux"], indirect=True)
def test_what_was_typed_what_ran_and_what_was_sent_are_seen(person: Person) -> None:
    """Each once; the text that was sent is folded until one opens it."""
    write(person.project, "team/fix.md", FIX)
    trust(person.project)
    model = person.script([text("I fixed it.")])
    screen = person.opens("--model", model, "--set", "permissions.sandbox=false", "--allow", "exec")
    screen.says("/team:fix 12")
    screen.sees("› /team:fix 12", "it-says", "running Bash")
    (person.project / "go").touch()
    screen.sees("I fixed it.", "· command: # What the issue says")
    screen.once("› /team:fix 12", "· command: # What the issue says", "I fixed it.")
    screen.sees_no("Fix issue 12 now.")
    screen.press(ALT_O)
    screen.sees("Fix issue 12 now.")
    screen.press(ALT_O)
    screen.press("/team")
    screen.sees("/team:fix", "[issue] · Fix an issue, with what it says")
    screen.press(*[BACK] * 5)
    screen.says("/help")
    screen.sees("Commands of this project", "/team:fix [issue]")
    screen.leaves()


@pytest.mark.parametrize("person", ["xterm"], indirect=True)
def test_escape_stops_it_and_nothing_is_sent(person: Person) -> None:
    """The next prompt is the first the model reads."""
    write(person.project, "fix.md", FIX)
    trust(person.project)
    model = person.script([text("I read one prompt.")])
    screen = person.opens("--model", model, "--set", "permissions.sandbox=false", "--allow", "exec")
    screen.says("/fix 12")
    screen.sees("it-says", "escape stop")
    screen.press(ESCAPE)
    screen.sees_no("escape stop")
    screen.says("hello")
    screen.sees("I read one prompt.")
    screen.sees_no("command: #")
    screen.leaves()


@pytest.mark.parametrize("person", ["xterm"], indirect=True)
def test_one_of_a_folder_that_is_not_trusted_is_neither_completed_nor_sent(person: Person) -> None:
    """A notice has why."""
    write(person.project, "fix.md", "Fix it.")
    screen = person.opens("--model", person.script([text("never")]))
    screen.sees("1 command of this project is not used: its folder is not trusted")
    screen.press("/fix")
    screen.sees(" /fix")
    screen.sees_no("Fix it.")
    screen.press(ENTER)
    screen.sees("no command /fix")
    screen.press(*[BACK] * 4)
    screen.leaves()


def test_who_listens_hears_what_was_sent(listener: Listener) -> None:
    """And why it was not."""
    write(listener.project, "fix.md", "!`echo it-says`\nFix issue $1.")
    write(listener.project, "broken.md", "!`exit 7`\nGo.")
    trust(listener.project)
    model = listener.script([text("I fixed it.")])
    ear = listener.listens("--model", model, "--set", "permissions.sandbox=false", "--allow", "exec")
    ear.says("/fix 12")
    ear.hears("it-says", "command: it-says", "I fixed it.")
    ear.is_asked()
    ear.says("/broken")
    ear.hears("/broken was not sent: `exit 7` failed: [exit code 7]")
    ear.is_asked()
    ear.leaves()
