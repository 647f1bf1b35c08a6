"""Messages to the user: `error: what`, and on a line of its own `hint: what to do about it`."""

import re

from sightline.text._credentials import without_credentials
from sightline.text._filter import clean_text

_not_indented = re.compile("[\n\u2028\u2029](?!  )").sub


def message(level: str, text: str, hint: str = "") -> str:
    """The lines of one message. What it quotes (the name of a file, a server's words) cannot drive the terminal, shows
    no credentials, and a line break in it begins no line that reads as ours: all but the first are indented."""
    parts = [f"{level}: {text}", *([f"hint: {hint}"] if hint else [])]
    return "".join([_not_indented("\n  ", without_credentials(clean_text(part)).rstrip("\n")) + "\n" for part in parts])
