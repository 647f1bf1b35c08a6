"""Plans, as the agents write them down with a tool of theirs: one shape for `state` events of the key `todo`."""

from typing import Any

from sightline.events import TodoTask

# Where a step's words are, in the dialects there are.
_WORDS = ("content", "description", "step", "text", "subject", "title")
_LISTS = ("todos", "plan", "items")


def plan_from(args: Any) -> list[TodoTask]:
    """The steps in the arguments of a call that writes a plan."""
    if not isinstance(args, dict):
        return []
    steps: list[Any] = next((args[key] for key in _LISTS if isinstance(args.get(key), list)), [])
    return [_step(step) for step in steps if isinstance(step, dict)]


def _step(step: dict[str, Any]) -> TodoTask:
    text = next((step[key] for key in _WORDS if isinstance(step.get(key), str)), "")
    status = step.get("status")
    return TodoTask(text, status if isinstance(status, str) else "pending")
