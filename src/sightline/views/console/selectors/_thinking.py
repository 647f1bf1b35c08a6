"""`/thinking`: how long the model thinks before it answers."""

from typing import get_args

from sightline.host import SetModel
from sightline.settings import Thinking
from sightline.tty.components import Item
from sightline.views.console._desk import Desk
from sightline.views.console.selectors._panel import Choice

LEVELS: tuple[str, ...] = get_args(Thinking)
ABOUT = {"off": "answers at once", "max": "slow and expensive"}


async def open(desk: Desk, args: str) -> None:
    level = args.strip() or await chosen_level(desk)
    if level is not None:
        await set_level(desk, level)


async def chosen_level(desk: Desk) -> str | None:
    now = level_now(desk)
    items = [Item(level, f"{level} (now)" if level == now else level, ABOUT.get(level, "")) for level in LEVELS]
    chosen: str | None = await desk.ask(Choice(desk, "Thinking", items, filter=False, at=now))
    return chosen


async def set_level(desk: Desk, level: str) -> None:
    reply = await desk.submit(SetModel(thinking=level))
    if not reply.ok:
        desk.tell(reply.error, "error", reply.hint)


def level_now(desk: Desk) -> str:
    said = desk.state.state.get("thinking")
    return said if isinstance(said, str) and said else desk.settings.models.thinking
