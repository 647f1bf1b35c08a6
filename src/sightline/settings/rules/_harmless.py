"""Variables that do not change what a command runs, reads or writes: how much it prints, in which language, for whom.

An allow-list. Most variables of most programs can name code (`NODE_OPTIONS`, `GIT_SSH`, `PYTHONWARNINGS`), another
database (`RAILS_ENV`) or another program (`PATH`); no list of those is complete.
"""

import re

_PLAIN = frozenset(
    {
        "CI", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "LINES", "LANG", "LC_ALL", "LC_CTYPE",
        "LC_MESSAGES", "LC_COLLATE", "LC_NUMERIC", "LC_TIME", "RUST_BACKTRACE", "PYTHONUNBUFFERED",
        "PYTHONDONTWRITEBYTECODE", "DO_NOT_TRACK",
    }
)  # fmt: skip
# A locale is looked for in a folder when its name has a slash in it.
_plain_value = re.compile(r"[A-Za-z0-9_.@-]{0,100}").fullmatch
_SOME = {
    "NODE_ENV": re.compile(r"test|development").fullmatch,
    "TZ": re.compile(r"[A-Za-z_]{1,30}(?:/[A-Za-z_]{1,30}){0,2}").fullmatch,
}


def is_harmless(name: str, value: str) -> bool:
    if name in _SOME:
        return _SOME[name](value) is not None
    return name in _PLAIN and _plain_value(value) is not None
