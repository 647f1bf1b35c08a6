"""The transcript on the screen: the fold of the host's events, and a block for each entry of it.

Rules:

- Every event goes through the fold first; a block only learns which entry changed.
- A question beside the conversation and its answer are blocks of their own, closed with the next of them or their end.
- Entries of any other subagent are in that agent's block. The block of one that still works when the user sends the
  next prompt ends there, and another one begins below: what is under a live block cannot become history.
- A review that the user requested is shown by its reviewer's block while it runs, and by its own afterwards.
- A running job has no block: it is in the panel of jobs, and its end is a block like any other.
- A long transcript is shown from its end: the last blocks at once, those before them a slice at a time, while the
  screen stands still and keys are read. The same when everything is drawn in another way.
- A block that takes longer to draw than a key may wait is live until it is drawn whole, a slice at a time (`advance`).
- A view that fell behind gets a snapshot: known entries are changed in place, and rows on the screen are not written
  again.
- A block is live until it is done. An `open_ended` one is closed when what follows it is sure to be something else:
  words by the next entry, a group of reads by a call that is not a read, which is known at the call's end.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from sightline.events import (
    AgentEnded,
    AgentStarted,
    AgentState,
    BranchState,
    Event,
    RunEnded,
    RunStarted,
    State,
    TurnEnded,
)
from sightline.transcript import Entry, Remark, Snapshot, TranscriptCall, TranscriptMessage, TranscriptText
from sightline.transcript import Transcript as Fold
from sightline.tty import Component
from sightline.tty.components import BlockColumn, show_end
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.blocks import block_for
from sightline.views.console.blocks._agent import AgentBlock
from sightline.views.console.blocks._aside import AsideHeader, aside_block
from sightline.views.console.blocks._block import TranscriptBlock
from sightline.views.console.blocks._call import CallBlock
from sightline.views.console.blocks._pieces import pieces_of
from sightline.views.console.blocks._words import WordsBlock

Size = Callable[[], tuple[int, int]]
Fill = Callable[[Iterable[Component]], object]
_OTHER_ROWS = 10  # of the screen, below the transcript: the editor and what is around it


class TranscriptView:
    """`component` is drawn. `fill` receives the blocks before those that a screen of this `size` shows, and fills them
    in little by little."""

    def __init__(self, drawing: DrawingOptions, redraw: Callable[[], None], *, size: Size, fill: Fill) -> None:
        self.component = BlockColumn()
        self.fold = Fold()
        self.blocks: list[TranscriptBlock] = []
        """All blocks, in order."""
        self._drawing = drawing
        self._redraw = redraw
        self._size = size
        self._fill = fill
        self._laying_out = self._near_end = False
        self._by_entry: dict[int, TranscriptBlock] = {}
        self._by_agent: dict[str, AgentBlock] = {}
        self._asides: dict[str, TranscriptBlock] = {}
        """The last block of each question beside the conversation, by the path of the agent that answers."""
        self._aside_headers: dict[str, TranscriptBlock] = {}
        self._since_prompt: list[AgentBlock] = []
        """Blocks of agents that began after the last prompt of the user."""
        self._open: list[TranscriptBlock] = []
        """Blocks that are not finished, in order."""
        self._older: set[TranscriptBlock] = set()
        """Blocks above the held ones that are not drawn whole yet."""
        self._streaming: TranscriptBlock | None = None
        """The words that stream."""
        self._early: list[Remark] = []
        """Remarks from before the first snapshot."""
        self._above: TranscriptBlock | None = None
        """The block before the first entry."""

    @property
    def state(self) -> Snapshot:
        return self.fold.now

    @property
    def ticking(self) -> list[TranscriptBlock]:
        return [block for block in self._open if block.ticks]

    @property
    def behind(self) -> bool:
        """Whether there is more to draw than a frame has time for."""
        return self._first_behind() is not None

    def _first_behind(self) -> TranscriptBlock | None:
        """While blocks are held, only those above them: their rows cannot become history, and would pile up."""
        behind = (block for block in self._open if block.behind)
        return next((block for block in behind if self.component.held is None or block in self._older), None)

    def advance(self) -> TranscriptBlock | None:
        """Draw more of the first block that is behind, and return it."""
        block = self._first_behind()
        if block is not None:
            block.advance()
            self._finish()
        return block

    def replace(self, snapshot: Snapshot, above: TranscriptBlock | None = None) -> None:
        """Show this state in place of the current one, below the block `above`. Remarks from before the first snapshot
        are shown again below it."""
        early, self._early = self._early, []
        self.fold, self._above = Fold(snapshot), above
        self.restart()
        for remark in early:
            self.add_remark(remark)

    def catch_up(self, snapshot: Snapshot) -> bool:
        """Continue from a later state of this conversation; what is on the screen stays. False when it is the state of
        another one."""
        changed = self.fold.catch_up(snapshot)
        if changed is None:
            return False
        for entry in changed:
            self._touched(entry)
        for path in snapshot.agents:
            self._agent_changed(path)
        if not snapshot.running:
            self._close_streaming()
        self._finish()
        self._redraw()
        return True

    def restart(self) -> None:
        """Make all blocks anew from the fold."""
        self.component.clear()
        self.blocks, self._open, self._streaming = [], [], None
        self._by_entry, self._by_agent, self._since_prompt = {}, {}, []
        self._asides, self._aside_headers = {}, {}
        self._laying_out = True
        above, self._above = self._above, None
        if above is not None:
            self._add(above)
        entries = self.state.shown
        near = len(entries) - self._size()[1]  # no entry from there on is sure to be above the screen
        for at, entry in enumerate(entries):
            if not is_running_job(entry):
                self._near_end = at >= near
                self._begin(entry)
        for review in [block for block in self._open if isinstance(block, AgentBlock) and block.is_review]:
            if not self._is_running(self.state.agents[review.path].call):
                review.close()
        if not self.state.running:
            for block in self._open:
                if (block is not above or self.blocks[-1] is not above) and not block.outlives_run:
                    block.close()
        self._finish()
        self._laying_out = False
        self._show()

    def show_again(self) -> None:
        """Draw all blocks again: folding or reasoning was switched."""
        self.component.clear()
        blocks, self.blocks = self.blocks, []
        near = len(blocks) - self._size()[1]
        for at, block in enumerate(blocks):
            words = block.long if at >= near and isinstance(block, WordsBlock) else None
            if words is None:
                block.begin_anew()
                self.blocks.append(block)
            else:
                self.blocks += self._closed_parts(words)
        self._open = [block for block in self.blocks if not block.done]
        self._show()

    def _show(self) -> None:
        """Show the last blocks at once, and those before them little by little."""
        self._older.clear()
        if older := show_end(self.component, self.blocks, self._size(), is_live=self.is_live):
            self._fill(self._in_pieces(older))

    def _in_pieces(self, older: Sequence[Component]) -> Iterator[Component]:
        """The blocks, long texts in parts. They are cut one by one: a key cannot wait until all are."""
        for block in older:
            if self.component.held is None:
                return  # another transcript is shown by now
            words = block.long if isinstance(block, WordsBlock) else None
            if words is None:
                yield block
                continue
            for part in self._closed_parts(words):
                if part.behind:
                    self._open.insert(0, part)
                    self._older.add(part)
                yield part

    def _closed_parts(self, entry: TranscriptText) -> Iterator[TranscriptBlock]:
        for part in self._parts(entry):
            part.close()
            yield part

    def _parts(self, entry: TranscriptText) -> Iterator[TranscriptBlock]:
        """Blocks that look, one below the other, as the whole text does. The last one shows what is added to it."""
        *pieces, last = pieces_of(entry.text)
        for piece in pieces:
            part = TranscriptText(entry.agent, entry.block, piece, entry.reasoning, entry.seq)
            yield block_for(part, self._drawing, self.state.agents)
        block = self._by_entry[id(entry)] = WordsBlock(entry, self._drawing, len(entry.text) - len(last))
        yield block

    def stop(self) -> None:
        """The host is gone: nothing runs any more, and no answer is waited for."""
        self.fold.lose_host(self._drawing.clock())
        for block in self._open:
            block.close()
        self._streaming = None
        self._finish()

    def is_live(self, block: Component) -> bool:
        return block in self._open

    def add_remark(self, remark: Remark) -> None:
        """Show a message of the console itself. It is not stored."""
        if not self.state.seq:
            self._early.append(remark)
        self.add_page(block_for(remark, self._drawing, self.state.agents))

    def entered(self, text: str) -> None:
        """The user entered this here; its event comes later."""

    def add_page(self, block: TranscriptBlock) -> None:
        """Show a block that is not of an entry."""
        self._add(block)
        self._finish()
        self._redraw()

    def apply(self, events: Iterable[Event]) -> None:
        for event in events:
            entry = self.fold.apply(event)
            if entry is not None:
                self._touched(entry)
            if isinstance(event, State) and event.key == BranchState.KEY and not event.agent:
                self.restart()
            elif isinstance(event, RunEnded | TurnEnded) and not event.agent:
                self._close_streaming()
            elif isinstance(event, AgentStarted | AgentEnded):
                self._agent_changed(event.path)
            elif event.agent and (isinstance(event, RunStarted | RunEnded) or _is_agent_state(event)):
                self._agent_changed(event.agent)
        self._finish()
        self._redraw()

    def _touched(self, entry: Entry) -> None:
        block = self._by_entry.get(id(entry))
        if block is None:
            if not is_running_job(entry):
                self._begin(entry)
            return
        if isinstance(block, WordsBlock) and isinstance(entry, TranscriptText) and block.rest is not None:
            self._streaming = self._by_entry[id(entry)] = self._add(WordsBlock(entry, self._drawing, block.rest))
            return
        if isinstance(block, AgentBlock) and block.continues:  # what it showed then stays
            self._begin_in_agent(entry)
            return
        block.changed()
        if isinstance(entry, TranscriptCall) and entry.content is not None:
            self._ended(entry, block)

    def _begin(self, entry: Entry) -> None:
        """Add a block for an entry, or add it to the last block."""
        if entry.agent:
            self._begin_in_agent(entry)
            return
        if isinstance(entry, TranscriptCall) and entry.is_job and entry.by_user:
            self._end_review(entry.id)
        if not _is_beside(entry):
            self._close_streaming()
        if isinstance(entry, TranscriptMessage) and entry.how == "prompt":
            for agent in self._since_prompt:
                agent.leave_behind(entry.seq)
            self._since_prompt = []
        last = self._open[-1] if self._open and self._open[-1] is self.blocks[-1] else None
        if last is not None and last.take(entry):
            self._by_entry[id(entry)] = last
            return
        block = self._by_entry[id(entry)] = self._add_whole(entry)
        if isinstance(entry, TranscriptText):
            self._streaming = block
        if not isinstance(entry, TranscriptCall):
            self._close_before(block)
        elif entry.content is not None:
            self._ended(entry, block)

    def _add_whole(self, entry: Entry) -> TranscriptBlock:
        """Add the block of an entry, and return it. While laying out, a long text near the end becomes several blocks,
        and the last is returned."""
        if not isinstance(entry, TranscriptText) or not self._laying_out:
            return self._add(block_for(entry, self._drawing, self.state.agents))
        if not self._near_end:
            return self._add(WordsBlock(entry, self._drawing, at_once=True))
        *parts, last = self._parts(entry)
        for part in parts:
            self._add(part).close()
        return self._add(last)

    def _begin_in_agent(self, entry: Entry) -> None:
        if self._is_aside(entry.agent):
            self._begin_in_aside(entry)
            return
        root = entry.agent.partition("/")[0]
        block = self._by_agent.get(root)
        if block is None or not block.take(entry):
            if block is not None:
                block.close()
            agents = self.state.agents
            block = AgentBlock(root, self._drawing, agents, room=self._room_of_agent, before=block)
            self._by_agent[root] = block
            block.take(entry)
            self._add(block)
            self._since_prompt.append(block)
        self._by_entry[id(entry)] = block

    def _is_running(self, id: str) -> bool:
        newest_first = reversed(self.state.entries)
        call = next((entry for entry in newest_first if isinstance(entry, TranscriptCall) and entry.id == id), None)
        return call is not None and call.content is None

    def _end_review(self, call: str) -> None:
        """Its own block takes the place of its reviewer's, where that is not history."""
        for path, block in self._by_agent.items():
            agent = self.state.agents.get(path)
            if agent is None or agent.call != call or not block.is_review or block not in self._open:
                continue
            block.end_review()
            self.blocks.remove(block)
            self._open.remove(block)
            if not self._laying_out:
                self.component.remove(block)

    def _room_of_agent(self) -> int:
        """Rows for the block of an agent that works, so that all of them are on the screen at once."""
        count = sum(isinstance(block, AgentBlock) for block in self._open)
        return (self._size()[1] - _OTHER_ROWS) // max(count, 1) - 1

    def _is_aside(self, path: str) -> bool:
        agent = self.state.agents.get(path)
        return agent is not None and agent.aside

    def _begin_in_aside(self, entry: Entry) -> None:
        """Add a part of an answer below its header, which is the question."""
        path = entry.agent
        block = self._asides.get(path)
        if block is None or self.blocks[-1] is not block:
            self._close_aside_blocks(path)
            block = self._aside_headers[path] = self._add(AsideHeader(path, self._drawing, self.state.agents))
        if not isinstance(entry, TranscriptMessage):
            if not self._is_hidden(entry):
                self._close_aside_blocks(path)
            block = self._add(aside_block(entry, self._drawing))
        self._asides[path] = self._by_entry[id(entry)] = block
        self._close_aside(path)

    def _is_hidden(self, entry: Entry) -> bool:
        return isinstance(entry, TranscriptText) and entry.reasoning and not self._drawing.reasoning

    def _close_aside(self, path: str) -> None:
        """All of it is complete, when it has ended."""
        if path in self._asides and not self.state.agents[path].running:
            self._close_aside_blocks(path)

    def _close_aside_blocks(self, path: str) -> None:
        for block in (self._aside_headers.get(path), self._asides.get(path)):
            if block is not None:
                block.close()

    def _agent_changed(self, path: str) -> None:
        self._close_aside(path)
        block = self._by_agent.get(path.partition("/")[0])
        if block is not None:
            block.changed()

    def _add(self, block: TranscriptBlock) -> TranscriptBlock:
        self.blocks.append(block)
        self._open.append(block)
        if not self._laying_out:
            self.component.append(block, live=True)
        return block

    def _ended(self, call: TranscriptCall, block: TranscriptBlock) -> None:
        """A call has ended: reads next to each other become one block, in any order of their ends."""
        if not block.open_ended:
            self._close_before(block)
            return
        at = len(self.blocks) - 1
        while self.blocks[at] is not block:
            at -= 1
        if at and self._joined(self.blocks[at - 1], block):
            at -= 1
        if at + 1 < len(self.blocks):
            self._joined(self.blocks[at], self.blocks[at + 1])

    def _joined(self, block: TranscriptBlock, after: TranscriptBlock) -> bool:
        """Move the calls of the next block into this one. False: they do not belong together."""
        if not (block.open_ended and after.open_ended and block in self._open and after in self._open):
            return False
        calls = after.calls if isinstance(after, CallBlock) else []
        if not calls or not block.take(calls[0]):
            return False
        for number, call in enumerate(calls):
            if number:
                block.take(call)
            self._by_entry[id(call)] = block
        self.blocks.remove(after)
        self._open.remove(after)
        if not self._laying_out:
            self.component.remove(after)
        return True

    def _close_before(self, block: TranscriptBlock) -> None:
        """Close the open-ended blocks before this one: nothing will join them."""
        for earlier in self._open:
            if earlier is block:
                break
            if earlier.open_ended and earlier is not self._streaming:
                earlier.close()
        self._finish()  # else each of many entries would visit all before it

    def _close_streaming(self) -> None:
        """The words that stream are complete."""
        if self._streaming is not None:
            self._streaming.close()
            self._streaming = None

    def _finish(self) -> None:
        done = [block for block in self._open if block.done]
        if done:
            self._open = [block for block in self._open if block not in done]
        if not self._laying_out:
            for block in done:
                self.component.finish(block)


def _is_beside(entry: Entry) -> bool:
    """Whether it is independent of the agent's words: they may continue after it."""
    return isinstance(entry, Remark) or (
        isinstance(entry, TranscriptCall) and (entry.is_job or entry.source == "person")
    )


def _is_agent_state(event: Event) -> bool:
    return isinstance(event, State) and event.key == AgentState.KEY


def is_running_job(entry: Entry) -> bool:
    return isinstance(entry, TranscriptCall) and entry.is_job and entry.content is None
