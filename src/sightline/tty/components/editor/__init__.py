"""The editor prompts are written in, and what it is made of."""

from sightline.tty.components.editor._completion import CompletionProvider as CompletionProvider
from sightline.tty.components.editor._completion import CompletionRequest as CompletionRequest
from sightline.tty.components.editor._completion import Completions as Completions
from sightline.tty.components.editor._completion import FileCompletion as FileCompletion
from sightline.tty.components.editor._completion import StaticCompletion as StaticCompletion
from sightline.tty.components.editor._editor import Editor as Editor
from sightline.tty.components.editor._external import edit_externally as edit_externally
from sightline.tty.frame._scheduler import CallLater as CallLater
