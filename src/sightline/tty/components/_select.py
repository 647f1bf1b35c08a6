"""A list to choose from, with a filter that is typed.

Rows: the query (with `filter`), a window of the items (headings of groups while nothing is typed), and where one is in
the list when it does not fit. The rows never number more than `max_rows` plus those two.
"""

from collections.abc import Callable, Iterable, Iterator

import msgspec

from sightline.text import clean_line
from sightline.tty._component import CURSOR, Component, Input, Rows
from sightline.tty.cells._width import graphemes, measure, truncate
from sightline.tty.components._fuzzy import FuzzyIndex, fuzzy_match
from sightline.tty.input._bindings import Bindings
from sightline.tty.input._keys import Key, Paste
from sightline.tty.theme._theme import PLAIN, Theme, selected

_LONGEST_QUERY = 256  # a novel that is pasted here is not searched for, letter by letter
_LABEL_AT_MOST = 40  # cells, where descriptions need the rest
_DIGITS = "123456789"
_DIGITS_FROM = 32  # columns: with less, they are shown where whole labels leave room
_NUMBER = "{}. "


class Item(msgspec.Struct, frozen=True):
    """Something to choose: what it is to the program, and how it reads."""

    value: str
    label: str
    description: str = ""
    group: str = ""
    disabled: bool = False  # shown, and cannot be chosen now
    role: str = ""  # how the label looks; empty: as text does


