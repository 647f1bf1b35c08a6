"""The language, line by line.

Rules:

- A section is a `¶PATH#TAG` line and the hunks below it; a hunk is an operation line and, unless it deletes, its body.
- Line numbers mean the file as it was shown, in every hunk of a section.
- A body row is `+TEXT`. A row without the mark is taken as it stands and warned about, unless it could be a slip in the
  language: then it is refused. An empty row belongs to the body only when a row of the same hunk follows it.
- The parser is fed one line at a time, so that what has arrived of a patch can be shown while it is written.
"""

import re
from typing import Literal

import msgspec

from sightline.tools.hashline import _messages as messages
from sightline.tools.hashline._format import BODY_MARK, FILE_MARK, TAG, TAG_MARK

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
_HEADER_NOISE = re.compile(rf"(?:[ \t*{FILE_MARK}]+|(?:Update|Add)[ \t]+File:)+", re.IGNORECASE)
_LIKE_A_TAG = re.compile(r"[\w?-]{0,16}", re.ASCII)
# Lines of other patch languages, and slips in this one: what they are called in the error.
_REFUSED: dict[Kind, str] = {
    "minus": "minus_row",
    "unified": "unified_diff_header",
    "bracket": "bracketed_header",
    "sentinel": "apply_patch_sentinel",
    "number": "bare_number",
    "range": "bare_range",
    "malformed": "malformed_header",
}
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


class Hunk(msgspec.Struct):
    verb: Verb
    at: int  # its line in the patch
    first: int = 0
    last: int = 0
    block: bool = False  # `first` opens a block; where that ends is for a parser of the language to say
    body: list[str] = []

    @property
    def operation(self) -> str:
        """As it is written in the strict form."""
        block = "block " if self.block else ""
        span = f"{self.first}" if self.block else f"{self.first}..{self.last}"
        match self.verb:
            case "replace":
                return f"replace {block}{span}:"
            case "delete":
                return f"delete {block}{span}"
            case "head" | "tail":
                return f"insert {self.verb}:"
            case _:
                return f"insert {self.verb} {block}{self.first}:"


class PatchSection(msgspec.Struct):
    path: str
    tag: str | None
    at: int
    hunks: list[Hunk] = []
    warnings: list[str] = []

    @property
    def only_adds_ends(self) -> bool:
        """Whether it could make a file that does not exist yet."""
        return all(hunk.verb in ("head", "tail") for hunk in self.hunks)


def parse(text: str) -> list[PatchSection]:
    """The sections of a patch. Of several files, a mistake names the one it is in."""
    parser = PatchParser()
    try:
        for line in text.removeprefix("\ufeff").split("\n"):
            parser.feed(line)
        return parser.finish()
    except messages.PatchError as problem:
        if len(parser.sections) < 2 or problem.kind == "no_operations":  # which names it
            raise
        raise messages.PatchError(problem.kind, None, f"In ¶{parser.sections[-1].path}, {problem}") from problem


class PatchParser:
    """Feed it lines; `sections` is what they came to so far."""

    def __init__(self) -> None:
        self.sections: list[PatchSection] = []
        self._hunk: Hunk | None = None
        self._blanks: list[str] = []  # of the open hunk, part of it only if a row follows
        self._at = 0
        self._aborted = False

    def feed(self, line: str) -> None:
        self._at += 1
        if self._aborted:
            return
        token = tokenize(line.rstrip("\r"))
        match token.kind:
            case "begin" | "end":
                pass
            case "abort":
                self._aborted = True
            case "file":
                self._close_hunk()
                self.sections.append(_section(token.text, self._at))
            case "blank":
                self._blanks.append(token.text)
            case _ if not self.sections:
                raise messages.missing_header(token.text)
            case "operation":
                self._close_hunk()
                self._open_hunk(token)
            case "body" | "text":
                self._add_row(token)
            case _:
                values = {"text": messages.clip(token.text, 80), "first": token.first, "last": token.last}
                raise messages.mistake(_REFUSED[token.kind], self._at, **values)

    def finish(self) -> list[PatchSection]:
        self._close_hunk()
        if not self.sections:
            raise messages.missing_header("")
        for section in self.sections:
            if not section.hunks:
                raise messages.mistake("no_operations", section.at, path=section.path)
        return self.sections

    def _open_hunk(self, token: Token) -> None:
        hunk = Hunk(token.verb, self._at, token.first, token.last, token.block)
        if token.last < token.first:
            raise messages.mistake("backwards_range", self._at, first=token.first, last=token.last)
        if token.verb == "delete" and token.colon:
            raise messages.delete_with_body(self._at, hunk)
        self.sections[-1].hunks.append(hunk)
        self._hunk = hunk

    def _close_hunk(self) -> None:
        hunk, self._hunk, self._blanks = self._hunk, None, []
        if hunk is not None and hunk.verb != "delete" and not hunk.body:
            raise messages.empty_body(hunk)

    def _add_row(self, token: Token) -> None:
        hunk = self._hunk
        if hunk is None:
            raise messages.mistake("stray_payload", self._at, text=messages.clip(token.text, 120))
        if hunk.verb == "delete":
            raise messages.delete_with_body(self._at, hunk)
        if self._blanks or token.kind == "text":
            self._warn(messages.BARE_BODY_AUTO_PIPED_WARNING)
        hunk.body += [*self._blanks, token.text]
        self._blanks = []

    def _warn(self, warning: str) -> None:
        if warning not in self.sections[-1].warnings:
            self.sections[-1].warnings.append(warning)


def _section(text: str, at: int) -> PatchSection:
    """The path and tag of a file header, without what other patch formats put around a path."""
    bare = _HEADER_NOISE.sub("", text, count=1).rstrip(" \t*")
    path, mark, tag = bare.rpartition(TAG_MARK)
    path = path.rstrip()
    if mark and path and TAG.fullmatch(tag):
        return PatchSection(path, tag.upper(), at)
    if mark and path and _LIKE_A_TAG.fullmatch(tag):
        raise messages.mistake("malformed_tag", at, path=path, tag=tag)
    if not bare or (mark and not path):
        raise messages.missing_header(text)
    return PatchSection(bare, None, at)


def merge(sections: list[PatchSection], keys: list[str]) -> list[PatchSection]:
    """One section per file: hunks of sections with the same key are joined, in the order they were written."""
    merged: dict[str, PatchSection] = {}
    for section, name in zip(sections, keys, strict=True):
        first = merged.setdefault(name, section)
        if first is section:
            continue
        if first.tag != section.tag:
            tags = {"first": first.tag or "", "second": section.tag or ""}
            raise messages.mistake("two_tags", section.at, path=section.path, **tags)
        first.hunks += section.hunks
        first.warnings += [warning for warning in section.warnings if warning not in first.warnings]
    return list(merged.values())
