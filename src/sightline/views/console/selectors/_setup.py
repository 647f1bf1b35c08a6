"""`/setup`: choosing a first model. It opens by itself where there is neither key nor server.

Four ways: paste an API key, use an installed CLI, use a local server, play the demo. A key is checked with one request
before it is stored; while it is typed only dots are shown, and no part of it goes into the history or the draft.
"""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from sightline.exceptions import SightlineError
from sightline.host import SetModel
from sightline.settings import store_key, with_stored_keys
from sightline.settings.editing import settings_file
from sightline.text import clean_line
from sightline.tty import Component, Input, Key, Paste, Rows, Theme, truncate
from sightline.tty.components import Item, TextComponent
from sightline.views.console._desk import Desk, accepted
from sightline.views.console.selectors._panel import ChoicePanel, Panel, QuestionPanel
from sightline.views.console.selectors._setting_changes import store_setting
from sightline.views.console.status._facts import Facts

if TYPE_CHECKING:
    from sightline.models.choice._discovery import KeyVendor
    from sightline.views.console._console import Console

_KEY, _SERVER, _DEMO = "key", "server", "demo"
_CLIS = {"claude": "Claude Code", "codex": "Codex", "gemini": "Gemini CLI", "opencode": "OpenCode"}
_SERVER_NAME = "local"
_SERVER_URL = "http://localhost:11434/v1"
VARIABLES = "ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or OPENROUTER_API_KEY"
_VARIABLE_WAY = f"set {VARIABLES} in your shell, and start again"
_SHOWN_DOTS = 40

P = ParamSpec("P")
T = TypeVar("T")


async def open(console: "Console", args: str) -> None:
    if not console.sessions.lasting:  # where a key would be stored is deleted with the demo
        hint = "leave with ctrl+d, then run sightline and enter /setup there"
        console.report("The demo stores nothing, so a key would be lost", hint=hint)
        return
    if console.drawing.linear:  # what is typed on a line is echoed by the terminal
        console.report(
            "To use a model", hint=f"{_VARIABLE_WAY}; or start with --provider claude, codex, gemini or opencode"
        )
        return
    await offer(console, above=False)


async def offer(console: "Console", *, above: bool, yields_to_draft: bool = False) -> bool:
    """Ask until there is a model, or the user closes it. `above`: above the editor, unless another dialog is open by
    then. Whether it was shown."""
    at = ""
    while True:
        installed = await asyncio.to_thread(installed_clis)
        if above and (console.screen.asking is not None or not Facts(console.state).lacks_model):
            return False  # meanwhile another session may be shown
        panel = SetupPanel(console, installed, at)
        panel.yields_to_draft = yields_to_draft
        at = await (console.ask(panel, above=True) if above else console.ask(panel))
        above = False
        if at is None:
            console.report("No model yet", hint="/setup opens this again")
            return True
        if await _done(console, at):
            return True


class SetupPanel(ChoicePanel):
    """Answers with one of the ways to a model."""

    def __init__(self, desk: Desk, installed: list[str], at: str) -> None:
        super().__init__(desk, "Choose a model to work with", _items(installed), filter=False, at=at)
        self.body.children.insert(0, TextComponent(f"Choose one, or {_VARIABLE_WAY}.", "muted", theme=self.theme))


def installed_clis() -> list[str]:
    from sightline.exec import UntrustedProgram, find_program

    found = []
    for name in _CLIS:
        with suppress(UntrustedProgram):
            found += [name] if find_program(name) else []
    return found


def _items(installed: list[str]) -> list[Item]:
    items = [Item(_KEY, "Paste an API key", "Anthropic, OpenAI, Google Gemini or OpenRouter")]
    items += [Item(name, f"Use {_CLIS[name]}", f"{name} is installed; it uses its own login") for name in installed]
    items.append(Item(_SERVER, "Use a local server", "any OpenAI-compatible URL, such as Ollama or llama.cpp"))
    items.append(Item(_DEMO, "Play the demo", "no key needed"))
    return items


async def _done(console: "Console", choice: str) -> bool:
    """Whether the screen can close."""
    if choice == _KEY:
        return await _pasted(console)
    if choice == _SERVER:
        return await _served(console)
    if choice == _DEMO:
        _play_demo(console)
        return False
    await console.sessions.use_provider(choice)
    console.report(f"{_CLIS[choice]} works in this session", hint=f"next time: sightline --provider {choice}")
    return True


async def _pasted(console: "Console") -> bool:
    from sightline.models.choice._keys import TITLES, could_be_key, key_problem, vendor_of_key

    mistake = ""
    while (key := await console.ask(KeyPanel(console, mistake))) is not None:
        if not could_be_key(key):
            mistake = "This is not an API key: it has spaces, or is too short. Paste the key alone."
            continue
        vendor = vendor_of_key(key) or await _whose(console)
        if vendor is None:
            mistake = ""
            continue
        checking = Checking(console, f"Checking the key with {TITLES[vendor.name]}…")
        problem = await checking.answer(key_problem, vendor, key, dict(os.environ))
        if problem is None:
            mistake = ""
            continue
        if problem:
            mistake = f"{clean_line(problem).replace(key, '…')}. It was not stored."
            continue
        try:
            file = await asyncio.to_thread(store_key, vendor.keys[0], key)
        except SightlineError as error:
            mistake = f"The key was not stored: {clean_line(error.message)}. {clean_line(error.hint)}"
            continue
        console.report(f"The {TITLES[vendor.name]} key {_masked(key)} is stored in {file}, readable by you alone")
        return await _use_best(console)
    return False


