"""The text of a command taken apart, and filled with what the user typed after its name.

    $ARGUMENTS          all of it
    $1 … $9             its words; quotes join several to one
    !`command`          replaced by what the command prints; also a fenced block that begins with ```!
    @path               the file is read, and follows the text

Rules:

- The file is taken apart before anything is put in: what the user typed, and what a command prints, is text only.
- In a command, what the user typed is arguments: quoted, or refused where that cannot be done safely.
- Where the text names no arguments, they follow it.
"""

import re
import shlex
from typing import Literal

import msgspec

from sightline.exceptions import UserMistake

_is_safe = re.compile(r"[\w@%+=:,./ -]*").fullmatch
# What a shell has read before a place: nothing that is open, or double quotes. Of all else nothing is certain.
_WHOLE = r"(?:[^'\"\\`#$<]|\$(?:ARGUMENTS\b|[1-9])|'[^']*'|\"(?:[^\"\\`$]|\$(?:ARGUMENTS\b|[1-9]))*\")*"
_is_unquoted = re.compile(_WHOLE).fullmatch
_is_in_double_quotes = re.compile(_WHOLE + r"\"(?:[^\"\\`$]|\$(?:ARGUMENTS\b|[1-9]))*").fullmatch
_run = re.compile(r"(?:(?<=\s)|^)!`([^`\n]+)`|^```!\s*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
_file = re.compile(r"(?<![^\s(\"'\[])@([^\s`\"'()<>\[\]{}|*?,;:]*[^\s`\"'()<>\[\]{}|*?,;:.!])")
_placeholder = re.compile(r"\$(ARGUMENTS\b|[1-9](?!\d))")


class CommandPiece(msgspec.Struct, frozen=True):
    """A part of the text. `run`: a command line; `file`: a path."""

    kind: Literal["text", "run", "file"]
    text: str


def pieces_of(text: str) -> list[CommandPiece]:
    pieces: list[CommandPiece] = []
    at = 0
    for found in _run.finditer(text):
        pieces += _with_files(text[at : found.start()])
        pieces.append(CommandPiece("run", (found[1] or found[2] or "").strip()))
        at = found.end()
    return [*pieces, *_with_files(text[at:])]


def _with_files(text: str) -> list[CommandPiece]:
    pieces: list[CommandPiece] = []
    at = 0
    for found in _file.finditer(text):
        pieces += [CommandPiece("text", text[at : found.start()]), CommandPiece("file", found[1])]
        at = found.end()
    return [*pieces, CommandPiece("text", text[at:])]


class CommandWords:
    """What the user typed after the name of a command."""

    def __init__(self, typed: str) -> None:
        self.typed = typed
        try:
            self._words = shlex.split(typed)
        except ValueError:  # a quote without its end, as in a sentence
            self._words = typed.split()

    def in_text(self, text: str) -> str:
        return _placeholder.sub(lambda found: " ".join(self._of(found)), text)

    def in_command(self, line: str) -> str:
        """UserMistake where a shell could read them as more than arguments."""
        return _placeholder.sub(lambda found: self._argument(found, line[: found.start()]), line)

    def are_used(self, pieces: list[CommandPiece]) -> bool:
        return any(_placeholder.search(piece.text) for piece in pieces)

    def _of(self, found: "re.Match[str]") -> list[str]:
        if found[1] == "ARGUMENTS":
            return [self.typed]
        return self._words[int(found[1]) - 1 : int(found[1])]

    def _argument(self, found: "re.Match[str]", before: str) -> str:
        words = self._words if found[1] == "ARGUMENTS" else self._of(found)
        is_arithmetic = "((" in before or "[[" in before  # there, even a quoted word may be evaluated
        if _is_unquoted(before) and not is_arithmetic:
            return " ".join(map(shlex.quote, words))
        text = " ".join(self._of(found))
        if _is_in_double_quotes(before) and not is_arithmetic:
            return re.sub(r'([\\"$`])', r"\\\1", text)
        if _is_safe(text):
            return text
        raise UserMistake(
            "these arguments have characters that a shell would read, and stand within quotes of a command",
            "use letters, digits, spaces and @ % + = : , . / _ - only",
        )
