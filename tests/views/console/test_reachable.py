"""Whatever the console does can be done by a key and by a command."""

from importlib import import_module

import pytest

from sightline.tty.input._decoder import Decoder
from sightline.views.console._actions import ACTIONS, COMMANDS, OWN, TOPICS, Action
from sightline.views.console._screen import ConsoleScreen
from sightline.views.console.paint._console_paint import HINTS
from sightline.views.console.selectors._agents import AgentsPanel
from tests.views.console.sitting import Sitting

OF_OTHER_SCOPES = {
    "stop": "interrupt",
    "quit": "exit",
    "history": "history_search",
    "editor": "external_editor",
    "redraw": "clear_screen",
    "clear": "new",
    "attach": "paste_image",
}
"""Commands whose key belongs to the editor, the program or another action."""


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_an_action_that_can_have_a_key(command: str) -> None:
    """One of the console's, or of the editor's."""
    assert COMMANDS[command].name in OWN or OF_OTHER_SCOPES[command] in ACTIONS


@pytest.mark.parametrize("action", COMMANDS.values(), ids=lambda action: action.command)
def test_an_action_says_what_it_does_and_its_handlers_are_there(action: Action) -> None:
    """What it does, where `/help` lists it, and functions where the table says."""
    assert action.does
    assert action.about
    assert action.topic in TOPICS
    for handler in (action.handler, action.key_handler):
        module, _, function = handler.partition(":")
        assert callable(getattr(import_module(f"sightline.views.console.{module}"), function))


@pytest.mark.parametrize("name", sorted(set(OWN) - {"unqueue", "paste_image"}))
async def test_whatever_key_an_action_is_given_does_it(name: str, tmp_path, monkeypatch) -> None:
    """The handler of its row is called, and the editor does not hear the key."""
    done: list[str] = []
    monkeypatch.setattr(Action, "press", lambda self, console: done.append(self.name))
    sitting = Sitting(tmp_path)
    bindings = sitting.console.bindings
    bindings.become(type(bindings)({name: "f9"}, ACTIONS))
    sitting.press("f9")
    assert done == [name]
    await sitting.close()


async def test_alt_a_opens_the_agents_however_a_terminal_sends_it(tmp_path) -> None:
    """As xterm and tmux do, plainly, with modifyOtherKeys and with CSI u. No other action of the console or the editor
    has the key; those of lists and of the tree have it while they are open."""
    taken = {name for name, action in ACTIONS.items() if "alt+a" in action.keys}
    assert taken == {"agents", "list_archive", "tree_filter_all"}
    for sent in (b"\x1ba", b"\x1b[27;3;97~", b"\x1b[97;3u"):
        sitting = Sitting(tmp_path)
        decoder = Decoder()
        for event in [*decoder.feed(sent), *decoder.flush()]:
            sitting.application.hear(event)
        await sitting.until(lambda sitting=sitting: isinstance(sitting.console.screen.asking, AgentsPanel))
        await sitting.close()


async def test_what_is_typed_after_the_key_that_queues_is_not_queued(tmp_path) -> None:
    """The key takes what is written at that moment, not when the loop comes to it."""
    sitting = Sitting(tmp_path)
    sitting.writes("first")
    sitting.press("alt+enter", "x")
    assert sitting.console.prompt.text == "x"
    await sitting.close()


async def test_the_row_of_keys_follows_the_settings(tmp_path) -> None:
    """It is the first paint's, until a key is another one; an action without a key is not named."""
    sitting = Sitting(tmp_path)
    screen: ConsoleScreen = sitting.console.screen
    assert tuple(screen._usual_hints()) == HINTS
    bindings = sitting.console.bindings
    bindings.become(type(bindings)({"view_output": "f9", "history_search": []}, ACTIONS))
    assert screen._usual_hints() == [("enter", "send"), ("f9", "output"), ("/help", "all keys"), ("ctrl+d", "leave")]
    await sitting.close()
