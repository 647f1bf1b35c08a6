"""A model that plays a script, for demos, tests and benchmarks without a network.

A script is JSON: a list of turns, one per request. A turn is a list of blocks, or an object:

    [{"text": …}, {"reasoning": …}, {"tool": name, "args": {…}}]
    {"blocks": [...], "usage": {"input_tokens": 10, …}, "cost": 0.01, "stop": "length"}

- A block may have `chunk` (characters of each piece of it) and `delay_ms` (the wait before each piece).
- `{"error": "message"}` fails the request there, what came before it being a cut answer. `{"error": {"kind": …,
  "message": …, "retry_after": seconds}}` sets how. A turn that begins with an error fails once and is then over, so
  that asking again plays the next turn, as it would with a server that has recovered.
- The first request plays the turn after as many as there are assistant messages already in it, not counting turns that
  begin with an error, so that a resumed conversation continues where it was. Each request after that plays the next
  turn, whatever the conversation became.
- A turn with `"aside": true` answers a side question (`/btw`): the first such turn the first question, and so on. It is
  none of the turns that are counted above.
- `{"agents": {ID: [turns], …}}` in place of a turn has the scripts of agents that the user starts (`/review` starts
  `Review`). It is no turn.
- A request after the last turn is answered with the words "the script is over".
- A `task` block may have `agents`: the scripts of the agents it starts, by their ids. `FILE#ID` plays one of those, and
  nothing where there is none; `FILE#PARENT.CHILD` the one of an agent below another.
- An agent of another program may have a recording in place of a script: a file beside the script with the lines that
  the program printed. It plays that, and the program is not started.
"""

import asyncio
import os
import re
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Annotated, TypeVar, Union

import msgspec
from msgspec import Meta

from sightline.conversation import SIDE_QUESTION, AssistantMessage, StopReason, UserMessage
from sightline.events import Usage
from sightline.exceptions import UserMistake
from sightline.handles import open_exactly, ours, read_at_most, read_bytes, real_path
from sightline.models._api import ErrorKind, ModelError, ModelFacts, ModelRequest, Piece
from sightline.models._assembly import Assembly
from sightline.models.http._failing import failure
from sightline.models.http._retry import Sleep, retried
from sightline.settings import RetrySettings

T = TypeVar("T")

CHUNK = 12
LARGEST = 64 * 1024**2  # bytes of a script
OVER = "the script is over"
AGENT_MARK = "#"  # between the file and the id of an agent
_agent_id = re.compile(r"[A-Za-z0-9_.-]+").fullmatch
_RETRY = RetrySettings()
_RETRYABLE = frozenset({"rate_limit", "overloaded", "network", "cut"})


