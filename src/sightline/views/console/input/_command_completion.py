"""Completion of `/command` at the beginning of a prompt."""

import re
from collections.abc import Callable, Sequence

from sightline.tty.components import Item
from sightline.tty.components.editor import CompletionRequest, Completions
from sightline.tty.components.editor._completion import Deliver

_being_named = re.compile(r"/[^\s/]*").fullmatch


class CommandCompletion:
    """Reads the commands each time: extensions add and remove theirs."""

    def __init__(self, commands: Callable[[], Sequence[tuple[str, str]]]) -> None:
        self._commands = commands

    def complete(self, request: CompletionRequest, deliver: Deliver) -> None:
        if request.line > 0 or not _being_named(request.before):
            deliver(None)
            return
        items = tuple(Item(f"/{name} ", f"/{name}", about) for name, about in self._commands())
        # After the slash alone all commands are equal: the first in the list is a harmless one.
        as_listed, typed = request.before == "/", len(request.before)
        deliver(Completions(items, typed, typed, in_order=as_listed, submits=True))
