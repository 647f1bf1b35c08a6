"""The first word of a command line: a command, or, where it is several words in one, the first prompt of the console.

A single word that is no command is a mistake, as a mistyped command would else cost an answer of a model.
"""

import argparse
from collections.abc import Collection, Sequence
from typing import Any

from sightline.exceptions import UserMistake


class NoCommand(UserMistake):
    """A word that is none, unless it belongs to an option that is none."""


class AnyWord(dict[str, Any]):
    """The commands, for help and completion; every other word is as good."""

    def __contains__(self, word: object) -> bool:
        return True


class CommandOrName(argparse._SubParsersAction):  # type: ignore[type-arg]
    """A first word that is no command is the argument of the usual one: `config read` is `config get read`."""

    usual = ""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: Any = None) -> None:
        if values[0] not in self._name_parser_map:
            values = [self.usual, *values]
        super().__call__(parser, namespace, values, option_string)


class CommandOrPrompt(argparse._SubParsersAction):  # type: ignore[type-arg]
    """`sightline "fix the tests" --model M` is `sightline --model M`, with that as the first prompt."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: Any = None) -> None:
        word, *rest = values
        if word in self._name_parser_map:
            super().__call__(parser, namespace, values, option_string)
        elif is_prompt(word):
            namespace.opening = word
            from sightline.cli._parser import prompt_parser

            prompt_parser().parse_args(rest, namespace)
        else:
            raise _no_command(namespace.prompt, word, rest, list(self._name_parser_map))


def is_prompt(word: str) -> bool:
    """Whether it is a prompt rather than the name of a command."""
    return len(word.split()) > 1 and not word.startswith("-")


def unknown_option(argv: Sequence[str], options: Collection[str]) -> UserMistake | None:
    """The first unknown option: the word after it is its value, not a command."""
    for word in argv:
        name = word.partition("=")[0]
        if word == "--":
            break
        if not name.startswith("--") or any(option.startswith(name) for option in options):
            continue
        import difflib

        near = difflib.get_close_matches(name, options, 1)
        return UserMistake(f"no option {name}", f"did you mean {near[0]}?" if near else "see `sightline --help`")
    return None


def _no_command(prompt: str | None, word: str, rest: list[str], commands: list[str]) -> NoCommand:
    """`prompt`: that of -p before it, of which these words are the rest."""
    import difflib
    import shlex
    from itertools import takewhile

    words = [word, *takewhile(lambda each: not each.startswith("-"), rest)]
    if prompt and prompt != "-":
        quoted = shlex.join(["-p", " ".join([prompt, *words]), *rest[len(words) - 1 :]])
        return NoCommand(f"no command {word}", f"a prompt goes in quotes: sightline {quoted}")
    near = difflib.get_close_matches(word, commands, 1)
    if near:
        hint = f"did you mean {near[0]}?"
    elif len(words) > 1:
        hint = f"a prompt goes in quotes: sightline {shlex.join([' '.join(words), *rest[len(words) - 1 :]])}"
    else:
        hint = f"for a prompt: sightline -p {shlex.quote(word)}; commands: sightline --help"
    return NoCommand(f"no command {word}", hint)