class _Block(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    chunk: Annotated[int, Meta(ge=1)] = CHUNK
    delay_ms: Annotated[float, Meta(ge=0)] = 0


class ScriptedTextBlock(_Block, frozen=True, kw_only=True):
    text: str


class ReasoningBlock(_Block, frozen=True, kw_only=True):
    reasoning: str


class RecordedAgent(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    recording: str  # the name of a file beside the script
    delay_ms: Annotated[float, Meta(ge=0)] = 0  # before each line that shows something


AgentScripts = dict[str, Union[list[object], RecordedAgent]]  # by the ids of agents


class ToolBlock(_Block, frozen=True, kw_only=True):
    tool: str
    args: dict[str, object] = {}
    agents: AgentScripts = {}  # what the agents play that the call starts


class ScriptedFailure(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    message: str = "the script says so"
    kind: ErrorKind = "overloaded"
    retry_after: float | None = None


class ErrorBlock(_Block, frozen=True, kw_only=True):
    error: Union[str, ScriptedFailure]


Block = Union[ScriptedTextBlock, ReasoningBlock, ToolBlock, ErrorBlock]


class _TurnEnd(msgspec.Struct, frozen=True, kw_only=True):
    usage: Usage | None = None
    cost: Annotated[float, Meta(ge=0)] | None = None
    stop: StopReason | None = None
    aside: bool = False
    agents: AgentScripts = {}  # what the agents play that the user starts


class ScriptedTurn(_TurnEnd, frozen=True, kw_only=True):
    blocks: list[Block]

    @property
    def has_agents_alone(self) -> bool:
        return bool(self.agents) and not self.blocks

    @property
    def agent_scripts(self) -> Iterator[AgentScripts]:
        yield self.agents
        yield from (block.agents for block in self.blocks if isinstance(block, ToolBlock))


_OVER = ScriptedTurn(blocks=[ScriptedTextBlock(text=OVER)])


class AgentRecording(msgspec.Struct, frozen=True):
    """What another program printed, and how fast it is played."""

    data: bytes
    delay: float = 0.0  # seconds before each line that shows something


_KINDS: dict[str, type[Block]] = {
    "text": ScriptedTextBlock,
    "reasoning": ReasoningBlock,
    "tool": ToolBlock,
    "error": ErrorBlock,
}
_TURN_FIELDS = ("blocks", "usage", "cost", "stop", "aside", "agents")


class ScriptedModel:
    """Plays the script in a file, or one given as it is. `requests` are those it got."""

    api = "scripted"

    def __init__(
        self,
        script: str | Path | list[object],
        *,
        facts: ModelFacts | None = None,
        retry: RetrySettings = _RETRY,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        turns = [turn for turn in load_script(script) if not turn.has_agents_alone]
        self._turns = [turn for turn in turns if not turn.aside]
        self._asides = iter([turn for turn in turns if turn.aside])
        name = script if isinstance(script, (str, Path)) else "script"
        self.facts = facts or ModelFacts(
            id=f"scripted:{name}", provider="scripted", images=True, tools=True, thinking=True
        )
        self.requests: list[ModelRequest] = []
        self._next: int | None = None
        self._retry = retry
        self._sleep = sleep

    def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        return retried(lambda: self._play(request), self._retry, sleep=self._sleep)

    async def close(self) -> None:
        pass

    async def _play(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        turn = self._turn_for(request)
        assembly = Assembly(self.api, self.facts.id)
        for key, block in enumerate(turn.blocks):
            if isinstance(block, ErrorBlock):
                raise _failure(block, assembly)
            for piece in _pieces(assembly, key, block):
                if block.delay_ms:
                    await self._sleep(block.delay_ms / 1000)
                yield piece
        assembly.usage, assembly.cost = turn.usage, turn.cost
        yield assembly.done(turn.stop or "stop")

    def _turn_for(self, request: ModelRequest) -> ScriptedTurn:
        if _is_aside(request):
            self.requests.append(request)
            return next(self._asides, _OVER)
        if self._next is None:
            answers = sum(isinstance(message, AssistantMessage) for message in request.messages)
            self._next = _turn_after(self._turns, answers)
        number, self._next = self._next, self._next + 1
        self.requests.append(request)
        return self._turns[number] if number < len(self._turns) else _OVER


def _is_aside(request: ModelRequest) -> bool:
    return any(isinstance(message, UserMessage) and message.origin == SIDE_QUESTION for message in request.messages)


def _turn_after(turns: list[ScriptedTurn], answers: int) -> int:
    """The number of the turn that follows so many answers; a turn that only fails is none."""
    if not answers:
        return 0
    answering = [at for at, turn in enumerate(turns) if not (turn.blocks and isinstance(turn.blocks[0], ErrorBlock))]
    return answering[answers - 1] + 1 if answers <= len(answering) else len(turns)


def _pieces(assembly: Assembly, key: int, block: Block) -> Iterator[Piece]:
    match block:
        case ScriptedTextBlock():
            found = (assembly.text(key, piece) for piece in _cut(block.text, block.chunk))
            yield from (piece for piece in found if piece is not None)
        case ReasoningBlock():
            thought = (assembly.reasoning(key, piece) for piece in _cut(block.reasoning, block.chunk))
            yield from (piece for piece in thought if piece is not None)
        case ToolBlock():
            begun = assembly.call(key, block.tool)
            assert begun is not None
            yield begun
            arguments = msgspec.json.encode(block.args).decode()
            deltas = (assembly.arguments(key, piece) for piece in _cut(arguments, block.chunk))
            yield from (delta for delta in deltas if delta is not None)


def _cut(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def _failure(block: ErrorBlock, assembly: Assembly) -> ModelError:
    spec = ScriptedFailure(message=block.error) if isinstance(block.error, str) else block.error
    error = failure(spec.kind, spec.message)
    error.retryable, error.retry_after = spec.kind in _RETRYABLE, spec.retry_after
    error.partial = assembly.message("error", spec.message) if assembly.begun else None
    return error


def load_script(source: str | Path | list[object]) -> list[ScriptedTurn]:
    """The turns of a script; a mistake in it is reported with its place."""
    if isinstance(source, list):
        return _turns(source, "the script")
    file, agent = _agent_of(source)
    if agent:
        found = _agent_script(load_script(file), agent, str(source))
        if isinstance(found, RecordedAgent):
            raise UserMistake(
                f"{source}: only an agent of another program plays a recording", "give it a list of turns"
            )
        return found
    path = Path(source)
    try:
        with ours(path):
            data = read_at_most(path, LARGEST + 1)  # never waits: a named pipe would hold the program for ever
    except OSError as error:
        raise UserMistake(f"cannot read the script {path}: {error.strerror}", "check the path") from error
    _check_size(data, f"the script {path}")
    return _turns(_decoded(data, path), str(path))


def load_recording(source: str) -> AgentRecording | None:
    """What the agent of `FILE#ID` plays in place of its program; None where it has no recording. A mistake is reported
    with its place."""
    file, agent = _agent_of(source)
    found = _agent_script(load_script(file), agent, source) if agent else None
    if not isinstance(found, RecordedAgent):
        return None
    name = found.recording
    if "/" in name or not name.isprintable() or name in ("", ".", ".."):  # half of a character is no name, either
        raise UserMistake(f"{source}: not the name of a recording: {name}", "name a file beside the script")
    try:
        descriptor = open_exactly(os.path.join(real_path(os.path.dirname(os.path.abspath(file))), name))
        try:
            data = read_bytes(descriptor, LARGEST + 1)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise UserMistake(f"{source}: cannot read the recording {name}: {error.strerror}", "check the name") from error
    _check_size(data, f"the recording {name}")
    return AgentRecording(data, found.delay_ms / 1000)


def _agent_of(source: str | Path) -> tuple[str, str]:
    """The file, and the id of the agent in it whose script is meant; empty: the script of the session itself."""
    file, mark, agent = str(source).rpartition(AGENT_MARK)
    return (file, agent) if mark and _agent_id(agent) and not Path(source).exists() else (str(source), "")


def _check_size(data: bytes, what: str) -> None:
    if len(data) > LARGEST:
        raise UserMistake(f"cannot read {what}: larger than {LARGEST // 1024**2} MiB", "give a shorter one")


def _agent_script(turns: list[ScriptedTurn], agent: str, name: str) -> list[ScriptedTurn] | RecordedAgent:
    """The script of an agent that is started in these turns; of one that is started twice, the first."""
    above, _, below = agent.partition(".")
    for agents in (agents for turn in turns for agents in turn.agent_scripts):
        if above in agents:
            given = agents[above]
            if isinstance(given, RecordedAgent):
                return [] if below else given
            found = _turns(given, f"{name}: agent {above}")
            return _agent_script(found, below, name) if below else found
    return []


def _decoded(data: bytes, path: Path) -> object:
    import json

    try:
        return json.loads(data)
    except json.JSONDecodeError as error:
        where = f"{path}:{error.lineno}:{error.colno}"
        raise UserMistake(f"{where}: the script is not JSON: {error.msg}", "a script is a list of turns") from error
    except (UnicodeDecodeError, RecursionError) as error:
        raise UserMistake(f"{path}: the script is not JSON: {error}", "a script is a list of turns") from error


def _turns(value: object, name: str) -> list[ScriptedTurn]:
    if not isinstance(value, list):
        raise UserMistake(f"{name}: a script is a list of turns", "put the turns into [ … ]")
    return [_turn(turn, f"{name}: turn {number}") for number, turn in enumerate(value, 1)]


def _turn(value: object, where: str) -> ScriptedTurn:
    fields = value if isinstance(value, dict) else {"blocks": value}
    unknown = next((name for name in fields if name not in _TURN_FIELDS), None)
    given = fields.get("blocks", [] if fields.get("agents") else None)
    if unknown is not None or not isinstance(given, list):
        what = "needs a list of blocks" if unknown is None else f"there is no '{unknown}' in a turn"
        raise UserMistake(f"{where}: {what}", f"a turn is a list of blocks, or has {', '.join(_TURN_FIELDS)}")
    blocks = [_block(block, f"{where}, block {position}") for position, block in enumerate(given, 1)]
    rest = {name: fields[name] for name in _TURN_FIELDS[1:] if name in fields}
    end = _converted(rest, _TurnEnd, where)
    return ScriptedTurn(
        blocks=blocks, usage=end.usage, cost=end.cost, stop=end.stop, aside=end.aside, agents=end.agents
    )


def _block(value: object, where: str) -> Block:
    kinds = [kind for kind in _KINDS if isinstance(value, dict) and kind in value]
    if not isinstance(value, dict) or len(kinds) != 1:
        raise UserMistake(f"{where}: needs exactly one of {', '.join(_KINDS)}", 'such as {"text": "Hello."}')
    return _converted(value, _KINDS[kinds[0]], where)


def _converted(value: dict[str, object], kind: type[T], where: str) -> T:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise UserMistake(
            f"{where}: {error}", "a block has text, reasoning, tool and args, or error; and chunk, delay_ms"
        ) from error
