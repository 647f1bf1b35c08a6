"""`/theme`: light, dark, or as the terminal is. The one that is highlighted is shown at once."""

from sightline.tty.components import Item
from sightline.views.console._desk import Desk
from sightline.views.console.selectors._panel import ChoicePanel
from sightline.views.console.selectors._setting_changes import store_setting

_THEMES = (
    Item("auto", "auto", "match the terminal's background"),
    Item("dark", "dark", "for a dark background"),
    Item("light", "light", "for a light background"),
)


async def open(desk: Desk, args: str) -> None:
    before = desk.settings.console.theme
    names = [item.value for item in _THEMES]
    chosen = args.strip() or await _chosen(desk, before)
    if chosen is None:
        desk.set_theme(before)
        return
    if chosen not in names:
        desk.report(f"no theme {chosen}", "error", f"one of {', '.join(names)}")
        return
    desk.set_theme(chosen)
    if mistake := await store_setting(desk, "console.theme", chosen):
        desk.report(mistake, "error")


async def _chosen(desk: Desk, before: str) -> str | None:
    panel = ChoicePanel(desk, "Theme", _THEMES, filter=False, at=before)
    panel.list.on_highlight = lambda item: desk.set_theme(item.value)
    chosen: str | None = await desk.ask(panel)
    return chosen
