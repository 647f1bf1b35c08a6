"""Globs as regular expressions over whole paths with slashes.

`*` and `?` stay within a folder, `**` crosses folders, `[a-z]` and `[!a-z]` are one character, `{a,b}` is a choice and
may hold other globs. What is not closed is meant literally. Accents count as part of their letter, however a name on
disk spells them (NFC or NFD).

Names come from anywhere, so no expression may take long on any of them: choices are written out, and every star but the
last takes the first place that fits and never another (atomic groups). That is right because what stands between two
stars always has the same length, be it in characters or, between two `**/`, in folders.

Globs come from a model, and are read on the event loop: reading one takes time in proportion to its length, and what
all globs of a call stand for together is bounded (`LONGEST_PATH`, `MOST_CHOICES`, `MOST_EXPANDED`).
"""

import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from sightline.tools._tool import ToolError
from sightline.tools.files._paths import LONGEST_PATH

SPECIAL = frozenset("*?[{")
MOST_CHOICES = 256  # globs that the braces of one stand for
MOST_EXPANDED = 16 * 1024  # characters of all globs of a call, their choices written out
_CROSS, _STAR = "**/", "*"
_FOLDERS = r"(?:[^/\0]*/)*"


def has_glob(path: str) -> bool:
    return not SPECIAL.isdisjoint(path)


def expression(glob: str, *, braces: bool = True) -> str:
    """A regular expression for `fullmatch`. ToolError when the glob is too long, or its braces stand for too much."""
    return _either(_written_out(glob) if braces else [glob])


def _either(globs: list[str]) -> str:
    return f"(?:{'|'.join(_without_choices(one) for one in globs)})"


def below(path: Path, base: Path) -> str:
    """A folder as it is written before a path inside it; empty for the base itself."""
    relative = path.relative_to(base).as_posix()
    return "" if relative == "." else f"{relative}/"


class Globs:
    """Of (folder, as `below` writes it, and glob in that folder): whether any of them means a path."""

    def __init__(self, globs: Iterable[tuple[str, str]]) -> None:
        each = [f"(?:{re.escape(composed(folder))}{_either(meant)})" for folder, meant in _expanded(globs)]
        self._pattern = re.compile("|".join(each), re.DOTALL)

    def __call__(self, path: str) -> bool:
        return self._pattern.fullmatch(composed(path)) is not None


def composed(path: str) -> str:
    """With one character for a letter and its accent."""
    return path if path.isascii() else unicodedata.normalize("NFC", path)


