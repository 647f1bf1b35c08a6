"""A text through somebody's own editor: written to a private file, edited there, read back."""

import os
import shlex
from collections.abc import Callable, Sequence

Run = Callable[[Sequence[str]], int]
"""Runs a program on the terminal, the display being suspended, and gives its exit code."""


def edit_externally(text: str, command: str, run: Run) -> str | None:
    """The text as it was saved; None when the editor failed, which leaves everything as it was."""
    import tempfile  # heavy for something few keys ask for

    descriptor, path = tempfile.mkstemp(prefix="sightline-", suffix=".md")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        if run([*shlex.split(command), path]) != 0:
            return None
        with open(path, encoding="utf-8", errors="replace", newline="") as file:
            saved = file.read()
    finally:
        os.unlink(path)
    # Most editors end a file with a line break that is not part of the text.
    return saved.removesuffix("\n") if not text.endswith("\n") else saved
