"""A question of the user beside the conversation (`/btw`): its header, and what answers it.

They are blocks of their own, so that a long answer becomes history while it is written, as the agent's words do. What
the agent does at the same time stands between them: the header is repeated above what continues below that. A line in
the colour of the answering agent distinguishes the answer from the words of the conversation.
"""

from collections.abc import Mapping

from sightline.text import clean_text
from sightline.transcript import Remark, TranscriptAgent, TranscriptCall, TranscriptText
from sightline.tty import CachedComponent, Rows, truncate
from sightline.views.console._agent_names import agent_name, agent_role
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.blocks._block import TranscriptBlock
from sightline.views.console.blocks._call import state_of
from sightline.views.console.blocks._header import INDENT, beside, header_rows, sign_of
from sightline.views.console.blocks._remark import RemarkBlock
from sightline.views.console.blocks._words import WordsBlock
from sightline.views.console.shapes import shape_of
from sightline.views.console.shapes._shape import seconds_words, short

_ROWS, _NAME, _TITLE = 10, 24, 200
"""Rows of a question, characters of a name and of what a call is about."""


def aside_block(entry: TranscriptText | TranscriptCall | Remark, drawing: DrawingOptions) -> TranscriptBlock:
    """A part of an answer."""
    if isinstance(entry, TranscriptText):
        return AsideWords(entry, drawing)
    if isinstance(entry, TranscriptCall):
        return AsideCall(entry, drawing)
    block = RemarkBlock(entry, drawing)
    block.joins_previous = True
    return block


class AsideHeader(CachedComponent, TranscriptBlock):
    """The question. Until something comes of it, it shows how long that takes."""

    def __init__(self, path: str, drawing: DrawingOptions, agents: Mapping[str, TranscriptAgent]) -> None:
        self._path = path
        self._drawing = drawing
        self._agents = agents
        self._closed = False

    @property
    def _agent(self) -> TranscriptAgent | None:
        return self._agents.get(self._path)

    @property
    def done(self) -> bool:
        agent = self._agent
        return self._closed or agent is None or not agent.running

    @property
    def outlives_run(self) -> bool:
        return not self.done

    @property
    def ticks(self) -> bool:
        return not self.done and not self._drawing.linear

    def close(self) -> None:
        self._closed = True

    @property
    def source(self) -> str:
        agent = self._agent
        return "" if agent is None else f"/btw {agent.task}"

    def _key(self) -> tuple[object, ...]:
        return self._drawing.theme.name, self.done, self._waited()

    def _waited(self) -> int:
        """Whole seconds; 0 where nothing is to move."""
        agent = self._agent
        if self.done or agent is None or not agent.started or self._drawing.linear:
            return 0
        return max(int(self._drawing.clock() - agent.started), 0)

    def _draw(self, width: int) -> Rows:
        agent, waited = self._agent, self._waited()
        return tuple(
            header_rows(
                self._drawing.theme,
                max(width, 4),
                state="aside" if self.done else "running",
                label=short(agent_name(self._path, agent), _NAME),
                title=clean_text(agent.task) if agent is not None else "",
                suffix=seconds_words(waited) if waited else "",
                most=_ROWS,
                spoken=self._drawing.linear,
                role=agent_role(self._path, self._drawing.agent),
            )
        )


class AsideWords(WordsBlock):
    """Words of the answer."""

    open_ended = False
    joins_previous = True

    def __init__(self, words: TranscriptText, drawing: DrawingOptions) -> None:
        super().__init__(words, drawing)
        self._role = agent_role(words.agent, drawing.agent)
        self._inside: Rows | None = None
        self._beside: Rows = ()

    def render(self, width: int) -> Rows:
        rows = super().render(max(width - len(INDENT), 2))
        if rows is not self._inside:
            self._inside, self._beside = rows, beside(rows, self._drawing, self._role)
        return self._beside

    @property
    def outlives_run(self) -> bool:
        return not self._closed

    @property
    def long(self) -> None:
        """It is not cut into blocks, which would be without the line."""


class AsideCall(CachedComponent, TranscriptBlock):
    """A call in an answer: it was not run."""

    joins_previous = True

    def __init__(self, call: TranscriptCall, drawing: DrawingOptions) -> None:
        self._call = call
        self._drawing = drawing

    @property
    def done(self) -> bool:
        return self._call.content is not None

    @property
    def outlives_run(self) -> bool:
        return not self.done

    def _key(self) -> tuple[object, ...]:
        return self._drawing.theme.name, self._call.updates, self.done

    def _draw(self, width: int) -> Rows:
        call, drawing = self._call, self._drawing
        sign, role = sign_of(state_of(call), spoken=drawing.linear)
        shape = shape_of(call, drawing)
        words = short(call.content or "", _TITLE)
        row = f"{drawing.theme.style(role, sign)} {shape.label} {drawing.theme.style('muted', words)}".rstrip()
        return beside([truncate(row, max(width - len(INDENT), 2))], drawing, agent_role(call.agent, drawing.agent))
