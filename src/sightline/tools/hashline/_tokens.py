"""One line of a patch: what it is."""

import re
from typing import Literal

import msgspec

from sightline.tools.hashline._format import BODY_MARK, FILE_MARK

Verb = Literal["replace", "delete", "before", "after", "head", "tail"]
Kind = Literal["blank", "file", "begin", "end", "abort", "sentinel", "operation", "body", "minus", "bracket", "unified",
               "number", "range", "malformed", "text"]  # fmt: skip

_BEYOND_ANY_FILE = 10**18

_SEPARATOR = r"(?:[ \t]*(?:\.\.|-|…)[ \t]*|[ \t]+)"
_RANGE = rf"(?P<first>[0-9]+)(?:{_SEPARATOR}(?P<last>[0-9]+))?"
_WORDS: tuple[tuple[Verb, bool, str], ...] = (
    ("replace", True, r"replace[ \t]+block[ \t]+(?P<first>[0-9]+)"),
    ("replace", False, rf"replace[ \t]+{_RANGE}"),
    ("delete", True, r"delete[ \t]+block[ \t]+(?P<first>[0-9]+)"),
    ("delete", False, rf"delete[ \t]+{_RANGE}"),
    ("after", True, r"insert[ \t]+after[ \t]+block[ \t]+(?P<first>[0-9]+)"),
    ("after", False, r"insert[ \t]+after[ \t]+(?P<first>[0-9]+)"),
    ("before", False, r"insert[ \t]+before[ \t]+(?P<first>[0-9]+)"),
    ("head", False, r"insert[ \t]+head"),
    ("tail", False, r"insert[ \t]+tail"),
)
# After the colon nothing may follow; what does is a body row in the wrong place.
_OPERATIONS = tuple(
    (verb, block, re.compile(rf"{words}[ \t]*(?:(?P<colon>:)(?P<rest>.*))?", re.IGNORECASE | re.DOTALL))
    for verb, block, words in _WORDS
)
# Nothing but words and signs of a hunk header, yet not one: a slip, not text to be inserted.
_NEARLY = re.compile(
    r"(?:replace|delete|insert)(?:[ \t]+(?:block|before|after|head|tail|at|lines?))*[0-9.…\- \t]*:?",
    re.IGNORECASE,
)
_SENTINEL = re.compile(r"\*{3}[ \t]*(?:(?:Update|Add|Delete) File:|Move to:|End of File\b)", re.IGNORECASE)
_ENVELOPE = re.compile(r"\*{3}[ \t]*(Begin Patch|End Patch|Abort)[ \t]*(?:\*{3})?", re.IGNORECASE)
_FILE = re.compile(rf"(?:\*+[ \t]*)?(?:(?:Update|Add)[ \t]+File:[ \t]*)?{FILE_MARK}", re.IGNORECASE)
_UNIFIED = re.compile(r"@@[ \t]*-[0-9]+(?:,[0-9]+)?[ \t]+\+[0-9]+(?:,[0-9]+)?[ \t]*@@")
_BARE = re.compile(rf"{_RANGE}[ \t]*:?")
_ENVELOPE_KINDS: dict[str, Kind] = {"begin patch": "begin", "end patch": "end", "abort": "abort"}


class Token(msgspec.Struct, frozen=True):
    kind: Kind
    text: str  # the line; of a body row what comes after the mark
    verb: Verb = "replace"
    block: bool = False
    first: int = 0
    last: int = 0
    colon: bool = False


def tokenize(line: str) -> Token:
    """What a line is when nothing is known of the lines before it."""
    if line.startswith(BODY_MARK):
        return Token("body", line[1:])
    bare = line.strip(" \t\r")
    if not bare:
        return Token("blank", line)
    if line.startswith("-"):
        return Token("minus", line)
    return _operation(bare) or _marked(bare) or _number(bare) or Token("text", line)


def _operation(bare: str) -> Token | None:
    if bare[0] not in "rdiRDI":
        return None
    for verb, block, pattern in _OPERATIONS:
        found = pattern.fullmatch(bare)
        if found is None:
            continue
        if found["rest"]:
            return Token("malformed", bare)
        named = found.groupdict()
        first = _line_number(named.get("first") or "0")
        last = _line_number(named["last"]) if named.get("last") else first
        return Token("operation", bare, verb=verb, block=block, first=first, last=last, colon=bool(found["colon"]))
    return Token("malformed", bare) if _NEARLY.fullmatch(bare) else None


def _marked(bare: str) -> Token | None:
    if _FILE.match(bare):
        return Token("file", bare)
    if bare.startswith("@@"):
        return Token("unified" if _UNIFIED.match(bare) else "bracket", bare)
    envelope = _ENVELOPE.fullmatch(bare)
    if envelope is not None:
        return Token(_ENVELOPE_KINDS[envelope[1].lower()], bare)
    return Token("sentinel", bare) if _SENTINEL.match(bare) else None


def _number(bare: str) -> Token | None:
    found = _BARE.fullmatch(bare)
    if found is None:
        return None
    first, last = _line_number(found["first"]), _line_number(found["last"] or found["first"])
    return Token("range" if found["last"] else "number", bare, first=first, last=last)


def _line_number(written: str) -> int:
    # Not all are converted: Python refuses to read thousands of digits.
    digits = written.lstrip("0") or "0"
    return int(digits) if len(digits) <= 18 else _BEYOND_ANY_FILE
