"""A console on no terminal: events go in, keys go in, commands come out, rows are looked at."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sightline.events import Event
from sightline.events.stamping import stamp
from sightline.host import Command, CommandReply
from sightline.journal import Store
from sightline.settings import Settings, StartOptions
from sightline.tty import PLAIN, Application, Capabilities, Display, Paste
from sightline.tty.input._keys import character_key, parse_key
from sightline.views.console._actions import bindings_from
from sightline.views.console._console import Console
from tests.views.console.extending import Surface


class Sitting:
    """`commands` is what the host was asked; `replies` are its answers by the name of the command."""

    def __init__(self, cwd: Path, settings: Settings | None = None) -> None:
        loop = asyncio.get_running_loop()
        self.surface = Surface()
        self.display = Display(self.surface, Capabilities(), loop)
        self.application = Application(self.display, PLAIN, loop, bindings_from({}))
        wanted = StartOptions(cwd=str(cwd))
        self.console = Console(self.application, Store(cwd / "home"), settings or Settings(), wanted)
        self.commands: list[Command] = []
        self.replies: dict[str, CommandReply] = {}
        self.console.sessions.link.submit = self._submit  # type: ignore[method-assign]
        self.console.sessions.link.session = "s"
        self._seq = 0

    async def _submit(self, command: Command) -> CommandReply:
        self.commands.append(command)
        return self.replies.get(type(command).__name__, CommandReply(True, id="s-1"))

    def hears(self, *events: Event) -> None:
        for event in events:
            self._seq += 1
            stamp(event, self._seq, 1000.0)
        self.console.frame(list(events))

    def press(self, *specs: str) -> None:
        for spec in specs:
            self.application.hear(character_key(spec) if len(spec) == 1 else parse_key(spec))

    def writes(self, text: str) -> None:
        self.application.hear(Paste(text))

    async def until(self, condition: Callable[[], Any], what: str = "it") -> Any:
        try:
            async with asyncio.timeout(60):
                while not (found := condition()):  # noqa: ASYNC110, not everything that is waited for is an event
                    await asyncio.sleep(0.001)
                for _ in range(3):  # nobody presses a key in the very turn of the loop that drew what they saw
                    await asyncio.sleep(0)
                return found
        except TimeoutError:
            raise AssertionError(f"waited in vain for {what}; the screen is\n{self.rows}") from None

    async def sent(self, kind: type[Any]) -> Any:
        """The command of this kind, once the host was asked."""
        return await self.until(lambda: next((c for c in self.commands if isinstance(c, kind)), None), kind.__name__)

    @property
    def rows(self) -> str:
        return "\n".join(row for child in self.display.children for row in child.render(80))

    @property
    def ended(self) -> bool:
        return self.application._ended.done()

    async def close(self) -> None:
        await self.application.cancel_tasks()
