"""Dialogs of extensions: `ui.select`, `ui.confirm`, `ui.input` and `ui.editor`.

They answer `{"value": …}`: the choice, True or False, or the text; None in it when the user closed the dialog, because
the extension continues then.
"""

from sightline.text import clean_line
from sightline.tty import Input, matches
from sightline.tty.components import Editor, Item
from sightline.tty.components import Input as TextInput
from sightline.views.console._agent_names import asks
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.dialogs._dialog_frame import Dialog, Height, Pane, details_of, usual_height

_FILTERED_FROM = 9
_ROWS = 8


class ExtensionDialog(Dialog):
    """Shows a request; by itself, that this console does not know its kind."""

    def __init__(self, request: dict[str, object], drawing: DrawingOptions, height: Height = usual_height) -> None:
        title = clean_line(str(request.get("text") or "")) or "An extension asks"
        super().__init__(asks(request, title), drawing, height)
        self.request = request
        self.details = details_of(request)
        self.build()

    def build(self) -> None:
        text = clean_line(str(self.details.get("name") or self.request.get("what") or "this"))
        about = self.text(f"This console does not know how to show {text}.", "warning")
        close = self.choices([Item("close", "Close it unanswered")], lambda value: self.reply(None), numbered=False)
        self.show(about, close, hints=[("select_confirm", "close")])

    @property
    def message(self) -> Pane | None:
        message = str(self.details.get("message") or "")
        return Pane(self.text(message), self.drawing) if message else None

    def reply(self, value: object) -> None:
        self.finish({"value": value})

    def cancel(self) -> None:
        self.reply(None)


class SelectDialog(ExtensionDialog):
    """One of some texts; where there are many, letters find them."""

    def build(self) -> None:
        listed = self.details.get("choices") or self.request.get("choices") or []
        items = [_item(choice) for choice in listed if choice] if isinstance(listed, list) else []
        chosen = self.choices(items, self.reply, max_rows=_ROWS, filter=len(items) >= _FILTERED_FROM)
        self.show(self.message, chosen, hints=[("select_confirm", "choose"), ("interrupt", "close")])


class ConfirmDialog(ExtensionDialog):
    """Yes or no; the letters do as well."""

    def build(self) -> None:
        choices = self.choices([Item("yes", "Yes"), Item("no", "No")], lambda value: self.reply(value == "yes"))
        hints = [("select_confirm", "choose"), ("approve_once", "yes"), ("approve_no", "no"), ("interrupt", "close")]
        self.show(self.message, choices, hints=hints)

    def handle_input(self, event: Input) -> bool:
        for action, answer in (("approve_once", True), ("approve_no", False)):
            if self.bindings.matches(event, action):
                self.reply(answer)
                return True
        return super().handle_input(event)


class InputDialog(ExtensionDialog):
    """One line."""

    def build(self) -> None:
        placeholder = str(self.details.get("placeholder") or "")
        line = TextInput(placeholder=placeholder, bindings=self.bindings, theme=self.theme)
        line.set_text("" if self.drawing.linear else str(self.details.get("text") or ""))
        line.on_submit = self.reply
        self.show(self.message, line, hints=[("submit", "answer"), ("interrupt", "close")])


class EditorDialog(ExtensionDialog):
    """Any number of lines. Enter submits; the keys that break a line in the prompt break one here."""

    def build(self) -> None:
        self._editor = Editor(bindings=self.bindings, max_rows=max(3, self.rows - 8), theme=self.theme)
        self._editor.set_text(str(self.details.get("text") or ""))
        self._editor.on_submit = self.reply
        hints = [("submit", "done"), ("newline", "new line"), ("interrupt", "close")]
        self.show(self.message, self._editor, hints=hints)

    def handle_input(self, event: Input) -> bool:
        """Every key but escape and ctrl+c is the editor's, the page keys too."""
        if self.bindings.matches(event, "interrupt") or matches(event, "ctrl+c"):
            self.cancel()
            return True
        return self._editor.handle_input(event)


DIALOGS: dict[str, type[ExtensionDialog]] = {
    "select": SelectDialog,
    "confirm": ConfirmDialog,
    "input": InputDialog,
    "editor": EditorDialog,
}
"""By `details.ui.kind`."""


def _item(choice: object) -> Item:
    if isinstance(choice, dict):
        label = str(choice.get("label") or choice.get("value") or "")
        return Item(str(choice.get("value") or label), label, str(choice.get("description") or ""))
    return Item(str(choice), str(choice))
