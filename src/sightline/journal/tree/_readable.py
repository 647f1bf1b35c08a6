"""A conversation as text, for an agent that reads what another did."""

from collections.abc import Iterable

import msgspec

from sightline.conversation import SKILL, AssistantMessage, Message, ToolMessage, text_of
from sightline.events import Event, Text, ToolResult, ToolUse, User
from sightline.journal.tree._tree import SessionTree

_RESULT = 2000  # characters of a call's result


def readable(tree: SessionTree) -> str:
    """The messages up to where the conversation is now."""
    entries = tree.read(node for node in tree.path() if node.type in ("message", "custom_message"))
    return "\n\n".join([_section(entry.message) for entry in entries if entry.message is not None])


def readable_events(events: Iterable[Event], agent: str) -> str:
    """The same of an agent whose conversation another program stores: what was published under its path."""
    sections: list[str] = []
    names: dict[str, str] = {}
    block: int | None = None  # of the words under way
    for event in events:
        if event.agent != agent:
            continue
        match event:
            case Text() if event.block == block:
                sections[-1] += event.text
            case Text():
                sections.append(f"## assistant\n\n{event.text}")
                block = event.block
            case User():
                sections.append(f"## user\n\n{event.text}")
            case ToolUse():
                names[event.id] = event.name
                sections.append(f"→ {event.name} {event.arg}")
            case ToolResult():
                sections.append(_result(names.pop(event.id, "a call"), event.content, failed=event.is_error))
        if isinstance(event, User | ToolUse | ToolResult):
            block = None
    return "\n\n".join(sections)


def _result(name: str, text: str, *, failed: bool) -> str:
    cut = f" [… {len(text) - _RESULT:,} more characters]" if len(text) > _RESULT else ""
    return f"## result of {name}{' (failed)' if failed else ''}\n\n{text[:_RESULT]}{cut}"


def _section(message: Message) -> str:
    if isinstance(message, ToolMessage):
        return _result(message.name, text_of(message), failed=message.is_error)
    if isinstance(message, AssistantMessage):
        calls = [f"→ {call.name} {msgspec.json.encode(call.args).decode()}" for call in message.calls]
        return "\n\n".join(["## assistant", *([message.text] if message.text else []), *calls])
    return f"## {SKILL if message.origin == SKILL else 'user'}\n\n{text_of(message)}"
