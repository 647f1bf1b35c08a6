"""What each setting is for: the comment beside it in `_tree`, where every setting is documented."""

import re
from functools import cache
from pathlib import Path

from sightline.settings import _tree
from sightline.settings._fields import is_section, kind_at

_class = re.compile(r"class (\w+)\(")
_setting = re.compile(r"    (\w+): [^#]+?(?:  # (.+))?")
_above = re.compile(r"    # (.+)")


def about(key: tuple[str, ...]) -> str:
    """One line; empty for a name the user chose, and where the source is not at hand."""
    section = kind_at(key[:-1])
    name = section.__name__ if section is not None and is_section(section) else ""
    return _comments().get((name, key[-1]), "")


@cache
def _comments() -> dict[tuple[str, str], str]:
    """By section and setting."""
    try:
        lines = Path(_tree.__file__ or "").read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    found: dict[tuple[str, str], str] = {}
    section = before = ""
    for line in lines:
        if begun := _class.match(line):
            section = begun[1]
        elif comment := _above.fullmatch(line):
            before = f"{before} {comment[1]}".strip()
            continue
        elif setting := _setting.fullmatch(line):
            found[section, setting[1]] = setting[2] or before
        before = ""
    return found
