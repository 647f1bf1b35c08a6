"""Patterns as models write them, made into ones the engine takes.

A brace that cannot be a repetition is meant literally (`${name}`, `interface{}`); `a{2,4}` stays. Parentheses are
escaped only after the engine said that one of them has no partner.
"""

import re

_QUANTIFIER = re.compile(r"\{[0-9]+(?:,[0-9]*)?\}")
# Escapes that take their own braces: \p{Greek}, \x{1F600}, \u{e9}, \b{start}.
_BRACED_ESCAPE = re.compile(r"\\[pPxuUbB]\{[^{}]*\}")
_UNBALANCED = re.compile(r"unclosed group|unopened group|unbalanced parenthesis|missing \), unterminated subpattern")


def is_multiline(pattern: str) -> bool:
    """Whether it can only be meant to cross lines."""
    return "\n" in pattern or "\\n" in pattern


def with_literal_braces(pattern: str) -> str:
    """Every brace that is neither a repetition of something nor part of an escape, escaped."""
    made: list[str] = []
    at, depth, repeatable = 0, 0, False
    while at < len(pattern):
        piece, depth = _piece(pattern, at, depth)
        quantifier = None if depth else _QUANTIFIER.match(pattern, at)
        if quantifier is not None and repeatable:
            piece = quantifier[0]
            made.append(piece)
        elif piece in ("{", "}") and not depth:
            if made[-1:] == ["$"]:  # the end of a line with a brace after it matches nothing
                made[-1] = r"\$"
            made.append("\\" + piece)
        else:
            made.append(piece)
        at += len(piece)
        repeatable = piece not in ("(", "|", "^") and not (piece == ":" and "".join(made[-3:-1]) == "(?")
    return "".join(made)


def _piece(pattern: str, at: int, depth: int) -> tuple[str, int]:
    """The escape or character at a place, and how many brackets are open after it."""
    if pattern[at] == "\\":
        braced = None if depth else _BRACED_ESCAPE.match(pattern, at)
        return (braced[0] if braced else pattern[at : at + 2]), depth
    if pattern[at] == "[":
        return _opening(pattern, at), depth + 1
    if pattern[at] == "]" and depth:
        return "]", depth - 1
    return pattern[at], depth


def _opening(pattern: str, at: int) -> str:
    """A bracket with what may follow it without closing it: `[]`, `[^]`."""
    found = re.compile(r"\[\^?\]?").match(pattern, at)
    return found[0] if found else "["


def with_literal_parentheses(pattern: str) -> str:
    """Every parenthesis that is not escaped and not in brackets, escaped."""
    made: list[str] = []
    at, depth = 0, 0
    while at < len(pattern):
        piece, depth = _piece(pattern, at, depth)
        made.append("\\" + piece if piece in ("(", ")") and not depth else piece)
        at += len(piece)
    return "".join(made)


def lacks_a_parenthesis(complaint: str) -> bool:
    return _UNBALANCED.search(complaint) is not None
