"""Commands about how much is shown."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sightline.views.console._console import Console


async def reasoning(console: "Console", args: str) -> None:
    console.show_reasoning(_wanted(args, console.drawing.reasoning))


async def unfold(console: "Console", args: str) -> None:
    console.unfold(_wanted(args, console.drawing.unfolded))


async def output(console: "Console", args: str) -> None:
    await console.view_output()


async def clear(console: "Console", args: str) -> None:
    console.replay()


def _wanted(said: str, now: bool) -> bool:
    return {"on": True, "off": False}.get(said, not now)
