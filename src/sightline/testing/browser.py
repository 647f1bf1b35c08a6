"""The browser that tests, pictures and benchmarks of the page run in."""

import shutil


def chromium() -> str | None:
    """The same engine without the window of a browser costs half the processor time."""
    return next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser"))), None)
