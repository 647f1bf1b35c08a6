"""Every line of the threat model names what tries to break it: a test, or an attack of the corpus."""

import re
from pathlib import Path

import pytest

from sightline.testing.attack import corpus

from .acceptance import contract

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "docs" / "reference" / "threat-model.md"
_reference = re.compile(r"`([^`]+)`")


def claims() -> list[tuple[str, str]]:
    """The rows of tables whose last column is called "tried by": the first cell and the last."""
    found: list[tuple[str, str]] = []
    in_table = False
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if not line.startswith("|"):
            in_table = False
        elif cells[-1] == "tried by":
            in_table = True
        elif in_table and not set(line) <= set("|- "):
            found.append((cells[0], cells[-1].removesuffix("|").strip()))
    return found


@pytest.mark.parametrize(("claim", "tried"), claims(), ids=lambda cell: cell[:40])
def test_a_line_of_the_threat_model_is_tried(claim, tried):
    """`file::test` below tests/, or `attack NAME`; each exists."""
    names = _reference.findall(tried)
    assert names, f"nothing tries to break: {claim}"
    attacks = {each.name for each in corpus()}
    for name in names:
        if name.startswith("attack "):
            assert name.removeprefix("attack ") in attacks, f"there is no {name}"
        else:
            file, _, function = name.partition("::")
            assert (TESTS / file).exists(), f"there is no tests/{file}"
            assert function in contract.tests_of(TESTS / file), f"there is no test {name}"


def test_the_threat_model_has_claims():
    """Otherwise the test above would check nothing."""
    assert len(claims()) >= 30
