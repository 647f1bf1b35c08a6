"""The editor prompts are written in, and what it is made of."""

from sightline.tty.components.editor._completion import (
    CallLater,
    CompletionProvider,
    CompletionRequest,
    Completions,
    FileCompletion,
    StaticCompletion,
)
from sightline.tty.components.editor._editor import Editor
from sightline.tty.components.editor._external import edit_externally

__all__ = [
    "CallLater",
    "CompletionProvider",
    "CompletionRequest",
    "Completions",
    "Editor",
    "FileCompletion",
    "StaticCompletion",
    "edit_externally",
]
