"""Commands about how much is shown."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sightline.views.console._console import Console


def reasoning(console: "Console", args: str) -> None:
    console.show_reasoning(_switched(args, console.drawing.reasoning))
    _report_change(console, "reasoning", console.drawing.reasoning)


def unfold(console: "Console", args: str) -> None:
    console.unfold(_switched(args, console.drawing.unfolded))
    _report_change(console, "more of every block", console.drawing.unfolded)


async def output(console: "Console", args: str) -> None:
    back = int(args) if args.isascii() and args.isdecimal() else 0
    await console.view_output(back)


def redraw(console: "Console", args: str) -> None:
    console.replay()


def _report_change(console: "Console", what: str, now: bool) -> None:
    """What changes is seen, but not heard."""
    if console.drawing.linear:
        console.report(f"{what} is read aloud from now on" if now else f"{what} is no longer read aloud")


def _switched(args: str, now: bool) -> bool:
    return {"on": True, "off": False}.get(args, not now)
