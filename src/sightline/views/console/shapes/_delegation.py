"""Work delegated to agents: a step list, live or as planned.

A live list is in `details.ui` (`"kind": "agent_delegation"`), a plan in the arguments; both guards are in `events`.
Each step is one row: a sign for its status, the agent, the first line of its task.
"""

from collections.abc import Sequence

from sightline.events import Delegation, DelegationItem, delegation_from_args, delegation_from_details
from sightline.transcript import TranscriptCall
from sightline.tty import truncate
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.shapes._shape import FactShape, Shape, ShapeBody, plural, short

_AGENT, _TASK, _PREVIEW = 24, 80, 120
_SIGNS = {"running": "◌", "pending": "○", "ok": "✓", "error": "✕", None: "·"}
_SPOKEN = {"running": "running:", "pending": "waiting:", "ok": "ok:", "error": "failed:", None: "planned:"}
_ROLES = {"running": "accent", "ok": "success", "error": "error"}


class DelegationShape(FactShape[Delegation]):
    folded, unfolded = 8, 50

    @property
    def title(self) -> str:
        plan = delegation_from_args(self.call.args) or self._fact
        if plan.mode == "chain":
            return f"chain ({plural(len(plan.items), 'step')})"
        if plan.mode == "parallel":
            return f"parallel ({plural(len(plan.items), 'task')})"
        return short(plan.items[0].agent, _AGENT) if plan.items else ""

    @property
    def suffix(self) -> str:
        items = self._fact.items
        if any(item.status is None for item in items):
            return ""
        ok = sum(item.status == "ok" for item in items)
        failed = sum(item.status == "error" for item in items)
        return f"{ok} ok · {failed} err / {len(items)}" if failed else f"{ok} ok / {len(items)}"

    @property
    def source(self) -> str:
        return self.call.content or "\n".join(f"{item.agent}: {item.task}" for item in self._fact.items)

    def body(self, width: int) -> ShapeBody:
        items, most = self._fact.items, self.most
        rows = [row for item in items[:most] for row in self._step(item, width)]
        if len(items) > most:
            rows.append(self.more_items(len(items) - most, width))
        return ShapeBody([*rows, *self._result(width).rows])

    def _step(self, item: DelegationItem, width: int) -> Sequence[str]:
        theme = self.drawing.theme
        active = item.id == self._fact.active_id
        signs = _SPOKEN if self.drawing.linear else _SIGNS
        sign = theme.style(_ROLES.get(item.status or "", "muted"), signs[item.status])
        agent = theme.style("accent" if active else "text", short(item.agent, _AGENT))
        task = theme.style("muted", short(item.task, _TASK))
        rows = [truncate(f"{sign} {agent} {task}", width)]
        if self.drawing.unfolded and item.preview:
            rows.append("  " + theme.style("muted", truncate(short(item.preview, _PREVIEW), width - 2)))
        return rows

    def _result(self, width: int) -> ShapeBody:
        """The call's own result, where the list does not show it: it failed, or only planned."""
        call = self.call
        if not call.content:
            return ShapeBody()
        if call.is_error:
            return self.text_rows(call.content, width, "error")
        planned = any(item.status is None for item in self._fact.items)
        return self.text_rows(call.content, width) if planned else ShapeBody()


def delegation(call: TranscriptCall, drawing: DrawingOptions) -> Shape | None:
    """The shape of live progress."""
    steps = delegation_from_details(call.details)
    return None if steps is None else DelegationShape(call, drawing, steps)


def delegation_plan(call: TranscriptCall, drawing: DrawingOptions) -> Shape | None:
    """The shape of arguments that name agents and their tasks."""
    steps = delegation_from_args(call.args)
    return None if steps is None else DelegationShape(call, drawing, steps)
