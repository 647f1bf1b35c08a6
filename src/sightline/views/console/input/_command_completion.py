"""`/command` at the beginning of a prompt."""

import re
from collections.abc import Callable, Sequence

from sightline.tty.components import Item
from sightline.tty.components.editor import CompletionRequest, Completions
from sightline.tty.components.editor._completion import Deliver

_being_named = re.compile(r"/[^\s/]*").fullmatch


class CommandCompletion:
    """Asks for the commands each time: extensions bring and take theirs."""

    def __init__(self, commands: Callable[[], Sequence[tuple[str, str]]]) -> None:
        self._commands = commands

    def complete(self, request: CompletionRequest, deliver: Deliver) -> None:
        if request.line > 0:
            deliver(None)
        elif _being_named(request.before):
            items = tuple(Item(f"/{name} ", f"/{name}", about) for name, about in self._commands())
            # Before a letter of it is typed none is meant more than another: the first is one that does no harm.
            as_listed = request.before == "/"
            typed = len(request.before)
            deliver(Completions(items, typed, typed, in_order=as_listed, submits=True))
        else:
            deliver(None)
