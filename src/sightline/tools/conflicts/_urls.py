"""`conflict://ID`, `conflict://ID/ours` (or theirs, base) and `conflict://*`."""

import re
from typing import Literal

import msgspec

from sightline.tools._tool import ToolError

_SCHEME = "conflict://"
_URL = re.compile(r"(\*|[0-9]{1,9})(?:/(.*))?")

Scope = Literal["ours", "theirs", "base"]


class ConflictUrl(msgspec.Struct, frozen=True):
    """`number` is None for all of them."""

    number: int | None
    scope: Scope | None = None


def is_conflict_url(path: str) -> bool:
    return path.strip().lower().startswith(_SCHEME)


def parse_url(url: str) -> ConflictUrl:
    match = _URL.fullmatch(url.strip()[len(_SCHEME) :].rstrip("/"))
    if match is None:
        raise ToolError(
            f"'{url}' names no conflict. Use conflict://3, conflict://3/ours, /theirs, /base, or conflict://*"
        )
    number = None if match[1] == "*" else int(match[1])
    match match[2]:
        case None:
            return ConflictUrl(number)
        case "ours" | "theirs" | "base" as scope if number is not None:
            return ConflictUrl(number, scope)
    raise ToolError(f"'{url}' names no side of a conflict. Use conflict://ID/ours, /theirs or /base.")
