"""Syntax in colour, line by line.

Our own small highlighter instead of Pygments: rows that were shown may never change, so a line's colours must be known
when the line ends, from what stood before it alone. Here a language is a table of words and patterns, and the only
state from one line to the next is which comment or string is still open. Pygments would need 13 to 18 ms to load one
lexer, three frames, and its state cannot be resumed; what it does better (names it knows, languages inside languages)
is not worth that. An unknown language is shown plain.

Patterns of one language are compiled on its first use (about a millisecond); `warm` does it beforehand.
"""

import re
from collections.abc import Iterable
from functools import cache

from sightline.tty.components._languages import ALIASES, LANGUAGES, Language

State = str  # what is open at a line's end: empty, or the name of a block of the language
Token = tuple[str, str]  # role (empty: none) and text

_NUMBER = r"\b(?:0[xX][\da-fA-F_]+|0[bBoO][\d_]+|\d[\d_]*(?:\.[\d_]+)?(?:[eE][+-]?\d+)?)\w*"
_WORD = r"[^\W\d]\w*"


def highlighter(language: str) -> "Highlighter | None":
    """The highlighter for what stands behind a fence (`py`, `C++`, `tsx`); None when the language is unknown."""
    name = language.lower().lstrip("{.").rstrip("}")
    return _compiled(ALIASES.get(name, name))


def warm(languages: Iterable[str]) -> None:
    """Have these ready. May run in a thread."""
    for language in languages:
        highlighter(language)


@cache
def _compiled(name: str) -> "Highlighter | None":
    language = LANGUAGES.get(name)
    return None if language is None else Highlighter(language)


class Highlighter:
    """One language's patterns."""

    def __init__(self, language: Language) -> None:
        self._words = {word: role for role, words in language.words.items() for word in words.split()}
        self._lower = language.ignore_case
        self._types = language.types
        self._roles: dict[str, str] = {}
        self._ends: dict[str, re.Pattern[str]] = {}
        parts = [self._pattern(f"p{index}", *rule) for index, rule in enumerate(language.patterns)]
        for index, (role, begin, end) in enumerate(language.blocks):
            inside = r"(?:\\.|[^\\])*?" if role == "syntax_string" else ".*?"
            parts.append(self._pattern(f"b{index}", role, f"{begin}{inside}{end}"))
            parts.append(self._pattern(f"open{index}", role, f"{begin}.*"))
            self._ends[f"open{index}"] = re.compile(inside + end)
        parts += [self._pattern(f"s{index}", "syntax_string", rule) for index, rule in enumerate(language.strings)]
        if language.numbers:
            parts.append(self._pattern("number", "syntax_number", _NUMBER))
        if self._words or self._types:
            word = language.word or _WORD
            parts.append(self._pattern("call", "syntax_function", rf"{word}(?=\()"))
            parts.append(self._pattern("word", "", word))
        self._scan = re.compile("|".join(parts)).finditer

    def _pattern(self, name: str, role: str, pattern: str) -> str:
        self._roles[name] = role
        return f"(?P<{name}>{pattern})"

    def line(self, text: str, state: State) -> tuple[list[Token], State]:
        """The tokens of a line that begins in `state`, and the state it ends in."""
        tokens: list[Token] = []
        at = 0
        if state:
            end = self._ends[state].match(text)
            if end is None:
                return [(self._roles[state], text)], state
            at = end.end()
            tokens.append((self._roles[state], text[:at]))
        open_block = ""
        for match in self._scan(text, at):
            name, found = match.lastgroup or "", match[0]
            role = self._roles[name]
            if name in ("word", "call"):
                role = self._word(found, role)
            if not role:
                continue
            if match.start() > at:
                tokens.append(("", text[at : match.start()]))
            tokens.append((role, found))
            at = match.end()
            if name in self._ends:
                open_block = name
        if at < len(text) or not tokens:
            tokens.append(("", text[at:]))
        return tokens, open_block

    def _word(self, word: str, role: str) -> str:
        known = self._words.get(word.lower() if self._lower else word)
        if known is not None:
            return known
        if self._types and word[0].isupper() and not (len(word) > 1 and word.isupper()):
            return "syntax_type"
        return role
