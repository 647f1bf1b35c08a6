"""The greeting of a new conversation: program, folder, model, approval level, and three things to try.

The host reports the model and the approval level: the block stays open until both are known, or something follows it.
"""

import os
from collections.abc import Callable, Iterator, Sequence

from sightline import __version__
from sightline.text import clean_line
from sightline.transcript import Snapshot
from sightline.tty import CachedComponent, measure, truncate
from sightline.views._names import from_home
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.blocks._block import TranscriptBlock
from sightline.views.console.status._facts import Facts

_FAMILIAR = ("README.md", "README.rst", "README", "pyproject.toml", "package.json", "Cargo.toml", "go.mod")
_GAP = "  "


def tries_in(folder: str) -> tuple[tuple[str, str], ...]:
    """Three things to try in a folder: pairs of what to enter and what that shows."""
    file = next((name for name in _FAMILIAR if os.path.isfile(os.path.join(folder, name))), "FILE")
    return (
        ("explain this project", "ask anything"),
        (f"@{file} what is missing here?", "@ names a file"),
        ("!git status", "! runs a shell command"),
    )


class Greeting(CachedComponent, TranscriptBlock):
    """`state` is that of the session; `tries`: as `tries_in` has them."""

    open_ended = True

    def __init__(
        self, drawing: DrawingOptions, state: Callable[[], Snapshot], tries: Sequence[tuple[str, str]]
    ) -> None:
        self._drawing = drawing
        self._tries = tries
        self._state = state
        self._closed = False
        self._facts: tuple[str, ...] = ()

    def _key(self) -> tuple[object, ...]:
        if not self._closed or not self._facts:
            self._facts = self._known()
        return self._drawing.theme.name, self._facts

    @property
    def done(self) -> bool:
        facts = Facts(self._state())
        return self._closed or bool(facts.model and facts.approval)

    def close(self) -> None:
        self._closed = True

    def live_from(self) -> int | None:
        return 0

    def _known(self) -> tuple[str, ...]:
        facts = Facts(self._state())
        thinking = f" ({facts.thinking})" if facts.model and facts.thinking not in ("", "off") else ""
        key = self._drawing.way_to("approval")
        level = f"approval {facts.approval}" + (f" ({key} change)" if key else "") if facts.approval else ""
        who = f"{facts.provider} {facts.model}".strip() + thinking
        folder, worktree = from_home(self._drawing.cwd), facts.worktree
        if worktree is not None:
            folder = clean_line(f"worktree {worktree.name} ({worktree.branch}) of {from_home(worktree.workspace)}")
        return tuple([part for part in (folder, who, level) if part])

    def _draw(self, width: int) -> Iterator[str]:
        style, width = self._drawing.theme.style, max(width, 8)
        name = truncate(f"Sightline {__version__}", width)
        yield style("title", name[: len("Sightline")]) + style("dim", name[len("Sightline") :])
        one_row = " · ".join(self._facts)
        for row in (one_row,) if measure(one_row) <= width else self._facts:
            yield style("muted", truncate(row, width))
        yield ""
        yield style("muted", truncate("Three things to try:", width))
        column = max(len(text) for text, _ in self._tries)
        for text, about in self._tries:
            room = width - 2 - column - len(_GAP) - measure(about)
            shown = f"{_GAP}{text:<{column}}{_GAP}" if room >= 0 else _GAP + text
            yield truncate(shown, width).rstrip() if room < 0 else shown + style("dim", about)
