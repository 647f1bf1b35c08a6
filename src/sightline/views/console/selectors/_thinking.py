"""`/thinking`: how long the model thinks before it answers."""

from typing import get_args

from sightline.events import ThinkingState
from sightline.host import SetModel
from sightline.settings import Thinking
from sightline.tty.components import Item
from sightline.views.console._desk import Desk, accepted
from sightline.views.console.selectors._panel import ChoicePanel

LEVELS: tuple[str, ...] = get_args(Thinking)
ABOUT = {"off": "answers at once", "max": "slow and expensive"}


async def open(desk: Desk, args: str) -> None:
    level = args.strip() or await chosen_level(desk)
    if level is not None:
        await set_level(desk, level)


async def chosen_level(desk: Desk) -> str | None:
    now = level_now(desk)
    items = [Item(level, f"{level} (now)" if level == now else level, ABOUT.get(level, "")) for level in LEVELS]
    chosen: str | None = await desk.ask(ChoicePanel(desk, "Thinking", items, filter=False, at=now))
    return chosen


async def set_level(desk: Desk, level: str) -> None:
    await accepted(desk, SetModel(thinking=level))


async def next_level(desk: Desk, args: str) -> None:
    now = desk.state.state.get("thinking")
    await set_level(desk, LEVELS[(LEVELS.index(now) + 1) % len(LEVELS)] if now in LEVELS else "medium")


def level_now(desk: Desk) -> str:
    state = ThinkingState.among(desk.state.state)
    return (state.level if state else "") or desk.settings.models.thinking
