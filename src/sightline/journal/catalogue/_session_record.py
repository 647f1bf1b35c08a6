"""One stored conversation, as lists show it, and how its entries add up to that."""

import msgspec

from sightline.conversation import SKILL, AssistantMessage, Message, UserMessage, text_of, user_run_of
from sightline.journal.tree._entry import NATIVE, PROVIDER_NOTE, REVIEW_NOTE, Entry
from sightline.journal.tree._outline import calls_of
from sightline.text import clean_line, cut_graphemes

_SHOWN = 200
_SEARCHED = 64 * 1024  # characters of one message that the full-text search finds; all of it is in the journal


class SessionRecord(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    cwd: str = ""
    title: str = ""
    created: float = 0.0
    changed: float = 0.0  # when the last step was made
    messages: int = 0  # of the user and the model, and commands that the user ran
    provider: str = ""  # whose agent answers; empty: our own
    model: str = ""
    first_prompt: str = ""
    last_text: str = ""
    parent_session: str = ""
    running: bool = False


class SessionHit(msgspec.Struct, frozen=True):
    """A conversation that was found, the entry that has the words (empty: the title has), and the words around them."""

    session: SessionRecord
    entry: str
    snippet: str  # what was looked for stands between \\x02 and \\x03


def with_entry(record: SessionRecord, entry: Entry) -> SessionRecord:
    """What lists show once this entry has been added."""
    changed = {"changed": max(record.changed, entry.time)}
    message, data = entry.message, entry.data
    if entry.type == "model_change" and isinstance(data, dict):
        return msgspec.structs.replace(record, model=clean_line(str(data.get("model", ""))), **changed)
    if entry.type == "custom" and entry.custom == PROVIDER_NOTE and isinstance(data, dict):
        provider = data.get("provider")
        known = clean_line(provider) if isinstance(provider, str) and provider != NATIVE else ""
        return msgspec.structs.replace(record, provider=known, **changed)
    if entry.type == "custom" and entry.custom == REVIEW_NOTE and isinstance(data, dict):
        prompt = record.first_prompt or cut_graphemes(clean_line(str(data.get("text", ""))), _SHOWN)
        return msgspec.structs.replace(record, messages=record.messages + 1, first_prompt=prompt, **changed)
    if entry.type != "message" or not isinstance(message, UserMessage | AssistantMessage):
        return msgspec.structs.replace(record, **changed)
    text = _one_line(message)
    if isinstance(message, UserMessage) and (run := user_run_of(message)) is not None:
        typed = cut_graphemes(clean_line(run[0].partition("\n")[0]), _SHOWN)
        return msgspec.structs.replace(
            record, messages=record.messages + 1, last_text=record.last_text or typed, **changed
        )
    if isinstance(message, UserMessage) and message.origin:  # a reminder, a job that ended
        return msgspec.structs.replace(record, **changed)
    messages = record.messages + 1
    if isinstance(message, UserMessage):
        prompt = record.first_prompt or text
        return msgspec.structs.replace(record, messages=messages, first_prompt=prompt, **changed)
    model, last = clean_line(message.model) or record.model, text or record.last_text
    return msgspec.structs.replace(record, messages=messages, model=model, last_text=last, **changed)


def searched_text(entry: Entry) -> str:
    """What the full-text search finds an entry by: messages of the user and the model, calls, summaries."""
    message = entry.message
    if entry.type in ("compaction", "branch_summary") and isinstance(entry.data, dict):
        return str(entry.data.get("summary", ""))[:_SEARCHED]
    if not isinstance(message, UserMessage | AssistantMessage) or getattr(message, "origin", "") in ("todo", SKILL):
        return ""
    calls = calls_of(message) if isinstance(message, AssistantMessage) else ""
    return f"{text_of(message)}\n{calls}".strip()[:_SEARCHED]


def _one_line(message: Message) -> str:
    return cut_graphemes(" ".join(clean_line(text_of(message)[: _SHOWN * 8]).split()), _SHOWN)
