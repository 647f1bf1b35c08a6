"""Plans, as the agents write them down with a tool of theirs: one shape for `state` events of the key `todo`."""

from sightline.events import TodoTask

# Where a step's words are, in the dialects there are.
_WORDS = ("content", "description", "step", "text", "subject", "title")
_LISTS = ("todos", "plan", "items")


def plan_from(args: object) -> list[TodoTask]:
    """The steps in the arguments of a call that writes a plan."""
    if not isinstance(args, dict):
        return []
    steps: list[object] = next((args[key] for key in _LISTS if isinstance(args.get(key), list)), [])
    return [_step(step) for step in steps if isinstance(step, dict)]


def _step(step: dict[str, object]) -> TodoTask:
    text = next((text for key in _WORDS if isinstance(text := step.get(key), str)), "")
    status = step.get("status")
    return TodoTask(text, status if isinstance(status, str) else "pending")
