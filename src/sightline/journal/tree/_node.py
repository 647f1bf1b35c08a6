"""A node of the tree: an entry without its message, and where in the journal the whole entry is."""

from typing import Annotated

import msgspec

from sightline.journal._record import Seq, decoded, encode_entry
from sightline.journal.tree._entry import Entry


class SessionNode(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    id: str
    parent: str  # empty: a root, or an entry whose parent is not there
    type: str
    role: str  # of a message: user, assistant, tool; automatic: on the user's behalf (a reminder, a job, an extension)
    time: float
    seq: int
    after: int  # its events are those after this one, up to `seq`
    offset: int  # in the journal; -1: only in memory, the journal has not got it
    size: int
    stop_reason: str
    tool_only: bool  # an assistant's message with calls and no words
    target: str  # which entry a label, a move or a compaction is about
    orphan: bool


AUTOMATIC = "automatic"

# Names are looked up, and drawn, as they are: what is no name makes the line unreadable.
_Name = Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z0-9_.-]{1,64}\Z")]
_NameOrNone = Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z0-9_.-]{0,64}\Z")]


class _Part(msgspec.Struct, frozen=True):
    type: str = ""
    text: str = ""


class _Message(msgspec.Struct, frozen=True):
    role: _NameOrNone = ""
    origin: str = ""
    parts: list[_Part] = []
    stop_reason: _NameOrNone = ""


class _About(msgspec.Struct, frozen=True):
    target: str = ""  # of a label
    label: str = ""
    to: str | None = None  # of a leaf
    first_kept: str = ""  # of a compaction


class Meta(msgspec.Struct, frozen=True, tag_field="kind", tag="entry"):
    """An entry's line, without the text of its message."""

    id: _Name
    parent: str = ""
    type: _Name = "message"  # one this version does not know stands in the tree all the same
    time: float = 0.0
    seq: Seq = 0
    message: _Message | None = None
    data: msgspec.Raw = msgspec.Raw(b"null")

    @property
    def about(self) -> _About:
        if self.type not in ("label", "leaf", "compaction"):
            return _About()
        return decoded(_about, self.data) or _About()


_meta = msgspec.json.Decoder(Meta)
_about = msgspec.json.Decoder(_About)


def meta_of_line(line: bytes) -> Meta | None:
    return decoded(_meta, line)


def meta_of(entry: Entry) -> Meta:
    """The same as from a line: the node of an entry must not depend on where it came from."""
    return _meta.decode(encode_entry(entry))


def make_node(meta: Meta, *, parent: str, after: int, offset: int, size: int) -> SessionNode:
    message = meta.message
    about = meta.about
    return SessionNode(
        id=meta.id,
        parent=parent,
        type=meta.type,
        role=_role(meta),
        time=meta.time,
        seq=meta.seq,
        after=after,
        offset=offset,
        size=size,
        stop_reason="" if message is None else message.stop_reason or _DEFAULT_STOP.get(message.role, ""),
        tool_only=message is not None and message.role == "assistant" and _only_calls(message.parts),
        target=about.target or about.to or about.first_kept,
        orphan=bool(meta.parent) and not parent,
    )


def _role(meta: Meta) -> str:
    if meta.message is None:
        return ""
    is_automatic = meta.type == "message" and meta.message.role == "user" and meta.message.origin
    return AUTOMATIC if is_automatic else meta.message.role


_DEFAULT_STOP = {"assistant": "stop"}


def _only_calls(parts: list[_Part]) -> bool:
    called = any(part.type == "call" for part in parts)
    return called and not any(part.type == "text" and part.text.strip() for part in parts)
