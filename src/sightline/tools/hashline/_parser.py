"""The language, line by line.

Rules:

- A section is a `¶PATH#TAG` line and the hunks below it; a hunk is an operation line and, unless it deletes, its body.
- Line numbers mean the file as it was shown, in every hunk of a section.
- A body row is `+TEXT`. A row without the mark is taken as it stands and warned about, unless it could be a slip in the
  language: then it is refused. An empty row belongs to the body only when a row of the same hunk follows it.
- The parser is fed one line at a time, so that what has arrived of a patch can be shown while it is written.
"""

import re

import msgspec

from sightline.tools.hashline import _messages as messages
from sightline.tools.hashline._format import FILE_MARK, TAG, TAG_MARK
from sightline.tools.hashline._tokens import Token, Verb, tokenize

_HEADER_NOISE = re.compile(rf"(?:[ \t*{FILE_MARK}]+|(?:Update|Add)[ \t]+File:)+", re.IGNORECASE)
_LIKE_A_TAG = re.compile(r"[\w?-]{0,16}", re.ASCII)


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
                raise self._refusal(token)

    def finish(self) -> list[PatchSection]:
        self._close_hunk()
        if not self.sections:
            raise messages.missing_header("")
        for section in self.sections:
            if not section.hunks:
                raise messages.no_operations(section.path, section.at)
        return self.sections

    def _open_hunk(self, token: Token) -> None:
        hunk = Hunk(token.verb, self._at, token.first, token.last, token.block)
        if token.last < token.first:
            raise messages.backwards_range(self._at, token.first, token.last)
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
            raise messages.stray_payload(self._at, token.text)
        if hunk.verb == "delete":
            raise messages.delete_with_body(self._at, hunk)
        if self._blanks or token.kind == "text":
            self._warn(messages.BARE_BODY_AUTO_PIPED_WARNING)
        hunk.body += [*self._blanks, token.text]
        self._blanks = []

    def _warn(self, warning: str) -> None:
        if warning not in self.sections[-1].warnings:
            self.sections[-1].warnings.append(warning)

    def _refusal(self, token: Token) -> messages.PatchError:
        at, text = self._at, token.text
        match token.kind:
            case "minus":
                return messages.minus_row(at)
            case "unified":
                return messages.unified_diff_header(at)
            case "bracket":
                return messages.bracketed_header(at, text)
            case "sentinel":
                return messages.apply_patch_sentinel(at, text)
            case "number":
                return messages.bare_number(at, token.first)
            case "range":
                return messages.bare_range(at, text, token.first, token.last)
            case _:
                return messages.malformed_header(at, text)


def _section(text: str, at: int) -> PatchSection:
    """The path and tag of a file header, without what other patch formats put around a path."""
    bare = _HEADER_NOISE.sub("", text, count=1).rstrip(" \t*")
    path, mark, tag = bare.rpartition(TAG_MARK)
    path = path.rstrip()
    if mark and path and TAG.fullmatch(tag):
        return PatchSection(path, tag.upper(), at)
    if mark and path and _LIKE_A_TAG.fullmatch(tag):
        raise messages.malformed_tag(at, path, tag)
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
            raise messages.two_tags(section.at, section.path, first.tag or "", section.tag or "")
        first.hunks += section.hunks
        first.warnings += [warning for warning in section.warnings if warning not in first.warnings]
    return list(merged.values())
