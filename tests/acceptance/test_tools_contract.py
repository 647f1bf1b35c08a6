"""Every statement of the tools' documents has a test that names its section, or a deviation with its reason.

`tools_contract.toml` lists the statements, here it is checked that what it names exists. A section is named by a
test's documentation or by the ids of its cases.
"""

import tomllib
from pathlib import Path

import pytest

from tests.acceptance import contract

HERE = Path(__file__).parent
TOOLS = HERE.parent / "tools"
DEVIATIONS = (HERE.parents[1] / "docs" / "internals" / "deviations.md").read_text()
SECTIONS = tomllib.loads((HERE / "tools_contract.toml").read_text())["section"]
STATEMENTS = [
    pytest.param(name, statement, id=f"{name}: {statement['says']}"[:110])
    for name, section in SECTIONS.items()
    for statement in section["statements"]
]
DOCUMENTS = {
    "read": "Selector grammar, Outputs, Flow, Local text files, Directory listings, Archives, SQLite databases, "
    "Documents, Jupyter notebooks, Images, Internal URLs, Web URLs, Side Effects, Limits & Caps, Errors, Notes",
    "write": "Inputs, Outputs, Flow, Plain file path, Archive entry write, SQLite table insert, "
    "SQLite row update / delete, Side Effects, Limits & Caps, Errors, Notes",
    "edit": "Inputs, Tolerated input shapes, Outputs, Worked examples, Limits & Caps, Errors, Warnings",
    "search": "Inputs, Outputs, Flow, Modes, Side Effects, Limits & Caps, Errors, Notes",
    "find": "Inputs, Outputs, Flow, Modes, Side Effects, Limits & Caps, Errors, Notes",
    "job": "Inputs, Outputs, Flow, Modes / Variants, Limits & Caps, Errors, Notes",
    "todo": "TodoOpEntry, Outputs, Flow, State transitions, Op targeting rules, Side Effects, Limits & Caps, Errors, "
    "Notes",
}


def said_by(listed: str) -> str:
    """What a listed test says of itself and its cases; fails when there is no such test or no such case."""
    name, _, case = listed.removesuffix("]").partition("[")
    test = contract.test_named(name, TOOLS)
    assert case in test.table, f"no case {listed}"
    return f"{test.words}\n{test.table}"


def names(listed: str, section: str) -> bool:
    """Whether a test names a section. Ids are put together: the document's name may be anywhere in the file."""
    document, _, title = section.partition("/")
    return title in said_by(listed) and document in (TOOLS / listed.partition("::")[0]).read_text()


def differs(tool: str) -> str:
    """The section of the page of deviations about a tool, on one line."""
    _, _, rest = DEVIATIONS.partition(f"\n## Tools: `{tool}`\n")
    return " ".join(rest.partition("\n## ")[0].split())


@pytest.mark.parametrize(("section", "statement"), STATEMENTS)
def test_a_statement_is_held_by_a_test_or_by_a_deviation(section: str, statement: dict) -> None:
    """All its tests exist and one of them names the section; all its deviations are on the page of deviations."""
    tests, deviating = statement.get("tests", []), statement.get("deviations", [])
    assert tests or deviating, "nothing holds it"
    named = [names(test, section) for test in tests]
    assert not tests or any(named), "no test names its section"
    missing = [words for words in deviating if words not in differs(section.partition(".")[0])]
    assert not missing


@pytest.mark.parametrize("tool", DOCUMENTS)
def test_every_section_of_the_documents_is_there(tool: str) -> None:
    """None is left out, and none is empty."""
    wanted = {f"{tool}.md/{name}" for name in DOCUMENTS[tool].split(", ")}
    assert wanted <= SECTIONS.keys()
    assert all(section["statements"] for section in SECTIONS.values())


@pytest.mark.parametrize(
    ("listed", "complaint"),
    [
        ("read/test_files.py::test_that_nobody_wrote", "no test"),
        ("read/test_nothing.py::test_x", "no file"),
        ("read/test_files.py::test_raw_is_the_text_and_nothing_else[:cooked]", "no case"),
    ],
)
def test_what_does_not_exist_is_found(listed: str, complaint: str) -> None:
    """The check can fail."""
    with pytest.raises(AssertionError, match=complaint):
        said_by(listed)
