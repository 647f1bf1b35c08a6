"""There is no host: it died, or did not start. Answers `again`, `leave`, or None to stay and look."""

from sightline.tty.components import Item, SelectList, Text
from sightline.views.console._drawing import Drawing
from sightline.views.console.dialogs._dialog_frame import Dialog, Height, usual_height


class GoneDialog(Dialog):
    """Enter tries again: the session goes on where it was kept."""

    def __init__(self, title: str, why: str, again: str, drawing: Drawing, height: Height = usual_height) -> None:
        super().__init__(title, drawing, height, role="warning")
        items = [Item("again", again, "the conversation and your draft are stored"), Item("leave", "Leave")]
        choices = SelectList(items, numbered=True, bindings=self.bindings, theme=self.theme)
        choices.on_select = lambda item: self.finish(item.value)
        choices.on_cancel = self.cancel
        hints = [("select_confirm", "choose"), ("interrupt", "stay")]
        parts = (Text(why, theme=self.theme), choices) if why else (choices,)
        self.show(*parts, hints=hints)
