"""The status line: model, approval, context, tokens, cost, branch, queue, jobs, agents. As much as has room.

The approval level is always there: what the agent may do is never left out for the sake of something else."""

from typing import NamedTuple

from sightline.tty import Component, Rows, measure, truncate
from sightline.views._names import from_home
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console._state import ConsoleState
from sightline.views.console.status._facts import Facts, count

_BETWEEN = " · "
_NAME = 36  # characters of a model's name
_USUAL = "auto"  # an approval level that can wait for its place: any other comes first
_LEVELS = {"auto": "muted", "full": "warning"}  # how an approval level is said
_WORDED_FROM = 32  # columns: with less, a level is its name alone
_SHORTENED_FROM = 6  # cells that still say something
_FULL = 0.8  # of the context: said in another colour


class _Part(NamedTuple):
    """Words and their role. `stays`: everything else makes room for it."""

    role: str
    text: str
    stays: bool = False


class StatusLine(Component):
    """One row."""

    def __init__(self, drawing: DrawingOptions, state: ConsoleState) -> None:
        self._drawing = drawing
        self._state = state
        self._made_of: object = None
        self._rows: Rows = ()

    def render(self, width: int) -> Rows:
        parts = self._parts(width)
        made_of = (width, parts, self._drawing.theme.name)
        if made_of != self._made_of:
            self._made_of = made_of
            self._rows = (self._row(parts, width),)
        return self._rows

    def invalidate(self) -> None:
        self._made_of = None

    def _parts(self, width: int) -> "tuple[_Part, ...]":
        """What there is to say, the most important first."""
        facts = Facts(self._state.fold)
        parts = [_Part("warning", self._state.note)] if self._state.note else []
        if facts.waits:
            parts.append(_Part("warning", f"{facts.waits} waiting for an answer"))
        level_words = f"approval {facts.approval}" if width >= _WORDED_FROM else facts.approval
        level_of_approval = _Part(_LEVELS.get(facts.approval, "text"), level_words, stays=True)
        if facts.approval not in ("", _USUAL):
            parts.append(level_of_approval)
        provider = facts.provider or self._state.provider
        level = facts.thinking if facts.model else ""
        who = facts.model or ("no model: /model" if not self._state.note and not provider else "")
        who = _shortened(f"{provider} {who}".strip())
        if who:
            parts.append(_Part("text", who + (f" ({level})" if level and level != "off" else "")))
        if facts.approval == _USUAL:
            parts.append(level_of_approval)
        context = facts.context
        if context is not None and context[0]:
            parts.append(_Part(*_context(*context)))
        if facts.queue:
            parts.append(_Part("text", f"{len(facts.queue)} queued"))
        if facts.jobs:
            parts.append(_Part("accent", f"{len(facts.jobs)} job{'s' * (len(facts.jobs) > 1)}"))
        if facts.agents:
            parts.append(_Part("accent", f"{facts.agents} agent{'s' * (facts.agents > 1)}"))
        read, written = facts.tokens
        if read or written:
            parts.append(_Part("muted", f"↑{count(read)} ↓{count(written)}"))
        if facts.cost:
            parts.append(_Part("muted", f"${facts.cost:.4f}" if facts.cost < 0.01 else f"${facts.cost:.2f}"))
        where = _home(self._drawing.cwd) + (f" ({self._state.branch})" if self._state.branch else "")
        if where and not self._state.note:
            parts.append(_Part("muted", where))
        parts += [_Part("muted", extra) for extra in self._state.extension_texts]
        return tuple(parts)

    def _row(self, parts: "tuple[_Part, ...]", width: int) -> str:
        """Those that fit, in their order. What stays has room first; of the others, the first is shortened."""
        theme, room = self._drawing.theme, width
        shown: dict[int, str] = {}
        may_shorten = True
        for number, part in sorted(enumerate(parts), key=lambda one: not one[1].stays):
            left = room - (len(_BETWEEN) if shown else 0)
            fits = measure(part.text) <= left
            if fits or part.stays or (may_shorten and left >= _SHORTENED_FROM):
                text = part.text if fits else truncate(part.text, max(left, 0))
                shown[number] = theme.style(part.role, text)
                room = left - measure(text)
            may_shorten = may_shorten and part.stays
        return theme.style("dim", _BETWEEN).join([shown[number] for number in sorted(shown)])


def _home(folder: str) -> str:
    """A folder as people write it, from its end if it is long."""
    shown = from_home(folder)
    return shown if len(shown) <= _NAME else "…" + shown[-_NAME + 1 :]


def _shortened(name: str) -> str:
    """A name that leaves room for the rest: its beginning, which says whose model it is, and its end."""
    return name if len(name) <= _NAME else f"{name[: _NAME // 3]}…{name[-(_NAME - _NAME // 3 - 1) :]}"


def _context(used: int, most: int) -> tuple[str, str]:
    if not most:
        return "muted", f"{count(used)} in context"
    share = used / most
    return ("warning" if share >= _FULL else "muted"), f"{share:.0%} of {count(most)}"
