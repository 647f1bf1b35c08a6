"""The console is cut along duties: its parts are given what they use, and none of them has the whole."""

from pathlib import Path

import sightline.views.console as console

ROOM = Path(console.__file__).parent
WIRING = {"_run.py", "_demo.py", "__init__.py"}
"""Make the console, or are called with it before it begins."""


def test_only_what_is_called_with_the_console_knows_it() -> None:
    """Handlers of actions, and what starts it. A part that is given all of it has a way back to everything."""
    modules = [path.relative_to(ROOM) for path in ROOM.rglob("*.py") if "_console import Console" in path.read_text()]
    handlers = {path for path in modules if path.parts[0] in ("commands", "selectors") or path.name == "_actions.py"}
    assert {str(path) for path in set(modules) - handlers} <= WIRING


def test_no_view_changes_the_fold() -> None:
    """It is read, and told what the host sent; how it catches up, or loses its host, is its own."""
    for path in ROOM.rglob("*.py"):
        text = path.read_text()
        assert "state.running = " not in text, path
        assert "state.requests.clear" not in text, path
        assert "snapshot.entries = " not in text, path
