"""Blocks: how each entry of the transcript is drawn."""

from collections.abc import Mapping

from sightline.transcript import Entry, TranscriptAgent, TranscriptCall, TranscriptMessage, TranscriptText
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.blocks._agent import AgentBlock
from sightline.views.console.blocks._block import TranscriptBlock
from sightline.views.console.blocks._call import CallBlock
from sightline.views.console.blocks._message import MessageBlock
from sightline.views.console.blocks._remark import RemarkBlock
from sightline.views.console.blocks._words import WordsBlock

__all__ = ["TranscriptBlock", "block_for"]


def block_for(entry: Entry, drawing: DrawingOptions, agents: Mapping[str, TranscriptAgent]) -> TranscriptBlock:
    """A new block for this entry. Callers first offer it to the block before it (`take`)."""
    if entry.agent:
        block = AgentBlock(entry.agent.partition("/")[0], drawing, agents)
        block.take(entry)
        return block
    if isinstance(entry, TranscriptMessage):
        return MessageBlock(entry, drawing)
    if isinstance(entry, TranscriptText):
        return WordsBlock(entry, drawing)
    if isinstance(entry, TranscriptCall):
        return CallBlock(entry, drawing)
    return RemarkBlock(entry, drawing)
