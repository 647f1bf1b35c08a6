"""`/branch`: a new session from before one of the user's messages; this one stays as it is. `/tree` moves within it."""

import asyncio

from sightline.exceptions import SightlineError
from sightline.host import Outline
from sightline.journal import SessionTree
from sightline.tty.components import Item
from sightline.views.console._desk import Desk, accepted, report_error
from sightline.views.console.selectors import _fork
from sightline.views.console.selectors._panel import ChoicePanel
from sightline.views.console.selectors._tree_rows import outlined


async def open(desk: Desk, args: str) -> None:
    reply = await accepted(desk, Outline("user-only", args.strip()))
    if reply is None:
        return
    lines = outlined(reply.data).lines
    if not lines:
        desk.report("no message to branch from yet")
        return
    items = [Item(line.id, line.text, line.label) for line in lines]
    target = await desk.ask(ChoicePanel(desk, "New session from before a message", items, at=items[-1].value))
    if target is not None:
        await _branched(desk, target)


async def _branched(desk: Desk, target: str) -> None:
    try:
        move = await asyncio.to_thread(lambda: SessionTree.load(desk.store.folder(desk.session)).move(target))
    except (SightlineError, OSError) as error:
        report_error(desk, error)
        return
    if not move.leaf:  # before the first message there is nothing to copy
        await desk.switch("", draft=move.prefill)
    else:
        await _fork.fork(desk, move.leaf, move.prefill)
