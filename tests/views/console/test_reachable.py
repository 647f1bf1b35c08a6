"""Whatever the console does can be done by a key and by a command."""

import asyncio
from importlib import import_module

import pytest

from sightline.views.console._actions import ABOUT, ACTIONS, COMMAND_OF
from sightline.views.console.commands import COMMANDS
from tests.views.console.sitting import Sitting

OF_OTHER_SCOPES = {
    "stop": "interrupt",
    "quit": "exit",
    "history": "history_search",
    "editor": "external_editor",
    "redraw": "clear_screen",
    "clear": "new",
}
"""Commands whose key belongs to the editor or the program."""
SAME_ACTION = {"attach": "paste_image"}
"""Another way in: an image by its name instead of from the clipboard."""


def of_the_console() -> list[str]:
    return [name for name, action in ACTIONS.items() if action.scope == "console"]


@pytest.mark.parametrize("action", of_the_console())
def test_every_key_of_the_console_has_a_command(action: str) -> None:
    """That exists, and that a person who cannot press the key can enter."""
    assert COMMAND_OF[action] in COMMANDS
    assert ABOUT[action]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_an_action_that_can_have_a_key(command: str) -> None:
    """One of the console's, or of the editor's."""
    other = OF_OTHER_SCOPES.get(command) or SAME_ACTION.get(command)
    assert command in COMMAND_OF.values() or other in ACTIONS, f"/{command} cannot be had by a key"


@pytest.mark.parametrize("command", COMMANDS.values(), ids=lambda command: command.name)
def test_every_command_can_be_loaded(command) -> None:
    """Its function is where the table says."""
    module = import_module(f"sightline.views.console.{command.module}")
    assert asyncio.iscoroutinefunction(getattr(module, command.function))


@pytest.mark.parametrize(
    "action", sorted(set(of_the_console()) - {"follow_up", "unqueue", "paste_image", "thinking", "approval"})
)
async def test_a_key_does_what_its_command_does(action: str, tmp_path, monkeypatch) -> None:
    """Whatever key it is given: the same thing is called."""
    done: list[str] = []

    async def run_command(self, name: str, args: str = "") -> None:
        done.append(name)

    sitting = Sitting(tmp_path)
    kind = type(sitting.console)
    monkeypatch.setattr(kind, "run_command", run_command)
    for name, command in (("unfold", "unfold"), ("show_reasoning", "reasoning"), ("show_todo", "todo")):
        monkeypatch.setattr(kind, name, lambda self, on, command=command: done.append(command))

    async def view_output(self, back: int = 0) -> None:
        done.append("output")

    monkeypatch.setattr(kind, "view_output", view_output)
    bindings = sitting.console.bindings
    bindings.become(type(bindings)({action: "f9"}, ACTIONS))
    sitting.press("f9")
    await sitting.until(lambda: done, action)
    assert done == [COMMAND_OF[action]]
    await sitting.close()


def test_the_table_names_the_keys_of_the_console_and_no_others() -> None:
    """One that is added has to be given a command."""
    assert set(COMMAND_OF) == set(of_the_console())
