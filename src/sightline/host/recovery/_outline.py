"""The tree of a conversation, for a view that lists it."""

from pathlib import Path
from typing import get_args

import msgspec

from sightline.exceptions import UserMistake
from sightline.journal import Filter, OutlineLine, SessionTree, content_of, outline
from sightline.text import clean_line, cut_graphemes

_TEXT_AT_MOST = 500


def outlined(folder: Path, filter: str, search: str) -> dict[str, object]:
    """What a filter leaves and a search finds of a stored session, depth first. Reads the journal: blocking."""
    try:
        chosen: Filter = msgspec.convert(filter, Filter)
    except msgspec.ValidationError:
        raise UserMistake(f"no filter {clean_line(filter)}", f"one of {', '.join(get_args(Filter))}") from None
    tree = SessionTree.load(folder)
    lines = outline(tree, chosen, search)
    texts = {entry.id: content_of(entry) for entry in tree.read(line.node for line in lines)}
    depths: dict[str, int] = {"": -1}
    rows = [_row(line, texts.get(line.node.id, ""), depths) for line in lines]
    return {"lines": rows, "leaf": tree.leaf}


def _row(line: OutlineLine, text: str, depths: dict[str, int]) -> dict[str, object]:
    node = line.node
    depths[node.id] = depths[line.above] + 1
    return {
        "id": node.id,
        "parent": line.above,
        "depth": depths[node.id],
        "type": node.type,
        "role": node.role,
        "text": cut_graphemes(clean_line(text[: _TEXT_AT_MOST * 8]), _TEXT_AT_MOST),
        "label": line.label,
        "active": line.active,
        "current": line.is_leaf,
        "time": node.time,
    }
