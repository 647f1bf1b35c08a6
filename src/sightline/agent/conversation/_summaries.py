"""What a model writes about a conversation for another model: at a compaction, and when a branch is left."""

from collections.abc import Callable

from sightline.actors import encodable
from sightline.agent.conversation._compaction import BRANCH_SUMMARISER, written_out
from sightline.agent.conversation._memory import remembered
from sightline.conversation import AssistantMessage, Message, TextPart, UserMessage
from sightline.journal import Entry
from sightline.models import Done, Model, ModelError, ModelRequest, Retrying

_CHARACTERS_AT_MOST = 400_000  # of a conversation that is to be summarised; the oldest go first


async def summarised(
    model: Model,
    system: str,
    messages: list[Message],
    instructions: str = "",
    on_wait: Callable[[Retrying], None] = lambda wait: None,
    on_answer: Callable[[AssistantMessage], None] = lambda answer: None,
) -> str:
    """What a model makes of a conversation."""
    context = model.facts.context
    most = min(_CHARACTERS_AT_MOST, 2 * context) if context else _CHARACTERS_AT_MOST  # half of what it reads, about
    text = encodable(written_out(messages))
    text = text[-most:] + (f"\n\nWhat matters most: {instructions}" if instructions else "")
    answer: str | None = None
    async for piece in model.stream(ModelRequest(system=system, messages=[UserMessage([TextPart(text)])])):
        if isinstance(piece, Done):
            answer = piece.message.text.strip()
            on_answer(piece.message)
        elif isinstance(piece, Retrying):
            on_wait(piece)
    if answer is None:
        raise ModelError("protocol", "the model's answer is incomplete")
    return answer


async def summarise_branch(model: Model, entries: list[Entry], instructions: str = "") -> str:
    """What is worth knowing of a branch that is left."""
    messages = [message for entry in entries if (message := remembered(entry)) is not None]
    try:
        return await summarised(model, BRANCH_SUMMARISER, messages, instructions)
    finally:
        await model.close()
