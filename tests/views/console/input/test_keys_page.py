"""The page of keys says what is so."""

import re
import tomllib
from pathlib import Path

from sightline.views.console._actions import ABOUT, ACTIONS, bindings_from

PAGE = (Path(__file__).parents[4] / "docs" / "reference" / "keys.md").read_text()
ROWS = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+?) \|$", PAGE, re.MULTILINE)


def test_every_action_is_on_the_page_with_its_keys():
    """Each once; `none` where it has no key."""
    said = [(name, tuple(re.findall(r"`(\S+)`", keys))) for name, keys, _ in ROWS]
    assert sorted(said) == sorted((name, action.keys) for name, action in ACTIONS.items())


def test_the_page_and_the_console_use_the_same_words():
    """What `/keys` shows for an action of the console is what the page says."""
    said = {name: words for name, _, words in ROWS}
    assert {name: said[name] for name in ABOUT} == ABOUT


def test_the_example_of_the_page_can_be_taken_as_it_is():
    """Its keys have no problems."""
    [example] = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert bindings_from(tomllib.loads(example)["console"]["keys"]).problems == []
