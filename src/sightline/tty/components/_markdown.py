"""Markdown, whole or as a model writes it."""

import re

from sightline.tty.components._streamed import Streamed, StreamedReader
from sightline.tty.components.markdown._blocks import MarkdownBlocks
from sightline.tty.components.markdown._layout import MarkdownLayout
from sightline.tty.theme._theme import PLAIN, Theme

# One of these may become a heading, a list, a rule, a fence or an underline of what stands above it, or just text:
# shown at once it would make the screen jump, so it waits for the next character. Blanks around it are stripped first.
_undecided = re.compile(r"[-=*+_#>~`|: ]*|\d{1,9}[.)]?|- \[[ xX]?\]?").fullmatch


class Markdown(Streamed):
    """CommonMark with GFM's tables, task lists, strikethrough and bare addresses."""

    def __init__(self, text: str = "", *, theme: Theme = PLAIN) -> None:
        self._theme = theme
        super().__init__(text)

    def _reader(self, width: int) -> StreamedReader:
        return MarkdownBlocks(MarkdownLayout(self._theme, width))

    def _is_decided(self, partial: str) -> bool:
        return bool(partial) and _undecided(partial.strip(" ")) is None
