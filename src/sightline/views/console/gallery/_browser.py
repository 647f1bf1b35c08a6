"""The interactive gallery: scenes in a transcript, and below it a prompt to find them by name.

A scene stays on the screen as history, and the next one comes after it. A state that can be tried is shown once more
below everything else, and has the keys until the user takes them back.

In linear mode, entering a name shows a scene. What moves is written when it ends, so it ends soon: after a moment, and
whenever a line is entered.
"""

from collections.abc import Callable, Sequence

from sightline.tty import (
    Application,
    Attributes,
    Component,
    Depth,
    Input,
    Key,
    Overlay,
    OverlayHandle,
    Rows,
    Terminal,
    matches,
    run_application,
)
from sightline.tty.components import BlockColumn, Box, Item, KeyHints, SelectList, Spacer, TextComponent
from sightline.tty.components import Input as Prompt
from sightline.tty.frame._scheduler import Timer
from sightline.views.console.gallery._printed import Above, Look, caption, heading
from sightline.views.console.gallery._scene import Scene, SceneState, Stage
from sightline.views.console.gallery.scenes import SCENES
from sightline.views.console.paint._first_paint import FirstPaint
from sightline.views.console.paint._gallery_paint import HINTS, PLACEHOLDER, PROMPT, TITLE

_HELP = """\
tab, down      the next scene
shift+tab, up  the one before
letters        find scenes by name; up and down choose, enter shows
enter          try what was shown: lists, editors, dialogs
ctrl+c         from what is tried to the prompt; there clear it, then quit
escape         the same, unless what is tried needs the key
f6             the next thing to try in this scene
ctrl+t         dark or light, unless what is tried needs the key
ctrl+l         clear the screen and draw everything anew
ctrl+z         to the shell; `fg` comes back
q, ctrl+d      quit, when nothing is typed"""
_LINEAR_HELP = """\
a name         shows that scene; some of its letters are enough
enter          the next scene
try            asks what this scene asks; a number answers
?              this help
q, ctrl+d      quit"""
_MOVES_FOR = 2.0
_GLANCE = 0.2
"""Seconds in linear mode: how long something moves before it is written; between two looks at an open dialog."""
_TYPING = (("enter", "show"), ("up/down", "choose"), ("escape", "clear"))
_TRYING = (("f6", "next to try"),)
_KEYS_ELSEWHERE = "keys go to what is tried; ctrl+c: back to the prompt"
_MATCHES = 6


class _Matches(Component):
    """The list of scenes that match the typed text; empty while nothing is typed."""

    def __init__(self, choices: SelectList) -> None:
        self.choices = choices
        self.shown = False

    def render(self, width: int) -> Rows:
        return self.choices.render(width) if self.shown else ()

    def invalidate(self) -> None:
        self.choices.invalidate()


class LiveStage(Stage):
    """A stage that moves: it puts components into a transcript; `clear` ends all that still move."""

    moving = True

    def __init__(self, application: Application, transcript: BlockColumn) -> None:
        super().__init__(application.theme, bindings=application.bindings, images=application.display.images)
        self._run_program = application.run_program
        self._display = application.display
        self._loop = application.loop
        self._transcript = transcript
        self._scene = 0
        self._live: list[Component] = []

    def put(self, component: Component, *, live: bool) -> None:
        self._transcript.append(component, live=live)
        if live:
            self._live.append(component)

    def clear(self) -> None:
        """End the scene: what it still shows stays as it is."""
        self._scene += 1
        for component in self._live:
            component.dispose()
            self._transcript.finish(component)
        self._live = []

    def call_later(self, delay: float, callback: Callable[[], None]) -> Timer:
        scene = self._scene
        return self._loop.call_later(delay, lambda: callback() if scene == self._scene else None)

    def request_render(self, component: Component) -> None:
        self._display.request_render(component)

    def finish(self, component: Component) -> None:
        if component in self._live:
            self._live.remove(component)
            self._transcript.finish(component)
            self._display.request_render(component)

    def show_overlay(self, component: Component, overlay: Overlay) -> OverlayHandle:
        return self._display.show_overlay(component, overlay)

    def run_program(self, argv: Sequence[str]) -> int:
        return self._run_program(argv)

    def report(self, text: str) -> None:
        self._transcript.append(TextComponent(f"→ {text}", "success", theme=self.theme))


