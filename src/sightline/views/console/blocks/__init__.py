"""The transcript: what each entry of it looks like."""

from collections.abc import Mapping

from sightline.transcript import Agent, Call, Entry, Message, Words
from sightline.views.console._drawing import Drawing
from sightline.views.console.blocks._agent import AgentBlock
from sightline.views.console.blocks._block import Block
from sightline.views.console.blocks._call import CallBlock
from sightline.views.console.blocks._message import MessageBlock
from sightline.views.console.blocks._remark import RemarkBlock
from sightline.views.console.blocks._words import WordsBlock

__all__ = ["Block", "block_for"]


def block_for(entry: Entry, drawing: Drawing, agents: Mapping[str, Agent]) -> Block:
    """The block that begins with this entry. Whether the block before it takes it (`take`) is asked first."""
    if entry.agent:
        block = AgentBlock(entry.agent.partition("/")[0], drawing, agents)
        block.take(entry)
        return block
    if isinstance(entry, Message):
        return MessageBlock(entry, drawing)
    if isinstance(entry, Words):
        return WordsBlock(entry, drawing)
    if isinstance(entry, Call):
        return CallBlock(entry, drawing)
    return RemarkBlock(entry, drawing)
