"""A display with something on it, in one of three layouts, and what can be done to it."""

from typing import Literal

from sightline.testing.fidelity._parts import Chrome, Popup, Seam, watched
from sightline.testing.fidelity._shadow import Child
from sightline.testing.fidelity._window import Covering
from sightline.tty._component import Component
from sightline.tty.components._markdown import Markdown
from sightline.tty.components._transcript import BlockColumn
from sightline.tty.frame._display import Display
from sightline.tty.frame._overlays import Overlay, OverlayHandle

Layout = Literal["transcript", "plain", "seam"]
"""Blocks in a transcript; blocks that are roots themselves and promise nothing; blocks under a seam of our own."""


class Scene:
    """Blocks above chrome, and overlays over both."""

    def __init__(self, display: Display, layout: Layout, *, rewraps: bool) -> None:
        self.display = display
        self.layout = layout
        self.rewraps = rewraps
        """The terminal keeps its history when its size changes: what is history must have the same text at any width,
        else nobody could tell where the rest goes on."""
        self.blocks: list[Component] = []
        self.live: list[Component] = []
        self.chrome = Chrome()
        self.popups: list[tuple[OverlayHandle, Popup]] = []
        self.transcript = BlockColumn()
        self.seam = Seam()
        self._children: dict[int, tuple[Component, Child]] = {}
        """By the id of what is watched: the watcher and its report."""
        if layout == "transcript":
            self._add_root(self.transcript)
        elif layout == "seam":
            self._add_root(self.seam)
        self._add_root(self.chrome)
        display.set_focus(self.chrome)

    def _add_root(self, component: Component, index: int | None = None) -> None:
        child = Child()
        watcher = watched(component, child)
        self._children[id(component)] = watcher, child
        roots = self.display.children
        roots.insert(len(roots) if index is None else index, watcher)
        self.display.request_render()

    def children(self) -> list[Child]:
        """The reports of the root components, in order."""
        reports = {id(watcher): child for watcher, child in self._children.values()}
        return [reports[id(root)] for root in self.display.children]

    # ---- blocks

    def insert(self, index: int, block: Component, *, live: bool) -> None:
        self.blocks.insert(index, block)
        if live:
            self.live.append(block)
        if self.layout == "transcript":
            self.transcript.insert(index, block, live=live)
        elif self.layout == "seam":
            self.seam.blocks.insert(index, block)
            self._move_seam()
        else:
            self._add_root(block, index)
        self.display.request_render()

    def fill(self, blocks: list[Component]) -> None:
        """Before those that the transcript holds back."""
        held = self.transcript.held
        assert held is not None
        self.blocks[held:held] = blocks
        self.transcript.fill(blocks)
        self.display.request_render()

    def remove(self, block: Component) -> None:
        if self.layout == "transcript":
            self.transcript.remove(block)
        elif self.layout == "seam":
            self.seam.blocks.remove(block)
        else:
            self.display.remove(self._children.pop(id(block))[0])
        self.blocks.remove(block)
        if block in self.live:
            self.live.remove(block)
        self._move_seam()
        self.display.request_render()

    def finish(self, block: Component) -> None:
        self.live.remove(block)
        if isinstance(block, Markdown):
            block.finish()
        if self.layout == "transcript":
            self.transcript.finish(block)
        self._move_seam()
        self.display.request_render()

    def clear(self) -> None:
        """The session is replaced by an empty one."""
        if self.layout == "transcript":
            self.transcript.clear()
            self.blocks.clear()
            self.live.clear()
        else:
            for block in list(self.blocks):
                self.remove(block)

    def changed(self, block: Component, *, scoped: bool) -> None:
        self.display.request_render(block if scoped else None)

    def _move_seam(self) -> None:
        """Blocks before the first that is live are final."""
        places = [index for index, block in enumerate(self.blocks) if block in self.live]
        self.seam.final = places[0] if places else len(self.blocks)
        self.seam.safe = 0

    # ---- overlays

    def open(self, popup: Popup, options: Overlay) -> None:
        self.popups.append((self.display.show_overlay(popup, options), popup))

    def close(self, index: int) -> None:
        handle, _ = self.popups.pop(index)
        handle.hide()

    def coverings(self, size: tuple[int, int]) -> list[Covering]:
        """The overlays that are visible on a screen of this size, as they were asked and answered."""
        found = []
        for handle, popup in self.popups:
            options = handle.options
            if not handle.hidden and (options.visible is None or options.visible(*size)):
                shape = options.anchor, options.width, options.max_height, options.margin
                found.append(Covering(*shape, popup.given, popup.asked))
        return found
