"""What the user submits, and which of three kinds it is.

- `!` at the very beginning is a command for the shell, `!!` one the model does not see.
- `$` is Python for the session's cell, `$$` likewise; `${` is text, as templates begin with it.
- Anything else is a prompt for the agent, also with a space before the sign.
"""

from pathlib import Path
from typing import Literal

import msgspec

Mode = Literal["prompt", "shell", "python"]


class Attachment(msgspec.Struct, frozen=True):
    """An image that goes with a prompt."""

    path: Path
    name: str
    """The name on the screen and for the model."""
    size: int
    media_type: str


class Submission(msgspec.Struct, frozen=True):
    """`text` is without the sign of its mode; `written` is the original text of the editor."""

    text: str
    mode: Mode = "prompt"
    private: bool = False
    attachments: tuple[Attachment, ...] = ()
    written: str = ""


def mode_of(written: str) -> tuple[Mode, bool]:
    """The mode of a text, and whether it is private; a private prompt is not stored in the history."""
    if written.startswith("!"):
        return "shell", written.startswith("!!")
    if written.startswith("$") and not written.startswith("${"):
        return "python", written.startswith("$$")
    return "prompt", written.startswith(" ")


def submission(written: str, attachments: tuple[Attachment, ...] = ()) -> Submission | None:
    """The submission of a text; None when it is empty."""
    mode, private = mode_of(written)
    if mode == "prompt":
        text = written.strip()
        return Submission(text, mode, private, attachments, written) if text or attachments else None
    text = written[2 if private else 1 :].strip()
    return Submission(text, mode, private, (), written) if text else None