class Browser:
    """The gallery in an application's display."""

    def __init__(self, application: Application, scenes: Sequence[Scene]) -> None:
        self._application = application
        self._display = application.display
        self._theme = application.theme
        self._scenes = scenes
        self._transcript = BlockColumn(gap=0)
        self._stage = LiveStage(application, self._transcript)
        self._at = -1
        self._tried: SceneState | None = None
        self._try_number = 0
        self._help: OverlayHandle | None = None
        self._ending: Timer | None = None
        self._build()

    def _build(self) -> None:
        theme, bindings = self._theme, self._application.bindings
        self.prompt = Prompt(prompt=PROMPT, placeholder=PLACEHOLDER, bindings=bindings, theme=theme)
        self.prompt.on_change = self._typed
        items = [Item(scene.name, scene.name, scene.about) for scene in self._scenes]
        self._matches = _Matches(SelectList(items, _MATCHES, bindings=bindings, theme=theme))
        self._hints = KeyHints(HINTS, theme=theme)
        self._transcript.append(TextComponent(TITLE, wrap=False, theme=theme))
        for component in (self._transcript, Spacer(), self.prompt, self._matches, self._hints):
            self._display.add(component)
        self._display.set_focus(self.prompt)
        self._display.add_input_listener(self._on_input)

    def show(self, number: int) -> None:
        """Show a scene; the first follows the last."""
        self._take_back_keys()
        self.close()
        self._at = number % len(self._scenes)
        self._try_number = 0
        scene = self._scenes[self._at]
        self._transcript.append(Above(lambda width: heading(scene, self._theme, width)))
        for state in scene.states(self._stage):
            self._append(state)
        self.type("")
        self._end_soon(_MOVES_FOR)

    def close(self) -> None:
        """End the scene."""
        if self._ending is not None:
            self._ending.cancel()
            self._ending = None
        self._stage.clear()

    def _end_soon(self, delay: float) -> None:
        if self._application.linear:
            self._ending = self._application.loop.call_later(delay, self._end_unless_asking)

    def _end_unless_asking(self) -> None:
        if self._display.visible_overlays():
            return self._end_soon(_GLANCE)
        self.close()
        return self._display.request_render()

    def _append(self, state: SceneState) -> None:
        self._transcript.append(Above(lambda width: caption(state, self._theme, width)))
        self._stage.put(state.component, live=state.live)

    # ---- keys

    def _on_input(self, event: Input) -> Input | None:
        """Handle keys before any component. Others are returned."""
        if self._help is not None:
            return self._close_help(event)
        if self._display.focus.component not in (self.prompt, self._tried and self._tried.component):
            return Key("escape") if matches(event, "ctrl+c") else event  # a dialog is open
        if self._tried is not None:
            return self._on_key_trying(self._tried, event)
        if matches(event, "ctrl+t"):
            self._switch_theme()
            return None
        return self._on_key_typing(event) if self.prompt.text else self._on_key_browsing(event)

    def _switch_theme(self) -> None:
        self._application.choose_look(dark=not self._theme.dark)

    def _on_key_browsing(self, event: Input) -> Input | None:
        if matches(event, "tab") or matches(event, "down") or matches(event, "right"):
            self.show(self._at + 1)
        elif matches(event, "shift+tab") or matches(event, "up") or matches(event, "left"):
            self.show(max(self._at, 0) - 1)
        elif matches(event, "enter"):
            self._try()
        elif matches(event, "?"):
            self._open_help()
        elif any(matches(event, key) for key in ("q", "escape", "ctrl+d")):
            self._application.exit()
        elif matches(event, "ctrl+c"):
            self._application.exit(130)
        else:
            return event
        return None

    def _on_key_typing(self, event: Input) -> Input | None:
        choices = self._matches.choices
        if matches(event, "enter"):
            self._enter(self.prompt.text.strip())
        elif matches(event, "down") or matches(event, "tab"):
            choices.move(1)
        elif matches(event, "up") or matches(event, "shift+tab"):
            choices.move(-1)
        elif matches(event, "escape") or matches(event, "ctrl+c"):
            self.type("")
        else:
            return event
        return None

    def _enter(self, text: str) -> None:
        names = [scene.name for scene in self._scenes]
        highlighted = self._matches.choices.highlighted
        if self._application.linear and text == "try":
            self.type("")
            self._try_on_lines()
        elif highlighted is not None:
            self.show(names.index(text if text in names else highlighted.value))
        elif self._application.linear:
            self.type("")
            self._write(f"There is no scene {text!r}. {_near(text, names)} Enter ? for help.")

    def _write(self, text: str) -> None:
        """In linear mode: end what moves, it would hold back the text."""
        self.close()
        self._transcript.append(TextComponent(text, theme=self._theme))

    def _on_key_trying(self, tried: SceneState, event: Input) -> Input | None:
        if matches(event, "ctrl+c"):
            self._take_back_keys()
        elif matches(event, "f6"):
            self._take_back_keys()
            self._try_number += 1
            self._try()
        elif matches(event, "escape"):
            if not tried.component.handle_input(event):
                self._take_back_keys()
        elif matches(event, "ctrl+t"):
            if not tried.component.handle_input(event):
                self._switch_theme()
        else:
            return event
        return None

    def _typed(self, text: str) -> None:
        self._matches.choices.set_query(text)
        self._matches.shown = bool(text)
        self._hints.set_hints(_TYPING if text else HINTS)

    def type(self, text: str) -> None:
        """Put a text into the prompt."""
        self.prompt.set_text(text)
        self._typed(text)

    # ---- trying

    def _try(self) -> None:
        """Show the next state that can be tried, with the keys; without one, show the next scene."""
        if self._at < 0 or self._application.linear:
            return self.show(self._at + 1)
        self.close()
        states = [state for state in self._scenes[self._at].states(self._stage) if state.interactive]
        if not states:
            return self.show(self._at + 1)
        state = states[self._try_number % len(states)]
        self._append(SceneState(f"try: {state.caption}", state.component, live=True))
        if state.attempt is not None:
            return state.attempt()
        self._tried = state
        self._display.set_focus(state.component)
        self.prompt.set_placeholder(_KEYS_ELSEWHERE)
        self._hints.set_hints((*state.keys, *_TRYING))
        return None

    def _try_on_lines(self) -> None:
        """Try a dialog: only dialogs can be answered with lines."""
        self.close()
        states = list(self._scenes[self._at].states(self._stage)) if self._at >= 0 else []
        for state in states:
            if state.attempt is not None:
                self._append(SceneState(f"try: {state.caption}", state.component, live=True))
                state.attempt()
                return self._end_soon(_GLANCE)
        return self._write("Nothing here asks anything. The overlay scene does: enter overlay, then try.")

    def _take_back_keys(self) -> None:
        if self._tried is None:
            return
        self._tried = None
        self.prompt.set_placeholder(PLACEHOLDER)
        self._display.set_focus(self.prompt)
        self._stage.clear()
        self._typed(self.prompt.text)

    # ---- help

    def _open_help(self) -> None:
        if self._application.linear:
            return self._write(_LINEAR_HELP)
        box = Box(TextComponent(_HELP, theme=self._theme), title="Keys", border_role="border_active", theme=self._theme)
        self._help = self._display.show_overlay(box, Overlay(anchor="center", width=78))
        return None

    def _close_help(self, event: Input) -> Input | None:
        if isinstance(event, Key) and event.kind != "release" and self._help is not None:
            self._help.hide()
            self._help = None
        return None


