"""Every statement of the terminal's contract has a test that names its section, or a deviation with its reason.

`terminal_contract.toml` lists the statements. Here it is checked that what it names exists: tests are found in the
source, not run. That they hold is what they are for.
"""

import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

from tests.acceptance import contract

HERE = Path(__file__).parent
TTY = HERE.parent / "tty"
REFERENCE = HERE.parents[1] / "docs" / "internals" / "terminal.md"
SECTIONS = tomllib.loads((HERE / "terminal_contract.toml").read_text())["section"]
STATEMENTS = [
    pytest.param(section["named"], statement, id=f"{name}: {statement['says']}"[:110])
    for name, section in SECTIONS.items()
    for statement in section["statements"]
]

CONTRACT = [
    *(f"renderer §{number}" for number in range(1, 10)),
    "tui Core component contract",
    "tui Rendering constraints",
    "tui Input handling and keybindings",
    "tui Focus, overlays, and cursor",
    "tui Lifecycle and cancellation",
    "runtime Layers and ownership",
    "runtime Boot and component tree",
    "runtime Terminal lifecycle and stdin normalization",
    "runtime Input routing and focus model",
    "runtime Key handling split",
    "runtime Render loop",
    "runtime Render safety",
    "runtime Resize handling",
]


def words_of(test: str) -> str:
    """What a listed test says of itself; fails when there is no such test."""
    return contract.test_named(test, TTY).words


@cache
def deviations() -> set[str]:
    """The ids of the table in the reference."""
    _, _, table = REFERENCE.read_text().partition("## Deviations from the contract")
    return set(re.findall(r"^\| ([a-z0-9-]+) \| [^|]+ \| [^|]+ \|$", table, re.MULTILINE)) - {"id", "---"}


@pytest.mark.parametrize(("named", "statement"), STATEMENTS)
def test_a_statement_is_held_by_a_test_or_by_a_deviation(named: str, statement: dict) -> None:
    """All its tests exist and one of them names the section; all its deviations are in the reference."""
    tests, deviating = statement.get("tests", []), statement.get("deviations", [])
    assert tests or deviating, "nothing holds it"
    said = [words_of(test) for test in tests]
    assert not tests or any(re.search(named, words) for words in said), "no test names its section"
    assert set(deviating) <= deviations()


def test_every_section_of_the_contract_is_there() -> None:
    """None is left out, and none is empty."""
    assert [name for name in CONTRACT if not any(known.startswith(name) for known in SECTIONS)] == []
    assert all(section["statements"] for section in SECTIONS.values())


def test_all_ten_invariants_are_there() -> None:
    """Numbered as in the contract, each with tests."""
    (invariants,) = (section["statements"] for name, section in SECTIONS.items() if name.startswith("renderer §3"))
    assert [statement["says"].split(":")[0] for statement in invariants] == [str(number) for number in range(1, 11)]
    assert all(statement["tests"] for statement in invariants)


def test_deviations_have_a_reason() -> None:
    """A table of three columns, each id once, and enough of them for the check above to mean something."""
    assert len(deviations()) > 20


def test_a_test_that_does_not_exist_is_found() -> None:
    """The check can fail."""
    with pytest.raises(AssertionError, match="no test"):
        words_of("test_ledger.py::test_that_nobody_wrote")
