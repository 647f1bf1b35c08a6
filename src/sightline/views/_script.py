"""The script inside `/bin/bash -lc '…'`: it is what the user recognises, so views show it alone.

It is taken out only where that changes nothing: where the quotes hold nothing that a shell outside would replace.
"""

import re
import shlex

_SHELL = r"(?:/[\w./+-]*/)?(?:ba|da|z|k)?sh"
_is_shell = re.compile(_SHELL).fullmatch
_one_word = r"""(?:'[^']*'|"(?:[^"$`\\]|\\["\\])*"|\\'|[\w@%+=:,./-])+"""
_wrapped = re.compile(rf"{_SHELL}\s+-l?c\s+({_one_word})\s*").fullmatch


def script_in(line: str) -> str:
    """The script of a command line, or all of it where no shell runs it."""
    found = _wrapped(line)
    script = "".join(shlex.split(found[1])).strip() if found is not None else ""
    return script or line


def script_of_words(words: list[str]) -> str:
    """The same of a command that is given word by word."""
    is_script = len(words) == 3 and _is_shell(words[0]) and words[1] in ("-c", "-lc")
    return words[2].strip() if is_script and words[2].strip() else " ".join(words)
