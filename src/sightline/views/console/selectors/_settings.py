"""`/settings`: every setting with its description, value and source, changed in place.

Changes are written into the user's file, or the project's (`list_project`), and take effect at once where they can. An
invalid value is not written, and the reason is shown. The search stays until it is cleared.
"""

import asyncio
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import msgspec

from sightline.exceptions import SightlineError
from sightline.settings._fields import kind_at
from sightline.settings._toml import split_key
from sightline.settings.editing import HIDDEN, EffectiveSetting, about, shown_settings, written
from sightline.text import clean_line
from sightline.tty import Rows
from sightline.tty.components import Item, TextComponent
from sightline.views._levels import LEVELS
from sightline.views.console._desk import Desk
from sightline.views.console.selectors import _thinking
from sightline.views.console.selectors._panel import ChoicePanel, QuestionPanel
from sightline.views.console.selectors._setting_changes import reset_setting, store_setting

_SHOWN = 200
_VALUES = {
    "permissions.approval": LEVELS,
    "models.thinking": _thinking.ABOUT,
    "console.theme": {"auto": "match the terminal's background"},
    "console.keymap": {"emacs": "the usual keys of a shell", "vim": "modes, as in vim"},
    "console.double_escape": {
        "tree": "go to another point of this session",
        "branch": "start a new session from an earlier prompt",
        "none": "nothing",
    },
}
"""What each value of a setting means."""


class _SettingAction(msgspec.Struct, frozen=True):
    what: Literal["reset", "place"]
    name: str = ""


async def open(desk: Desk, args: str) -> None:
    at, query, project = "", args.strip(), False
    while True:
        try:
            settings, notices = await asyncio.to_thread(shown_settings, Path(desk.cwd))
        except SightlineError as error:
            desk.report(error.message, "error", error.hint)
            return
        panel = _panel(desk, settings, notices, at, query, project)
        chosen = await desk.ask(panel)
        query = panel.list.query
        match chosen:
            case None:
                return
            case _SettingAction(what="place"):
                project, at = not project, chosen.name
            case _SettingAction():
                at = chosen.name
                if mistake := await reset_setting(desk, at, project=project):
                    desk.report(mistake, "error")
            case str():
                at = chosen
                await _edited(desk, next(each for each in settings if each.key == at), project)


class SettingsPanel(ChoicePanel):
    """Below the list: what the highlighted setting does, what it may be, and its default."""

    def __init__(self, desk: Desk, settings: list[EffectiveSetting], **options: Any) -> None:
        self._settings = {each.key: each for each in settings}
        self._about = TextComponent("", "muted", theme=desk.drawing.theme)
        super().__init__(desk, "Settings", [_item(each) for each in settings], **options)
        self.body.children.append(self._about)

    def render(self, width: int) -> Rows:
        at = self.list.highlighted
        self._about.set_text(_explained(self._settings[at.value]) if at is not None else "")
        if len(self._about.render(width)) > self.room - 2 - max(5, self.desk.height // 2):
            self._about.set_text("")
        return super().render(width)


def _explained(each: EffectiveSetting) -> str:
    what = about(split_key(each.key))
    value = f"{_capital(each.allowed)}; default: {_text(each.default) or 'empty'}"
    return clean_line(f"{_capital(what)}. {value}" if what else value)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _panel(
    desk: Desk, settings: list[EffectiveSetting], notices: list[str], at: str, query: str, project: bool
) -> ChoicePanel:
    panel: SettingsPanel = SettingsPanel(
        desk,
        settings,
        at=at,
        query=query,
        hints=(("list_remove", "reset"), ("list_project", "project or user")),
        keys={
            "list_remove": lambda item: panel.finish(_SettingAction("reset", item.value)),
            "list_project": lambda item: panel.finish(_SettingAction("place", item.value)),
        },
    )
    whose = "changes go to this project's settings" if project else "changes go to your settings"
    panel.heading.set_note(" · ".join([whose, *map(clean_line, notices)]))
    return panel


def _item(each: EffectiveSetting) -> Item:
    counting = [given.source for given in each.sources if given.counts]
    source = f" · {clean_line(counting[-1].where)}" if counting else ""
    return Item(each.key, each.key, f"{_text(each.value)}{source}", each.key.partition(".")[0])


async def _edited(desk: Desk, each: EffectiveSetting, project: bool) -> None:
    """Ask until the value is valid, or the user closes it."""
    mistake, text = "", "" if each.value == HIDDEN else _text(each.value)
    while True:
        answer = await desk.ask(_editor(desk, each, text, mistake))
        if answer is None:
            return
        mistake, text = await store_setting(desk, each.key, answer, project=project), answer
        if not mistake:
            return


def _editor(desk: Desk, each: EffectiveSetting, text: str, mistake: str) -> ChoicePanel | QuestionPanel:
    kind = kind_at(split_key(each.key))
    values = ["true", "false"] if kind is bool else list(get_args(kind)) if get_origin(kind) is Literal else []
    if values:
        items = [Item(value, value, _meaning(each, value)) for value in values]
        panel = ChoicePanel(desk, each.key, items, filter=False, at=text)
        panel.heading.set_note(mistake)
        panel.body.children.append(TextComponent(_explained(each), "muted", theme=panel.theme))
        return panel
    return QuestionPanel(desk, each.key, text=text, about=_explained(each), mistake=mistake)


def _meaning(each: EffectiveSetting, value: str) -> str:
    meaning = _VALUES.get(each.key, {}).get(value, "")
    return " · ".join([*([meaning] if meaning else []), *(["default"] if value == _text(each.default) else [])])


def _text(value: object) -> str:
    """As it is typed: a list with commas."""
    if value is None:
        return ""
    if isinstance(value, str):
        return clean_line(value)[:_SHOWN]
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return clean_line(", ".join(value))
    return clean_line(written(value))[:_SHOWN]
