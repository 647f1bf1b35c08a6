"""The command line in a call's arguments, as somebody meant it: without the shell it was handed to."""

from typing import Any

from sightline.text import clean_text
from sightline.tty import expand_tabs
from sightline.views._script import script_in, script_of_words
from sightline.views.console.shapes._shape import record

COMMANDS = ("command", "cmd", "script")


def command_of(args: Any) -> str:
    """The command line in arguments of the shape, whole."""
    given = record(args)
    for name in COMMANDS:
        value = given.get(name)
        if isinstance(value, str) and value.strip():
            return expand_tabs(clean_text(script_in(value.strip())))
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            return expand_tabs(clean_text(script_of_words(value)))
    return ""
