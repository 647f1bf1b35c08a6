"""The transcript on the screen: the fold of what the host tells, and a block for each entry of it.

Rules:

- Every event goes through the fold first; a block is only told which entry changed.
- Entries of a subagent live in that agent's block. A job that runs has none: it is in the panel of jobs, and its end
  is a block like any other.
- A long past is shown from its end: the last blocks at once, those before them above, a slice at a time, while the
  screen stands still and keys are heard. The same when everything is to be shown otherwise.
- A block that takes longer to draw than a key may wait is live until it is drawn whole, a slice at a time (`advance`).
- A view that fell behind is given a snapshot: entries that are known are changed in place, and what is on the screen
  is not written again.
- A block is live until it is done. One that does not know when it is (`open_ended`) is closed when what came after it
  is sure to be something else: words by the next entry, a group of reads by one that is no read, and whether a call is
  one is known at its end.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from sightline.events import (
    AgentEnded,
    AgentStarted,
    BranchState,
    Event,
    RunEnded,
    State,
    TurnEnded,
)
from sightline.transcript import Entry, Remark, Snapshot, TranscriptCall, TranscriptText
from sightline.transcript import Transcript as Fold
from sightline.tty import Component
from sightline.tty.components import BlockColumn, show_end
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.blocks import block_for
from sightline.views.console.blocks._block import TranscriptBlock
from sightline.views.console.blocks._call import CallBlock
from sightline.views.console.blocks._pieces import pieces_of
from sightline.views.console.blocks._words import WordsBlock

Size = Callable[[], tuple[int, int]]
Fill = Callable[[Iterable[Component]], object]


class TranscriptView:
    """`component` is what is drawn. `fill` is given the blocks that stand before those a screen of this `size` shows at
    once, to be filled in little by little."""

    def __init__(self, drawing: DrawingOptions, redraw: Callable[[], None], *, size: Size, fill: Fill) -> None:
        self.component = BlockColumn()
        self.fold = Fold()
        self.blocks: list[TranscriptBlock] = []
        """All there are, in order."""
        self._drawing = drawing
        self._redraw = redraw
        self._size = size
        self._fill = fill
        self._laying_out = self._near_end = False
        self._by_entry: dict[int, TranscriptBlock] = {}
        self._by_agent: dict[str, TranscriptBlock] = {}
        self._open: list[TranscriptBlock] = []
        """Those that are not finished, in order."""
        self._older: set[TranscriptBlock] = set()
        """Those that are not drawn whole yet, and stand before what is held."""
        self._speaking: TranscriptBlock | None = None
        """The words that stream."""
        self._early: list[Remark] = []
        """What was said before the host had told anything."""
        self._above: TranscriptBlock | None = None
        """What the blocks made anew begin with."""

    @property
    def state(self) -> Snapshot:
        return self.fold.now

    @property
    def ticking(self) -> list[TranscriptBlock]:
        return [block for block in self._open if block.ticks]

    @property
    def behind(self) -> bool:
        """There is more to draw than a frame has time for."""
        return self._first_behind() is not None

    def _first_behind(self) -> TranscriptBlock | None:
        """What is held cannot become history, and rows of it would pile up: what is filled in above it comes first."""
        behind = (block for block in self._open if block.behind)
        return next((block for block in behind if self.component.held is None or block in self._older), None)

    def advance(self) -> TranscriptBlock | None:
        """Draw more of the first block that is behind, which is returned."""
        block = self._first_behind()
        if block is not None:
            block.advance()
            self._finish()
        return block

    def replace(self, snapshot: Snapshot, above: TranscriptBlock | None = None) -> None:
        """Show this, in place of all there was, below a block that no entry is behind. What was said while it was
        waited for is said again below it."""
        early, self._early = self._early, []
        self.fold, self._above = Fold(snapshot), above
        self.restart()
        for remark in early:
            self.say(remark)

    def catch_up(self, snapshot: Snapshot) -> bool:
        """Go on from the state after what was missed: what is on the screen stays there. False when this is not the
        conversation that is shown, further on."""
        changed = self.fold.catch_up(snapshot)
        if changed is None:
            return False
        for entry in changed:
            self._touched(entry)
        for path in snapshot.agents:
            self._agent_changed(path)
        if not snapshot.running:
            self._hush()
        self._finish()
        self._redraw()
        return True

    def restart(self) -> None:
        """Make every block anew: the fold holds what it held, but other things of it are shown, or otherwise."""
        self.component.clear()
        self.blocks, self._open, self._speaking = [], [], None
        self._by_entry, self._by_agent = {}, {}
        self._laying_out = True
        above, self._above = self._above, None
        if above is not None:
            self._add(above)
        entries = self.state.shown
        near = len(entries) - self._size()[1]  # no entry from there on is sure to be above the screen
        for at, entry in enumerate(entries):
            if not _is_running_job(entry):
                self._near_end = at >= near
                self._begin(entry)
        if not self.state.running:
            for block in self._open:
                if block is not above or self.blocks[-1] is not above:
                    block.close()
        self._finish()
        self._laying_out = False
        self._show()

    def show_again(self) -> None:
        """Show every block there is anew: other things of it are shown, or otherwise."""
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
        """The last blocks at once, those before them little by little."""
        self._older.clear()
        if older := show_end(self.component, self.blocks, self._size(), is_live=self.is_live):
            self._fill(self._in_pieces(older))

    def _in_pieces(self, older: Sequence[Component]) -> Iterator[Component]:
        """Long texts are cut when their turn comes: a key cannot wait until all are."""
        for block in older:
            if self.component.held is None:
                return  # something else is shown by now
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
        """Blocks that look, one below the other, as the whole text does; what may come after it goes to the last."""
        *pieces, last = pieces_of(entry.text)
        for piece in pieces:
            part = TranscriptText(entry.agent, entry.block, piece, entry.reasoning, entry.seq)
            yield block_for(part, self._drawing, self.state.agents)
        block = self._by_entry[id(entry)] = WordsBlock(entry, self._drawing, len(entry.text) - len(last))
        yield block

    def stop(self) -> None:
        """Whoever worked here is gone: nothing is under way any more, and nobody waits for an answer."""
        self.fold.lose_host()
        for block in self._open:
            block.close()
        self._speaking = None
        self._finish()

    def is_live(self, block: Component) -> bool:
        return block in self._open

    def say(self, remark: Remark) -> None:
        """A word of the console's own: shown here, kept nowhere."""
        if not self.state.seq:
            self._early.append(remark)
        self.add_page(block_for(remark, self._drawing, self.state.agents))

    def entered(self, text: str) -> None:
        """The person entered this here, and will hear of it as of any other message."""

    def add_page(self, block: TranscriptBlock) -> None:
        """A block that no entry is behind."""
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
                self._hush()
            elif isinstance(event, AgentStarted | AgentEnded):
                self._agent_changed(event.path)
        self._finish()
        self._redraw()

    def _touched(self, entry: Entry) -> None:
        block = self._by_entry.get(id(entry))
        if block is None:
            if not _is_running_job(entry):
                self._begin(entry)
            return
        if isinstance(block, WordsBlock) and isinstance(entry, TranscriptText) and block.rest is not None:
            self._speaking = self._by_entry[id(entry)] = self._add(WordsBlock(entry, self._drawing, block.rest))
            return
        block.changed()
        if isinstance(entry, TranscriptCall) and entry.content is not None:
            self._ended(entry, block)

    def _begin(self, entry: Entry) -> None:
        """A block for an entry, or a place in one there is."""
        if entry.agent:
            self._begin_in_agent(entry)
            return
        if not _is_meanwhile(entry):
            self._hush()
        last = self._open[-1] if self._open and self._open[-1] is self.blocks[-1] else None
        if last is not None and last.take(entry):
            self._by_entry[id(entry)] = last
            return
        block = self._by_entry[id(entry)] = self._add_whole(entry)
        if isinstance(entry, TranscriptText):
            self._speaking = block
        if not isinstance(entry, TranscriptCall):
            self._close_before(block)
        elif entry.content is not None:
            self._ended(entry, block)

    def _add_whole(self, entry: Entry) -> TranscriptBlock:
        """The block of an entry; of a long text from before that the screen may show, several, of which the last is
        returned."""
        if not isinstance(entry, TranscriptText) or not self._laying_out:
            return self._add(block_for(entry, self._drawing, self.state.agents))
        if not self._near_end:
            return self._add(WordsBlock(entry, self._drawing, at_once=True))
        *parts, last = self._parts(entry)
        for part in parts:
            self._add(part).close()
        return self._add(last)

    def _begin_in_agent(self, entry: Entry) -> None:
        root = entry.agent.partition("/")[0]
        block = self._by_agent.get(root)
        if block is None or not block.take(entry):
            block = self._by_agent[root] = self._add(block_for(entry, self._drawing, self.state.agents))
        self._by_entry[id(entry)] = block

    def _agent_changed(self, path: str) -> None:
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
        """A call has ended: reads that stand next to each other become one block, whichever ended first."""
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
        """Let a block take over what the one after it shows. Whether it did."""
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
        """Nothing joins what stands before a block that stays."""
        for earlier in self._open:
            if earlier is block:
                break
            if earlier.open_ended and earlier is not self._speaking:
                earlier.close()
        self._finish()  # or every entry of many would look at all before it

    def _hush(self) -> None:
        """The words that stream are complete."""
        if self._speaking is not None:
            self._speaking.close()
            self._speaking = None

    def _finish(self) -> None:
        done = [block for block in self._open if block.done]
        if done:
            self._open = [block for block in self._open if block not in done]
        if not self._laying_out:
            for block in done:
                self.component.finish(block)


def _is_meanwhile(entry: Entry) -> bool:
    """Whether it came beside what the agent says, and is no sign that it has said it."""
    return isinstance(entry, Remark) or (
        isinstance(entry, TranscriptCall) and (entry.is_job or entry.source == "person")
    )


def _is_running_job(entry: Entry) -> bool:
    return isinstance(entry, TranscriptCall) and entry.is_job and entry.content is None