def coarse(globs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Globs for an ignore file, each with its folder, that together mean at least what these mean. ripgrep reads some
    globs more narrowly than we do: `{,x}` has no empty choice there, `?` is one byte, `a/**.py` stays in one folder. So
    choices are written out, and what is not a plain letter becomes a star."""
    return [(folder, "".join(_coarse_pieces(_pieces(one)))) for folder, meant in _expanded(globs) for one in meant]


def _expanded(globs: Iterable[tuple[str, str]]) -> Iterable[tuple[str, list[str]]]:
    """Each folder with the globs without choices that its glob stands for. ToolError when all together are too much."""
    size = 0
    for folder, glob in globs:
        meant = _written_out(composed(glob))
        size += _size(meant)
        _check_expanded(size)
        yield folder, meant


def _size(globs: list[str]) -> int:
    return sum(map(len, globs))


def _check_expanded(size: int) -> None:
    if size > MOST_EXPANDED:
        raise ToolError(
            f"With their braces written out the globs have more than {MOST_EXPANDED:,} characters. "
            "Name fewer or shorter ones at a time."
        )


def _coarse_pieces(pieces: list[str]) -> list[str]:
    made: list[str] = []
    for piece in pieces:
        plain = piece if piece in (_CROSS, "/") or (piece.isascii() and piece.isalnum()) else ""
        plain = plain or (piece[-1] if piece in (r"\.", r"\-", "_") else _STAR)
        if plain != _STAR or made[-1:] != [_STAR]:
            made.append(plain)
    return made


class _Brace:
    """A brace that is being read: its choices so far, and what the latest of them stands for."""

    def __init__(self) -> None:
        self.choices: list[list[str]] = []
        self.current = [""]

    def add(self, endings: list[str]) -> None:
        """ToolError when it becomes too much: a part of a glob never stands for more than the whole glob does."""
        if endings == [""]:
            return
        if len(self.current) * len(endings) > MOST_CHOICES:
            raise ToolError(f"The braces of a glob stand for more than {MOST_CHOICES} globs. Name fewer at a time.")
        _check_expanded(_size(self.current) * len(endings) + _size(endings) * len(self.current))
        self.current = [before + ending for before in self.current for ending in endings]

    def next_choice(self) -> None:
        self.choices.append(self.current)
        self.current = [""]

    def closed(self) -> list[str]:
        return [one for choice in (*self.choices, self.current) for one in choice]

    def unclosed(self) -> list[list[str]]:
        """Meant literally: the brace, and commas between what would have been its choices."""
        parts = [["{"]]
        for choice in self.choices:
            parts += [choice, [","]]
        return [*parts, self.current]


def _written_out(glob: str) -> list[str]:
    """The globs without choices that a glob stands for. Read once, from left to right."""
    if len(glob) > LONGEST_PATH:
        raise ToolError(f"A glob has more than {LONGEST_PATH:,} characters. Name a folder, and a shorter glob in it.")
    ends = _class_ends(glob)
    opened = [_Brace()]  # the first stands for the whole glob, and is never closed
    literal = at = 0

    def read_literal() -> None:
        opened[-1].add([glob[literal:at]])

    while at < len(glob):
        if glob[at] == "{":
            read_literal()
            opened.append(_Brace())
        elif glob[at] == "," and len(opened) > 1:
            read_literal()
            opened[-1].next_choice()
        elif glob[at] == "}" and len(opened) > 1:
            read_literal()
            inside = opened.pop().closed()
            opened[-1].add(inside)
        else:
            at = ends[at] if glob[at] == "[" else at + (2 if glob[at] == "\\" else 1)
            continue
        literal = at = at + 1
    read_literal()
    whole = opened[0]
    for part in (part for brace in opened[1:] for part in brace.unclosed()):
        whole.add(part)
    return whole.current


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
    ends = _class_ends(glob)
    made: list[str] = []
    at = 0
    while at < len(glob):
        if glob.startswith("**", at) and (at == 0 or glob[at - 1] == "/"):
            while at < len(glob) and glob[at] == "*":
                at += 1
            # Not followed by a slash it continues within a folder: `**x` is `**/*x`.
            made += [_CROSS] if glob.startswith("/", at) else [_CROSS, _STAR]
            at += glob.startswith("/", at)
        elif glob[at] == "[":
            end = ends[at]
            made.append(re.escape("[") if end == at + 1 else _class(glob[at + 1 : end - 1]))
            at = end
        elif glob[at] == "\\" and at + 1 < len(glob):
            made.append(re.escape(glob[at + 1]))
            at += 2
        else:
            made.append({"*": _STAR, "/": "/", "?": r"[^/\0]"}.get(glob[at]) or re.escape(glob[at]))
            at += 1
    return made


def _class_ends(glob: str) -> dict[int, int]:
    """For every `[`: behind the bracket that closes its class, or behind itself when that is no class (not closed, or
    with a range that ends before it begins). From right to left, so that each character is looked at once, however many
    brackets stand before it."""
    ends: dict[int, int] = {}
    in_order: dict[int, bool] = {}  # whether all ranges are, from a member on to the next bracket behind it
    close = after = -1  # the next `]` behind this character, and the one behind that
    for at in range(len(glob) - 1, -1, -1):
        if glob[at] == "[":
            first = at + 2 if glob[at + 1 : at + 2] in ("!", "^") else at + 1
            end = after if close == first else close  # one that comes first is a member
            ends[at] = end + 1 if end > first and in_order[first] else at + 1
        if close >= 0:
            is_range = glob[at + 1] == "-" and at + 2 < close
            rest = at + 3 if is_range else at + 1
            in_order[at] = (not is_range or glob[at] <= glob[at + 2]) and (rest == close or in_order[rest])
        if glob[at] == "]":
            close, after = at, close
    return ends


def _members(inside: str) -> Iterable[tuple[str, str]]:
    """The ranges of a class; one character is a range of itself."""
    at = 0
    while at < len(inside):
        last = at + 2 if inside[at + 1 : at + 2] == "-" and at + 2 < len(inside) else at
        yield inside[at], inside[last]
        at = last + 1


def _class(inside: str) -> str:
    negated = inside[0] in "!^"
    ranges = _members(inside[1:] if negated else inside)
    members = "".join(re.escape(a) if a == b else f"{re.escape(a)}-{re.escape(b)}" for a, b in ranges)
    return rf"[^/\x00{members}]" if negated else rf"(?!/)[{members}]"


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
    parts: list[list[str]] = [[]]
    for piece in pieces:
        if piece != _STAR:
            parts[-1].append(piece)
        elif parts[-1] or len(parts) == 1:
            parts.append([])
    return ["".join(part) for part in parts]
