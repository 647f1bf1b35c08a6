"""A command: its name, what it does, and where it is. It is loaded when it is run."""

from importlib import import_module
from typing import TYPE_CHECKING

import msgspec

from sightline.exceptions import SightlineError
from sightline.text import clean_text

if TYPE_CHECKING:
    from sightline.views.console._console import Console


class SlashCommand(msgspec.Struct, frozen=True):
    """`module` has a function `async function(desk, args)`."""

    name: str
    about: str
    module: str
    function: str = "open"
    args: str = ""
    """What may follow, for whoever asks."""

    async def run(self, console: "Console", args: str) -> None:
        module = import_module(f"sightline.views.console.{self.module}")
        try:
            await getattr(module, self.function)(console, args)
        except (SightlineError, OSError) as error:
            console.tell(f"/{self.name}: {clean_text(str(error))}", "error", getattr(error, "hint", ""))
