"""Reading a shell's command line, for rules that allow: what is not understood for certain is not understood.

It knows simple commands of plain and quoted words, joined by `&&`, `||`, `;` and `|`, in which every word is what it
says. Everything else is None: `$`, backticks, redirects, `&`, parentheses, braces, escapes, comments, newlines outside
quotes, assignments, reserved words, quotes in the middle of a word. (`_shell_reading` is for rules that deny, and wrong
on the other side.)

A command that is judged may have more than a pattern: assignments of harmless variables before a program (`CI=1`), and
redirects that write nowhere (`2>&1`, `>/dev/null`). They are left out: what runs is the same without them.
"""

import re

import msgspec

from sightline.settings.rules._harmless import is_harmless

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,+@%^=~")
_GLOB = frozenset("*?[]")
_OPERATORS = ("&&", "||", ";", "|")
# Of bash, zsh and fish.
_RESERVED = frozenset(
    {"if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for", "in", "select", "time"}
    | {"function", "coproc", "and", "or", "not", "begin", "end", "foreach", "repeat", "nocorrect", "noglob"}
)


# File patterns; a home folder where a shell looks for one; a program by its name, in zsh.
_is_expanded = re.compile(r"[*?\[\]]|(?:^|[=:])~|^=").search


class Word(msgspec.Struct, frozen=True):
    """`text` as it is written, without its quotes. A bare one was not quoted."""

    text: str
    bare: bool = True

    @property
    def expands(self) -> bool:
        """Whether a shell may put something else in its place, several words too."""
        return self.bare and _is_expanded(self.text) is not None


class ParsedCommandLine(msgspec.Struct, frozen=True):
    """Simple commands and what stands between them: one operator less than there are commands."""

    commands: tuple[tuple[Word, ...], ...]
    operators: tuple[str, ...] = ()


_redirect = re.compile(r"(?:2>&1|[12]?>/dev/null)(?=[ \t;|&]|\Z)").match


def understand(text: str, *, is_pattern: bool = True) -> ParsedCommandLine | None:
    """The command line, or None when any of it could mean something else than it seems."""
    commands: list[tuple[Word, ...]] = []
    operators: list[str] = []
    words: list[Word] = []
    position = 0
    while position < len(text):
        operator = next((known for known in _OPERATORS if text.startswith(known, position)), "")
        if text[position] in " \t":
            position += 1
        elif operator:
            commands.append(tuple(words))
            operators.append(operator)
            words = []
            position += len(operator)
        elif not is_pattern and (redirect := _redirect(text, position)):
            position = redirect.end()
        else:
            found = _word(text, position)
            if found is None:
                return None
            word, position = found
            if is_pattern or words or not _is_harmless_assignment(word):
                words.append(word)
    commands.append(tuple(words))
    return ParsedCommandLine(tuple(commands), tuple(operators)) if all(map(_is_simple, commands)) else None


def _is_harmless_assignment(word: Word) -> bool:
    """In quotes it would be the name of a program."""
    name, equals, value = word.text.partition("=")
    return word.bare and bool(equals) and is_harmless(name, value)


def _is_simple(words: tuple[Word, ...]) -> bool:
    """It names its program plainly: no assignment before it, no word of the shell's own grammar, nothing expanded."""
    if not words or not words[0].bare:
        return False
    program = words[0].text
    return "=" not in program and program not in _RESERVED and program[0] not in "^~%" and not _GLOB & set(program)


def _word(text: str, start: int) -> tuple[Word, int] | None:
    position = start
    while position < len(text) and _is_plain(text[position]):
        position += 1
    plain = text[start:position]
    if position < len(text) and text[position] in "'\"":
        # `--format='%h'` is as clear as a word quoted whole; quotes elsewhere in a word are there to hide something.
        quoted = _quoted(text, position) if not plain or plain.endswith("=") else None
        if quoted is None or Word(plain).expands:
            return None
        inside, position = quoted
        return (Word(plain + inside, bare=False), position) if _ends_a_word(text, position) else None
    return (Word(plain), position) if plain and _ends_a_word(text, position) else None


def _is_plain(character: str) -> bool:
    return character in _PLAIN or character in _GLOB or (character > "\x7f" and character.isalnum())


def _quoted(text: str, start: int) -> tuple[str, int] | None:
    """What is between quotes when no shell reads it differently, and the position after it."""
    quote = text[start]
    end = text.find(quote, start + 1)
    inside = text[start + 1 : end]
    # Some shells take a backslash before the closing quote for an escape, so that the quote ends elsewhere.
    if end < 0 or inside.endswith("\\") or (quote == '"' and not {"$", "`", "\\"}.isdisjoint(inside)):
        return None
    return (inside, end + 1) if inside.replace("\n", "").replace("\t", "").isprintable() else None


def _ends_a_word(text: str, position: int) -> bool:
    return position == len(text) or text[position] in " \t" or text.startswith(_OPERATORS, position)


def trimmed(text: str) -> str:
    """Without the blanks around it. One that a backslash makes part of a word stays, and so do those at the end of a
    here-document, where they make another line of the one that would end it."""
    short = text.lstrip(" \t") if "<<" in text and "\n" in text else text.strip(" \t")
    rest = text[text.find(short) + len(short) :]
    return short + rest[:1] if short.endswith("\\") else short


def quoted(word: Word) -> str | None:
    """A word written so that it is understood as this very word; None when it cannot be."""
    if word.bare or (word.text and all(map(_is_plain, word.text)) and not Word(word.text).expands):
        return word.text
    for quote in "'\"":
        whole = f"{quote}{word.text}{quote}"
        if quote not in word.text and _quoted(whole, 0) is not None:
            return whole
    return None
