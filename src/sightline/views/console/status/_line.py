"""The status line: model, approval, context, tokens, cost, branch, queue, jobs, agents. As much as has room."""

import os
from collections.abc import Callable

from sightline.transcript import Snapshot
from sightline.tty import Component, Rows, measure, truncate
from sightline.views.console._console_paint import STARTING
from sightline.views.console._drawing import Drawing
from sightline.views.console.status._facts import Facts, count

_BETWEEN = " · "
_NAME = 36  # characters of a model's name
_USUAL = "auto"  # an approval level that can wait for its place: any other comes first
_LEVELS = {"auto": "muted", "full": "warning"}  # how an approval level is said
_FULL = 0.8  # of the context: said in another colour


class StatusLine(Component):
    """One row. `session` is whose state it shows; None while there is none."""

    def __init__(self, drawing: Drawing, state: Callable[[], Snapshot]) -> None:
        self._drawing = drawing
        self._state = state
        self.note = STARTING
        """What there is to say instead, or before everything else."""
        self.branch = ""
        self.provider = ""
        """Who was asked for, until the session says it itself."""
        self.extras: list[str] = []
        """What extensions have to say."""
        self._made_of: object = None
        self._rows: Rows = ()

    def render(self, width: int) -> Rows:
        parts = self._parts()
        made_of = (width, parts, self._drawing.theme.name)
        if made_of != self._made_of:
            self._made_of = made_of
            self._rows = (self._row(parts, width),)
        return self._rows

    def invalidate(self) -> None:
        self._made_of = None

    def _parts(self) -> tuple[tuple[str, str], ...]:
        """What there is to say, each with its role, the most important first."""
        facts = Facts(self._state())
        parts = [("warning", self.note)] if self.note else []
        if facts.waits:
            parts.append(("warning", f"{facts.waits} waiting for an answer"))
        level_of_approval = (_LEVELS.get(facts.approval, "text"), f"approval {facts.approval}")
        if facts.approval not in ("", _USUAL):
            parts.append(level_of_approval)
        provider = facts.provider or self.provider
        level = facts.thinking if facts.model else ""
        who = facts.model or ("no model: /model" if not self.note and not provider else "")
        who = _shortened(f"{provider} {who}".strip())
        if who:
            parts.append(("text", who + (f" ({level})" if level and level != "off" else "")))
        if facts.approval == _USUAL:
            parts.append(level_of_approval)
        context = facts.context
        if context is not None and context[0]:
            parts.append(_context(*context))
        if facts.queue:
            parts.append(("text", f"{len(facts.queue)} queued"))
        if facts.jobs:
            parts.append(("accent", f"{len(facts.jobs)} job{'s' * (len(facts.jobs) > 1)}"))
        if facts.agents:
            parts.append(("accent", f"{facts.agents} agent{'s' * (facts.agents > 1)}"))
        read, written = facts.tokens
        if read or written:
            parts.append(("muted", f"↑{count(read)} ↓{count(written)}"))
        if facts.cost:
            parts.append(("muted", f"${facts.cost:.4f}" if facts.cost < 0.01 else f"${facts.cost:.2f}"))
        where = _home(self._drawing.cwd) + (f" ({self.branch})" if self.branch else "")
        if where and not self.note:
            parts.append(("muted", where))
        parts += [("muted", extra) for extra in self.extras]
        return tuple(parts)

    def _row(self, parts: tuple[tuple[str, str], ...], width: int) -> str:
        theme, room = self._drawing.theme, width
        shown: list[str] = []
        for role, text in parts:
            needed = measure(text) + (len(_BETWEEN) if shown else 0)
            if needed > room:
                if not shown:
                    return theme.style(role, truncate(text, width))
                continue
            room -= needed
            shown.append(theme.style(role, text))
        return theme.style("dim", _BETWEEN).join(shown)


def _home(folder: str) -> str:
    """A folder as people say it, from its end if it is long."""
    home = os.path.expanduser("~")
    shown = "~" + folder[len(home) :] if folder == home or folder.startswith(home + "/") else folder
    return shown if len(shown) <= _NAME else "…" + shown[-_NAME + 1 :]


def _shortened(name: str) -> str:
    """A name that leaves room for the rest: its beginning, which says whose model it is, and its end."""
    return name if len(name) <= _NAME else f"{name[: _NAME // 3]}…{name[-(_NAME - _NAME // 3 - 1) :]}"


def _context(used: int, most: int) -> tuple[str, str]:
    if not most:
        return "muted", f"{count(used)} in context"
    share = used / most
    return ("warning" if share >= _FULL else "muted"), f"{share:.0%} of {count(most)}"