async def _whose(console: "Console") -> "KeyVendor | None":
    from sightline.models.choice._discovery import VENDORS
    from sightline.models.choice._keys import TITLES

    items = [Item(one.name, TITLES[one.name], one.keys[0]) for one in VENDORS]
    name = await console.ask(ChoicePanel(console, "Whose key is this?", items, filter=False))
    return next((one for one in VENDORS if one.name == name), None)


async def _served(console: "Console") -> bool:
    about = f"Press enter for {_SERVER_URL}, or type another address."
    mistake = text = ""
    while True:
        question = QuestionPanel(
            console,
            "Use a local server",
            text=text,
            about=about,
            mistake=mistake,
            placeholder=_SERVER_URL,
            confirm="check and use",
        )
        answer = await console.ask(question)
        if answer is None:
            return False
        text = answer.strip()
        address = text or _SERVER_URL
        url = address if "://" in address else f"http://{address}"
        found = await Checking(console, f"Asking {clean_line(url)} for its models…").answer(_server_at, url)
        if found is None:
            continue
        url, problem = found
        if problem:
            mistake = f"No models at {clean_line(url)}: {clean_line(problem)}"
            continue
        if mistake := await store_setting(console, f"models.servers.{_SERVER_NAME}.base_url", url):
            continue
        file = settings_file(Path(console.cwd), project=False)
        console.report(f"The server {clean_line(url)} is stored in {file}")
        return await _use_best(console)


def _server_at(url: str) -> tuple[str, str]:
    """The address that lists its models, there or at /v1 below it, and why not; empty: it does."""
    from sightline.models.choice._keys import server_problem

    problem = server_problem(url)
    below = f"{url.rstrip('/')}/v1"
    if problem and not url.rstrip("/").endswith("/v1") and not server_problem(below):
        return below, ""
    return url, problem


async def _use_best(console: "Console") -> bool:
    """Switch to the best model there is."""
    from sightline.models import default_model

    try:
        name, _ = await asyncio.to_thread(default_model, console.settings, with_stored_keys(os.environ))
    except SightlineError as error:
        console.report(error.message, "error", error.hint)
        return True
    if await accepted(console, SetModel(model=name)) is not None:
        console.report(f"{name} works from now on, in new sessions as well", hint="/model chooses another")
    return True


def _play_demo(console: "Console") -> None:
    from sightline._working_folder import python_words

    console.application.run_program([*python_words("sightline"), "demo"])
    console.replay()


def _masked(key: str) -> str:
    return f"{key[:3]}…{key[-4:]}" if len(key) >= 20 else "…"


class SecretLine(Component):
    """A line of which only the length is shown. It has no undo, no history and no clipboard."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self.text = ""

    def render(self, width: int) -> Rows:
        if not self.text:
            return (self._theme.style("hint", truncate("› paste the key here", width)),)
        dots = "•" * min(len(self.text), _SHOWN_DOTS)
        return (truncate(f"› {dots} {len(self.text)} characters", width),)

    def handle_input(self, event: Input) -> bool:
        if isinstance(event, Paste):
            self.text += event.text.strip()
        elif not isinstance(event, Key) or event.kind == "release":
            return False
        elif event.name == "backspace":
            self.text = self.text[:-1]
        elif event.name == "u" and event.ctrl:
            self.text = ""
        elif event.text and event.text.isprintable():
            self.text += event.text
        else:
            return False
        return True


class KeyPanel(Panel):
    """Answers with the text that was pasted or typed."""

    cancel_closes = True

    def __init__(self, desk: Desk, mistake: str) -> None:
        super().__init__(desk, "Paste an API key", (("submit", "check and store"), ("select_cancel", "back")))
        self.line = SecretLine(self.theme)
        about = f"It is checked with one request to its provider and stored for you alone. Or {_VARIABLE_WAY}."
        error = TextComponent(mistake, "error", theme=self.theme)
        self.body.children = [TextComponent(about, "muted", theme=self.theme), self.line, error]

    def react(self, event: Input) -> bool:
        if self.desk.bindings.matches(event, "submit"):
            if self.line.text:
                self.finish(self.line.text)
            return True
        taken = self.line.handle_input(event)
        self.redraw()
        return taken


class Checking(Panel):
    """Shown while a check runs in a thread; escape stops waiting for it."""

    cancel_closes = True

    def __init__(self, desk: Desk, label: str) -> None:
        super().__init__(desk, label, (("select_cancel", "cancel"),))

    async def answer(self, work: Callable[P, T], *args: P.args, **options: P.kwargs) -> T | None:
        """The result of the work; None: the user did not wait for it."""

        async def finished() -> None:
            self.finish(await asyncio.to_thread(work, *args, **options))

        self.desk.spawn(finished())
        result: T | None = await self.desk.ask(self)
        return result

    def react(self, event: Input) -> bool:
        return False
