"""Values in a shell command: they are never part of its text.

A `run` that is one string goes to `/bin/sh -c`. Each template in it becomes the expansion of an environment variable
that holds the value, so whatever a model or a user wrote arrives as one word and is never read by the shell. Pasting
quoted values into the text instead was tried and is not safe: inside quotes of the author's own, the added quotes close
them. That protection does not depend on the reading of quotes below, which only decides whether the expansion needs
double quotes of its own.

A template may stand bare (it is one word then, blanks and all), inside double quotes, or in a comment. Elsewhere a
shell would not expand it, split it or compute with it, and it is refused: single quotes, backticks, `${…}`, arithmetic,
and everything after the beginning of a here-document. Also refused is everything after a quote inside `"${…}"`: shells
do not agree on what it quotes.
"""

import os
import re
import shlex

import msgspec

from sightline.exceptions import OutsideFailure
from sightline.flows.file._template import Reference, Template, TemplateMistake, Values, as_text, one_line, render

# Linux takes no single argument or variable over 128 KiB.
_VALUE_CAP = 120 * 1024

_BARE, _DOUBLE, _SINGLE, _COMMENT = "bare", "double quotes", "single quotes", "a comment"
_PAREN, _BACKTICK, _BRACE = "$( )", "backticks", "${ }"
_ARITHMETIC, _HEREDOC, _UNCLEAR = "arithmetic", "a here-document", "a quote inside ${ } inside double quotes"
_EXPANDED = (_BARE, _PAREN, _DOUBLE, _COMMENT)

# What begins inside what, longest first.
_openings = re.compile(r"\\.|\$\(\(|\$\(|\$\{|<<<|<<|\(\(|[\"'`()]|(?:(?<=\s)|(?<=^)|(?<=[;&|(]))#|\n", re.DOTALL)
_STARTS = {"$((": _ARITHMETIC, "((": _ARITHMETIC, "$(": _PAREN, "(": _PAREN, "${": _BRACE, "`": _BACKTICK}
_in_double = re.compile(r"\\.|\$\(\(|\$\(|\$\{|[\"`]", re.DOTALL)
_in_brace = re.compile(r"\\.|\$\(\(|\$\(|\$\{|[\"'`}]", re.DOTALL)
_comment = re.compile(r"\s*(#|$)")
_ENDS = {
    _SINGLE: re.compile("'"),
    _COMMENT: re.compile("\n"),
    _BACKTICK: re.compile(r"(?<!\\)`"),
    _ARITHMETIC: re.compile(r"\)\)"),
}


class ShellCommand(msgspec.Struct, frozen=True):
    """A `run` string: its parts, and for each reference whether the author's own double quotes are around it."""

    template: Template
    quoted: tuple[bool, ...]


class Invocation(msgspec.Struct, frozen=True):
    """What is started, and how it is shown."""

    argv: list[str]
    env: dict[str, str]
    shown: str


def parse_shell(template: Template) -> tuple[ShellCommand, list[TemplateMistake]]:
    """The command, and each template that stands where the shell would not take its value as a word."""
    quoting = _Quoting()
    quoted: list[bool] = []
    mistakes: list[TemplateMistake] = []
    before = ""
    for part in template.parts:
        if isinstance(part, str):
            quoting.read(part)
            before = part
            continue
        if before.endswith("$"):
            shown = one_line(part.source)
            mistakes.append(TemplateMistake(part.source, f"a $ before {shown}", "write the template without the $"))
        elif quoting.place not in _EXPANDED:
            mistakes.append(_refused(part, quoting.place))
        quoted.append(quoting.context in (_DOUBLE, _COMMENT))
        before = ""
    return ShellCommand(template, tuple(quoted)), mistakes


def shell_invocation(command: ShellCommand, values: Values) -> Invocation:
    script: list[str] = []
    shown: list[str] = []
    env: dict[str, str] = {}
    quoted = iter(command.quoted)
    for part in command.template.parts:
        if isinstance(part, str):
            script.append(part)
            shown.append(part)
            continue
        in_quotes = next(quoted)
        variable = f"SIGHTLINE_VALUE_{len(env) + 1}"
        value = env[variable] = _bounded(as_text(values.look_up(part)), part.source)
        script.append(f"${{{variable}}}" if in_quotes else f'"${{{variable}}}"')
        shown.append(value if in_quotes else shlex.quote(value))
    return Invocation(["/bin/sh", "-c", "".join(script)], env, "".join(shown))


def argv_invocation(words: tuple[Template, ...], values: Values) -> Invocation:
    """The list form: no shell, every value is itself."""
    argv = [_bounded(render(word, values), f"word {number} of run") for number, word in enumerate(words, 1)]
    return Invocation(argv, {}, shlex.join(argv))


def command_line(text: str) -> str:
    """The text from its first line on that is no comment: what a command is recognised by."""
    lines = text.split("\n")
    start = next((number for number, line in enumerate(lines) if not _comment.match(line)), 0)
    return "\n".join(lines[start:])


def _bounded(value: str, what: str) -> str:
    size = len(os.fsencode(value))
    if size > _VALUE_CAP:
        raise OutsideFailure(
            f"{one_line(what)} is {size // 1024} KB; a command takes at most {_VALUE_CAP // 1024} KB in one value",
            "let the earlier step write a file, and name the file here",
        )
    return value


def _refused(reference: Reference, context: str) -> TemplateMistake:
    where = f"after {context}: shells do not agree on what it quotes"
    if context != _UNCLEAR:
        where = f"inside {context}, where the shell does not take a value as one word"
    message = f"{one_line(reference.source)} is {where}"
    return TemplateMistake(
        reference.source, message, "put it in double quotes or on its own, or write run as a list of words"
    )


class _Quoting:
    """Follows a shell text piece by piece and knows what the next character would be inside of."""

    def __init__(self) -> None:
        self._stack = [_BARE]

    @property
    def context(self) -> str:
        return self._stack[-1]

    @property
    def place(self) -> str:
        """What a template would stand in: of all it is inside of, that which prevents its being one word."""
        return _BRACE if _BRACE in self._stack and self.context != _UNCLEAR else self.context

    def read(self, text: str) -> None:
        position = 0
        while position < len(text) and self.context not in (_HEREDOC, _UNCLEAR):
            position = self._step(text, position)

    def _step(self, text: str, position: int) -> int:
        """Go to just after the next character that opens or closes something."""
        end = _ENDS.get(self.context)
        pattern = end or {_DOUBLE: _in_double, _BRACE: _in_brace}.get(self.context, _openings)
        match = pattern.search(text, position)
        if match is None:
            return len(text)
        if end is not None:
            self._stack.pop()
        else:
            self._open_or_close(match.group())
        return match.end()

    def _open_or_close(self, token: str) -> None:
        if token in "\"'" and self._in_quoted_brace():
            self._stack.append(_UNCLEAR)
        elif token == '"':
            self._stack.pop() if self.context == _DOUBLE else self._stack.append(_DOUBLE)
        elif token == ")":
            if self.context == _PAREN:
                self._stack.pop()
        elif token == "}":
            self._stack.pop()
        elif token == "'":
            self._stack.append(_SINGLE)
        elif token == "#":
            self._stack.append(_COMMENT)
        elif token == "<<":
            self._stack.append(_HEREDOC)
        elif token in _STARTS:
            self._stack.append(_STARTS[token])

    def _in_quoted_brace(self) -> bool:
        around = next((context for context in reversed(self._stack) if context != _BRACE), "")
        return self.context == _BRACE and around == _DOUBLE
