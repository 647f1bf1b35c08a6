"""An extension with both halves: a picker of its own in place of the editor, and a tool whose calls it draws itself.

`/profile` asks for a profile; the model may ask too, with the tool `choose_profile`. Copy it into the folder
`extensions` beside your settings, or into `.sightline/extensions` of a project you trust. The profiles can be set:

    [extensions.options.profiles]
    profiles = { fast = "answers soon", balanced = "for every day", quality = "takes its time" }

`setup` runs in the session's host, `console` in the console; what passes between them is plain data.
How that works: docs/guide/extensions.md
"""

from collections.abc import Callable
from typing import Any

from sightline.extension import (
    Bindings,
    Component,
    ConsoleUi,
    Extension,
    Key,
    Outcome,
    Paste,
    RenderOptions,
    Result,
    Rows,
    Theme,
    ToolContext,
    expand_tabs,
    truncate,
)
from sightline.tty.components import Item, SelectList, TextComponent

PROFILES = {"fast": "answers soon", "balanced": "for every day", "quality": "takes its time"}


def setup(extension: Extension) -> None:
    profiles: dict[str, str] = (extension.options or {}).get("profiles", PROFILES)
    ui = extension.ui

    @extension.command("profile")
    async def profile(args: str) -> str | None:
        """`/profile`, `/profile over` (as an overlay), `/profile fast`."""
        if args in profiles:
            return use(args)
        if not ui.has_ui:
            return f"Name one: {', '.join(profiles)}."
        picked = await ui.custom("picker", {"profiles": profiles}, overlay=args == "over", title="Pick a profile")
        return use(picked) if picked in profiles else None

    @extension.tool
    async def choose_profile(why: str, context: ToolContext) -> Outcome:
        """Let the person choose how thorough the work is to be. `why` is shown to them."""
        if not ui.has_ui:
            return Outcome(text="Nobody is there to choose; go on with balanced.", details={"picked": "balanced"})
        picked = await ui.select("Which profile?", list(profiles), message=why)
        if picked is None:
            return Outcome(text="The person did not choose.", details={"picked": None})
        use(picked)
        return Outcome(text=f"The person chose {picked}.", details={"picked": picked})

    @extension.on("session_start")
    def show_again() -> None:
        if extension.kept is not None:
            ui.set_status("profile", extension.kept)

    def use(name: str) -> str:
        extension.keep(name)
        ui.set_status("profile", name)
        return f"The profile is {name}."


def console(ui: ConsoleUi) -> None:
    @ui.component("picker")
    def picker(props: Any, theme: Theme, bindings: Bindings, done: Callable[[Any], None]) -> Component:
        items = [Item(name, name.title(), about) for name, about in props["profiles"].items()]
        return Picker(items, theme, bindings, done)

    ui.renderer("choose_profile", render_call=render_call, render_result=render_result)


class Picker(Component):
    """A list; the person's own keys end it."""

    def __init__(self, items: list[Item], theme: Theme, bindings: Bindings, done: Callable[[Any], None]) -> None:
        self._list = SelectList(items, 8, bindings=bindings, theme=theme)
        self._list.on_select = lambda item: done(item.value)
        self._bindings = bindings
        self._done = done
        self._rows: tuple[Rows, int, list[str]] | None = None

    def handle_input(self, event: Key | Paste) -> bool:
        if self._bindings.matches(event, "interrupt"):
            self._done(None)
            return True
        return self._list.handle_input(event)

    def render(self, width: int) -> Rows:
        """The same rows as long as the list gives the same: that is how the screen knows that nothing changed."""
        rows = self._list.render(width)
        if self._rows is None or self._rows[0] is not rows or self._rows[1] != width:
            self._rows = (rows, width, [truncate(expand_tabs(row), width) for row in rows])
        return self._rows[2]

    def invalidate(self) -> None:
        self._list.invalidate()
        self._rows = None


def render_call(args: Any, options: RenderOptions, theme: Theme) -> Component:
    why = args.get("why", "") if isinstance(args, dict) else ""
    waiting = " (waiting for you)" if options.is_partial else ""
    return TextComponent(f"choosing a profile{waiting}: {why}", "accent", theme=theme)


def render_result(result: Result, options: RenderOptions, theme: Theme, args: Any) -> Component | None:
    picked = result.details.get("picked") if isinstance(result.details, dict) else None
    if result.is_error or picked is None:
        return None  # drawn as usual
    more = f"\n{result.content}" if options.expanded else ""
    return TextComponent(f"◆ {picked}{more}", "success", theme=theme)
