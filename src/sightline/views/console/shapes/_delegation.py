"""Work handed to agents: a step list, live or as planned.

A live one comes with `details.ui.kind == "agent_delegation"`, a plan from arguments of the shape; both guards are in
`events` and give all or nothing. Each step is one row: a sign for its status, the agent, the first line of its task.
"""

from collections.abc import Sequence

from sightline.events import Delegation, DelegationItem, delegation_from_args, delegation_from_details
from sightline.transcript import TranscriptCall
from sightline.tty import truncate
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.shapes._shape import Shape, ShapeBody, plural, short

_AGENT, _TASK, _PREVIEW = 24, 80, 120
_SIGNS = {"running": "◌", "pending": "○", "ok": "✓", "error": "✕", None: "·"}
_SPOKEN = {"running": "running:", "pending": "waiting:", "ok": "ok:", "error": "failed:", None: "planned:"}
_ROLES = {"running": "accent", "ok": "success", "error": "error"}


class DelegationShape(Shape):
    folded, unfolded = 8, 50

    def __init__(self, call: TranscriptCall, drawing: DrawingOptions, steps: Delegation) -> None:
        super().__init__(call, drawing)
        self._steps = steps

    @property
    def title(self) -> str:
        plan = delegation_from_args(self.call.args) or self._steps
        if plan.mode == "chain":
            return f"chain ({plural(len(plan.items), 'step')})"
        if plan.mode == "parallel":
            return f"parallel ({plural(len(plan.items), 'task')})"
        return short(plan.items[0].agent, _AGENT) if plan.items else ""

    @property
    def suffix(self) -> str:
        items = self._steps.items
        if any(item.status is None for item in items):
            return ""
        ok = sum(item.status == "ok" for item in items)
        failed = sum(item.status == "error" for item in items)
        return f"{ok} ok · {failed} err / {len(items)}" if failed else f"{ok} ok / {len(items)}"

    @property
    def source(self) -> str:
        return self.call.content or "\n".join(f"{item.agent}: {item.task}" for item in self._steps.items)

    def body(self, width: int) -> ShapeBody:
        most = self.unfolded if self.drawing.unfolded else self.folded
        items = self._steps.items
        rows = [row for item in items[:most] for row in self._step(item, width)]
        if len(items) > most:
            rows.append(self.more_items(len(items) - most, width))
        return ShapeBody([*rows, *self._said(width).rows])

    def _step(self, item: DelegationItem, width: int) -> Sequence[str]:
        theme = self.drawing.theme
        active = item.id == self._steps.active_id
        signs = _SPOKEN if self.drawing.linear else _SIGNS
        sign = theme.style(_ROLES.get(item.status or "", "muted"), signs[item.status])
        agent = theme.style("accent" if active else "text", short(item.agent, _AGENT))
        task = theme.style("muted", short(item.task, _TASK))
        rows = [truncate(f"{sign} {agent} {task}", width)]
        if self.drawing.unfolded and item.preview:
            rows.append("  " + theme.style("muted", truncate(short(item.preview, _PREVIEW), width - 2)))
        return rows

    def _said(self, width: int) -> ShapeBody:
        """What the call itself came to, where the list cannot say it: it failed, or only planned."""
        call = self.call
        if not call.content:
            return ShapeBody()
        if call.is_error:
            return self.text_rows(call.content, width, "error")
        planned = any(item.status is None for item in self._steps.items)
        return self.text_rows(call.content, width) if planned else ShapeBody()


def delegation(call: TranscriptCall, drawing: DrawingOptions) -> Shape | None:
    """Live progress."""
    steps = delegation_from_details(call.details)
    return None if steps is None else DelegationShape(call, drawing, steps)


def delegation_plan(call: TranscriptCall, drawing: DrawingOptions) -> Shape | None:
    """Arguments that say who is to do what."""
    steps = delegation_from_args(call.args)
    return None if steps is None else DelegationShape(call, drawing, steps)
