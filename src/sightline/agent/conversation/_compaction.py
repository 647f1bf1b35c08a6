"""Compaction of a long conversation: its older part becomes a summary, its end stays as it is.

Rules:

- Nothing is deleted: the entries stay in the tree, and a `compaction` entry says where the summary takes over.
- The part that stays begins with a message of the user or of the model, never with the result of a removed call.
- The length of a conversation is what the model counted for its last request, plus an estimate of what came after.
"""

from collections.abc import Sequence

import msgspec

from sightline.conversation import (
    AssistantMessage,
    CallPart,
    ImagePart,
    Message,
    TextPart,
    ToolMessage,
    UserMessage,
    text_of,
)

_CHARACTERS_PER_TOKEN = 4
_TOKENS_OF_AN_IMAGE = 1500
_RESULT_IN_A_SUMMARY = 2000  # characters of one result, written out for the summariser

SUMMARISER = """\
You summarise the work of a coding agent so that it can continue without the conversation itself. Write for the \
agent, in plain sections: the task as the user put it, decisions and why, what was done (files, commands, outcomes), \
what is open, and facts needed to continue (names, paths, numbers, error texts, exactly). Leave out pleasantries. Do \
not continue the task yourself."""

BRANCH_SUMMARISER = """\
You summarise a branch of a conversation that is being left for another one, for an agent that continues elsewhere. \
Say what was tried, what came of it, what changed on disk, and what is worth knowing. Be brief and exact."""


def tokens_in(message: Message) -> int:
    """About how many."""
    characters, images = 0, 0
    for part in message.parts:
        if isinstance(part, CallPart):
            characters += len(part.name) + len(msgspec.json.encode(part.args))
        elif isinstance(part, ImagePart):
            images += 1
        else:
            characters += len(part.text)
    return characters // _CHARACTERS_PER_TOKEN + images * _TOKENS_OF_AN_IMAGE + 4


def tokens_used(messages: Sequence[Message], overhead: int = 0) -> int:
    """How long the conversation is: as the model last counted it, plus what has come since."""
    for number in range(len(messages) - 1, -1, -1):
        message = messages[number]
        if isinstance(message, AssistantMessage) and (counted := _counted(message)):
            return counted + sum(map(tokens_in, messages[number + 1 :]))
    return overhead + sum(map(tokens_in, messages))


def cut_at(messages: Sequence[Message], keep_recent: int) -> int:
    """How many messages from the beginning go into the summary; 0 when there is nothing to gain."""
    recent = 0
    for number in range(len(messages) - 1, 0, -1):
        recent += tokens_in(messages[number])
        if recent >= keep_recent:
            cut = _boundary(messages, number)
            return 0 if cut == 1 and _is_summary(messages[0]) else cut
    return 0


def written_out(messages: Sequence[Message]) -> str:
    """The conversation as text, for a model that is to summarise it."""
    return "\n\n".join([_written(message) for message in messages])


def summary_message(summary: str) -> UserMessage:
    text = f"<summary of the conversation so far>\n{summary}\n</summary>"
    return UserMessage([TextPart(text)], "summary")


def branch_summary_message(summary: str) -> UserMessage:
    text = f"<summary of a branch that was left>\n{summary}\n</summary>"
    return UserMessage([TextPart(text)], "summary")


def _boundary(messages: Sequence[Message], number: int) -> int:
    """The next place where a conversation may begin; earlier when there is none."""
    places = [*range(number, len(messages)), *range(number - 1, 0, -1)]
    return next((place for place in places if not isinstance(messages[place], ToolMessage)), 0)


def _is_summary(message: Message) -> bool:
    return isinstance(message, UserMessage) and message.origin == "summary"


def _counted(message: AssistantMessage) -> int:
    """The tokens of a request and its answer as the model counted them. Only some count cached ones separately."""
    usage = message.usage
    if usage is None:
        return 0
    if usage.total_tokens:
        return usage.total_tokens
    parts = [usage.input_tokens, usage.output_tokens]
    if message.api == "anthropic":
        parts += [usage.cache_read_tokens, usage.cache_write_tokens]
    return sum([part or 0 for part in parts])


def _written(message: Message) -> str:
    if isinstance(message, UserMessage):
        return f"PERSON: {text_of(message)}"
    if isinstance(message, ToolMessage):
        text = text_of(message)
        if len(text) > _RESULT_IN_A_SUMMARY:
            text = f"{text[:_RESULT_IN_A_SUMMARY]} […{len(text) - _RESULT_IN_A_SUMMARY:,} more characters]"
        return f"RESULT of {message.name}{' (failed)' if message.is_error else ''}: {text}"
    calls = [f"CALL {call.name} {msgspec.json.encode(call.args).decode()}" for call in message.calls]
    return "\n".join([f"AGENT: {message.text}"] * bool(message.text) + calls)
