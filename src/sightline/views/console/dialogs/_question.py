"""A question of an agent: one of some choices, several of them, or an answer in the user's own words.

In linear mode several numbers in one line (`1,3`) are the whole answer, and any other line is an answer in one's own
words where that is allowed.

Answers `{"chosen": […], "text": …}`; None when the user closed it.
"""

from sightline.text import clean_line
from sightline.tty import Input, Key, Paste
from sightline.tty.components import Input as TextInput
from sightline.tty.components import Item
from sightline.views.console._agent_names import asker
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.dialogs._dialog_frame import Dialog, Height, Pane, details_of, usual_height

_OWN, _DONE = "\x00own", "\x00done"  # no label has a control character
_NUMBERED = 9


class QuestionDialog(Dialog):
    """Digits choose, too; any other letter begins an answer in one's own words where that is allowed."""

    def __init__(self, request: dict[str, object], drawing: DrawingOptions, height: Height = usual_height) -> None:
        super().__init__(f"{asker(request)} asks", drawing, height)
        details = details_of(request)
        self._choices = _choices(request, details)
        self._several = bool(details.get("several")) and bool(self._choices)
        self._free = bool(details.get("free_text", True)) or not self._choices
        self._ticked: list[str] = []
        self._means_words = False
        self._text = Pane(self.text(str(request.get("text") or "")), drawing)
        self._list = self.choices(self._items(), self._choose, max_rows=8)
        self._line = TextInput(placeholder="your answer", bindings=self.bindings, theme=self.theme)
        self._line.on_submit = self._answer_line
        if self._choices:
            self._show_choices()
        else:
            self._show_line()

    def handle_input(self, event: Input) -> bool:
        at_choices = self._list in self.children
        if at_choices and isinstance(event, Paste):
            return self._begin_own(event)
        if at_choices and isinstance(event, Key) and event.kind != "release":
            if self._several and self.bindings.matches(event, "select_toggle"):
                self._toggle(self._list.highlighted)
                return True
            if self._pick_number(event) or self._begin_own(event):
                return True
        return super().handle_input(event)

    def cancel(self) -> None:
        if self._choices and self._line in self.children:
            self._show_choices()
        else:
            self.finish(None)

    def _items(self) -> list[Item]:
        items = [Item(item.value, self._box(item) + item.label, item.description) for item in self._choices]
        if self._free:
            items.append(Item(_OWN, "Something else…"))
        if self._several and self.drawing.linear:
            items.append(Item(_DONE, "Done"))
        return items

    def _box(self, item: Item) -> str:
        if not self._several:
            return ""
        return "[x] " if item.value in self._ticked else "[ ] "

    def _show_choices(self, note: str = "") -> None:
        hints = [("select_confirm", "answer"), ("interrupt", "close")]
        if self._several:
            hints.insert(0, ("select_toggle", "tick"))
        self._means_words = False
        way = note or self._way_to_answer()
        about = self.text(way, "warning" if note else None) if way else None
        self.show(self._text, about, self._list, hints=hints)

    def _way_to_answer(self) -> str:
        """In linear mode nothing on the screen shows it."""
        if not self.drawing.linear:
            return ""
        ways = ["several at once: 1,2" if self._several else "", "or answer in your own words" if self._free else ""]
        return ", ".join(way for way in ways if way)

    def _way_to_tick(self) -> str:
        key = next(iter(self.bindings.keys("select_toggle")), "")
        return f"Nothing is ticked: tick one with {key or 'its number'}."

    def _show_line(self) -> None:
        hints = [("submit", "answer"), ("interrupt", "back" if self._choices else "close")]
        self.show(self._text, self._line, hints=hints)

    def _pick_number(self, event: Key) -> bool:
        items = self._list.matching
        if not event.text.isdecimal() or not 1 <= int(event.text) <= min(_NUMBERED, len(items)):
            return False
        item = items[int(event.text) - 1]
        if self._several and item.value != _OWN:
            self._toggle(item)
        else:
            self._choose(item.value)
        return True

    def _begin_own(self, event: Input) -> bool:
        numbers = self._numbers_in(event.text)
        if not event.text.strip() or not (self._are_choices(numbers) if numbers else self._free):
            return False
        self._show_line()
        return self._line.handle_input(event)

    def _numbers_in(self, text: str) -> list[int]:
        """The numbers in a line that has nothing else; otherwise none."""
        words = text.replace(",", " ").split()
        if not self.drawing.linear or not self._several or not all(word.isdecimal() for word in words):
            return []
        return [int(word) for word in words]

    def _are_choices(self, numbers: list[int]) -> bool:
        return bool(numbers) and all(0 < number <= len(self._choices) for number in numbers)

    def _toggle(self, item: Item | None) -> None:
        if item is None or item.value in (_OWN, _DONE):
            return
        if item.value in self._ticked:
            self._ticked.remove(item.value)
        else:
            self._ticked.append(item.value)
        self._show_choices()
        self._refresh_boxes()

    def _refresh_boxes(self) -> None:
        highlighted = self._list.highlighted
        values = [one.value for one in self._list.matching]
        self._list.set_items(self._items())
        if highlighted is not None:
            self._list.move(values.index(highlighted.value))

    def _choose(self, value: str) -> None:
        if value == _OWN:
            self._means_words = True
            self._show_line()
        elif self._several and self.drawing.linear and value != _DONE:
            self._toggle(next(item for item in self._choices if item.value == value))
        elif self._several:
            chosen = [item.value for item in self._choices if item.value in self._ticked]
            if chosen or self.drawing.linear:
                self.finish({"chosen": chosen})
            else:
                self._show_choices(self._way_to_tick())
        else:
            self.finish({"chosen": [value]})

    def _answer_line(self, text: str) -> None:
        text = text.strip()
        if not self._means_words and self._are_choices(numbers := self._numbers_in(text)):
            self._ticked += [self._choices[number - 1].value for number in numbers]
            return self._choose(_DONE)
        chosen = [item.value for item in self._choices if item.value in self._ticked]
        if text or chosen:
            return self.finish({"chosen": chosen, "text": text})
        return None


def _choices(request: dict[str, object], details: dict[str, object]) -> list[Item]:
    listed = details.get("choices") or request.get("choices")
    found: list[Item] = []
    for choice in listed if isinstance(listed, list) else ():
        label = choice.get("label") if isinstance(choice, dict) else choice
        about = choice.get("description") if isinstance(choice, dict) else ""
        if isinstance(label, str) and label:
            found.append(Item(label, clean_line(label), clean_line(str(about or ""))))
    return found
