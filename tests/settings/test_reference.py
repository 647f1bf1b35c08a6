"""The pages about settings and rules say what the program does."""

import re
import tomllib
from pathlib import Path

from tools.settings_reference import settings_page

from sightline.settings import Settings, load, parse_rule
from sightline.settings import __all__ as public_names

DOCS = Path(__file__).parent.parent.parent / "docs"


def test_the_reference_is_that_of_the_tree():
    """Every setting with its default, type and purpose; `make reference` writes the page."""
    page = (DOCS / "reference/settings.md").read_text()
    assert settings_page(page) == page


def test_the_examples_of_the_pages_are_right(tmp_path):
    """Each TOML example loads without a mistake."""
    examples = [
        example
        for name in ("reference/settings.md", "reference/permissions.md", "guide/start.md")
        for example in re.findall(r"```toml\n(.*?)```", (DOCS / name).read_text(), re.DOTALL)
    ]
    assert examples
    for example in examples:
        tomllib.loads(example)
        (tmp_path / "settings.toml").write_text(example)
        assert load(tmp_path, environ={"SIGHTLINE_HOME": str(tmp_path)}).settings != Settings()


def test_every_rule_on_the_page_about_rules_is_one():
    """What is shown as a rule can be used as one."""
    page = (DOCS / "reference/permissions.md").read_text()
    rules = re.findall(r"`((?:read|write|exec|network)\([^`]*\))`", page)
    assert len(rules) > 10
    for rule in rules:
        parse_rule(rule)


def test_the_public_names():
    """The one door of the room."""
    assert public_names == sorted(public_names)
    assert {"Settings", "load", "Policy", "Decision", "remember_rule", "remembered_rules"} <= set(public_names)
