"""What an extension asks for with `ui.select`, `ui.confirm`, `ui.input` and `ui.editor`.

Answers `{"value": …}`: the choice, True or False, or the text; None in it when the person closed the dialog, because
whoever asked goes on then.
"""

from typing import Any

from sightline.text import clean_line
from sightline.tty import Input, matches
from sightline.tty.components import Editor, Item, SelectList, TextComponent
from sightline.tty.components import Input as TextInput
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.dialogs._dialog_frame import Dialog, Height, Pane, usual_height

_FILTERED_FROM = 9
_ROWS = 8


class ExtensionDialog(Dialog):
    """One of them."""

    def reply(self, value: Any) -> None:
        self.finish({"value": value})

    def cancel(self) -> None:
        self.reply(None)


class SelectDialog(ExtensionDialog):
    """One of some texts; where there are many, letters find them."""

    def __init__(self, request: dict[str, Any], drawing: DrawingOptions, height: Height = usual_height) -> None:
        details = _details(request)
        super().__init__(_title(request), drawing, height)
        listed = details.get("choices") or request.get("choices") or []
        items = [_item(choice) for choice in listed if choice] if isinstance(listed, list) else []
        many = len(items) >= _FILTERED_FROM
        chosen = SelectList(items, max_rows=_ROWS, filter=many, numbered=True, bindings=self.bindings, theme=self.theme)
        chosen.on_select = lambda item: self.reply(item.value)
        chosen.on_cancel = self.cancel
        hints = [("select_confirm", "choose"), ("interrupt", "close")]
        self.show(_message(details, drawing), chosen, hints=hints)


class ConfirmDialog(ExtensionDialog):
    """Yes or no; the letters do as well."""

    def __init__(self, request: dict[str, Any], drawing: DrawingOptions, height: Height = usual_height) -> None:
        super().__init__(_title(request), drawing, height)
        items = [Item("yes", "Yes"), Item("no", "No")]
        choices = SelectList(items, numbered=True, bindings=self.bindings, theme=self.theme)
        choices.on_select = lambda item: self.reply(item.value == "yes")
        choices.on_cancel = self.cancel
        hints = [("select_confirm", "choose"), ("approve_once", "yes"), ("approve_no", "no"), ("interrupt", "close")]
        self.show(_message(_details(request), drawing), choices, hints=hints)

    def handle_input(self, event: Input) -> bool:
        for action, answer in (("approve_once", True), ("approve_no", False)):
            if self.bindings.matches(event, action):
                self.reply(answer)
                return True
        return super().handle_input(event)


class InputDialog(ExtensionDialog):
    """One line."""

    def __init__(self, request: dict[str, Any], drawing: DrawingOptions, height: Height = usual_height) -> None:
        details = _details(request)
        super().__init__(_title(request), drawing, height)
        placeholder = str(details.get("placeholder") or "")
        line = TextInput(placeholder=placeholder, bindings=self.bindings, theme=self.theme)
        line.set_text("" if drawing.linear else str(details.get("text") or ""))
        line.on_submit = self.reply
        self.show(_message(details, drawing), line, hints=[("submit", "answer"), ("interrupt", "close")])


class EditorDialog(ExtensionDialog):
    """As many lines as one likes. Enter is done; the keys that break a line in the prompt break one here."""

    def __init__(self, request: dict[str, Any], drawing: DrawingOptions, height: Height = usual_height) -> None:
        details = _details(request)
        super().__init__(_title(request), drawing, height)
        rows = max(3, height() - 8)
        self._editor = Editor(bindings=self.bindings, max_rows=rows, theme=self.theme)
        self._editor.set_text(str(details.get("text") or ""))
        self._editor.on_submit = self.reply
        hints = [("submit", "done"), ("newline", "new line"), ("interrupt", "close")]
        self.show(_message(details, drawing), self._editor, hints=hints)

    def handle_input(self, event: Input) -> bool:
        """The page keys, and what closes other dialogs but escape and Ctrl+C, are the editor's."""
        if self.bindings.matches(event, "interrupt") or matches(event, "ctrl+c"):
            self.cancel()
            return True
        return self._editor.handle_input(event)


class UnknownDialog(ExtensionDialog):
    """A request this console cannot show. It says so, and can be closed."""

    def __init__(self, request: dict[str, Any], drawing: DrawingOptions, height: Height = usual_height) -> None:
        super().__init__(_title(request), drawing, height)
        text = clean_line(str(_details(request).get("name") or request.get("what") or "this"))
        about = TextComponent(f"This console does not know how to show {text}.", "warning", theme=self.theme)
        close = SelectList([Item("close", "Close it unanswered")], bindings=self.bindings, theme=self.theme)
        close.on_select = lambda item: self.reply(None)
        close.on_cancel = self.cancel
        self.show(about, close, hints=[("select_confirm", "close")])


def _details(request: dict[str, Any]) -> dict[str, Any]:
    details = request.get("details")
    return details if isinstance(details, dict) else {}


def _title(request: dict[str, Any]) -> str:
    return clean_line(str(request.get("text") or "")) or "An extension asks"


def _message(details: dict[str, Any], drawing: DrawingOptions) -> Pane | None:
    message = str(details.get("message") or "")
    return Pane(TextComponent(message, theme=drawing.theme), drawing) if message else None


def _item(choice: Any) -> Item:
    if isinstance(choice, dict):
        label = str(choice.get("label") or choice.get("value") or "")
        return Item(str(choice.get("value") or label), label, str(choice.get("description") or ""))
    return Item(str(choice), str(choice))
