"""`/model`: the model for the next requests; also what else a model is used for, and how long it thinks.

A name that is typed and not listed can be used as it is: another agent's CLI knows models that are not listed here.
"""

import asyncio
import os
from typing import Any

import msgspec

from sightline.events import ModelState
from sightline.host import SetModel
from sightline.models import UsableModel, usable
from sightline.text import clean_line
from sightline.tty import Input
from sightline.tty.components import Item
from sightline.views.console._desk import Desk, accepted
from sightline.views.console.selectors import _thinking
from sightline.views.console.selectors._panel import ChoicePanel
from sightline.views.console.selectors._setting_changes import store_setting

_ADD_KEY = "\0add"
_HINTS = (("model_thinking", "thinking"), ("model_role", "use for"))
_ROLES = (
    Item("default", "default", "the model new sessions begin with"),
    Item("small", "small", "summaries and titles"),
    Item("slow", "slow", "hard questions"),
    Item("vision", "vision", "images, if the working model cannot see them"),
)


class _ModelAction(msgspec.Struct, frozen=True):
    """Answer of the panel other than a model."""

    what: str
    model: str = ""


class ModelChoice(ChoicePanel):
    """The list; typed text that matches nothing is a name, too."""

    def react(self, event: Input) -> bool:
        typed = self.list.query.strip()
        if typed and not len(self.list) and self.desk.bindings.matches(event, "select_confirm"):
            self.finish(typed)
            return True
        return super().react(event)


async def open(desk: Desk, args: str) -> None:
    chosen: Any = args.strip() or None
    while chosen is None or isinstance(chosen, _ModelAction):
        chosen = await _chosen(desk)
        if chosen is None:
            return
        if isinstance(chosen, _ModelAction):
            await _do(desk, chosen)
    if chosen == _ADD_KEY:
        from sightline.views.console.selectors import _setup

        await _setup.open(desk, "")  # type: ignore[arg-type]  # the desk is the console
        return
    await accepted(desk, SetModel(model=chosen))


async def _chosen(desk: Desk) -> Any:
    listing = await asyncio.to_thread(usable, desk.settings, dict(os.environ))
    now = model_now(desk)
    items = [_item(model, now) for model in listing.models]
    if not items:
        items = [Item(_ADD_KEY, "Add a model", "there is no key and no model server yet")]
    panel = ModelChoice(
        desk,
        "Model",
        items,
        at=now,
        empty="not listed: enter uses this name anyway",
        hints=_HINTS,
        keys={
            "model_thinking": lambda item: panel.finish(_ModelAction("thinking")),
            "model_role": lambda item: panel.finish(_ModelAction("role", item.value)),
        },
    )
    panel.heading.set_note(" · ".join([f"thinking {_thinking.level_now(desk)}", *map(clean_line, listing.notes)]))
    return await desk.ask(panel)


async def _do(desk: Desk, action: _ModelAction) -> None:
    if action.what == "thinking":
        await _thinking.open(desk, "")
    elif action.model != _ADD_KEY:
        role = await desk.ask(ChoicePanel(desk, f"Use {action.model} for", _ROLES, filter=False))
        if role is not None and (mistake := await store_setting(desk, f"models.{role}", action.model)):
            desk.report(mistake, "error")


def _item(model: UsableModel, now: str) -> Item:
    provider, _, _ = model.name.partition("/")
    facts = ["now"] if model.name == now else []
    facts += [", ".join(model.roles)] if model.roles else []
    facts += [f"{model.context // 1000}k context"] if model.context else []
    if model.price_in is not None and model.price_out is not None:
        facts.append(f"${model.price_in:g}/${model.price_out:g}")
    facts += ["thinks"] if model.thinking else []
    facts += ["sees"] if model.images else []
    return Item(model.name, model.name, " · ".join(facts), f"{provider} ({model.found})")


def model_now(desk: Desk) -> str:
    state = ModelState.among(desk.state.state)
    return (state.name if state else "") or desk.state.model
