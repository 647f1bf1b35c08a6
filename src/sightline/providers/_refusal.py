"""A call that was refused without a user to ask: how its result and the end of its run show it."""

from sightline.events import CallEnding, Event, RunEnded, ToolResult, call_ending

REFUSED = "refused"  # the stop reason of a run
REFUSED_EXIT_CODE = 3


def refused_details() -> dict[str, object]:
    """The details of the result of such a call, as our own agent has them."""
    return CallEnding(ended=REFUSED).as_details()


def is_refusal(event: Event) -> bool:
    if isinstance(event, RunEnded):
        return event.stop_reason == REFUSED and not event.agent
    return isinstance(event, ToolResult) and call_ending(event.details).ended == REFUSED
