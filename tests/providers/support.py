"""What the provider tests share: the recordings, and the rule that no field holds a control character."""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from sightline.events import Text

CAPTURES = Path(__file__).parent.parent / "captures"

_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_ONE_LINE = frozenset(
    ("agent", "source", "id", "native_id", "name", "native_name", "arg", "path", "session", "model", "key")
)


def capture_names(provider: str) -> list[str]:
    return sorted(path.name.removesuffix(".meta.json") for path in (CAPTURES / provider).glob("*.meta.json"))


def load_capture(provider: str, name: str) -> tuple[bytes, dict[str, Any]]:
    folder = CAPTURES / provider
    return (folder / f"{name}.jsonl").read_bytes(), json.loads((folder / f"{name}.meta.json").read_bytes())


def all_strings(event: Any) -> Iterator[str]:
    """Every string in an event, keys of its values included."""
    pending = [msgspec.structs.asdict(event)]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            pending += [*item.keys(), *item.values()]
        elif isinstance(item, list):
            pending += item
        elif isinstance(item, msgspec.Struct):
            pending.append(msgspec.structs.asdict(item))


def assert_clean(event: Any) -> None:
    for text in all_strings(event):
        assert not _FORBIDDEN.search(text), (event, text)
    for field in _ONE_LINE & set(event.__struct_fields__):
        value = getattr(event, field)
        assert not isinstance(value, str) or not set(value) & set("\n\t"), (event, field)


def lines(*values: Any) -> bytes:
    """A stream of these JSON values."""
    return b"".join(msgspec.json.encode(value) + b"\n" for value in values)


def words_of(events: Iterable[Any], agent: str = "") -> list[str]:
    """What an agent said, block by block."""
    blocks: dict[int, str] = {}
    for event in events:
        if isinstance(event, Text) and event.agent == agent:
            blocks[event.block] = blocks.get(event.block, "") + event.text
    return list(blocks.values())


def of(kind: type, events: Iterable[Any]) -> list[Any]:
    """The events of a kind."""
    return [event for event in events if isinstance(event, kind)]
