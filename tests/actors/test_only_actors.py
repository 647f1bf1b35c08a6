"""Only an actor says whose an event is and who observed it."""

import ast
from pathlib import Path

import sightline
from sightline.events import KINDS

SOURCE = Path(sightline.__file__).parent
EVENTS = {kind.__name__ for kind in KINDS.values()}
# It stamps; and what a killed host left open is ended as those who began it would have.
ALLOWED = {"actors/_actor.py", "transcript/_repair.py"}


def test_no_event_is_made_with_its_agent_or_source() -> None:
    """A producer makes events of what happened. Its actor, or the one place that passes them on, says the rest."""
    said = [
        f"{path.relative_to(SOURCE)}:{call.lineno}"
        for path in SOURCE.rglob("*.py")
        if str(path.relative_to(SOURCE)) not in ALLOWED and "testing" not in path.parts
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call) and _makes_an_event(call) and _says_whose(call)
    ]
    assert said == []


def _makes_an_event(call: ast.Call) -> bool:
    name = getattr(call.func, "id", getattr(call.func, "attr", ""))
    return name in EVENTS or name in ("replace", "as_state")


def _says_whose(call: ast.Call) -> bool:
    return any(keyword.arg in ("agent", "source") for keyword in call.keywords)
