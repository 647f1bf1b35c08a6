"""Running the console on a terminal, from the first paint or from nothing, until the user leaves."""

import os
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from sightline.journal import Store
from sightline.paths import data_folder
from sightline.settings import Settings, StartOptions, load
from sightline.tty import Application, Attributes, Terminal, run_application
from sightline.views.console._actions import bindings_from
from sightline.views.console._console import Console
from sightline.views.console.input import Submission

_PICK = "/resume"
"""As the first thing that is entered: a stored session is chosen, and none is begun until then."""

if TYPE_CHECKING:
    from sightline.views.console.paint._first_paint import FirstPaint


def run(
    *,
    options: Mapping[str, Any],
    host_fd: int | None = None,
    prompt: str = "",
    attach: bool = False,
    resumable: bool = True,
    greeted: Callable[[int], object] = lambda pid: None,
    begun: Callable[[Console], object] = lambda console: None,
    painted: "FirstPaint | None" = None,
    before: Attributes | None = None,
) -> int:
    """Run the console and return its exit code. `options`: the fields of `StartOptions`. `host_fd`: where its host
    answers, if it was started; `prompt`: sent first, as if it had been entered. `attach`: one of the sessions that run
    here is expected. `resumable`: it can be resumed, and in the end a line says how. `greeted` is called with the
    process id of every host that is connected to, `begun` with the console."""
    start_options = msgspec.convert(dict(options), StartOptions)
    settings = _settings(start_options)
    terminal = Terminal()
    consoles: list[Console] = []

    def start(application: Application) -> None:
        console = Console(
            application, Store(data_folder()), settings, start_options, greeted=greeted, lasting=resumable
        )
        consoles.append(console)
        begun(console)
        if settings.console.theme != "auto":
            console.set_theme(settings.console.theme)
        if painted is not None:
            application.display.adopt(painted.rows, painted.cursor, painted.size)
            console.prompt.set_text(painted.text)
        for problem in application.bindings.problems:
            console.report(f"settings, console.keys: {problem}", "warning", "/keys shows and fixes them")
        pick = prompt == _PICK
        application.spawn(console.sessions.begin(host_fd, attach=attach, pick=pick))
        if prompt and not pick:
            console.entering.enter(Submission(prompt))

    if painted is not None:
        painted.is_ours, terminal.farewell = False, painted.erase
    code = run_application(
        start,
        terminal=terminal,
        bindings=bindings_from(settings.console.keys),
        before=before,
        typed=painted.rest if painted else b"",
    )
    for console in consoles:
        if console.sessions.farewell and resumable:
            sys.stderr.write(f"\n{console.sessions.farewell}\n")
    return code


def _settings(options: StartOptions) -> Settings:
    """The settings of the screen. The host reports what is wrong with them."""
    from pathlib import Path

    from sightline.exceptions import SightlineError

    try:
        return load(Path(options.cwd or os.getcwd()), flags=options.flags).settings
    except SightlineError:
        return Settings()
