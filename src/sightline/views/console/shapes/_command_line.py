"""The command line in a call's arguments, as somebody meant it: without the shell it was handed to.

A program that runs a script with a shell (`/bin/bash -lc '…'`) tells of the shell; the script is what a person knows.
It is taken out only where that changes nothing: where the quotes hold nothing that a shell outside would replace.
"""

import re
import shlex
from typing import Any

from sightline.text import clean_text
from sightline.tty import expand_tabs
from sightline.views.console.shapes._shape import record

COMMANDS = ("command", "cmd", "script")

_SHELL = r"(?:/[\w./+-]*/)?(?:ba|da|z|k)?sh"
_is_shell = re.compile(_SHELL).fullmatch
_one_word = r"""(?:'[^']*'|"(?:[^"$`\\]|\\["\\])*"|\\'|[\w@%+=:,./-])+"""
_wrapped = re.compile(rf"{_SHELL}\s+-l?c\s+({_one_word})\s*").fullmatch


def command_of(args: Any) -> str:
    """The command line in arguments of the shape, whole."""
    given = record(args)
    for name in COMMANDS:
        value = given.get(name)
        if isinstance(value, str) and value.strip():
            return expand_tabs(clean_text(_script_in(value.strip())))
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            return expand_tabs(clean_text(_of_words(value)))
    return ""


def _of_words(words: list[str]) -> str:
    is_script = len(words) == 3 and _is_shell(words[0]) and words[1] in ("-c", "-lc")
    return words[2].strip() if is_script and words[2].strip() else " ".join(words)


def _script_in(line: str) -> str:
    found = _wrapped(line)
    script = "".join(shlex.split(found[1])).strip() if found is not None else ""
    return script or line
