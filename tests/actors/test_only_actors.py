"""Only an actor publishes: whose an event is and who observed it is stamped in few places."""

import ast
from collections.abc import Iterator
from pathlib import Path

import sightline
from sightline.events import KINDS

SOURCE = Path(sightline.__file__).parent
EVENTS = {kind.__name__ for kind in KINDS.values()}
# It stamps; and what a killed host left open is ended as those who began it would have.
ALLOWED = {"actors/_actor.py", "transcript/_repair.py"}
# Outside of a session: streams and runs of providers, journals without a host, what is shown again.
STAMPING = {
    "host/session/_session.py",
    "journal/_record.py",
    "journal/_repair.py",
    "journal/_store.py",
    "providers/_channel_run.py",
    "providers/_stream.py",
    "providers/claude/_channel.py",
    "providers/claude/_source.py",
    "providers/codex/_app_server_source.py",
    "providers/openai_compatible/_run.py",
    "providers/opencode/_server.py",
    "providers/running/_runner.py",
    "views/plain/_ndjson.py",
    "views/plain/commands/conversation.py",
}


def test_no_event_is_made_with_its_agent_or_source() -> None:
    """A producer makes events of what happened. Its actor, or the one place that passes them on, says the rest."""
    stamped = [
        f"{name}:{call.lineno}"
        for name, tree in _modules()
        if name not in ALLOWED
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and _makes_an_event(call) and _says_whose(call)
    ]
    assert stamped == []


def test_events_are_stamped_in_few_places() -> None:
    """Everything else publishes through an actor. The import contract holds it room by room, this module by module."""
    stamping = {
        name
        for name, tree in _modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "sightline.events.stamping"
    }
    assert stamping == STAMPING


def test_only_an_actor_appends_to_a_log() -> None:
    """An event reaches a session through `Log.append`, which no one but an actor calls."""
    appending = {
        name
        for name, tree in _modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node).endswith(("log.append", "_log.append"))
    }
    assert appending == {"actors/_actor.py"}


def _modules() -> Iterator[tuple[str, ast.Module]]:
    for path in SOURCE.rglob("*.py"):
        if "testing" not in path.parts:
            yield str(path.relative_to(SOURCE)), ast.parse(path.read_text())


def _makes_an_event(call: ast.Call) -> bool:
    name = getattr(call.func, "id", getattr(call.func, "attr", ""))
    return name in EVENTS or name in ("replace", "as_state")


def _says_whose(call: ast.Call) -> bool:
    return any(keyword.arg in ("agent", "source") for keyword in call.keywords)