class SelectList(Component):
    """Items, one of which is highlighted.

    Set what is to be called: `on_select(item)` on enter, `on_highlight(item)` when another is highlighted,
    `on_cancel()` on escape, which means nothing here without it. `numbered`: each of the first nine shows its digit,
    which chooses it; in a list with a filter, digits are typed into the filter.
    """

    on_select: Callable[[Item], None] | None = None
    on_cancel: Callable[[], None] | None = None
    on_highlight: Callable[[Item], None] | None = None
    in_order = False  # matches are shown in the order of the items, not the best first

    def __init__(
        self,
        items: Iterable[Item] = (),
        max_rows: int = 10,
        *,
        bindings: Bindings | None = None,
        filter: bool = False,
        numbered: bool = False,
        prompt: str = "› ",
        placeholder: str = "",
        empty: str = "nothing matches",
        theme: Theme = PLAIN,
    ) -> None:
        self._theme = theme
        self._bindings = bindings or Bindings()
        self._max_rows = max(1, max_rows)
        self._filter = filter
        self._numbered = numbered and not filter
        self._prompt, self._placeholder, self._empty = clean_line(prompt), clean_line(placeholder), clean_line(empty)
        self._query = ""
        self._top = 0
        self._rows: tuple[tuple[int, bool, int], tuple[str, ...]] | None = None
        self._version = 0
        self.set_items(items)

    @property
    def highlighted(self) -> Item | None:
        return self._items[self._found[self._at]] if self._found else None

    @property
    def query(self) -> str:
        return self._query

    @property
    def matching(self) -> list[Item]:
        """The items that match, in the order they are shown."""
        return [self._items[index] for index in self._found]

    def __len__(self) -> int:
        return len(self._found)

    def set_items(self, items: Iterable[Item]) -> None:
        self._items = [_cleaned(item) for item in items]
        self._index = FuzzyIndex([item.label for item in self._items])
        labels = max((len(item.label) for item in self._items), default=0)
        self._longest = labels
        self._label_cells = labels + len(_NUMBER.format(1)) * self._numbered
        self._described = max((measure(item.description) for item in self._items), default=0)
        self._search()

    def set_empty(self, text: str) -> None:
        self._empty = clean_line(text)
        self._version += 1

    def set_query(self, query: str) -> None:
        """Show what matches, best first."""
        query = clean_line(query)[:_LONGEST_QUERY]
        if query != self._query:
            self._query = query
            self._search()

    def set_max_rows(self, max_rows: int) -> None:
        """There is room for more items, or for fewer."""
        if (max_rows := max(1, max_rows)) != self._max_rows:
            self._max_rows = max_rows
            self._version += 1

    def move(self, step: int) -> None:
        """Highlight another item; past either end one comes out at the other."""
        if self._found:
            self._highlight((self._at + step) % len(self._found))

    def choose(self) -> None:
        if self.highlighted is not None and self.on_select is not None and not self.highlighted.disabled:
            self.on_select(self.highlighted)

    def handle_input(self, event: Input) -> bool:
        if isinstance(event, Key):
            for action, act in _ACTIONS.items():
                if self._bindings.matches(event, action):
                    return act(self) is not False
            if self._numbered and self._choose_number(event):
                return True
        return self._filter and self._type(event)

    def _choose_number(self, event: Key) -> bool:
        if event.kind == "release" or event.text not in _DIGITS or not event.text:
            return False
        number = int(event.text) - 1
        if number >= len(self._found):
            return False
        self._highlight(number)
        self.choose()
        return True

    def render(self, width: int) -> Rows:
        state = (width, self.focused, self._version)
        if self._rows is None or self._rows[0] != state:
            self._rows = (state, tuple(self._draw(max(0, width))))
        return self._rows[1]

    def invalidate(self) -> None:
        self._rows = None

    def _type(self, event: Input) -> bool:
        text = event.text if isinstance(event, Paste) or event.kind != "release" else ""
        if typed := clean_line(text):
            self.set_query(self._query + typed)
        elif self._bindings.matches(event, "delete_back"):
            *rest, _ = [cluster for cluster, _ in graphemes(self._query)] or [""]
            self.set_query("".join(rest))
        elif self._bindings.matches(event, "delete_word_back"):
            self.set_query(self._query[: self._query.rstrip().rfind(" ") + 1])
        elif self._bindings.matches(event, "kill_line_back"):
            self.set_query("")
        else:
            return False
        return True

    def _search(self) -> None:
        found = self._index.search(self._query)
        self._found = sorted(found) if self.in_order else found
        self._at = self._top = 0
        self._version += 1
        self._notify()

    def _highlight(self, at: int) -> None:
        if at != self._at:
            self._at = at
            self._version += 1
            self._notify()

    def _notify(self) -> None:
        if self.on_highlight is not None and self.highlighted is not None:
            self.on_highlight(self.highlighted)

    def _page(self, pages: int) -> None:
        self._highlight(min(max(0, self._at + pages * self._max_rows), max(0, len(self._found) - 1)))

    def _cancel(self) -> bool:
        if self.on_cancel is None:
            return False
        self.on_cancel()
        return True

    def _draw(self, width: int) -> Iterator[str]:
        if self._filter:
            yield self._query_row(width)
        if not self._found:
            yield self._theme.style("muted", truncate(self._empty, width))
            return
        entries = self._window()
        for entry in entries:
            if isinstance(entry, str):
                yield self._theme.style("title", truncate(entry, width))
            else:
                yield self._row(entry, width)
        if sum(isinstance(entry, int) for entry in entries) < len(self._found):
            yield self._theme.style("dim", truncate(f"  ({self._at + 1}/{len(self._found)})", width))

    def _query_row(self, width: int) -> str:
        shown = truncate(self._prompt + self._query, width)
        row = self._theme.style("accent", shown[: len(self._prompt)]) + shown[len(self._prompt) :]
        row += CURSOR if self.focused else ""
        room = width - measure(shown)
        if self._query or not self._placeholder or room <= 0:
            return row
        return row + self._theme.style("hint", truncate(self._placeholder, room))

    def _window(self) -> list[int | str]:
        """What is around the highlighted item, the window moving only when it must."""
        self._top = min(max(self._top, self._at - self._max_rows + 1), self._at)
        entries = self._entries(self._top)
        while entries.index(self._at) >= self._max_rows:
            self._top += 1
            entries = self._entries(self._top)
        return entries[: self._max_rows]

    def _entries(self, top: int) -> list[int | str]:
        """What stands in the window from item number `top` on: numbers of items, and headings before them."""
        entries: list[int | str] = []
        group = ""
        for number in range(top, min(top + self._max_rows, len(self._found))):
            item = self._items[self._found[number]]
            # A heading never takes the only row there is.
            if item.group not in ("", group) and not self._query and self._max_rows > 1:
                entries.append(item.group)
            group = item.group
            entries.append(number)
        return entries

    def _row(self, number: int, width: int) -> str:
        item = self._items[self._found[number]]
        chosen = number == self._at
        label_room = max(0, width - 2)
        if self._described and width >= 20:
            label_room = min(self._label_cells, max(min(_LABEL_AT_MOST, width // 2), width - 4 - self._described))
        has_digits = self._numbered and (width >= _DIGITS_FROM or self._longest + len(_NUMBER.format(1)) <= label_room)
        digit = _NUMBER.format(number + 1) if has_digits and number < len(_DIGITS) else ""
        label = truncate(digit + item.label, label_room)
        row = self._mark_letters(label, item.label) if self._query else self._theme.style(item.role, label)
        if self._described and width >= 20:
            row += " " * (label_room - measure(label) + 2)
            row += self._theme.style("muted", truncate(item.description, width - label_room - 4))
        if item.disabled:
            row = self._theme.style("dim", clean_line(row))
        row = truncate("› " if chosen else "  ", width, "") + row
        return selected(row, width, self._theme) if chosen else row

    def _mark_letters(self, shown: str, label: str) -> str:
        match = fuzzy_match(self._query, label)
        if match is None:
            return shown
        hit = set(match[1])
        pieces = []
        at = 0
        for cluster, _ in graphemes(shown):
            marked = cluster != "…" and not hit.isdisjoint(range(at, at + len(cluster)))
            pieces.append(self._theme.style("match", cluster) if marked else cluster)
            at += len(cluster)
        return "".join(pieces)


def _cleaned(item: Item) -> Item:
    if item.label.isprintable() and item.description.isprintable() and item.group.isprintable():
        return item
    label, description, group = (clean_line(text) for text in (item.label, item.description, item.group))
    return Item(item.value, label, description, group, item.disabled, item.role)


_ACTIONS: dict[str, Callable[[SelectList], object]] = {
    "select_up": lambda self: self.move(-1),
    "select_down": lambda self: self.move(1),
    "select_page_up": lambda self: self._page(-1),
    "select_page_down": lambda self: self._page(1),
    "select_first": lambda self: self._highlight(0),
    "select_last": lambda self: self._highlight(max(0, len(self._found) - 1)),
    "select_confirm": SelectList.choose,
    "select_cancel": SelectList._cancel,
}
