"""Ways out."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sightline.views.console._console import Console


async def detach(console: "Console", args: str) -> None:
    console.sessions.detach()


async def quit(console: "Console", args: str) -> None:
    console.sessions.leave()
