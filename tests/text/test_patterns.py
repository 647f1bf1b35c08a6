"""Regular expressions that match alike on every Python we support."""

import re
from pathlib import Path

import sightline


def test_no_group_is_repeated_possessively() -> None:
    """`(?:…)*+` matches wrongly before Python 3.11.5: `(?>(?:…)*)` means the same, and holds."""
    repeated = re.compile(r"^.*\(\?.*\)(?:[*?]|\{+[0-9,]+\}+)\+.*$", re.MULTILINE)
    folder = Path(sightline.__file__).parent
    found = {
        str(file.relative_to(folder)): lines
        for file in folder.rglob("*.py")
        if (lines := repeated.findall(file.read_text()))
    }
    assert found == {}
