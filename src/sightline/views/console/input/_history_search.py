"""Search in the history of prompts: type a part of one, choose it, and it is in the editor again."""

from collections.abc import Sequence

from sightline.text import clean_line, cut_graphemes
from sightline.tty import Input
from sightline.tty.components import Container, Item, KeyHints, SelectList, TextComponent
from sightline.views.console._desk import Answerable
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.input._history import StoredPrompt

_SEARCHED = 200
_ROWS = 10
_UNITS = ((86400 * 365, "y"), (86400 * 30, "mo"), (86400, "d"), (3600, "h"), (60, "min"))


class PromptSearch(Answerable, Container):
    """Prompts, newest first, with age and folder. The answer is the text of one; None when it was cancelled."""

    def __init__(self, entries: Sequence[StoredPrompt], drawing: DrawingOptions, *, query: str = "") -> None:
        self._bindings = drawing.bindings
        newest_first = list(reversed(entries))
        now = drawing.clock()
        items = [_item(number, one, now) for number, one in enumerate(newest_first)]
        empty = "nothing matches" if items else "nothing was written yet"
        self._list = SelectList(items, _ROWS, bindings=drawing.bindings, filter=True, empty=empty, theme=drawing.theme)
        self._list.on_select = lambda item: self.done(newest_first[int(item.value)].text)
        self._list.on_cancel = lambda: self.done(None)
        self._list.set_query(query if self._matches(query) else "")
        title = TextComponent("earlier prompts", "title", wrap=False, theme=drawing.theme)
        super().__init__([title, self._list, self._hints(drawing)])

    def handle_input(self, event: Input) -> bool:
        if self._bindings.matches(event, "history_search"):
            self._list.move(1)
            return True
        if super().handle_input(event):
            return True
        if self._bindings.matches(event, "interrupt"):
            self.done(None)
            return True
        return False

    def _matches(self, query: str) -> bool:
        """Whether the text of the editor finds a prompt: else the search begins empty."""
        self._list.set_query(query)
        return len(self._list) > 0

    def _hints(self, drawing: DrawingOptions) -> KeyHints:
        meanings = (("select_confirm", "take"), ("history_search", "older"), ("select_cancel", "leave"))
        keys = [(self._bindings.keys(action), meaning) for action, meaning in meanings]
        return KeyHints([(found[0], meaning) for found, meaning in keys if found], theme=drawing.theme)


def _item(number: int, one: StoredPrompt, now: float) -> Item:
    label = cut_graphemes(clean_line(one.text), _SEARCHED)
    folder = clean_line(one.cwd.rstrip("/").rpartition("/")[2])
    return Item(str(number), label, " · ".join(part for part in (_age(now - one.time), folder) if part))


def _age(seconds: float) -> str:
    for length, unit in _UNITS:
        if seconds >= length:
            return f"{int(seconds // length)} {unit} ago"
    return "just now"
