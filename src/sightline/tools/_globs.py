"""Globs as regular expressions over whole paths with slashes.

`*` and `?` stay within a folder, `**` crosses folders, `[a-z]` and `[!a-z]` are one character, `{a,b}` is a choice and
may hold other globs. What is not closed is meant literally. Accents count as part of their letter, however a name on
disk spells them (NFC or NFD).

Names come from anywhere, so no expression may take long on any of them: choices are written out, and every star but the
last takes the first place that fits and never another (atomic groups). That is right because what stands between two
stars always has the same length, be it in characters or, between two `**/`, in folders.
"""

import re
import unicodedata
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

from sightline.tools._tool import ToolError

SPECIAL = frozenset("*?[{")
MOST_CHOICES = 256
_CROSS, _STAR = "**/", "*"
_FOLDERS = r"(?:[^/\0]*/)*"


def has_glob(path: str) -> bool:
    return not SPECIAL.isdisjoint(path)


def expression(glob: str, *, braces: bool = True) -> str:
    """A regular expression for `fullmatch`. ToolError when the braces of the glob stand for too much."""
    return f"(?:{'|'.join(_without_choices(one) for one in (_written_out(glob) if braces else [glob]))})"


def below(path: Path, base: Path) -> str:
    """A folder as it is written before a path inside it; empty for the base itself."""
    relative = path.relative_to(base).as_posix()
    return "" if relative == "." else f"{relative}/"


class Globs:
    """Of (folder, as `below` writes it, and glob in that folder): whether any of them means a path."""

    def __init__(self, globs: Iterable[tuple[str, str]]) -> None:
        each = (f"(?:{re.escape(composed(folder))}{expression(composed(glob))})" for folder, glob in globs)
        self._pattern = re.compile("|".join(each), re.DOTALL)

    def __call__(self, path: str) -> bool:
        return self._pattern.fullmatch(composed(path)) is not None


def composed(path: str) -> str:
    """With one character for a letter and its accent."""
    return path if path.isascii() else unicodedata.normalize("NFC", path)


def coarse(glob: str) -> list[str]:
    """Globs for an ignore file that together mean at least what this one means. ripgrep reads some globs more narrowly
    than we do: `{,x}` has no empty choice there, `?` is one byte, `a/**.py` stays in one folder. So choices are written
    out, and what is not a plain letter becomes a star."""
    return ["".join(_coarse_pieces(_pieces(one))) for one in _written_out(composed(glob))]


def _coarse_pieces(pieces: list[str]) -> list[str]:
    made: list[str] = []
    for piece in pieces:
        plain = piece if piece in (_CROSS, "/") or (piece.isascii() and piece.isalnum()) else ""
        plain = plain or (piece[-1] if piece in (r"\.", r"\-", "_") else _STAR)
        if plain != _STAR or made[-1:] != [_STAR]:
            made.append(plain)
    return made


def _written_out(glob: str) -> list[str]:
    """The globs without choices that a glob stands for."""
    done: list[str] = []
    waiting = [glob]
    while waiting:
        if len(waiting) + len(done) > MOST_CHOICES:
            raise ToolError(f"The braces of a glob stand for more than {MOST_CHOICES} globs. Name fewer at a time.")
        one = waiting.pop()
        cuts = _first_choice(one)
        if not cuts:
            done.append(one)
            continue
        before, after = one[: cuts[0]], one[cuts[-1] + 1 :]
        waiting += [before + one[left + 1 : right] + after for left, right in pairwise(cuts)]
    return done


def _first_choice(glob: str) -> list[int]:
    """Where the first brace that is closed, its commas and its end are; empty when there is none."""
    opened: list[list[int]] = []
    found: list[list[int]] = []
    at = 0
    while at < len(glob):
        if glob[at] == "{":
            opened.append([at])
        elif glob[at] == "," and opened:
            opened[-1].append(at)
        elif glob[at] == "}" and opened:
            found.append([*opened.pop(), at])
        at = _end_of_class(glob, at) if glob[at] == "[" else at + (2 if glob[at] == "\\" else 1)
    return min(found, default=[])


def _without_choices(glob: str) -> str:
    """Segments are what stands between two `**/`; all but the last end with a slash."""
    segments = _segments(_pieces(glob))
    first, *rest = ("".join(_component(one) for one in _components(segment)) for segment in segments)
    if not rest:
        return first
    *middle, last = rest
    crossing = f"{_FOLDERS}?" if "/" in segments[-1] else r"(?>(?:[^\0]*/)?)"
    return first + "".join(f"(?>{_FOLDERS}?{one})" for one in middle) + crossing + last


def _pieces(glob: str) -> list[str]:
    """`**/`, `*`, `/`, or an expression for one character."""
    made: list[str] = []
    at = 0
    while at < len(glob):
        if glob.startswith("**", at) and (at == 0 or glob[at - 1] == "/"):
            while at < len(glob) and glob[at] == "*":
                at += 1
            # Not followed by a slash it goes on within a folder: `**x` is `**/*x`.
            made += [_CROSS] if glob.startswith("/", at) else [_CROSS, _STAR]
            at += glob.startswith("/", at)
        elif glob[at] == "[":
            end = _end_of_class(glob, at)
            made.append(re.escape("[") if end == at + 1 else _class(glob[at + 1 : end - 1]))
            at = end
        elif glob[at] == "\\" and at + 1 < len(glob):
            made.append(re.escape(glob[at + 1]))
            at += 2
        else:
            made.append({"*": _STAR, "/": "/", "?": r"[^/\0]"}.get(glob[at]) or re.escape(glob[at]))
            at += 1
    return made


def _end_of_class(glob: str, at: int) -> int:
    """Behind the bracket that closes a class; behind its first bracket when that is no class."""
    end = glob.find("]", at + 3 if glob[at + 1 : at + 2] in ("!", "^") else at + 2)
    if end < 0:
        return at + 1
    try:
        re.compile(_class(glob[at + 1 : end]))
    except re.error:
        return at + 1
    return end + 1


def _class(inside: str) -> str:
    negated = inside[0] in "!^"
    members = re.sub(r"([\\\[\]^&~|])", r"\\\1", inside[1:] if negated else inside)
    return rf"[^/\0{members}]" if negated else rf"(?!/)[{members}]"


def _segments(pieces: list[str]) -> list[list[str]]:
    segments: list[list[str]] = [[]]
    for before, piece in zip(["", *pieces], pieces, strict=False):
        if piece != _CROSS:
            segments[-1].append(piece)
        elif before != _CROSS:
            segments.append([])
    return segments


def _components(segment: list[str]) -> Iterable[list[str]]:
    """The pieces of each name, its slash included."""
    start = 0
    for at, piece in enumerate(segment, start=1):
        if piece == "/" or at == len(segment):
            yield segment[start:at]
            start = at


def _component(pieces: list[str]) -> str:
    slash = pieces[-1:] == ["/"]
    literal, *starred = _split_at_stars(pieces[:-1] if slash else pieces)
    made = literal + "".join(rf"(?>[^/\0]*?{one})" for one in starred[:-1])
    made += rf"[^/\0]*{starred[-1]}" if starred else ""
    return (f"(?>{made})" if starred else made) + ("/" if slash else "")


def _split_at_stars(pieces: list[str]) -> list[str]:
    parts = [""]
    for piece in pieces:
        if piece == _STAR:
            parts += [""] if parts[-1] or len(parts) == 1 else []
        else:
            parts[-1] += piece
    return parts
