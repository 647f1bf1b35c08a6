"""What the person hands in, and which of three things it is.

- `!` at the very beginning is a command for the shell, `!!` one the model is not told of.
- `$` is Python for the session's cell, `$$` likewise; `${` is text, as templates begin with it.
- Anything else is words for the agent. A blank before the sign makes it that, too.
"""

from pathlib import Path
from typing import Literal

import msgspec

Mode = Literal["prompt", "shell", "python"]


class Attachment(msgspec.Struct, frozen=True):
    """An image that goes with a prompt."""

    path: Path
    name: str
    """As it is shown, and as the model is told."""
    size: int
    media_type: str


class Submission(msgspec.Struct, frozen=True):
    """`text` is without the sign of its mode; `written` is as it was in the editor, to be put there again."""

    text: str
    mode: Mode = "prompt"
    private: bool = False
    attachments: tuple[Attachment, ...] = ()
    written: str = ""


def mode_of(written: str) -> tuple[Mode, bool]:
    """Which mode a text is in, and whether it is private; for words that means they are not kept in the history."""
    if written.startswith("!"):
        return "shell", written.startswith("!!")
    if written.startswith("$") and not written.startswith("${"):
        return "python", written.startswith("$$")
    return "prompt", written.startswith(" ")


def submission(written: str, attachments: tuple[Attachment, ...] = ()) -> Submission | None:
    """What was handed in; None when that was nothing."""
    mode, private = mode_of(written)
    if mode == "prompt":
        text = written.strip()
        return Submission(text, mode, private, attachments, written) if text or attachments else None
    text = written[2 if private else 1 :].strip()
    return Submission(text, mode, private, (), written) if text else None
