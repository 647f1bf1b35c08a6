"""Every statement of the documents about `task` and `irc` has a test, or a deviation with its reason.

`statements.toml` lists the statements; here it is checked that what it names exists.
"""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance import contract

HERE = Path(__file__).parent
TESTS = HERE.parent
SECTIONS = tomllib.loads((HERE / "statements.toml").read_text())["section"]
DEVIATIONS = (TESTS.parent / "docs" / "internals" / "deviations.md").read_text()
STATEMENTS = [
    pytest.param(section, statement, id=f"{section}: {statement['says']}"[:110])
    for section, listed in SECTIONS.items()
    for statement in listed["statements"]
]
HEADINGS = ["Inputs", "Outputs", "Flow", "Modes / Variants", "Side Effects", "Limits & Caps", "Errors", "Notes"]


def differs(tool: str) -> str:
    """The section of the page of deviations about a tool, on one line."""
    _, _, rest = DEVIATIONS.partition(f"\n## Tools: `{tool}`\n")
    return " ".join(rest.partition("\n## ")[0].split())


@pytest.mark.parametrize(("section", "statement"), STATEMENTS)
def test_a_statement_is_held_by_a_test_or_by_a_deviation(section: str, statement: dict[str, Any]) -> None:
    """Each of its tests exists, and each of its deviations is on the page."""
    tests, deviations = statement.get("tests", []), statement.get("deviations", [])
    assert tests or deviations, "nothing holds it"
    for name in tests:
        contract.test_named(name, TESTS)
    page = differs(section.partition(".")[0])
    assert [words for words in deviations if words not in page] == []


@pytest.mark.parametrize("document", ["task.md", "irc.md"])
def test_every_section_of_the_documents_is_there(document: str) -> None:
    """None is left out, and none is empty."""
    assert {f"{document}/{heading}" for heading in HEADINGS} <= SECTIONS.keys()
    assert all(section["statements"] for section in SECTIONS.values())


def test_every_deviation_of_the_page_is_one_of_a_statement() -> None:
    """What is no longer different leaves the page."""
    statements = [each for section in SECTIONS.values() for each in section["statements"]]
    listed = [words for each in statements for words in each.get("deviations", [])]
    for tool in ("task", "irc"):
        _, _, rest = DEVIATIONS.partition(f"\n## Tools: `{tool}`\n")
        rows = [row for row in rest.partition("\n## ")[0].splitlines() if row.startswith("| ")][2:]
        assert rows
        assert [row for row in rows if not any(words in row for words in listed)] == []
