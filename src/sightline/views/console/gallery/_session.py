"""The gallery on a terminal, from the first paint or from nothing."""

from sightline.tty import Application, Attributes, Depth, Terminal, run_application
from sightline.views.console.gallery._browser import Browser
from sightline.views.console.gallery._printed import Look
from sightline.views.console.gallery._registry import SCENES, names
from sightline.views.console.paint._first_paint import FirstPaint


def browse(
    *,
    first: str = "",
    look: Look | None = None,
    depth: Depth | None = None,
    painted: FirstPaint | None = None,
    before: Attributes | None = None,
) -> int:
    """Walk through the gallery, in a look and in so many colours if they were chosen. `before` is how the terminal was
    when the first paint found it. The exit code."""
    terminal = Terminal()
    browsers: list[Browser] = []

    def start(application: Application) -> None:
        if look is not None or depth is not None:
            application.choose_look(dark=None if look is None else look == "dark", colours=depth)
        browser = Browser(application, SCENES)
        browsers.append(browser)
        if painted is not None:
            _go_on(browser, application, painted)
        # On lines a scene is shown when its name is entered: what is read out first is how.
        if first or not (application.linear or browser.prompt.text):
            browser.show(names().index(first) if first else 0)

    if painted is not None:
        painted.is_ours, terminal.farewell = False, painted.erase
    try:
        return run_application(start, terminal=terminal, before=before, typed=painted.rest if painted else b"")
    finally:
        for browser in browsers:
            browser.close()


def _go_on(browser: Browser, application: Application, painted: FirstPaint) -> None:
    """What was painted is the display's now, and what was typed the prompt's."""
    application.display.adopt(painted.rows, painted.cursor, painted.size)
    browser.type(painted.text)
