"""A page of the console's own in the transcript: help, a list. Kept nowhere."""

from sightline.tty import Rows
from sightline.tty.components import Markdown
from sightline.views.console._drawing import Drawing
from sightline.views.console.blocks._block import Block


class Page(Block):
    def __init__(self, markdown: str, drawing: Drawing) -> None:
        self._source = markdown
        self._markdown = Markdown(markdown, theme=drawing.theme)
        self._markdown.finish()

    def render(self, width: int) -> Rows:
        return self._markdown.render(width)

    def invalidate(self) -> None:
        self._markdown.invalidate()

    @property
    def done(self) -> bool:
        return True

    @property
    def source(self) -> str:
        return self._source
