"""`/keys`: every action with its keys and where they work; another key is set by pressing it.

Changes are stored in `console.keys` and take effect at once. A key that would mean two things in one place has to be
pressed twice.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

from sightline.text import clean_line
from sightline.tty import Input, Key, Paste
from sightline.tty.components import Item, TextComponent
from sightline.tty.input._keys import KeySpecError, parse_key
from sightline.views.console._actions import ACTIONS, bindings_from
from sightline.views.console._desk import Desk
from sightline.views.console.selectors._panel import ChoicePanel, Panel
from sightline.views.console.selectors._setting_changes import reset_setting, store_value

_HELD_ALONE = ("shift", "ctrl", "alt", "super", "hyper", "meta", "level3", "level5")


class _KeyAction(msgspec.Struct, frozen=True):
    what: Literal["add", "reset"]
    action: str


async def open(desk: Desk, args: str) -> None:
    at = args.strip()
    while True:
        chosen = await desk.ask(_panel(desk, at))
        match chosen:
            case None:
                return
            case _KeyAction(what="reset"):
                at = chosen.action
                await _reset(desk, at)
            case _KeyAction():
                at = chosen.action
                await _bound(desk, at, desk.bindings.keys(at))
            case str():
                at = chosen
                await _bound(desk, at, ())


def _panel(desk: Desk, at: str) -> ChoicePanel:
    panel = ChoicePanel(
        desk,
        "Keys",
        [_item(desk, action) for action in sorted(desk.bindings.actions(), key=_order)],
        at=at,
        hints=(("list_add", "add a key"), ("list_remove", "reset")),
        keys={
            "list_add": lambda item: panel.finish(_KeyAction("add", item.value)),
            "list_remove": lambda item: panel.finish(_KeyAction("reset", item.value)),
        },
    )
    panel.heading.set_note("; ".join(map(clean_line, desk.bindings.problems)))
    return panel


def _item(desk: Desk, action: str) -> Item:
    keys = " ".join(desk.bindings.keys(action)) or "(none)"
    return Item(action, action, f"{keys} · {ACTIONS[action].about}", ACTIONS[action].scope)


def _order(action: str) -> int:
    """The console's own first; the others stay as they are listed."""
    return -1 if ACTIONS[action].scope == "console" else 0


async def _bound(desk: Desk, action: str, beside: tuple[str, ...]) -> None:
    """Ask for a key until one causes no conflict, or is confirmed, and store it."""
    mistake = ""
    while True:
        key: Key | None = await desk.ask(KeyQuestion(desk, action, mistake))
        if key is None:
            return
        keys = [*dict.fromkeys([*beside, str(key)])]
        overrides = {**_overrides(desk), action: keys}
        found = set(bindings_from(overrides).problems) - set(desk.bindings.problems)
        again = "; ".join(sorted(found))
        if found and mistake != again:  # the second press confirms it
            mistake = again
            continue
        desk.set_bindings(bindings_from(overrides))
        if problem := await store_value(desk, f"console.keys.{action}", keys):
            desk.report(problem, "error")
        return


async def _reset(desk: Desk, action: str) -> None:
    overrides = _overrides(desk)
    if action not in overrides:
        return
    if problem := await reset_setting(desk, f"console.keys.{action}"):
        desk.report(problem, "error")
        return
    desk.set_bindings(bindings_from(_overrides(desk)))


def _overrides(desk: Desk) -> dict[str, str | Sequence[str]]:
    return dict(desk.settings.console.keys)


class KeyQuestion(Panel):
    """Waits for one key, and answers with it. Escape and ctrl+c close it."""

    def __init__(self, desk: Desk, action: str, mistake: str = "") -> None:
        super().__init__(desk, f"Press the key for {action}", (("select_cancel", "cancel"),))
        about = TextComponent(ACTIONS[action].about, "muted", theme=self.theme)
        warning = f"{mistake}. Press it again to use it anyway" if mistake else ""
        self._warning = TextComponent(clean_line(warning), "warning", theme=self.theme)
        self.body.children = [about, self._warning]

    def react(self, event: Input) -> bool:
        if isinstance(event, Paste):
            self._written(event.text)
        elif event.name == "escape":
            self.finish(None)
        elif event.kind == "press" and not event.name.endswith(_HELD_ALONE):
            self.finish(event)
        return True

    def _written(self, spec: str) -> None:
        """The name of a key instead of the key: for one that cannot be pressed, and in linear mode."""
        try:
            self.finish(parse_key(spec))
        except KeySpecError as error:
            self._warning.set_text(clean_line(str(error)))
