"""An entry of the session tree: one step of a conversation, or a note about it. On a line of its own in the journal.

Rules:

- An entry names its parent; an empty parent is a root. Entries are appended and never changed.
- `seq` is the last event there was when the entry was made: the events of an entry are those after the entry that
  stands before it in the file, up to its own `seq`. So a path through the tree defines which events are shown.
- The leaf is where the conversation continues. Every entry but `label` and `leaf` becomes the leaf; `leaf` names the
  entry that is it from then on.
"""

from typing import Any, Literal

import msgspec

from sightline.conversation import Message

EntryType = Literal[
    "message",  # of the user, the model or a tool
    "custom_message",  # of an extension, for the model
    "custom",  # of an extension, for itself
    "label",  # data: {"target": id, "label": text}; an empty text takes the label away
    "leaf",  # data: {"to": id}; an empty id is the place before the first entry
    "model_change",  # data: {"model": name}
    "thinking_level_change",  # data: {"level": name}
    "approval_change",  # data: {"level": name}
    "rules_given",  # on a command line; data: {"allow": [rule], "deny": [rule], "cwd": the folder they were given in}
    "compaction",  # data: {"summary": text, "first_kept": id, "tokens_before": number}
    "branch_summary",  # data: {"summary": text, "from": id of the leaf that was left}
]

# Custom entries in which a host stores whose agent answers from here on: data {"provider": name, …}
PROVIDER_NOTE = "provider"
NATIVE = "native"  # the name of our own
# Custom entries in which a host stores that the user requested a review: data {"text": the command}. The model does not
# read it, but there is something to come back to, also where the agent got no prompt.
REVIEW_NOTE = "review"

# An entry is one record: what is longer is refused where it would be made.
ENTRY_CAP = 16 * 1024 * 1024


class Entry(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="entry", omit_defaults=True):
    id: str
    parent: str = ""
    type: EntryType = "message"
    time: float = 0.0
    seq: int = 0
    message: Message | None = None  # of the two kinds of messages
    custom: str = ""  # which extension's, of the custom ones
    data: Any = None
