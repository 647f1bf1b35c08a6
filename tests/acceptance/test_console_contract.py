"""Every statement about the console has a test that names its section, or a deviation with its reason.

The files in `console_contract.d` list the statements; here it is checked that what they name exists.
"""

import tomllib
from pathlib import Path

import pytest

from tests.acceptance import contract

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FILES = sorted((HERE / "console_contract.d").glob("*.toml"))
STATEMENTS = [statement for file in FILES for statement in tomllib.loads(file.read_text())["statement"]]
DEVIATIONS = " ".join((ROOT / "docs/internals/deviations.md").read_text().split())
SECTIONS = {
    "delegation-ui.md": "Constraints, Error Handling Strategy, Phase 1, Phase 2, Phase 3, Anti-Patterns to Avoid",
    "tree.md": "What `/tree` does, How to open it, Tree UI model, Keybindings inside tree selector, "
    "Filters and search semantics, Selection outcomes, Summary-on-switch flow, Labels, "
    "`/tree` vs adjacent operations, Operator workflows",
    "tui.md": "Runtime behavior by mode, Core component contract, Rendering constraints, "
    "Input handling and keybindings, Focus, Mount points and return contracts, Lifecycle and cancellation",
    "tui-runtime-internals.md": "Streaming and incremental UI updates, Status and loader orchestration, "
    "Bash/Python input modes, Suspend/resume, Cancellation paths, Event-driven vs throttled behavior",
    "todo.md": "Outputs, Limits & Caps, Errors, Side Effects",
    "job.md": "Outputs",
}


def _name(statement: dict) -> str:
    return f"{statement['document']}/{statement['section']}: {statement['says']}"[:120]


def said_by(listed: str) -> str:
    test = contract.test_named(listed.partition("[")[0].removeprefix("tests/"), HERE.parent)
    return f"{test.words}\n{test.table}"


def names(listed: str, document: str, section: str) -> bool:
    """Whether a test names a section, or the one that is part of; the document's name may be anywhere in its file."""
    said = said_by(listed)
    headings = (section.partition(":")[0], section.partition("/")[0], section.rpartition("/")[2])
    return any(heading in said for heading in headings) and document in (ROOT / listed.partition("::")[0]).read_text()


@pytest.mark.parametrize("statement", STATEMENTS, ids=_name)
def test_a_statement_is_held_by_a_test_or_by_a_deviation(statement: dict) -> None:
    """All its tests exist and one of them names the section; its deviation is on the page of deviations."""
    tests, deviation = statement.get("tests", []), statement.get("deviation", "")
    assert tests or deviation, "nothing holds it"
    named = [names(test, statement["document"], statement["section"]) for test in tests]
    assert not tests or any(named), "no test names its section"
    assert deviation in DEVIATIONS, "the page of deviations does not have it"


@pytest.mark.parametrize("document", SECTIONS)
def test_every_section_of_the_documents_is_there(document: str) -> None:
    """None is left out."""
    listed = {statement["section"] for statement in STATEMENTS if statement["document"] == document}
    for wanted in SECTIONS[document].split(", "):
        assert any(wanted in section or section.startswith(wanted) for section in listed), wanted
