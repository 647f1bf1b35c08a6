"""The person leaves while something is going on. Answers `stop`, `keep`, or None to stay."""

from sightline.tty.components import Item, SelectList, Text
from sightline.views.console._drawing import Drawing
from sightline.views.console.dialogs._dialog_frame import Dialog, Height, usual_height


class LeavingDialog(Dialog):
    """`busy` says what is going on: `the agent is working, 1 job is running`. `lasting`: one could come back to it."""

    guarded = True

    def __init__(self, busy: str, drawing: Drawing, height: Height = usual_height, *, lasting: bool = True) -> None:
        super().__init__("Leave?", drawing, height, role="warning")
        items = [
            Item("keep", "Keep it running", "come back with: sightline attach"),
            Item("stop", "Stop it", "the conversation is stored"),
            Item("stay", "Stay"),
        ]
        if not lasting:
            items = [Item("stop", "Stop it", "it is not stored"), items[-1]]
        choices = SelectList(items, numbered=True, bindings=self.bindings, theme=self.theme)
        choices.on_select = lambda item: self.finish(None if item.value == "stay" else item.value)
        choices.on_cancel = self.cancel
        about = Text(f"{busy[:1].upper()}{busy[1:]}." if busy else "Something is still running.", theme=self.theme)
        self.show(about, choices, hints=[("select_confirm", "choose"), ("interrupt", "stay")])
