"""The page of keys says what is so."""

import re
import tomllib
from pathlib import Path

from tools.reference import KEYS, keys_page

from sightline.views.console._actions import ACTIONS, bindings_from

PAGE = (Path(__file__).parents[4] / "docs" / "reference" / "keys.md").read_text()


def test_the_tables_of_the_page_are_those_of_the_console():
    """Every action with its keys and what it does: `make reference` writes them."""
    assert keys_page(PAGE) == PAGE


def test_every_action_is_on_the_page_once_and_says_what_it_does():
    """A scope that is added needs a place on the page."""
    assert sorted(scope for scopes in KEYS.values() for scope in scopes) == sorted({a.scope for a in ACTIONS.values()})
    assert all(action.about for action in ACTIONS.values())


def test_the_example_of_the_page_can_be_taken_as_it_is():
    """Its keys have no problems."""
    [example] = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert bindings_from(tomllib.loads(example)["console"]["keys"]).problems == []
