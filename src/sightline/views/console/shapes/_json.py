"""A JSON value as a tree: keys, values, and what is below them, as far down as there are rows."""

from collections.abc import Iterator
from itertools import islice

import msgspec

from sightline.events import JsonFact
from sightline.text import clean_line
from sightline.transcript import TranscriptCall
from sightline.tty import Theme, truncate
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.shapes._shape import FactShape, Shape, ShapeBody

_AT_MOST = 256 * 1024  # of text that is looked at for being JSON
_VALUE = 500


class JsonShape(FactShape[object]):
    folded, unfolded = 10, 200

    @property
    def source(self) -> str:
        return formatted_json(self._fact)

    def body(self, width: int) -> ShapeBody:
        room = self.room
        rows = list(islice(tree_rows(self._fact, self.drawing.theme, width), room + 1))
        if len(rows) <= room:
            return ShapeBody(rows)
        return ShapeBody([*rows[: room - 1], self._hint("… more", "view_output", width)])


def formatted_json(value: object) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def tree_rows(value: object, theme: Theme, width: int) -> Iterator[str]:
    """One row for each value. Without recursion: a value may be deeper than the interpreter's stack."""
    waiting: list[tuple[str, object, int]] = [("", value, -1)]
    while waiting:
        key, item, depth = waiting.pop()
        if depth >= 0:
            shown = " ".join([part for part in (theme.style("muted", key), _shown(item, theme)) if part])
            yield truncate(f"{'  ' * min(depth, width // 4)}{shown}", width)
        if isinstance(item, dict):
            waiting += [(clean_line(str(name)[:80]) + ":", below, depth + 1) for name, below in reversed(item.items())]
        elif isinstance(item, list):
            waiting += [(f"{at}.", item[at - 1], depth + 1) for at in range(len(item), 0, -1)]
        elif depth < 0:
            yield truncate(_shown(item, theme), width)


def _shown(item: object, theme: Theme) -> str:
    if isinstance(item, dict):
        return "" if item else "{}"
    if isinstance(item, list):
        return theme.style("dim", f"({len(item)})") if item else "[]"
    if isinstance(item, str):
        return theme.style("syntax_string", clean_line(item[:_VALUE]) or '""')
    if item is None or isinstance(item, bool):
        return theme.style("syntax_keyword", "null" if item is None else str(item).lower())
    return theme.style("syntax_number", clean_line(str(item)[:_VALUE]))


def json_tree(call: TranscriptCall, drawing: DrawingOptions, fact: JsonFact) -> Shape | None:
    """The shape of `details.data`, or of the content."""
    return json_text(call, drawing) if fact.data is msgspec.UNSET else JsonShape(call, drawing, fact.data)


def json_text(call: TranscriptCall, drawing: DrawingOptions) -> Shape | None:
    """The shape of a result that is a JSON object or array."""
    text = (call.content or "").strip()
    if call.is_error or not text or len(text) > _AT_MOST or text[0] + text[-1] not in ("{}", "[]"):
        return None
    try:
        value = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        return None
    return JsonShape(call, drawing, value)
