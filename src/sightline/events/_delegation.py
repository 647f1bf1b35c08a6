"""The delegation contract: how any tool shows that it hands work to agents.

Live, a tool puts it into `details.ui` of its updates and its result:

    {"ui": {"kind": "agent_delegation", "mode": "parallel",
            "items": [{"id": "1", "agent": "Explore", "task": "find it", "status": "running", "preview": "…"}],
            "activeId": "1"}}

Before the first update, arguments of one of three shapes show the plan: `{agent, task}`, `{tasks: [{agent, task}]}`,
`{chain: [{agent, task}]}`. It is recognised by this shape alone, never by a tool's name. A guard returns a complete
typed value or None; what does not fit is shown as any other tool is.
"""

from typing import Any, Literal

import msgspec

from sightline.text import clean_text

DelegationMode = Literal["single", "parallel", "chain"]
DelegationStatus = Literal["pending", "running", "ok", "error"]

_MODES = frozenset(("single", "parallel", "chain"))
_STATUSES = frozenset(("pending", "running", "ok", "error"))


class DelegationItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """One delegated step. A static plan has no statuses: its items are all None."""

    id: str
    agent: str
    task: str
    status: DelegationStatus | None = None
    preview: str | None = None


class Delegation(msgspec.Struct, frozen=True, omit_defaults=True, rename={"active_id": "activeId"}):
    """A whole step list, as of now."""

    mode: DelegationMode
    items: list[DelegationItem]
    active_id: str | None = None

    def as_details(self) -> dict[str, Any]:
        """The value a tool puts into `details`."""
        return {"ui": {"kind": "agent_delegation", **msgspec.to_builtins(self)}}


def delegation_from_details(details: object) -> Delegation | None:
    """The step list in a result's or update's details, or None when there is none or it is malformed."""
    ui = details.get("ui") if isinstance(details, dict) else None
    if not isinstance(ui, dict) or ui.get("kind") != "agent_delegation":
        return None
    mode, raw_items, active = ui.get("mode"), ui.get("items"), ui.get("activeId")
    if not isinstance(mode, str) or mode not in _MODES or not isinstance(raw_items, list):
        return None
    items = [_live_item(raw) for raw in raw_items]
    complete = [item for item in items if item is not None]
    if len(complete) != len(items):
        return None
    return Delegation(mode, complete, clean_text(active) if isinstance(active, str) else None)  # type: ignore[arg-type]


def delegation_from_args(args: object) -> Delegation | None:
    """The static plan in a call's arguments, or None. A chain wins over tasks, tasks over a single task."""
    if not isinstance(args, dict) or not ("agent" in args or "tasks" in args or "chain" in args):
        return None
    for mode, key in (("chain", "chain"), ("parallel", "tasks")):
        steps = args.get(key)
        if isinstance(steps, list) and steps:
            items = [_planned_item(index, step) for index, step in enumerate(steps, 1)]
            complete = [item for item in items if item is not None]
            if len(complete) == len(items):
                return Delegation(mode, complete)  # type: ignore[arg-type]
    single = _planned_item(1, args)
    return None if single is None else Delegation("single", [single])


def _live_item(raw: object) -> DelegationItem | None:
    if not isinstance(raw, dict):
        return None
    ident, agent, task, status = raw.get("id"), raw.get("agent"), raw.get("task"), raw.get("status")
    if not (isinstance(ident, str) and isinstance(agent, str) and isinstance(task, str)):
        return None
    if not isinstance(status, str) or status not in _STATUSES:
        return None
    preview = raw.get("preview")
    shown = clean_text(preview) if isinstance(preview, str) else None
    return DelegationItem(clean_text(ident), clean_text(agent), clean_text(task), status, shown)  # type: ignore[arg-type]


def _planned_item(index: int, step: object) -> DelegationItem | None:
    if not isinstance(step, dict):
        return None
    agent, task = step.get("agent"), step.get("task")
    if not (isinstance(agent, str) and isinstance(task, str) and agent and task):
        return None
    return DelegationItem(str(index), clean_text(agent), clean_text(task))
