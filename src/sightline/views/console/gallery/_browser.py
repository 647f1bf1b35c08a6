"""The gallery one walks through: scenes in a transcript, below it a prompt to find them by name.

What was shown stays, as history: the next scene comes after it. A state that can be tried is set up once more, below
everything else, so that it is in sight, and has the keys until the person takes them back.

On lines (linear mode) a name that is entered shows a scene. What moves there is written when it ends, so it ends soon:
after a moment, and whenever a line is entered.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sightline.tty import Application, Component, Input, Key, Overlay, OverlayHandle, Rows, matches
from sightline.tty.components import BlockColumn, Box, Item, KeyHints, SelectList, Spacer, TextComponent
from sightline.tty.components import Input as Prompt
from sightline.views.console.gallery._live import LiveStage
from sightline.views.console.gallery._printed import Above, caption, heading
from sightline.views.console.gallery._scene import Scene, SceneState
from sightline.views.console.paint._gallery_paint import HINTS, PLACEHOLDER, PROMPT, TITLE

if TYPE_CHECKING:
    import asyncio

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
_GOES_ON = 2.0
_GLANCE = 0.2
"""On lines: how long what moves may go on before it is written as it is; how often an open dialog is looked after."""
_TYPING = (("enter", "show"), ("up/down", "choose"), ("escape", "clear"))
_TRYING = (("f6", "next to try"),)
_KEYS_ELSEWHERE = "keys go to what is tried; ctrl+c: back to the prompt"
_MATCHES = 6


class _Matches(Component):
    """The list of scenes that fit what is typed; nothing while nothing is."""

    def __init__(self, choices: SelectList) -> None:
        self.choices = choices
        self.shown = False

    def render(self, width: int) -> Rows:
        return self.choices.render(width) if self.shown else ()

    def invalidate(self) -> None:
        self.choices.invalidate()


class Browser:
    """Fills an application's display, and reacts."""

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
        self._ending: asyncio.TimerHandle | None = None
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
        self._display.add_input_listener(self._hear)

    def type(self, text: str) -> None:
        """What somebody typed before there was a prompt."""
        self.prompt.set_text(text)
        self._typed(text)

    def show(self, number: int) -> None:
        """Show a scene; past either end comes the other."""
        self._take_back_keys()
        self._end_scene()
        self._at = number % len(self._scenes)
        self._try_number = 0
        scene = self._scenes[self._at]
        self._transcript.append(Above(lambda width: heading(scene, self._theme, width)))
        for state in scene.states(self._stage):
            self._append(state)
        self._set_prompt("")
        self._end_soon(_GOES_ON)

    def close(self) -> None:
        self._end_scene()

    def _end_scene(self) -> None:
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
        self._end_scene()
        return self._display.request_render()

    def _append(self, state: SceneState) -> None:
        self._transcript.append(Above(lambda width: caption(state, self._theme, width)))
        self._stage.put(state.component, live=state.live)

    # ---- keys

    def _hear(self, event: Input) -> Input | None:
        """Keys before any component gets them. What means nothing here goes on."""
        if self._help is not None:
            return self._close_help(event)
        if self._display.focus.component not in (self.prompt, self._tried and self._tried.component):
            return Key("escape") if matches(event, "ctrl+c") else event  # a dialog is open
        if self._tried is not None:
            return self._hear_trying(self._tried, event)
        if matches(event, "ctrl+t"):
            self._turn()
            return None
        return self._hear_typing(event) if self.prompt.text else self._hear_walking(event)

    def _turn(self) -> None:
        """Dark or light."""
        self._application.choose_look(dark=not self._theme.dark)

    def _hear_walking(self, event: Input) -> Input | None:
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

    def _hear_typing(self, event: Input) -> Input | None:
        choices = self._matches.choices
        if matches(event, "enter"):
            self._enter(self.prompt.text.strip())
        elif matches(event, "down") or matches(event, "tab"):
            choices.move(1)
        elif matches(event, "up") or matches(event, "shift+tab"):
            choices.move(-1)
        elif matches(event, "escape") or matches(event, "ctrl+c"):
            self._set_prompt("")
        else:
            return event
        return None

    def _enter(self, text: str) -> None:
        names = [scene.name for scene in self._scenes]
        highlighted = self._matches.choices.highlighted
        if self._application.linear and text == "try":
            self._set_prompt("")
            self._try_on_lines()
        elif highlighted is not None:
            self.show(names.index(text if text in names else highlighted.value))
        elif self._application.linear:
            self._set_prompt("")
            self._say(f"There is no scene {text!r}. {_near(text, names)} Enter ? for help.")

    def _say(self, text: str) -> None:
        """On lines: what goes on would keep it from being written."""
        self._end_scene()
        self._transcript.append(TextComponent(text, theme=self._theme))

    def _hear_trying(self, tried: SceneState, event: Input) -> Input | None:
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
                self._turn()
        else:
            return event
        return None

    def _typed(self, text: str) -> None:
        self._matches.choices.set_query(text)
        self._matches.shown = bool(text)
        self._hints.set_hints(_TYPING if text else HINTS)

    def _set_prompt(self, text: str) -> None:
        self.prompt.set_text(text)
        self._typed(text)

    # ---- trying

    def _try(self) -> None:
        """Set the next thing up that can be tried, and give it the keys; without one, go on to the next scene."""
        if self._at < 0 or self._application.linear:
            return self.show(self._at + 1)
        self._end_scene()
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
        """Only what asks by itself can be answered with lines."""
        self._end_scene()
        states = list(self._scenes[self._at].states(self._stage)) if self._at >= 0 else []
        for state in states:
            if state.attempt is not None:
                self._append(SceneState(f"try: {state.caption}", state.component, live=True))
                state.attempt()
                return self._end_soon(_GLANCE)
        return self._say("Nothing here asks anything. The overlay scene does: enter overlay, then try.")

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
            return self._say(_LINEAR_HELP)
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
