"""Globs as regular expressions over whole paths with slashes.

`*` and `?` stay within a folder, `**` crosses folders, `[a-z]` and `[!a-z]` are one character, `{a,b}` is a choice and
may hold other globs. What is not closed is meant literally.
"""

import re
from pathlib import Path

SPECIAL = frozenset("*?[{")


def has_glob(path: str) -> bool:
    return not SPECIAL.isdisjoint(path)


def expression(glob: str, *, braces: bool = True) -> str:
    """A regular expression for `fullmatch`. No part of it matches a NUL, so it can be used on names joined by NULs."""
    parts, at = _parts(glob, 0, braces=braces, closing="")
    return parts if at == len(glob) else parts + re.escape(glob[at:])


def below(path: Path, base: Path) -> str:
    """A folder as it is written before a path inside it; empty for the base itself."""
    relative = path.relative_to(base).as_posix()
    return "" if relative == "." else f"{relative}/"


def union(globs: list[tuple[str, str]]) -> re.Pattern[str]:
    """Of (folder, as `below` writes it, and glob in that folder): a path that any of them means."""
    return re.compile("|".join(f"(?:{re.escape(folder)}{expression(glob)})" for folder, glob in globs), re.DOTALL)


def _parts(glob: str, at: int, *, braces: bool, closing: str) -> tuple[str, int]:
    """What stands from `at` to one of the closing characters, which is not consumed."""
    made: list[str] = []
    while at < len(glob) and glob[at] not in closing:
        if glob.startswith("**", at) and (at == 0 or glob[at - 1] in "/{,"):
            piece, at = _stars(glob, at)
        elif glob[at] == "*":
            piece, at = r"[^/\0]*", at + 1
        elif glob[at] == "?":
            piece, at = r"[^/\0]", at + 1
        elif glob[at] == "[":
            piece, at = _class(glob, at)
        elif glob[at] == "{" and braces:
            piece, at = _choice(glob, at)
        elif glob[at] == "\\" and at + 1 < len(glob):
            piece, at = re.escape(glob[at + 1]), at + 2
        else:
            piece, at = re.escape(glob[at]), at + 1
        made.append(piece)
    return "".join(made), at


def _stars(glob: str, at: int) -> tuple[str, int]:
    while at < len(glob) and glob[at] == "*":
        at += 1
    if glob.startswith("/", at):
        return r"(?:[^\0]*/)?", at + 1
    return r"[^\0]*", at


def _class(glob: str, at: int) -> tuple[str, int]:
    end = glob.find("]", at + 3 if glob[at + 1 : at + 2] in ("!", "^") else at + 2)
    if end < 0:
        return re.escape("["), at + 1
    inside = glob[at + 1 : end]
    negated = inside[0] in "!^"
    members = re.sub(r"([\\\[\]^&~|])", r"\\\1", inside[1:] if negated else inside)
    made = rf"[^/\0{members}]" if negated else rf"(?!/)[{members}]"
    try:
        re.compile(made)
    except re.error:
        return re.escape("["), at + 1
    return made, end + 1


def _choice(glob: str, at: int) -> tuple[str, int]:
    options, place = [], at + 1
    while True:
        option, place = _parts(glob, place, braces=True, closing=",}")
        options.append(option)
        if place >= len(glob):
            return re.escape("{"), at + 1
        if glob[place] == "}":
            return f"(?:{'|'.join(options)})", place + 1
        place += 1