def _near(text: str, names: Sequence[str]) -> str:
    from difflib import get_close_matches

    found = get_close_matches(text, names, n=3, cutoff=0.4)
    return f"Did you mean {', '.join(found)}?" if found else f"There are {', '.join(names)}."


def browse(
    *,
    first: str = "",
    look: Look | None = None,
    depth: Depth | None = None,
    painted: FirstPaint | None = None,
    before: Attributes | None = None,
) -> int:
    """Run the gallery, in a look and colour depth if they were chosen. `before` are the modes the first paint found.
    Returns the exit code."""
    terminal = Terminal()
    browsers: list[Browser] = []

    def start(application: Application) -> None:
        if look is not None or depth is not None:
            application.choose_look(dark=None if look is None else look == "dark", colours=depth)
        browser = Browser(application, SCENES)
        browsers.append(browser)
        if painted is not None:
            application.display.adopt(painted.rows, painted.cursor, painted.size)
            browser.type(painted.text)
        # In linear mode a scene is shown when its name is entered: the help comes first.
        if first or not (application.linear or browser.prompt.text):
            browser.show([scene.name for scene in SCENES].index(first) if first else 0)

    if painted is not None:
        painted.is_ours, terminal.farewell = False, painted.erase
    try:
        return run_application(start, terminal=terminal, before=before, typed=painted.rest if painted else b"")
    finally:
        for browser in browsers:
            browser.close()
