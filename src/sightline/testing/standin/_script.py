"""The script a stand-in model plays: JSON, a list of turns; a turn is a list of blocks and answers one request.

- `{"text": …}`, `{"reasoning": …}`: words and thinking. A text with `cut_at: n` breaks the connection after n
  characters, the first time it is asked for.
- `{"tool": name, "args": {…}}`: a call. A common name (Read, Write, Edit, Bash, Grep, Glob, Task, Todo, in any case)
  becomes that of the client's own tool, as far as its name is a usual one, and so do its arguments; where there is no
  such tool but a shell, Read, Write, Edit, Grep and Glob become a command. Any other name is used as it stands. A Task
  may have `agent`, the list of turns its subagent plays; it is recognised by `args.prompt`, which must differ between
  subagents.
- `{"error": message, "status": 429, "times": 1, "retry_after": 2}`: the turn is answered with this HTTP error, `times`
  times (always, when left out), before the rest of the turn is played. A turn that is nothing else is then passed over.

This is not quite the script of `--model scripted:FILE`, whose turns may be objects and whose tools are our own agent's.

Each block may have `chunk` (characters per streamed delta) and `delay_ms` (pause after each delta).
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Union

import msgspec

MAIN = "main"

CHUNK = 12


class _Block(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    chunk: int = CHUNK
    delay_ms: float = 0


class TextBlock(_Block, frozen=True, kw_only=True):
    text: str
    cut_at: int | None = None


class ReasoningBlock(_Block, frozen=True, kw_only=True):
    reasoning: str


class ToolBlock(_Block, frozen=True, kw_only=True):
    tool: str
    args: dict[str, Any] = {}
    agent: list[list[dict[str, Any]]] = []


class ErrorBlock(_Block, frozen=True, kw_only=True):
    error: str
    status: int = 500
    times: int | None = None
    retry_after: float | None = None


Block = Union[TextBlock, ReasoningBlock, ToolBlock, ErrorBlock]
Turn = list[Block]
ScriptSource = Union["Script", str, Path, Sequence[Sequence[dict[str, Any]]]]

_KINDS: dict[str, type[Block]] = {
    "text": TextBlock,
    "reasoning": ReasoningBlock,
    "tool": ToolBlock,
    "error": ErrorBlock,
}


class ScriptError(ValueError):
    """The script cannot be played; the message says which block is wrong and why."""


class Part(msgspec.Struct, frozen=True):
    """What one agent plays. `prompt` is how its conversation is recognised; the main agent has none."""

    agent: str
    prompt: str
    turns: list[Turn]


class Script(msgspec.Struct, frozen=True):
    """The main agent's part first, then one part per subagent."""

    parts: list[Part]

    @property
    def turns(self) -> list[Turn]:
        return self.parts[0].turns


def load_script(source: ScriptSource) -> Script:
    """A script from a file, from JSON text already decoded, or as it is."""
    if isinstance(source, Script):
        return source
    if isinstance(source, (str, Path)):
        try:
            source = msgspec.json.decode(Path(source).read_bytes())
        except msgspec.DecodeError as error:
            raise ScriptError(f"not JSON: {error}") from error
    return Script(list(_parts(MAIN, "", source)))


def _parts(agent: str, prompt: str, turns: Any) -> Iterator[Part]:
    if not isinstance(turns, Sequence) or isinstance(turns, str):
        raise ScriptError("a script is a list of turns, each a list of blocks")
    part = Part(agent, prompt, [_turn(turn, number) for number, turn in enumerate(turns, 1)])
    yield part
    for turn in part.turns:
        for block in turn:
            if isinstance(block, ToolBlock) and block.agent:
                yield from _parts(*_subagent(block), block.agent)


def _subagent(block: ToolBlock) -> tuple[str, str]:
    prompt = block.args.get("prompt")
    if not isinstance(prompt, str) or not prompt:
        raise ScriptError(f"{block.tool} has an `agent` but no `args.prompt` to recognise it by")
    return str(block.args.get("description") or prompt), prompt


def _turn(turn: Any, number: int) -> Turn:
    if not isinstance(turn, Sequence) or isinstance(turn, str):
        raise ScriptError(f"turn {number} is not a list of blocks")
    return [_block(block, f"turn {number}, block {position}") for position, block in enumerate(turn, 1)]


def _block(block: Any, where: str) -> Block:
    kinds = [kind for kind in _KINDS if isinstance(block, dict) and kind in block]
    if len(kinds) != 1:
        raise ScriptError(f"{where}: needs exactly one of {', '.join(_KINDS)}")
    try:
        return msgspec.convert(block, _KINDS[kinds[0]])
    except msgspec.ValidationError as error:
        raise ScriptError(f"{where}: {error}") from error
