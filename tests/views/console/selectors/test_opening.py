"""Ways into the selectors (tree.md, How to open it): commands, keys, and Escape twice."""

import asyncio
from importlib import import_module

import pytest

from sightline.settings import Settings
from sightline.settings._tree import ConsoleSettings
from sightline.views.console._actions import COMMANDS, Action, bindings_from
from tests.views.console.sitting import Sitting

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


@pytest.mark.parametrize("name", SELECTORS)
def test_each_selector_is_a_command(name):
    """tree.md/How to open it: /tree, and the others likewise."""
    module, _, function = COMMANDS[name].handler.partition(":")
    assert asyncio.iscoroutinefunction(getattr(import_module(f"sightline.views.console.{module}"), function))


async def test_a_key_of_ones_own_opens_the_tree(tmp_path, monkeypatch):
    """tree.md/How to open it: the configured keybinding action `tree`; it has no key unless one is given."""
    assert bindings_from({}).keys("tree") == ()
    ran = []
    monkeypatch.setattr(Action, "press", lambda self, console: ran.append(self.command))
    sitting = Sitting(tmp_path)
    sitting.console.set_bindings(bindings_from({"tree": "f5"}))
    sitting.press("f5")
    assert ran == ["tree"]
    await sitting.close()


@pytest.mark.parametrize(
    ("double_escape", "written", "between", "ran"),
    [
        ("tree", "", 0.3, ["tree"]),
        ("tree", "", 0.7, []),
        ("branch", "", 0.3, ["branch"]),
        ("none", "", 0.3, []),
        ("tree", "words", 0.3, []),
    ],
    ids=["tree by default", "too slow", "branch", "none", "something is written"],
)
async def test_escape_twice_on_an_empty_editor(double_escape, written, between, ran, tmp_path, monkeypatch):
    """tree.md/How to open it: double-escape on an empty editor when doubleEscapeAction is "tree" (default)."""
    done, now = [], [100.0]

    async def run(self, console, args=""):
        done.append(self.command)

    monkeypatch.setattr(Action, "run", run)
    sitting = Sitting(tmp_path, Settings(console=ConsoleSettings(double_escape=double_escape)))
    sitting.console.keys._clock = lambda: now[0]
    if written:
        sitting.writes(written)
    sitting.press("escape")
    now[0] += between
    sitting.press("escape")
    for _ in range(3):
        await asyncio.sleep(0)
    assert done == ran
    await sitting.close()
