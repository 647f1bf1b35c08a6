"""`sightline attach ID --agent PATH`: the view of one agent, live, in a real console."""

from typing import Any

import pytest

from tests.cli.support import running_sessions, until
from tests.views.console.e2e.support import ENTER, Person, bash, text

WAITING = "echo counter-waits; until test -e go; do sleep 0.05; done; echo counter-went"


def delegating(person: Person) -> str:
    """The name of a model that sends an agent out, which waits for a file."""
    agents: dict[str, Any] = {
        "Counter": [
            [text("Counter begins."), bash(WAITING)],
            [text("Counter is done."), {"tool": "yield", "args": {"result": "12 files"}}],
        ]
    }
    task = {"agent": "task", "assignment": "Count the files.", "id": "Counter"}
    call = {"tool": "task", "args": task, "agents": agents}
    return person.script([text("Root words."), call], [text("There are 12.")])


@pytest.mark.parametrize("person", ["xterm"], indirect=True)
def test_the_view_of_one_agent_is_open_at_once_and_live(person: Person) -> None:
    """It shows what that agent does, and no one else; closed, the session is there."""
    allowed = ("--set", "permissions.sandbox=false", "--allow", "exec")
    screen = person.opens("--model", delegating(person), *allowed)
    screen.says("count them")
    screen.sees("counter-waits")
    (session,) = [row["id"] for row in until(running_sessions, "the session")]
    screen.press("/detach", ENTER)
    screen.ended()

    attached = person.opens("attach", session, "--agent", "Counter", ready=False)
    attached.sees("Counter begins.", "counter-waits", "following")
    assert not any("Root words." in row for row in attached.rows())
    (person.project / "go").touch()
    attached.sees("counter-went", "Counter is done.")
    attached.answers("q", lambda rows: any("There are 12." in row for row in rows))
    attached.leaves()
