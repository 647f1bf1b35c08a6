"""The host is gone. Answers `resume`, `leave`, or None to stay and look."""

from sightline.tty.components import Item, SelectList, Text
from sightline.views.console._drawing import Drawing
from sightline.views.console.dialogs._dialog_frame import Dialog, Height, usual_height


class GoneDialog(Dialog):
    """Enter resumes: the session goes on where it was kept."""

    def __init__(self, why: str, drawing: Drawing, height: Height = usual_height) -> None:
        super().__init__("The host is gone", drawing, height, role="warning")
        items = [
            Item("resume", "Resume", "what was said and done is kept, and so is your draft"),
            Item("leave", "Leave"),
        ]
        choices = SelectList(items, bindings=self.bindings, theme=self.theme)
        choices.on_select = lambda item: self.finish(item.value)
        choices.on_cancel = self.cancel
        hints = [("select_confirm", "choose"), ("interrupt", "stay")]
        self.show(Text(why, theme=self.theme), choices, hints=hints)
