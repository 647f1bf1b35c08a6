"""Skills by keys: the row of what is offered, the list, the completion of a name, the prompt, and the row of a read."""

import os
from pathlib import Path

import pytest

from tests.tools.skills.support import RELEASE, write_letters, write_skill
from tests.views.console.e2e.support import CTRL_D, ENTER, ESCAPE, Person, text
from tests.views.console.e2e.test_linear import Listener, listener  # noqa: F401, a fixture

TAB = "\t"
READ = {"tool": "read", "args": {"path": "skill://letters"}}


@pytest.fixture
def own() -> Path:
    """The user's own skills."""
    folder = Path(os.environ["SIGHTLINE_HOME"]) / "skills"
    write_letters(folder / "letters")
    write_skill(folder / "release", RELEASE)
    write_skill(folder / "bad", "nothing")
    return folder


@pytest.mark.parametrize("person", ["xterm"], indirect=True)
def test_skills_are_listed_completed_used_and_read(own: Path, person: Person) -> None:
    """What was offered and what is not used is in the transcript once; a resumed session does not repeat it."""
    write_skill(person.project / ".claude/skills/theirs")
    model = person.script([text("It is published.")], [READ], [text("It is written.")])
    screen = person.opens("--model", model, "--set", "permissions.sandbox=false")
    screen.sees("skills offered to the model: letters; skills for you alone: release", "1 skill of this project is not")
    screen.press("/skill", ENTER)
    screen.sees("Skills", "theirs", "untrusted: its folder is not trusted", "broken: it does not begin", "for the user")
    screen.press(ESCAPE)
    screen.sees_no("write its prompt")
    screen.press("/skill re")
    screen.sees("Publish a release: tag, build, upload.")
    screen.press(TAB)
    screen.sees("/skill release")
    screen.press("1.2", ENTER)
    screen.sees("/skill release 1.2", "skill release goes to the model with this prompt", "It is published.")
    screen.says("/skill gone")
    screen.sees("no skill gone", "skills here: ")
    screen.press("\x15")  # it came back into the editor
    screen.says("a letter please")
    screen.sees("Read skill letters", "It is written.")
    screen.once("skills offered to the model", "/skill release 1.2", "It is published.", "Read skill letters")
    screen.sees_no("Publish version")
    screen.press(CTRL_D)


def test_in_linear_mode(own: Path, listener: Listener) -> None:  # noqa: F811
    """The list is read out, and what is chosen is offered as the next prompt."""
    ear = listener.listens("--model", listener.script([text("It is published.")]))
    ear.says("/skill")
    ear.hears("Skills", "letters", "for the user only")
    ear.says("0")
    ear.says("/skill release 1.2")
    ear.hears("skill release goes to the model", "It is published.")
    ear.leaves()
