"""Ways into the selectors (tree.md, How to open it): commands, keys, and Escape twice."""

import asyncio
from importlib import import_module
from types import SimpleNamespace

import pytest

from sightline.settings import Settings
from sightline.settings._tree import Console
from sightline.tty import Key
from sightline.tty._keys import parse_key
from sightline.views.console._actions import bindings_from
from sightline.views.console._keys import Keys
from sightline.views.console.commands import COMMANDS
from tests.views.console.selectors.support import Desk

SELECTORS = (
    "tree",
    "branch",
    "fork",
    "resume",
    "model",
    "thinking",
    "approvals",
    "settings",
    "keys",
    "theme",
    "jobs",
    "agents",
    "files",
)


class Stand:
    """As much of a console as its keys need: nothing goes on, and commands are written down."""

    def __init__(self, *, double_escape="tree", keys=None, empty=True):
        self.bindings = bindings_from(keys or {})
        self.settings = Settings(console=Console(double_escape=double_escape))
        self.state = Desk().state
        self.prompt = SimpleNamespace(empty=empty)
        self.screen = SimpleNamespace(is_answered=False, heard=lambda: None)
        self.working = SimpleNamespace()
        self.entering = SimpleNamespace(running=[])
        self.sessions = SimpleNamespace(drops_keys=False)
        self.now = 100.0
        self.loop = SimpleNamespace(time=lambda: self.now)
        self.ran = []

    def spawn(self, work):
        asyncio.run(work)

    async def run_command(self, name, args=""):
        self.ran.append(name)


@pytest.mark.parametrize("name", SELECTORS)
def test_each_selector_is_a_command(name):
    """tree.md/How to open it: /tree, and the others likewise."""
    command = COMMANDS[name]
    module = import_module(f"sightline.views.console.{command.module}")
    assert asyncio.iscoroutinefunction(getattr(module, command.function))


def test_a_key_of_ones_own_opens_the_tree():
    """tree.md/How to open it: the configured keybinding action `tree`; it has no key unless one is given."""
    assert bindings_from({}).keys("tree") == ()
    stand = Stand(keys={"tree": "f5"})
    assert Keys(stand).hear(parse_key("f5")) is None
    assert stand.ran == ["tree"]


@pytest.mark.parametrize(
    ("options", "between", "ran"),
    [
        ({}, 0.3, ["tree"]),
        ({}, 0.7, []),
        ({"double_escape": "branch"}, 0.3, ["branch"]),
        ({"double_escape": "none"}, 0.3, []),
        ({"empty": False}, 0.3, []),
    ],
    ids=["tree by default", "too slow", "branch", "none", "something is written"],
)
def test_escape_twice_on_an_empty_editor(options, between, ran):
    """tree.md/How to open it: double-escape on an empty editor when doubleEscapeAction is "tree" (default)."""
    stand = Stand(**options)
    keys = Keys(stand)
    assert keys.hear(Key("escape")) == Key("escape")  # it is the editor's first
    keys.escape()
    stand.now += between
    keys.escape()
    assert stand.ran == ran
