"""The status line: model, approval, context, tokens, cost, branch, queue, jobs, agents. As much as fits.

The approval level is always shown: what the agent may do is never left out for something else."""

from typing import NamedTuple

from sightline.text import clean_line
from sightline.tty import CachedComponent, Rows, measure, truncate
from sightline.views._names import from_home
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console._state import ConsoleState
from sightline.views.console.shapes._shape import plural
from sightline.views.console.status._facts import Facts, count

_BETWEEN = " · "
_NAME = 36  # characters of a model's name
_USUAL = "auto"  # the approval level that comes after the model: any other comes first
_LEVELS = {"auto": "muted", "full": "warning"}  # roles of approval levels
_WORDED_FROM = 32  # columns: with less, a level is its name alone
_SHORTENED_FROM = 6  # cells of a shortened text that are still useful
_FULL = 0.8  # of the context: from here on it is a warning


class _Part(NamedTuple):
    """A text and its role. `stays`: everything else makes room for it."""

    role: str
    text: str
    stays: bool = False


class StatusLine(CachedComponent):
    """One row about the session's state."""

    def __init__(self, drawing: DrawingOptions, state: ConsoleState) -> None:
        self._drawing = drawing
        self._state = state
        self._parts: tuple[_Part, ...] = ()

    def render(self, width: int) -> Rows:
        self._parts = self._parts_for(width)
        return super().render(width)

    def _key(self) -> tuple[object, ...]:
        return self._parts, self._drawing.theme.name

    def _parts_for(self, width: int) -> tuple[_Part, ...]:
        """The parts, the most important first."""
        facts = Facts(self._state.fold)
        parts = [_Part("warning", self._state.note)] if self._state.note else []
        if facts.waits:
            parts.append(_Part("warning", f"{facts.waits} waiting for an answer"))
        approval_text = f"approval {facts.approval}" if width >= _WORDED_FROM else facts.approval
        approval = _Part(_LEVELS.get(facts.approval, "text"), approval_text, stays=True)
        if facts.approval not in ("", _USUAL):
            parts.append(approval)
        provider = facts.provider or self._state.provider
        level = facts.thinking if facts.model else ""
        who = facts.model or ("no model: /model" if not self._state.note and not provider else "")
        who = _shortened(f"{provider} {who}".strip())
        if who:
            parts.append(_Part("text", who + (f" ({level})" if level and level != "off" else "")))
        if facts.approval == _USUAL:
            parts.append(approval)
        branch = f" ({self._state.branch})" if self._state.branch else ""
        if facts.worktree is not None:  # the user's own files are elsewhere
            parts.append(_Part("accent", f"worktree {clean_line(facts.worktree.name)}{branch}"))
        context = facts.context
        if context is not None and context[0]:
            parts.append(_Part(*_context(*context)))
        if facts.queue:
            parts.append(_Part("text", f"{len(facts.queue)} waiting"))
        counts = ((len(facts.jobs), "job"), (facts.agents, "agent"))
        parts += [_Part("accent", plural(number, what)) for number, what in counts if number]
        read, written = facts.tokens
        if read or written:
            parts.append(_Part("muted", f"↑{count(read)} ↓{count(written)}"))
        if facts.cost:
            parts.append(_Part("muted", f"${facts.cost:.4f}" if facts.cost < 0.01 else f"${facts.cost:.2f}"))
        if not self._state.note and facts.worktree is None:
            parts.append(_Part("muted", _home(self._drawing.cwd) + branch))
        parts += [_Part("muted", extra) for extra in self._state.extension_texts]
        return tuple(parts)

    def _draw(self, width: int) -> list[str]:
        """The parts that fit, in their order. `stays` has room first; of the others, the first may be shortened."""
        theme, room = self._drawing.theme, width
        shown: dict[int, str] = {}
        may_shorten = True
        for number, part in sorted(enumerate(self._parts), key=lambda one: not one[1].stays):
            left = room - (len(_BETWEEN) if shown else 0)
            fits = measure(part.text) <= left
            if fits or part.stays or (may_shorten and left >= _SHORTENED_FROM):
                text = part.text if fits else truncate(part.text, max(left, 0))
                shown[number] = theme.style(part.role, text)
                room = left - measure(text)
            may_shorten = may_shorten and part.stays
        return [theme.style("dim", _BETWEEN).join([shown[number] for number in sorted(shown)])]


def _home(folder: str) -> str:
    """A folder with `~` for home; the end of a long one."""
    shown = from_home(folder)
    return shown if len(shown) <= _NAME else "…" + shown[-_NAME + 1 :]


def _shortened(name: str) -> str:
    """The beginning and the end of a long name: the beginning names the provider."""
    return name if len(name) <= _NAME else f"{name[: _NAME // 3]}…{name[-(_NAME - _NAME // 3 - 1) :]}"


def _context(used: int, most: int) -> tuple[str, str]:
    if not most:
        return "muted", f"{count(used)} in context"
    share = used / most
    return ("warning" if share >= _FULL else "muted"), f"{share:.0%} of {count(most)}"
