"""The page of the console says what is so."""

import re
import tomllib
from pathlib import Path

from tools.reference import console_page

from sightline.settings import load
from sightline.views.console._actions import COMMANDS, bindings_from
from sightline.views.console.input._drafts import MOST_DRAFTS as DRAFTS
from sightline.views.console.input._history import MOST_PROMPTS as PROMPTS
from sightline.views.console.status._jobs import MOST as JOBS
from sightline.views.console.status._todo import MOST as TASKS

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "reference" / "console.md").read_text()


def test_the_commands_of_the_page_are_those_of_the_console():
    """Each once, in the order of the completion, and what may follow it: `make reference` writes them."""
    assert console_page(PAGE) == PAGE


def test_the_limits_of_the_page_are_those_of_the_program():
    """How many drafts, prompts, tasks and jobs."""
    assert f"the {DRAFTS} touched last" in PAGE
    assert f"the newest {PROMPTS:,} " in PAGE
    assert f"{TASKS} tasks, {JOBS} jobs" in PAGE


def test_the_settings_of_the_guide_can_be_taken_as_they_are(tmp_path):
    """They load without a mistake, and their keys have no problems."""
    [example] = re.findall(r"```toml\n(.*?)```", (DOCS / "guide" / "console.md").read_text(), re.DOTALL)
    (tmp_path / "settings.toml").write_text(example)
    console = load(tmp_path, environ={"SIGHTLINE_HOME": str(tmp_path)}).settings.console
    assert console.keys == tomllib.loads(example)["console"]["keys"]
    assert bindings_from(console.keys).problems == []


def test_commands_the_guide_names_are_there():
    """Whatever stands in it with a slash and in code."""
    guide = (DOCS / "guide" / "console.md").read_text()
    named = set(re.findall(r"`/([a-z]+)", guide))
    assert len(named) > 15
    assert named <= set(COMMANDS)
